/* SPDX-License-Identifier: MIT */
/*
 * Worlds from YAML, by the tables of world_keys.c. Types are checked while reading; what the values may be is checked
 * afterwards on the whole world, as for worlds made in memory, and the place in the file is found again by the field.
 */
#include <coeval/files.h>
#include <coeval/array.h>
#include "sim/world_keys.h"
#include "core/yaml_text.h"

#include <coeval/time.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FILE_MAX (1u << 20)
/* libyaml searches its anchors one by one, and the whole of a world is some thousand scalars. */
#define EVENTS_MAX 20000
#define ANCHORS_MAX 64
#define DEPTH_MAX 16

struct place {
	const void *field;
	bool entry; /* a whole struct, which begins at its first field's address */
	size_t mark;
};

struct reader {
	yaml_document_t doc;
	const char *text;
	size_t len, begin; /* text begins after a byte order mark */
	const char *name;
	struct cvl_error *err;
	struct place *place;
	size_t n_places, capacity;
};

static uint64_t byte_offset(const struct reader *r, size_t mark)
{
	return yaml_byte(r->text, r->len, r->begin, mark);
}

static int bad_at(const struct reader *r, uint64_t offset, const char *what)
{
	return cvl_fail(r->err, CVL_E_SYNTAX, offset, "%s:%llu: %s", r->name,
			(unsigned long long)offset, what);
}

static int bad(const struct reader *r, const yaml_node_t *at, const char *what)
{
	return bad_at(r, byte_offset(r, at ? at->start_mark.index : 0), what);
}

static int bad_key(const struct reader *r, const yaml_node_t *at, const struct world_key *key)
{
	char text[WORLD_SAYS];

	world_key_says(key, text);
	return bad(r, at, text);
}

static int bad_parse(const struct reader *r, const yaml_parser_t *parser)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return cvl_no_memory(r->err);
	return bad_at(r,
		      parser->error == YAML_READER_ERROR ?
			      r->begin + parser->problem_offset :
			      byte_offset(r, parser->problem_mark.index),
		      parser->problem ? parser->problem : "not YAML");
}

static int remember(struct reader *r, const void *field, bool entry, const yaml_node_t *node)
{
	if (cvl_room(&r->place, r->n_places, &r->capacity, sizeof(*r->place)))
		return cvl_no_memory(r->err);
	r->place[r->n_places++] = (struct place){ field, entry, node->start_mark.index };
	return 0;
}

/* The last one: a list begins where the first field of its first entry does. */
static const struct place *place_of(const struct reader *r, const void *field, bool entry)
{
	for (size_t i = r->n_places; i-- > 0;)
		if (r->place[i].field == field && r->place[i].entry == entry)
			return &r->place[i];
	return NULL;
}

/* ---- values ---- */

static bool read_text(const char *s, char out[WORLD_NAME])
{
	size_t n = strlen(s);

	if (n >= WORLD_NAME)
		return false;
	memcpy(out, s, n + 1);
	return true;
}

static bool read_u64(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!*s || s[strspn(s, "0123456789")])
		return false;
	for (; *s; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	*out = v;
	return v <= max;
}

static bool read_unsigned(const char *s, unsigned *out)
{
	uint64_t v;

	if (!read_u64(s, UINT32_MAX, &v))
		return false;
	*out = (unsigned)v;
	return true;
}

/* Decimal only: strtod() alone takes "nan", "infinity" and hexadecimal too. */
static bool read_real(const char *s, double *out)
{
	char *end;

	if (!*s || s[strspn(s, "+-.0123456789eE")])
		return false;
	*out = strtod(s, &end);
	return !*end && isfinite(*out);
}

static bool read_bool(const char *s, bool *out)
{
	*out = !strcmp(s, "true");
	return *out || !strcmp(s, "false");
}

static bool read_word(const char *s, const char *const *words, unsigned *out)
{
	for (unsigned i = 0; words[i]; i++)
		if (!strcmp(s, words[i])) {
			*out = i;
			return true;
		}
	return false;
}

