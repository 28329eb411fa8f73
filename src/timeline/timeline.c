/* SPDX-License-Identifier: MIT */
#include <coeval/timeline.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/ctf/pages.h"
#include "store/stored.h"
#include "timeline/bound.h"
#include "timeline/live.h"
#include "timeline/window.h"

/*
 * Records at hand: so many of all streams, and more for each while memory allows. A window of the
 * merge is about as long as a batch, and looks at each stream.
 */
#define BATCHES_BYTES (2u << 20)
#define BATCHES_MAX (22u << 20)
#define BATCH_EACH 200
#define BATCH_LEAST 32
#define RECORD_BYTES 70 /* of a batch, with its time and its place in a window */
/* Bytes of the streams' files in memory, unless these few records for each of them need more. */
#define IN_MEMORY_MAX (12u << 20)
#define IN_MEMORY_FOR 64

/* A stream and its current batch. */
struct source {
	struct cvl_stream *stream;
	size_t number, trace, file;
	/* name of a stored stream whose file is missing; then there is no file */
	char *missing;
	int clock; /* of the session */
	struct cvl_batch batch;
	struct cvl_time *time; /* of the batch, room for so many */
	size_t room;
	uint64_t in_memory;          /* bytes of its file in memory; 0: it is not in use */
	bool payloads;               /* read again when the fields of its events are asked for */
	uint64_t done, total;        /* bytes of its file: read, and in all */
	size_t pos, end;             /* not yet delivered */
	int64_t reached;             /* latest time delivered */
	bool ordered;                /* what is to come is not before that, nor goes back */
	const struct cvl_pick *pick; /* or NULL: everything */
	uint64_t levels, unknown;    /* of its lines, if known */
	bool known;
	bool begun; /* the requested range was reached */
	struct cvl_batch
		held; /* held back while the levels at the begin of the range are delivered */
	bool holds;
	struct state {
		struct cvl_tick tick;
		uint8_t kind, flags;
		uint32_t cls;
		uint64_t value, aux, bracket;
	} state;
};

/* What turns ticks of a clock into times with bounds. */
struct clock {
	const struct cvl_map *map;
	struct cvl_map *nominal; /* that is the map; NULL if sync has one */
	struct timeline_cursor cursor;
	bool told;              /* that the map is damaged */
	struct cvl_bound bound; /* what is the same for all of its ticks */
};

/* A source with records at hand: when the first and the last of them are due. */
struct lead {
	int64_t first, last;
	uint32_t source;
	bool took; /* part in the last block */
};

/* A trace is opened once, even if several of its clocks are in the session. */
struct opened {
	struct cvl_trace *trace;
	const char *path;
	int *clock; /* session clock of each clock class; -1: not wanted */
	int any;    /* for streams without a clock */
	bool unfinished, growing;
	size_t first; /* clock of the session */
};

struct cvl_timeline {
	struct cvl_session *session;
	struct cvl_timeline_opts opts;
	struct cvl_sync *sync;
	struct clock *clock; /* of the session, each */
	struct opened *trace;
	size_t n_traces;
	struct source **source;
	size_t n_sources;
	size_t batch;    /* records that each may have at hand */
	size_t expected; /* sources */
	size_t *in_use;  /* streams whose files take memory, and how much that is at most */
	size_t n_in_use;
	uint64_t in_memory;
	uint64_t records;     /* since they were last freed */
	uint64_t done, total; /* bytes of all streams */
	struct lead *lead;    /* sources that did not end, by number */
	size_t n_leads;
	struct window window;
	struct cvl_part *part; /* of each source */
	bool started, filled;  /* filled: each source has had its first batch */
	bool live;             /* see live.h: */
	int64_t limit;         /* only earlier records are delivered, ... */
	int64_t passed;        /* ... and those before this were, but for what comes late */
};

/* ---- sources ---- */

static bool wanted(const struct cvl_timeline *tl, size_t clock)
{
	return !tl->opts.node ||
	       cvl_clock_matches(cvl_session_clock(tl->session, clock), tl->opts.node);
}

