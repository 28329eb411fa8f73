/* SPDX-License-Identifier: MIT */
/* Fills structs from a document by tables of keys. */
#include "core/config_internal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/time.h>

#include "core/text.h"

/* ---- descriptions of what is allowed ---- */

/* In the largest unit that makes it a whole number. */
static void time_text(char text[32], double ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = { { 3600000000000, "h" }, { 60000000000, "m" }, { 1000000000, "s" },
		      { 1000000, "ms" },      { 1000, "us" },       { 1, "ns" } };
	int64_t v = (int64_t)ns;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (v && v % units[i].ns == 0) {
			snprintf(text, 32, "%lld%s", (long long)(v / units[i].ns), units[i].name);
			return;
		}
	snprintf(text, 32, "0s");
}

/* "a, b, c" */
static void words_text(char *text, size_t size, const char *const *words, size_t stride)
{
	size_t n = 0;

	*text = '\0';
	for (const char *const *w = words; *w && n < size;
	     w = (const char *const *)(const void *)((const char *)w + stride))
		n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", *w);
}

static void keys_text(char text[CONFIG_SAYS], const struct config_shape *shape)
{
	words_text(text, CONFIG_SAYS, &shape->key->name, sizeof(*shape->key));
}

static void text_says(const struct config_key *key, char text[CONFIG_SAYS])
{
	if (key->max > 0 && key->min > 0)
		snprintf(text, CONFIG_SAYS, "text of %.0f to %.0f bytes", key->min, key->max);
	else if (key->max > 0)
		snprintf(text, CONFIG_SAYS, "text of up to %.0f bytes", key->max);
	else
		snprintf(text, CONFIG_SAYS, "text%s", key->min > 0 ? " that is not empty" : "");
}

/* Describe what one value must be. */
static void value_says(const struct config_key *key, char text[CONFIG_SAYS])
{
	const char *zero = key->or_zero ? "0 or " : "";
	char from[32], to[32], words[CONFIG_SAYS - 40];

	if (key->what) {
		snprintf(text, CONFIG_SAYS, "%s", key->what);
		return;
	}
	switch (key->type) {
	case CONFIG_TEXT:
	case CONFIG_CHARS: text_says(key, text); return;
	case CONFIG_TIME:
		time_text(from, key->min);
		time_text(to, key->max);
		snprintf(text, CONFIG_SAYS, "%sa time from %s to %s, such as 250ms", zero, from,
			 to);
		return;
	case CONFIG_RATE:
		snprintf(text, CONFIG_SAYS, "a rate from %g Hz to %g GHz, such as 8 MHz", key->min,
			 key->max / 1e9);
		return;
	case CONFIG_U64:
	case CONFIG_UNSIGNED:
		if (key->max >= 0x1p64)
			snprintf(text, CONFIG_SAYS, "a whole number below 2^64");
		else
			snprintf(text, CONFIG_SAYS, "a whole number from %.0f to %.0f", key->min,
				 key->max);
		return;
	case CONFIG_REAL:
		snprintf(text, CONFIG_SAYS, "a number from %.10g to %.10g", key->min, key->max);
		return;
	case CONFIG_BOOL: snprintf(text, CONFIG_SAYS, "true or false"); return;
	case CONFIG_WORD:
		words_text(words, sizeof(words), key->words, sizeof(*key->words));
		snprintf(text, CONFIG_SAYS, "one of %s", words);
		return;
	case CONFIG_OWN: return;
	case CONFIG_MAP:
		words_text(words, sizeof(words), &key->shape->key->name, sizeof(*key->shape->key));
		snprintf(text, CONFIG_SAYS, "a mapping with %s", words);
		return;
	}
}

static size_t most(const struct config_key *key)
{
	return key->most ? key->most : CONFIG_LIST_MAX;
}

static void list_says(const struct config_key *key, char text[CONFIG_SAYS])
{
	const char *kind = key->many == CONFIG_NAMED ? "mapping" : "list";

	if (key->least)
		snprintf(text, CONFIG_SAYS, "a %s of %zu to %zu entries", kind, key->least,
			 most(key));
	else
		snprintf(text, CONFIG_SAYS, "a %s of up to %zu entries", kind, most(key));
}

static int must_be(const struct config *c, const struct config_node *at,
		   const struct config_key *key,
		   void (*says)(const struct config_key *key, char text[CONFIG_SAYS]))
{
	char text[CONFIG_SAYS];

	says(key, text);
	if (key->name)
		return config_bad(c, CVL_E_SYNTAX, at->at, "`%s` must be %s", key->name, text);
	return config_bad(c, CVL_E_SYNTAX, at->at, "expected %s", text);
}

