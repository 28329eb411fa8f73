/* SPDX-License-Identifier: MIT */
#include <coeval/sync.h>

#include "sync/advise.h"
#include "sync/marks.h"
#include "sync/observations.h"
#include "sync/observe.h"
#include "sync/problem.h"
#include "sync/rules_json.h"
#include "sync/settings.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The first of each kind is the default. */
static const struct estimator *const estimators[] = {
	&estimator_interval, &estimator_hull,
	&estimator_smooth,   &estimator_lag,
	&estimator_kalman,   &estimator_regress,
	&estimator_line,     &estimator_tracelab,
	&estimator_grace,    NULL,
};

const struct cvl_option sync_message_options[] = {
	{ "match", "RULE", "messages between events" },
	{ "reference", "CLOCK", "the clock whose time becomes the timeline" },
	{ 0 },
};

const struct cvl_option sync_interval_options[] = {
	{ "match", "RULE", "messages between events" },
	{ "reference", "CLOCK", "the clock whose time becomes the timeline" },
	{ "max-drift", "[CLOCK=]PPM", "how far a rate may be off: what the bounds rest on" },
	{ "wander", "PPB", "how fast a rate may change: narrower bounds, if it is true" },
	{ 0 },
};

const struct cvl_option sync_beacon_options[] = {
	{ "beacon", "PERIOD", "time from one beacon to the next" },
	{ "reference", "CLOCK", "the clock whose time becomes the timeline" },
	{ "calibration", "FILE", "fixed delays of receivers" },
	{ 0 },
};

const struct cvl_option sync_mark_options[] = {
	{ "pulse", "LINE:EDGE:PERIOD[:+-ERROR[:max]]", "edges of a line, PERIOD apart" },
	{ "beacon", "PERIOD", "time from one beacon to the next" },
	{ "reference", "CLOCK", "the clock whose time becomes the timeline" },
	{ "align", "LINE", "its first edge is the same one on all clocks" },
	{ "start-bound", "TIME", "how far claimed starts may be off" },
	{ "max-drift", "[CLOCK=]PPM", "which pulses and beacons can be the same" },
	{ "calibration", "FILE", "fixed delays of receivers" },
	{ 0 },
};

const struct cvl_estimator_info *cvl_sync_estimator(size_t i)
{
	return i < sizeof(estimators) / sizeof(*estimators) - 1 ? &estimators[i]->info : NULL;
}

/* ---- resulting bounds ---- */

static void widen(struct cvl_clock_sync *c, uint64_t tick)
{
	int64_t bound;

	cvl_map_time(c->map, (struct cvl_tick){ tick }, &bound);
	c->bound_min = bound < c->bound_min ? bound : c->bound_min;
	c->bound_max = bound > c->bound_max ? bound : c->bound_max;
}

void sync_bounds(struct cvl_clock_sync *c, struct cvl_tick first, struct cvl_tick last)
{
	struct cvl_knot k;
	size_t n;

	if (!c->map)
		return;
	n = cvl_map_ends(c->map, &k, NULL);
	c->bound_min = c->bound_max = k.bound_ns;
	for (size_t i = 1; i < n; i++)
		if (!cvl_map_knot(c->map, i, &k, NULL))
			widen(c, k.tick.count);
	widen(c, first.count);
	widen(c, last.count);
	c->bound_median = cvl_map_bound_median(c->map, first, last);
}

static void find_bounds(struct cvl_clock_sync *c, const struct sync_clock *clock)
{
	struct cvl_knot first, last;

	if (!c->map)
		return;
	cvl_map_ends(c->map, &first, &last);
	if (clock->seen)
		sync_bounds(c, (struct cvl_tick){ clock->first }, (struct cvl_tick){ clock->last });
	else
		sync_bounds(c, first.tick, last.tick);
}

/* ---- the problem ---- */

static void problem_free(struct sync_problem *p)
{
	for (size_t i = 0; p->clock && i < p->n_clocks; i++)
		cvl_map_free(p->clock[i].nominal);
	for (size_t i = 0; p->clock && i < p->n_clocks; i++)
		free(p->clock[i].slip);
	free(p->clock);
	free(p->message);
	spill_free(&p->marks);
	free(p->align);
	free(p->source);
}

