/* SPDX-License-Identifier: MIT */
#include "analysis/tasks/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"
#include "analysis/tasks/internal.h"

static const char *const names[TASK_WHATS] = { "cyc",  "cpi",   "exc", "sleep",     "lsu",
					       "fold", "flash", "ram", "peripheral" };

const char *task_what_name(enum task_what what)
{
	return names[what];
}

enum task_what task_what_find(const char *name)
{
	unsigned i = 0;

	while (i < TASK_WHATS && strcmp(name, names[i]))
		i++;
	return (enum task_what)i;
}

int task_no_memory(const struct task_study *s)
{
	return cvl_no_memory(s->err);
}

int task_not_tied(const struct task_study *s, uint32_t a, uint32_t b)
{
	struct cvl_session *session = cvl_timeline_session(s->tl);

	return cvl_fail(
		s->err, CVL_E_NO, CVL_NO_OFFSET,
		"%s: tasks are on clock %s, and what is to be counted or measured on %s, but nothing ties the two: run `coeval sync` first",
		cvl_session_path(session), cvl_session_clock(session, a)->name,
		cvl_session_clock(session, b)->name);
}

int64_t task_reach_of(struct cvl_bound b)
{
	return cvl_add_sat(b.map == CVL_BOUND_UNKNOWN ? 0 : b.map, b.capture);
}

void task_reach(struct task_study *s, struct cvl_bound bound)
{
	int64_t reach = task_reach_of(bound);

	if (reach != CVL_BOUND_UNKNOWN && reach > s->reach)
		s->reach = reach;
}

void task_see_time(struct task_stream *stream, int64_t ns)
{
	if (ns <= stream->line_time[0])
		return;
	stream->line_time[2] = stream->line_time[1];
	stream->line_time[1] = stream->line_time[0];
	stream->line_time[0] = ns;
}

int64_t task_earliest(const struct task_study *s, size_t stream, int64_t ns)
{
	if (!s->stream[stream].on_line)
		return ns;
	return s->opts->has_delay ? cvl_add_sat(ns, -s->opts->delay_ns) :
				    s->stream[stream].line_time[2];
}

static void forget_times(struct task_study *s, size_t streams)
{
	for (size_t i = 0; i < streams; i++) {
		s->stream[i].place = 0;
		s->stream[i].levels.known = 0;
		for (unsigned k = 0; k < 3; k++)
			s->stream[i].line_time[k] = INT64_MIN;
	}
}

/* ---- roles and fields ---- */

static enum task_role role_of(const char *name)
{
	static const struct {
		const char *name;
		enum task_role role;
	} roles[] = {
		{ "software", ROLE_SOFTWARE },    { "event_counter", ROLE_COUNTERS },
		{ "data_address", ROLE_ADDRESS }, { "data_read", ROLE_VALUE },
		{ "data_write", ROLE_VALUE },     { "data_match", ROLE_MATCH },
		{ "data_pc", ROLE_DATA_PC },      { "pc", ROLE_PC },
		{ "sleep", ROLE_SLEEP },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strcmp(name, roles[i].name))
			return roles[i].role;
	return ROLE_NONE;
}

enum task_role task_role(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_trace *trace = cvl_timeline_trace(s->tl, sl->stream);
	struct task_stream *stream = &s->stream[sl->stream];
	uint32_t cls = sl->batch->cls[i];
	size_t n = cvl_trace_events(trace);

	if (cls >= n)
		return ROLE_NONE;
	if (!stream->role) {
		stream->role = malloc(n);
		if (!stream->role)
			return ROLE_NONE;
		memset(stream->role, ROLE_UNKNOWN, n);
	}
	if (stream->role[cls] == ROLE_UNKNOWN)
		stream->role[cls] =
			(uint8_t)role_of(cvl_plain_name(cvl_trace_event(trace, cls)->name));
	return (enum task_role)stream->role[cls];
}

