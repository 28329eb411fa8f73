/* SPDX-License-Identifier: MIT */
#include "analysis/flow/stats.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"

int flow_stats_init(struct flow_stats *s, const struct cvl_flow_map *map, size_t pairs)
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
	const struct cvl_flow_point *p = &s->map->point[from];

	for (size_t i = 0; i < p->n_next; i++)
		if (p->next[i] == to) {
			s->branch[p->first_branch + i]++;
			return;
		}
}

/* The points between two markers are known if only one way leads from one to the other. */
static void count_way(struct flow_stats *s, uint32_t from, uint32_t to)
{
	uint32_t path[CVL_FLOW_POINTS_MAX];
	int n = cvl_flow_map_between(s->map, from, to, path);

	if (n < 0) {
		s->unresolved++;
		return;
	}
	for (int i = 0; i < n; i++) {
		s->passed[path[i]]++;
		if (from != CVL_FLOW_NONE)
			count_branch(s, from, path[i]);
		from = path[i];
	}
	if (from != CVL_FLOW_NONE)
		count_branch(s, from, to);
}

static int add_time(struct cvl_durations *d, const struct cvl_flow_stamp *from,
		    const struct cvl_flow_stamp *to)
{
	int64_t ns = cvl_add_sat(to->time.ns, -from->time.ns);

	return durations_add(d, ns, clocks_duration(ns, from->bound, to->bound));
}

int flow_stats_add(struct flow_stats *s, const struct cvl_flow_item *item,
		   struct cvl_flow_times *times, size_t pairs)
{
	int rc = 0;

	s->told[item->what]++;
	if (item->what == CVL_FLOW_GLITCH)
		return 0;
	if (item->what == CVL_FLOW_POINT) {
		s->passed[item->point]++;
		if (item->follows)
			count_way(s, item->before, item->point);
	}
	for (size_t i = 0; i < pairs && !rc; i++) {
		bool lost = item->what != CVL_FLOW_POINT || !item->follows;

		if (s->is_open[i] && lost) {
			times[i].times.broken++;
			s->is_open[i] = false;
		}
		if (item->what != CVL_FLOW_POINT)
			continue;
		if (s->is_open[i] && item->point == times[i].pair.to) {
			rc = add_time(&times[i].times, &s->open[i], &item->begin);
			s->is_open[i] = false;
		}
		if (item->point == times[i].pair.from) {
			s->is_open[i] = true;
			s->open[i] = item->begin;
		}
	}
	return rc;
}
