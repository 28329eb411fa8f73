/* SPDX-License-Identifier: MIT */
/* Flow maps from YAML. What the points are to each other is checked in flow_map.c. */
#include "analysis/flow.h"

#include <coeval/time.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/files.h"

#define FILE_MAX (1u << 20)
/* A map of the most points and some branches each; libyaml is slow with more than that. */
#define EVENTS_MAX 60000
#define DEPTH_MAX 8

struct reader {
	yaml_document_t doc;
	struct flow_map *map;
	bool program;
	struct cvl_error *err;
};

static __attribute__((format(printf, 4, 5))) int bad(const struct reader *r, enum cvl_code code,
						     const yaml_node_t *at, const char *fmt, ...)
{
	char text[CVL_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cvl_fail(r->err, code, at ? at->start_mark.index : 0, "%s:%zu: %s", r->map->file,
			at ? at->start_mark.line + 1 : 1, text);
}

static int no_memory(const struct reader *r)
{
	return cvl_fail(r->err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

static const char *scalar(const yaml_node_t *n)
{
	const char *s =
		n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;

	return s && strlen(s) == n->data.scalar.length ? s : NULL;
}

static yaml_node_t *child(struct reader *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const char *k = scalar(yaml_document_get_node(&r->doc, p->key));

		if (k && !strcmp(k, key))
			return yaml_document_get_node(&r->doc, p->value);
	}
	return NULL;
}

/* A misspelt key must not pass for a default, nor one of two values for the other. */
static int check_keys(struct reader *r, const yaml_node_t *map, const char *const *known,
		      const char *says)
{
	unsigned seen = 0;

	if (map->type != YAML_MAPPING_NODE)
		return bad(r, CVL_E_SYNTAX, map, "not a mapping; %s", says);
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *node = yaml_document_get_node(&r->doc, p->key);
		const char *k = scalar(node);
		unsigned i = 0;

		while (k && known[i] && strcmp(k, known[i]))
			i++;
		if (!k || !known[i])
			return bad(r, CVL_E_SYNTAX, node, "unknown key; %s", says);
		if (seen >> i & 1)
			return bad(r, CVL_E_SYNTAX, node, "`%s` is there twice", k);
		seen |= 1u << i;
	}
	return 0;
}

static bool is_name(const char *s)
{
	size_t n =
		s ? strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") :
		    0;

	return n && n <= FLOW_NAME_MAX && !s[n];
}

/* ---- codes ---- */

static int find_pin(const struct flow_map *map, const char *name, size_t len)
{
	for (size_t i = 0; i < map->n_pins; i++)
		if (strlen(map->pin[i]) == len && !memcmp(map->pin[i], name, len))
			return (int)i;
	return -1;
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
static int read_symbol(struct reader *r, const yaml_node_t *node, uint16_t *out)
{
	const struct flow_map *map = r->map;
	const char *s = scalar(node);
	unsigned long v = 0;

	if (!s || !*s)
		return bad(r, CVL_E_SYNTAX, node,
			   "a code is a list of pins such as [D0, D1, D0+D1], or of numbers");
	if (!strcmp(s, "none")) {
		*out = 0;
	} else if (find_pin(map, s, strlen(s)) < 0 && number(s, &v)) {
		if (v >> map->n_pins)
			return bad(r, CVL_E_RANGE, node,
				   "%s is more than %zu pins can show: the greatest is %u", s,
				   map->n_pins, (1u << map->n_pins) - 1);
		*out = (uint16_t)v;
	} else {
		for (*out = 0; *s; s += *s == '+') {
			size_t len = strcspn(s, "+");
			int pin = find_pin(map, s, len);

			if (pin < 0)
				return bad(r, CVL_E_UNKNOWN_ID, node,
					   "there is no pin '%.*s'; `pins` names them", (int)len,
					   s);
			*out |= (uint16_t)(1u << pin);
			s += len;
		}
	}
	if (!*out && map->codes == FLOW_CHANGES)
		return bad(r, CVL_E_RANGE, node,
			   "a change of no pin cannot be seen: name the pins that change");
	return 0;
}

static int read_code(struct reader *r, yaml_node_t *node, struct flow_point *p)
{
	if (node->type == YAML_SCALAR_NODE) {
		p->n_code = 1;
		return read_symbol(r, node, p->code);
	}
	if (node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.start == node->data.sequence.items.top)
		return bad(
			r, CVL_E_SYNTAX, node,
			"`code` is a pin or a list of pins; leave it out where there is no marker");
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     i < node->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->doc, *i);
		int rc;

		if (p->n_code == FLOW_CODE_MAX)
			return bad(r, CVL_E_LIMIT, item, "a code has up to %d changes",
				   FLOW_CODE_MAX);
		rc = read_symbol(r, item, &p->code[p->n_code]);
		if (rc)
			return rc;
		if (r->map->codes == FLOW_LEVELS && p->n_code &&
		    p->code[p->n_code] == p->code[p->n_code - 1])
			return bad(r, CVL_E_MISMATCH, item,
				   "the same levels twice cannot be seen: put others in between");
		p->n_code++;
	}
	return 0;
}

