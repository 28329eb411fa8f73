/* SPDX-License-Identifier: MIT */
/*
 * Two paths that are indistinguishable.
 *
 * Two different paths with the same symbols part at some point: one continues with a point whose
 * code begins with the whole code of the other's. From there on one path is ahead by the rest of
 * its last code, and the other continues with a point whose code begins with that rest, or is a
 * prefix of it. They show the same symbols once no rest remains. A rest is a suffix of some code,
 * so the states (point ahead, how much of its code is matched, point behind) are finite, and a
 * breadth-first search finds the shortest pair. Without a graph this is the test of Sardinas and
 * Patterson (1953).
 */
#include "analysis/flow/flow.h"

#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>

/* States examined before a map is refused as too large: some 100 MB. */
#define STATES_MAX (1u << 22)

struct state {
	uint32_t parent; /* CVL_FLOW_NONE: the paths part here */
	uint16_t ahead, behind;
	uint8_t matched;     /* symbols of the code of `ahead` */
	bool first_is_ahead; /* path 1 is behind, else path 0 */
	uint16_t step;       /* the point that the transition added */
	bool step_first;     /* to path 0 */
};

struct search {
	const struct cvl_flow_map *map;
	struct state *state;
	size_t n, room;
	uint8_t *seen; /* a bit for each (ahead, behind, matched) */
	uint32_t from; /* where the paths of this search part */
	struct cvl_error *err;
};

static bool add(struct search *s, struct state new, int *rc)
{
	size_t key =
		((size_t) new.ahead * s->map->n + new.behind) * CVL_FLOW_CODE_MAX + new.matched;

	if (s->seen[key / 8] >> (key % 8) & 1)
		return true;
	s->seen[key / 8] |= (uint8_t)(1u << (key % 8));
	if (s->n >= STATES_MAX || cvl_room(&s->state, s->n, &s->room, sizeof(*s->state))) {
		*rc = s->n < STATES_MAX ?
			      cvl_no_memory(s->err) :
			      cvl_fail(
				      s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
				      "%s: codes too tangled to tell whether they are ambiguous: use codes of which none is a prefix of another",
				      s->map->file);
		return false;
	}
	s->state[s->n++] = new;
	return true;
}

/*
 * The two paths up to @last (CVL_FLOW_NONE: none), and one more point each unless CVL_FLOW_NONE.
 */
static int report(const struct search *s, uint32_t last, uint32_t more0, uint32_t more1,
		  struct flow_ambiguity *out)
{
	uint32_t *link;
	size_t depth = 0, i;

	*out = (struct flow_ambiguity){ .from = s->from };
	for (uint32_t k = last; k != CVL_FLOW_NONE; k = s->state[k].parent)
		depth++;
	link = calloc(depth + 1, sizeof(*link));
	out->path[0] = calloc(depth + 3, sizeof(uint32_t));
	out->path[1] = calloc(depth + 3, sizeof(uint32_t));
	if (!link || !out->path[0] || !out->path[1]) {
		free(link);
		flow_ambiguity_free(out);
		return cvl_no_memory(s->err);
	}
	i = depth;
	for (uint32_t k = last; k != CVL_FLOW_NONE; k = s->state[k].parent)
		link[--i] = k;
	for (i = 0; i < depth; i++) {
		const struct state *t = &s->state[link[i]];

		if (t->parent == CVL_FLOW_NONE) { /* path 0 is ahead where they part */
			out->path[0][out->n[0]++] = t->ahead;
			out->path[1][out->n[1]++] = t->behind;
		} else {
			unsigned which = t->step_first ? 0 : 1;

			out->path[which][out->n[which]++] = t->step;
		}
	}
	if (more0 != CVL_FLOW_NONE)
		out->path[0][out->n[0]++] = more0;
	if (more1 != CVL_FLOW_NONE)
		out->path[1][out->n[1]++] = more1;
	free(link);
	return 1;
}

