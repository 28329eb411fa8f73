/* SPDX-License-Identifier: MIT */
#include "store/maps.h"
#include "sync/marks_internal.h"
#include "sync/turns.h"

#include <coeval/time.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps ---- */

struct map_maker {
	const struct marks *w;
	size_t clock;
	const struct track *track, *reference; /* reference: of the time used, or NULL */
	const struct track
		*via; /* of the source heard most, if its time is not the timeline itself */
	struct cvl_knot *knot;
	size_t n;
	double rounding;
	double bias_bound; /* of its calibration */
};

/* The source whose time the clock has at @x; NULL: the timeline itself. */
static const struct track *source_at(const struct map_maker *m, int64_t x)
{
	const struct marks *w = m->w;
	const struct marks_tie *t = &w->clock[w->p->clock[m->clock].same_as];

	if (m->via || t->other == SIZE_MAX || (x >= t->root_first && x <= t->root_last))
		return m->via;
	return &w->source[t->other].track;
}

static void add_knot(struct map_maker *m, int64_t x_wanted)
{
	const struct sync_problem *p = m->w->p;
	uint64_t tick = sync_tick(p, m->clock, x_wanted);
	int64_t x = sync_x(p, m->clock, tick), time;
	struct cvl_knot *k = &m->knot[m->n];
	const struct track *via = source_at(m, x);
	double bound, offset = track_at(m->track, x, &bound), whole;

	if (m->n && tick <= k[-1].tick.count)
		return;
	time = cvl_add_sat(x, m->track->base);
	if (via) {
		/* the error of its sender's time is not jitter: smoothing does not reduce it */
		double common;

		track_at(via, track_inverse(via, time + (int64_t)llround(offset)), &common);
		bound = hypot(bound, common);
	}
	if (m->reference) {
		int64_t at = track_inverse(m->reference, time + (int64_t)llround(offset));
		double other;

		/*
		 * near x_ref, T_ref = x_ref + base + offset: the remainder is carried over at
		 * slope 1
		 */
		offset += track_span(cvl_add_sat(time, -at), m->reference->base) -
			  track_at(m->reference, at, &other);
		time = at;
		bound = hypot(bound, other);
	}
	bound = hypot(bound, m->bias_bound);
	whole = floor(offset);
	k->tick.count = tick;
	k->time.ns = cvl_add_sat(time, (int64_t)whole);
	k->frac = (uint32_t)((offset - whole) * 4294967295.0);
	k->bound_ns = (int64_t)fmin(ceil(bound + m->rounding), 9e18);
	if (m->n &&
	    (k->time.ns < k[-1].time.ns || (k->time.ns == k[-1].time.ns && k->frac < k[-1].frac))) {
		/* an online tracker may step back in time; the map holds the time instead */
		k->bound_ns += k[-1].time.ns - k->time.ns + 1;
		k->time = k[-1].time;
		k->frac = k[-1].frac;
	}
	m->n++;
}

/*
 * Knots of the clock's track, plus those of the reference's in between, and beyond either end: there
 * the clock is forecast, but the reference is known.
 */
static void add_knots(struct map_maker *m)
{
	const struct track *t = m->track, *r = m->reference;
	size_t j = 0;

	for (size_t i = 0; i <= t->n; i++) {
		for (; r && j < r->n; j++) {
			int64_t time = r->knot[j].x + r->base + (int64_t)r->knot[j].offset;
			int64_t x = track_inverse(t, time);

			if (i < t->n && x >= t->knot[i].x)
				break;
			add_knot(m, x);
		}
		if (i < t->n)
			add_knot(m, t->knot[i].x);
	}
}

/* Growth of the clock's bound from knots of the reference beyond its own. */
static void steepen(const struct map_maker *m, struct cvl_map_spec *spec)
{
	const struct track *t = m->track;
	const int64_t first = sync_x(m->w->p, m->clock, m->knot[0].tick.count),
		      last = sync_x(m->w->p, m->clock, m->knot[m->n - 1].tick.count);

	spec->before.drift_ppb +=
		spec->before.wander_ppb_s * 1e-9 * fmax(track_span(t->knot[0].x, first), 0);
	spec->after.drift_ppb +=
		spec->after.wander_ppb_s * 1e-9 * fmax(track_span(last, t->knot[t->n - 1].x), 0);
}

/* Rate of a clock relative to another one. */
static double against(double rate_ppb, double reference_ppb)
{
	return (rate_ppb - reference_ppb) / (1 + reference_ppb * 1e-9);
}

