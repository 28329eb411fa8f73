/* SPDX-License-Identifier: MIT */
#include "analysis/power/power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/power/internal.h"

int power_no_memory(const struct power_study *s)
{
	return cvl_no_memory(s->err);
}

int power_not_tied(const struct power_study *s, size_t a, size_t b)
{
	struct cvl_session *session = cvl_timeline_session(s->tl);

	return cvl_fail(
		s->err, CVL_E_NO, CVL_NO_OFFSET,
		"%s: intervals are marked on clock %s and power is read on %s, but nothing ties the two: run `coeval sync` first",
		cvl_session_path(session), cvl_session_clock(session, a)->name,
		cvl_session_clock(session, b)->name);
}

/* ---- points ---- */

static bool names_node(const struct cvl_session *session, const char *text, size_t n)
{
	for (size_t i = 0; i < cvl_session_clocks(session); i++) {
		const struct cvl_clock *c = cvl_session_clock(session, i);

		if ((strlen(c->name) == n && !memcmp(c->name, text, n)) ||
		    (strlen(c->node) == n && !memcmp(c->node, text, n)))
			return true;
	}
	return false;
}

int power_point_parse(struct power_point *point, const char *text,
		      const struct cvl_session *session, struct cvl_error *err)
{
	static const char *const whens[] = { NULL, "rise", "fall", "begin", "end" };
	const char *colon = strrchr(text, ':');
	size_t n = strlen(text), node = 0;

	*point = (struct power_point){ .when = POWER_PLAIN };
	for (unsigned i = POWER_RISE; colon && i <= POWER_END; i++)
		if (!strcmp(colon + 1, whens[i])) {
			point->when = (enum power_when)i;
			n = (size_t)(colon - text);
		}
	for (size_t i = 1; i < n; i++)
		if (text[i] == '.' && names_node(session, text, i))
			node = i;
	if (n == (node ? node + 1 : 0) || n >= POWER_NAME_MAX)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"'%.40s' names no line, event or span", text);
	memcpy(point->node, text, node);
	memcpy(point->name, text + (node ? node + 1 : 0), n - (node ? node + 1 : 0));
	return 0;
}

/* ---- sums ---- */

void power_sum_add(struct power_sum *sum, const struct power_span *span)
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

struct power_figures power_figures(const struct power_sum *sum, double rounded_w)
{
	double seconds = sum->energy.covered_ns * 1e-9;
	struct power_figures f = { .joule = sum->energy.joule };

	f.joule_half = energy_half(&sum->energy) + sum->stretch_j + 0.5 * fabs(rounded_w) * seconds;
	f.watt = seconds > 0 ? f.joule / seconds : 0;
	f.watt_half =
		seconds > 0 ? (f.joule_half + fabs(f.watt) * sum->bound_ns * 1e-9) / seconds : 0;
	f.covered = sum->sampled_ns > 0 ? fmin(1, sum->energy.covered_ns / sum->sampled_ns) : 0;
	return f;
}

/* ---- the study ---- */

static int check_points(const struct power_study *s)
{
	const char *path = cvl_session_path(cvl_timeline_session(s->tl));
	const struct power_point *p = s->seen[0] ? &s->opts->to : &s->opts->from;

	if (s->opts->how == POWER_WHOLE ||
	    (s->seen[0] && (s->seen[1] || s->opts->how == POWER_STATES)))
		return 0;
	return cvl_fail(
		s->err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
		"%s: no clock%s%s has a line%s%s; `coeval info` lists lines, `coeval show` events",
		path, p->node[0] ? " of " : "", p->node,
		s->opts->how == POWER_STATES ? " " : ", an event or a span ", p->name);
}

static int record(struct power_study *s, const struct cvl_slice *sl, size_t i)
{
	int rc = s->opts->how == POWER_WHOLE ? 0 : power_mark(s, sl, i);

	if (sl->time[i].ns > s->latest.ns)
		s->latest = sl->time[i];
	if (sl->batch->kind[i] != CVL_SAMPLE && sl->batch->kind[i] != CVL_GAP)
		return rc;
	for (size_t k = 0; k < s->r->n_sources && !rc; k++) {
		if (s->r->source[k].stream != sl->stream)
			continue;
		if (sl->batch->kind[i] == CVL_GAP)
			power_lose(s, k);
		else
			rc = power_read(s, k, sl, i);
	}
	return rc;
}

static void study_free(struct power_study *s)
{
	for (size_t i = 0; s->reader && i < s->r->n_sources; i++)
		free(s->reader[i].open);
	for (size_t i = 0; s->marker && i < cvl_timeline_streams(s->tl); i++)
		free(s->marker[i].event);
	free(s->reader);
	free(s->marker);
	free(s->lane);
	free(s->root);
}

int power_study(struct power_result *r, struct cvl_timeline *tl, const struct power_opts *opts,
		int (*put)(void *ctx, const struct power_span *span), void *ctx,
		struct cvl_error *err)
{
	struct cvl_session *session = cvl_timeline_session(tl);
	struct power_study s = {
		.r = r,
		.tl = tl,
		.opts = opts,
		.put = put,
		.ctx = ctx,
		.err = err,
		.latest = CVL_TIME_MIN,
	};
	struct cvl_slice sl;
	int rc;

	*r = (struct power_result){ 0 };
	s.root = clocks_roots(session);
	s.marker = calloc(cvl_timeline_streams(tl) + 1, sizeof(*s.marker));
	s.lane = calloc(cvl_session_clocks(session) + 1, sizeof(*s.lane));
	rc = s.root && s.marker && s.lane ? power_readers(&s) : power_no_memory(&s);
	while (!rc && (rc = cvl_timeline_next(tl, &sl, err)) > 0) {
		rc = 0;
		for (size_t i = sl.begin; i < sl.end && !rc; i++)
			rc = record(&s, &sl, i);
	}
	if (!rc)
		rc = check_points(&s);
	if (!rc) {
		power_mark_end(&s);
		rc = power_read_end(&s);
	}
	study_free(&s);
	return rc;
}

void power_free(struct power_result *r)
{
	free(r->source);
	*r = (struct power_result){ 0 };
}