static int set_drift(struct sync_problem *p, const struct cvl_session *session,
		     const struct cvl_sync_opts *o, struct cvl_error *err)
{
	for (size_t i = 0; i < p->n_clocks; i++) {
		p->clock[i].drift_ppm = o->max_drift_ppm > 0 ?
						o->max_drift_ppm :
						cvl_clock_drift_ppm(cvl_session_clock(session, i));
		p->clock[i].has_wander = o->has_wander;
		p->clock[i].wander_ppb_s = o->wander_ppb_s;
	}
	for (size_t k = 0; k < o->n_drift; k++) {
		int c = cvl_session_find(session, o->drift[k].clock);

		if (c < 0)
			return cvl_hint(err, CVL_HINT_NAMES,
					cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
						 "drift limit for unknown clock '%s'",
						 o->drift[k].clock));
		for (size_t i = 0; i < p->n_clocks; i++)
			if (p->clock[i].same_as == p->clock[c].same_as ||
			    cvl_session_clock(session, i)->first_epoch == c)
				p->clock[i].drift_ppm = o->drift[k].ppm;
	}
	return 0;
}

/* What a receiver adds is the same in all epochs of its clock. */
static void set_biases(struct sync_problem *p, const struct cvl_session *session,
		       const struct cvl_calibration *cal)
{
	for (size_t k = 0; cal && k < cal->n; k++)
		for (size_t i = 0; i < p->n_clocks; i++)
			if (!strcmp(cvl_session_clock(session, i)->clock, cal->clock[k].clock)) {
				struct sync_clock *c = &p->clock[p->clock[i].same_as];

				c->bias_ns = llround(cal->clock[k].late_ns);
				c->bias_bound_ns = llround(ceil(cal->clock[k].bound_ns));
			}
}

static int set_up(struct sync_problem *p, const struct cvl_session *session,
		  const struct cvl_sync_opts *o, struct cvl_error *err)
{
	p->n_clocks = cvl_session_clocks(session);
	p->clock = calloc(p->n_clocks + 1, sizeof(*p->clock));
	if (!p->clock)
		return cvl_no_memory(err);
	for (size_t i = 0; i < p->n_clocks; i++) {
		const struct cvl_clock *c = cvl_session_clock(session, i);
		unsigned __int128 ns =
			((unsigned __int128)c->resolution * 1000000000u + c->rate_hz - 1) /
			c->rate_hz;

		p->clock[i] = (struct sync_clock){
			.name = c->name,
			.nominal = cvl_session_nominal(session, i),
			.rate_hz = c->rate_hz,
			.resolution_ns = ns > INT32_MAX ? INT32_MAX : (int64_t)ns,
			.same_as = c->same_as < 0 ? i : (size_t)c->same_as,
			.start_bound_ns = c->start_bound_ns,
			.settable = cvl_clock_counter(c) == CVL_SETTABLE,
			.host = c->host,
			.host_bound_ns = c->host_bound_ns,
		};
		if (!p->clock[i].nominal)
			return cvl_no_memory(err);
		if (c->start_unix_ns) {
			p->clock[i].start_x = sync_x(p, i, c->base_tick);
			if (!c->start_bound_ns)
				p->clock[i].start_bound_ns = o->start_bound_ns;
		}
	}
	set_biases(p, session, o->calibration);
	p->sender = o->sender;
	p->reference = -1;
	p->epoch_unix_ns = cvl_session_epoch(session);
	if (o->reference) {
		p->reference = cvl_session_find(session, o->reference);
		if (p->reference < 0)
			return cvl_hint(err, CVL_HINT_NAMES,
					cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
						 "unknown reference clock '%s'", o->reference));
	}
	return set_drift(p, session, o, err);
}

/* Aliases share what was observed of their clock. */
static void share_aliases(struct sync_problem *p)
{
	for (size_t i = 0; i < p->n_clocks; i++) {
		const struct sync_clock *c = &p->clock[p->clock[i].same_as];

		p->clock[i].first = c->first;
		p->clock[i].last = c->last;
		p->clock[i].seen = c->seen;
	}
}

/*
 * Drift limits do not hold across a slip: where marks tie the clocks, messages of those that
 * slipped are left out.
 */
static void leave_out_slipped(struct sync_problem *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_messages; i++) {
		const struct sync_message *m = &p->message[i];

		if (p->clock[p->clock[m->from].same_as].n_slips ||
		    p->clock[p->clock[m->to].same_as].n_slips)
			p->unmatched++;
		else
			p->message[kept++] = *m;
	}
	p->n_messages = kept;
}

