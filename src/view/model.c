/* SPDX-License-Identifier: MIT */
#include "view/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/array.h>
#include <coeval/files.h>
#include <coeval/sync.h>
#include "analysis/clocks.h"
#include "lod/lod.h"
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

/* The stream of @m that is that of @s of @other. NULL: it has none. */
static struct model_stream *same(struct model *m, const struct model *other,
				 const struct model_stream *s)
{
	const char *trace = cvl_session_clock(other->session, s->of)->trace;

	for (size_t i = 0; m && i < m->n; i++)
		if (m->stream[i].number == s->number &&
		    !strcmp(cvl_session_clock(m->session, m->stream[i].of)->trace, trace))
			return &m->stream[i];
	return NULL;
}

/* Streams that @old has, too, get no levels of detail yet. */
static int add_trace(struct model *m, struct model *old, size_t of,
		     const struct cvl_view_opts *opts, struct cvl_error *err)
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
		struct model_stream s = {
			.of = of,
			.number = i,
			.trace = trace,
			.grows = cvl_session_clock(m->session, of)->growing,
		};

		rc = clock_of(m, trace, of, i, &s.clock, err);
		if (!rc && !same(old, m, &s))
			rc = cvl_lod_open(&s.lod, m->session, of, i, &opts->progress, err);
		if (!rc && cvl_room(&m->stream, m->n, &m->room, sizeof(*m->stream))) {
			cvl_lod_close(s.lod);
			rc = cvl_no_memory(err);
		}
		if (!rc)
			m->stream[m->n++] = s;
	}
	return rc;
}

static void when_changed(const struct cvl_session *s, struct timespec when[2])
{
	static const char *const files[] = { "session.json", "sync.json" };
	char folder[CVL_PATH_MAX], path[CVL_PATH_MAX];
	struct stat st;

	for (int i = 0; i < 2; i++) {
		when[i] = (struct timespec){ 0 };
		if (i && cvl_sync_folder(folder, s, false, NULL) < 0)
			continue;
		if (cvl_path_join(path, i ? folder : cvl_session_path(s), files[i]) &&
		    !stat(path, &st))
			when[i] = st.st_ctim;
	}
}

/* All of @m->session, but for what @old has (or NULL). */
static int open_all(struct model *m, struct model *old, const struct cvl_view_opts *opts,
		    struct cvl_error *err)
{
	const struct cvl_timeline_opts timeline = { .report = opts->report };
	int rc;

	when_changed(m->session, m->changed);
	m->root = clocks_roots(m->session);
	rc = m->root ? cvl_timeline_open(&m->tl, m->session, &timeline, err) : cvl_no_memory(err);
	for (size_t i = 0; i < cvl_session_clocks(m->session) && !rc; i++)
		if (!seen(m, i))
			rc = add_trace(m, old, i, opts, err);
	return rc;
}

int model_open(struct model *m, struct cvl_session *session, const struct cvl_view_opts *opts,
	       struct cvl_error *err)
{
	int rc;

	*m = (struct model){ .session = session,
			     .version = 1,
			     .read_only =
				     opts->read_only || access(cvl_session_path(session), W_OK) };
	rc = open_all(m, NULL, opts, err);
	rc = rc ? rc : studies_begin(&m->studies, cvl_session_path(session), &opts->studies, err);
	if (rc)
		model_close(m);
	return rc;
}

void model_close(struct model *m)
{
	studies_end(m->studies);
	for (size_t i = 0; i < m->n; i++)
		cvl_lod_close(m->stream[i].lod);
	for (size_t i = 0; i < m->n_traces; i++)
		cvl_trace_close(m->trace[i]);
	free(m->stream);
	free(m->trace);
	free(m->root);
	messages_free(&m->messages);
	if (m->tl)
		cvl_timeline_close(m->tl);
	cvl_session_close(m->own);
	*m = (struct model){ 0 };
}

/* Opened again, or as it was. */
static int reopen(struct model *m, struct cvl_error *err)
{
	const struct cvl_view_opts quiet = { 0 };
	struct model next = { .version = m->version + 1, .read_only = m->read_only };
	int rc = cvl_session_open(&next.own, cvl_session_path(m->session), NULL, err);

	next.session = next.own;
	rc = rc ? rc : open_all(&next, m, &quiet, err);
	if (rc) {
		model_close(&next);
		return rc;
	}
	for (size_t i = 0; i < next.n; i++) {
		struct model_stream *s = &next.stream[i], *was = same(m, &next, s);

		if (!was)
			continue;
		s->lod = was->lod;
		was->lod = NULL;
		lod_move(s->lod, next.session, s->of);
	}
	next.studies = m->studies;
	m->studies = NULL;
	model_close(m);
	*m = next;
	return 0;
}

int model_refresh(struct model *m, struct cvl_error *err)
{
	struct timespec now[2];
	bool any;

	when_changed(m->session, now);
	any = memcmp(now, m->changed, sizeof(now)) != 0;
	if (any) {
		int rc = reopen(m, err);

		if (rc)
			return rc;
	}
	for (size_t i = 0; i < m->n; i++) {
		int rc = cvl_lod_update(m->stream[i].lod, err);

		if (rc < 0)
			return rc;
		any |= rc > 0;
	}
	if (any)
		studies_again(m->studies);
	return 0;
}

uint32_t model_stream(const struct model *m, const struct cvl_timeline *tl, size_t number)
{
	const char *trace = cvl_trace_path(cvl_timeline_trace(tl, number));
	const char *name = cvl_timeline_stream_name(tl, number);
	uint32_t i = 0;

	while (i < m->n &&
	       (strcmp(cvl_trace_path(m->stream[i].trace), trace) != 0 ||
		strcmp(cvl_trace_stream_name(m->stream[i].trace, m->stream[i].number), name) != 0))
		i++;
	return i;
}

int model_messages(struct model *m, struct cvl_error *err)
{
	const size_t n = cvl_timeline_streams(m->tl);
	uint32_t *own;
	int rc;

	if (m->has_messages)
		return 0;
	own = calloc(n + 1, sizeof(*own));
	rc = own ? messages_find(&m->messages, m->session, err) : cvl_no_memory(err);
	for (size_t i = 0; i < n && !rc; i++)
		own[i] = model_stream(m, m->tl, i);
	for (size_t i = 0; i < m->messages.n && !rc; i++) {
		m->messages.list[i].from.stream = own[m->messages.list[i].from.stream];
		m->messages.list[i].to.stream = own[m->messages.list[i].to.stream];
	}
	free(own);
	m->has_messages = !rc;
	return rc;
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
