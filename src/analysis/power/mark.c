/* SPDX-License-Identifier: MIT */
/* Where intervals begin and end: states of a line, edges, events, spans. */
#include <stdlib.h>
#include <string.h>

#include "analysis/power/internal.h"

#define IS_FROM 1
#define IS_TO 2
#define NOT_LOOKED 255

static const struct power_point *point(const struct power_study *s, unsigned which)
{
	return which ? &s->opts->to : &s->opts->from;
}

static bool of_node(const struct power_study *s, size_t clock, const struct power_point *p)
{
	const struct cvl_clock *c = cvl_session_clock(cvl_timeline_session(s->tl), clock);

	return !p->node[0] || !strcmp(p->node, c->name) || !strcmp(p->node, c->node);
}

/* An interval is open in one lane at a time: of a line's states in that of its stream, else in that of its node. */
static size_t lane_of(const struct power_study *s, size_t clock)
{
	const struct cvl_session *session = cvl_timeline_session(s->tl);
	const char *node = cvl_session_clock(session, clock)->node;
	size_t i = 0;

	if (s->opts->from.node[0] || s->opts->to.node[0])
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

static void look_up(struct power_study *s, struct power_marker *m, const struct cvl_slice *sl)
{
	const struct cvl_trace *trace = cvl_timeline_trace(s->tl, sl->stream);

	m->looked = true;
	for (unsigned which = 0; which < 2; which++) {
		const struct power_point *p = point(s, which);

		m->line[which] = of_node(s, sl->clock, p) && p->when < POWER_BEGIN ?
					 clocks_find(trace, "line", p->name) :
					 -1;
		if (m->line[which] >= CVL_LINES_MAX)
			m->line[which] = -1;
		s->seen[which] = s->seen[which] || m->line[which] >= 0;
	}
}

/* ---- between two points ---- */

/* @what: IS_FROM, IS_TO or both. */
static int marked(struct power_study *s, const struct cvl_slice *sl, size_t i, unsigned what)
{
	const struct power_at here = at(s, sl, i);
	size_t lane = lane_of(s, sl->clock);

	s->seen[0] = s->seen[0] || what & IS_FROM;
	s->seen[1] = s->seen[1] || what & IS_TO;
	if (what & IS_TO) {
		if (s->lane[lane])
			power_close(s, lane, &here);
		else
			s->r->left.unbegun += !(what & IS_FROM);
		s->lane[lane] = 0;
	}
	if (!(what & IS_FROM))
		return 0;
	if (s->lane[lane]) {
		s->r->left.again++;
		return 0;
	}
	s->lane[lane] = 1;
	return power_open(s, lane, false, &here);
}

static int event(struct power_study *s, struct power_marker *m, const struct cvl_slice *sl,
		 size_t i)
{
	const struct cvl_trace *trace = cvl_timeline_trace(s->tl, sl->stream);
	uint32_t cls = sl->batch->cls[i];
	size_t n = cvl_trace_events(trace);

	if (cls >= n)
		return 0;
	if (!m->event) {
		m->event = malloc(n);
		if (!m->event)
			return power_no_memory(s);
		memset(m->event, NOT_LOOKED, n);
	}
	if (m->event[cls] == NOT_LOOKED) {
		const char *name = cvl_plain_name(cvl_trace_event(trace, cls)->name);

		m->event[cls] = 0;
		for (unsigned which = 0; which < 2; which++)
			if (point(s, which)->when == POWER_PLAIN &&
			    of_node(s, sl->clock, point(s, which)) &&
			    !strcmp(point(s, which)->name, name))
				m->event[cls] |= (uint8_t)(which ? IS_TO : IS_FROM);
	}
	return m->event[cls] ? marked(s, sl, i, m->event[cls]) : 0;
}

static int span(struct power_study *s, const struct cvl_slice *sl, size_t i)
{
	bool begins = sl->batch->kind[i] == CVL_BEGIN;
	struct clocks_span name;
	unsigned what = 0;

	if (!clocks_span_name(&name, cvl_timeline_stream(s->tl, sl->stream), sl->batch, i))
		return 0;
	for (unsigned which = 0; which < 2; which++) {
		const struct power_point *p = point(s, which);
		bool wanted = p->when == POWER_PLAIN ?
				      begins == !which :
				      p->when == (begins ? POWER_BEGIN : POWER_END);

		if (wanted && of_node(s, sl->clock, p) && !strcmp(p->name, name.text))
			what |= which ? IS_TO : IS_FROM;
	}
	return what ? marked(s, sl, i, what) : 0;
}

/* Nobody knows the end of the interval that may be open. */
static void cut(struct power_study *s, const struct cvl_slice *sl)
{
	size_t lane = lane_of(s, sl->clock);

	if (s->lane[lane]) {
		power_drop(s, lane);
		s->r->left.cut++;
	}
	s->lane[lane] = 0;
}

static int edge(struct power_study *s, struct power_marker *m, const struct cvl_slice *sl, size_t i)
{
	uint64_t was = m->levels.known, changed = cvl_levels_take(&m->levels, sl->batch, i);
	uint64_t levels = m->levels.now;
	unsigned what = 0;

	if (was && m->line[1] >= 0 && (m->levels.known & ~was) >> m->line[1] & 1)
		cut(s, sl); /* the end may have been while its line was unknown */
	for (unsigned which = 0; which < 2; which++) {
		int bit = m->line[which];

		if (bit >= 0 && (changed >> bit & 1) &&
		    (levels >> bit & 1) == (point(s, which)->when != POWER_FALL))
			what |= which ? IS_TO : IS_FROM;
	}
	return what ? marked(s, sl, i, what) : 0;
}

/* ---- states ---- */

static int state(struct power_study *s, struct power_marker *m, const struct cvl_slice *sl,
		 size_t i)
{
	uint64_t was = m->levels.known, changed = cvl_levels_take(&m->levels, sl->batch, i);
	int bit = m->line[0];

	m->at = at(s, sl, i);
	if (bit < 0 || !((changed | (was ^ m->levels.known)) >> bit & 1))
		return 0;
	if (was >> bit & 1)
		power_close(s, sl->stream, &m->at);
	if (!(m->levels.known >> bit & 1))
		return 0;
	return power_open(s, sl->stream, m->levels.now >> bit & 1, &m->at);
}

/* What happened to the lines meanwhile nobody knows. */
static void lost(struct power_study *s, struct power_marker *m, const struct cvl_slice *sl,
		 size_t i)
{
	const struct power_at here = at(s, sl, i);
	uint64_t known = m->levels.known;

	m->levels.known = 0;
	if (s->opts->how == POWER_STATES) {
		if (m->line[0] >= 0 && known >> m->line[0] & 1)
			power_close(s, sl->stream, &here);
		return;
	}
	if (m->line[0] >= 0 || m->line[1] >= 0 || m->event)
		cut(s, sl);
}

int power_mark(struct power_study *s, const struct cvl_slice *sl, size_t i)
{
	struct power_marker *m = &s->marker[sl->stream];
	bool states = s->opts->how == POWER_STATES;

	if (!m->looked)
		look_up(s, m, sl);
	switch (sl->batch->kind[i]) {
	case CVL_EDGE: return states ? state(s, m, sl, i) : edge(s, m, sl, i);
	case CVL_EVENT: return states ? 0 : event(s, m, sl, i);
	case CVL_BEGIN:
	case CVL_END: return states ? 0 : span(s, sl, i);
	case CVL_GAP: lost(s, m, sl, i); return 0;
	default: return 0;
	}
}

/* A line keeps its level up to where its stream ends. */
static void last_state(struct power_study *s, size_t stream)
{
	struct power_marker *m = &s->marker[stream];
	int clock = cvl_timeline_stream_clock(s->tl, stream);
	struct cvl_stream_stats stats;
	struct cvl_time end;

	if (m->line[0] < 0 || !(m->levels.known >> m->line[0] & 1) || clock < 0)
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

	if (s->opts->how == POWER_STATES)
		for (size_t i = 0; i < cvl_timeline_streams(s->tl); i++)
			last_state(s, i);
	for (size_t lane = 0; lane <= clocks && s->opts->how == POWER_BETWEEN; lane++)
		if (s->lane[lane]) {
			s->r->left.unfinished++;
			power_drop(s, lane);
		}
}