/* Fails if no node was selected: the name may be misspelt. */
static int check_node(const struct cvl_timeline *tl, struct cvl_error *err)
{
	char names[240];
	size_t n = cvl_session_clocks(tl->session), len = 0;

	names[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const char *node = cvl_session_clock(tl->session, i)->node;
		bool said = false;

		if (wanted(tl, i))
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

/* Session clock of the stream, once its first packet has been read. */
static int clock_of(const struct cvl_timeline *tl, const struct source *s)
{
	const struct opened *t = &tl->trace[s->trace];
	int class = cvl_stream_clock(s->stream);

	return class < 0 ? t->any : t->clock[class];
}

static bool inside(const struct cvl_timeline *tl, struct cvl_time t)
{
	return (!tl->opts.has_from || t.ns >= tl->opts.from.ns) &&
	       (!tl->opts.has_until || t.ns <= tl->opts.until.ns);
}

/* Record @i of the batch becomes its record @to. */
static inline void move_record(struct cvl_batch *b, size_t to, size_t i)
{
	b->tick[to] = b->tick[i];
	b->kind[to] = b->kind[i];
	b->flags[to] = b->flags[i];
	b->cls[to] = b->cls[i];
	b->value[to] = b->value[i];
	b->aux[to] = b->aux[i];
	if (b->bracket)
		b->bracket[to] = b->bracket[i];
}

/* The part of the batch within the requested range, as [pos, end). Late records may be anywhere. */
static void cut_range(const struct cvl_timeline *tl, struct source *s)
{
	size_t n;

	s->pos = 0;
	s->end = s->batch.n;
	if (!tl->opts.has_from && !tl->opts.has_until)
		return;
	while (s->pos < s->end && !inside(tl, s->time[s->pos]))
		s->pos++;
	for (n = s->pos; n < s->end && inside(tl, s->time[n]);)
		n++;
	for (size_t i = n; i < s->end; i++)
		if (inside(tl, s->time[i])) {
			move_record(&s->batch, n, i);
			s->time[n++] = s->time[i];
		}
	s->end = n;
}

static bool has_fields(uint8_t kind)
{
	return kind == CVL_EVENT || kind == CVL_BEGIN || kind == CVL_END;
}

/* Whether record @i, which is not an ordinary edge, is wanted or must be delivered anyway. */
static bool picked(struct source *s, const struct cvl_batch *b, size_t i)
{
	const struct cvl_pick *p = s->pick;

	if (b->kind[i] == CVL_EDGE) {
		s->levels = b->value[i];
		s->unknown = b->aux[i];
		s->known = !(b->flags[i] & CVL_LATE); /* late: consumers may ignore its levels */
		return true;
	}
	if (b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP) {
		s->known = false;
		return true;
	}
	if (b->flags[i] || i == 0 || i == b->n - 1)
		return true;
	if (has_fields(b->kind[i]))
		return b->cls[i] < p->n_classes && p->classes[b->cls[i]];
	return p->kinds >> b->kind[i] & 1;
}

/*
 * Drop unwanted records from the batch. Whether an edge is wanted is not known in advance, so each
 * is copied, and the next one overwrites it if it is not.
 */
static void pick(struct source *s)
{
	struct cvl_batch *b = &s->batch;
	const uint64_t lines = s->pick->kinds & 1u << CVL_EDGE ? s->pick->lines : 0;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		bool keep;

		if (b->kind[i] == CVL_EDGE && !b->flags[i] && s->known && i && i + 1 < b->n) {
			keep = (((s->levels ^ b->value[i]) | (s->unknown ^ b->aux[i])) & lines) !=
			       0;
			s->levels = b->value[i];
			s->unknown = b->aux[i];
		} else {
			keep = picked(s, b, i);
		}
		move_record(b, n, i);
		n += keep;
	}
	b->n = n;
}

/* ---- levels at the beginning of a range ---- */

/*
 * Track levels through the records before the range. Sets begun at the first record that is not
 * before it.
 */
static void note_levels(const struct cvl_timeline *tl, struct source *s)
{
	const struct cvl_batch *b = &s->batch;

	for (size_t i = 0; i < b->n; i++) {
		if (s->time[i].ns >= tl->opts.from.ns) {
			s->begun = true;
			return;
		}
		if (b->kind[i] == CVL_EDGE && !(b->flags[i] & CVL_LATE)) {
			s->levels = b->value[i];
			s->known = true;
		} else if (b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP) {
			s->known = false;
		}
	}
}

/* A batch of one record, which restates the levels at the beginning of the range. */
static void put_state(const struct cvl_timeline *tl, struct source *s)
{
	struct state *r = &s->state;

	*r = (struct state){
		.tick = cvl_map_tick(tl->clock[s->clock].map, tl->opts.from),
		.kind = CVL_EDGE,
		.flags = CVL_STATE,
		.value = s->levels,
		.bracket = cvl_session_clock(tl->session, (size_t)s->clock)->resolution,
	};
	s->batch = (struct cvl_batch){
		.n = 1,
		.tick = &r->tick,
		.kind = &r->kind,
		.flags = &r->flags,
		.cls = &r->cls,
		.value = &r->value,
		.aux = &r->aux,
		.bracket = s->batch.bracket ? &r->bracket : NULL,
	};
	s->time[0] = tl->opts.from;
	s->pos = 0;
	s->end = 1;
}

/* Whether the stream, which has no more records, reaches the begin of the range. */
static bool reaches_range(const struct cvl_timeline *tl, const struct source *s)
{
	struct cvl_stream_stats stats;

	cvl_stream_stats(s->stream, &stats);
	return stats.beyond ||
	       cvl_map_time(tl->clock[s->clock].map, stats.end, NULL).ns >= tl->opts.from.ns;
}

/* Room for the times of the batch, as much as it may come to have. */
static int make_room(struct source *s, struct cvl_error *err)
{
	size_t room = s->room ? s->room : BATCH_LEAST;
	struct cvl_time *time;

	while (room < s->batch.n)
		room *= 4;
	if (room == s->room)
		return 0;
	time = realloc(s->time, room * sizeof(*time));
	if (!time)
		return cvl_no_memory(err);
	s->time = time;
	s->room = room;
	return 0;
}

/* Stream @s was opened, read, or has grown. */
static void note_progress(struct cvl_timeline *tl, struct source *s)
{
	struct cvl_stream_stats st;

	cvl_stream_stats(s->stream, &st);
	tl->done += st.position - s->done;
	tl->total += st.bytes - s->total;
	s->done = st.position;
	s->total = st.bytes;
}

static void count_memory(struct cvl_timeline *tl, struct source *s)
{
	tl->in_memory -= s->in_memory;
	s->in_memory = stream_held(s->stream);
	tl->in_memory += s->in_memory;
}

/* The file of stream @i is about to be read; those of others make room. */
static void use(struct cvl_timeline *tl, size_t i)
{
	struct source *s = tl->source[i];

	if (tl->in_memory > IN_MEMORY_MAX &&
	    (tl->records >= IN_MEMORY_FOR * tl->n_in_use || !tl->filled)) {
		for (size_t k = 0; k < tl->n_in_use; k++) {
			stream_let_go(tl->source[tl->in_use[k]]->stream);
			tl->source[tl->in_use[k]]->in_memory = 0;
		}
		tl->n_in_use = tl->in_memory = tl->records = 0;
	}
	if (!s->in_memory)
		tl->in_use[tl->n_in_use++] = i;
	count_memory(tl, s);
}

static void tell_damage(const struct cvl_timeline *tl, struct clock *c)
{
	struct cvl_error e;

	if (c->told || !cvl_map_damaged(c->map, &e))
		return;
	c->told = true;
	cvl_tell(tl->opts.report, &e);
}

/* Of a growing session: what comes when later records were delivered is late. */
static void mark_late(const struct cvl_timeline *tl, struct source *s)
{
	for (size_t i = s->pos; i < s->end && s->time[i].ns < tl->passed; i++)
		s->batch.flags[i] |= CVL_LATE;
}

/* Read until there is a record to deliver. 1, 0 at the end, or negative. */
static int refill(struct cvl_timeline *tl, size_t i, struct cvl_error *err)
{
	struct source *s = tl->source[i];
	int rc = 1;

	use(tl, i);
	for (;;) {
		if (s->holds)
			s->batch = s->held;
		else
			rc = cvl_stream_next(s->stream, &s->batch, err);
		note_progress(tl, s);
		if (rc > 0 && make_room(s, err))
			return CVL_E_NOMEM;
		if (rc <= 0)
			break;
		s->holds = false;
		s->clock = clock_of(tl, s);
		if (s->clock < 0 || !wanted(tl, (size_t)s->clock))
			continue;
		if (s->pick)
			pick(s);
		cvl_map_times(tl->clock[s->clock].map, s->batch.tick, s->batch.n, s->time);
		tell_damage(tl, &tl->clock[s->clock]);
		if (tl->opts.has_from && !s->begun) {
			note_levels(tl, s);
			if (s->begun && s->known) {
				s->held = s->batch;
				s->holds = true;
				put_state(tl, s);
				return 1;
			}
		}
		cut_range(tl, s);
		mark_late(tl, s);
		if (s->pos < s->end)
			return 1;
		if (tl->opts.has_until && s->batch.n && s->time[0].ns > tl->opts.until.ns)
			return 0;
	}
	if (rc || !tl->opts.has_from || s->begun || !s->known || !reaches_range(tl, s))
		return rc;
	s->begun = true;
	put_state(tl, s);
	return 1;
}

/* Ticks that bound the requested range on @clock, widened so that rounding loses nothing. */
static void tick_range(const struct cvl_timeline *tl, int clock, struct cvl_stream_opts *o)
{
	if (clock < 0)
		return;
	if (tl->opts.has_from)
		o->from = cvl_map_tick(tl->clock[clock].map, tl->opts.from);
	if (tl->opts.has_until) {
		o->to = cvl_map_tick(tl->clock[clock].map,
				     (struct cvl_time){ cvl_add_sat(tl->opts.until.ns, 1) });
		if (!o->to.count)
			o->to.count = 1;
	}
}

static int only_clock(const struct opened *t)
{
	size_t n = cvl_trace_clocks(t->trace);

	return n == 1 ? t->clock[0] : n ? -1 : t->any;
}

/* Options for reading the stream of @s, from what @session knows of it. */
static void stream_opts(const struct cvl_timeline *tl, const struct source *s,
			const struct cvl_session *session, struct cvl_stream_opts *o)
{
	const struct opened *t = &tl->trace[s->trace];

	*o = (struct cvl_stream_opts){
		.strict = tl->opts.strict,
		.report = tl->opts.report,
		.disorder = cvl_session_clock(session, t->first)->disorder_ticks,
		.unfinished = t->unfinished,
		.growing = tl->live && t->growing,
		.batch = tl->batch,
	};
	tick_range(tl, only_clock(t), o);
	stored_expect(session_stored(session, t->first),
		      s->missing ? s->missing : cvl_trace_stream_name(t->trace, s->file), o);
	if (s->missing && !o->first.count)
		o->first.count = cvl_session_clock(session, t->first)->base_tick;
}

/* Streams of one rate are not to run out of records all at the same time. */
static size_t first_batch(const struct cvl_timeline *tl, const struct source *s)
{
	return tl->expected < 2 ?
		       0 :
		       BATCH_LEAST + (tl->batch - BATCH_LEAST) * s->number / tl->expected;
}

static int open_source(struct cvl_timeline *tl, struct source *s, struct cvl_error *err)
{
	const struct opened *t = &tl->trace[s->trace];
	struct cvl_stream_opts o;
	int rc;

	stream_opts(tl, s, tl->session, &o);
	cvl_stream_close(s->stream);
	s->stream = NULL;
	s->pos = s->end = 0;
	s->reached = INT64_MIN;
	s->known = s->begun = s->holds = false;
	rc = s->missing ? cvl_stream_memory(&s->stream, t->trace, "", 0, s->missing, &o, err) :
			  cvl_stream_open(&s->stream, t->trace, s->file, &o, err);
	if (rc)
		return rc;
	stream_share(s->stream, IN_MEMORY_MAX / 4 / tl->expected, first_batch(tl, s));
	note_progress(tl, s);
	return 0;
}

/* ---- opening ---- */

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
	return open_source(tl, s, err);
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

static int make_maps(struct cvl_timeline *tl, struct cvl_error *err)
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
			 const struct cvl_timeline_opts *opts, bool live, struct cvl_error *err)
{
	struct cvl_timeline *tl = calloc(1, sizeof(*tl));
	int rc = 0;

	*out = NULL;
	if (!tl)
		return cvl_no_memory(err);
	tl->session = session;
	tl->live = live;
	tl->limit = tl->passed = INT64_MIN;
	if (opts)
		tl->opts = *opts;
	if (tl->opts.has_from && tl->opts.has_until && tl->opts.until.ns < tl->opts.from.ns) {
		free(tl);
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"the requested range ends before it begins");
	}
	if (tl->opts.node)
		rc = check_node(tl, err);
	if (!rc && !tl->opts.nominal && !live)
		rc = cvl_sync_load(&tl->sync, session, err);
	if (rc >= 0)
		rc = make_maps(tl, err);
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
	return open_timeline(out, session, opts, false, err);
}