void task_look_up(struct task_study *s, const struct cvl_slice *sl)
{
	const struct cvl_trace *trace = cvl_timeline_trace(s->tl, sl->stream);
	const struct cvl_clock *clock = cvl_session_clock(cvl_timeline_session(s->tl), sl->clock);
	struct task_stream *stream = &s->stream[sl->stream];

	if (stream->lines)
		return;
	stream->lines = true;
	stream->on_line = clock->same_as >= 0 && !strcmp(clock->format, "swo");
	for (size_t i = 0; i < s->opts->n_pins; i++) {
		stream->pin[i] = clocks_find(trace, "line", s->opts->pin[i].line);
		stream->counts = stream->counts || stream->pin[i] >= 0;
		if (stream->pin[i] >= CVL_LINES_MAX)
			stream->pin[i] = -1;
	}
	stream->edges = clocks_find(trace, "line", s->opts->edges);
	stream->channel = clocks_find(trace, "channel", s->opts->power);
	stream->counts = stream->counts || stream->edges >= 0;
	s->saw_edges = s->saw_edges || stream->edges >= 0;
	s->saw_channel = s->saw_channel || stream->channel >= 0;
}

static void take_field(void *ctx, const char *name, const struct cvl_value *v)
{
	struct task_fields *f = ctx;
	bool number = v->type->kind == CVL_TYPE_INT;
	enum task_what what;

	if (!name)
		return;
	name = cvl_plain_name(name);
	if (number && !strcmp(name, "port"))
		f->port = v->u;
	else if (number && !strcmp(name, "value"))
		f->value = v->u;
	else if (number && !strcmp(name, "comparator"))
		f->comparator = v->u;
	else if (number && (what = task_what_find(name)) <= TASK_FOLD)
		f->counter[what] = v->u;
	else if (v->type->kind == CVL_TYPE_STRING && !strcmp(name, "symbol")) {
		size_t n = v->s.len < sizeof(f->symbol) ? v->s.len : sizeof(f->symbol) - 1;

		memcpy(f->symbol, v->s.text, n);
		f->symbol[n] = '\0';
	}
}

static void no_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void no_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

bool task_fields(struct task_study *s, const struct cvl_slice *sl, size_t i,
		 struct task_fields *out)
{
	const struct cvl_visitor visitor = { take_field, no_begin, no_end, NULL, out };

	memset(out, 0, sizeof(*out));
	out->port = out->comparator = UINT64_MAX;
	return !cvl_stream_visit(cvl_timeline_stream(s->tl, sl->stream), sl->batch, i, &visitor,
				 NULL);
}

/* ---- the two readings ---- */

static int64_t duration(const struct task_run *r)
{
	return r->end.time.ns - r->begin.time.ns;
}

static int by_begin(const void *va, const void *vb)
{
	const struct task_run *a = va, *b = vb;

	if (a->begin.time.ns != b->begin.time.ns)
		return a->begin.time.ns < b->begin.time.ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->begin.place < b->begin.place ? -1 : a->begin.place > b->begin.place;
}

/* Deeper nests are not told apart. */
#define DEPTH_MAX 64

static bool holds(const struct task_run *outer, const struct task_run *inner)
{
	if (outer->stream != inner->stream)
		return false;
	return outer->begin.place < inner->begin.place && inner->end.place < outer->end.place;
}

/* Time of each run goes to the innermost of those that hold it. */
static void share_time(struct tasks *t)
{
	uint32_t open[DEPTH_MAX];
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_runs; i++) {
		struct task_run *r = &t->run[i];
		unsigned kept = 0;

		for (unsigned k = 0; k < n; k++)
			if (t->run[open[k]].end.time.ns >= r->begin.time.ns)
				open[kept++] = open[k];
		n = kept;
		for (unsigned k = n; k-- > 0;)
			if (holds(&t->run[open[k]], r)) {
				t->run[open[k]].within += duration(r);
				break;
			}
		if (n == DEPTH_MAX)
			memmove(open, open + 1, --n * sizeof(*open));
		open[n++] = i;
	}
}

