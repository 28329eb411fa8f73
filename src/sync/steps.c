/* SPDX-License-Identifier: MIT */
#include "sync/steps.h"

#include "sync/observations.h"
#include "sync/observe.h"

#include <coeval/array.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A clock needs so many before anything is solved; if they tie too little, more, up to ... */
#define FIRST_MARKS 20
#define FIRST_MOST (64 * FIRST_MARKS)
#define STRETCH 1024    /* periods in a stretch */
#define HORIZON_PARTS 4 /* of the stretch is the longest horizon: bounds tell what that leaves */
#define SHORT 320 /* periods in one whose clocks' noise is known, and at least ... */
#define SHORT_HORIZONS 2.5
#define STEP_PART 32 /* of the stretch: the shortest step; else half the horizon */
#define KEPT_PARTS 2 /* stretches of final knots that are kept */
#define ALIGN_KEPT 64
#define BEYOND 8 /* knots of a forecast that became final */
#define MESSAGES_PERIOD_NS 100000000 /* where only messages tie clocks */
#define ALONE_NS 10000000000 /* a clock that heard nothing for so long will not */

struct stepped {
	struct cvl_knot *knot; /* final ones, the last of them */
	size_t n, room;
	uint64_t told;       /* knots in all */
	struct cvl_map *map; /* of the last step that tied it; it forecasts what comes */
	struct cvl_map *now; /* of steps_estimate() */
	struct cvl_map_edge before, after;
	enum cvl_bound_kind kind;
	enum cvl_verdict worst;
	char why[CVL_REASON_TEXT]; /* of the worst */
	uint32_t group;     /* it was told with */
	struct track_noise noise;
	bool judged;
	size_t heard;       /* marks and ends of messages that are kept */
	uint64_t seen;      /* all its records before this tick were read */
	int64_t changed_ms; /* when that changed last */
	int64_t deaf_ms;    /* since when it is known to hear too little; 0: it is not */
	bool growing, silent;
};

