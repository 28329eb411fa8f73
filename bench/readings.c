/* SPDX-License-Identifier: MIT */
#include "readings.h"

#include <coeval/error.h>

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

int values_add(struct values *l, double v)
{
	if (l->n == l->capacity) {
		size_t more = l->capacity ? 2 * l->capacity : 4096;
		double *grown = realloc(l->v, more * sizeof(*grown));

		if (!grown)
			return CVL_E_NOMEM;
		l->v = grown;
		l->capacity = more;
	}
	l->v[l->n++] = v;
	return 0;
}

void values_free(struct values *l)
{
	free(l->v);
	*l = (struct values){ 0 };
}

static int by_value(const void *pa, const void *pb)
{
	const double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

struct spread values_spread(struct values *l, double limit)
{
	struct spread s = { .n = l->n };
	double sum = 0, sum2 = 0, n = (double)l->n;

	if (!l->n)
		return s;
	for (size_t i = 0; i < l->n; i++) {
		l->v[i] = fabs(l->v[i]);
		sum += l->v[i];
		sum2 += l->v[i] * l->v[i];
		s.under += l->v[i] <= limit;
	}
	qsort(l->v, l->n, sizeof(*l->v), by_value);
	s.mean = sum / n;
	s.sd = sqrt(fmax(sum2 / n - s.mean * s.mean, 0));
	s.median = l->v[l->n / 2];
	s.p99 = l->v[(size_t)(0.99 * (n - 1))];
	s.max = l->v[l->n - 1];
	s.under /= n;
	return s;
}

/* ---- readings ---- */

void readings_free(struct readings *r)
{
	free(r->t);
	*r = (struct readings){ 0 };
}

static int line_of(const struct world_air *air, const struct world_clock *c, const char *name)
{
	const char *line[CVL_LINES_MAX];
	size_t n = clock_lines(air, c, line);

	for (size_t i = 0; i < n; i++)
		if (name && !strcmp(line[i], name))
			return (int)i;
	return -1;
}

/* The number of the mark that @e is, or -1. */
static int64_t number_of(const struct world *w, const struct happening *e, int line)
{
	if (line < 0 && e->kind == HAPPEN_BEACON)
		return (int64_t)(e->number - w->sender[0].first_number);
	if (line >= 0 && e->kind == HAPPEN_EDGE && e->line == line && e->level)
		return llround(e->t / (double)w->pulse[0].period_ns);
	return -1;
}

enum in { TRUE_TIMES, TICKS, MAPPED };

/* Ticks are those that the clock stores. */
static int read_clock(struct readings *r, const struct world_air *air, const struct world_clock *c,
		      const struct readings_of *of, enum in in, const struct cvl_map *map,
		      struct cvl_error *err)
{
	int line = line_of(air, c, of->line), rc;
	double *t = r->t + r->clocks * r->marks;
	struct oscillator o = { 0 };
	struct happenings h;

	rc = clock_happenings(&h, air, c, err);
	if (!rc)
		rc = oscillator_make(&o, air->w, &c->group->oscillator, c->name, err);
	for (size_t k = 0; k < r->marks; k++)
		t[k] = NAN;
	for (size_t i = 0; i < h.n && !rc; i++) {
		int64_t k = number_of(air->w, &h.at[i], line);
		struct cvl_tick tick;

		if (k < 0 || (size_t)k >= r->marks)
			continue;
		tick.count = world_stamp(c, &o, h.at[i].t);
		t[k] = in == TRUE_TIMES ? h.at[i].t :
		       in == TICKS      ? (double)tick.count :
					  (double)cvl_map_time(map, tick, NULL).ns;
	}
	r->clocks++;
	oscillator_free(&o);
	free(h.at);
	return rc;
}

static int read_all(const struct bench *b, struct readings *r, const struct world_air *air,
		    enum in in, const struct cvl_sync *sync, const struct readings_of *of)
{
	struct cvl_error err;
	int rc = 0;

	*r = (struct readings){ .marks = (size_t)(air->w->duration_ns / 1000000000) + 2 };
	r->t = malloc(air->n_clocks * r->marks * sizeof(*r->t));
	if (!r->t)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	for (size_t c = 0; c < air->n_clocks && !rc; c++) {
		const struct cvl_map *map = sync ? sync->clock[c].map : NULL;

		if (fnmatch(of->clocks, air->clock[c].name, 0))
			continue;
		if (sync && !map)
			return bench_fail(b, CVL_E_NO, "%s: %s", sync->clock[c].clock,
					  sync->clock[c].reason);
		rc = read_clock(r, air, &air->clock[c], of, in, map, &err);
	}
	return rc ? bench_fail(b, rc, "world %s: %s", air->w->name, err.text) : 0;
}

int readings_true(const struct bench *b, struct readings *r, const struct world_air *air,
		  const struct readings_of *of)
{
	return read_all(b, r, air, TRUE_TIMES, NULL, of);
}

int readings_mapped(const struct bench *b, struct readings *r, const struct happened *h,
		    const struct cvl_sync *sync, const struct readings_of *of)
{
	struct world_air air;
	struct cvl_error err;
	int rc = air_make(&air, &h->w, &err);

	*r = (struct readings){ 0 };
	rc = rc ? bench_fail(b, rc, "world %s: %s", h->w.name, err.text) :
		  read_all(b, r, &air, sync ? MAPPED : TICKS, sync, of);
	air_free(&air);
	return rc;
}

int readings_compare(const struct readings *r, size_t from, struct values *pairs,
		     struct values *widest)
{
	int rc = 0;

	for (size_t k = from; k < r->marks; k++) {
		double low = INFINITY, high = -INFINITY;

		for (size_t a = 0; a < r->clocks; a++) {
			double t = r->t[a * r->marks + k];

			if (isnan(t))
				continue;
			low = fmin(low, t);
			high = fmax(high, t);
			for (size_t b = a + 1; b < r->clocks && !rc; b++)
				if (!isnan(r->t[b * r->marks + k]))
					rc = values_add(pairs, r->t[b * r->marks + k] - t);
		}
		if (!rc && high > low)
			rc = values_add(widest, high - low);
		if (rc)
			return rc;
	}
	return 0;
}