static int no_estimator(const char *name, struct cvl_error *err)
{
	char names[200] = "";

	for (size_t i = 0; estimators[i]; i++) {
		size_t n = strlen(names);

		snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "",
			 estimators[i]->info.name);
	}
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			"unknown estimator '%s'; expected one of %s", name, names);
}

/*
 * Whether all streams are of one clock, whose time is then the timeline: nothing to tie.
 */
static bool is_one_clock(const struct sync_problem *p)
{
	for (size_t i = 1; i < p->n_clocks; i++)
		if (p->clock[i].same_as != p->clock[0].same_as)
			return false;
	return p->n_clocks > 0;
}

static bool has_rules(const struct cvl_sync_opts *o)
{
	return o->n_match || o->recalled || o->n_pulse;
}

static int choose_estimator(const struct sync_problem *p, const struct cvl_sync_opts *o,
			    const char *name, const struct estimator **out, struct cvl_error *err)
{
	*out = NULL;
	for (size_t i = 0; estimators[i] && !*out; i++)
		if (name ? !strcmp(name, estimators[i]->info.name) :
			   estimators[i]->info.messages == !p->n_marks)
			*out = estimators[i];
	if (!*out)
		return no_estimator(name, err);
	if (is_one_clock(p) && !p->n_marks && !has_rules(o) && !name)
		return 0;
	if (!p->n_marks && !p->n_messages && !p->ambiguous)
		return cvl_hint(err, CVL_HINT_RULES,
				cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
					 "nothing ties these clocks: no beacons are stored, and %s",
					 !has_rules(o) ?
						 "no rule was given to derive observations" :
						 "the rules given found nothing"));
	if ((*out)->info.messages && !p->n_messages && !p->ambiguous)
		return cvl_hint(err, CVL_HINT_MESSAGES,
				cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
					 "the estimator %s needs messages, and there are none",
					 (*out)->info.name));
	if (!(*out)->info.messages && !p->n_marks)
		return cvl_hint(
			err, CVL_HINT_PULSES,
			cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				 "the estimator %s needs pulses or beacons, and there are none",
				 (*out)->info.name));
	return 0;
}

/* ---- after the estimator ---- */

/* Estimators for messages alone ignore slips. */
static void doubt_slipped(const struct sync_problem *p, struct sync_solution *s)
{
	for (size_t c = 0; c < p->n_clocks; c++) {
		size_t n = p->clock[p->clock[c].same_as].n_slips;

		if (n && s->clock[c].verdict == CVL_GOOD)
			sync_reason(
				&s->clock[c], CVL_DEGRADED,
				"its count is unsure at %zu places, and messages do not show by how much",
				n);
	}
}

/*
 * A message that arrives before it was sent, by more than the bounds allow, proves a bound wrong.
 */
static void check_causality(const struct sync_problem *p, struct sync_solution *s)
{
	for (size_t c = 0; c < p->n_clocks; c++) {
		uint64_t broken = 0, all = 0;
		int64_t worst = 0;

		for (size_t i = 0; i < p->n_messages; i++) {
			const struct sync_message *m = &p->message[i];
			const struct cvl_map *from = s->clock[m->from].map,
					     *to = s->clock[m->to].map;
			int64_t a, b, early, t;

			if ((m->from != c && m->to != c) || !from || !to ||
			    s->clock[m->from].group != s->clock[m->to].group)
				continue;
			all++;
			t = cvl_map_time(from, (struct cvl_tick){ m->sent }, &a).ns;
			early = t - cvl_map_time(to, (struct cvl_tick){ m->received }, &b).ns;
			a = cvl_add_sat(a, s->clock[m->from].reference_ns);
			b = cvl_add_sat(b, s->clock[m->to].reference_ns);
			early -= cvl_add_sat(cvl_add_sat(a, b),
					     p->clock[m->from].resolution_ns +
						     p->clock[m->to].resolution_ns + 2);
			if (early > 0) {
				broken++;
				worst = early > worst ? early : worst;
			}
		}
		if (broken && s->clock[c].verdict == CVL_GOOD && all)
			sync_reason(
				&s->clock[c], CVL_DEGRADED,
				"%llu of %llu messages arrive before they were sent, by up to %lld ns more than the bounds "
				"allow",
				(unsigned long long)broken, (unsigned long long)all,
				(long long)worst);
	}
}