struct steps {
	char *path;
	struct cvl_sync_opts opts;
	steps_told *told;
	void *told_ctx;
	char *estimator, *reference, *sender; /* of the first step, kept for all */
	int64_t silent_ms;
	struct cvl_session *session; /* as the observer opened it */
	struct cvl_observations *all;
	struct pairing ends;
	struct observer *observer;
	struct stepped *clock;
	size_t n;
	struct cvl_sync *last; /* of the last step, without maps */
	int64_t begin;         /* of the stretch that is kept; INT64_MIN: of the session */
	int64_t length;        /* of a stretch */
	int64_t horizon, period;
	int64_t learned; /* end of the step in which noise was last learned */
	bool learning;   /* in this step, from all of the stretch */
	int64_t next;          /* end of the next step; INT64_MIN: the first */
	int64_t final, stored;
	int64_t reach; /* of the clock whose records go furthest */
	size_t counted_marks, counted_ends;
	size_t first; /* marks of each clock in the first step */
	const char *wait_for;
	bool growing;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- what is known of a clock ---- */

/* The clock that @c is an alias of, or itself. */
static size_t root_of(const struct steps *s, size_t c)
{
	return s->all->p.clock[c].same_as;
}

/* Time of a tick by the last step; nominal before. */
static int64_t time_of(const struct steps *s, size_t c, uint64_t tick)
{
	const struct cvl_map *map = s->clock[c].map;

	return map ? cvl_map_time(map, (struct cvl_tick){ tick }, NULL).ns :
		     sync_x(&s->all->p, c, tick);
}

/* ---- reading ---- */

static void close_session(struct steps *s)
{
	observer_free(s->observer);
	cvl_observations_free(s->all);
	pairing_free(&s->ends);
	cvl_session_close(s->session);
	s->observer = NULL;
	s->all = NULL;
	s->session = NULL;
}

static void clock_free(struct stepped *c)
{
	free(c->knot);
	cvl_map_free(c->map);
	cvl_map_free(c->now);
}

/* Clocks as the session has them now; what was found of earlier ones stays. */
static int open_session(struct steps *s, struct cvl_error *err)
{
	struct stepped *clock;
	size_t n;
	int rc = cvl_session_open(&s->session, s->path, NULL, err);

	if (rc)
		return rc;
	n = cvl_session_clocks(s->session);
	clock = realloc(s->clock, (n + 1) * sizeof(*clock));
	if (!clock)
		return cvl_no_memory(err);
	s->clock = clock;
	for (; s->n < n; s->n++)
		s->clock[s->n] = (struct stepped){ .changed_ms = now_ms() };
	for (size_t i = 0; i < n; i++)
		s->clock[i].heard = 0;
	s->counted_marks = s->counted_ends = 0;
	rc = observations_new(&s->all, s->session, &s->opts, err);
	if (!rc && s->reference)
		s->all->p.reference = cvl_session_find(s->session, s->reference);
	if (!rc)
		rc = observer_new(&s->observer, &s->all->p, &s->ends, s->session, &s->opts,
				  &s->all->rules, err);
	return rc;
}

/* Whether the clocks of @now are those that were opened. */
static bool same_clocks(const struct steps *s, const struct cvl_session *now)
{
	if (cvl_session_clocks(now) != s->n)
		return false;
	for (size_t i = 0; i < s->n && s->next == INT64_MIN; i++) {
		const struct cvl_clock *a = cvl_session_clock(s->session, i),
				       *b = cvl_session_clock(now, i);

		if (a->start_unix_ns != b->start_unix_ns || a->base_tick != b->base_tick)
			return false; /* it was placed when its first packet came */
	}
	return true;
}

static struct cvl_sync *empty_sync(const struct steps *s)
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

/* Copies of the maps of the last step, to read by. */
static int copy_maps(const struct steps *s, struct cvl_sync **out, struct cvl_error *err)
{
	struct cvl_sync *sync = empty_sync(s);
	int rc = sync ? 0 : cvl_no_memory(err);

	for (size_t i = 0; i < s->n && !rc; i++) {
		struct cvl_map_spec spec;
		struct cvl_knot *knot;

		if (!s->clock[i].map)
			continue;
		cvl_map_describe(s->clock[i].map, &spec);
		knot = malloc(spec.n * sizeof(*knot));
		if (!knot) {
			rc = cvl_no_memory(err);
			break;
		}
		for (size_t k = 0; k < spec.n && !rc; k++)
			rc = cvl_map_knot(s->clock[i].map, k, &knot[k], err);
		spec.knots = knot;
		rc = rc ? rc : cvl_map_new(&sync->clock[i].map, &spec, err);
		free(knot);
	}
	if (rc) {
		cvl_sync_free(sync);
		sync = NULL;
	}
	*out = sync;
	return rc;
}

/* What was read since the last time. */
static void count_heard(struct steps *s)
{
	const struct sync_problem *p = &s->all->p;

	for (; s->counted_marks < p->n_marks; s->counted_marks++)
		s->clock[root_of(s, p->mark[s->counted_marks].clock)].heard++;
	for (; s->counted_ends < s->ends.n; s->counted_ends++)
		s->clock[s->ends.end[s->counted_ends].of].heard++;
}

static void count_anew(struct steps *s)
{
	for (size_t c = 0; c < s->n; c++)
		s->clock[c].heard = 0;
	s->counted_marks = s->counted_ends = 0;
	count_heard(s);
}

/* Whether each clock heard enough to be tied. */
static bool all_ready(void *steps)
{
	struct steps *s = steps;

	if (s->all->p.n_marks + s->ends.n < s->first)
		return false;
	count_heard(s);
	for (size_t c = 0; c < s->n; c++)
		if (root_of(s, c) == c && s->clock[c].heard < s->first)
			return false;
	return true;
}

/* Whether the session is of one clock that nothing ties to others. */
static bool is_alone(const struct steps *s)
{
	for (size_t c = 0; c < s->n; c++)
		if (root_of(s, c))
			return false;
	return s->n && !s->opts.n_pulse && !s->all->rules.n && !s->all->p.n_marks;
}

/*
 * How far the records of clock @c are there. While it has heard too little to be tied it holds up
 * the others, but not for ever.
 */
static int64_t stored_of(struct steps *s, size_t c, int64_t ms)
{
	struct stepped *k = &s->clock[c];
	const struct stepped *root = &s->clock[root_of(s, c)];

	if (root->map || root->heard >= s->first || is_alone(s)) {
		k->deaf_ms = 0;
		return k->seen ? time_of(s, c, k->seen) : INT64_MIN;
	}
	if (!k->deaf_ms)
		k->deaf_ms = ms;
	return s->silent_ms >= 0 && ms - k->deaf_ms >= s->silent_ms ? INT64_MAX : INT64_MIN;
}

/* Note how far each clock's records are there, and who is silent. */
static void look_at_clocks(struct steps *s, const struct cvl_session *now)
{
	const int64_t ms = now_ms();

	s->growing = false;
	s->stored = INT64_MAX;
	s->reach = INT64_MIN;
	s->wait_for = NULL;
	for (size_t c = 0; c < s->n; c++) {
		struct stepped *k = &s->clock[c];
		const uint64_t seen = observer_seen(s->observer, c);
		int64_t t;

		k->growing = cvl_session_clock(now, c)->growing;
		s->growing = s->growing || k->growing;
		if (seen != k->seen) {
			k->seen = seen;
			k->changed_ms = ms;
		}
		if (seen && (t = time_of(s, c, seen)) > s->reach)
			s->reach = t;
		k->silent = k->growing && s->silent_ms >= 0 && ms - k->changed_ms >= s->silent_ms;
		if (!k->growing || k->silent)
			continue;
		t = stored_of(s, c, ms);
		if (t < s->stored) {
			s->stored = t;
			s->wait_for = cvl_session_clock(s->session, c)->name;
		}
	}
}

static void forget(struct steps *s);

/* Read up to a stretch beyond the next step, or to where the first one can be taken. */
static int read_on(struct steps *s, const struct cvl_session *now, struct cvl_error *err)
{
	struct cvl_sync *maps = NULL;
	int64_t limit = INT64_MAX;
	int rc = 0;

	if (!s->session || !same_clocks(s, now)) {
		close_session(s);
		rc = open_session(s, err);
	}
	if (!rc && s->next != INT64_MIN) {
		rc = copy_maps(s, &maps, err);
		limit = cvl_add_sat(s->next, s->length);
	}
	if (!rc)
		rc = observer_grow(s->observer, now, maps, limit,
				   s->next == INT64_MIN ? all_ready : NULL, s, err);
	if (rc)
		return rc;
	forget(s);
	count_anew(s);
	look_at_clocks(s, now);
	return 0;
}

/* ---- a stretch as a problem of its own ---- */

/* The final knot by which clock @c is placed in a stretch from @begin on, or NULL. */
static const struct cvl_knot *anchor_of(const struct steps *s, size_t c, int64_t begin)
{
	const struct stepped *k = &s->clock[c];
	size_t i = 0;

	if (!k->n || k->kind == CVL_BOUND_NONE)
		return NULL;
	while (i + 1 < k->n && k->knot[i].time.ns < begin)
		i++;
	return &k->knot[i];
}

/* Where the stretch to solve begins: marks matter for a horizon, noise is learned from more. */
static int64_t begin_of(const struct steps *s)
{
	int64_t least = SHORT * s->period;

	if (s->learning)
		return s->begin;
	if (least < (int64_t)(SHORT_HORIZONS * (double)s->horizon))
		least = (int64_t)(SHORT_HORIZONS * (double)s->horizon);
	return s->next - s->begin > least ? s->next - least : s->begin;
}

/* Clock @c starts where it was put before. */
static int place_clock(const struct steps *s, size_t c, struct sync_clock *k)
{
	const int64_t begin = begin_of(s);
	const struct sync_problem *p = &s->all->p;
	const size_t root = root_of(s, c);
	const struct cvl_knot *a = anchor_of(s, root, begin);
	struct cvl_knot at;
	int64_t by = 0;

	if (a) {
		if (p->reference < 0 || p->clock[p->reference].same_as != root)
			by = cvl_add_sat(a->time.ns, -sync_x(p, root, a->tick.count));
		k->start_x = a->time.ns;
		k->start_bound_ns = s->last->clock[root].group ? 0 : a->bound_ns + 1;
		k->host = "";
		k->placed = !s->last->clock[root].group;
	}
	cvl_map_ends(k->nominal, &at, NULL);
	k->nominal = cvl_map_nominal(k->rate_hz, at.tick,
				     (struct cvl_time){ cvl_add_sat(at.time.ns, by) });
	k->noise = s->clock[root].noise;
	k->slip = NULL;
	k->n_slips = k->cap_slips = 0;
	if (!k->nominal)
		return CVL_E_NOMEM;
	for (size_t i = 0; i < p->clock[c].n_slips; i++) {
		struct track_slip slip = p->clock[c].slip[i];

		slip.from = cvl_add_sat(slip.from, by);
		slip.to = cvl_add_sat(slip.to, by);
		if (slip.to < begin)
			continue;
		if (cvl_room(&k->slip, k->n_slips, &k->cap_slips, sizeof(*k->slip)))
			return CVL_E_NOMEM;
		k->slip[k->n_slips++] = slip;
	}
	return 0;
}

/* Records of a clock in the stretch, by its marks. */
static void see_tick(struct sync_clock *k, uint64_t tick)
{
	k->first = !k->seen || tick < k->first ? tick : k->first;
	k->last = !k->seen || tick > k->last ? tick : k->last;
	k->seen = true;
}

/* The observations of the stretch up to @end; of the first one, the first of each clock. */
struct stretch {
	struct cvl_observations obs;
	struct pairing ends;
	int64_t begin;
	size_t *taken; /* of each clock that is not tied yet */
};

static bool takes(const struct steps *s, struct stretch *st, size_t clock, uint64_t tick,
		  int64_t end)
{
	const size_t root = root_of(s, clock);
	int64_t t;

	if (!s->clock[root].map)
		return st->taken[root]++ < s->first;
	t = time_of(s, clock, tick);
	return t <= end && t >= st->begin;
}

static int take_marks(const struct steps *s, struct stretch *st, int64_t end)
{
	const struct sync_problem *p = &s->all->p;
	struct sync_problem *q = &st->obs.p;

	memset(st->taken, 0, (p->n_clocks + 1) * sizeof(*st->taken));
	if (spill_room(&q->marks, (p->n_marks + 1) * sizeof(*q->mark)))
		return CVL_E_NOMEM;
	q->mark = q->marks.at;
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct sync_mark *m = &p->mark[i];

		if (!takes(s, st, m->clock, m->tick, end))
			continue;
		q->mark[q->n_marks++] = *m;
		see_tick(&q->clock[root_of(s, m->clock)], m->tick);
	}
	for (size_t i = 0; i < s->ends.n; i++) {
		struct pairing_end e = s->ends.end[i];

		if (!takes(s, st, e.clock, e.tick, end))
			continue;
		e.x = sync_x(q, e.clock, e.tick);
		if (pairing_add(&st->ends, &e, NULL))
			return CVL_E_NOMEM;
		see_tick(&q->clock[root_of(s, e.clock)], e.tick);
	}
	return 0;
}

