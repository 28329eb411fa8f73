/* SPDX-License-Identifier: MIT */
/*
 * Relations of the points of a flow map: reachability, ways between markers, codes that cannot be
 * seen.
 */
#include "analysis/flow/flow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((format(printf, 4, 5))) int bad(const struct cvl_flow_map *map,
						     struct cvl_error *err,
						     const struct cvl_flow_point *at,
						     const char *fmt, ...)
{
	char text[CVL_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET, "%s:%u:%u: %s", map->file, at->line,
			at->column, text);
}

void cvl_flow_map_free(struct cvl_flow_map *map)
{
	for (size_t i = 0; i < map->n; i++) {
		free(map->point[i].name);
		free(map->point[i].at);
		free(map->point[i].next);
	}
	for (size_t i = 0; i < map->n_pins; i++)
		free(map->pin[i]);
	free(map->point);
	free(map->file);
	free(map->program);
	free(map->ways);
	free(map->follow);
	free(map->follow_at);
	*map = (struct cvl_flow_map){ 0 };
}

uint32_t cvl_flow_map_find(const struct cvl_flow_map *map, const char *name)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->point[i].name && !strcmp(map->point[i].name, name))
			return (uint32_t)i;
	return CVL_FLOW_NONE;
}

/* ---- the graph ---- */

static bool marked(const struct cvl_flow_map *map, bool program, uint32_t i)
{
	return program ? !map->point[i].plain : map->point[i].n_code > 0;
}

static int check_reached(const struct cvl_flow_map *map, struct cvl_error *err)
{
	bool *seen = calloc(map->n, sizeof(*seen));
	uint32_t *stack = calloc(map->n, sizeof(*stack));
	size_t depth = 0;
	int rc = seen && stack ? 0 : cvl_no_memory(err);

	if (!rc) {
		stack[depth++] = map->start;
		seen[map->start] = true;
	}
	while (!rc && depth) {
		const struct cvl_flow_point *p = &map->point[stack[--depth]];

		for (size_t i = 0; i < p->n_next; i++)
			if (!seen[p->next[i]]) {
				seen[p->next[i]] = true;
				stack[depth++] = p->next[i];
			}
	}
	for (size_t i = 0; !rc && i < map->n; i++)
		if (!seen[i])
			rc = bad(
				map, err, &map->point[i],
				"nothing leads from %s to %s: put it into the `next` of what it follows, or take it out",
				map->point[map->start].name, map->point[i].name);
	free(seen);
	free(stack);
	return rc;
}

/*
 * Sort unmarked points into @order, each after all its successors; impossible if they form a
 * cycle.
 */
static int sort_unmarked(const struct cvl_flow_map *map, bool program, uint32_t *order, size_t *n,
			 struct cvl_error *err)
{
	enum { NEW, OPEN, DONE };
	uint8_t *state = calloc(map->n, 1);
	uint32_t *stack = calloc(map->n, sizeof(*stack));
	size_t *at = calloc(map->n, sizeof(*at)), depth;
	int rc = state && stack && at ? 0 : cvl_no_memory(err);

	*n = 0;
	for (uint32_t i = 0; !rc && i < map->n; i++) {
		if (marked(map, program, i) || state[i] != NEW)
			continue;
		depth = 0;
		stack[depth++] = i;
		state[i] = OPEN;
		while (depth && !rc) {
			uint32_t u = stack[depth - 1], v;

			if (at[u] == map->point[u].n_next) {
				state[u] = DONE;
				order[(*n)++] = u;
				depth--;
				continue;
			}
			v = map->point[u].next[at[u]++];
			if (marked(map, program, v) || state[v] == DONE)
				continue;
			if (state[v] == OPEN) {
				rc = bad(
					map, err, &map->point[v],
					"the program can go round from %s to %s and back without a marker, any number of times: give one of them a %s",
					map->point[v].name, map->point[u].name,
					program ? "marker" : "code");
				continue;
			}
			state[v] = OPEN;
			stack[depth++] = v;
		}
	}
	free(state);
	free(stack);
	free(at);
	return rc;
}