static int make_map(const struct marks *w, size_t clock, struct cvl_clock_sync *out)
{
	const struct sync_problem *p = w->p;
	size_t c = p->clock[clock].same_as;
	const struct track *t = &w->clock[c].track, *ref = NULL;
	struct cvl_map_spec spec = { .rate_hz = p->clock[clock].rate_hz,
				     .kind = CVL_BOUND_STATISTICAL,
				     .before = t->report.before,
				     .after = t->report.after };
	struct map_maker m = {
		.w = w, .clock = clock, .track = t, .bias_bound = (double)p->clock[c].bias_bound_ns
	};
	int rc;

	if (w->clock[c].via != w->root)
		m.via = &w->source[w->clock[c].via].track;
	if (p->reference >= 0) {
		ref = &w->clock[p->clock[p->reference].same_as].track;
		m.reference = ref;
		/*
		 * times read off the reference were rounded like its marks, by half a step on
		 * average
		 */
		m.rounding = (double)((p->clock[p->reference].resolution_ns + 1) / 2);
	}
	m.knot = calloc(t->n + (ref ? ref->n : 0) + 1, sizeof(*m.knot));
	if (!m.knot)
		return cvl_no_memory(w->err);
	m.rounding += 1; /* whole ns */
	add_knots(&m);
	out->rate_ppb = t->report.rate_ppb;
	out->rate_bound_ppb = t->report.rate_bound_ppb;
	if (ref) {
		spec.before.rate_ppb = against(spec.before.rate_ppb, ref->report.before.rate_ppb);
		spec.after.rate_ppb = against(spec.after.rate_ppb, ref->report.after.rate_ppb);
		steepen(&m, &spec);
		spec.before.drift_ppb += ref->report.before.drift_ppb;
		spec.after.drift_ppb += ref->report.after.drift_ppb;
		spec.before.wander_ppb_s += ref->report.before.wander_ppb_s;
		spec.after.wander_ppb_s += ref->report.after.wander_ppb_s;
		out->rate_ppb = against(out->rate_ppb, ref->report.rate_ppb);
		out->rate_bound_ppb = hypot(out->rate_bound_ppb, ref->report.rate_bound_ppb);
	}
	spec.knots = m.knot;
	spec.n = m.n;
	rc = cvl_map_new(&out->map, &spec, w->err);
	free(m.knot);
	if (!rc)
		maps_lay_down(&out->map);
	spill_rest(&t->knots);
	return rc;
}

/* ---- verdicts ---- */

/* Mean rate between the first and last mark, unless the tracker gave a better one. */
static void find_rate(struct marks_tie *t)
{
	struct track_report *r = &t->track.report;
	double span = track_span(t->last, t->first), a, b, slope;

	if (r->rate_bound_ppb > 0 || t->track.n < 2 || !(span > 0))
		return;
	slope = (track_at(&t->track, t->last, &b) - track_at(&t->track, t->first, &a)) / span;
	r->rate_ppb = track_rate_ppb(slope);
	r->rate_bound_ppb = hypot(a, b) / span * 1e9;
}

static void tell_good(const struct marks *w, const struct marks_tie *t, struct cvl_clock_sync *out)
{
	const struct track_report *r = &t->track.report;
	char wander[160] = "", sd[CVL_TIME_TEXT];

	if (r->wander_ns >= 1) {
		cvl_bound_text(sd, llround(r->wander_ns));
		snprintf(
			wander, sizeof(wander),
			"; its reference wanders by %s within %.2g s; the bound holds while it goes on as in these marks",
			sd, r->wander_s);
	}
	sync_reason(out, CVL_GOOD, "%" PRIu64 " marks of %s%s%s%s%s", r->used,
		    w->p->source[t->via].name, t->sources > 1 ? " and others" : "",
		    *out->decided_by ? "; which ones: by " : "", out->decided_by, wander);
}

/* Whether the pulses of a clock fit no stated period. False: they do, or it heard none. */
static bool fits_nothing(const struct marks *w, size_t c, struct cvl_clock_sync *out)
{
	const struct sync_problem *p = w->p;
	char is[CVL_TIME_TEXT], stated[CVL_TIME_TEXT];

	for (size_t s = 0; s < w->n_pulse_sources; s++) {
		const struct pulse_count *k = marks_count(w, c, s);
		double times = k->period_ns / (double)p->source[s].period_ns;
		const char *line = strchr(p->source[s].name, ' ') + 1; /* after "pulse" */

		sync_period_text(stated, (double)p->source[s].period_ns);
		sync_period_text(is, k->period_ns);
		if (k->finding == PULSES_RANDOM)
			sync_reason(out, CVL_UNSYNCHRONISED,
				    "the edges of %s come at no fixed period; %s was stated", line,
				    stated);
		else if (k->finding == PULSES_OTHER && fabs(times - round(times)) < 0.002 * times)
			sync_reason(out, CVL_UNSYNCHRONISED,
				    "the edges of %s are %s apart, %.0f times the %s stated", line,
				    is, times, stated);
		else if (k->finding == PULSES_OTHER &&
			 fabs(1 / times - round(1 / times)) < 0.002 / times)
			sync_reason(
				out, CVL_UNSYNCHRONISED,
				"the edges of %s are %s apart, a part (1/%.0f) of the %s stated",
				line, is, 1 / times, stated);
		else if (k->finding == PULSES_OTHER)
			sync_reason(out, CVL_UNSYNCHRONISED,
				    "the edges of %s are %s apart, not %s as stated", line, is,
				    stated);
		else
			continue;
		return true;
	}
	return false;
}

