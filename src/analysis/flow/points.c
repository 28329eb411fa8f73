/* SPDX-License-Identifier: MIT */
/* The points of a flow map, from YAML. */
#include "analysis/flow/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- codes ---- */

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
static int read_symbol(struct flow_reader *r, const yaml_node_t *node, uint16_t *out)
{
	const struct cvl_flow_map *map = r->map;
	const char *s = yaml_scalar(node);
	unsigned long v = 0;

	if (!s || !*s)
		return flow_bad(r, CVL_E_SYNTAX, node,
				"a code is a list of pins such as [D0, D1, D0+D1], or of numbers");
	if (!strcmp(s, "none")) {
		*out = 0;
	} else if (flow_find_pin(map, s, strlen(s)) < 0 && number(s, &v)) {
		if (v >> map->n_pins)
			return flow_bad(r, CVL_E_RANGE, node,
					"%s is more than %zu pins can show: the greatest is %u", s,
					map->n_pins, (1u << map->n_pins) - 1);
		*out = (uint16_t)v;
	} else {
		for (*out = 0; *s; s += *s == '+') {
			size_t len = strcspn(s, "+");
			int pin = flow_find_pin(map, s, len);

			if (pin < 0)
				return flow_bad(r, CVL_E_UNKNOWN_ID, node,
						"there is no pin '%.*s'; `pins` names them",
						(int)len, s);
			*out |= (uint16_t)(1u << pin);
			s += len;
		}
	}
	if (!*out && map->codes == CVL_FLOW_CHANGES)
		return flow_bad(r, CVL_E_RANGE, node,
				"a change of no pin cannot be seen: name the pins that change");
	return 0;
}

static int read_code(struct flow_reader *r, yaml_node_t *node, struct cvl_flow_point *p)
{
	if (node->type == YAML_SCALAR_NODE) {
		p->n_code = 1;
		return read_symbol(r, node, p->code);
	}
	if (node->type != YAML_SEQUENCE_NODE ||
	    node->data.sequence.items.start == node->data.sequence.items.top)
		return flow_bad(
			r, CVL_E_SYNTAX, node,
			"`code` is a pin or a list of pins; leave it out where there is no marker");
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     i < node->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->doc, *i);
		int rc;

		if (p->n_code == CVL_FLOW_CODE_MAX)
			return flow_bad(r, CVL_E_LIMIT, item, "a code has up to %d changes",
					CVL_FLOW_CODE_MAX);
		rc = read_symbol(r, item, &p->code[p->n_code]);
		if (rc)
			return rc;
		if (r->map->codes == CVL_FLOW_LEVELS && p->n_code &&
		    p->code[p->n_code] == p->code[p->n_code - 1])
			return flow_bad(
				r, CVL_E_MISMATCH, item,
				"the same levels twice cannot be seen: put others in between");
		p->n_code++;
	}
	return 0;
}

/* ---- points ---- */

static int read_point(struct flow_reader *r, yaml_node_t *node, struct cvl_flow_point *p)
{
	static const char *const known[] = { "name", "at", "code", "next", "mark", "weight", NULL };
	const char *name, *s;
	yaml_node_t *v;
	int rc = flow_check_keys(r, node, known,
				 "a point has name, at, code, next, weight, and mark: false");

	p->line = (unsigned)node->start_mark.line + 1;
	p->weight = 1;
	if (rc)
		return rc;
	v = flow_child(r, node, "name");
	name = yaml_scalar(v);
	if (!flow_is_name(name))
		return flow_bad(r, CVL_E_SYNTAX, v ? v : node,
				"a point needs a `name` of up to %d letters, digits and '_'",
				CVL_FLOW_NAME_MAX);
	if (!(p->name = strdup(name)))
		return flow_reader_no_memory(r);
	if ((v = flow_child(r, node, "at"))) {
		s = yaml_scalar(v);
		if (!s || strlen(s) > 200 || strpbrk(s, "\r\n\\*"))
			return flow_bad(r, CVL_E_SYNTAX, v, "`at` is a place such as main.c:12");
		if (!(p->at = strdup(s)))
			return flow_reader_no_memory(r);
	}
	if ((v = flow_child(r, node, "weight"))) {
		char *end = NULL;

		s = yaml_scalar(v);
		if (s && *s && !s[strspn(s, "+.0123456789eE")])
			p->weight = strtod(s, &end);
		if (!end || *end || !(p->weight >= 0) || p->weight > 1e12)
			return flow_bad(r, CVL_E_SYNTAX, v,
					"`weight` says how often the point is passed: 0 to 1e12");
	}
	if ((v = flow_child(r, node, "mark"))) {
		s = yaml_scalar(v);
		if (!s || (strcmp(s, "false") && strcmp(s, "true")))
			return flow_bad(r, CVL_E_SYNTAX, v, "`mark` is true or false");
		p->plain = !strcmp(s, "false");
	}
	v = flow_child(r, node, "code");
	if (v && p->plain)
		return flow_bad(r, CVL_E_MISMATCH, v,
				"%s has a code and `mark: false`: take one away", p->name);
	return v ? read_code(r, v, p) : 0;
}