static void stretch_free(struct stretch *st)
{
	struct sync_problem *q = &st->obs.p;

	for (size_t c = 0; q->clock && c < q->n_clocks; c++) {
		cvl_map_free(q->clock[c].nominal);
		free(q->clock[c].slip);
	}
	free(q->clock);
	free(q->message);
	free(q->source);
	spill_free(&q->marks);
	pairing_free(&st->ends);
	free(st->taken);
}

static int make_stretch(const struct steps *s, struct stretch *st, int64_t end,
			struct cvl_error *err)
{
	const struct sync_problem *p = &s->all->p;
	struct sync_problem *q = &st->obs.p;
	int rc = 0;

	*st = (struct stretch){ .obs = *s->all, .begin = begin_of(s) };
	q->mark = NULL;
	q->n_marks = q->n_messages = q->cap_messages = 0;
	q->marks = (struct spill){ 0 };
	q->message = NULL;
	q->progress = (struct cvl_progress){ 0 };
	q->sender = s->sender ? s->sender : q->sender;
	q->unmatched = q->duplicates = q->ambiguous = 0;
	q->clock = calloc(p->n_clocks + 1, sizeof(*q->clock));
	q->source = calloc(p->n_sources + 1, sizeof(*q->source));
	st->taken = calloc(p->n_clocks + 1, sizeof(*st->taken));
	if (!q->clock || !q->source || !st->taken)
		rc = CVL_E_NOMEM;
	for (size_t i = 0; i < p->n_sources && !rc; i++) {
		q->source[i] = p->source[i];
		q->source[i].marks = 0;
	}
	q->n_clocks = 0;
	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		q->clock[c] = p->clock[c];
		q->clock[c].seen = false;
		q->n_clocks++;
		rc = place_clock(s, c, &q->clock[c]);
	}
	rc = rc ? rc : take_marks(s, st, end);
	if (rc) {
		stretch_free(st);
		return cvl_no_memory(err);
	}
	rc = observed(q, &st->ends, &st->obs.rules, err);
	if (rc)
		stretch_free(st);
	else
		observations_complete(&st->obs);
	return rc;
}

