/* SPDX-License-Identifier: MIT */
#include "sync/steps_internal.h"

#include <coeval/array.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEYOND 8 /* knots of a forecast that became final */

static struct cvl_knot knot_at(const struct cvl_map *map, uint64_t tick)
{
	struct cvl_knot k = { .tick = { tick } };

	k.time = cvl_map_time(map, k.tick, &k.bound_ns);
	k.bound_ns = cvl_add_sat(k.bound_ns, 1); /* of the fraction */
	return k;
}

static int tell(struct stepped *c, struct cvl_knot k)
{
	if (c->n) {
		const struct cvl_knot *last = &c->knot[c->n - 1];

		if (k.tick.count <= last->tick.count)
			return 0;
		if (k.time.ns < last->time.ns ||
		    (k.time.ns == last->time.ns && k.frac < last->frac)) {
			/* two steps differ: the time is held */
			k.bound_ns = cvl_add_sat(k.bound_ns, last->time.ns - k.time.ns + 1);
			k.time = last->time;
			k.frac = last->frac;
		}
	}
	if (cvl_room(&c->knot, c->n, &c->room, sizeof(*c->knot)))
		return CVL_E_NOMEM;
	c->knot[c->n++] = k;
	return 0;
}

/*
 * An edge from the last final knot on, within which what @map says of later times lies with its
 * bounds.
 */
static struct cvl_map_edge edge_beyond(const struct stepped *c, const struct cvl_map *map,
				       const struct cvl_map_spec *spec)
{
	const struct cvl_knot *from = &c->knot[c->n - 1];
	struct cvl_map_edge e = spec->after; /* at the end of the map: the same slope, and ... */
	struct cvl_knot last;
	double ns;

	cvl_map_ends(map, NULL, &last);
	if (last.tick.count <= from->tick.count)
		last.tick.count = from->tick.count + 1;
	ns = 1e9 / ((double)spec->rate_hz * (1 + e.rate_ppb * 1e-9));
	for (int i = 1; i <= BEYOND; i++) {
		const uint64_t run = (last.tick.count - from->tick.count) / BEYOND * (uint64_t)i;
		const struct cvl_knot k = knot_at(map, from->tick.count + run);
		double off = track_span(k.time.ns, from->time.ns) - (double)run * ns;
		double more = fabs(off) + (double)k.bound_ns - (double)from->bound_ns;

		if (run)
			e.drift_ppb = fmax(e.drift_ppb, more * (double)spec->rate_hz / (double)run);
	}
	return e;
}

static int tell_final(struct steps *s, size_t c, struct cvl_knot knot, struct cvl_error *err)
{
	struct stepped *k = &s->clock[c];
	const size_t before = k->n;

	if (k->kind == CVL_BOUND_STATISTICAL && s->doubt > 1)
		knot.bound_ns = llround(fmin(ceil((double)knot.bound_ns * s->doubt), 9e18));
	if (tell(k, knot))
		return cvl_no_memory(err);
	k->told += k->n - before;
	return k->n > before && s->told ? s->told(s->told_ctx, c, &k->knot[k->n - 1], err) : 0;
}

/* The first knot of a clock that heard nothing before @at: the map goes back from there. */
static int tell_before(struct steps *s, size_t c, struct cvl_knot at, struct cvl_error *err)
{
	struct stepped *k = &s->clock[c];
	struct cvl_knot first;

	cvl_map_ends(k->map, &first, NULL);
	if (at.tick.count >= first.tick.count)
		return 0;
	k->before.drift_ppb += k->before.wander_ppb_s * (double)(first.tick.count - at.tick.count) /
			       (double)cvl_map_rate_hz(k->map);
	return tell_final(s, c, at, err);
}

/* The knots of the forecast from the last knot told to @end. */
static int tell_beyond(struct steps *s, size_t c, struct cvl_knot end, struct cvl_error *err)
{
	const struct stepped *k = &s->clock[c];
	const uint64_t from = k->knot[k->n - 1].tick.count, to = end.tick.count;
	struct cvl_knot last;
	int rc = 0;

	cvl_map_ends(k->map, NULL, &last);
	for (uint64_t i = 1; i < BEYOND && to > from && from >= last.tick.count && !rc; i++)
		rc = tell_final(s, c, knot_at(k->map, from + (to - from) / BEYOND * i), err);
	return rc ? rc : tell_final(s, c, end, err);
}

/* Make what the last step found of clock @c final before @until; INT64_MAX: all of it. */
int steps_tell(struct steps *s, size_t c, int64_t until, struct cvl_error *err)
{
	const struct cvl_time at = { until };
	struct stepped *k = &s->clock[c];
	struct cvl_map_spec spec;
	struct cvl_knot knot;
	int rc = 0;

	if (!k->map)
		return 0;
	cvl_map_describe(k->map, &spec);
	if (!k->told)
		k->before = spec.before;
	k->kind = !k->told || spec.kind < k->kind ? spec.kind : k->kind;
	for (size_t i = 0; i < spec.n && !rc; i++) {
		rc = cvl_map_knot(k->map, i, &knot, err);
		if (!rc && knot.time.ns > until)
			break;
		rc = rc ? rc : tell_final(s, c, knot, err);
	}
	if (until < INT64_MAX && !rc && !s->alone) {
		knot = knot_at(k->map, cvl_map_tick(k->map, at).count);
		rc = k->n ? tell_beyond(s, c, knot, err) : tell_before(s, c, knot, err);
	}
	if (k->n)
		k->after =
			until < INT64_MAX && !s->alone ? edge_beyond(k, k->map, &spec) : spec.after;
	return rc;
}

