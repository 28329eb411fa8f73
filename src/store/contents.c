/* SPDX-License-Identifier: MIT */
#include <coeval/session.h>

#include <string.h>

#include "store/stored.h"

static void see(struct cvl_contents *c, const struct cvl_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct cvl_tick t = b->tick[i];

		if (b->kind[i] == CVL_GAP)
			c->gaps++;
		else if (!(b->flags[i] & CVL_STATE))
			c->records++;
		if (!c->any || t.count < c->first.count)
			c->first = t;
		if (!c->any || t.count > c->last.count)
			c->last = t;
		c->any = true;
	}
}

/* Read stream @i of @trace if its clock class is @class; "" matches any. */
static int count_stream(struct cvl_contents *c, const struct cvl_trace *trace, size_t i,
			const char *class, const struct cvl_progress *progress,
			struct cvl_error *err)
{
	struct cvl_stream_stats stats;
	struct cvl_stream *stream;
	struct cvl_batch batch;
	int rc = cvl_stream_open(&stream, trace, i, NULL, err), clock;

	if (rc)
		return rc;
	do {
		cvl_stream_stats(stream, &stats);
		rc = cvl_progress_tell(progress, stats.position, stats.bytes, err);
		rc = rc ? rc : cvl_stream_next(stream, &batch, err);
		clock = rc > 0 ? cvl_stream_clock(stream) : -1;
		if (clock >= 0 && *class &&
		    strcmp(cvl_trace_clock(trace, (size_t)clock)->name, class) != 0)
			break;
		if (rc > 0)
			see(c, &batch);
	} while (rc > 0);
	cvl_stream_close(stream);
	return rc < 0 ? rc : 0;
}

int cvl_session_contents(const struct cvl_session *s, size_t clock, struct cvl_contents *out,
			 const struct cvl_progress *progress, struct cvl_error *err)
{
	const struct cvl_clock *c = cvl_session_clock(s, clock);
	const struct stored *st = session_stored(s, clock);
	struct cvl_contents sum = { 0 };
	struct cvl_trace *trace;
	int rc = session_open_trace(s, clock, &trace, NULL, err);

	*out = sum;
	if (rc)
		return rc;
	if (cvl_trace_ours(trace)) {
		sum.lines = cvl_trace_env_number(trace, "lines");
		sum.channels = cvl_trace_env_number(trace, "channels");
	}
	for (size_t i = 0; i < cvl_trace_events(trace); i++) {
		const struct cvl_event_class *e = cvl_trace_event(trace, i);

		sum.events +=
			e->kind == CVL_EVENT &&
			(!*c->clock_class || e->clock < 0 ||
			 !strcmp(cvl_trace_clock(trace, (size_t)e->clock)->name, c->clock_class));
	}
	if (st->counted && st->sum.seen != CVL_LOST_UNKNOWN) {
		sum.records = st->sum.seen;
		sum.gaps = st->sum.gaps;
		sum.any = st->sum.records || sum.gaps;
		sum.first = st->sum.first;
		sum.last = st->sum.last;
	} else {
		for (size_t i = 0; i < cvl_trace_streams(trace) && !rc; i++)
			rc = count_stream(&sum, trace, i, c->clock_class, progress, err);
	}
	cvl_trace_close(trace);
	*out = sum;
	return rc;
}