/* Report that more than one whole number of periods fits. */
static void say_ambiguous(const struct marks *w, size_t c, struct cvl_clock_sync *out)
{
	const struct marks_tie *t = &w->clock[c];
	char period[CVL_TIME_TEXT];

	sync_period_text(period, (double)t->turn_ns);
	out->turn_ns = t->turn_ns;
	sync_reason(
		out, CVL_AMBIGUOUS,
		"ambiguous by whole periods of %s: nothing decides which pulses of %s it heard. Any of these would: "
		"when captures began, an edge that all saw, messages, beacons",
		period, strchr(w->p->source[t->via].name, ' ') + 1);
}

/* The worst pulse count of those that tie it. */
static const struct pulse_count *count_of(const struct marks *w, size_t c)
{
	const struct pulse_count *worst = NULL;

	for (size_t s = 0; s < w->n_pulse_sources; s++) {
		const struct pulse_count *k = marks_count(w, c, s);

		if (w->source[s].tied && (k->aside || k->too_fast))
			worst = k;
	}
	return worst;
}

static void judge(const struct marks *w, size_t c, struct cvl_clock_sync *out)
{
	const struct pulse_count *count = count_of(w, c);
	char left_out[100];
	const struct sync_problem *p = w->p;
	const struct marks_tie *t = &w->clock[c];
	const struct track_report *r = &t->track.report;
	double share = t->periods ? 1 - (double)t->marks / (double)t->periods : 0;
	double before = track_span(t->first, sync_x(p, c, p->clock[c].first)),
	       after = track_span(sync_x(p, c, p->clock[c].last), t->last),
	       longest = fmax(before, after);
	unsigned jumps = 0;

	for (size_t s = 0; s < p->n_sources; s++)
		jumps += w->source[s].tied ? w->jumps[s] : 0;
	if (t->decided_by)
		turns_text(t->decided_by, out->decided_by, sizeof(out->decided_by));
	if (t->group)
		say_ambiguous(w, c, out);
	else if (p->clock[c].went_back)
		sync_reason(out, CVL_DEGRADED,
			    "its ticks go back %" PRIu64
			    " times: times before and after such a place cannot be told apart",
			    p->clock[c].went_back);
	else if (count && count->too_fast)
		sync_reason(
			out, CVL_DEGRADED,
			"its rate is %.0f ppm off by these pulses, more than the %.0f ppm stated",
			fabs(count->rate_ppm), p->clock[c].drift_ppm);
	else if (count && count->aside)
		sync_reason(
			out, CVL_DEGRADED,
			"%zu pulses follow pauses of %.0f s or more, in which an unknown number "
			"was missed: left out, and the bound there is a forecast",
			count->aside, count->pause_ns * 1e-9);
	else if (t->contradicted)
		sync_reason(
			out, CVL_DEGRADED,
			"%s contradict the other evidence of which pulses it heard, and were left out",
			turns_text(t->contradicted, left_out, sizeof(left_out)));
	else if (t->unaware)
		sync_reason(out, CVL_DEGRADED,
			    "its count is unsure at %zu places, which this estimator ignores; "
			    "smooth, lag and kalman handle them",
			    t->unaware);
	else if (r->correlation > CORRELATION_DEGRADED)
		sync_reason(
			out, CVL_DEGRADED,
			"its rate was unstable, or what it heard drifted: successive residuals are "
			"correlated by %.2f",
			r->correlation);
	else if (t->jumps)
		sync_reason(out, CVL_DEGRADED,
			    "it alone saw numbers jump %u times: its clock has jumped", t->jumps);
	else if (jumps)
		sync_reason(out, CVL_DEGRADED, "the numbers of what it heard jump %u times", jumps);
	else if (!t->sure)
		sync_reason(out, CVL_DEGRADED,
			    "what it heard came from a sender whose own clock was unstable");
	else if (r->steps)
		sync_reason(
			out, CVL_DEGRADED,
			"%u sudden changes of its rate or phase; between the marks around them its "
			"time is uncertain",
			r->steps);
	else if ((double)r->rejected + (double)t->bad >
		 REJECTED_DEGRADED * (double)(r->used + r->rejected + t->bad))
		sync_reason(out, CVL_DEGRADED, "%" PRIu64 " of %" PRIu64 " marks were rejected",
			    r->rejected + t->bad, r->used + r->rejected + t->bad);
	else if (share > MISSED_DEGRADED)
		sync_reason(out, CVL_DEGRADED, "%.0f %% of the marks were missed", 100 * share);
	else if (longest > HOLDOVER_PERIODS * (double)p->source[w->root].period_ns)
		sync_reason(
			out, CVL_DEGRADED,
			"it heard nothing for %.0f s at the %s of its records: there the bound is a "
			"forecast",
			longest * 1e-9, before > after ? "beginning" : "end");
	else
		tell_good(w, t, out);
}

