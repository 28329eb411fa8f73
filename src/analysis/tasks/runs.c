/* SPDX-License-Identifier: MIT */
/* First step: find runs of tasks, and log what may belong to them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tasks/internal.h"
#include <coeval/array.h>

#define TASKS_MAX 4096
#define RUNS_MAX (1u << 20)
/* Open runs of one task that are searched for an end. */
#define NEST_MAX 1000

/*
 * The task of that number or name on that clock, created if new; @kernel: one of a real-time kernel, by its
 * number. CVL_TASK_NONE: error in @rc.
 */
static uint32_t task_of(struct task_study *s, uint32_t clock, uint64_t number, const char *name,
			bool kernel, int *rc)
{
	struct cvl_tasks_result *t = &s->r;
	struct cvl_task *new;

	for (size_t k = 0; k < t->n; k++) {
		size_t i = (s->last_task + k) % t->n;
		const struct cvl_task *task = &t->task[i];

		if (task->clock == clock && task->kernel == kernel && !task->over &&
		    task->number == number &&
		    (kernel || (!task->name == !name && (!name || !strcmp(task->name, name))))) {
			s->last_task = i;
			return (uint32_t)i;
		}
	}
	if (t->n == TASKS_MAX) {
		*rc = cvl_fail(s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
			       "more than %d different tasks: do these ports or spans mark tasks?",
			       TASKS_MAX);
		return CVL_TASK_NONE;
	}
	if (cvl_room(&t->task, t->n, &s->room_tasks, sizeof(*t->task))) {
		*rc = cvl_no_memory(s->err);
		return CVL_TASK_NONE;
	}
	new = &t->task[t->n];
	*new = (struct cvl_task){
		.number = number, .clock = clock, .open = CVL_TASK_NONE, .kernel = kernel
	};
	if (name && !(new->name = strdup(name))) {
		*rc = cvl_no_memory(s->err);
		return CVL_TASK_NONE;
	}
	return (uint32_t)t->n++;
}

/* Remember the largest half-width of records to be compared with ends of runs. */
static void reach(struct task_study *s, struct cvl_bound bound)
{
	int64_t far = task_reach_of(bound);

	if (far != CVL_BOUND_UNKNOWN && far > s->reach)
		s->reach = far;
}

/* A mark by a packet is placed in the middle of its possible times. */
static struct cvl_task_border border(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	struct cvl_task_border b = {
		.time = sl->time[i],
		.bound = cvl_timeline_bound_parts(s->tl, sl, i),
		.place = s->stream[sl->stream].place,
	};
	int64_t first = sl->batch->kind[i] == CVL_EVENT ? task_earliest(s, sl->stream, b.time.ns) :
							  b.time.ns;

	if (first == INT64_MIN) {
		b.bound.capture = CVL_BOUND_UNKNOWN;
	} else {
		int64_t half = (b.time.ns - first + 1) / 2;

		b.time.ns -= half;
		b.bound.capture = cvl_add_sat(b.bound.capture, half);
	}
	reach(s, b.bound);
	return b;
}

static int begin(struct task_study *s, const struct cvl_slice *sl, size_t i, uint32_t task,
		 uint64_t id, bool packets)
{
	struct cvl_tasks_result *t = &s->r;

	if (t->n_runs == RUNS_MAX)
		return cvl_fail(s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"more than %u runs of tasks; look at a part", RUNS_MAX);
	if (cvl_room(&t->run, t->n_runs, &s->room_runs, sizeof(*t->run)))
		return cvl_no_memory(s->err);
	t->run[t->n_runs] = (struct cvl_task_run){
		.task = task,
		.stream = (uint32_t)sl->stream,
		.clock = (uint32_t)sl->clock,
		.outer = t->task[task].open,
		.id = id,
		.packets = packets,
		.begin = border(s, sl, i),
	};
	t->task[task].open = (uint32_t)t->n_runs++;
	t->task[task].begun = true;
	return 0;
}

