/* SPDX-License-Identifier: MIT */
/* Flow maps from YAML. The relations of points are checked in map.c. */
#include "analysis/flow/flow.h"

#include <stdlib.h>
#include <string.h>

#include "core/config.h"

/* ---- the file, as tables ---- */

struct raw_point {
	const char *name, *at;
	double weight;
	bool mark;
	const char **code, **next;
	size_t n_code, n_next;
};

struct raw_map {
	const char *program, *start;
	const char **pin;
	size_t n_pins;
	enum cvl_flow_codes codes;
	int64_t settle_ns;
	struct raw_point *point;
	size_t n;
};

static bool is_name(const char *s)
{
	return !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static bool is_pin(const char *s)
{
	return *s != '-' && !s[strcspn(s, "?+,[]{}#&*!|>'\"%@`\\: \t\r\n")] &&
	       strcmp(s, "none") != 0;
}

static bool is_place(const char *s)
{
	return !strpbrk(s, "\r\n\\*");
}

#define NAME                                               \
	.min = 1, .max = CVL_FLOW_NAME_MAX, .is = is_name, \
	.what = "a name of up to 63 letters, digits and '_'"
#define AT(member) .offset = offsetof(struct raw_point, member)
#define LENGTH(member) .length = offsetof(struct raw_point, member)

static const struct config_key point_keys[] = {
	{ "name", CONFIG_TEXT, AT(name), NAME, .must = true },
	{ "at", CONFIG_TEXT, AT(at), .max = 200, .is = is_place,
	  .what = "a place such as main.c:12" },
	{ "code", CONFIG_TEXT, AT(code), LENGTH(n_code), .min = 1, .many = CONFIG_ONE_OR_LIST,
	  .least = 1, .most = CVL_FLOW_CODE_MAX,
	  .what = "a list of pins such as [D0, D1, D0+D1], or of numbers" },
	{ "next", CONFIG_TEXT, AT(next), LENGTH(n_next), .many = CONFIG_LIST,
	  .most = CVL_FLOW_POINTS_MAX, .what = "a list of points" },
	{ "weight", CONFIG_REAL, AT(weight), .max = 1e12 },
	{ "mark", CONFIG_BOOL, AT(mark) },
	{ 0 },
};
static const struct raw_point point_defaults = { .weight = 1, .mark = true };
static const struct config_shape point_shape = { .what = "a point",
						 .key = point_keys,
						 .size = sizeof(struct raw_point),
						 .defaults = &point_defaults };

#undef AT
#undef LENGTH
#define AT(member) .offset = offsetof(struct raw_map, member)
#define LENGTH(member) .length = offsetof(struct raw_map, member)

static const char *const codes[] = { "changes", "levels", NULL };

static const struct config_key map_keys[] = {
	{ "program", CONFIG_TEXT, AT(program), NAME },
	{ "pins", CONFIG_TEXT, AT(pin), LENGTH(n_pins), .min = 1, .max = CVL_FLOW_NAME_MAX,
	  .many = CONFIG_LIST, .least = 1, .most = CVL_FLOW_PINS_MAX, .is = is_pin,
	  .what = "a list of lines such as [D0, D1]" },
	{ "codes", CONFIG_WORD, AT(codes), .words = codes },
	{ "settle", CONFIG_TIME, AT(settle_ns), .max = 0x1p63, .what = "a time such as 200ns" },
	{ "start", CONFIG_TEXT, AT(start), .min = 1 },
	{ "points", CONFIG_MAP, AT(point), LENGTH(n), .must = true, .many = CONFIG_LIST, .least = 1,
	  .most = CVL_FLOW_POINTS_MAX, .shape = &point_shape },
	{ 0 },
};

/* ---- checks beyond the tables ---- */

struct reader {
	struct config *c;
	struct cvl_flow_map *map;
	bool program; /* codes may be missing */
};

static int copy(const struct reader *r, const char *text, char **out)
{
	*out = strdup(text);
	return *out ? 0 : config_no_memory(r->c);
}

static int find_pin(const struct cvl_flow_map *map, const char *name, size_t len)
{
	for (size_t i = 0; i < map->n_pins; i++)
		if (strlen(map->pin[i]) == len && !memcmp(map->pin[i], name, len))
			return (int)i;
	return -1;
}

static int take_pins(const struct reader *r, const struct raw_map *raw)
{
	const struct config_mark mark = config_mark(r->c, &raw->pin);
	struct cvl_flow_map *map = r->map;

	if (!raw->n_pins && !r->program)
		return config_fail_in(r->c, raw, CVL_E_SYNTAX, "missing key 'pins' of a map");
	map->pins_line = mark.line;
	map->pins_column = mark.column;
	for (size_t i = 0; i < raw->n_pins; i++) {
		const char *name = raw->pin[i];

		if (find_pin(map, name, strlen(name)) >= 0)
			return config_fail(r->c, &raw->pin[i], CVL_E_MISMATCH, "duplicate pin %s",
					   name);
		if (copy(r, name, &map->pin[i]))
			return CVL_E_NOMEM;
		map->n_pins++;
	}
	return 0;
}

static bool number(const char *s, unsigned long *v)
{
	const char *digits = "0123456789";
	int base = 10;
	char *end;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'b')) {
		base = s[1] == 'x' ? 16 : 2;
		digits = base == 16 ? "0123456789abcdefABCDEF" : "01";
		s += 2;
	}
	if (!*s || s[strspn(s, digits)] || strlen(s) > 20)
		return false;
	*v = strtoul(s, &end, base);
	return true;
}