static bool read_scalar(const struct world_key *key, const char *s, void *field)
{
	static_assert(sizeof(enum world_fault_kind) == sizeof(unsigned) &&
			      sizeof(enum world_program_kind) == sizeof(unsigned),
		      "enums are read as unsigned");
	switch (key->type) {
	case WORLD_KEY_TEXT:
	case WORLD_KEY_IDENT:
	case WORLD_KEY_GLOB: return read_text(s, field);
	case WORLD_KEY_TIME: return !cvl_duration_parse(s, field);
	case WORLD_KEY_RATE: return !cvl_rate_parse(s, field);
	case WORLD_KEY_U64: return read_u64(s, UINT64_MAX, field);
	case WORLD_KEY_UNSIGNED: return read_unsigned(s, field);
	case WORLD_KEY_REAL: return read_real(s, field);
	case WORLD_KEY_BOOL: return read_bool(s, field);
	case WORLD_KEY_WORD: return read_word(s, key->words, field);
	case WORLD_KEY_MAP:
	case WORLD_KEY_LIST: break;
	}
	return false;
}

/* ---- mappings and lists ---- */

static int read_map(struct reader *r, const yaml_node_t *node, const struct world_shape *shape,
		    unsigned char *base);

static int read_list(struct reader *r, const yaml_node_t *node, const struct world_key *key,
		     unsigned char *base)
{
	size_t *n = (size_t *)(void *)(base + key->length);
	int rc = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return bad_key(r, node, key);
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     !rc && i < node->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->doc, *i);
		unsigned char *entry = base + key->offset + *n * key->shape->size;

		if (*n == WORLD_LIST)
			return bad_key(r, item, key);
		memcpy(entry, key->shape->defaults, key->shape->size);
		(*n)++;
		rc = read_map(r, item, key->shape, entry);
	}
	return rc;
}

static int read_value(struct reader *r, const yaml_node_t *node, const struct world_key *key,
		      unsigned char *base)
{
	const char *s;
	int rc;

	if (key->type == WORLD_KEY_MAP)
		return node->type == YAML_MAPPING_NODE ?
			       read_map(r, node, key->shape, base + key->offset) :
			       bad_key(r, node, key);
	rc = remember(r, base + key->offset, false, node);
	if (rc)
		return rc;
	if (key->type == WORLD_KEY_LIST)
		return read_list(r, node, key, base);
	s = yaml_scalar(node);
	return s && read_scalar(key, s, base + key->offset) ? 0 : bad_key(r, node, key);
}

static int read_map(struct reader *r, const yaml_node_t *node, const struct world_shape *shape,
		    unsigned char *base)
{
	char text[WORLD_SAYS], says[WORLD_SAYS + 40];
	uint64_t seen = 0;
	int rc = remember(r, base, true, node);

	world_shape_says(shape, text);
	if (!rc && node->type != YAML_MAPPING_NODE) {
		snprintf(says, sizeof(says), "not a mapping; %s", text);
		return bad(r, node, says);
	}
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     !rc && p < node->data.mapping.pairs.top; p++) {
		const yaml_node_t *name = yaml_document_get_node(&r->doc, p->key);
		const char *word = yaml_scalar(name);
		size_t k = 0;

		while (word && shape->key[k].name && strcmp(word, shape->key[k].name))
			k++;
		if (!word || !shape->key[k].name) {
			snprintf(says, sizeof(says), "unknown key; %s", text);
			return bad(r, name, says);
		}
		if (seen >> k & 1) {
			snprintf(says, sizeof(says), "`%s` is there twice", shape->key[k].name);
			return bad(r, name, says);
		}
		seen |= (uint64_t)1 << k;
		rc = read_value(r, yaml_document_get_node(&r->doc, p->value), &shape->key[k], base);
	}
	for (size_t k = 0; !rc && shape->key[k].name; k++)
		if (shape->key[k].must && !(seen >> k & 1)) {
			snprintf(says, sizeof(says), "%s needs `%s`", shape->what,
				 shape->key[k].name);
			return bad(r, node, says);
		}
	return rc;
}

