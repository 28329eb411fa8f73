/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <coeval/session.h>

#include <stdio.h>
#include <string.h>

#define RUNS 3
#define NODES 4
#define EVENTS 10000000u /* of all nodes */
#define FEW 5000000u
#define HZ 10000000u
#define DEEPEST 24
#define FUNCTIONS 64
#define TASKS 4

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Four tasks that call functions by address, and a switch of tasks after every sixteen events or
 * so.
 */
static int write_node(struct cvl_session *s, unsigned node, unsigned events, struct cvl_error *err)
{
	static const struct cvl_origin origin = { .format = "bench", .path = "-" };
	const struct cvl_store_field addr = { "addr", CVL_STORE_U64 },
				     next = { "next", CVL_STORE_U64 };
	uint64_t state = 0x9e3779b97f4a7c15u + node, tick = node, stack[TASKS][DEEPEST];
	unsigned depth[TASKS] = { 0 }, task = 0;
	int entry, leave, change, rc;
	struct cvl_writer *w;
	char name[8];
	const struct cvl_store_desc desc = { .clock = name, .rate_hz = HZ };

	snprintf(name, sizeof(name), "n%u", node + 1);
	rc = cvl_session_add(s, &desc, &origin, &w, err);
	if (rc)
		return rc;
	entry = cvl_writer_declare(w, "func_entry", &addr, 1, err);
	leave = cvl_writer_declare(w, "func_exit", &addr, 1, err);
	change = cvl_writer_declare(w, "task_switch", &next, 1, err);
	for (unsigned i = 0; i < events && !rc; i++) {
		uint64_t r = draw(&state);
		unsigned *d = &depth[task];
		union cvl_store_value v;
		int class;

		tick += 1 + r % 40;
		if (r >> 32 & 1 ? *d < DEEPEST : !*d) {
			/*
			 * the call graph is fixed: a program has a limited number of call paths
			 */
			v.u = 0x400000 + 16 * ((*d * 3 + (*d % 4 ? 0 : (r >> 40) % 2)) % FUNCTIONS);
			stack[task][(*d)++] = v.u;
			class = entry;
		} else {
			v.u = stack[task][--*d];
			class = leave;
		}
		if (!(r >> 50 & 15)) {
			rc = cvl_writer_event(w, (struct cvl_tick){ tick++ }, class, &v, err);
			task = (unsigned)(r >> 60) % TASKS;
			v.u = task;
			class = change;
			i++;
		}
		if (!rc)
			rc = cvl_writer_event(w, (struct cvl_tick){ tick }, class, &v, err);
	}
	return rc ? rc : cvl_session_finish(s, w, (struct cvl_tick){ tick }, err);
}

/* ---- a kernel ---- */

#define CPUS 4
#define THREADS 8000
#define ACTIVE 64 /* at a time */

enum { SWITCH, WAKING, IRQ, IRQ_END, CLASSES };

static int declare(struct cvl_writer *w, int class[CLASSES], struct cvl_error *err)
{
	static const struct cvl_store_field change[] = {
		{ "cpu_id", CVL_STORE_U8 },        { "prev_tid", CVL_STORE_U32 },
		{ "prev_state", CVL_STORE_U8 },    { "next_tid", CVL_STORE_U32 },
		{ "next_comm", CVL_STORE_STRING },
	};
	static const struct cvl_store_field waking[] = { { "cpu_id", CVL_STORE_U8 },
							 { "tid", CVL_STORE_U32 },
							 { "comm", CVL_STORE_STRING } };
	static const struct cvl_store_field irq[] = { { "cpu_id", CVL_STORE_U8 },
						      { "irq", CVL_STORE_U8 } };

	class[SWITCH] = cvl_writer_declare(w, "sched_switch", change, 5, err);
	class[WAKING] = cvl_writer_declare(w, "sched_waking", waking, 3, err);
	class[IRQ] = cvl_writer_declare(w, "irq_handler_entry", irq, 2, err);
	class[IRQ_END] = cvl_writer_declare(w, "irq_handler_exit", irq, 2, err);
	return class[IRQ_END] < 0 ? class[IRQ_END] : 0;
}

/* Threads that are ready on a core, in the order they will run. */
struct queue {
	unsigned thread[ACTIVE + 1], n, runs;
};

/*
 * A trace of few threads, repeated with new ones each time: each is woken by a neighbour or an interrupt, waits
 * until those before it have run or is preempted, and blocks. As LTTng has it: each event has its core, and names
 * are texts.
 */
