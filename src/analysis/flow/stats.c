/* SPDX-License-Identifier: MIT */
#include "analysis/flow/stats.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"

#define TIMES_MAX (1u << 24)

const unsigned flow_permille[FLOW_PERCENTILES] = { 500, 900, 990, 999 };

int flow_stats_init(struct flow_stats *s, const struct flow_map *map, size_t pairs)
{
	*s = (struct flow_stats){ .map = map };
	s->passed = calloc(map->n, sizeof(*s->passed));
	s->branch = calloc(map->branches + 1, sizeof(*s->branch));
	s->open = calloc(pairs + 1, sizeof(*s->open));
	s->is_open = calloc(pairs + 1, sizeof(*s->is_open));
	return s->passed && s->branch && s->open && s->is_open ? 0 : CVL_E_NOMEM;
}

void flow_stats_free(struct flow_stats *s)
{
	free(s->passed);
	free(s->branch);
	free(s->open);
	free(s->is_open);
	*s = (struct flow_stats){ 0 };
}

static void count_branch(struct flow_stats *s, uint32_t from, uint32_t to)
{
	const struct flow_point *p = &s->map->point[from];

	for (size_t i = 0; i < p->n_next; i++)
		if (p->next[i] == to) {
			s->branch[p->first_branch + i]++;
			return;
		}
}

/* What lies between two markers is known if one way alone leads from the one to the other. */
static void count_way(struct flow_stats *s, uint32_t from, uint32_t to)
{
	uint32_t path[FLOW_POINTS_MAX];
	int n = flow_map_between(s->map, from, to, path);

	if (n < 0) {
		s->unresolved++;
		return;
	}
	for (int i = 0; i < n; i++) {
		s->passed[path[i]]++;
		if (from != FLOW_NONE)
			count_branch(s, from, path[i]);
		from = path[i];
	}
	if (from != FLOW_NONE)
		count_branch(s, from, to);
}

int flow_times_add(struct flow_times *t, int64_t ns, int64_t bound_ns)
{
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		int64_t *grown;

		if (t->n >= TIMES_MAX)
			return CVL_E_LIMIT;
		if (!(grown = reallocarray(t->ns, room, sizeof(*grown))))
			return CVL_E_NOMEM;
		t->ns = grown;
		if (!(grown = reallocarray(t->bound_ns, room, sizeof(*grown))))
			return CVL_E_NOMEM;
		t->bound_ns = grown;
		t->room = room;
	}
	t->ns[t->n] = ns;
	t->bound_ns[t->n++] = bound_ns;
	return 0;
}

static int add_time(struct flow_times *t, const struct flow_stamp *from,
		    const struct flow_stamp *to)
{
	int64_t ns = cvl_add_sat(to->time.ns, -from->time.ns);

	return flow_times_add(t, ns, clocks_duration(ns, from->bound, to->bound));
}

int flow_stats_add(struct flow_stats *s, const struct flow_item *item, struct flow_times *times,
		   size_t pairs)
{
	int rc = 0;

	s->told[item->what]++;
	s->changes[item->what] += item->n;
	if (item->what == FLOW_GLITCH)
		return 0;
	if (item->what == FLOW_POINT) {
		s->passed[item->point]++;
		if (item->follows)
			count_way(s, item->before, item->point);
	}
	for (size_t i = 0; i < pairs && !rc; i++) {
		bool lost = item->what != FLOW_POINT || !item->follows;

		if (s->is_open[i] && lost) {
			times[i].broken++;
			s->is_open[i] = false;
		}
		if (item->what != FLOW_POINT)
			continue;
		if (s->is_open[i] && item->point == times[i].pair.to) {
			rc = add_time(&times[i], &s->open[i], &item->begin);
			s->is_open[i] = false;
		}
		if (item->point == times[i].pair.from) {
			s->is_open[i] = true;
			s->open[i] = item->begin;
		}
	}
	return rc;
}

/* ---- sums ---- */

static int by_value(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;

	return a < b ? -1 : a > b;
}

static int64_t mean_of(const int64_t *v, size_t n)
{
	__int128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return (int64_t)(sum / (__int128)n);
}

int flow_times_sum(const struct flow_times *t, struct flow_sum *sum)
{
	int64_t *v = reallocarray(NULL, t->n, 3 * sizeof(*v)), *low, *high;

	if (!v)
		return CVL_E_NOMEM;
	low = v + t->n;
	high = low + t->n;
	for (size_t i = 0; i < t->n; i++) {
		v[i] = t->ns[i];
		/* no time runs backwards */
		low[i] = t->bound_ns[i] < v[i] ? v[i] - t->bound_ns[i] : 0;
		high[i] = cvl_add_sat(v[i], t->bound_ns[i]);
	}
	/* whole ns are rounded down, which is the ns more of the high end */
	sum->mean = (struct flow_figure){ mean_of(v, t->n), mean_of(low, t->n),
					  cvl_add_sat(mean_of(high, t->n), 1) };
	qsort(v, t->n, sizeof(*v), by_value);
	qsort(low, t->n, sizeof(*v), by_value);
	qsort(high, t->n, sizeof(*v), by_value);
	sum->best = (struct flow_figure){ v[0], low[0], high[0] };
	sum->worst = (struct flow_figure){ v[t->n - 1], low[t->n - 1], high[t->n - 1] };
	for (size_t i = 0; i < FLOW_PERCENTILES; i++) {
		size_t k = (t->n * flow_permille[i] + 999) / 1000 - 1;

		sum->percentile[i] = (struct flow_figure){ v[k], low[k], high[k] };
	}
	free(v);
	return 0;
}

void flow_times_free(struct flow_times *t)
{
	free(t->ns);
	free(t->bound_ns);
	t->ns = t->bound_ns = NULL;
	t->n = t->room = 0;
}
