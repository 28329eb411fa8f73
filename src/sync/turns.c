/* SPDX-License-Identifier: MIT */
#include "sync/turns.h"

#include <coeval/error.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>

#define GROUPS_MAX 256 /* undecided clocks that are still grouped */
#define ALL ((1u << TURN_KINDS) - 1)

/* n_a - n_b >= least. */
struct edge {
	uint32_t a, b;
	int64_t least;
	enum turn_kind kind;
};

struct turns {
	size_t n;
	struct edge *edge;
	size_t n_edges, cap_edges;
	uint32_t *table; /* of edges by (a, b, kind), from 1; open addressing */
	size_t table_size;
};

struct turns *turns_new(size_t n)
{
	struct turns *t = calloc(1, sizeof(*t));

	if (t)
		t->n = n;
	return t;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	free(t->edge);
	free(t->table);
	free(t);
}

static uint32_t *find(const struct turns *t, uint32_t a, uint32_t b, enum turn_kind kind)
{
	uint64_t h = ((uint64_t)a << 32 | b) * TURN_KINDS + kind;
	size_t mask = t->table_size - 1, i;

	h *= 0x9e3779b97f4a7c15u;
	for (i = (size_t)(h >> 20) & mask; t->table[i]; i = (i + 1) & mask) {
		const struct edge *e = &t->edge[t->table[i] - 1];

		if (e->a == a && e->b == b && e->kind == kind)
			break;
	}
	return &t->table[i];
}

static int grow_table(struct turns *t)
{
	size_t size = t->table_size ? 2 * t->table_size : 256;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return CVL_E_NOMEM;
	free(t->table);
	t->table = table;
	t->table_size = size;
	for (size_t i = 0; i < t->n_edges; i++)
		*find(t, t->edge[i].a, t->edge[i].b, t->edge[i].kind) = (uint32_t)i + 1;
	return 0;
}

int turns_at_least(struct turns *t, size_t a, size_t b, double least, enum turn_kind kind)
{
	const double most = (double)(TURN_UNKNOWN / 8);
	int64_t whole;
	uint32_t *at;

	if (a == b || !(least > -most))
		return 0;
	whole = (int64_t)ceil(fmin(least, most));
	if (2 * (t->n_edges + 1) > t->table_size && grow_table(t))
		return CVL_E_NOMEM;
	at = find(t, (uint32_t)a, (uint32_t)b, kind);
	if (*at) {
		struct edge *e = &t->edge[*at - 1];

		e->least = whole > e->least ? whole : e->least;
		return 0;
	}
	if (cvl_room(&t->edge, t->n_edges, &t->cap_edges, sizeof(*t->edge)))
		return CVL_E_NOMEM;
	t->edge[t->n_edges++] = (struct edge){ (uint32_t)a, (uint32_t)b, whole, kind };
	*at = (uint32_t)t->n_edges;
	return 0;
}

int turns_between(struct turns *t, size_t a, size_t b, double low, double high, enum turn_kind kind)
{
	int rc = turns_at_least(t, a, b, low, kind);

	return rc ? rc : turns_at_least(t, b, a, -high, kind);
}

/* The hull of n relative to @root's, by edges of @kinds. False: contradictory. */
static bool hull(const struct turns *t, size_t root, unsigned kinds, int64_t *low, int64_t *high)
{
	bool changed = true;

	for (size_t i = 0; i < t->n; i++) {
		low[i] = i == root ? 0 : -TURN_UNKNOWN;
		high[i] = i == root ? 0 : TURN_UNKNOWN;
	}
	for (size_t round = 0; changed; round++) {
		changed = false;
		if (round > t->n + 1)
			return false;
		for (size_t i = 0; i < t->n_edges; i++) {
			const struct edge *e = &t->edge[i];

			if (!(kinds >> e->kind & 1))
				continue;
			if (low[e->b] > -TURN_UNKNOWN && low[e->b] + e->least > low[e->a]) {
				low[e->a] = low[e->b] + e->least;
				changed = true;
			}
			if (high[e->a] < TURN_UNKNOWN && high[e->a] - e->least < high[e->b]) {
				high[e->b] = high[e->a] - e->least;
				changed = true;
			}
		}
		for (size_t i = 0; i < t->n; i++)
			if (low[i] > high[i])
				return false;
	}
	return true;
}