/* ---- final knots ---- */

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
			e.drift_ppb = fmax(e.drift_ppb,
					   more * (double)spec->rate_hz / (double)run);
	}
	return e;
}

static int tell_final(struct steps *s, size_t c, struct cvl_knot knot, struct cvl_error *err)
{
	struct stepped *k = &s->clock[c];
	const size_t before = k->n;

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
	k->before.drift_ppb += k->before.wander_ppb_s *
			       (double)(first.tick.count - at.tick.count) /
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
static int tell_until(struct steps *s, size_t c, int64_t until, struct cvl_error *err)
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
	if (until < INT64_MAX && !rc) {
		knot = knot_at(k->map, cvl_map_tick(k->map, at).count);
		rc = k->n ? tell_beyond(s, c, knot, err) : tell_before(s, c, knot, err);
	}
	if (k->n)
		k->after = until < INT64_MAX ? edge_beyond(k, k->map, &spec) : spec.after;
	return rc;
}

/* ---- steps ---- */

/* Of the line to align by only the first few edges of each clock matter. */
static void forget_edges(struct sync_problem *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_align; i++) {
		size_t same = 0;

		for (size_t k = 0; k < n; k++)
			same += p->align[k].clock == p->align[i].clock;
		if (same < ALIGN_KEPT)
			p->align[n++] = p->align[i];
	}
	p->n_align = n;
}

