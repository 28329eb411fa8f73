/* SPDX-License-Identifier: MIT */
/* Durations between two events of one clock. */
#include <coeval/fields.h>

#include "analysis/precision/internal.h"

static void look_up(const struct precision_reader *r, struct precision_mark *m, size_t stream)
{
	m->looked = true;
	for (unsigned k = 0; k < 2; k++)
		for (size_t line = 0; line < cvl_timeline_lines(r->tl, stream); line++)
			if (cvl_select_in(r->selection, k, stream) &&
			    cvl_selector_line(r->selector[k], r->tl, stream, line))
				m->lines |= 1u << k;
}

/* While one of the two lines is unknown, a duration may have ended. */
static void watch_unknown(struct precision_mark *m, uint64_t tick)
{
	bool dark = m->lines & ~m->known;

	if (dark)
		precision_mark_gap(m, tick, CVL_TICK_UNKNOWN);
	else if (m->dark)
		m->last_to = tick;
	m->dark = dark;
}

void precision_mark_gap(struct precision_mark *m, uint64_t from, uint64_t to)
{
	m->any_gap = true;
	m->last_from = from;
	m->last_to = to;
	if (m->open && !m->gap && to > m->from + m->half) {
		m->gap = true;
		m->gap_from = from;
	}
}

static int add_time(struct precision_reader *r, const struct cvl_slice *sl, uint64_t ticks,
		    uint64_t half)
{
	const struct cvl_session *session = cvl_timeline_session(r->tl);
	const double ns = 1e9 / (double)cvl_session_clock(session, sl->clock)->rate_hz;
	/* rounded up, and the rounding of the time */
	int rc = durations_add(&r->p.times, (int64_t)((double)ticks * ns + 0.5),
			       (int64_t)((double)half * ns) + 2);

	if (rc == CVL_E_LIMIT)
		return cvl_fail(r->err, rc, CVL_NO_OFFSET, "too many durations");
	return rc ? cvl_no_memory(r->err) : 0;
}

static int see_ends(struct precision_reader *r, struct precision_mark *m,
		    const struct cvl_slice *sl, size_t i, uint64_t is)
{
	const uint64_t tick = sl->batch->tick[i].count;
	const uint64_t half =
		sl->batch->bracket ?
			sl->batch->bracket[i] :
			cvl_session_clock(cvl_timeline_session(r->tl), sl->clock)->resolution;
	int rc = 0;

	if (m->open && (is & 2) && tick >= m->from) {
		bool broken = m->gap && m->gap_from + half < tick;

		m->open = false;
		if (broken)
			r->p.times.broken++;
		if (!broken || r->opts.across)
			rc = add_time(r, sl, tick - m->from, m->half + half);
	}
	if (is & 1) {
		r->p.open += m->open;
		m->open = true;
		m->from = tick;
		m->half = half;
		/* a gap that A lies in may extend beyond it */
		m->gap = m->any_gap && m->last_to > tick + half;
		m->gap_from = m->last_from;
	}
	return rc;
}

int precision_mark(struct precision_reader *r, const struct cvl_slice *sl, size_t i)
{
	struct precision_mark *m = &r->mark[sl->stream];
	struct cvl_match match;

	if (!m->looked)
		look_up(r, m, sl->stream);
	cvl_select_match(r->selection, sl, i, &match);
	m->known = (m->known | match.found) & ~match.lost;
	if (sl->batch->kind[i] == CVL_EDGE)
		watch_unknown(m, sl->batch->tick[i].count);
	return match.happened ? see_ends(r, m, sl, i, match.happened) : 0;
}