/* Only those that ended are left. */
static void keep_finished(struct task_study *s)
{
	struct tasks *t = s->t;
	size_t n = 0;

	for (size_t i = 0; i < t->n_runs; i++) {
		struct task_run *r = &t->run[i];

		if (!r->finished) {
			t->task[r->task].unfinished++;
			continue;
		}
		r->bound = clocks_duration(duration(r), r->begin.bound, r->end.bound);
		t->task[r->task].runs++;
		t->run[n++] = *r;
	}
	t->n_runs = n;
	if (n)
		qsort(t->run, n, sizeof(*t->run), by_begin);
	share_time(t);
}

/* A comparator may tell of one access by several packets: the kind that came most often counts accesses. */
static void choose_matches(struct task_study *s)
{
	for (size_t c = 0; c < TASK_COMPARATORS; c++) {
		unsigned best = 0;

		for (unsigned k = 1; k < ROLE_MATCHES; k++)
			if (s->match[c][k] > s->match[c][best])
				best = k;
		s->match_role[c] = (enum task_role)(ROLE_ADDRESS + best);
		if (s->opts->region[c] < TASK_WHATS)
			s->t->packets[s->opts->region[c]] += s->match[c][best];
	}
}

static int check_names(const struct task_study *s)
{
	const char *path = cvl_session_path(cvl_timeline_session(s->tl));

	const char *line = s->opts->edges && !s->saw_edges ? s->opts->edges : NULL;

	for (size_t i = 0; i < s->opts->n_pins; i++)
		if (!(s->saw_pins >> i & 1))
			line = s->opts->pin[i].line;
	if (line)
		return cvl_fail(
			s->err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"%s: no clock has edges of a line %s; `coeval info` lists the lines", path,
			line);
	if (s->opts->power && !s->saw_channel)
		return cvl_fail(
			s->err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"%s: no clock has samples of a channel %s; `coeval info` lists the channels",
			path, s->opts->power);
	if (s->t->n)
		return 0;
	return cvl_fail(
		s->err, CVL_E_NO, CVL_NO_OFFSET,
		"%s: no task is marked: neither writes to stimulus ports %llu and %llu (--ports names others) nor spans; a line that shows one is named by --pin",
		path, (unsigned long long)s->opts->port_begin,
		(unsigned long long)s->opts->port_end);
}

int tasks_study(struct tasks *tasks, struct cvl_timeline *tl, const struct task_opts *opts,
		struct cvl_error *err)
{
	struct cvl_session *session = cvl_timeline_session(tl);
	size_t streams = cvl_timeline_streams(tl);
	struct task_study s = { .t = tasks, .tl = tl, .opts = opts, .err = err };
	int rc;

	*tasks = (struct tasks){ 0 };
	s.stream = calloc(streams + 1, sizeof(*s.stream));
	s.root = clocks_roots(session);
	rc = s.stream && s.root ? 0 : task_no_memory(&s);
	if (!rc) {
		forget_times(&s, streams);
		rc = task_runs(&s);
	}
	if (!rc)
		rc = check_names(&s);
	if (!rc) {
		keep_finished(&s);
		choose_matches(&s);
		forget_times(&s, streams);
		rc = cvl_timeline_rewind(tl, err);
	}
	if (!rc)
		rc = task_counts(&s);
	for (size_t i = 0; s.stream && i < streams; i++) {
		free(s.stream[i].role);
		free(s.stream[i].active.run);
	}
	free(s.stream);
	free(s.root);
	if (rc)
		tasks_free(tasks);
	return rc;
}

void tasks_free(struct tasks *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->task[i].name);
	for (size_t i = 0; i < t->n_functions; i++)
		free(t->function[i].name);
	free(t->task);
	free(t->run);
	free(t->function);
	*t = (struct tasks){ 0 };
}