static char *settings_text(const struct cvl_sync_opts *o, const struct rule_set *rules,
			   const struct sync_problem *p)
{
	json_t *match = rules_json(rules), *drift = json_object(), *root;
	json_t *late = json_object();
	char *text;

	for (size_t i = 0; i < p->n_clocks; i++)
		json_object_set_new(drift, p->clock[i].name, json_real(p->clock[i].drift_ppm));
	for (size_t i = 0; i < p->n_clocks; i++)
		if (p->clock[i].bias_ns)
			json_object_set_new(late, p->clock[i].name,
					    json_integer(p->clock[i].bias_ns));
	root = json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:I, s:I}", "late_ns", late,
			 "asked", settings_asked(o), "match", match, "pulse", settings_pulses(o),
			 "beacon_period_ns",
			 (json_int_t)(o->beacon_period_ns ? o->beacon_period_ns : 1000000000),
			 "max_drift_ppm", drift, "wander_ppb_s",
			 o->has_wander ? json_real(o->wander_ppb_s) : json_null(), "messages",
			 (json_int_t)p->n_messages, "unmatched", (json_int_t)p->unmatched,
			 "duplicates", (json_int_t)p->duplicates);
	if (root)
		json_object_set_new(root, "ambiguous", json_integer((json_int_t)p->ambiguous));
	text = root ? json_dumps(root, 0) : NULL;
	json_decref(root);
	return text;
}

static int new_sync(struct cvl_sync **out, const struct cvl_session *session,
		    const struct sync_problem *p, struct cvl_error *err)
{
	struct cvl_sync *sync = calloc(1, sizeof(*sync));

	*out = sync;
	if (sync)
		sync->clock = calloc(p->n_clocks + 1, sizeof(*sync->clock));
	if (!sync || !sync->clock)
		return cvl_no_memory(err);
	snprintf(sync->session, sizeof(sync->session), "%s", cvl_session_uuid(session));
	sync->epoch_unix_ns = cvl_session_epoch(session);
	for (; sync->n < p->n_clocks; sync->n++) {
		struct cvl_clock_sync *c = &sync->clock[sync->n];

		c->clock = strdup(p->clock[sync->n].name);
		if (!c->clock)
			return cvl_no_memory(err);
		sync_reason(c, CVL_UNSYNCHRONISED, "nothing ties it to the reference");
	}
	return 0;
}

void cvl_observations_free(struct cvl_observations *obs)
{
	if (!obs)
		return;
	rules_free(&obs->rules);
	problem_free(&obs->p);
	free(obs);
}

int observations_new(struct cvl_observations **out, struct cvl_session *session,
		     const struct cvl_sync_opts *opts, struct cvl_error *err)
{
	struct cvl_observations *obs = calloc(1, sizeof(*obs));
	int rc = 0;

	*out = NULL;
	if (!obs)
		return cvl_no_memory(err);
	obs->opts = *opts;
	obs->session = session;
	for (size_t i = 0; i < opts->n_match && !rc; i++)
		rc = rules_add(&obs->rules, opts->match[i], err);
	if (!rc && opts->recalled)
		rc = rules_recall(&obs->rules, opts->recalled, err);
	if (!rc)
		rc = set_up(&obs->p, session, opts, err);
	obs->p.progress = opts->progress;
	obs->p.jobs = opts->jobs;
	if (rc)
		cvl_observations_free(obs);
	else
		*out = obs;
	return rc;
}

void observations_complete(struct cvl_observations *obs)
{
	share_aliases(&obs->p);
	if (obs->p.n_marks)
		leave_out_slipped(&obs->p);
}

int cvl_observe(struct cvl_observations **out, struct cvl_session *session,
		const struct cvl_sync_opts *opts, struct cvl_error *err)
{
	int rc = observations_new(out, session, opts, err);

	if (!rc)
		rc = observe(&(*out)->p, session, opts, &(*out)->rules, err);
	if (!rc) {
		observations_complete(*out);
		return 0;
	}
	cvl_observations_free(*out);
	*out = NULL;
	return rc;
}

