/* SPDX-License-Identifier: MIT */
/* Where intervals begin and end: states of a line, edges, events, spans. */
#include <string.h>

#include "analysis/power/internal.h"

#define FROM 1
#define TO 2

/*
 * One interval may be open per lane: for a line's states the lane of its stream, else that of its
 * node.
 */
static size_t lane_of(const struct power_study *s, size_t clock)
{
	const struct cvl_session *session = cvl_timeline_session(s->tl);
	const char *node = cvl_session_clock(session, clock)->node;
	size_t i = 0;

	if (s->opts.between[0].node[0] || s->opts.between[1].node[0])
		return cvl_session_clocks(session);
	while (strcmp(cvl_session_clock(session, i)->node, node))
		i++;
	return i;
}

static struct power_at at(const struct power_study *s, const struct cvl_slice *sl, size_t i)
{
	return (struct power_at){ sl->stream, sl->clock, sl->time[i],
				  cvl_timeline_bound_parts(s->tl, sl, i) };
}

/* ---- between two points ---- */

/* The end of an open interval is unknown. */
static void cut(struct power_study *s, size_t lane)
{
	if (s->lane[lane]) {
		power_drop(s, lane);
		s->r.left.cut++;
	}
	s->lane[lane] = 0;
}

static int mark(struct power_study *s, const struct cvl_slice *sl, size_t i, uint64_t what)
{
	const struct power_at here = at(s, sl, i);
	size_t lane = lane_of(s, sl->clock);

	s->seen |= what;
	if (what & TO) {
		if (s->lane[lane])
			power_close(s, lane, &here);
		else
			s->r.left.unbegun += !(what & FROM);
		s->lane[lane] = 0;
	}
	if (!(what & FROM))
		return 0;
	if (s->lane[lane]) {
		s->r.left.again++;
		return 0;
	}
	s->lane[lane] = 1;
	return power_open(s, lane, false, &here);
}

static int between(struct power_study *s, const struct cvl_slice *sl, size_t i,
		   const struct cvl_match *match)
{
	struct power_marker *m = &s->marker[sl->stream];
	enum cvl_kind kind = (enum cvl_kind)sl->batch->kind[i];

	/* the end may have occurred while its line was unknown */
	if (match->found & TO && m->begun)
		cut(s, lane_of(s, sl->clock));
	if (kind == CVL_GAP && (cvl_select_in(s->selection, 0, sl->stream) ||
				cvl_select_in(s->selection, 1, sl->stream)))
		cut(s, lane_of(s, sl->clock));
	m->begun = kind == CVL_GAP ? false : m->begun || kind == CVL_EDGE;
	return match->happened ? mark(s, sl, i, match->happened) : 0;
}

/* ---- states ---- */

static int states(struct power_study *s, const struct cvl_slice *sl, size_t i,
		  const struct cvl_match *match)
{
	struct power_marker *m = &s->marker[sl->stream];

	if (sl->batch->kind[i] == CVL_EDGE)
		m->at = at(s, sl, i);
	if (!(match->happened | match->ended | match->found | match->lost))
		return 0;
	if (m->known) {
		const struct power_at here = at(s, sl, i);

		power_close(s, sl->stream, &here);
	}
	m->known = !match->lost;
	return m->known ? power_open(s, sl->stream, match->in, &m->at) : 0;
}

int power_mark(struct power_study *s, const struct cvl_slice *sl, size_t i)
{
	struct cvl_match match;

	cvl_select_match(s->selection, sl, i, &match);
	return s->r.of == CVL_POWER_STATES ? states(s, sl, i, &match) : between(s, sl, i, &match);
}

/* A line keeps its level until its stream ends. */
static void last_state(struct power_study *s, size_t stream)
{
	struct power_marker *m = &s->marker[stream];
	int clock = cvl_timeline_stream_clock(s->tl, stream);
	struct cvl_stream_stats stats;
	struct cvl_time end;

	if (!m->known || clock < 0)
		return;
	cvl_stream_stats(cvl_timeline_stream(s->tl, stream), &stats);
	end = cvl_map_time(cvl_timeline_map(s->tl, (size_t)clock), stats.end, NULL);
	if (end.ns > s->latest.ns)
		end = s->latest;
	if (end.ns > m->at.time.ns)
		m->at.time = end;
	power_close(s, stream, &m->at);
}

void power_mark_end(struct power_study *s)
{
	size_t clocks = cvl_session_clocks(cvl_timeline_session(s->tl));

	if (s->r.of == CVL_POWER_STATES)
		for (size_t i = 0; i < cvl_timeline_streams(s->tl); i++)
			last_state(s, i);
	for (size_t lane = 0; lane <= clocks && s->r.of == CVL_POWER_BETWEEN; lane++)
		if (s->lane[lane]) {
			s->r.left.unfinished++;
			power_drop(s, lane);
		}
}
