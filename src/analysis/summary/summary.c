/* SPDX-License-Identifier: MIT */
#include <coeval/summary.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/summary/kept.h"

struct summary {
	struct cvl_analysis analysis;
	struct cvl_timeline *tl;
	struct cvl_summary sum;
	struct kept_ticks *ticks;   /* per clock */
	struct kept_events *events; /* per stream */
};

/* ---- counting ---- */

static void count_gap(struct cvl_summary_clock *c, const struct cvl_batch *b, size_t i)
{
	struct cvl_summary_gaps *why = &c->why[b->cls[i] < CVL_GAPS ? b->cls[i] : CVL_GAP_UNKNOWN];

	c->gaps++;
	why->gaps++;
	if (b->value[i] == CVL_LOST_UNKNOWN)
		return;
	why->lost += b->value[i];
	if (b->cls[i] != CVL_GAP_PACKETS)
		c->lost += b->value[i];
}

static int push(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct summary *s = (struct summary *)a;
	struct cvl_summary_clock *c = &s->sum.clock[sl->clock];
	struct kept_ticks *t = &s->ticks[sl->clock];
	const struct cvl_batch *b = sl->batch;

	(void)err;
	for (size_t i = sl->begin; i < sl->end; i++) {
		const uint8_t kind = b->kind[i];

		c->kinds[kind]++;
		c->late += b->flags[i] & CVL_LATE ? 1 : 0;
		if (kind == CVL_GAP)
			count_gap(c, b, i);
		else if (!(b->flags[i] & CVL_STATE))
			c->records++;
		if ((kind == CVL_EVENT || kind == CVL_BEGIN || kind == CVL_END) &&
		    b->cls[i] < s->events[sl->stream].n)
			s->events[sl->stream].count[b->cls[i]]++;
		if (!c->any || sl->time[i].ns < c->first.ns) {
			c->first = sl->time[i];
			t->first = b->tick[i].count;
		}
		if (!c->any || sl->time[i].ns > c->last.ns) {
			c->last = sl->time[i];
			t->last = b->tick[i].count;
		}
		c->any = true;
	}
	return 0;
}

/* ---- at the end ---- */

/*
 * A capture continues after its last record: nothing happened there, which is different from its
 * end.
 */
static void see_end(struct summary *s, size_t stream, size_t clock, struct cvl_time until)
{
	struct cvl_summary_clock *c = &s->sum.clock[clock];
	struct cvl_time end =
		cvl_map_time(cvl_timeline_map(s->tl, clock), s->sum.stream[stream].stats.end, NULL);

	if (end.ns > until.ns)
		end = until;
	if (c->any && end.ns > c->last.ns && cvl_trace_ours(cvl_timeline_trace(s->tl, stream)))
		c->last = end;
}

static int take_events(struct summary *s, size_t stream)
{
	const struct cvl_trace *trace = cvl_timeline_trace(s->tl, stream);
	struct cvl_summary_stream *st = &s->sum.stream[stream];

	free(st->event);
	st->n_events = 0;
	st->event = calloc(s->events[stream].n + 1, sizeof(*st->event));
	for (size_t k = 0; st->event && k < s->events[stream].n; k++)
		if (s->events[stream].count[k])
			st->event[st->n_events++] =
				(struct cvl_summary_event){ cvl_trace_event(trace, k)->name,
							    s->events[stream].count[k] };
	return st->event ? 0 : -1;
}

/* All was counted; @last: end of what was asked for. -1: out of memory. */
static int add_up(struct summary *s, struct cvl_time last)
{
	for (size_t i = 0; i < s->sum.n_streams; i++) {
		const struct cvl_summary_clock *is = s->sum.stream[i].clock;
		const size_t clock = is ? (size_t)(is - s->sum.clock) : 0;

		if (take_events(s, i))
			return -1;
		if (!is)
			continue;
		s->sum.clock[clock].streams++;
		see_end(s, i, clock, last);
	}
	for (size_t i = 0; i < s->sum.n_clocks; i++) {
		s->sum.records += s->sum.clock[i].records;
		s->sum.gaps += s->sum.clock[i].gaps;
	}
	return 0;
}

static int end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	struct summary *s = (struct summary *)a;

	for (size_t i = 0; i < s->sum.n_streams; i++) {
		const int clock = cvl_timeline_stream_clock(s->tl, i);

		cvl_stream_stats(cvl_timeline_stream(s->tl, i), &s->sum.stream[i].stats);
		s->sum.stream[i].clock = clock < 0 ? NULL : &s->sum.clock[clock];
	}
	return add_up(s, last) ? cvl_no_memory(err) : 0;
}

/* ---- kept counts ---- */

static void forget(struct summary *s)
{
	for (size_t i = 0; i < s->sum.n_clocks; i++) {
		const struct cvl_summary_clock c = s->sum.clock[i];

		s->sum.clock[i] = (struct cvl_summary_clock){ .clock = c.clock, .sync = c.sync };
	}
	for (size_t i = 0; i < s->sum.n_streams; i++) {
		memset(s->events[i].count, 0, s->events[i].n * sizeof(*s->events[i].count));
		s->sum.stream[i].clock = NULL;
	}
}