int timeline_open_live(struct cvl_timeline **out, struct cvl_session *session,
		       const struct cvl_timeline_opts *opts, struct cvl_error *err)
{
	return open_timeline(out, session, opts, true, err);
}

void cvl_timeline_close(struct cvl_timeline *tl)
{
	if (!tl)
		return;
	for (size_t i = 0; i < tl->n_sources; i++) {
		cvl_stream_close(tl->source[i]->stream);
		free(tl->source[i]->missing);
		free(tl->source[i]->time);
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
		int rc = open_source(tl, tl->source[i], err);

		if (rc)
			return rc;
	}
	tl->n_leads = 0;
	tl->started = tl->filled = false;
	return 0;
}

static int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool any_late(const uint8_t *flags, size_t n)
{
	uint8_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= flags[i];
	return any & CVL_LATE;
}

/* Source @i has records at hand. */
static void set_lead(const struct cvl_timeline *tl, struct lead *lead, size_t i)
{
	struct source *s = tl->source[i];
	int64_t first = s->time[s->pos].ns, last = first;

	s->ordered = first >= s->reached && !any_late(s->batch.flags + s->pos, s->end - s->pos);
	if (s->ordered)
		last = s->time[s->end - 1].ns;
	for (size_t k = s->pos; k < s->end && !s->ordered; k++)
		last = latest(last, s->time[k].ns);
	*lead = (struct lead){ .first = latest(first, s->reached),
			       .last = latest(last, s->reached),
			       .source = (uint32_t)i };
	s->payloads = s->payloads || has_fields(s->batch.kind[s->end - 1]);
	tl->part[i] = (struct cvl_part){ (size_t)s->clock, &s->batch, s->time };
}