/* "D0", "D0+D2", "none", or a number whose bit 0 is the first pin. */
static int take_symbol(const struct reader *r, const char *const *text, uint16_t *out)
{
	const struct cvl_flow_map *map = r->map;
	const char *s = *text;
	unsigned long v = 0;

	if (!strcmp(s, "none")) {
		*out = 0;
	} else if (find_pin(map, s, strlen(s)) < 0 && number(s, &v)) {
		if (v >> map->n_pins)
			return config_fail(r->c, text, CVL_E_RANGE,
					   "%s is more than %zu pins can show: the greatest is %u",
					   s, map->n_pins, (1u << map->n_pins) - 1);
		*out = (uint16_t)v;
	} else {
		for (*out = 0; *s; s += *s == '+') {
			size_t len = strcspn(s, "+");
			int pin = find_pin(map, s, len);

			if (pin < 0)
				return config_fail(r->c, text, CVL_E_UNKNOWN_ID,
						   "unknown pin '%.*s'; `pins` lists them",
						   (int)len, s);
			*out |= (uint16_t)(1u << pin);
			s += len;
		}
	}
	if (!*out && map->codes == CVL_FLOW_CHANGES)
		return config_fail(r->c, text, CVL_E_RANGE,
				   "a change of no pin cannot be seen: name the pins that change");
	return 0;
}

static int take_code(const struct reader *r, const struct raw_point *raw, struct cvl_flow_point *p)
{
	int rc = 0;

	if (raw->n_code && p->plain)
		return config_fail(r->c, &raw->code, CVL_E_MISMATCH,
				   "%s has a code and `mark: false`: remove one of them", p->name);
	for (; !rc && p->n_code < raw->n_code; p->n_code++) {
		rc = take_symbol(r, &raw->code[p->n_code], &p->code[p->n_code]);
		if (!rc && r->map->codes == CVL_FLOW_LEVELS && p->n_code &&
		    p->code[p->n_code] == p->code[p->n_code - 1])
			rc = config_fail(
				r->c, &raw->code[p->n_code], CVL_E_MISMATCH,
				"the same levels twice in a row cannot be seen: put others in between");
	}
	return rc;
}

static int take_point(const struct reader *r, const struct raw_point *raw, struct cvl_flow_point *p)
{
	const struct config_mark mark = config_mark_in(r->c, raw);
	uint32_t twin;
	int rc = copy(r, raw->name, &p->name);

	p->line = mark.line;
	p->column = mark.column;
	p->weight = raw->weight;
	p->plain = !raw->mark;
	if (!rc && raw->at)
		rc = copy(r, raw->at, &p->at);
	if (!rc)
		rc = take_code(r, raw, p);
	twin = rc ? 0 : cvl_flow_map_find(r->map, p->name);
	if (!rc && &r->map->point[twin] != p)
		rc = config_fail_in(r->c, raw, CVL_E_MISMATCH,
				    "duplicate point %s, also in line %u: rename one", p->name,
				    r->map->point[twin].line);
	return rc;
}