static void count_ways(struct cvl_flow_map *map, uint32_t u)
{
	uint8_t *ways = &map->ways[u * map->n];

	for (size_t i = 0; i < map->point[u].n_next; i++) {
		uint32_t v = map->point[u].next[i];
		const uint8_t *more = &map->ways[v * map->n];

		if (map->point[v].n_code) {
			ways[v] = (uint8_t)(ways[v] + (ways[v] < 2));
			continue;
		}
		for (size_t k = 0; k < map->n; k++)
			ways[k] = (uint8_t)(ways[k] + more[k] > 2 ? 2 : ways[k] + more[k]);
	}
}

/* ---- codes ---- */

struct sort_key {
	const struct cvl_flow_point *point;
	uint32_t index;
};

static int by_code(const void *va, const void *vb)
{
	const struct sort_key *a = va, *b = vb;

	for (size_t i = 0; i < a->point->n_code && i < b->point->n_code; i++)
		if (a->point->code[i] != b->point->code[i])
			return a->point->code[i] < b->point->code[i] ? -1 : 1;
	if (a->point->n_code != b->point->n_code)
		return a->point->n_code < b->point->n_code ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Marked points in the order of their codes. */
static size_t sort_codes(const struct cvl_flow_map *map, struct sort_key *key)
{
	size_t n = 0;

	for (uint32_t i = 0; i < map->n; i++)
		if (map->point[i].n_code)
			key[n++] = (struct sort_key){ &map->point[i], i };
	qsort(key, n, sizeof(*key), by_code);
	return n;
}

static int make_follow(struct cvl_flow_map *map, const struct sort_key *key, size_t n,
		       struct cvl_error *err)
{
	size_t total = n, at = 0;

	for (size_t i = 0; map->graph && i < map->n * map->n; i++)
		total += map->ways[i] != 0;
	map->follow = calloc(total + 1, sizeof(*map->follow));
	map->follow_at = calloc(map->n + 1, sizeof(*map->follow_at));
	if (!map->follow || !map->follow_at)
		return cvl_no_memory(err);
	for (size_t u = 0; map->graph && u < map->n; u++) {
		map->follow_at[u] = at;
		for (size_t k = 0; k < n; k++)
			if (map->ways[u * map->n + key[k].index])
				map->follow[at++] = key[k].index;
	}
	map->follow_at[map->n] = at;
	for (size_t k = 0; !map->graph && k < n; k++)
		map->follow[k] = key[k].index;
	if (!map->graph)
		map->follow_at[map->n] = n;
	return 0;
}

const uint32_t *flow_map_follow(const struct cvl_flow_map *map, uint32_t point, size_t *n)
{
	if (!map->graph) {
		*n = map->follow_at[map->n];
		return map->follow;
	}
	if (point == CVL_FLOW_NONE) {
		point = map->start;
		if (map->point[point].n_code) {
			*n = 1;
			return &map->start;
		}
	}
	*n = map->follow_at[point + 1] - map->follow_at[point];
	return map->follow + map->follow_at[point];
}

int cvl_flow_map_between(const struct cvl_flow_map *map, uint32_t from, uint32_t to,
			 uint32_t path[CVL_FLOW_POINTS_MAX])
{
	int n = 0;

	if (!map->graph)
		return 0;
	if (from == CVL_FLOW_NONE) {
		from = map->start;
		if (map->point[from].n_code)
			return 0;
		path[n++] = from;
	}
	if (map->ways[from * map->n + to] != 1)
		return -1;
	for (;;) {
		const struct cvl_flow_point *p = &map->point[from];
		uint32_t step = CVL_FLOW_NONE;

		for (size_t i = 0; i < p->n_next && step == CVL_FLOW_NONE; i++) {
			uint32_t v = p->next[i];

			if (map->point[v].n_code ? v == to : map->ways[v * map->n + to])
				step = v;
		}
		if (step == to || step == CVL_FLOW_NONE)
			return n;
		path[n++] = step;
		from = step;
	}
}

/* A marker whose first levels are already set cannot be seen. */
static int check_seen(const struct cvl_flow_map *map, struct cvl_error *err)
{
	char text[CVL_FLOW_SYMBOLS_TEXT];

	for (uint32_t u = 0; map->codes == CVL_FLOW_LEVELS && u < map->n; u++) {
		const struct cvl_flow_point *a = &map->point[u];
		const uint32_t *next;
		size_t n;

		if (!a->n_code)
			continue;
		next = flow_map_follow(map, u, &n);
		for (size_t i = 0; i < n; i++) {
			const struct cvl_flow_point *b = &map->point[next[i]];

			if (a->code[a->n_code - 1] != b->code[0])
				continue;
			cvl_flow_symbols_text(map, b->code, 1, text);
			return bad(
				map, err, b,
				"%s cannot be seen after %s (line %u), which leaves the pins at %s already: let one end with other levels, such as none",
				b->name, a->name, a->line, text);
		}
	}
	return 0;
}

/* ---- ambiguous maps ---- */

static size_t put_path(const struct cvl_flow_map *map, const struct flow_ambiguity *a,
		       unsigned which, char *w, size_t room)
{
	size_t used = 0;

	w[0] = '\0';
	if (a->from != CVL_FLOW_NONE)
		used = (size_t)snprintf(w, room, "%s", map->point[a->from].name);
	for (size_t i = 0; i < a->n[which]; i++) {
		const char *name = map->point[a->path[which][i]].name;

		if (used + strlen(name) + 12 > room) {
			used += (size_t)snprintf(w + used, room - used, ", ...");
			break;
		}
		used += (size_t)snprintf(w + used, room - used, "%s%s", used ? ", " : "", name);
	}
	return used;
}

static int refuse(const struct cvl_flow_map *map, const struct flow_ambiguity *a,
		  struct cvl_error *err)
{
	char one[100], two[100], codes[CVL_FLOW_SYMBOLS_TEXT];
	uint16_t symbol[CVL_FLOW_CODE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < a->n[0]; i++) {
		const struct cvl_flow_point *p = &map->point[a->path[0][i]];

		for (size_t k = 0; k < p->n_code && n < CVL_FLOW_CODE_MAX; k++)
			symbol[n++] = p->code[k];
	}
	put_path(map, a, 0, one, sizeof(one));
	put_path(map, a, 1, two, sizeof(two));
	cvl_flow_symbols_text(map, symbol, n, codes);
	codes[80] = '\0';
	return bad(map, err, &map->point[a->path[1][0]],
		   "ambiguous: [%s] and [%s] both show as %s: give one of them another code", one,
		   two, codes);
}

int flow_map_finish(struct cvl_flow_map *map, bool program, struct cvl_error *err)
{
	struct flow_ambiguity ambiguity;
	uint32_t *order = calloc(map->n + 1, sizeof(*order));
	struct sort_key *key = calloc(map->n + 1, sizeof(*key));
	size_t n = 0, n_marked = 0;
	int rc = order && key ? 0 : cvl_no_memory(err);

	for (uint32_t i = 0; i < map->n; i++)
		n_marked += marked(map, program, i);
	if (!rc && !n_marked)
		rc = bad(map, err, &map->point[0], "no point has a marker");
	for (uint32_t i = 0; !rc && !map->graph && i < map->n; i++)
		if (!marked(map, program, i))
			rc = bad(map, err, &map->point[i],
				 "%s has no code, and no `next` to tell when it is passed",
				 map->point[i].name);
	if (!rc && map->graph)
		rc = check_reached(map, err);
	if (!rc)
		rc = sort_unmarked(map, program, order, &n, err);
	if (!rc && !program) {
		if (map->graph && !(map->ways = calloc(map->n * map->n, 1)))
			rc = cvl_no_memory(err);
		for (size_t i = 0; !rc && map->graph && i < n; i++)
			count_ways(map, order[i]);
		for (uint32_t i = 0; !rc && map->graph && i < map->n; i++)
			if (map->point[i].n_code)
				count_ways(map, i);
		if (!rc)
			rc = make_follow(map, key, sort_codes(map, key), err);
		if (!rc)
			rc = check_seen(map, err);
		if (!rc)
			rc = flow_ambiguous(map, &ambiguity, err);
		if (rc > 0) {
			rc = refuse(map, &ambiguity, err);
			flow_ambiguity_free(&ambiguity);
		}
	}
	free(order);
	free(key);
	return rc;
}