/* ---- points ---- */

static int read_point(struct reader *r, yaml_node_t *node, struct flow_point *p)
{
	static const char *const known[] = { "name", "at", "code", "next", "mark", "weight", NULL };
	const char *name, *s;
	yaml_node_t *v;
	int rc = check_keys(r, node, known,
			    "a point has name, at, code, next, weight, and mark: false");

	p->line = (unsigned)node->start_mark.line + 1;
	p->weight = 1;
	if (rc)
		return rc;
	v = child(r, node, "name");
	name = scalar(v);
	if (!is_name(name))
		return bad(r, CVL_E_SYNTAX, v ? v : node,
			   "a point needs a `name` of up to %d letters, digits and '_'",
			   FLOW_NAME_MAX);
	if (!(p->name = strdup(name)))
		return no_memory(r);
	if ((v = child(r, node, "at"))) {
		s = scalar(v);
		if (!s || strlen(s) > 200 || strpbrk(s, "\r\n\\*"))
			return bad(r, CVL_E_SYNTAX, v, "`at` is a place such as main.c:12");
		if (!(p->at = strdup(s)))
			return no_memory(r);
	}
	if ((v = child(r, node, "weight"))) {
		char *end = NULL;

		s = scalar(v);
		if (s && *s && !s[strspn(s, "+.0123456789eE")])
			p->weight = strtod(s, &end);
		if (!end || *end || !(p->weight >= 0) || p->weight > 1e12)
			return bad(r, CVL_E_SYNTAX, v,
				   "`weight` says how often the point is passed: 0 to 1e12");
	}
	if ((v = child(r, node, "mark"))) {
		s = scalar(v);
		if (!s || (strcmp(s, "false") && strcmp(s, "true")))
			return bad(r, CVL_E_SYNTAX, v, "`mark` is true or false");
		p->plain = !strcmp(s, "false");
	}
	v = child(r, node, "code");
	if (v && p->plain)
		return bad(r, CVL_E_MISMATCH, v, "%s has a code and `mark: false`: take one away",
			   p->name);
	return v ? read_code(r, v, p) : 0;
}

static int read_next(struct reader *r, const yaml_node_t *node, struct flow_point *p)
{
	struct flow_map *map = r->map;
	yaml_node_t *list = child(r, node, "next");
	size_t n;

	if (!map->graph)
		return 0;
	if (!list)
		return bad(
			r, CVL_E_MISMATCH, node,
			"%s has no `next`, but other points have: list what follows it, or [] if nothing does",
			p->name);
	if (list->type != YAML_SEQUENCE_NODE)
		return bad(r, CVL_E_SYNTAX, list, "`next` is a list of points");
	n = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
	if (!(p->next = calloc(n + 1, sizeof(*p->next))))
		return no_memory(r);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item =
			yaml_document_get_node(&r->doc, list->data.sequence.items.start[i]);
		const char *name = scalar(item);
		uint32_t k = name ? flow_map_find(map, name) : FLOW_NONE;

		if (k == FLOW_NONE)
			return bad(r, CVL_E_UNKNOWN_ID, item,
				   "there is no point '%.64s' to follow %s; `points` names them",
				   name ? name : "", p->name);
		for (size_t j = 0; j < i; j++)
			if (p->next[j] == k)
				return bad(r, CVL_E_MISMATCH, item, "%s follows %s twice", name,
					   p->name);
		p->next[p->n_next++] = k;
	}
	p->first_branch = map->branches;
	map->branches += n;
	return 0;
}