/* Whether stretches to come will want this tick; of a clock that is not tied, the latest. */
static bool is_kept(const struct steps *s, size_t c, uint64_t tick)
{
	const size_t root = root_of(s, c);
	int64_t last;

	if (s->clock[root].map)
		return time_of(s, c, tick) >= s->begin;
	last = sync_x(&s->all->p, c, s->clock[c].seen);
	return sync_x(&s->all->p, c, tick) >= cvl_add_sat(last, -s->length);
}

/* Let go of what lies before the stretches to come. */
static void forget(struct steps *s)
{
	struct sync_problem *p = &s->all->p;
	const int64_t kept = cvl_add_sat(s->begin, -(KEPT_PARTS - 1) * s->length);
	size_t n = 0;

	forget_edges(p);
	if (s->begin == INT64_MIN)
		return;
	for (size_t i = 0; i < p->n_marks; i++)
		if (is_kept(s, p->mark[i].clock, p->mark[i].tick))
			p->mark[n++] = p->mark[i];
	p->n_marks = n;
	n = 0;
	for (size_t i = 0; i < s->ends.n; i++)
		if (is_kept(s, s->ends.end[i].clock, s->ends.end[i].tick))
			s->ends.end[n++] = s->ends.end[i];
	s->ends.n = n;
	for (size_t c = 0; c < s->n; c++) {
		struct stepped *k = &s->clock[c];
		size_t gone = 0;

		while (gone + 1 < k->n && k->knot[gone + 1].time.ns < kept)
			gone++;
		memmove(k->knot, k->knot + gone, (k->n - gone) * sizeof(*k->knot));
		k->n -= gone;
	}
}

