/* SPDX-License-Identifier: MIT */
#include <coeval/score.h>

#include <coeval/array.h>
#include <coeval/timeline.h>

#include "core/order.h"
#include "core/random.h"

#include <math.h>
#include <stdlib.h>

#define INSTANTS 2000
#define PAIRS_MAX (1u << 22)

struct scored_clock {
	const struct cvl_map *map, *truth;
	uint64_t resolution;
	int64_t first, last; /* true times that bound the known truth */
	double error;        /* at the current instant */
	struct cvl_bound bound;
	bool there;
};

struct sums {
	double *error, *bound;
	size_t n, error_room, bound_room;
	uint64_t covered;
};

static size_t find_clocks(struct scored_clock *c, const struct cvl_sync *sync,
			  const struct cvl_sync *truth, const struct cvl_session *session)
{
	size_t n = 0;

	for (size_t i = 0; i < sync->n; i++) {
		const struct cvl_clock_sync *t = cvl_sync_find(truth, sync->clock[i].clock);
		int index = cvl_session_find(session, sync->clock[i].clock);
		const struct cvl_clock *clock;
		struct cvl_knot first, last;
		int64_t step;

		if (!sync->clock[i].map || !t || !t->map || index < 0)
			continue;
		clock = cvl_session_clock(session, (size_t)index);
		cvl_map_ends(t->map, &first, &last);
		step = (int64_t)(((unsigned __int128)clock->resolution * 1000000000u +
				  clock->rate_hz - 1) /
				 clock->rate_hz);
		if (cvl_map_kind(sync->clock[i].map) == CVL_BOUND_STATISTICAL)
			step = (step + 1) / 2;
		c[n++] = (struct scored_clock){
			.map = sync->clock[i].map,
			.truth = t->map,
			.resolution = clock->resolution,
			.bound = { .capture = step, .kind = cvl_map_kind(sync->clock[i].map) },
			.first = first.time.ns,
			.last = last.time.ns
		};
	}
	return n;
}

static void look(struct scored_clock *c, int64_t t)
{
	int64_t unsure;
	uint64_t tick;

	c->there = t >= c->first && t <= c->last;
	if (!c->there)
		return;
	tick = cvl_map_tick(c->truth, (struct cvl_time){ t }).count;
	tick = (tick + c->resolution - 1) / c->resolution * c->resolution;
	cvl_map_time(c->truth, (struct cvl_tick){ tick }, &unsure);
	c->there = !unsure;
	c->error = (double)(cvl_map_time(c->map, (struct cvl_tick){ tick }, &c->bound.map).ns - t);
}

static int add_pair(struct sums *s, const struct scored_clock *a, const struct scored_clock *b)
{
	double error = a->error - b->error;
	int64_t bound = cvl_bound_pair(a->bound, b->bound);

	if (cvl_room(&s->error, s->n, &s->error_room, sizeof(*s->error)) ||
	    cvl_room(&s->bound, s->n, &s->bound_room, sizeof(*s->bound)))
		return CVL_E_NOMEM;
	s->covered += fabs(error) <= (double)bound;
	s->error[s->n] = error;
	s->bound[s->n++] = (double)bound;
	return 0;
}

static void sum_up(struct cvl_score *score, struct sums *s)
{
	double sum = 0, sum2 = 0, size = 0, n = (double)s->n;

	*score = (struct cvl_score){ .n = s->n };
	if (!s->n)
		return;
	for (size_t i = 0; i < s->n; i++) {
		sum += s->error[i];
		sum2 += s->error[i] * s->error[i];
		size += fabs(s->error[i]);
	}
	qsort(s->error, s->n, sizeof(double), order_sizes);
	qsort(s->bound, s->n, sizeof(double), order_sizes);
	score->mean = sum / n;
	score->mean_abs = size / n;
	score->rms = sqrt(sum2 / n);
	score->sd = sqrt(fmax(sum2 / n - score->mean * score->mean, 0));
	score->p999 = fabs(s->error[(size_t)(0.999 * (n - 1))]);
	score->max = fabs(s->error[s->n - 1]);
	score->coverage = (double)s->covered / n;
	score->median_bound = (int64_t)s->bound[s->n / 2];
}

int cvl_score(struct cvl_score *score, const struct cvl_sync *sync, const struct cvl_sync *truth,
	      const struct cvl_session *session, const struct cvl_score_opts *opts, double **errors,
	      struct cvl_error *err)
{
	struct scored_clock *c = calloc(sync->n + 1, sizeof(*c));
	struct sim_random r = { opts->seed };
	struct sums s = { 0 };
	size_t n = c ? find_clocks(c, sync, truth, session) : 0,
	       instants = opts->instants ? opts->instants : INSTANTS;
	int64_t from = INT64_MAX, to = INT64_MIN;
	int rc = c ? 0 : CVL_E_NOMEM;

	for (size_t i = 0; i < n; i++) {
		from = c[i].first < from ? c[i].first : from;
		to = c[i].last > to ? c[i].last : to;
	}
	from = opts->has_from ? opts->from.ns : from;
	to = opts->has_until ? opts->until.ns : to;
	for (size_t k = 0; k < instants && n > 1 && to > from && !rc; k++) {
		int64_t t = from + (int64_t)(sim_uniform(&r) * (double)(to - from));

		for (size_t i = 0; i < n; i++)
			look(&c[i], t);
		for (size_t i = 0; i < n && !rc; i++)
			for (size_t j = i + 1; j < n && !rc && s.n < PAIRS_MAX; j++)
				if (c[i].there && c[j].there)
					rc = add_pair(&s, &c[i], &c[j]);
	}
	if (!rc)
		sum_up(score, &s);
	if (errors && !rc)
		*errors = s.error;
	else
		free(s.error);
	free(s.bound);
	free(c);
	return rc ? cvl_no_memory(err) : 0;
}