static int read_points(struct reader *r, const yaml_node_t *root)
{
	struct flow_map *map = r->map;
	yaml_node_t *list = child(r, root, "points");
	yaml_node_item_t *item;
	size_t n;
	int rc = 0;

	if (!list || list->type != YAML_SEQUENCE_NODE ||
	    list->data.sequence.items.start == list->data.sequence.items.top)
		return bad(r, CVL_E_SYNTAX, list ? list : root,
			   "a map needs `points`, a list of mappings");
	item = list->data.sequence.items.start;
	n = (size_t)(list->data.sequence.items.top - item);
	if (n > FLOW_POINTS_MAX)
		return bad(r, CVL_E_LIMIT, list, "more than %d points", FLOW_POINTS_MAX);
	if (!(map->point = calloc(n, sizeof(*map->point))))
		return no_memory(r);
	for (size_t i = 0; i < n && !rc; i++) {
		yaml_node_t *node = yaml_document_get_node(&r->doc, item[i]);
		uint32_t twin;

		map->n = i + 1;
		rc = read_point(r, node, &map->point[i]);
		if (rc)
			break;
		twin = flow_map_find(map, map->point[i].name);
		if (twin != i)
			rc = bad(r, CVL_E_MISMATCH, node,
				 "there are two points %s, the other in line %u: rename one",
				 map->point[i].name, map->point[twin].line);
		map->graph = map->graph || child(r, node, "next");
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_next(r, yaml_document_get_node(&r->doc, item[i]), &map->point[i]);
	return rc;
}

/* ---- the file ---- */

static int read_pins(struct reader *r, const yaml_node_t *root)
{
	struct flow_map *map = r->map;
	yaml_node_t *list = child(r, root, "pins");

	if (!list && r->program)
		return 0;
	if (!list || list->type != YAML_SEQUENCE_NODE)
		return bad(r, CVL_E_SYNTAX, list ? list : root,
			   "a map needs `pins`, a list of lines such as [D0, D1]");
	map->pins_line = (unsigned)list->start_mark.line + 1;
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->doc, *i);
		const char *s = scalar(item);

		if (!s || !*s || strlen(s) > FLOW_NAME_MAX || *s == '-' ||
		    s[strcspn(s, "?+,[]{}#&*!|>'\"%@`\\: \t\r\n")] || !strcmp(s, "none"))
			return bad(r, CVL_E_SYNTAX, item,
				   "a pin is the name of a line; `coeval info` lists them");
		if (find_pin(map, s, strlen(s)) >= 0)
			return bad(r, CVL_E_MISMATCH, item, "there are two pins %s", s);
		if (map->n_pins == FLOW_PINS_MAX)
			return bad(r, CVL_E_LIMIT, item, "more than %d pins", FLOW_PINS_MAX);
		if (!(map->pin[map->n_pins] = strdup(s)))
			return no_memory(r);
		map->n_pins++;
	}
	return map->n_pins ? 0 : bad(r, CVL_E_SYNTAX, list, "`pins` names no line");
}

static int read_head(struct reader *r, const yaml_node_t *root)
{
	struct flow_map *map = r->map;
	yaml_node_t *v = child(r, root, "program");
	const char *s = v ? scalar(v) : "program";

	if (!is_name(s))
		return bad(r, CVL_E_SYNTAX, v,
			   "`program` is a name of up to %d letters, digits and '_'",
			   FLOW_NAME_MAX);
	if (!(map->program = strdup(s)))
		return no_memory(r);
	if ((v = child(r, root, "codes"))) {
		s = scalar(v);
		if (!s || (strcmp(s, "changes") && strcmp(s, "levels")))
			return bad(r, CVL_E_SYNTAX, v, "`codes` are `changes` or `levels` of pins");
		map->codes = strcmp(s, "levels") ? FLOW_CHANGES : FLOW_LEVELS;
	}
	if ((v = child(r, root, "settle"))) {
		s = scalar(v);
		if (!s || cvl_duration_parse(s, &map->settle_ns) || map->settle_ns < 0)
			return bad(r, CVL_E_SYNTAX, v, "`settle` is a time such as 200ns");
	}
	return read_pins(r, root);
}

