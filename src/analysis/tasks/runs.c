/* SPDX-License-Identifier: MIT */
/* First reading: where tasks began and ended. */
#include <stdlib.h>
#include <string.h>

#include "analysis/tasks/internal.h"
#include <coeval/array.h>

#define TASKS_MAX 4096
#define RUNS_MAX (1u << 20)
/* Runs of one task that are open together, as far as an end is looked for. */
#define NEST_MAX 1000

/* The task of that number or name on that clock, made if there is none. TASK_NONE: @rc says why. */
static uint32_t task_of(struct task_study *s, uint32_t clock, uint64_t number, const char *name,
			int *rc)
{
	struct tasks *t = s->t;
	struct task *new;

	for (size_t k = 0; k < t->n; k++) {
		size_t i = (s->last_task + k) % t->n;
		const struct task *task = &t->task[i];

		if (task->clock == clock && task->number == number && !task->name == !name &&
		    (!name || !strcmp(task->name, name))) {
			s->last_task = i;
			return (uint32_t)i;
		}
	}
	if (t->n == TASKS_MAX) {
		*rc = cvl_fail(
			s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
			"more than %d different tasks: do these ports or spans mark tasks? (--ports names others)",
			TASKS_MAX);
		return TASK_NONE;
	}
	if (cvl_room(&t->task, t->n, &s->room_tasks, sizeof(*t->task))) {
		*rc = task_no_memory(s);
		return TASK_NONE;
	}
	new = &t->task[t->n];
	*new = (struct task){ .number = number, .clock = clock, .open = TASK_NONE };
	if (name && !(new->name = strdup(name))) {
		*rc = task_no_memory(s);
		return TASK_NONE;
	}
	return (uint32_t)t->n++;
}

/* A mark by a packet stands in the middle of the times that it may be of. */
static struct task_border border(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	struct task_border b = {
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
	task_reach(s, b.bound);
	return b;
}

static int begin(struct task_study *s, const struct cvl_slice *sl, size_t i, uint32_t task,
		 uint64_t id, bool packets)
{
	struct tasks *t = s->t;

	if (t->n_runs == RUNS_MAX)
		return cvl_fail(s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"more than %u runs of tasks: look at a part by --from and --to",
				RUNS_MAX);
	if (cvl_room(&t->run, t->n_runs, &s->room_runs, sizeof(*t->run)))
		return task_no_memory(s);
	t->run[t->n_runs] = (struct task_run){
		.task = task,
		.stream = (uint32_t)sl->stream,
		.clock = (uint32_t)sl->clock,
		.outer = t->task[task].open,
		.id = id,
		.packets = packets,
		.begin = border(s, sl, i),
	};
	t->task[task].open = (uint32_t)t->n_runs++;
	return 0;
}

/* Ends the run of the task that began last; of spans, that of this id. */
static void end(struct task_study *s, const struct cvl_slice *sl, size_t i, uint32_t task,
		uint64_t id)
{
	struct task *of = &s->t->task[task];
	uint32_t *link = &of->open;
	struct task_run *run;

	for (unsigned k = 0; k < NEST_MAX && *link != TASK_NONE && s->t->run[*link].id != id; k++)
		link = &s->t->run[*link].outer;
	if (*link == TASK_NONE || s->t->run[*link].id != id) {
		of->unbegun++;
		return;
	}
	run = &s->t->run[*link];
	*link = run->outer;
	run->end = border(s, sl, i);
	run->finished = run->stream == sl->stream && run->end.time.ns >= run->begin.time.ns;
}

static int mark(struct task_study *s, const struct cvl_slice *sl, size_t i, bool begins,
		uint64_t number, const char *name, bool packets)
{
	int rc = 0;
	uint32_t task = task_of(s, s->root[sl->clock], name ? 0 : number, name, &rc);
	uint64_t id = name ? number : 0;

	if (task == TASK_NONE)
		return rc;
	if (begins)
		return begin(s, sl, i, task, id, packets);
	end(s, sl, i, task, id);
	return 0;
}

static int event(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	enum task_role role = task_role(s, sl, i);
	struct task_stream *stream = &s->stream[sl->stream];
	struct task_fields f;

	if (role == ROLE_NONE)
		return 0;
	stream->counts = true;
	task_see_time(stream, sl->time[i].ns);
	task_reach(s, cvl_timeline_bound_parts(s->tl, sl, i));
	if (role == ROLE_PC || role == ROLE_SLEEP || !task_fields(s, sl, i, &f))
		return 0;
	if (role == ROLE_SOFTWARE)
		return f.port == s->opts->port_begin || f.port == s->opts->port_end ?
			       mark(s, sl, i, f.port == s->opts->port_begin, f.value, NULL, true) :
			       0;
	if (role == ROLE_COUNTERS)
		for (unsigned k = 0; k <= TASK_FOLD; k++)
			s->t->packets[k] += f.counter[k] != 0;
	else if (f.comparator < TASK_COMPARATORS)
		s->match[f.comparator][role - ROLE_ADDRESS]++;
	return 0;
}

/* A line that shows a task already when it is first seen: its begin was not. */
static int edge(struct task_study *s, const struct cvl_slice *sl, size_t i)
{
	struct task_stream *stream = &s->stream[sl->stream];
	uint64_t changed = cvl_levels_take(&stream->levels, sl->batch, i);
	uint64_t levels = stream->levels.now;
	int rc = 0;

	if (stream->edges >= 0)
		task_reach(s, cvl_timeline_bound_parts(s->tl, sl, i));
	for (size_t p = 0; p < s->opts->n_pins && !rc; p++) {
		const struct task_pin *pin = &s->opts->pin[p];
		int bit = stream->pin[p];

		if (bit < 0)
			continue;
		s->saw_pins |= 1u << p;
		if (changed >> bit & 1)
			rc = mark(s, sl, i, (levels >> bit & 1) != pin->low, 0, pin->line, false);
	}
	return rc;
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

int task_runs(struct task_study *s)
{
	struct cvl_slice sl;
	int rc;

	while ((rc = cvl_timeline_next(s->tl, &sl, s->err)) > 0) {
		struct task_stream *stream = &s->stream[sl.stream];

		task_look_up(s, &sl);
		rc = 0;
		for (size_t i = sl.begin; i < sl.end && !rc; i++, stream->place++) {
			switch (sl.batch->kind[i]) {
			case CVL_EVENT: rc = event(s, &sl, i); break;
			case CVL_EDGE: rc = edge(s, &sl, i); break;
			case CVL_BEGIN:
			case CVL_END: rc = span(s, &sl, i); break;
			case CVL_SAMPLE:
				if (stream->channel >= 0)
					task_reach(s, cvl_timeline_bound_parts(s->tl, &sl, i));
				break;
			case CVL_GAP: stream->levels.known = 0; break;
			default: break;
			}
		}
		if (rc)
			return rc;
	}
	return rc;
}