/* From one mark of what is heard most to the next. */
static int64_t period_of(const struct sync_problem *p)
{
	const struct sync_source *most = NULL;

	for (size_t i = 0; i < p->n_sources; i++)
		if (p->source[i].marks && (!most || p->source[i].marks > most->marks))
			most = &p->source[i];
	return most ? most->period_ns : MESSAGES_PERIOD_NS;
}

static int keep_names(struct steps *s, const struct cvl_sync *found, bool marks,
		      struct cvl_error *err)
{
	if (s->estimator)
		return 0;
	s->estimator = strdup(found->estimator);
	if (marks && !s->opts.reference)
		s->sender = strdup(found->reference);
	else
		s->reference = strdup(found->reference);
	if (!s->estimator || (!s->sender && !s->reference))
		return cvl_no_memory(err);
	if (s->reference)
		s->all->p.reference = cvl_session_find(s->session, s->reference);
	return 0;
}

/* A clock's verdict is its worst, once there was enough to judge by. */
static void judge(struct stepped *k, struct cvl_clock_sync *c, bool counts)
{
	if (!k->judged || (counts && c->verdict < k->worst)) {
		k->worst = c->verdict;
		snprintf(k->why, sizeof(k->why), "%s", c->reason);
	}
	k->judged = k->judged || counts;
	c->verdict = k->worst;
	snprintf(c->reason, sizeof(c->reason), "%s", k->why);
}

/* A clock told as ambiguous stays so: what was told of it is not taken back. */
static void keep_group(struct stepped *k, struct cvl_clock_sync *c)
{
	if (k->told && k->group && !c->group)
		c->group = k->group;
	k->group = c->group;
}

/* Take over what a step found: its maps, and what a whole stretch says of the clocks. */
static void adopt(struct steps *s, struct cvl_sync *found, size_t observations)
{
	for (size_t i = 0; i < s->n; i++) {
		struct cvl_clock_sync *c = &found->clock[i];
		struct stepped *k = &s->clock[i];
		const uint32_t group = k->group;

		if (c->map) {
			cvl_map_free(k->map);
			k->map = c->map;
			c->map = NULL;
		}
		keep_group(k, c);
		if (s->learning || group != k->group)
			judge(k, c, observations > STRETCH / 4 * s->n);
		if (!s->learning && group != k->group) {
			s->last->clock[i].group = c->group;
			s->last->clock[i].turn_ns = c->turn_ns;
			s->last->clock[i].verdict = c->verdict;
			memcpy(s->last->clock[i].reason, c->reason, sizeof(c->reason));
		}
		cvl_map_free(k->now);
		k->now = NULL;
	}
	if (s->learning) {
		cvl_sync_free(s->last);
		s->last = found;
	} else {
		cvl_sync_free(found);
	}
}