/* ---- values ---- */

bool config_is_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f ||
		    (*s == '\xc2' && (unsigned char)s[1] < 0xa0))
			return false;
	return true;
}

static bool in_range(const struct config_key *key, double v)
{
	return (v >= key->min && v <= key->max) || (key->or_zero && v == 0);
}

static bool text_is(const struct config_key *key, const char *s)
{
	size_t n = key->type == CONFIG_CHARS ? strnlen(s, (size_t)key->max + 1) : strlen(s);

	return (double)n >= key->min && (!(key->max > 0) || (double)n <= key->max) &&
	       (!key->is || key->is(s));
}

/* Whether the value of a field is within its limits. */
static bool value_is(const struct config_key *key, const void *field)
{
	size_t words = 0;

	switch (key->type) {
	case CONFIG_TEXT:
		return !*(const char *const *)field || text_is(key, *(const char *const *)field);
	case CONFIG_CHARS: return text_is(key, field);
	case CONFIG_TIME: return in_range(key, (double)*(const int64_t *)field);
	case CONFIG_RATE:
	case CONFIG_U64: return in_range(key, (double)*(const uint64_t *)field);
	case CONFIG_UNSIGNED: return in_range(key, (double)*(const unsigned *)field);
	case CONFIG_REAL: return in_range(key, *(const double *)field);
	case CONFIG_WORD:
		while (key->words[words])
			words++;
		return *(const unsigned *)field - (unsigned)key->min < words;
	case CONFIG_BOOL:
	case CONFIG_OWN:
	case CONFIG_MAP: break;
	}
	return true;
}

