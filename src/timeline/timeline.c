/* SPDX-License-Identifier: MIT */
#include "timeline/internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Records at hand: so many of all streams, and more for each while memory allows. A window of the
 * merge is about as long as a batch, and looks at each stream.
 */
#define BATCHES_BYTES (2u << 20)
#define BATCHES_MAX (22u << 20)
#define BATCH_EACH 200
#define RECORD_BYTES 70 /* of a batch, with its time and its place in a window */

/* Fails if no node was selected: the name may be misspelt. */
static int check_node(const struct cvl_timeline *tl, struct cvl_error *err)
{
	char names[240];
	size_t n = cvl_session_clocks(tl->session), len = 0;

	names[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const char *node = cvl_session_clock(tl->session, i)->node;
		bool said = false;

		if (timeline_wants(tl, i))
			return 0;
		for (size_t k = 0; k < i && !said; k++)
			said = !strcmp(cvl_session_clock(tl->session, k)->node, node);
		if (said || len >= sizeof(names))
			continue;
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					node);
	}
	if (len >= sizeof(names))
		strcpy(names + sizeof(names) - 4, "...");
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: no node or clock matches '%s'; %s%s",
			cvl_session_path(tl->session), tl->opts.node,
			len ? "its nodes are " : "it has none", names);
}

/*
 * Whether the writer of @c died before its metadata were complete, so that nothing of the clock was
 * stored.
 */
static bool unwritten(const struct cvl_timeline *tl, const struct cvl_clock *c, int code,
		      const struct cvl_error *err)
{
	struct cvl_error e;

	if ((!c->unfinished && !c->growing) || code == CVL_E_NOMEM)
		return false;
	if (c->growing)
		return true; /* it has not begun */
	cvl_fail(&e, (enum cvl_code)code, err ? err->offset : CVL_NO_OFFSET,
		 "%s: clock '%s' has no records: its writer died before it stored any", c->trace,
		 c->name);
	cvl_tell(tl->opts.report, &e);
	return true;
}

static int open_traces(struct cvl_timeline *tl, struct cvl_error *err)
{
	size_t n = cvl_session_clocks(tl->session);

	tl->trace = calloc(n + 1, sizeof(*tl->trace));
	if (!tl->trace)
		return cvl_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const struct cvl_clock *c = cvl_session_clock(tl->session, i);
		struct opened *t = NULL;
		size_t classes;

		for (size_t k = 0; k < tl->n_traces; k++)
			if (!strcmp(tl->trace[k].path, c->trace))
				t = &tl->trace[k];
		if (!t) {
			int rc;

			t = &tl->trace[tl->n_traces];
			rc = session_open_trace(tl->session, i, &t->trace, tl->opts.report, err);
			if (rc && unwritten(tl, c, rc, err))
				continue;
			if (rc)
				return rc;
			tl->n_traces++;
			t->path = c->trace;
			t->any = -1;
			t->unfinished = c->unfinished;
			t->growing = c->growing;
			t->first = i;
			classes = cvl_trace_clocks(t->trace);
			t->clock = malloc((classes + 1) * sizeof(int));
			if (!t->clock)
				return cvl_no_memory(err);
			for (size_t k = 0; k <= classes; k++)
				t->clock[k] = -1;
		}
		classes = cvl_trace_clocks(t->trace);
		for (size_t k = 0; k < classes; k++)
			if (!strcmp(cvl_trace_clock(t->trace, k)->name, c->clock_class))
				t->clock[k] = (int)i;
		if (t->any < 0)
			t->any = (int)i;
	}
	return 0;
}

/* A stream of trace @t: its @file, or the missing one. */
static int add_source(struct cvl_timeline *tl, size_t t, size_t file, const char *missing,
		      struct cvl_error *err)
{
	struct source *s = calloc(1, sizeof(*s));

	if (s && missing)
		s->missing = strdup(missing);
	if (!s || (missing && !s->missing)) {
		free(s);
		return cvl_no_memory(err);
	}
	s->number = tl->n_sources;
	tl->source[tl->n_sources++] = s;
	s->trace = t;
	s->file = file;
	s->clock = -1;
	return source_open(tl, s, err);
}