/* ---- documents ---- */

/* Before libyaml builds anything: is this one document of a size and depth that a world can have? */
static int survey(struct reader *r, yaml_parser_t *parser)
{
	unsigned events = 0, anchors = 0, depth = 0, documents = 0;

	for (;;) {
		bool anchor = false, end;
		yaml_event_t e;
		uint64_t offset;

		if (!yaml_parser_parse(parser, &e))
			return bad_parse(r, parser);
		switch (e.type) {
		case YAML_DOCUMENT_START_EVENT: documents++; break;
		case YAML_MAPPING_START_EVENT:
			depth++;
			anchor = e.data.mapping_start.anchor;
			break;
		case YAML_SEQUENCE_START_EVENT:
			depth++;
			anchor = e.data.sequence_start.anchor;
			break;
		case YAML_MAPPING_END_EVENT:
		case YAML_SEQUENCE_END_EVENT: depth--; break;
		case YAML_SCALAR_EVENT: anchor = e.data.scalar.anchor; break;
		default: break;
		}
		end = e.type == YAML_STREAM_END_EVENT;
		anchors += anchor;
		events++;
		offset = documents > 1 || depth > DEPTH_MAX || anchors > ANCHORS_MAX ||
					 events > EVENTS_MAX ?
				 byte_offset(r, e.start_mark.index) :
				 0;
		yaml_event_delete(&e);
		if (documents > 1)
			return bad_at(r, offset, "more than one document; a file is one world");
		if (depth > DEPTH_MAX)
			return bad_at(r, offset, "nested deeper than a world is");
		if (anchors > ANCHORS_MAX)
			return bad_at(r, offset, "more than 64 anchors");
		if (events > EVENTS_MAX)
			return bad_at(r, offset, "more than a world has in it");
		if (end)
			return 0;
	}
}

static int check_read(const struct reader *r, const struct world *w)
{
	const struct place *place;
	struct world_flaw flaw;

	if (!world_find_flaw(w, &flaw))
		return 0;
	place = flaw.field ? place_of(r, flaw.field, false) : NULL;
	if (!place)
		place = place_of(r, flaw.entry, true);
	return bad_at(r, byte_offset(r, place ? place->mark : 0), flaw.text);
}

static int with_parser(struct reader *r, int (*fn)(struct reader *r, yaml_parser_t *parser))
{
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return cvl_no_memory(r->err);
	/* UTF-16 has other offsets, and nobody writes it */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)r->text + r->begin,
				     r->len - r->begin);
	rc = fn(r, &parser);
	yaml_parser_delete(&parser);
	return rc;
}

static int load(struct reader *r, yaml_parser_t *parser)
{
	return yaml_parser_load(parser, &r->doc) ? 0 : bad_parse(r, parser);
}

int world_parse(struct world *w, const char *text, size_t len, const char *name,
		struct cvl_error *err)
{
	struct reader r = { .text = text, .len = len, .name = name, .err = err };
	const yaml_node_t *root;
	int rc;

	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r.begin = 3;
	rc = with_parser(&r, survey);
	memcpy(w, world_shape.defaults, sizeof(*w));
	if (!rc)
		rc = with_parser(&r, load);
	if (rc)
		return rc;
	root = yaml_document_get_root_node(&r.doc);
	rc = root ? read_map(&r, root, &world_shape, (unsigned char *)w) :
		    bad(&r, NULL, "no world here");
	if (!rc)
		rc = check_read(&r, w);
	yaml_document_delete(&r.doc);
	free(r.place);
	return rc;
}

int world_load(struct world *w, const char *path, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	int rc = text ? world_parse(w, text, n, path, err) : err ? (int)err->code : CVL_E_IO;

	free(text);
	return rc;
}