static int finish(struct marks *w, size_t clock, struct cvl_clock_sync *out)
{
	const struct sync_problem *p = w->p;
	size_t c = p->clock[clock].same_as;
	struct marks_tie *t = &w->clock[c];
	uint64_t heard = w->begin[c + 1] - w->begin[c];
	int rc;

	if (!t->tied) {
		if (!heard)
			sync_reason(out, CVL_UNSYNCHRONISED, "it heard no pulse or beacon");
		else if (!fits_nothing(w, c, out))
			sync_reason(out, CVL_UNSYNCHRONISED,
				    "the %" PRIu64
				    " marks it heard are too few, fit no clock, or tie it to "
				    "nothing that the reference heard",
				    heard);
		return 0;
	}
	find_rate(t);
	rc = make_map(w, clock, out);
	if (rc)
		out->rate_ppb = out->rate_bound_ppb = 0;
	if (rc == CVL_E_RANGE || rc == CVL_E_ORDER) {
		sync_reason(out, CVL_UNSYNCHRONISED, "no map fits the %" PRIu64 " marks it heard",
			    heard);
		return 0;
	}
	if (rc)
		return rc;
	out->used = t->track.report.used;
	out->rejected = t->track.report.rejected + t->bad + p->clock[c].vague;
	out->residuals = t->track.report.residuals;
	out->group = t->group;
	out->reference_ns = p->source[t->via].error_ns;
	out->reference_is_max = p->source[t->via].error_is_max;
	judge(w, c, out);
	return 0;
}

/* Note pulses heard by several clocks whose sources are not described. */
static void note_references(const struct marks *w, struct sync_solution *s)
{
	const struct sync_problem *p = w->p;

	for (size_t i = 0; i < w->n_pulse_sources; i++) {
		const char *line = strchr(p->source[i].name, ' ') + 1;
		size_t n = 0;

		for (size_t c = 0; c < p->n_clocks; c++)
			n += w->clock[c].tied && w->clock[c].via == i;
		if (n < 2 || p->source[i].error_ns)
			continue;
		snprintf(
			s->note, sizeof(s->note),
			"%s of %zu clocks is taken as one wire, or as references that agree exactly; if each clock has "
			"its own, state their error, as in PPS:rise:1s:+-300ns",
			line, n);
		return;
	}
}

/*
 * Make the time of clock @ref the timeline: its group becomes the timeline's, the former one
 * another.
 */
static void regroup(struct marks *w, size_t ref)
{
	const uint32_t own = w->clock[ref].group;

	for (size_t c = 0; own && c < w->p->n_clocks; c++) {
		struct marks_tie *t = &w->clock[c];

		if (t->group == own) {
			t->group = 0;
		} else if (!t->group) {
			t->group = own;
			t->turn_ns = w->clock[ref].turn_ns;
		}
	}
}

int marks_finish(struct marks *w, struct sync_solution *s)
{
	const struct sync_problem *p = w->p;
	size_t ref = p->reference < 0 ? SIZE_MAX : p->clock[p->reference].same_as;
	int rc = 0;

	if (ref != SIZE_MAX)
		regroup(w, ref);

	if (ref != SIZE_MAX)
		snprintf(s->reference, sizeof(s->reference), "%s", p->clock[ref].name);
	else
		snprintf(s->reference, sizeof(s->reference), "%s", p->source[w->root].name);
	if (ref != SIZE_MAX && w->clock[ref].tied)
		find_rate(&w->clock[ref]);
	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		if (p->clock[c].same_as == ref)
			rc = sync_reference_map(p, s, c, w->err);
		else if (ref != SIZE_MAX && !w->clock[ref].tied)
			sync_reason(&s->clock[c], CVL_UNSYNCHRONISED,
				    "nothing ties the reference %s", p->clock[ref].name);
		else
			rc = finish(w, c, &s->clock[c]);
	}
	note_references(w, s);
	return rc;
}