/* Pending records get the times of the new maps. */
static int refresh(struct cvl_timeline *tl, struct cvl_error *err)
{
	tl->n_leads = 0;
	for (size_t i = 0; i < tl->n_sources; i++) {
		struct source *s = tl->source[i];
		int rc = 1;

		s->reached = INT64_MIN;
		if (s->pos >= s->end)
			rc = refill(tl, i, err);
		else if (s->batch.tick != &s->state.tick)
			cvl_map_times(tl->clock[s->clock].map, s->batch.tick + s->pos,
				      s->end - s->pos, s->time + s->pos);
		if (rc < 0)
			return rc;
		if (rc) {
			mark_late(tl, s);
			set_lead(tl, &tl->lead[tl->n_leads++], i);
		}
	}
	return 0;
}

int timeline_grow(struct cvl_timeline *tl, const struct cvl_session *now, struct cvl_sync *sync,
		  int64_t limit, struct cvl_error *err)
{
	int rc;

	cvl_sync_free(tl->sync);
	tl->sync = sync;
	/* the nominal timeline promises nothing: it is read to be synchronised */
	tl->passed = tl->opts.nominal ? INT64_MIN : tl->limit;
	tl->limit = limit;
	rc = make_maps(tl, err);
	for (size_t i = 0; i < tl->n_traces; i++) {
		const struct cvl_clock *c = cvl_session_clock(now, tl->trace[i].first);

		tl->trace[i].growing = c->growing;
		tl->trace[i].unfinished = c->unfinished;
	}
	for (size_t i = 0; i < tl->n_sources && !rc; i++) {
		struct cvl_stream_opts o;

		stream_opts(tl, tl->source[i], now, &o);
		rc = cvl_stream_grow(tl->source[i]->stream, &o, err);
		note_progress(tl, tl->source[i]);
	}
	tl->started = true;
	rc = rc ? rc : refresh(tl, err);
	tl->filled = !rc;
	return rc;
}

