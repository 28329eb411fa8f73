/* SPDX-License-Identifier: MIT */
#include "sync/steps_internal.h"

#include "store/stored.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEPT_PARTS 2 /* stretches of final knots that are kept */
#define ALIGN_KEPT 64
#define ALONE_NS 10000000000 /* a clock that heard nothing for so long is alone */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void steps_close(struct steps *s)
{
	observer_free(s->observer);
	cvl_observations_free(s->all);
	pairing_free(&s->ends);
	cvl_session_close(s->session);
	s->observer = NULL;
	s->all = NULL;
	s->session = NULL;
}

/* Clocks as the session has them now; what was found of earlier ones stays. */
static int open_session(struct steps *s, struct cvl_error *err)
{
	struct stepped *clock;
	size_t n;
	int rc = cvl_session_open(&s->session, s->path, NULL, err);

	if (rc)
		return rc;
	s->written = session_written(s->session);
	n = cvl_session_clocks(s->session);
	clock = realloc(s->clock, (n + 1) * sizeof(*clock));
	if (!clock)
		return cvl_no_memory(err);
	s->clock = clock;
	for (; s->n < n; s->n++)
		s->clock[s->n] = (struct stepped){ .changed_ms = now_ms() };
	for (size_t i = 0; i < n; i++)
		s->clock[i].heard = 0;
	s->counted_marks = s->counted_ends = s->aligned = 0;
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
	if (cvl_session_clocks(now) != s->n || session_written(now) != s->written)
		return false;
	for (size_t i = 0; i < s->n && s->next == INT64_MIN; i++) {
		const struct cvl_clock *a = cvl_session_clock(s->session, i),
				       *b = cvl_session_clock(now, i);

		if (a->start_unix_ns != b->start_unix_ns || a->base_tick != b->base_tick)
			return false; /* it was placed when its first packet came */
	}
	return true;
}

/* Copies of the maps of the last step, to read by. */
static int copy_maps(const struct steps *s, struct cvl_sync **out, struct cvl_error *err)
{
	struct cvl_sync *sync = steps_sync(s);
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
		s->clock[steps_root(s, p->mark[s->counted_marks].clock)].heard++;
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
		if (steps_root(s, c) == c && s->clock[c].heard < s->first)
			return false;
	return true;
}

static int by_tick(const void *pa, const void *pb)
{
	const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/*
 * Of a clock that is not tied yet the first few observations count, by their ticks: how many more
 * were read depends on when one looked.
 */
static void cut_clock(struct steps *s, size_t c, uint64_t *tick)
{
	const struct sync_problem *p = &s->all->p;
	size_t n = 0;

	for (size_t i = 0; i < p->n_marks; i++)
		if (steps_root(s, p->mark[i].clock) == c)
			tick[n++] = p->mark[i].tick;
	for (size_t i = 0; i < s->ends.n; i++)
		if (s->ends.end[i].of == c)
			tick[n++] = s->ends.end[i].tick;
	if (n)
		qsort(tick, n, sizeof(*tick), by_tick);
	s->clock[c].cut = n >= s->first ? tick[s->first - 1] : UINT64_MAX;
}

static int cut_all(struct steps *s, struct cvl_error *err)
{
	uint64_t *tick = malloc((s->all->p.n_marks + s->ends.n + 1) * sizeof(*tick));

	if (!tick)
		return cvl_no_memory(err);
	for (size_t c = 0; c < s->n; c++)
		if (steps_root(s, c) == c && !s->clock[c].map)
			cut_clock(s, c, tick);
	free(tick);
	return 0;
}

/* Whether the session is of one clock without any rule that might tie it to others. */
static bool one_clock(const struct steps *s)
{
	for (size_t c = 0; c < s->n; c++)
		if (steps_root(s, c))
			return false;
	return s->n && !s->opts.n_pulse && !s->all->rules.n;
}

/* It is alone if it heard nothing in its first seconds; what it hears later does not count. */
static bool is_alone(const struct steps *s)
{
	const struct sync_problem *p = &s->all->p;
	int64_t until;

	if (s->alone || s->next > INT64_MIN || !one_clock(s))
		return s->alone;
	until = cvl_add_sat(sync_x(p, 0, p->clock[0].first), ALONE_NS);
	if (s->reach < until && !s->ended)
		return false;
	for (size_t i = 0; i < p->n_marks; i++)
		if (sync_x(p, p->mark[i].clock, p->mark[i].tick) < until)
			return false;
	return true;
}

/*
 * How far the records of clock @c are there. While it has heard too little to be tied it holds up
 * the others, but not for ever.
 */
static int64_t stored_of(struct steps *s, size_t c, int64_t ms)
{
	struct stepped *k = &s->clock[c];
	const struct stepped *root = &s->clock[steps_root(s, c)];

	if (root->map || root->heard >= s->first || one_clock(s)) {
		k->deaf_ms = 0;
		return k->seen ? steps_time(s, c, k->seen) : INT64_MIN;
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
		if (seen && (t = steps_time(s, c, seen)) > s->reach)
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
	if (s->growing && s->stored == INT64_MAX)
		s->stored = s->reach; /* all that grow are silent */
	if (one_clock(s) || (s->next > INT64_MIN && s->reach < s->next))
		s->wait_for = NULL; /* no other clock is there yet */
}

/* Of the line to align by only the first few edges of each clock matter. */
static void forget_edges(struct sync_problem *p, size_t *kept)
{
	size_t n = *kept;

	for (size_t i = n; i < p->n_align; i++) {
		size_t same = 0;

		for (size_t k = 0; k < n; k++)
			same += p->align[k].clock == p->align[i].clock;
		if (same < ALIGN_KEPT)
			p->align[n++] = p->align[i];
	}
	p->n_align = *kept = n;
}

/* Whether stretches to come will want this tick; of a clock that is not tied, the latest. */
static bool is_kept(const struct steps *s, size_t c, uint64_t tick)
{
	const size_t root = steps_root(s, c);
	int64_t last;

	if (s->clock[root].map)
		return steps_time(s, c, tick) >= s->begin;
	last = sync_x(&s->all->p, c, s->clock[c].seen);
	return sync_x(&s->all->p, c, tick) >= cvl_add_sat(last, -s->length);
}

/* Let go of what lies before the stretches to come. */
static void forget(struct steps *s)
{
	struct sync_problem *p = &s->all->p;
	const int64_t kept = cvl_add_sat(s->begin, -(KEPT_PARTS - 1) * s->length);
	size_t n = 0;

	forget_edges(p, &s->aligned);
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
		if (!gone)
			continue;
		memmove(k->knot, k->knot + gone, (k->n - gone) * sizeof(*k->knot));
		k->n -= gone;
	}
}

/* Read up to a stretch beyond the next step, or to where the first one can be taken. */
int steps_read(struct steps *s, const struct cvl_session *now, struct cvl_error *err)
{
	struct cvl_sync *maps = NULL;
	int64_t limit = INT64_MAX;
	int rc = 0;

	if (!s->session || !same_clocks(s, now)) {
		steps_close(s);
		rc = open_session(s, err);
		if (rc)
			steps_close(s);
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
	s->ended = observer_ended(s->observer);
	look_at_clocks(s, now);
	s->ended = s->ended && !s->growing;
	s->alone = is_alone(s);
	return cut_all(s, err);
}