static bool is_missing(const struct cvl_trace *trace, const char *name)
{
	for (size_t i = 0; i < cvl_trace_streams(trace); i++)
		if (!strcmp(cvl_trace_stream_name(trace, i), name))
			return false;
	return strcmp(name, "metadata") != 0;
}

/* How many streams trace @t has, with those that were stored and are missing. */
static size_t count_sources(const struct cvl_timeline *tl, size_t t)
{
	const struct cvl_trace *trace = tl->trace[t].trace;
	const struct stored *stored = session_stored(tl->session, tl->trace[t].first);
	size_t n = cvl_trace_streams(trace);

	for (size_t f = 0; f < stored->n; f++)
		n += is_missing(trace, stored->file[f].name);
	return n;
}

static int open_sources(struct cvl_timeline *tl, struct cvl_error *err)
{
	size_t n = 0, room;
	int rc = 0;

	for (size_t t = 0; t < tl->n_traces; t++)
		n += count_sources(tl, t);
	room = BATCHES_BYTES / RECORD_BYTES + BATCH_EACH * n;
	if (room > BATCHES_MAX / RECORD_BYTES)
		room = BATCHES_MAX / RECORD_BYTES;
	tl->batch = room / (n + 1) > BATCH_LEAST ? room / (n + 1) : BATCH_LEAST;
	tl->source = calloc(n + 1, sizeof(*tl->source));
	tl->expected = n;
	tl->lead = calloc(n + 1, sizeof(*tl->lead));
	tl->part = calloc(n + 1, sizeof(*tl->part));
	tl->in_use = calloc(n + 1, sizeof(*tl->in_use));
	if (!tl->source || !tl->lead || !tl->part || !tl->in_use || window_init(&tl->window, n))
		return cvl_no_memory(err);
	for (size_t t = 0; t < tl->n_traces; t++) {
		const struct cvl_trace *trace = tl->trace[t].trace;
		const struct stored *stored = session_stored(tl->session, tl->trace[t].first);

		for (size_t f = 0; f < cvl_trace_streams(trace) && !rc; f++)
			rc = add_source(tl, t, f, NULL, err);
		for (size_t f = 0; f < stored->n && !rc; f++)
			if (is_missing(trace, stored->file[f].name))
				rc = add_source(tl, t, 0, stored->file[f].name, err);
	}
	return rc;
}

int timeline_make_maps(struct cvl_timeline *tl, struct cvl_error *err)
{
	size_t n = cvl_session_clocks(tl->session);

	if (!tl->clock)
		tl->clock = calloc(n + 1, sizeof(*tl->clock));
	if (!tl->clock)
		return cvl_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const struct cvl_clock_sync *c =
			tl->sync ? cvl_sync_of(tl->sync, tl->session, i) : NULL;
		struct clock *clock = &tl->clock[i];

		cvl_map_free(clock->nominal);
		*clock = (struct clock){
			.nominal = c && c->map ? NULL : cvl_session_nominal(tl->session, i),
		};
		clock->map = c && c->map ? c->map : clock->nominal;
		if (!clock->map)
			return cvl_no_memory(err);
		clock->bound = (struct cvl_bound){
			.kind = cvl_map_kind(clock->map),
			.reference = c ? c->reference_ns : 0,
			.reference_is_max = c && c->reference_is_max,
			.group = c ? c->group : 0,
			.drift_ppm = cvl_clock_drift_ppm(cvl_session_clock(tl->session, i)),
		};
	}
	return 0;
}

static int open_timeline(struct cvl_timeline **out, struct cvl_session *session,
			 const struct cvl_timeline_opts *opts, bool live, struct cvl_sync *sync,
			 struct cvl_error *err)
{
	struct cvl_timeline *tl = calloc(1, sizeof(*tl));
	int rc = 0;

	*out = NULL;
	if (!tl) {
		cvl_sync_free(sync);
		return cvl_no_memory(err);
	}
	tl->session = session;
	tl->sync = sync;
	tl->live = live;
	tl->limit = tl->passed = INT64_MIN;
	if (opts)
		tl->opts = *opts;
	if (tl->opts.has_from && tl->opts.has_until && tl->opts.until.ns < tl->opts.from.ns) {
		cvl_sync_free(sync);
		free(tl);
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"the requested range ends before it begins");
	}
	if (tl->opts.node)
		rc = check_node(tl, err);
	if (!rc && !tl->opts.nominal && !live && !sync)
		rc = cvl_sync_load(&tl->sync, session, err);
	if (rc >= 0)
		rc = timeline_make_maps(tl, err);
	if (!rc)
		rc = open_traces(tl, err);
	if (!rc)
		rc = open_sources(tl, err);
	if (rc < 0)
		cvl_timeline_close(tl);
	else
		*out = tl;
	return rc;
}