bool timeline_ended(const struct cvl_timeline *tl)
{
	return tl->started && !tl->n_leads;
}

uint64_t timeline_seen(const struct cvl_timeline *tl, size_t clock)
{
	uint64_t seen = UINT64_MAX;

	for (size_t i = 0; i < tl->n_sources; i++) {
		const struct source *s = tl->source[i];
		struct cvl_stream_stats stats;
		uint64_t here;

		if (s->clock != (int)clock)
			continue;
		cvl_stream_stats(s->stream, &stats);
		here = s->pos < s->end ? s->batch.tick[s->pos].count : stats.end.count;
		seen = here < seen ? here : seen;
	}
	return seen < UINT64_MAX ? seen : 0;
}

void cvl_timeline_pick(struct cvl_timeline *tl, size_t stream, const struct cvl_pick *p)
{
	if (!tl->opts.has_from && !tl->opts.has_until)
		tl->source[stream]->pick = p;
}

struct cvl_time cvl_timeline_until(const struct cvl_timeline *tl)
{
	return tl->opts.has_until ? tl->opts.until : CVL_TIME_MAX;
}

/* ---- merging ---- */

static int tell_progress(const struct cvl_timeline *tl, struct cvl_error *err)
{
	return cvl_progress_tell(&tl->opts.progress, tl->done, tl->total, err);
}