static bool take_u64(const char *s, uint64_t top, uint64_t *out)
{
	uint64_t v = 0;

	if (!*s || s[strspn(s, "0123456789")])
		return false;
	for (; *s; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	*out = v;
	return v <= top;
}

static bool take_unsigned(const char *s, unsigned *out)
{
	uint64_t v = 0;
	bool ok = take_u64(s, UINT32_MAX, &v);

	*out = (unsigned)v;
	return ok;
}

static bool take_bool(const char *s, bool *out)
{
	*out = !strcmp(s, "true");
	return *out || !strcmp(s, "false");
}

static bool take_word(const char *s, const struct config_key *key, unsigned *out)
{
	unsigned i = 0;

	while (key->words[i] && strcmp(s, key->words[i]))
		i++;
	*out = (unsigned)key->min + i;
	return key->words[i];
}

static bool take_chars(const char *s, size_t longest, char *out)
{
	size_t n = strlen(s);

	if (n > longest)
		return false;
	memcpy(out, s, n + 1);
	return true;
}

/* Whether @s is a number, or a word that is not text in YAML or JSON. */
static bool is_no_string(const char *s)
{
	double number;

	return !*s || !strcmp(s, "~") || !strcmp(s, "null") || !strcmp(s, "true") ||
	       !strcmp(s, "false") || !cvl_text_real(s, &number);
}

static bool take(const struct config_key *key, const struct config_node *node, void *field)
{
	const char *s = node->text;

	static_assert(sizeof(enum config_type) == sizeof(unsigned), "enums are read as unsigned");
	switch (key->type) {
	case CONFIG_CHARS: return take_chars(s, (size_t)key->max, field);
	case CONFIG_TIME: return !cvl_duration_parse(s, field);
	case CONFIG_RATE: return !cvl_rate_parse(s, field);
	case CONFIG_U64: return take_u64(s, UINT64_MAX, field);
	case CONFIG_UNSIGNED: return take_unsigned(s, field);
	case CONFIG_REAL: return !cvl_text_real(s, field);
	case CONFIG_BOOL: return take_bool(s, field);
	case CONFIG_WORD: return take_word(s, key, field);
	case CONFIG_OWN: return key->take(s, field);
	case CONFIG_TEXT: return !(key->string && node->plain && is_no_string(s));
	case CONFIG_MAP: break;
	}
	return false;
}

static int remember(struct config *c, const void *field, size_t size,
		    const struct config_node *node)
{
	if (c->n_places == 4 * CONFIG_NODES_MAX)
		return config_bad(c, CVL_E_LIMIT, node->at,
				  "more than %d values, aliases written out", 4 * CONFIG_NODES_MAX);
	if (cvl_room(&c->place, c->n_places, &c->room, sizeof(*c->place)))
		return cvl_no_memory(c->err);
	c->place[c->n_places++] = (struct config_place){ field, size, node };
	return 0;
}

static int read_map(struct config *c, const struct config_node *node,
		    const struct config_shape *shape, unsigned char *base);
static int read_key(struct config *c, const struct config_node *node, const struct config_key *key,
		    unsigned char *base);

static int read_text(struct config *c, const char *s, const char **field)
{
	size_t n = strlen(s) + 1;
	char *copy = config_alloc(c->source->memory, n);

	if (!copy)
		return cvl_no_memory(c->err);
	*field = memcpy(copy, s, n);
	return 0;
}

/* One value into @field. */
static int read_value(struct config *c, const struct config_node *node,
		      const struct config_key *key, void *field)
{
	int rc = 0;

	if (key->type == CONFIG_MAP)
		return node->kind == NODE_MAP || key->shape->short_form ?
			       read_map(c, node, key->shape, field) :
			       must_be(c, node, key, value_says);
	rc = remember(c, field, 0, node);
	if (rc)
		return rc;
	if (node->kind != NODE_SCALAR || !node->text || !take(key, node, field))
		return must_be(c, node, key, value_says);
	if (key->type == CONFIG_TEXT)
		rc = read_text(c, node->text, field);
	return rc || value_is(key, field) ? rc : must_be(c, node, key, value_says);
}

/* ---- lists ---- */

static size_t entry_size(const struct config_key *key)
{
	static const size_t sizes[] = {
		[CONFIG_TEXT] = sizeof(const char *),
		[CONFIG_TIME] = sizeof(int64_t),
		[CONFIG_RATE] = sizeof(uint64_t),
		[CONFIG_U64] = sizeof(uint64_t),
		[CONFIG_UNSIGNED] = sizeof(unsigned),
		[CONFIG_REAL] = sizeof(double),
		[CONFIG_BOOL] = sizeof(bool),
		[CONFIG_WORD] = sizeof(unsigned),
		[CONFIG_CHARS] = 0,
		[CONFIG_OWN] = 0,
	};

	return key->type == CONFIG_MAP ? key->shape->size : sizes[key->type];
}

static int read_entry(struct config *c, const struct config_node *node,
		      const struct config_key *key, void *entry)
{
	if (key->type == CONFIG_MAP && key->shape->defaults)
		memcpy(entry, key->shape->defaults, key->shape->size);
	return read_value(c, node, key, entry);
}

static int read_named(struct config *c, const struct config_node *name,
		      const struct config_node *map, const struct config_key *key, void *entry)
{
	int rc;

	for (const struct config_node *k = map->first; k != name; k = k->next->next)
		if (k->text && name->text && !strcmp(k->text, name->text))
			return config_bad(c, CVL_E_SYNTAX, name->at, "duplicate key '%.60s'",
					  name->text);
	if (name->kind != NODE_SCALAR || !name->text || !*name->text)
		return config_bad(c, CVL_E_SYNTAX, name->at, "a name must be text");
	rc = read_entry(c, name->next, key, entry);
	return rc ? rc : read_text(c, name->text, entry);
}

/* Entry @i of a list; of a mapping, its key. */
static const struct config_node *child(const struct config_node *node, size_t i)
{
	const struct config_node *item = node->first;

	for (i *= node->kind == NODE_MAP ? 2 : 1; i; i--)
		item = item->next;
	return item;
}

static int read_list(struct config *c, const struct config_node *node, const struct config_key *key,
		     unsigned char *base)
{
	const enum config_node_kind kind = key->many == CONFIG_NAMED ? NODE_MAP : NODE_LIST;
	const bool one = key->many == CONFIG_ONE_OR_LIST && node->kind != kind;
	const struct config_node *item = one ? node : node->first;
	unsigned char *entry = base + key->offset;
	size_t n = one ? 1 : node->n, *length = (size_t *)(void *)(base + key->length);
	int rc = remember(c, entry, 0, node);

	if (!rc && ((node->kind != kind && !one) || n < key->least))
		rc = must_be(c, node, key, list_says);
	if (!rc && n > most(key))
		rc = must_be(c, child(node, most(key)), key, list_says);
	if (rc)
		return rc;
	if (!key->inside) {
		entry = config_alloc(c->source->memory, n * entry_size(key));
		if (!entry)
			return cvl_no_memory(c->err);
		*(void **)(void *)(base + key->offset) = entry;
	}
	for (*length = 0; !rc && *length < n; (*length)++, entry += entry_size(key)) {
		rc = key->many == CONFIG_NAMED ? read_named(c, item, node, key, entry) :
						 read_entry(c, item, key, entry);
		item = key->many == CONFIG_NAMED ? item->next->next : item->next;
	}
	return rc;
}

static int read_key(struct config *c, const struct config_node *node, const struct config_key *key,
		    unsigned char *base)
{
	return key->many ? read_list(c, node, key, base) :
			   read_value(c, node, key, base + key->offset);
}

/* ---- mappings ---- */

static const struct config_key *find_key(const struct config_shape *shape, const char *name)
{
	const struct config_key *k = shape->key;

	while (k->name && (!name || strcmp(k->name, name)))
		k++;
	return k->name ? k : NULL;
}

static int read_pairs(struct config *c, const struct config_node *node,
		      const struct config_shape *shape, unsigned char *base, uint64_t *seen)
{
	char keys[CONFIG_SAYS];
	int rc = 0;

	for (const struct config_node *name = node->first; !rc && name; name = name->next->next) {
		const struct config_key *k = find_key(shape, name->text);
		uint64_t bit = k ? (uint64_t)1 << (k - shape->key) : 0;

		if (!k) {
			keys_text(keys, shape);
			return config_bad(c, CVL_E_SYNTAX, name->at,
					  "unknown key '%.40s'; expected one of %s",
					  name->text ? name->text : "", keys);
		}
		if (*seen & bit)
			return config_bad(c, CVL_E_SYNTAX, name->at, "duplicate key '%s'", k->name);
		*seen |= bit;
		rc = read_key(c, name->next, k, base);
	}
	return rc;
}

static int read_map(struct config *c, const struct config_node *node,
		    const struct config_shape *shape, unsigned char *base)
{
	uint64_t seen = 0;
	int rc = remember(c, base, shape->size, node);

	if (!rc && node->kind == NODE_MAP) {
		rc = read_pairs(c, node, shape, base, &seen);
	} else if (!rc) {
		const struct config_key *k = find_key(shape, shape->short_form);

		seen = (uint64_t)1 << (k - shape->key);
		rc = read_key(c, node, k, base);
	}
	for (const struct config_key *k = shape->key; !rc && k->name; k++)
		if (k->must && !(seen >> (k - shape->key) & 1))
			rc = config_bad(c, CVL_E_SYNTAX, node->at, "missing key '%s' of %s",
					k->name, shape->what);
	return rc || !shape->end ? rc : shape->end(c, base);
}

int config_read_root(struct config *c)
{
	const struct config_key *key = c->source->root;
	unsigned char *base = c->source->to;
	char keys[CONFIG_SAYS];

	if (!c->root) {
		keys_text(keys, key->shape);
		return config_bad(c, CVL_E_SYNTAX, 0, "empty; expected %s, a mapping with %s",
				  key->shape->what, keys);
	}
	if (!key->many && key->shape->defaults)
		memcpy(base + key->offset, key->shape->defaults, key->shape->size);
	return read_key(c, c->root, key, base);
}

/* ---- structs that were not read ---- */

static bool flawed(struct config_flaw *flaw, const struct config_key *key, const void *field,
		   void (*says)(const struct config_key *key, char text[CONFIG_SAYS]))
{
	char text[CONFIG_SAYS];

	says(key, text);
	flaw->field = field;
	snprintf(flaw->text, sizeof(flaw->text), "`%s` must be %.300s", key->name, text);
	return true;
}

static bool find_flaw(const struct config_shape *shape, const unsigned char *base,
		      struct config_flaw *flaw)
{
	for (const struct config_key *k = shape->key; k->name; k++) {
		const unsigned char *field = base + k->offset;
		size_t n = k->many ? *(const size_t *)(const void *)(base + k->length) : 1;

		if (n > most(k) && k->many)
			return flawed(flaw, k, field, list_says);
		if (k->many && !k->inside)
			field = *(const unsigned char *const *)(const void *)field;
		for (size_t i = 0; i < n; i++, field += entry_size(k)) {
			if (k->many && k->type == CONFIG_MAP)
				*flaw = (struct config_flaw){ k->name, i, field, NULL, "" };
			if (k->type == CONFIG_MAP ?
				    find_flaw(k->shape, field, flaw) :
				    !value_is(k, field) && flawed(flaw, k, field, value_says))
				return true;
		}
		if (k->many)
			*flaw = (struct config_flaw){ .entry = base };
	}
	return false;
}

bool config_find_flaw(const struct config_shape *shape, const void *base, struct config_flaw *flaw)
{
	*flaw = (struct config_flaw){ .entry = base };
	return find_flaw(shape, base, flaw);
}