int cvl_timeline_open(struct cvl_timeline **out, struct cvl_session *session,
		      const struct cvl_timeline_opts *opts, struct cvl_error *err)
{
	return open_timeline(out, session, opts, false, NULL, err);
}

int timeline_open_tied(struct cvl_timeline **out, struct cvl_session *session,
		       const struct cvl_timeline_opts *opts, struct cvl_sync *sync,
		       struct cvl_error *err)
{
	return open_timeline(out, session, opts, false, sync, err);
}

int timeline_open_live(struct cvl_timeline **out, struct cvl_session *session,
		       const struct cvl_timeline_opts *opts, struct cvl_error *err)
{
	return open_timeline(out, session, opts, true, NULL, err);
}

void cvl_timeline_close(struct cvl_timeline *tl)
{
	if (!tl)
		return;
	for (size_t i = 0; i < tl->n_sources; i++) {
		cvl_stream_close(tl->source[i]->stream);
		free(tl->source[i]->missing);
		free(tl->source[i]->time);
		free(tl->source[i]->bound);
		free(tl->source[i]);
	}
	free(tl->source);
	free(tl->lead);
	free(tl->part);
	free(tl->in_use);
	window_free(&tl->window);
	for (size_t i = 0; i < tl->n_traces; i++) {
		cvl_trace_close(tl->trace[i].trace);
		free(tl->trace[i].clock);
	}
	free(tl->trace);
	for (size_t i = 0; tl->clock && i < cvl_session_clocks(tl->session); i++)
		cvl_map_free(tl->clock[i].nominal);
	free(tl->clock);
	cvl_sync_free(tl->sync);
	free(tl);
}

int cvl_timeline_rewind(struct cvl_timeline *tl, struct cvl_error *err)
{
	for (size_t i = 0; i < tl->n_sources; i++) {
		int rc = source_open(tl, tl->source[i], err);

		if (rc)
			return rc;
	}
	tl->n_leads = 0;
	tl->started = tl->filled = false;
	return 0;
}

void cvl_timeline_pick(struct cvl_timeline *tl, size_t stream, const struct cvl_pick *p)
{
	tl->source[stream]->pick = p;
}

void timeline_want_bounds(struct cvl_timeline *tl)
{
	tl->opts.bounds = true;
}

struct cvl_time cvl_timeline_until(const struct cvl_timeline *tl)
{
	return tl->opts.has_until ? tl->opts.until : CVL_TIME_MAX;
}

struct cvl_session *cvl_timeline_session(const struct cvl_timeline *tl)
{
	return tl->session;
}

const struct cvl_report *cvl_timeline_report(const struct cvl_timeline *tl)
{
	return tl->opts.report;
}

const struct cvl_sync *cvl_timeline_sync(const struct cvl_timeline *tl)
{
	return tl->sync;
}

const struct cvl_map *cvl_timeline_map(const struct cvl_timeline *tl, size_t clock)
{
	return tl->clock[clock].map;
}

enum cvl_bound_kind cvl_timeline_bound_kind(const struct cvl_timeline *tl, size_t clock)
{
	return cvl_map_kind(tl->clock[clock].map);
}

size_t cvl_timeline_streams(const struct cvl_timeline *tl)
{
	return tl->n_sources;
}

struct cvl_stream *cvl_timeline_stream(const struct cvl_timeline *tl, size_t i)
{
	return tl->source[i]->stream;
}

const struct cvl_trace *cvl_timeline_trace(const struct cvl_timeline *tl, size_t stream)
{
	return tl->trace[tl->source[stream]->trace].trace;
}

const char *cvl_timeline_stream_name(const struct cvl_timeline *tl, size_t i)
{
	const struct source *s = tl->source[i];

	return s->missing ? s->missing : cvl_trace_stream_name(tl->trace[s->trace].trace, s->file);
}

int cvl_timeline_stream_clock(const struct cvl_timeline *tl, size_t i)
{
	return tl->source[i]->clock;
}
