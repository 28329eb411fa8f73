/* SPDX-License-Identifier: MIT */
/* Flow maps from YAML. What the points are to each other is checked in flow_map.c. */
#include "analysis/flow/reader.h"

#include <coeval/time.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/files.h>

#define FILE_MAX (1u << 20)
/* A map of the most points and some branches each; libyaml is slow with more than that. */
#define EVENTS_MAX 60000
#define DEPTH_MAX 8

int flow_bad(const struct flow_reader *r, enum cvl_code code, const yaml_node_t *at,
	     const char *fmt, ...)
{
	char text[CVL_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cvl_fail(r->err, code, at ? at->start_mark.index : 0, "%s:%zu: %s", r->map->file,
			at ? at->start_mark.line + 1 : 1, text);
}

int flow_reader_no_memory(const struct flow_reader *r)
{
	return cvl_no_memory(r->err);
}

yaml_node_t *flow_child(struct flow_reader *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const char *k = yaml_scalar(yaml_document_get_node(&r->doc, p->key));

		if (k && !strcmp(k, key))
			return yaml_document_get_node(&r->doc, p->value);
	}
	return NULL;
}

/* A misspelt key must not pass for a default, nor one of two values for the other. */
int flow_check_keys(struct flow_reader *r, const yaml_node_t *map, const char *const *known,
		    const char *says)
{
	unsigned seen = 0;

	if (map->type != YAML_MAPPING_NODE)
		return flow_bad(r, CVL_E_SYNTAX, map, "not a mapping; %s", says);
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *node = yaml_document_get_node(&r->doc, p->key);
		const char *k = yaml_scalar(node);
		unsigned i = 0;

		while (k && known[i] && strcmp(k, known[i]))
			i++;
		if (!k || !known[i])
			return flow_bad(r, CVL_E_SYNTAX, node, "unknown key; %s", says);
		if (seen >> i & 1)
			return flow_bad(r, CVL_E_SYNTAX, node, "`%s` is there twice", k);
		seen |= 1u << i;
	}
	return 0;
}

bool flow_is_name(const char *s)
{
	size_t n =
		s ? strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") :
		    0;

	return n && n <= CVL_FLOW_NAME_MAX && !s[n];
}

int flow_find_pin(const struct cvl_flow_map *map, const char *name, size_t len)
{
	for (size_t i = 0; i < map->n_pins; i++)
		if (strlen(map->pin[i]) == len && !memcmp(map->pin[i], name, len))
			return (int)i;
	return -1;
}

/* ---- the file ---- */

static int read_pins(struct flow_reader *r, const yaml_node_t *root)
{
	struct cvl_flow_map *map = r->map;
	yaml_node_t *list = flow_child(r, root, "pins");

	if (!list && r->program)
		return 0;
	if (!list || list->type != YAML_SEQUENCE_NODE)
		return flow_bad(r, CVL_E_SYNTAX, list ? list : root,
				"a map needs `pins`, a list of lines such as [D0, D1]");
	map->pins_line = (unsigned)list->start_mark.line + 1;
	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->doc, *i);
		const char *s = yaml_scalar(item);

		if (!s || !*s || strlen(s) > CVL_FLOW_NAME_MAX || *s == '-' ||
		    s[strcspn(s, "?+,[]{}#&*!|>'\"%@`\\: \t\r\n")] || !strcmp(s, "none"))
			return flow_bad(r, CVL_E_SYNTAX, item,
					"a pin is the name of a line; `coeval info` lists them");
		if (flow_find_pin(map, s, strlen(s)) >= 0)
			return flow_bad(r, CVL_E_MISMATCH, item, "there are two pins %s", s);
		if (map->n_pins == CVL_FLOW_PINS_MAX)
			return flow_bad(r, CVL_E_LIMIT, item, "more than %d pins",
					CVL_FLOW_PINS_MAX);
		if (!(map->pin[map->n_pins] = strdup(s)))
			return flow_reader_no_memory(r);
		map->n_pins++;
	}
	return map->n_pins ? 0 : flow_bad(r, CVL_E_SYNTAX, list, "`pins` names no line");
}

static int read_head(struct flow_reader *r, const yaml_node_t *root)
{
	struct cvl_flow_map *map = r->map;
	yaml_node_t *v = flow_child(r, root, "program");
	const char *s = v ? yaml_scalar(v) : "program";

	if (!flow_is_name(s))
		return flow_bad(r, CVL_E_SYNTAX, v,
				"`program` is a name of up to %d letters, digits and '_'",
				CVL_FLOW_NAME_MAX);
	if (!(map->program = strdup(s)))
		return flow_reader_no_memory(r);
	if ((v = flow_child(r, root, "codes"))) {
		s = yaml_scalar(v);
		if (!s || (strcmp(s, "changes") && strcmp(s, "levels")))
			return flow_bad(r, CVL_E_SYNTAX, v,
					"`codes` are `changes` or `levels` of pins");
		map->codes = strcmp(s, "levels") ? CVL_FLOW_CHANGES : CVL_FLOW_LEVELS;
	}
	if ((v = flow_child(r, root, "settle"))) {
		s = yaml_scalar(v);
		if (!s || cvl_duration_parse(s, &map->settle_ns) || map->settle_ns < 0)
			return flow_bad(r, CVL_E_SYNTAX, v, "`settle` is a time such as 200ns");
	}
	return read_pins(r, root);
}