/*
 * The earliest of the clocks' last observations: the end of the first step. INT64_MIN: it should be
 * tried again with more.
 */
static int64_t first_end(const struct steps *s, const struct sync_problem *q)
{
	int64_t end = INT64_MAX, t;

	for (size_t c = 0; c < q->n_clocks; c++) {
		if (!q->clock[c].seen)
			continue;
		if (s->clock[c].map) {
			t = time_of(s, c, q->clock[c].last);
			end = t < end ? t : end;
		} else if (s->clock[c].heard >= s->first && s->first < FIRST_MOST) {
			return INT64_MIN;
		}
	}
	return end < INT64_MAX ? end : INT64_MIN;
}

/* When the next step ends, and where its stretch begins. */
static void plan(struct steps *s, int64_t end)
{
	int64_t step;

	s->length = STRETCH * s->period;
	step = s->length / STEP_PART;
	s->next = cvl_add_sat(end, s->horizon / 2 > step ? s->horizon / 2 : step);
	if (s->final > INT64_MIN && cvl_add_sat(s->next, -s->length) > s->begin)
		s->begin = cvl_add_sat(s->next, -s->length);
}

/* Make final what @end and the horizon allow. */
static int tell_all(struct steps *s, int64_t until, struct cvl_error *err)
{
	int rc = 0;

	if (until <= s->final)
		return 0;
	for (size_t c = 0; c < s->n && !rc; c++)
		rc = tell_until(s, c, until, err);
	s->final = until;
	return rc;
}

/* Solve the stretch up to @end. Where nothing ties its clocks, what was found before goes on. */
static int solve_stretch(struct steps *s, struct stretch *st, struct cvl_error *err)
{
	const struct sync_problem *q = &st->obs.p;
	const char *estimator = s->estimator ? s->estimator : s->opts.estimator;
	struct observations_found more = { .noise = calloc(s->n + 1, sizeof(*more.noise)) };
	struct cvl_sync *found = NULL;
	int rc = more.noise ? observations_solve(&found, &st->obs, estimator, &more, err) :
			      cvl_no_memory(err);

	if (!rc)
		rc = keep_names(s, found, q->n_marks > 0, err);
	for (size_t c = 0; c < s->n && !rc; c++)
		s->clock[c].noise = more.noise[c];
	free(more.noise);
	if (rc) {
		cvl_sync_free(found);
		return rc == CVL_E_NO && s->last ? 0 : rc;
	}
	s->period = period_of(q);
	s->horizon = STRETCH * s->period / HORIZON_PARTS;
	s->horizon = more.horizon_ns < s->horizon ? more.horizon_ns : s->horizon;
	adopt(s, found, q->n_marks + q->n_messages);
	return 0;
}

/* The first marks did not tie all that heard enough. */
static void try_with_more(struct steps *s)
{
	s->first *= 2;
	for (size_t c = 0; c < s->n; c++) {
		cvl_map_free(s->clock[c].map);
		s->clock[c].map = NULL;
	}
}

/* Noise is learned once a stretch, and in each step while it is still short. */
static void learn_now_and_then(struct steps *s, int64_t end)
{
	s->learning = s->begin == INT64_MIN || s->n > s->last->n || end >= cvl_add_sat(s->learned, s->length);
	if (!s->learning)
		return;
	for (size_t c = 0; c < s->n; c++)
		s->clock[c].noise.known = false;
	s->learned = end;
}