static int read_next(struct flow_reader *r, const yaml_node_t *node, struct cvl_flow_point *p)
{
	struct cvl_flow_map *map = r->map;
	yaml_node_t *list = flow_child(r, node, "next");
	size_t n;

	if (!map->graph)
		return 0;
	if (!list)
		return flow_bad(
			r, CVL_E_MISMATCH, node,
			"%s has no `next`, but other points have: list what follows it, or [] if nothing does",
			p->name);
	if (list->type != YAML_SEQUENCE_NODE)
		return flow_bad(r, CVL_E_SYNTAX, list, "`next` is a list of points");
	n = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
	if (!(p->next = calloc(n + 1, sizeof(*p->next))))
		return flow_reader_no_memory(r);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item =
			yaml_document_get_node(&r->doc, list->data.sequence.items.start[i]);
		const char *name = yaml_scalar(item);
		uint32_t k = name ? cvl_flow_map_find(map, name) : CVL_FLOW_NONE;

		if (k == CVL_FLOW_NONE)
			return flow_bad(
				r, CVL_E_UNKNOWN_ID, item,
				"there is no point '%.64s' to follow %s; `points` names them",
				name ? name : "", p->name);
		for (size_t j = 0; j < i; j++)
			if (p->next[j] == k)
				return flow_bad(r, CVL_E_MISMATCH, item, "%s follows %s twice",
						name, p->name);
		p->next[p->n_next++] = k;
	}
	p->first_branch = map->branches;
	map->branches += n;
	return 0;
}

int flow_read_points(struct flow_reader *r, const yaml_node_t *root)
{
	struct cvl_flow_map *map = r->map;
	yaml_node_t *list = flow_child(r, root, "points");
	yaml_node_item_t *item;
	size_t n;
	int rc = 0;

	if (!list || list->type != YAML_SEQUENCE_NODE ||
	    list->data.sequence.items.start == list->data.sequence.items.top)
		return flow_bad(r, CVL_E_SYNTAX, list ? list : root,
				"a map needs `points`, a list of mappings");
	item = list->data.sequence.items.start;
	n = (size_t)(list->data.sequence.items.top - item);
	if (n > CVL_FLOW_POINTS_MAX)
		return flow_bad(r, CVL_E_LIMIT, list, "more than %d points", CVL_FLOW_POINTS_MAX);
	if (!(map->point = calloc(n, sizeof(*map->point))))
		return flow_reader_no_memory(r);
	for (size_t i = 0; i < n && !rc; i++) {
		yaml_node_t *node = yaml_document_get_node(&r->doc, item[i]);
		uint32_t twin;

		map->n = i + 1;
		rc = read_point(r, node, &map->point[i]);
		if (rc)
			break;
		twin = cvl_flow_map_find(map, map->point[i].name);
		if (twin != i)
			rc = flow_bad(r, CVL_E_MISMATCH, node,
				      "there are two points %s, the other in line %u: rename one",
				      map->point[i].name, map->point[twin].line);
		map->graph = map->graph || flow_child(r, node, "next");
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_next(r, yaml_document_get_node(&r->doc, item[i]), &map->point[i]);
	return rc;
}
