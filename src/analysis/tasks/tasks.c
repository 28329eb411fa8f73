/* SPDX-License-Identifier: MIT */
#include <coeval/tasks.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"
#include "analysis/tasks/internal.h"
#include "wire/swo_marks.h"

_Static_assert(CVL_TASK_PORT_BEGIN == SWO_PORT_BEGIN && CVL_TASK_PORT_END == SWO_PORT_END,
	       "targets mark tasks so");

static const char *const names[CVL_TASK_WHATS] = { "cyc",  "cpi",   "exc", "sleep",     "lsu",
						   "fold", "flash", "ram", "peripheral" };

const char *cvl_task_what_name(enum cvl_task_what what)
{
	return names[what];
}

enum cvl_task_what cvl_task_what_find(const char *name)
{
	unsigned i = 0;

	while (i < CVL_TASK_WHATS && strcmp(name, names[i]))
		i++;
	return (enum cvl_task_what)i;
}

int task_not_tied(const struct task_study *s, uint32_t a, uint32_t b)
{
	struct cvl_session *session = cvl_timeline_session(s->tl);

	return cvl_fail(
		s->err, CVL_E_NO, CVL_NO_OFFSET,
		"%s: tasks are on clock %s, and what is to be counted or measured on %s, and nothing ties the two; synchronise the session first",
		cvl_session_path(session), cvl_session_clock(session, a)->name,
		cvl_session_clock(session, b)->name);
}

int64_t task_reach_of(struct cvl_bound b)
{
	return cvl_add_sat(b.map == CVL_BOUND_UNKNOWN ? 0 : b.map, b.capture);
}

int64_t task_earliest(const struct task_study *s, size_t stream, int64_t ns)
{
	if (!s->stream[stream].on_line)
		return ns;
	return s->r.opts.has_delay ? cvl_add_sat(ns, -s->r.opts.delay_ns) :
				     s->stream[stream].line_time[2];
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
		{ "sleep", ROLE_SLEEP },          { "task_switch", ROLE_SWITCH },
		{ "task_create", ROLE_CREATE },   { "task_name", ROLE_NAME },
		{ "isr_enter", ROLE_ISR_ENTER },  { "isr_exit", ROLE_ISR_EXIT },
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
	for (size_t i = 0; i < s->n_pins; i++)
		stream->counts = stream->counts || cvl_select_in(s->pin_lines, i, sl->stream);
	stream->counts =
		stream->counts || (s->edges && cvl_select_in(s->edge_lines, 0, sl->stream));
	stream->channel = clocks_find(trace, "channel", s->r.opts.power);
	s->saw_channel = s->saw_channel || stream->channel >= 0;
}