/* End the task's latest run; for spans, the one with this id. */
static void end(struct task_study *s, const struct cvl_slice *sl, size_t i, uint32_t task,
		uint64_t id)
{
	struct cvl_task *of = &s->r.task[task];
	uint32_t *link = &of->open;
	struct cvl_task_run *run;

	for (unsigned k = 0; k < NEST_MAX && *link != CVL_TASK_NONE; k++) {
		const struct cvl_task_run *r = &s->r.run[*link];

		/* an interrupt may be in several cores at once */
		if (r->id == id && (r->stream == sl->stream || !of->interrupt))
			break;
		link = &s->r.run[*link].outer;
	}
	if (*link == CVL_TASK_NONE || s->r.run[*link].id != id) {
		of->unbegun++;
		return;
	}
	run = &s->r.run[*link];
	*link = run->outer;
	run->end = border(s, sl, i);
	run->finished = run->stream == sl->stream && run->end.time.ns >= run->begin.time.ns;
}

static int mark(struct task_study *s, const struct cvl_slice *sl, size_t i, bool begins,
		uint64_t number, const char *name, bool packets)
{
	int rc = 0;
	uint32_t task = task_of(s, s->root[sl->clock], name ? 0 : number, name, false, &rc);
	uint64_t id = name ? number : 0;

	if (task == CVL_TASK_NONE)
		return rc;
	if (begins)
		return begin(s, sl, i, task, id, packets);
	end(s, sl, i, task, id);
	return 0;
}

/* ---- of a real-time kernel ---- */

/* @task ran until here; if it is another one that did, records are missing, and its run has no end. */
static void switch_out(struct task_study *s, const struct cvl_slice *sl, size_t i, uint32_t task,
		       uint64_t prev)
{
	struct cvl_task *t = &s->r.task[task];

	if (prev == UINT64_MAX || prev == t->number)
		end(s, sl, i, task, 0);
	else if (t->open != CVL_TASK_NONE)
		t->open = s->r.run[t->open].outer;
}

/* Of tasks that are called alike all but the first have their number appended. */
static int set_name(struct task_study *s, uint32_t task, const char *name)
{
	struct cvl_task *t = &s->r.task[task];
	const size_t n = strlen(name);
	char text[240];
	bool taken = false;

	if (t->name && !strncmp(t->name, name, n) && (!t->name[n] || t->name[n] == '-'))
		return 0;
	for (size_t i = 0; i < s->r.n && !taken; i++)
		taken = i != task && s->r.task[i].clock == t->clock && s->r.task[i].name &&
			!strcmp(s->r.task[i].name, name);
	if (taken)
		snprintf(text, sizeof(text), "%s-%" PRIu64, name, t->number);
	else
		snprintf(text, sizeof(text), "%s", name);
	free(t->name);
	t->name = strdup(text);
	return t->name ? 0 : cvl_no_memory(s->err);
}

static int switch_to(struct task_study *s, const struct cvl_slice *sl, size_t i,
		     const struct task_fields *f)
{
	struct task_stream *stream = &s->stream[sl->stream];
	int rc = 0;
	uint32_t next;

	if (f->next == UINT64_MAX)
		return 0;
	next = task_of(s, s->root[sl->clock], f->next, NULL, true, &rc);
	if (next != CVL_TASK_NONE && f->symbol[0])
		rc = set_name(s, next, f->symbol);
	if (rc || next == CVL_TASK_NONE)
		return rc;
	/* back from another one of which no record is left, it begins anew */
	if (next == stream->running && (f->prev == UINT64_MAX || f->prev == f->next))
		return 0;
	if (stream->running != CVL_TASK_NONE)
		switch_out(s, sl, i, stream->running, f->prev);
	stream->running = next;
	return begin(s, sl, i, next, 0, stream->on_line);
}

/* A number may be used again, for another task. */
static int name_task(struct task_study *s, const struct cvl_slice *sl, bool new,
		     const struct task_fields *f)
{
	int rc = 0;
	uint32_t task;

	if (f->task == UINT64_MAX)
		return 0;
	task = task_of(s, s->root[sl->clock], f->task, NULL, true, &rc);
	if (task != CVL_TASK_NONE && new && s->r.task[task].begun) {
		s->r.task[task].over = true;
		task = task_of(s, s->root[sl->clock], f->task, NULL, true, &rc);
	}
	return task == CVL_TASK_NONE || !f->symbol[0] ? rc : set_name(s, task, f->symbol);
}

