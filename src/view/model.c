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
#include "timeline/live.h"

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

static uint32_t find_stream(const struct model *m, size_t number)
{
	const char *trace = cvl_trace_path(cvl_timeline_trace(m->tl, number));
	const char *name = cvl_timeline_stream_name(m->tl, number);
	uint32_t i = 0;

	while (i < m->n &&
	       (strcmp(cvl_trace_path(m->stream[i].trace), trace) != 0 ||
		strcmp(cvl_trace_stream_name(m->stream[i].trace, m->stream[i].number), name) != 0))
		i++;
	return i;
}

static int number_streams(struct model *m, struct cvl_error *err)
{
	m->n_own = cvl_timeline_streams(m->tl);
	m->own = calloc(m->n_own + 1, sizeof(*m->own));
	if (!m->own)
		return cvl_no_memory(err);
	for (size_t i = 0; i < m->n_own; i++)
		m->own[i] = find_stream(m, i);
	return 0;
}

/* All of @m->session, but for what @old has (or NULL). */
static int open_all(struct model *m, struct model *old, const struct cvl_view_opts *opts,
		    struct cvl_error *err)
{
	const struct cvl_timeline_opts timeline = { .report = opts->report };
	int rc;

	when_changed(m->session, m->when);
	m->root = clocks_roots(m->session);
	rc = m->root ? cvl_timeline_open(&m->tl, m->session, &timeline, err) : cvl_no_memory(err);
	for (size_t i = 0; i < cvl_session_clocks(m->session) && !rc; i++)
		if (!seen(m, i))
			rc = add_trace(m, old, i, opts, err);
	return rc ? rc : number_streams(m, err);
}

static void ignore(void *ctx)
{
	(void)ctx;
}

static bool grows(const struct cvl_session *s)
{
	bool any = false;

	for (size_t i = 0; i < cvl_session_clocks(s); i++)
		any |= cvl_session_clock(s, i)->growing;
	return any;
}

/* What goes on in threads. */
static int begin(struct model *m, struct cvl_error *err)
{
	int rc = 0;

	m->maps++; /* nothing is as it was with those before */
	m->state = (struct live_state){ .settled = INT64_MIN, .stored = INT64_MIN };
	if (grows(m->session))
		rc = live_begin(&m->live, m->session, m->changed, m->ctx, err);
	return rc ? rc :
		    studies_begin(&m->studies, cvl_session_path(m->session), &m->opts->studies,
				  m->live, m->changed, m->ctx, err);
}

static void end(struct model *m)
{
	studies_end(m->studies);
	live_end(m->live);
	m->studies = NULL;
	m->live = NULL;
}

static void close_all(struct model *m)
{
	for (size_t i = 0; i < m->n; i++)
		cvl_lod_close(m->stream[i].lod);
	for (size_t i = 0; i < m->n_traces; i++)
		cvl_trace_close(m->trace[i]);
	free(m->stream);
	free(m->trace);
	free(m->root);
	free(m->own);
	if (m->tl)
		cvl_timeline_close(m->tl);
	cvl_session_close(m->opened);
}

void model_close(struct model *m)
{
	end(m);
	close_all(m);
	*m = (struct model){ 0 };
}

int model_open(struct model *m, struct cvl_session *session, const struct cvl_view_opts *opts,
	       void (*changed)(void *ctx), void *ctx, struct cvl_error *err)
{
	int rc;

	*m = (struct model){ .session = session,
			     .version = 1,
			     .opts = opts,
			     .changed = changed ? changed : ignore,
			     .ctx = ctx,
			     .read_only =
				     opts->read_only || access(cvl_session_path(session), W_OK) };
	rc = open_all(m, NULL, opts, err);
	rc = rc ? rc : begin(m, err);
	if (rc)
		model_close(m);
	return rc;
}

/* With the newest maps of what goes on, unless sync.json's are newer. */
static int tie(struct model *m, struct cvl_error *err)
{
	struct cvl_sync *sync = m->live ? live_copy(m->live) : NULL;

	return sync ? timeline_tie(m->tl, sync, err) : 0;
}