static int take_next(const struct reader *r, const struct raw_point *raw, struct cvl_flow_point *p)
{
	struct cvl_flow_map *map = r->map;

	if (!raw->next)
		return config_fail_in(
			r->c, raw, CVL_E_MISMATCH,
			"%s has no `next`, but other points have: list what follows it, or [] if nothing does",
			p->name);
	if (!(p->next = calloc(raw->n_next + 1, sizeof(*p->next))))
		return config_no_memory(r->c);
	for (size_t i = 0; i < raw->n_next; i++) {
		uint32_t k = cvl_flow_map_find(map, raw->next[i]);

		if (k == CVL_FLOW_NONE)
			return config_fail(r->c, &raw->next[i], CVL_E_UNKNOWN_ID,
					   "unknown point '%.64s' after %s; `points` lists them",
					   raw->next[i], p->name);
		for (size_t j = 0; j < i; j++)
			if (p->next[j] == k)
				return config_fail(r->c, &raw->next[i], CVL_E_MISMATCH,
						   "%s follows %s twice", raw->next[i], p->name);
		p->next[p->n_next++] = k;
	}
	p->first_branch = map->branches;
	map->branches += p->n_next;
	return 0;
}

static int take_points(const struct reader *r, const struct raw_map *raw)
{
	struct cvl_flow_map *map = r->map;
	int rc = 0;

	if (!(map->point = calloc(raw->n, sizeof(*map->point))))
		return config_no_memory(r->c);
	for (size_t i = 0; i < raw->n && !rc; i++) {
		map->n = i + 1;
		rc = take_point(r, &raw->point[i], &map->point[i]);
		map->graph = map->graph || raw->point[i].next;
	}
	for (size_t i = 0; map->graph && i < raw->n && !rc; i++)
		rc = take_next(r, &raw->point[i], &map->point[i]);
	return rc;
}

static int take_start(const struct reader *r, const struct raw_map *raw)
{
	struct cvl_flow_map *map = r->map;

	map->start = map->graph ? 0 : CVL_FLOW_NONE;
	if (!raw->start)
		return 0;
	if (!map->graph)
		return config_fail(r->c, &raw->start, CVL_E_MISMATCH,
				   "`start` has no meaning if no point has `next`");
	map->start = cvl_flow_map_find(map, raw->start);
	return map->start != CVL_FLOW_NONE ?
		       0 :
		       config_fail(r->c, &raw->start, CVL_E_UNKNOWN_ID,
				   "unknown start point '%.64s'; `points` lists them", raw->start);
}

static int end_map(struct config *c, void *to)
{
	struct reader *r = config_user(c);
	const struct raw_map *raw = to;
	struct cvl_flow_map *map = r->map;
	int rc;

	r->c = c;
	map->codes = raw->codes;
	map->settle_ns = raw->settle_ns;
	rc = copy(r, raw->program ? raw->program : "program", &map->program);
	rc = rc ? rc : take_pins(r, raw);
	rc = rc ? rc : take_points(r, raw);
	return rc ? rc : take_start(r, raw);
}

static const struct config_shape map_shape = {
	.what = "a map", .key = map_keys, .size = sizeof(struct raw_map), .end = end_map
};

static const struct config_key root = { .type = CONFIG_MAP, .shape = &map_shape };

/* @text NULL: the file. */
static int read_map(struct cvl_flow_map *map, const char *text, size_t n, const char *name,
		    bool program, struct cvl_error *err)
{
	struct config_memory *memory = NULL;
	struct raw_map raw = { 0 };
	struct reader r = { .map = map, .program = program };
	const struct config_source source = {
		.file = name, .root = &root, .to = &raw, .user = &r, .memory = &memory
	};
	int rc;

	*map = (struct cvl_flow_map){ .file = strdup(name), .start = CVL_FLOW_NONE };
	rc = !map->file ? cvl_no_memory(err) :
	     text       ? config_parse(&source, text, n, err) :
			  config_load(&source, err);
	config_free(&memory);
	rc = rc ? rc : flow_map_finish(map, program, err);
	if (rc)
		cvl_flow_map_free(map);
	return rc;
}

int cvl_flow_map_parse(struct cvl_flow_map *map, const char *text, size_t n, const char *name,
		       bool program, struct cvl_error *err)
{
	return read_map(map, text, n, name, program, err);
}

int cvl_flow_map_load(struct cvl_flow_map *map, const char *path, bool program,
		      struct cvl_error *err)
{
	return read_map(map, NULL, 0, path, program, err);
}