static int interrupt(struct task_study *s, const struct cvl_slice *sl, size_t i, bool begins,
		     uint64_t irq)
{
	char name[40];
	int rc = 0;
	uint32_t task;

	snprintf(name, sizeof(name), "interrupt %" PRIu64, irq);
	task = task_of(s, s->root[sl->clock], 0, name, false, &rc);
	if (task == CVL_TASK_NONE)
		return rc;
	s->r.task[task].interrupt = true;
	if (begins)
		return begin(s, sl, i, task, 0, s->stream[sl->stream].on_line);
	end(s, sl, i, task, 0);
	return 0;
}

/* The part of @what counted by packets; the rest by edges. */
static unsigned by_packets(const struct task_study *s, unsigned what)
{
	return s->edges ? what & ~(1u << s->r.opts.counting) : what;
}

static int pc_sample(struct task_study *s, const struct cvl_slice *sl, size_t i, const char *name)
{
	const char *kept = task_function_add(s, CVL_TASK_NONE, name);
	struct task_fact *fact = kept ? task_log_add(s, sl, i, FACT_PC) : NULL;

	if (!fact)
		return s->err->code;
	fact->name = kept;
	return 0;
}

static int counters(struct task_study *s, const struct cvl_slice *sl, size_t i,
		    const struct task_fields *f)
{
	struct task_fact *fact;
	unsigned what = 0;

	for (unsigned k = 0; k <= CVL_TASK_FOLD; k++) {
		s->r.packets[k] += f->counter[k] != 0;
		what |= f->counter[k] ? 1u << k : 0;
	}
	what = by_packets(s, what);
	fact = what ? task_log_add(s, sl, i, FACT_COUNTS) : NULL;
	if (fact)
		fact->what = (uint16_t)what;
	return what && !fact ? (int)s->err->code : 0;
}

static int match(struct task_study *s, const struct cvl_slice *sl, size_t i, enum task_role role,
		 uint64_t comparator)
{
	unsigned what;
	struct task_fact *fact;

	if (comparator >= CVL_TASK_COMPARATORS)
		return 0;
	s->match[comparator][role - ROLE_ADDRESS]++;
	what = s->r.opts.region[comparator] < CVL_TASK_WHATS ?
		       by_packets(s, 1u << s->r.opts.region[comparator]) :
		       0;
	fact = what ? task_log_add(s, sl, i, FACT_MATCH) : NULL;
	if (fact) {
		fact->what = (uint16_t)what;
		fact->role = (uint8_t)role;
		fact->comparator = (uint8_t)comparator;
	}
	return what && !fact ? (int)s->err->code : 0;
}

/* Record the time @ns of an event of this stream, for task_earliest(). */
static void see_time(struct task_stream *stream, int64_t ns)
{
	if (ns <= stream->line_time[0])
		return;
	stream->line_time[2] = stream->line_time[1];
	stream->line_time[1] = stream->line_time[0];
	stream->line_time[0] = ns;
}

static int event(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_tasks_opts *o = &s->r.opts;
	enum task_role role = task_role(s, sl, i);
	struct task_stream *stream = &s->stream[sl->stream];
	struct task_fields f;

	if (role == ROLE_NONE)
		return 0;
	stream->counts = true;
	see_time(stream, sl->time[i].ns);
	reach(s, cvl_timeline_bound_parts(s->tl, sl, i));
	if (role == ROLE_SLEEP)
		return o->functions ? pc_sample(s, sl, i, "(sleep)") : 0;
	if ((role == ROLE_PC && !o->functions) || !task_fields(s, sl, i, &f))
		return 0;
	switch (role) {
	case ROLE_PC: return pc_sample(s, sl, i, f.symbol);
	case ROLE_SWITCH: return switch_to(s, sl, i, &f);
	case ROLE_CREATE:
	case ROLE_NAME: return name_task(s, sl, role == ROLE_CREATE, &f);
	case ROLE_ISR_ENTER:
	case ROLE_ISR_EXIT:
		return f.irq == UINT64_MAX ? 0 : interrupt(s, sl, i, role == ROLE_ISR_ENTER, f.irq);
	default: break;
	}
	if (role == ROLE_SOFTWARE)
		return f.port == o->port_begin || f.port == o->port_end ?
			       mark(s, sl, i, f.port == o->port_begin, f.value, NULL, true) :
			       0;
	return role == ROLE_COUNTERS ? counters(s, sl, i, &f) : match(s, sl, i, role, f.comparator);
}