static int start(struct cvl_timeline *tl, struct cvl_error *err)
{
	int rc = tell_progress(tl, err);

	if (rc)
		return rc;
	tl->started = true;
	for (size_t i = 0; i < tl->n_sources; i++) {
		rc = refill(tl, i, err);

		if (rc < 0)
			return rc;
		count_memory(tl, tl->source[i]);
		if (rc > 0)
			set_lead(tl, &tl->lead[tl->n_leads++], i);
	}
	tl->filled = true;
	return 0;
}

/* Sources that took part in the last block, whose arrays were in use until now, go on. */
static int go_on(struct cvl_timeline *tl, struct cvl_error *err)
{
	const size_t all = tl->n_leads;
	size_t n = 0, i;
	int rc = tell_progress(tl, err);

	for (i = 0; i < all && rc >= 0; i++) {
		struct lead lead = tl->lead[i];
		struct source *s = tl->source[lead.source];

		rc = 1;
		if (lead.took && s->pos < s->end) {
			lead.first = latest(s->time[s->pos].ns, s->reached);
			lead.took = false;
		} else if (lead.took) {
			rc = refill(tl, lead.source, err);
			if (rc > 0)
				set_lead(tl, &lead, lead.source);
		}
		if (rc)
			tl->lead[n++] = lead; /* also if it failed: it will again */
	}
	memmove(&tl->lead[n], &tl->lead[i], (all - i) * sizeof(*tl->lead));
	tl->n_leads = n + all - i;
	return rc < 0 ? rc : 0;
}

