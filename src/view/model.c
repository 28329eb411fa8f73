/* SPDX-License-Identifier: MIT */
#include "view/model.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include "store/stored.h"

/* The clock of stream @number of the trace of clock @of, of which only the first packet is read. */
static int clock_of(const struct model *m, struct cvl_trace *trace, size_t of, size_t number,
		    size_t *clock, struct cvl_error *err)
{
	const char *path = cvl_session_clock(m->session, of)->trace;
	struct cvl_stream *stream;
	struct cvl_batch batch;
	int class, rc;

	*clock = of;
	if (cvl_trace_clocks(trace) < 2)
		return 0;
	rc = cvl_stream_open(&stream, trace, number, NULL, err);
	if (rc)
		return rc;
	rc = cvl_stream_next(stream, &batch, NULL);
	class = cvl_stream_clock(stream);
	cvl_stream_close(stream);
	for (size_t i = of; class >= 0 && i < cvl_session_clocks(m->session); i++) {
		const struct cvl_clock *c = cvl_session_clock(m->session, i);

		if (!strcmp(c->trace, path) &&
		    !strcmp(c->clock_class, cvl_trace_clock(trace, (size_t) class)->name))
			*clock = i;
	}
	return 0;
}

static bool seen(const struct model *m, size_t clock)
{
	for (size_t i = 0; i < clock; i++)
		if (!strcmp(cvl_session_clock(m->session, i)->trace,
			    cvl_session_clock(m->session, clock)->trace))
			return true;
	return false;
}

static int add_trace(struct model *m, size_t of, const struct cvl_view_opts *opts,
		     struct cvl_error *err)
{
	struct cvl_trace *trace;
	int rc;

	if (cvl_room(&m->trace, m->n_traces, &m->room_traces, sizeof(struct cvl_trace *)))
		return cvl_no_memory(err);
	rc = session_open_trace(m->session, of, &trace, opts->report, err);
	if (rc)
		return rc;
	m->trace[m->n_traces++] = trace;
	for (size_t i = 0; i < cvl_trace_streams(trace) && !rc; i++) {
		struct model_stream s = { .of = of, .number = i, .trace = trace };

		rc = clock_of(m, trace, of, i, &s.clock, err);
		rc = rc ? rc : cvl_lod_open(&s.lod, m->session, of, i, &opts->progress, err);
		if (!rc && cvl_room(&m->stream, m->n, &m->room, sizeof(*m->stream))) {
			cvl_lod_close(s.lod);
			rc = cvl_no_memory(err);
		}
		if (!rc)
			m->stream[m->n++] = s;
	}
	return rc;
}

int model_open(struct model *m, struct cvl_session *session, const struct cvl_view_opts *opts,
	       struct cvl_error *err)
{
	const struct cvl_timeline_opts timeline = { .report = opts->report };
	int rc;

	*m = (struct model){ .session = session };
	rc = cvl_timeline_open(&m->tl, session, &timeline, err);
	for (size_t i = 0; i < cvl_session_clocks(session) && !rc; i++)
		if (!seen(m, i))
			rc = add_trace(m, i, opts, err);
	if (rc)
		model_close(m);
	return rc;
}

void model_close(struct model *m)
{
	for (size_t i = 0; i < m->n; i++)
		cvl_lod_close(m->stream[i].lod);
	for (size_t i = 0; i < m->n_traces; i++)
		cvl_trace_close(m->trace[i]);
	free(m->stream);
	free(m->trace);
	if (m->tl)
		cvl_timeline_close(m->tl);
	*m = (struct model){ 0 };
}

uint64_t model_base(const struct model *m, size_t clock)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < m->n; i++) {
		struct cvl_tick first, last;

		if (m->stream[i].clock == clock && cvl_lod_range(m->stream[i].lod, &first, &last) &&
		    first.count < least)
			least = first.count;
	}
	return least == UINT64_MAX ? 0 : least >> 52 << 52;
}