static int take_step(struct steps *s, int64_t end, struct cvl_error *err)
{
	struct stretch st;
	int rc;

	learn_now_and_then(s, end);
	rc = make_stretch(s, &st, end, err);
	if (rc)
		return rc;
	rc = solve_stretch(s, &st, err);
	if (!rc && end == INT64_MIN)
		end = first_end(s, &st.obs.p);
	stretch_free(&st);
	if (rc == CVL_E_NO || (!rc && end == INT64_MIN))
		try_with_more(s);
	if (rc || end == INT64_MIN)
		return rc;
	rc = tell_all(s, end == INT64_MAX ? end : cvl_add_sat(end, -s->horizon), err);
	if (end < INT64_MAX)
		plan(s, end);
	return rc;
}

/* End of the step that can be taken now; false: none can. */
static bool step_now(struct steps *s, int64_t *end)
{
	*end = s->next;
	if (is_alone(s)) {
		int64_t begin = sync_x(&s->all->p, 0, s->all->p.clock[0].first);

		*end = s->stored;
		return s->stored > s->final &&
		       (!s->growing || s->final > INT64_MIN || s->reach - begin >= ALONE_NS);
	}
	if (s->next == INT64_MIN)
		return !s->growing || s->stored > INT64_MIN;
	if (!s->growing && s->next > s->reach)
		*end = INT64_MAX;
	return s->next <= s->stored;
}

/* Whether a first step that ties nothing can be tried again with more. */
static bool more_to_try(const struct steps *s)
{
	bool more = false;

	for (size_t c = 0; c < s->n; c++)
		more = more || s->clock[c].heard > s->first / 2;
	return more;
}

int steps_next(struct steps *s, const struct cvl_session *now, struct cvl_error *err)
{
	int64_t end;
	int rc;

	if (s->final == INT64_MAX)
		return 0;
	rc = read_on(s, now, err);
	if (rc || !step_now(s, &end))
		return rc;
	rc = take_step(s, end, err);
	if (rc && rc != CVL_E_NO)
		return rc;
	return s->next == INT64_MIN ? more_to_try(s) : 1;
}

int steps_estimate(struct steps *s, struct cvl_error *err)
{
	struct observations_found more = { 0 };
	struct cvl_sync *found;
	struct stretch st;
	int rc;

	if (s->next == INT64_MIN || s->final == INT64_MAX)
		return 0;
	rc = make_stretch(s, &st, INT64_MAX, err);
	if (rc)
		return rc;
	rc = observations_solve(&found, &st.obs, s->estimator, &more, err);
	stretch_free(&st);
	if (rc)
		return rc == CVL_E_NO ? 0 : rc;
	for (size_t i = 0; i < s->n; i++)
		if (found->clock[i].map) {
			cvl_map_free(s->clock[i].now);
			s->clock[i].now = found->clock[i].map;
			found->clock[i].map = NULL;
		}
	cvl_sync_free(found);
	return 0;
}

/* ---- results ---- */

/* All of the last step but its maps. */
static struct cvl_sync *copy_last(const struct steps *s)
{
	struct cvl_sync *sync = empty_sync(s);
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
	const struct sync_clock *c = &s->all->p.clock[root_of(s, clock)];

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

/* ---- begin and end ---- */

int steps_open(struct steps **out, const char *path, const struct steps_opts *opts,
	       struct cvl_error *err)
{
	struct steps *s = calloc(1, sizeof(*s));

	*out = s;
	if (s)
		s->path = strdup(path);
	if (!s || !s->path) {
		free(s);
		*out = NULL;
		return cvl_no_memory(err);
	}
	s->opts = opts->sync;
	s->told = opts->told;
	s->told_ctx = opts->ctx;
	s->silent_ms = opts->silent_ms;
	s->first = FIRST_MARKS;
	s->begin = s->next = s->final = s->stored = INT64_MIN;
	return 0;
}

void steps_free(struct steps *s)
{
	if (!s)
		return;
	close_session(s);
	for (size_t i = 0; i < s->n; i++)
		clock_free(&s->clock[i]);
	free(s->clock);
	cvl_sync_free(s->last);
	free(s->estimator);
	free(s->reference);
	free(s->sender);
	free(s->path);
	free(s);
}