static bool begins(const struct cvl_flow_point *p, const uint16_t *with, size_t n)
{
	return p->n_code >= n && !memcmp(p->code, with, n * sizeof(*with));
}

/* Where paths can part after @from: pairs where one code is a prefix of the other. */
static int part(struct search *s, uint32_t from, struct flow_ambiguity *found)
{
	const struct cvl_flow_map *map = s->map;
	size_t n;
	const uint32_t *next = flow_map_follow(map, from, &n);
	int rc = 0;

	s->from = from;
	/* In code order, those that begin with a code directly follow it. */
	for (size_t i = 0; i < n; i++) {
		const struct cvl_flow_point *p = &map->point[next[i]];

		for (size_t k = i + 1; k < n; k++) {
			const struct cvl_flow_point *q = &map->point[next[k]];

			if (!begins(q, p->code, p->n_code))
				break;
			if (q->n_code == p->n_code)
				return report(s, CVL_FLOW_NONE, next[i], next[k], found);
			if (!add(s,
				 (struct state){ .parent = CVL_FLOW_NONE,
						 .ahead = (uint16_t)next[k],
						 .behind = (uint16_t)next[i],
						 .matched = (uint8_t)p->n_code,
						 .first_is_ahead = true },
				 &rc))
				return rc;
		}
	}
	return 0;
}

/* Extend the path behind in state @k by a point. */
static int advance(struct search *s, uint32_t k, struct flow_ambiguity *found)
{
	const struct cvl_flow_map *map = s->map;
	const struct state now = s->state[k];
	const struct cvl_flow_point *ahead = &map->point[now.ahead];
	const uint16_t *rest = ahead->code + now.matched;
	size_t n_rest = ahead->n_code - now.matched, n;
	const uint32_t *next = flow_map_follow(map, now.behind, &n);
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cvl_flow_point *p = &map->point[next[i]];
		struct state new = { .parent = k,
				     .step = (uint16_t)next[i],
				     .step_first = !now.first_is_ahead };

		if (begins(p, rest, n_rest)) {
			if (p->n_code == n_rest)
				return report(s, k, now.first_is_ahead ? CVL_FLOW_NONE : next[i],
					      now.first_is_ahead ? next[i] : CVL_FLOW_NONE, found);
			new.ahead = (uint16_t)next[i];
			new.behind = now.ahead;
			new.matched = (uint8_t)n_rest;
			new.first_is_ahead = !now.first_is_ahead;
		} else if (p->n_code < n_rest &&
			   !memcmp(p->code, rest, p->n_code * sizeof(*rest))) {
			new.ahead = now.ahead;
			new.behind = (uint16_t)next[i];
			new.matched = (uint8_t)(now.matched + p->n_code);
			new.first_is_ahead = now.first_is_ahead;
		} else {
			continue;
		}
		if (!add(s, new, &rc))
			return rc;
	}
	return 0;
}

/*
 * All pairs that part at one point are searched together; a state that led nowhere in one search
 * does so in the next.
 */
int flow_ambiguous(const struct cvl_flow_map *map, struct flow_ambiguity *found,
		   struct cvl_error *err)
{
	struct search s = { .map = map, .err = err };
	int rc = 0;

	s.seen = calloc(map->n * map->n * CVL_FLOW_CODE_MAX / 8 + 1, 1);
	if (!s.seen)
		return cvl_no_memory(err);
	for (uint32_t u = 0; !rc && u <= map->n; u++) {
		uint32_t from = u < map->n ? u : CVL_FLOW_NONE;

		if (map->graph ? u < map->n && !map->point[u].n_code : u < map->n)
			continue;
		s.n = 0;
		rc = part(&s, from, found);
		for (uint32_t k = 0; !rc && k < s.n; k++)
			rc = advance(&s, k, found);
	}
	free(s.seen);
	free(s.state);
	return rc;
}

void flow_ambiguity_free(struct flow_ambiguity *a)
{
	free(a->path[0]);
	free(a->path[1]);
	*a = (struct flow_ambiguity){ 0 };
}