static void take_field(void *ctx, const char *name, const struct cvl_value *v)
{
	struct task_fields *f = ctx;
	bool number = v->type->kind == CVL_TYPE_INT;
	enum cvl_task_what what;

	if (!name)
		return;
	name = cvl_plain_name(name);
	if (number && !strcmp(name, "port"))
		f->port = v->u;
	else if (number && !strcmp(name, "value"))
		f->value = v->u;
	else if (number && !strcmp(name, "comparator"))
		f->comparator = v->u;
	else if (number && (what = cvl_task_what_find(name)) <= CVL_TASK_FOLD)
		f->counter[what] = v->u;
	else if (number && !strcmp(name, "task"))
		f->task = v->u;
	else if (number && !strcmp(name, "prev"))
		f->prev = v->u;
	else if (number && !strcmp(name, "next"))
		f->next = v->u;
	else if (number && !strcmp(name, "irq"))
		f->irq = v->u;
	else if (v->type->kind == CVL_TYPE_STRING &&
		 (!strcmp(name, "symbol") || !strcmp(name, "name") || !strcmp(name, "next_name"))) {
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
	const struct cvl_visitor visitor = { take_field, no_begin, no_end, NULL, out, NULL };

	memset(out, 0, sizeof(*out));
	out->port = out->comparator = UINT64_MAX;
	out->task = out->prev = out->next = out->irq = UINT64_MAX;
	return !cvl_stream_visit(cvl_timeline_stream(s->tl, sl->stream), sl->batch, i, &visitor,
				 NULL);
}

/* ---- runs ---- */

static int64_t duration(const struct cvl_task_run *r)
{
	return r->end.time.ns - r->begin.time.ns;
}

static int by_begin(const void *va, const void *vb)
{
	const struct cvl_task_run *a = va, *b = vb;

	if (a->begin.time.ns != b->begin.time.ns)
		return a->begin.time.ns < b->begin.time.ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->begin.place < b->begin.place ? -1 : a->begin.place > b->begin.place;
}

/* Deepest nesting distinguished. */
#define DEPTH_MAX 64

static bool holds(const struct cvl_task_run *outer, const struct cvl_task_run *inner)
{
	if (outer->stream != inner->stream)
		return false;
	return outer->begin.place < inner->begin.place && inner->end.place < outer->end.place;
}

/* Attribute time to the innermost run. */
static void share_time(struct cvl_tasks_result *t)
{
	uint32_t open[DEPTH_MAX];
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_runs; i++) {
		struct cvl_task_run *r = &t->run[i];
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

/* Keep only runs that ended. */
static void keep_finished(struct task_study *s)
{
	struct cvl_tasks_result *t = &s->r;
	size_t n = 0;

	for (size_t i = 0; i < t->n_runs; i++) {
		struct cvl_task_run *r = &t->run[i];

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

/*
 * A comparator may emit several packets for one access: the most frequent kind counts accesses.
 */
static void choose_matches(struct task_study *s)
{
	for (size_t c = 0; c < CVL_TASK_COMPARATORS; c++) {
		unsigned best = 0;

		for (unsigned k = 1; k < ROLE_MATCHES; k++)
			if (s->match[c][k] > s->match[c][best])
				best = k;
		s->match_role[c] = (enum task_role)(ROLE_ADDRESS + best);
		if (s->r.opts.region[c] < CVL_TASK_WHATS)
			s->r.packets[s->r.opts.region[c]] += s->match[c][best];
	}
}

static int check_names(const struct task_study *s)
{
	const char *path = cvl_session_path(cvl_timeline_session(s->tl));

	if (s->r.opts.power && !s->saw_channel)
		return cvl_fail(s->err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
				"%s: no clock has samples of a channel %s", path, s->r.opts.power);
	if (s->r.n)
		return 0;
	return cvl_fail(
		s->err, CVL_E_NO, CVL_NO_OFFSET,
		"%s: no task is marked: neither by writes to stimulus ports %llu and %llu, nor spans, nor switches of a real-time kernel, nor a line that was named",
		path, (unsigned long long)s->r.opts.port_begin,
		(unsigned long long)s->r.opts.port_end);
}

/* ---- the analysis ---- */

static int push(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct task_study *s = (struct task_study *)a;
	int rc = 0;

	s->err = err;
	task_look_up(s, sl);
	for (size_t i = sl->begin; i < sl->end && !rc; i++, s->stream[sl->stream].place++)
		rc = task_record(s, sl, i);
	return rc;
}

static void sum_up(struct cvl_tasks_result *t)
{
	for (size_t i = 0; i < t->n_runs; i++) {
		const struct cvl_task_run *r = &t->run[i];

		cvl_task_sum_add(&t->task[r->task].sum, r);
		if (!r->gaps && r->bound != CVL_BOUND_UNKNOWN)
			cvl_task_sum_add(&t->task[r->task].whole, r);
	}
	t->measured = t->opts.enabled;
	for (unsigned i = 0; i < CVL_TASK_WHATS; i++)
		t->measured |= t->packets[i] ? 1u << i : 0;
}

static int end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	struct task_study *s = (struct task_study *)a;
	int rc;

	(void)last;
	s->err = err;
	rc = check_names(s);
	if (rc)
		return rc;
	keep_finished(s);
	choose_matches(s);
	rc = task_counts(s);
	task_function_end(s);
	task_log_free(&s->log);
	sum_up(&s->r);
	return rc;
}

static void tasks_free(struct cvl_analysis *a)
{
	struct task_study *s = (struct task_study *)a;

	for (size_t i = 0; s->stream && i < s->n_streams; i++) {
		free(s->stream[i].role);
		free(s->stream[i].active.run);
	}
	for (size_t i = 0; i < s->r.n; i++)
		free(s->r.task[i].name);
	for (size_t i = 0; i < s->r.n_functions; i++)
		free(s->r.function[i].name);
	for (size_t i = 0; i < s->functions.size; i++)
		free(s->functions.at[i].name);
	task_log_free(&s->log);
	cvl_select_close(s->pin_lines);
	cvl_select_close(s->edge_lines);
	free(s->functions.at);
	free(s->power.active.run);
	free(s->end_so_far);
	free(s->stream);
	free(s->root);
	free(s->r.task);
	free(s->r.run);
	free(s->r.function);
	free(s);
}

static const struct cvl_analysis_kind tasks_kind = {
	.name = "tasks",
	.push = push,
	.end = end,
	.free = tasks_free,
};

/* A line named twice counts once, or its runs would count twice. */
static bool is_named(const struct task_study *s, const struct cvl_selector *pin)
{
	for (size_t i = 0; i < s->n_pins; i++)
		if (s->pins[i]->means == pin->means && !strcmp(s->pins[i]->name, pin->name) &&
		    !strcmp(s->pins[i]->node, pin->node))
			return true;
	return false;
}

static int bind(struct task_study *s)
{
	static const struct cvl_select_opts state = { .line = CVL_WHEN_HIGH },
					    rise = { .line = CVL_WHEN_RISE };
	const struct cvl_tasks_opts *o = &s->r.opts;
	int rc = 0;

	if (o->n_pins > CVL_TASK_PINS_MAX)
		return cvl_fail(s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"more than %d lines that show tasks", CVL_TASK_PINS_MAX);
	for (size_t i = 0; i < o->n_pins && !rc; i++) {
		struct cvl_selector *pin = &o->pin[i];

		rc = cvl_selector_resolve(pin, s->tl, &state, s->err);
		if (!rc && pin->means != CVL_WHEN_HIGH && pin->means != CVL_WHEN_LOW)
			rc = cvl_fail(s->err, CVL_E_USAGE, CVL_NO_OFFSET,
				      "a task runs while a line is high or low; '%s' is neither",
				      pin->text);
		if (!rc && !is_named(s, pin))
			s->pins[s->n_pins++] = pin;
	}
	if (!rc && s->n_pins)
		rc = cvl_select_open(&s->pin_lines, s->pins, s->n_pins, s->tl, &state, s->err);
	s->edges = o->edges;
	if (!rc && s->edges)
		rc = cvl_select_open(&s->edge_lines, &s->edges, 1, s->tl, &rise, s->err);
	return rc;
}

static struct cvl_tasks_opts with_defaults(struct cvl_tasks_opts o)
{
	if (!o.port_begin && !o.port_end) {
		o.port_begin = CVL_TASK_PORT_BEGIN;
		o.port_end = CVL_TASK_PORT_END;
	}
	for (unsigned i = 0; i < CVL_TASK_COMPARATORS; i++)
		if (o.region[i] <= CVL_TASK_FOLD)
			o.region[i] = CVL_TASK_WHATS;
	if (!o.cycles_per_packet)
		o.cycles_per_packet = 1024;
	if (!(o.cycles_per_access > 0))
		o.cycles_per_access = 1;
	return o;
}

int cvl_tasks_open(struct cvl_analysis **a, struct cvl_timeline *tl,
		   const struct cvl_tasks_opts *opts, struct cvl_error *err)
{
	struct task_study *s = calloc(1, sizeof(*s));
	int rc;

	*a = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->analysis.kind = &tasks_kind;
	s->r.opts = with_defaults(*opts);
	s->tl = tl;
	s->err = err;
	s->n_streams = cvl_timeline_streams(tl);
	s->stream = calloc(s->n_streams + 1, sizeof(*s->stream));
	s->root = clocks_roots(cvl_timeline_session(tl));
	rc = s->stream && s->root ? bind(s) : cvl_no_memory(s->err);
	for (size_t i = 0; s->stream && i < s->n_streams; i++)
		s->stream[i].running = CVL_TASK_NONE;
	for (size_t i = 0; s->stream && i < s->n_streams; i++)
		for (unsigned k = 0; k < 3; k++)
			s->stream[i].line_time[k] = INT64_MIN;
	if (rc)
		tasks_free(&s->analysis);
	else
		*a = &s->analysis;
	return rc;
}

const struct cvl_tasks_result *cvl_tasks_result(const struct cvl_analysis *a)
{
	return &((const struct task_study *)a)->r;
}
