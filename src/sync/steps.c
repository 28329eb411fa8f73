/* SPDX-License-Identifier: MIT */
#include "sync/steps_internal.h"

#include "sync/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A clock needs so many before anything is solved; if they tie too little, more, up to ... */
#define FIRST_MARKS 20
#define FIRST_MOST (64 * FIRST_MARKS)
#define STRETCH 1024    /* periods in a stretch */
#define HORIZON_PARTS 4 /* of the stretch is the longest horizon: bounds tell what that leaves */
#define ALIKE 16
#define STEP_PART 32                 /* of the stretch: the shortest step; else half the horizon */
#define MESSAGES_PERIOD_NS 100000000 /* where only messages tie clocks */

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

/*
 * What was told of a clock is not taken back: one told as ambiguous stays so, and one whose place on
 * the timeline was known goes on by what was known. Either way a step may find nothing of it.
 */
static void keep_group(struct stepped *k, struct cvl_clock_sync *c)
{
	if (k->told && k->group && !c->group)
		c->group = k->group;
	if (k->told && !k->group && c->group) {
		cvl_map_free(c->map);
		c->map = NULL;
		c->group = 0;
	}
	k->group = c->group;
	if (!c->map && k->map && k->told)
		sync_reason(
			c, CVL_DEGRADED,
			"what tied it was not heard for some time: there its times are a forecast");
}

/* Take over what a step found: its maps, and what a whole stretch says of the clocks. */
static void adopt(struct steps *s, struct cvl_sync *found, size_t observations)
{
	for (size_t i = 0; i < s->n; i++) {
		struct cvl_clock_sync *c = &found->clock[i];
		struct stepped *k = &s->clock[i];
		const uint32_t group = k->group;

		keep_group(k, c);
		if (c->map) {
			cvl_map_free(k->map);
			k->map = c->map;
			c->map = NULL;
		}
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
			t = steps_time(s, c, q->clock[c].last);
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

/* Time of the first record of all. */
static int64_t first_record(const struct steps *s)
{
	int64_t first = INT64_MAX, t;

	for (size_t c = 0; c < s->n; c++)
		if (s->all->p.clock[c].seen) {
			t = steps_time(s, c, s->all->p.clock[c].first);
			first = t < first ? t : first;
		}
	return first;
}

/* Make final what @end and the horizon allow. */
static int tell_all(struct steps *s, int64_t until, struct cvl_error *err)
{
	int rc = 0;

	if (until <= s->final || until < first_record(s))
		return 0;
	for (size_t c = 0; c < s->n && !rc; c++)
		rc = steps_tell(s, c, until, err);
	s->final = until;
	return rc;
}

/*
 * Errors of marks may be alike over up to ALIKE of them; then noise is known from so many times fewer
 * independent ones. Of a whole stretch the estimators' own margin covers that.
 */
static double doubt_of(const struct steps *s, const struct sync_problem *q)
{
	size_t hearing = 0;
	double n;

	for (size_t c = 0; c < q->n_clocks; c++)
		hearing += steps_root(s, c) == c && q->clock[c].seen;
	n = (double)q->n_marks / (double)(hearing ? hearing : 1) / ALIKE;
	return fmax(student_999(fmax(n - 1, 2)) / student_999(STRETCH / ALIKE - 1), 1);
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
	if (s->learning)
		s->doubt = s->begin == INT64_MIN && q->n_marks ? doubt_of(s, q) : 1;
	s->horizon = STRETCH * s->period / HORIZON_PARTS;
	s->horizon = more.horizon_ns < s->horizon ? more.horizon_ns : s->horizon;
	adopt(s, found, q->n_marks + q->n_messages);
	return 0;
}

/* The first marks did not tie all that heard enough. */
static void try_with_more(struct steps *s)
{
	s->first *= 2;
	free(s->estimator);
	free(s->reference);
	free(s->sender);
	s->estimator = s->reference = s->sender = NULL;
	s->all->p.reference =
		s->opts.reference ? cvl_session_find(s->session, s->opts.reference) : -1;
	for (size_t c = 0; c < s->n; c++) {
		cvl_map_free(s->clock[c].map);
		s->clock[c].map = NULL;
	}
}

/* Noise is learned once a stretch, and in each step while it is still short. */
static void learn_now_and_then(struct steps *s, int64_t end)
{
	s->learning = s->begin == INT64_MIN || s->n > s->last->n ||
		      end >= cvl_add_sat(s->learned, s->length);
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
	rc = stretch_make(s, &st, end, err);
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
	if (s->alone) {
		*end = s->stored;
		return s->stored > s->final;
	}
	if (s->next == INT64_MIN)
		return !s->growing || s->stored > INT64_MIN;
	if (s->ended && s->next > s->reach)
		*end = INT64_MAX;
	return s->next <= s->stored;
}

/* Whether a first step that ties nothing can be tried again with more. */
static bool more_to_try(const struct steps *s)
{
	bool more = false;

	for (size_t c = 0; c < s->n; c++)
		more = more || s->clock[c].heard >= s->first / 2;
	return more;
}

int steps_next(struct steps *s, const struct cvl_session *now, struct cvl_error *err)
{
	int64_t end;
	int rc;

	if (s->final == INT64_MAX)
		return 0;
	rc = steps_read(s, now, err);
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
	rc = stretch_make(s, &st, INT64_MAX, err);
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

/* ---- begin and end ---- */

static void clock_free(struct stepped *c)
{
	free(c->knot);
	cvl_map_free(c->map);
	cvl_map_free(c->now);
}

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
	s->doubt = 1;
	s->begin = s->next = s->final = s->stored = INT64_MIN;
	return 0;
}

void steps_free(struct steps *s)
{
	if (!s)
		return;
	steps_close(s);
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