static int read_start(struct reader *r, const yaml_node_t *root)
{
	struct flow_map *map = r->map;
	yaml_node_t *v = child(r, root, "start");
	const char *s = scalar(v);

	map->start = map->graph ? 0 : FLOW_NONE;
	if (!v)
		return 0;
	if (!map->graph)
		return bad(r, CVL_E_MISMATCH, v,
			   "`start` says nothing where no point says what is `next`");
	map->start = s ? flow_map_find(map, s) : FLOW_NONE;
	return map->start != FLOW_NONE ?
		       0 :
		       bad(r, CVL_E_UNKNOWN_ID, v,
			   "there is no point '%.64s' to start with; `points` names them",
			   s ? s : "");
}

static int read_map(struct reader *r, const yaml_node_t *root)
{
	static const char *const known[] = { "program", "pins",   "codes", "settle",
					     "start",   "points", NULL };
	int rc = check_keys(r, root, known,
			    "a map has program, pins, codes, settle, start and points");

	if (!rc)
		rc = read_head(r, root);
	if (!rc)
		rc = read_points(r, root);
	if (!rc)
		rc = read_start(r, root);
	return rc ? rc : flow_map_finish(r->map, r->program, r->err);
}

static int bad_parse(const struct reader *r, const yaml_parser_t *p)
{
	if (p->error == YAML_MEMORY_ERROR)
		return no_memory(r);
	return cvl_fail(r->err, CVL_E_SYNTAX,
			p->error == YAML_READER_ERROR ? p->problem_offset : p->problem_mark.index,
			"%s:%zu: %s", r->map->file, p->problem_mark.line + 1,
			p->problem ? p->problem : "not YAML");
}

/* Before libyaml builds anything: is this one document of a size and depth that a map can have? */
static int survey(struct reader *r, yaml_parser_t *parser)
{
	unsigned events = 0, depth = 0, documents = 0;

	for (;;) {
		bool anchor = false, end;
		yaml_node_t here = { 0 };
		yaml_event_t e;

		if (!yaml_parser_parse(parser, &e))
			return bad_parse(r, parser);
		documents += e.type == YAML_DOCUMENT_START_EVENT;
		depth += e.type == YAML_MAPPING_START_EVENT || e.type == YAML_SEQUENCE_START_EVENT;
		depth -= e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT;
		anchor = e.type == YAML_ALIAS_EVENT;
		end = e.type == YAML_STREAM_END_EVENT;
		here.start_mark = e.start_mark;
		yaml_event_delete(&e);
		if (documents > 1)
			return bad(r, CVL_E_SYNTAX, &here,
				   "more than one document; a file is one map");
		if (depth > DEPTH_MAX)
			return bad(r, CVL_E_LIMIT, &here, "nested deeper than a map is");
		if (anchor)
			return bad(r, CVL_E_SYNTAX, &here, "a map has no aliases: write it out");
		if (++events > EVENTS_MAX)
			return bad(r, CVL_E_LIMIT, &here, "more than a map has in it");
		if (end)
			return 0;
	}
}

static int load(struct reader *r, yaml_parser_t *parser)
{
	return yaml_parser_load(parser, &r->doc) ? 0 : bad_parse(r, parser);
}

static int with_parser(struct reader *r, const char *text, size_t n,
		       int (*fn)(struct reader *r, yaml_parser_t *parser))
{
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return no_memory(r);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	rc = fn(r, &parser);
	yaml_parser_delete(&parser);
	return rc;
}

int flow_map_parse(struct flow_map *map, const char *text, size_t n, const char *name, bool program,
		   struct cvl_error *err)
{
	struct reader r = { .map = map, .program = program, .err = err };
	const yaml_node_t *root;
	int rc;

	*map = (struct flow_map){ .file = strdup(name), .start = FLOW_NONE };
	if (!map->file)
		return no_memory(&r);
	rc = with_parser(&r, text, n, survey);
	if (!rc)
		rc = with_parser(&r, text, n, load);
	if (!rc) {
		root = yaml_document_get_root_node(&r.doc);
		rc = root ? read_map(&r, root) : bad(&r, CVL_E_SYNTAX, NULL, "no map here");
		yaml_document_delete(&r.doc);
	}
	if (rc)
		flow_map_free(map);
	return rc;
}

int flow_map_load(struct flow_map *map, const char *path, bool program, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	int rc = text ? flow_map_parse(map, text, n, path, program, err) :
		 err  ? (int)err->code :
			CVL_E_IO;

	free(text);
	return rc;
}
