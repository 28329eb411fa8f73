/* SPDX-License-Identifier: MIT */
#include <coeval/power.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/power/internal.h"

int power_not_tied(const struct power_study *s, size_t a, size_t b)
{
	struct cvl_session *session = cvl_timeline_session(s->tl);

	return cvl_fail(
		s->err, CVL_E_NO, CVL_NO_OFFSET,
		"%s: intervals are marked on clock %s and power is read on %s, and nothing ties the two; synchronise the session first",
		cvl_session_path(session), cvl_session_clock(session, a)->name,
		cvl_session_clock(session, b)->name);
}

/* ---- sums ---- */

void cvl_power_sum_add(struct cvl_power_sum *sum, const struct cvl_power_interval *span)
{
	double ns = (double)(span->end.ns - span->begin.ns);

	sum->n++;
	sum->gaps += span->gaps > 0;
	sum->ns += ns;
	if (!span->energy.samples || span->bound == CVL_BOUND_UNKNOWN)
		return;
	if (!sum->sampled++ || span->peak_w > sum->peak_w) {
		sum->peak_w = span->peak_w;
		sum->peak_at = span->peak_at;
	}
	sum->sampled_ns += ns;
	sum->bound_ns += (double)span->bound;
	sum->stretch_j += span->stretch_j;
	energy_sum_add(&sum->energy, &span->energy);
}

struct cvl_power_figures cvl_power_figures(const struct cvl_power_sum *sum, double rounded_w)
{
	double seconds = sum->energy.covered_ns * 1e-9;
	struct cvl_power_figures f = { .joule = sum->energy.joule };

	f.joule_half = energy_half(&sum->energy) + sum->stretch_j + 0.5 * fabs(rounded_w) * seconds;
	f.watt = seconds > 0 ? f.joule / seconds : 0;
	f.watt_half =
		seconds > 0 ? (f.joule_half + fabs(f.watt) * sum->bound_ns * 1e-9) / seconds : 0;
	f.covered = sum->sampled_ns > 0 ? fmin(1, sum->energy.covered_ns / sum->sampled_ns) : 0;
	return f;
}

/* ---- the analysis ---- */

/* Unknown span names can be reported only at the end. */
static int check_spans(const struct power_study *s)
{
	for (size_t i = 0; s->selection && i < 2 && s->selector[i]; i++) {
		const struct cvl_selector *sel = s->selector[i];

		if (sel->span && !sel->line && !sel->event && !(s->seen >> i & 1))
			return cvl_fail(s->err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
					"%s: unknown line, event or span '%s'",
					cvl_session_path(cvl_timeline_session(s->tl)), sel->text);
	}
	return 0;
}

static int record(struct power_study *s, const struct cvl_slice *sl, size_t i)
{
	int rc = s->selection ? power_mark(s, sl, i) : 0;

	if (sl->time[i].ns > s->latest.ns)
		s->latest = sl->time[i];
	if (sl->batch->kind[i] != CVL_SAMPLE && sl->batch->kind[i] != CVL_GAP)
		return rc;
	for (size_t k = 0; k < s->r.n_sources && !rc; k++) {
		if (s->r.source[k].stream != sl->stream)
			continue;
		if (sl->batch->kind[i] == CVL_GAP)
			power_lose(s, k);
		else
			rc = power_read(s, k, sl, i);
	}
	return rc;
}

static void power_want(struct cvl_analysis *a, size_t stream, struct cvl_pick *pick)
{
	const struct power_study *s = (const struct power_study *)a;

	if (s->selection)
		cvl_select_want(s->selection, stream, pick);
	for (size_t k = 0; k < s->r.n_sources; k++)
		if (s->r.source[k].stream == stream)
			pick->kinds |= 1u << CVL_SAMPLE;
}

static int power_push(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct power_study *s = (struct power_study *)a;
	int rc = 0;

	s->err = err;
	for (size_t i = sl->begin; i < sl->end && !rc; i++)
		rc = record(s, sl, i);
	return rc;
}

static int power_end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	struct power_study *s = (struct power_study *)a;
	int rc;

	(void)last;
	s->err = err;
	rc = check_spans(s);
	if (rc)
		return rc;
	power_mark_end(s);
	return power_read_end(s);
}

static void power_free(struct cvl_analysis *a)
{
	struct power_study *s = (struct power_study *)a;

	for (size_t i = 0; s->reader && i < s->r.n_sources; i++)
		free(s->reader[i].open);
	cvl_select_close(s->selection);
	free(s->reader);
	free(s->marker);
	free(s->lane);
	free(s->root);
	free(s->r.source);
	free(s->r.row);
	free(s->r.interval);
	free(s);
}

static const struct cvl_analysis_kind power_kind = {
	.name = "power",
	.want = power_want,
	.push = power_push,
	.end = power_end,
	.free = power_free,
};

static int bind(struct power_study *s)
{
	const bool states = s->r.of == CVL_POWER_STATES;
	const struct cvl_select_opts how = { .line = states ? CVL_WHEN_HIGH : CVL_WHEN_RISE,
					     .spans = !states };

	if (s->r.of == CVL_POWER_ALL)
		return 0;
	if (states && s->opts.line->when)
		return cvl_fail(s->err, CVL_E_USAGE, CVL_NO_OFFSET,
				"only a line has states; '%s' is not one", s->opts.line->text);
	s->selector[0] = states ? s->opts.line : &s->opts.between[0];
	s->selector[1] = states ? NULL : &s->opts.between[1];
	return cvl_select_open(&s->selection, s->selector, states ? 1 : 2, s->tl, &how, s->err);
}

int cvl_power_open(struct cvl_analysis **a, struct cvl_timeline *tl,
		   const struct cvl_power_opts *opts, struct cvl_error *err)
{
	struct cvl_session *session = cvl_timeline_session(tl);
	struct power_study *s = calloc(1, sizeof(*s));
	int rc;

	*a = NULL;
	if (!s)
		return cvl_no_memory(err);
	*s = (struct power_study){
		.analysis.kind = &power_kind,
		.tl = tl,
		.opts = *opts,
		.err = err,
		.latest = CVL_TIME_MIN,
		.r.of = opts->line    ? CVL_POWER_STATES :
			opts->between ? CVL_POWER_BETWEEN :
					CVL_POWER_ALL,
	};
	s->root = clocks_roots(session);
	s->marker = calloc(cvl_timeline_streams(tl) + 1, sizeof(*s->marker));
	s->lane = calloc(cvl_session_clocks(session) + 1, sizeof(*s->lane));
	rc = s->root && s->marker && s->lane ? power_readers(s) : cvl_no_memory(s->err);
	if (!rc)
		rc = bind(s);
	if (rc)
		power_free(&s->analysis);
	else
		*a = &s->analysis;
	return rc;
}

const struct cvl_power_result *cvl_power_result(const struct cvl_analysis *a)
{
	return &((const struct power_study *)a)->r;
}