bool cvl_summary_recall(struct cvl_analysis *a)
{
	struct summary *s = (struct summary *)a;

	if (!kept_load(s->tl, &s->sum, s->ticks, s->events)) {
		forget(s);
		return false;
	}
	for (size_t i = 0; i < s->sum.n_clocks; i++) {
		const struct cvl_map *map = cvl_timeline_map(s->tl, i);
		struct cvl_summary_clock *c = &s->sum.clock[i];

		if (!c->any)
			continue;
		c->first = cvl_map_time(map, (struct cvl_tick){ s->ticks[i].first }, NULL);
		c->last = cvl_map_time(map, (struct cvl_tick){ s->ticks[i].last }, NULL);
	}
	if (!add_up(s, cvl_timeline_until(s->tl)))
		return true;
	forget(s);
	return false;
}

void cvl_summary_keep(const struct cvl_analysis *a)
{
	const struct summary *s = (const struct summary *)a;
	bool whole = true;

	for (size_t i = 0; i < s->sum.n_clocks; i++)
		whole = whole && !s->sum.clock[i].clock->growing &&
			!s->sum.clock[i].clock->unfinished && !s->sum.clock[i].late;
	if (whole)
		kept_save(s->tl, &s->sum, s->ticks, s->events);
}

/* ---- opening ---- */

/* The names of @trace's @kind, "line" or "channel", of which there are @n. */
static int find_names(const struct cvl_trace *trace, const char *kind, const char *count,
		      const char ***names, size_t *n)
{
	uint64_t all = cvl_trace_ours(trace) ? cvl_trace_env_number(trace, count) : 0;

	*n = all < CVL_CHANNELS_MAX ? (size_t)all : CVL_CHANNELS_MAX;
	*names = calloc(*n + 1, sizeof(**names));
	for (size_t i = 0; *names && i < *n; i++) {
		const char *name = cvl_trace_env_at(trace, kind, i);

		(*names)[i] = name ? name : "?";
	}
	return *names ? 0 : -1;
}

static int describe(struct summary *s)
{
	struct cvl_session *session = cvl_timeline_session(s->tl);
	struct cvl_summary *sum = &s->sum;

	for (size_t i = 0; i < sum->n_clocks; i++) {
		sum->clock[i].clock = cvl_session_clock(session, i);
		sum->clock[i].sync = sum->sync ? cvl_sync_of(sum->sync, session, i) : NULL;
	}
	for (size_t i = 0; i < sum->n_streams; i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(s->tl, i);
		struct cvl_summary_stream *st = &sum->stream[i];

		st->name = cvl_timeline_stream_name(s->tl, i);
		s->events[i].n = cvl_trace_events(trace);
		s->events[i].count = calloc(s->events[i].n + 1, sizeof(*s->events[i].count));
		if (!s->events[i].count ||
		    find_names(trace, "line", "lines", &st->line, &st->n_lines) ||
		    find_names(trace, "channel", "channels", &st->channel, &st->n_channels))
			return -1;
	}
	return 0;
}

static void release(struct cvl_analysis *a)
{
	struct summary *s = (struct summary *)a;

	for (size_t i = 0; s->sum.stream && i < s->sum.n_streams; i++) {
		free(s->sum.stream[i].line);
		free(s->sum.stream[i].channel);
		free(s->sum.stream[i].event);
		if (s->events)
			free(s->events[i].count);
	}
	free(s->sum.clock);
	free(s->sum.stream);
	free(s->events);
	free(s->ticks);
	free(s);
}

int cvl_summary_open(struct cvl_analysis **a, struct cvl_timeline *tl, struct cvl_error *err)
{
	static const struct cvl_analysis_kind kind = {
		.name = "summary",
		.push = push,
		.end = end,
		.free = release,
	};
	struct summary *s = calloc(1, sizeof(*s));

	*a = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->analysis.kind = &kind;
	s->tl = tl;
	s->sum.session = cvl_timeline_session(tl);
	s->sum.sync = cvl_timeline_sync(tl);
	s->sum.n_clocks = cvl_session_clocks(s->sum.session);
	s->sum.n_streams = cvl_timeline_streams(tl);
	s->sum.clock = calloc(s->sum.n_clocks + 1, sizeof(*s->sum.clock));
	s->sum.stream = calloc(s->sum.n_streams + 1, sizeof(*s->sum.stream));
	s->events = calloc(s->sum.n_streams + 1, sizeof(*s->events));
	s->ticks = calloc(s->sum.n_clocks + 1, sizeof(*s->ticks));
	if (!s->sum.clock || !s->sum.stream || !s->events || !s->ticks || describe(s)) {
		release(&s->analysis);
		return cvl_no_memory(err);
	}
	*a = &s->analysis;
	return 0;
}

const struct cvl_summary *cvl_summary_result(const struct cvl_analysis *a)
{
	return &((const struct summary *)a)->sum;
}