/* How far the first lead of (time, source) that runs out of records reaches. */
static const struct lead *first_to_end(const struct cvl_timeline *tl)
{
	const struct lead *least = tl->lead;

	for (size_t i = 1; i < tl->n_leads; i++)
		if (tl->lead[i].last < least->last)
			least = &tl->lead[i];
	return least;
}

/*
 * Records in order up to where the first source runs out of them, so that whatever follows is
 * later.
 */
static int fill_window(struct cvl_timeline *tl, struct cvl_error *err)
{
	const struct lead *end = first_to_end(tl);
	struct window *w = &tl->window;
	int64_t first = tl->lead[0].first, last = end->last, most;
	size_t sources = 0, begin = 0;
	uint32_t one = 0;

	for (size_t i = 1; i < tl->n_leads; i++)
		first = tl->lead[i].first < first ? tl->lead[i].first : first;
	most = window_begin(w, first);
	if (tl->live && tl->limit <= first)
		return 0;
	if (tl->live && most >= tl->limit)
		most = tl->limit - 1;
	if (last > most) {
		last = most;
		end = &tl->lead[tl->n_leads - 1];
	}
	for (struct lead *lead = tl->lead; lead < tl->lead + tl->n_leads; lead++) {
		/* equal times: the stream with the smaller number first */
		const int64_t limit = lead <= end ? last : cvl_add_sat(last, -1);
		struct source *s;

		lead->took = lead->first <= limit;
		if (!lead->took)
			continue;
		s = tl->source[lead->source];
		if (window_reserve(w, s->end - s->pos))
			return cvl_no_memory(err);
		if (!s->in_memory && s->payloads)
			use(tl, lead->source);
		begin = s->pos;
		s->pos = window_add(w, lead->source, s->time, s->pos, s->end, s->ordered,
				    &s->reached, limit);
		one = lead->source;
		sources++;
	}
	if (sources == 1)
		window_one(w, one, begin, begin + w->n);
	else
		window_sort(w);
	tl->records += w->n;
	return 0;
}

/* All records at hand of the only source that has any. */
static void take_all(struct cvl_timeline *tl)
{
	struct lead *lead = tl->lead;
	struct source *s = tl->source[lead->source];

	window_one(&tl->window, lead->source, s->pos, s->end);
	s->pos = s->end;
	lead->took = true;
}

int cvl_timeline_next(struct cvl_timeline *tl, struct cvl_block *block, struct cvl_error *err)
{
	int rc = tl->started ? go_on(tl, err) : start(tl, err);

	if (!rc && tl->n_leads == 1 && !tl->live)
		take_all(tl);
	else if (!rc && tl->n_leads)
		rc = fill_window(tl, err);
	if (rc)
		return rc;
	*block =
		(struct cvl_block){ tl->window.run, tl->n_leads ? tl->window.n_runs : 0, tl->part };
	return block->n > 0;
}

/* ---- queries ---- */

struct cvl_bound cvl_timeline_clock_bound(const struct cvl_timeline *tl, size_t clock,
					  struct cvl_tick tick)
{
	struct clock *c = &tl->clock[clock];
	struct cvl_bound b = c->bound;

	cvl_map_bounds(c->map, &c->cursor.map, &tick, 1, &b.map);
	return b;
}

/* @ticks of the clock, rounded up to ns. Those of a clock are mostly the same. */
static int64_t capture_ns(const struct cvl_timeline *tl, struct timeline_cursor *c, size_t clock,
			  uint64_t ticks)
{
	const uint64_t rate = cvl_session_clock(tl->session, clock)->rate_hz;
	unsigned __int128 ns;

	if (ticks != c->ticks) {
		ns = ((unsigned __int128)ticks * 1000000000u + rate - 1) / rate;
		c->ns = ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
		c->ticks = ticks;
	}
	return c->ns;
}