/* Whether constraints of @kinds are consistent. */
static bool fits(const struct turns *t, unsigned kinds, int64_t *low, int64_t *high)
{
	for (size_t i = 0; i < t->n && i < GROUPS_MAX; i++)
		if (!hull(t, i, kinds, low, high))
			return false;
	return true;
}

/*
 * Group clocks that are decided relative to each other: each round takes an ungrouped clock and
 * makes one more group.
 */
static void make_groups(const struct turns *t, unsigned kinds, uint32_t *group, int64_t *low,
			int64_t *high)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		group[i] = UINT32_MAX;
	for (size_t i = 0; i < t->n; i++) {
		if (group[i] != UINT32_MAX)
			continue;
		group[i] = n;
		if (n < GROUPS_MAX && hull(t, i, kinds, low, high))
			for (size_t k = i + 1; k < t->n; k++)
				if (low[k] == high[k] && group[k] == UINT32_MAX)
					group[k] = n;
		n++;
	}
}

static size_t largest(const uint32_t *group, size_t n)
{
	size_t best = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t size = 0;

		if (i && group[i] <= group[i - 1])
			continue; /* groups are numbered by their first member */
		for (size_t k = i; k < n; k++)
			size += group[k] == group[i];
		if (size > most) {
			most = size;
			best = i;
		}
	}
	return best;
}

static void find_deciding(const struct turns *t, size_t root, unsigned kinds, struct turn *out,
			  int64_t *low, int64_t *high)
{
	unsigned present = 0;

	for (size_t i = 0; i < t->n_edges; i++)
		present |= 1u << t->edge[i].kind & kinds;
	for (int k = 0; k < TURN_KINDS; k++) {
		if (!(present >> k & 1))
			continue;
		hull(t, root, kinds & ~(1u << k), low, high);
		for (size_t i = 0; i < t->n; i++)
			if (!out[i].group && i != root && low[i] != high[i])
				out[i].decided_by |= 1u << k;
	}
	/* where any of several would suffice alone, all of them are credited */
	for (int k = 0; k < TURN_KINDS; k++) {
		if (!(present >> k & 1))
			continue;
		hull(t, root, 1u << k | 1u << TURN_MAP, low, high);
		for (size_t i = 0; i < t->n; i++)
			if (!out[i].group && i != root && low[i] == high[i] &&
			    !(out[i].decided_by & ~(1u << k)))
				out[i].decided_by |= 1u << k;
	}
}

int turns_solve(const struct turns *t, size_t root, struct turn *out)
{
	int64_t *low = calloc(t->n + 1, sizeof(*low)), *high = calloc(t->n + 1, sizeof(*high));
	uint32_t *group = calloc(t->n + 1, sizeof(*group));
	unsigned kinds = ALL, present = 0;

	if (!low || !high || !group) {
		free(low);
		free(high);
		free(group);
		return CVL_E_NOMEM;
	}
	for (size_t i = 0; i < t->n_edges; i++)
		present |= 1u << t->edge[i].kind;
	/* leave out the first kind to give way, or as many as necessary */
	for (int k = 0; k < TURN_KINDS && kinds == ALL && !fits(t, ALL, low, high); k++)
		if (fits(t, ALL & ~(1u << k), low, high))
			kinds &= ~(1u << k);
	for (int k = 0; k < TURN_KINDS && !fits(t, kinds, low, high); k++)
		kinds &= ~(1u << k);
	make_groups(t, kinds, group, low, high);
	if (root >= t->n)
		root = largest(group, t->n);
	hull(t, root, kinds, low, high);
	for (size_t i = 0; i < t->n; i++)
		out[i] = (struct turn){ .low = low[i],
					.high = high[i],
					.group = group[i] == group[root] ? 0 : group[i] + 1 };
	find_deciding(t, root, kinds, out, low, high);
	free(low);
	free(high);
	free(group);
	return (int)(present & ~kinds);
}

const char *turns_text(unsigned kinds, char *out, size_t size)
{
	static const char *const name[] = { "claimed starts", "messages", "the edge to align by",
					    "beacons", "what ties them already" };
	size_t n = 0;

	out[0] = '\0';
	for (int k = 0; k < TURN_KINDS; k++)
		if (kinds >> k & 1 && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", name[k]);
	return out;
}