/* ---- results ---- */

struct cvl_sync *steps_sync(const struct steps *s)
{
	struct cvl_sync *sync = calloc(1, sizeof(*sync));

	if (sync)
		sync->clock = calloc(s->n + 1, sizeof(*sync->clock));
	if (!sync || !sync->clock) {
		cvl_sync_free(sync);
		return NULL;
	}
	snprintf(sync->session, sizeof(sync->session), "%s", cvl_session_uuid(s->session));
	sync->epoch_unix_ns = cvl_session_epoch(s->session);
	for (; sync->n < s->n; sync->n++) {
		sync->clock[sync->n].clock = strdup(cvl_session_clock(s->session, sync->n)->name);
		if (!sync->clock[sync->n].clock) {
			cvl_sync_free(sync);
			return NULL;
		}
	}
	return sync;
}

/* All of the last step but its maps. */
static struct cvl_sync *copy_last(const struct steps *s)
{
	struct cvl_sync *sync = steps_sync(s);
	bool whole = sync;

	if (!sync)
		return NULL;
	sync->epoch_unix_ns = s->last->epoch_unix_ns;
	snprintf(
		sync->note, sizeof(sync->note),
		"solved in steps, as it grew: counts, rates and residuals are those of the last %.0f s at most, verdicts the worst",
		(double)s->length * 1e-9);
	sync->estimator = strdup(s->last->estimator);
	sync->reference = strdup(s->last->reference);
	sync->settings = strdup(s->last->settings);
	for (size_t i = 0; i < sync->n && i < s->last->n; i++) {
		char *name = sync->clock[i].clock;

		sync->clock[i] = s->last->clock[i];
		sync->clock[i].clock = name;
		sync->clock[i].map = NULL;
	}
	if (whole && sync->estimator && sync->reference && sync->settings)
		return sync;
	cvl_sync_free(sync);
	return NULL;
}

int steps_summary(const struct steps *s, struct cvl_sync **sync, struct cvl_error *err)
{
	*sync = s->last ? copy_last(s) : NULL;
	return s->last && !*sync ? cvl_no_memory(err) : 0;
}

void steps_spec(const struct steps *s, size_t clock, struct cvl_map_spec *spec)
{
	const struct stepped *k = &s->clock[clock];

	*spec = (struct cvl_map_spec){ .rate_hz = cvl_session_clock(s->session, clock)->rate_hz,
				       .n = (size_t)k->told,
				       .before = k->before,
				       .after = k->after,
				       .kind = k->kind };
}

bool steps_records(const struct steps *s, size_t clock, struct cvl_tick *first,
		   struct cvl_tick *last)
{
	const struct sync_clock *c = &s->all->p.clock[steps_root(s, clock)];

	*first = (struct cvl_tick){ c->first };
	*last = (struct cvl_tick){ c->last };
	return c->seen;
}

/* Knots of @map after the last of @list. */
static int add_estimated(const struct cvl_map *map, struct stepped *list, struct cvl_error *err)
{
	const size_t n = cvl_map_ends(map, NULL, NULL);
	struct cvl_knot knot;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		rc = cvl_map_knot(map, i, &knot, err);
		if (!rc && tell(list, knot))
			rc = cvl_no_memory(err);
	}
	return rc;
}

static int map_of(const struct steps *s, size_t c, bool estimated, struct cvl_map **map,
		  struct cvl_error *err)
{
	const struct stepped *k = &s->clock[c];
	struct stepped list = { .before = k->before, .after = k->after, .kind = k->kind };
	struct cvl_map_spec spec, last;
	int rc = 0;

	steps_spec(s, c, &spec);

	for (size_t i = 0; i < k->n && !rc; i++)
		rc = tell(&list, k->knot[i]) ? cvl_no_memory(err) : 0;
	if (estimated && k->map && !rc) {
		const struct cvl_map *now = k->now ? k->now : k->map;

		cvl_map_describe(now, &last);
		rc = add_estimated(now, &list, err);
		list.after = last.after;
		list.before = k->told ? k->before : last.before;
		list.kind = k->told ? k->kind : last.kind;
	}
	spec.knots = list.knot;
	spec.n = list.n;
	spec.before = list.before;
	spec.after = list.after;
	spec.kind = list.kind;
	if (!rc && list.n)
		rc = cvl_map_new(map, &spec, err);
	free(list.knot);
	return rc;
}

int steps_maps(const struct steps *s, bool estimated, struct cvl_sync **sync, struct cvl_error *err)
{
	int rc = 0;

	rc = steps_summary(s, sync, err);
	for (size_t c = 0; *sync && c < s->n && !rc; c++)
		rc = map_of(s, c, estimated, &(*sync)->clock[c].map, err);
	if (rc) {
		cvl_sync_free(*sync);
		*sync = NULL;
	}
	return rc;
}

int64_t steps_final(const struct steps *s)
{
	return s->final;
}

int64_t steps_stored(const struct steps *s)
{
	return s->stored;
}

const char *steps_wait_for(const struct steps *s)
{
	return s->wait_for;
}

bool steps_silent(const struct steps *s, size_t clock)
{
	return clock < s->n && s->clock[clock].silent;
}