static int write_kernel(const struct bench *b, const char *path)
{
	static const struct cvl_origin origin = { .format = "bench", .path = "-" };
	static char comm[THREADS + CPUS][16];
	static bool ready[THREADS + CPUS]; /* or running */
	const struct cvl_store_desc desc = { .clock = "kernel", .rate_hz = 1000000000 };
	struct queue queue[CPUS] = { 0 };
	uint64_t state = 0x9e3779b97f4a7c15u, tick = 0;
	struct cvl_session *s = NULL;
	struct cvl_writer *w = NULL;
	struct cvl_error err;
	int class[CLASSES], rc = cvl_session_create(&s, path, &err);
	unsigned n = 0;

	bench_doing(b, "making %s", path);
	for (unsigned i = 0; i < THREADS + CPUS; i++)
		snprintf(comm[i], sizeof(comm[i]), i < CPUS ? "swapper/%u" : "worker%u", i);
	for (unsigned i = 0; i < CPUS; i++)
		queue[i].runs = i;
	rc = rc ? rc : cvl_session_add(s, &desc, &origin, &w, &err);
	rc = rc ? rc : declare(w, class, &err);
	while (n < EVENTS && !rc) {
		const uint64_t r = draw(&state);
		const unsigned cpu = r % CPUS, first = n / (EVENTS / (THREADS / ACTIVE)) %
						       (THREADS / ACTIVE) * ACTIVE;
		struct queue *q = &queue[cpu];
		const unsigned thread = CPUS + first + (unsigned)(r >> 8) % (ACTIVE / CPUS) * CPUS +
					cpu,
			       from = q->runs;
		const bool irq = from < CPUS || !(r >> 50 & 3), blocks = r >> 45 & 1;
		const union cvl_store_value by[] = { { .u = cpu }, { .u = thread % 8 } },
					    woken[] = { { .u = cpu },
							{ .u = thread },
							{ .s = comm[thread] } };

		tick += 100 + r % 900;
		if (!ready[thread]) {
			if (irq)
				rc = cvl_writer_event(w, (struct cvl_tick){ tick }, class[IRQ], by,
						      &err);
			if (!rc)
				rc = cvl_writer_event(w, (struct cvl_tick){ tick + 20 },
						      class[WAKING], woken, &err);
			if (!rc && irq)
				rc = cvl_writer_event(w, (struct cvl_tick){ tick + 40 },
						      class[IRQ_END], by, &err);
			n += 1 + 2u * irq;
			ready[thread] = true;
			q->thread[q->n++] = thread;
		}
		if (!rc && (q->n || blocks)) {
			const unsigned to = q->n ? q->thread[0] : cpu;
			const union cvl_store_value change[] = { { .u = cpu },
								 { .u = from < CPUS ? 0 : from },
								 { .u = from >= CPUS && blocks },
								 { .u = to < CPUS ? 0 : to },
								 { .s = comm[to] } };

			if (to == from)
				continue;
			if (q->n)
				memmove(q->thread, q->thread + 1, --q->n * sizeof(*q->thread));
			ready[from] = !blocks;
			if (from >= CPUS && !blocks)
				q->thread[q->n++] = from;
			q->runs = to;
			rc = cvl_writer_event(w, (struct cvl_tick){ tick + 60 }, class[SWITCH],
					      change, &err);
			n++;
		}
	}
	rc = rc ? rc : cvl_session_finish(s, w, (struct cvl_tick){ tick + 100 }, &err);
	cvl_session_close(s);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

static int write_session(const struct bench *b, const char *path, unsigned events)
{
	struct cvl_session *s = NULL;
	struct cvl_error err;
	int rc = cvl_session_create(&s, path, &err);

	bench_doing(b, "making %s", path);
	for (unsigned i = 0; i < NODES && !rc; i++)
		rc = write_node(s, i, events / NODES, &err);
	cvl_session_close(s);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

static int memory(const struct bench *b, const char *session, struct bench_series *out)
{
	const char *const argv[] = { b->coeval, "calls", session, NULL };
	const struct bench_command command = { .argv = argv };
	struct bench_usage usage = { .watch_memory = true };
	int rc = bench_run(b, &command, &usage);

	bench_add(out, usage.anon_mib);
	return rc;
}

static int run(const struct bench *b)
{
	struct bench_row show_row = { .name = "calls, 10 M events: show to no output",
				      .goal = 1.0 / 3 },
			 pass_row = { .name = "calls, 10 M events: a pass over the records",
				      .goal = 0 },
			 memory_row = { .name = "memory of calls, 10 M events: of 5 M",
					.unit = "MiB",
					.less_is_better = true,
					.goal = 0.9 };
	char session[BENCH_PATH_MAX], few[BENCH_PATH_MAX];
	const char *const ours[] = { b->coeval, "calls", session, NULL };
	const char *const show[] = { b->coeval, "show", session, "--jobs", "1", NULL };
	const char *const pass[] = { b->coeval, "export", session, "--to", "null", NULL };
	const struct bench_command calls = { .argv = ours }, shown = { .argv = show },
				   null = { .argv = pass };
	struct bench_row kernel_row = { .name = "calls, a kernel's 10 M events: a pass",
					.goal = 1 / 2.5 },
			 limit_row = { .name = "memory of it: 64 MiB",
				       .unit = "MiB",
				       .less_is_better = true,
				       .goal = 1 };
	int rc;

	bench_path(b, session, "calls");
	bench_path(b, few, "calls-few");
	rc = write_session(b, session, EVENTS);
	if (!rc)
		rc = write_session(b, few, FEW);
	bench_heads(b);
	if (!rc)
		rc = bench_compare(b, &show_row, RUNS, &calls, &shown);
	if (!rc)
		rc = bench_compare(b, &pass_row, RUNS, &calls, &null);
	if (!rc)
		rc = memory(b, session, &memory_row.ours);
	if (!rc)
		rc = memory(b, few, &memory_row.reference);
	if (!rc)
		bench_put(b, &memory_row);
	bench_remove(session);
	bench_remove(few);
	if (!rc)
		rc = write_kernel(b, session);
	if (!rc)
		rc = bench_compare(b, &kernel_row, RUNS, &calls, &null);
	if (!rc)
		rc = memory(b, session, &limit_row.ours);
	bench_add(&limit_row.reference, 64);
	if (!rc)
		bench_put(b, &limit_row);
	bench_remove(session);
	return rc;
}

const struct bench_group bench_calls = {
	.name = "calls",
	.what = "call stacks of a timeline",
	.run = run,
};