static int read_start(struct flow_reader *r, const yaml_node_t *root)
{
	struct cvl_flow_map *map = r->map;
	yaml_node_t *v = flow_child(r, root, "start");
	const char *s = yaml_scalar(v);

	map->start = map->graph ? 0 : CVL_FLOW_NONE;
	if (!v)
		return 0;
	if (!map->graph)
		return flow_bad(r, CVL_E_MISMATCH, v,
				"`start` says nothing where no point says what is `next`");
	map->start = s ? cvl_flow_map_find(map, s) : CVL_FLOW_NONE;
	return map->start != CVL_FLOW_NONE ?
		       0 :
		       flow_bad(r, CVL_E_UNKNOWN_ID, v,
				"there is no point '%.64s' to start with; `points` names them",
				s ? s : "");
}

static int read_map(struct flow_reader *r, const yaml_node_t *root)
{
	static const char *const known[] = { "program", "pins",   "codes", "settle",
					     "start",   "points", NULL };
	int rc = flow_check_keys(r, root, known,
				 "a map has program, pins, codes, settle, start and points");

	if (!rc)
		rc = read_head(r, root);
	if (!rc)
		rc = flow_read_points(r, root);
	if (!rc)
		rc = read_start(r, root);
	return rc ? rc : flow_map_finish(r->map, r->program, r->err);
}

static int bad_parse(const struct flow_reader *r, const yaml_parser_t *p)
{
	if (p->error == YAML_MEMORY_ERROR)
		return flow_reader_no_memory(r);
	return cvl_fail(r->err, CVL_E_SYNTAX,
			p->error == YAML_READER_ERROR ? p->problem_offset : p->problem_mark.index,
			"%s:%zu: %s", r->map->file, p->problem_mark.line + 1,
			p->problem ? p->problem : "not YAML");
}

/* Before libyaml builds anything: is this one document of a size and depth that a map can have? */
static int survey(struct flow_reader *r, yaml_parser_t *parser)
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
			return flow_bad(r, CVL_E_SYNTAX, &here,
					"more than one document; a file is one map");
		if (depth > DEPTH_MAX)
			return flow_bad(r, CVL_E_LIMIT, &here, "nested deeper than a map is");
		if (anchor)
			return flow_bad(r, CVL_E_SYNTAX, &here,
					"a map has no aliases: write it out");
		if (++events > EVENTS_MAX)
			return flow_bad(r, CVL_E_LIMIT, &here, "more than a map has in it");
		if (end)
			return 0;
	}
}

static int load(struct flow_reader *r, yaml_parser_t *parser)
{
	return yaml_parser_load(parser, &r->doc) ? 0 : bad_parse(r, parser);
}

static int with_parser(struct flow_reader *r, const char *text, size_t n,
		       int (*fn)(struct flow_reader *r, yaml_parser_t *parser))
{
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return flow_reader_no_memory(r);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	rc = fn(r, &parser);
	yaml_parser_delete(&parser);
	return rc;
}

int cvl_flow_map_parse(struct cvl_flow_map *map, const char *text, size_t n, const char *name,
		       bool program, struct cvl_error *err)
{
	struct flow_reader r = { .map = map, .program = program, .err = err };
	const yaml_node_t *root;
	int rc;

	*map = (struct cvl_flow_map){ .file = strdup(name), .start = CVL_FLOW_NONE };
	if (!map->file)
		return flow_reader_no_memory(&r);
	rc = with_parser(&r, text, n, survey);
	if (!rc)
		rc = with_parser(&r, text, n, load);
	if (!rc) {
		root = yaml_document_get_root_node(&r.doc);
		rc = root ? read_map(&r, root) : flow_bad(&r, CVL_E_SYNTAX, NULL, "no map here");
		yaml_document_delete(&r.doc);
	}
	if (rc)
		cvl_flow_map_free(map);
	return rc;
}

int cvl_flow_map_load(struct cvl_flow_map *map, const char *path, bool program,
		      struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	int rc = text ? cvl_flow_map_parse(map, text, n, path, program, err) :
		 err  ? (int)err->code :
			CVL_E_IO;

	free(text);
	return rc;
}