/* Of record @i, as far as its clock's map has no part in it. */
static int64_t capture_of(const struct cvl_timeline *tl, struct timeline_cursor *c,
			  const struct cvl_slice *slice, size_t i)
{
	int64_t ns;

	if (slice->batch->bracket)
		return capture_ns(tl, c, slice->clock, slice->batch->bracket[i]);
	ns = capture_ns(tl, c, slice->clock,
			cvl_session_clock(tl->session, slice->clock)->resolution);
	return tl->clock[slice->clock].bound.kind == CVL_BOUND_STATISTICAL ? (ns + 1) / 2 : ns;
}

struct cvl_bound cvl_timeline_bound_parts(const struct cvl_timeline *tl,
					  const struct cvl_slice *slice, size_t i)
{
	struct cvl_bound b = cvl_timeline_clock_bound(tl, slice->clock, slice->batch->tick[i]);

	b.capture = capture_of(tl, &tl->clock[slice->clock].cursor, slice, i);
	return b;
}

int64_t timeline_bound(const struct cvl_timeline *tl, struct timeline_cursor *cursor,
		       const struct cvl_slice *slice, size_t i)
{
	const struct clock *c = &tl->clock[slice->clock];
	struct cvl_bound b = c->bound;

	cvl_map_bounds(c->map, &cursor->map, &slice->batch->tick[i], 1, &b.map);
	b.capture = capture_of(tl, cursor, slice, i);
	return cvl_bound_total(b);
}

int64_t cvl_timeline_bound(const struct cvl_timeline *tl, const struct cvl_slice *slice, size_t i)
{
	return timeline_bound(tl, &tl->clock[slice->clock].cursor, slice, i);
}

void cvl_timeline_bounds(const struct cvl_timeline *tl, const struct cvl_slice *slice,
			 int64_t *bound)
{
	struct clock *c = &tl->clock[slice->clock];
	const size_t n = slice->end - slice->begin;
	struct cvl_bound b = c->bound;

	if (b.group) {
		for (size_t i = 0; i < n; i++)
			bound[i] = CVL_BOUND_UNKNOWN;
		return;
	}
	cvl_map_bounds(c->map, &c->cursor.map, slice->batch->tick + slice->begin, n, bound);
	for (size_t i = 0; i < n; i++) {
		b.map = bound[i];
		b.capture = capture_of(tl, &c->cursor, slice, slice->begin + i);
		bound[i] = cvl_bound_total(b);
	}
}

int64_t cvl_bound_total(struct cvl_bound b)
{
	if (b.map == CVL_BOUND_UNKNOWN || b.group)
		return CVL_BOUND_UNKNOWN;
	return cvl_add_sat(b.map, cvl_add_sat(b.capture, b.reference));
}

/* Combine two independent ones that each hold 99.9 % of the time. */
static int64_t both(int64_t a, int64_t b)
{
	return (int64_t)fminl(ceill(hypotl((long double)a, (long double)b)), 9.2e18L);
}

int64_t cvl_bound_pair(struct cvl_bound a, struct cvl_bound b)
{
	int64_t maps, references;

	if (a.map == CVL_BOUND_UNKNOWN || b.map == CVL_BOUND_UNKNOWN || a.group != b.group)
		return CVL_BOUND_UNKNOWN;
	references = a.reference_is_max || b.reference_is_max ?
			     cvl_add_sat(a.reference, b.reference) :
			     both(a.reference, b.reference);
	if (a.kind != CVL_BOUND_STATISTICAL || b.kind != CVL_BOUND_STATISTICAL)
		maps = cvl_add_sat(a.map, b.map);
	else
		maps = both(a.map, b.map);
	return cvl_add_sat(cvl_add_sat(maps, references), cvl_add_sat(a.capture, b.capture));
}

enum cvl_order cvl_timeline_order(struct cvl_time a, struct cvl_time b, int64_t bound)
{
	__int128 apart = (__int128)b.ns - a.ns;

	if (bound == CVL_BOUND_UNKNOWN)
		return CVL_CANNOT_TELL;
	return apart > bound ? CVL_BEFORE : -apart > bound ? CVL_AFTER : CVL_CANNOT_TELL;
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