/* If a line already shows a task when first seen, the task's begin was not observed. */
static int pins(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	struct cvl_match m;
	int rc = 0;

	if (!cvl_select_match(s->pin_lines, sl, i, &m))
		return 0;
	for (size_t p = 0; p < s->n_pins && !rc; p++)
		if ((m.happened | m.ended) >> p & 1)
			rc = mark(s, sl, i, m.happened >> p & 1, 0, s->pins[p]->name, false);
	return rc;
}

static int edges(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	struct task_fact *fact;
	struct cvl_match m;

	if (sl->batch->kind[i] == CVL_EDGE && cvl_select_in(s->edge_lines, 0, sl->stream))
		reach(s, cvl_timeline_bound_parts(s->tl, sl, i));
	cvl_select_match(s->edge_lines, sl, i, &m);
	if (!m.happened)
		return 0;
	s->r.packets[s->r.opts.counting]++;
	fact = task_log_add(s, sl, i, FACT_COUNTS);
	if (!fact)
		return s->err->code;
	fact->what = (uint16_t)(1u << s->r.opts.counting);
	return 0;
}

static int sample(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	int channel = s->stream[sl->stream].channel;
	struct task_fact *fact;

	if (channel < 0)
		return 0;
	reach(s, cvl_timeline_bound_parts(s->tl, sl, i));
	if (sl->batch->cls[i] != (uint32_t)channel)
		return 0;
	fact = task_log_add(s, sl, i, FACT_SAMPLE);
	if (!fact)
		return s->err->code;
	memcpy(&fact->watt, &sl->batch->value[i], sizeof(fact->watt));
	fact->watt *= s->r.opts.watts;
	s->r.samples += isfinite(fact->watt) != 0;
	return 0;
}

static int gap(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	struct task_fact *fact = task_log_add(s, sl, i, FACT_GAP);

	if (!fact)
		return s->err->code;
	fact->to = INT64_MAX;
	if (sl->batch->aux[i] != CVL_TICK_UNKNOWN)
		fact->to = cvl_map_time(cvl_timeline_map(s->tl, sl->clock),
					(struct cvl_tick){ sl->batch->aux[i] }, NULL)
				   .ns;
	return 0;
}

static int span(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	struct clocks_span name;

	if (!clocks_span_name(&name, cvl_timeline_stream(s->tl, sl->stream), sl->batch, i))
		return 0;
	s->stream[sl->stream].counts = true;
	return mark(s, sl, i, sl->batch->kind[i] == CVL_BEGIN, sl->batch->value[i], name.text,
		    false);
}

int task_record(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	const enum cvl_kind kind = (enum cvl_kind)sl->batch->kind[i];
	int rc = 0;

	if ((kind == CVL_EDGE || kind == CVL_GAP) && s->pin_lines)
		rc = pins(s, sl, i);
	if ((kind == CVL_EDGE || kind == CVL_GAP) && s->edge_lines && !rc)
		rc = edges(s, sl, i);
	if (!rc)
		switch (kind) {
		case CVL_EVENT: return event(s, sl, i);
		case CVL_BEGIN:
		case CVL_END: return span(s, sl, i);
		case CVL_SAMPLE: return sample(s, sl, i);
		case CVL_GAP: return gap(s, sl, i);
		default: break;
		}
	return rc;
}