bool cvl_observations_mark(const struct cvl_observations *obs, size_t clock, size_t back,
			   struct cvl_tick *tick)
{
	const struct sync_problem *p = &obs->p;

	for (size_t i = p->n_marks; i-- > 0;)
		if (p->clock[p->mark[i].clock].same_as == p->clock[clock].same_as && !back--) {
			tick->count = p->mark[i].tick;
			return true;
		}
	return false;
}

#define HORIZON_NS 60e9

/*
 * A message that is later by D narrows a bound only if D times the rate's limit is less than the
 * bound.
 */
static int64_t horizon_of_messages(const struct sync_problem *p, const struct cvl_sync *sync)
{
	double most = 0;

	for (size_t i = 0; i < sync->n; i++)
		if (sync->clock[i].map)
			most = fmax(most, (double)sync->clock[i].bound_median /
						  (fmax(p->clock[i].drift_ppm, 1) * 1e-6));
	return llround(fmin(most, HORIZON_NS));
}

static int solve(struct cvl_sync *sync, const struct cvl_observations *obs,
		 const struct estimator *e, struct observations_found *found, struct cvl_error *err)
{
	const struct sync_problem *p = &obs->p;
	struct sync_solution s = { .clock = sync->clock, .noise = found->noise };
	int rc = sync_go_on(p, err);

	if (!rc)
		rc = e->tracker ? marks_solve(p, &s, e->tracker, err) : e->solve(p, &s, err);

	if (!rc && e->tracker && p->n_messages)
		rc = interval_join(p, &s, err);
	if (rc)
		return rc;
	if (!e->tracker)
		doubt_slipped(p, &s);
	check_causality(p, &s);
	for (size_t i = 0; i < sync->n; i++)
		find_bounds(&sync->clock[i], &p->clock[i]);
	if (!e->tracker)
		s.horizon_ns = horizon_of_messages(p, sync);
	sync->estimator = strdup(e->info.name);
	sync->reference = strdup(s.reference);
	snprintf(sync->note, sizeof(sync->note), "%s", s.note);
	sync->settings = settings_text(&obs->opts, &obs->rules, p);
	found->horizon_ns = s.horizon_ns;
	return sync->estimator && sync->reference && sync->settings ? 0 : cvl_no_memory(err);
}

int observations_solve(struct cvl_sync **out, const struct cvl_observations *obs,
		       const char *estimator, struct observations_found *found,
		       struct cvl_error *err)
{
	const struct estimator *e;
	int rc = choose_estimator(&obs->p, &obs->opts, estimator, &e, err);

	*out = NULL;
	if (!rc)
		rc = new_sync(out, obs->session, &obs->p, err);
	if (!rc)
		rc = solve(*out, obs, e, found, err);
	if (rc) {
		cvl_sync_free(*out);
		*out = NULL;
	}
	return rc;
}

int cvl_sync_solve(struct cvl_sync **out, const struct cvl_observations *obs, const char *estimator,
		   struct cvl_error *err)
{
	struct observations_found found = { 0 };

	return observations_solve(out, obs, estimator, &found, err);
}

int cvl_sync_advise(struct cvl_advice **advice, const struct cvl_observations *obs,
		    const char *estimator, double wanted_ns, struct cvl_error *err)
{
	const struct estimator *e;
	int rc = choose_estimator(&obs->p, &obs->opts,
				  estimator ? estimator : estimators[0]->info.name, &e, err);

	*advice = NULL;
	if (!rc && !e->info.messages)
		rc = cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"advice is about messages, and the estimator %s does not work on them",
			e->info.name);
	return rc ? rc : advise(advice, &obs->p, e, wanted_ns, err);
}

int cvl_sync_residuals(const struct cvl_sync *sync, const struct cvl_observations *obs,
		       size_t clock, void (*see)(void *ctx, struct cvl_time t, double residual_ns),
		       void *ctx, struct cvl_error *err)
{
	return sync_residuals(&obs->p, sync, clock, see, ctx, err);
}

int cvl_sync_run(struct cvl_sync **out, struct cvl_session *session,
		 const struct cvl_sync_opts *opts, struct cvl_error *err)
{
	struct cvl_observations *obs;
	int rc = cvl_observe(&obs, session, opts, err);

	*out = NULL;
	if (!rc)
		rc = cvl_sync_solve(out, obs, opts->estimator, err);
	cvl_observations_free(obs);
	return rc;
}
