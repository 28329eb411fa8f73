/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>

#include "worlds.h"

#define INSTANTS 2000
#define DIFFUSE 1e12 /* variance of what is not known in the beginning: ns^2, (ns/s)^2 */

/*
 * A beacon heard, or an instant at which the clock is asked for. Values are of x - t, without what
 * is known of it.
 */
struct point {
	double t;
	bool mark;
	double z;
	size_t instant;
	double a[2], p[3];   /* before the mark is taken in: offset, rate; 00 01 11 */
	double fa[2], fp[3]; /* after */
};

struct work {
	const struct world *w;
	struct world clean; /* the same without outliers */
	struct world_air air, clean_air;
	double *instant;
	size_t n_instants;
	double *online, *offline; /* errors, by clock and instant */
	struct point *p;
	size_t n, capacity;
	struct cvl_error *err;
};

static int no_memory(struct work *w)
{
	return cvl_no_memory(w->err);
}

/* ---- one clock ---- */

/* x by the tick that the capture stores of what happens at @t. */
static double stamped_x(const struct world_clock *c, const struct oscillator *o, double t)
{
	return oscillator_x(o, c->start) +
	       (double)world_stamp(c, o, t) * 1e9 / (double)c->group->rate_hz;
}

static const struct happening *next_beacon(const struct happenings *h, size_t *i)
{
	while (*i < h->n && h->at[*i].kind != HAPPEN_BEACON)
		++*i;
	return *i < h->n ? &h->at[(*i)++] : NULL;
}

static int by_time(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	return a->t < b->t ? -1 : a->t > b->t;
}

/* Beacons that are heard at the same time in a world without outliers are none. */
static int gather(struct work *w, const struct world_clock *c, const struct oscillator *o,
		  const struct oscillator *known)
{
	const struct world_sender *spec = &w->w->sender[0];
	struct happenings h = { 0 }, clean = { 0 };
	const struct happening *a, *b;
	size_t i = 0, j = 0;
	int rc = clock_happenings(&h, &w->air, c, w->err);

	if (!rc)
		rc = clock_happenings(&clean, &w->clean_air, c, w->err);
	w->n = 0;
	b = next_beacon(&clean, &j);
	while (!rc && (a = next_beacon(&h, &i))) {
		size_t k = a->number - spec->first_number;
		double sent = k < w->air.sender[0].n ? w->air.sender[0].beacon[k].t : 0;

		while (b && b->number < a->number)
			b = next_beacon(&clean, &j);
		if (!b || b->number != a->number || fabs(a->t - b->t) > 1)
			continue;
		w->p[w->n++] =
			(struct point){ .t = sent,
					.mark = true,
					.z = stamped_x(c, o, a->t) - oscillator_x(known, sent) };
	}
	free(h.at);
	free(clean.at);
	for (i = 0; i < w->n_instants; i++)
		w->p[w->n++] = (struct point){ .t = w->instant[i], .instant = i };
	qsort(w->p, w->n, sizeof(*w->p), by_time);
	return rc;
}

static void filter(struct work *w, double walk, double var)
{
	double a[2] = { 0, 0 }, p[3] = { DIFFUSE, 0, DIFFUSE }, q = walk * walk;

	for (size_t i = 0; i < w->n; i++) {
		struct point *k = &w->p[i];
		double d = i ? (k->t - k[-1].t) * 1e-9 : 0, f = 0, g[2];

		a[0] += a[1] * d;
		p[0] += 2 * d * p[1] + d * d * p[2] + q * d * d * d / 3;
		p[1] += d * p[2] + q * d * d / 2;
		p[2] += q * d;
		for (int s = 0; s < 3; s++)
			k->p[s] = p[s];
		k->a[0] = a[0];
		k->a[1] = a[1];
		if (k->mark) {
			f = p[0] + var;
			g[0] = p[0] / f;
			g[1] = p[1] / f;
			a[1] += g[1] * (k->z - a[0]);
			a[0] += g[0] * (k->z - a[0]);
			p[2] -= g[1] * p[1];
			p[1] -= g[0] * p[1];
			p[0] -= g[0] * p[0];
		}
		for (int s = 0; s < 3; s++)
			k->fp[s] = p[s];
		k->fa[0] = a[0];
		k->fa[1] = a[1];
	}
}