/* Opened again, or as it was. */
static int reopen(struct model *m, struct cvl_error *err)
{
	const struct cvl_view_opts quiet = { 0 };
	struct model next = *m;
	int rc;

	next.opened = NULL;
	next.tl = NULL;
	next.root = next.own = NULL;
	next.stream = NULL;
	next.trace = NULL;
	next.n = next.room = next.n_traces = next.room_traces = 0;
	next.version++;
	rc = cvl_session_open(&next.opened, cvl_session_path(m->session), NULL, err);
	next.session = next.opened;
	rc = rc ? rc : open_all(&next, m, &quiet, err);
	rc = rc ? rc : tie(&next, err);
	if (rc) {
		close_all(&next);
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
	close_all(m);
	*m = next;
	return 0;
}

/* Whether sync.json has other rules than those by which the session is followed. */
static bool other_rules(const struct model *m)
{
	const struct cvl_sync *now = cvl_timeline_sync(m->tl);
	const char *rules = live_rules(m->live);
	struct cvl_sync *sync;
	bool other;

	if (cvl_sync_load_settings(&sync, m->session, NULL) <= 0)
		return false;
	other = strcmp(sync->settings, rules) != 0 &&
		(!now || strcmp(sync->settings, now->settings) != 0);
	cvl_sync_free(sync);
	return other;
}

/* session.json or sync.json changed. */
static int look_again(struct model *m, const struct timespec now[2], struct cvl_error *err)
{
	const bool session = memcmp(&now[0], &m->when[0], sizeof(*now)) != 0,
		   sync = memcmp(&now[1], &m->when[1], sizeof(*now)) != 0;
	int rc = 0;

	m->when[1] = now[1];
	if (session || !m->live)
		rc = reopen(m, err);
	if (rc || (!m->live && !grows(m->session)))
		return rc;
	/* sync.json, made after the end, has the last word; so have its rules before that */
	if (!m->live || (sync && (!grows(m->session) || other_rules(m)))) {
		end(m);
		rc = begin(m, err);
		rc = rc || session ? rc : reopen(m, err);
	}
	return rc;
}

/* Maps of a session that grows. */
static int take_maps(struct model *m, bool *any, struct cvl_error *err)
{
	const struct live_state *state;
	struct cvl_sync *sync;

	if (!m->live || !live_take(m->live, &sync, &state))
		return 0;
	*any = true;
	m->state = *state;
	if (state->ended && grows(m->session)) { /* its writer died */
		cvl_sync_free(sync);
		return reopen(m, err);
	}
	if (!sync)
		return 0;
	m->maps++;
	m->history[m->maps % MODEL_HISTORY].maps = m->maps;
	m->history[m->maps % MODEL_HISTORY].settled = state->settled;
	return timeline_tie(m->tl, sync, err);
}

int model_refresh(struct model *m, struct cvl_error *err)
{
	struct timespec now[2];
	bool any;
	int rc = 0;

	when_changed(m->session, now);
	any = memcmp(now, m->when, sizeof(now)) != 0;
	if (any)
		rc = look_again(m, now, err);
	rc = rc ? rc : take_maps(m, &any, err);
	for (size_t i = 0; i < m->n && rc >= 0; i++) {
		rc = cvl_lod_update(m->stream[i].lod, err);
		any |= rc > 0;
	}
	if (any && rc >= 0)
		studies_again(m->studies);
	return rc < 0 ? rc : 0;
}

int64_t model_same_until(const struct model *m, unsigned maps)
{
	if (maps == m->maps)
		return INT64_MAX;
	return m->history[maps % MODEL_HISTORY].maps == maps ?
		       m->history[maps % MODEL_HISTORY].settled :
		       INT64_MIN;
}

uint32_t model_stream(const struct model *m, size_t number)
{
	return number < m->n_own ? m->own[number] : (uint32_t)m->n;
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