/* Rauch, Tung, Striebel: the states after all is known replace those that were filtered. */
static void smooth(struct work *w)
{
	for (size_t i = w->n - 1; i-- > 0;) {
		struct point *k = &w->p[i];
		const struct point *next = k + 1;
		double d = (next->t - k->t) * 1e-9, det, c[4], e[2];
		/* P F' */
		double m00 = k->fp[0] + d * k->fp[1], m01 = k->fp[1], m10 = k->fp[1] + d * k->fp[2],
		       m11 = k->fp[2];

		if (d <= 0) {
			k->fa[0] = next->fa[0];
			k->fa[1] = next->fa[1];
			continue;
		}
		det = next->p[0] * next->p[2] - next->p[1] * next->p[1];
		c[0] = (m00 * next->p[2] - m01 * next->p[1]) / det;
		c[1] = (m01 * next->p[0] - m00 * next->p[1]) / det;
		c[2] = (m10 * next->p[2] - m11 * next->p[1]) / det;
		c[3] = (m11 * next->p[0] - m10 * next->p[1]) / det;
		e[0] = next->fa[0] - next->a[0];
		e[1] = next->fa[1] - next->a[1];
		k->fa[0] += c[0] * e[0] + c[1] * e[1];
		k->fa[1] += c[2] * e[0] + c[3] * e[1];
	}
}

static int one_clock(struct work *w, const struct world_clock *c)
{
	const struct world_jitter *j = &w->w->sender[0].receiver;
	struct world_oscillator spec = c->group->oscillator;
	double look_ns = 1e9 / (double)c->group->rate_hz * (double)c->group->resolution;
	double *online = w->online + c->index * w->n_instants,
	       *offline = w->offline + c->index * w->n_instants;
	struct oscillator o, known = { 0 };
	int rc = oscillator_make(&o, w->w, &spec, c->name, w->err);

	spec.walk_ppb = 0; /* all else is drawn alike */
	if (!rc)
		rc = oscillator_make(&known, w->w, &spec, c->name, w->err);
	if (!rc)
		rc = gather(w, c, &o, &known);
	if (!rc) {
		filter(w, c->group->oscillator.walk_ppb,
		       j->normal_ns * j->normal_ns + look_ns * look_ns / 12);
		for (size_t i = 0; i < w->n; i++)
			if (!w->p[i].mark)
				online[w->p[i].instant] = stamped_x(c, &o, w->p[i].t) -
							  oscillator_x(&known, w->p[i].t) -
							  w->p[i].fa[0];
		smooth(w);
		for (size_t i = 0; i < w->n; i++)
			if (!w->p[i].mark)
				offline[w->p[i].instant] = stamped_x(c, &o, w->p[i].t) -
							   oscillator_x(&known, w->p[i].t) -
							   w->p[i].fa[0];
	}
	oscillator_free(&o);
	oscillator_free(&known);
	return rc;
}

/* ---- all pairs ---- */

static double mean_abs(const struct work *w, const double *error)
{
	size_t n = w->air.n_clocks, pairs = 0;
	double sum = 0;

	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++, pairs++)
			for (size_t i = 0; i < w->n_instants; i++)
				sum += fabs(error[a * w->n_instants + i] -
					    error[b * w->n_instants + i]);
	return sum / (double)pairs / (double)w->n_instants;
}

static int prepare(struct work *w, const struct cvl_score_opts *at)
{
	struct sim_random r = { at->seed };
	size_t n;
	int rc = air_make(&w->air, w->w, w->err);

	w->clean = *w->w;
	w->clean.sender[0].receiver.outliers = 0;
	if (!rc)
		rc = air_make(&w->clean_air, &w->clean, w->err);
	if (rc)
		return rc;
	w->n_instants = at->instants ? at->instants : INSTANTS;
	n = w->air.n_clocks * w->n_instants;
	w->instant = malloc(w->n_instants * sizeof(*w->instant));
	w->online = malloc(n * sizeof(*w->online));
	w->offline = malloc(n * sizeof(*w->offline));
	w->p = malloc((2 * w->air.sender[0].n + w->n_instants) * sizeof(*w->p));
	if (!w->instant || !w->online || !w->offline || !w->p)
		return no_memory(w);
	for (size_t i = 0; i < w->n_instants; i++)
		w->instant[i] =
			(double)(at->from.ns +
				 (int64_t)(sim_uniform(&r) * (double)(at->until.ns - at->from.ns)));
	return 0;
}

int oracle_score(struct oracle *o, const struct world *world, const struct cvl_score_opts *at,
		 struct cvl_error *err)
{
	struct work w = { .w = world, .err = err };
	int rc = prepare(&w, at);

	for (size_t i = 0; i < w.air.n_clocks && !rc; i++)
		rc = one_clock(&w, &w.air.clock[i]);
	if (!rc)
		*o = (struct oracle){ mean_abs(&w, w.online), mean_abs(&w, w.offline) };
	air_free(&w.air);
	air_free(&w.clean_air);
	free(w.instant);
	free(w.online);
	free(w.offline);
	free(w.p);
	return rc;
}
