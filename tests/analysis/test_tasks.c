/* SPDX-License-Identifier: MIT */
/*
 * What is said of tasks lies where it is said to lie: programs whose counters, time, functions and
 * energy are known, drawn from a seed, traced by counters that wrap at 256 and read back from a
 * session.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/tasks.h>

#include "analysis/binomial.h"
#include "test_draw.h"
#include "wire/swo_marks.h"
#include "test_scratch.h"

#define HZ 80000000
#define TASKS 3
#define RUNS_MAX 400
#define SEGMENTS_MAX 4000
#define CYC_PACKET 1024
/* Longer than from one sample of power to the next: what is shorter may be seen by none. */
#define SEGMENT_MIN 450
#define BEACONS_HZ 20000

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- a target that is traced ---- */

enum { EV_SOFTWARE, EV_COUNTER, EV_DATA, EV_VALUE, EV_PC, EVS };

struct target {
	struct draw *d;
	struct cvl_writer *w;
	int event[EVS];
	uint64_t tick;
	uint64_t left[CVL_TASK_FOLD + 1]; /* what the counters hold */
	uint64_t total[CVL_TASK_WHATS];
	uint64_t last_beacon;
	/* power, W, of each segment */
	size_t segments;
	uint64_t segment_end[SEGMENTS_MAX];
	double watt[SEGMENTS_MAX];
};

struct truth {
	uint64_t task, begin, end, at_begin[CVL_TASK_WHATS], count[CVL_TASK_WHATS];
};

static struct target target;
static struct truth truth[RUNS_MAX];
static size_t n_truth;

static const struct cvl_origin origin = { .format = "test", .path = "-" };

static void open_target(struct target *t, struct cvl_session *s, struct draw *d, const char *clock)
{
	static const struct cvl_store_field software[] = { { "half_width", CVL_STORE_U64 },
							   { "port", CVL_STORE_U64 },
							   { "size", CVL_STORE_U64 },
							   { "value", CVL_STORE_U64 } };
	static const struct cvl_store_field counter[] = {
		{ "half_width", CVL_STORE_U64 }, { "cyc", CVL_STORE_U64 },
		{ "fold", CVL_STORE_U64 },       { "lsu", CVL_STORE_U64 },
		{ "sleep", CVL_STORE_U64 },      { "exc", CVL_STORE_U64 },
		{ "cpi", CVL_STORE_U64 }
	};
	static const struct cvl_store_field data[] = { { "half_width", CVL_STORE_U64 },
						       { "comparator", CVL_STORE_U64 },
						       { "offset", CVL_STORE_U64 },
						       { "size", CVL_STORE_U64 },
						       { "symbol", CVL_STORE_STRING } };
	static const struct cvl_store_field value[] = { { "half_width", CVL_STORE_U64 },
							{ "comparator", CVL_STORE_U64 },
							{ "size", CVL_STORE_U64 },
							{ "value", CVL_STORE_U64 } };
	static const struct cvl_store_field pc[] = { { "half_width", CVL_STORE_U64 },
						     { "address", CVL_STORE_U64 },
						     { "symbol", CVL_STORE_STRING },
						     { "line", CVL_STORE_STRING } };
	const struct cvl_store_desc desc = { .clock = clock, .rate_hz = HZ };
	struct cvl_error err;

	memset(t, 0, sizeof(*t));
	t->d = d;
	ok(cvl_session_add(s, &desc, &origin, &t->w, &err), &err);
	ok(t->event[EV_SOFTWARE] = cvl_writer_declare(t->w, "software", software, 4, &err), &err);
	ok(t->event[EV_COUNTER] = cvl_writer_declare(t->w, "event_counter", counter, 7, &err),
	   &err);
	ok(t->event[EV_DATA] = cvl_writer_declare(t->w, "data_address", data, 5, &err), &err);
	ok(t->event[EV_VALUE] = cvl_writer_declare(t->w, "data_write", value, 4, &err), &err);
	ok(t->event[EV_PC] = cvl_writer_declare(t->w, "pc", pc, 4, &err), &err);
	for (unsigned i = 0; i <= CVL_TASK_FOLD; i++)
		t->left[i] = draw_below(d, i == CVL_TASK_CYC ? CYC_PACKET : 256);
}

static void put(struct target *t, unsigned event, const union cvl_store_value *v)
{
	struct cvl_error err;

	ok(cvl_writer_event(t->w, (struct cvl_tick){ t->tick }, t->event[event], v, &err), &err);
}

static void write_port(struct target *t, uint64_t port, uint64_t value)
{
	put(t, EV_SOFTWARE,
	    (union cvl_store_value[]){ { .u = 1 }, { .u = port }, { .u = 1 }, { .u = value } });
}

/* What a cycle adds, in parts of 1000: of a task, or of what lies between. */
struct rates {
	unsigned add[CVL_TASK_WHATS];
	double watt;
	unsigned in_hot; /* of 1000 samples of the program counter */
};

static void one_cycle(struct target *t, const struct rates *rates, bool counted)
{
	bool wrapped[CVL_TASK_FOLD + 1] = { false }, any = false;
	struct cvl_error err;

	t->tick++;
	if (t->tick / (HZ / BEACONS_HZ) != t->last_beacon) {
		t->last_beacon = t->tick / (HZ / BEACONS_HZ);
		ok(cvl_writer_beacon(t->w, (struct cvl_tick){ t->tick }, 1, t->last_beacon, &err),
		   &err);
	}
	for (unsigned i = 0; i < CVL_TASK_WHATS; i++) {
		bool add = i == CVL_TASK_CYC || draw_below(t->d, 1000) < rates->add[i];

		if (!add)
			continue;
		t->total[i]++;
		if (i <= CVL_TASK_FOLD && ++t->left[i] >= (i == CVL_TASK_CYC ? CYC_PACKET : 256)) {
			t->left[i] = 0;
			any = wrapped[i] = true;
		}
		if (i == CVL_TASK_RAM || i == CVL_TASK_FLASH) {
			put(t, EV_DATA,
			    (union cvl_store_value[]){ { .u = 1 },
						       { .u = i == CVL_TASK_RAM ? 1 : 0 },
						       { .u = 0 },
						       { .u = 2 },
						       { .s = "" } });
			if (i == CVL_TASK_RAM) /* a comparator that reports each access twice */
				put(t, EV_VALUE,
				    (union cvl_store_value[]){
					    { .u = 1 }, { .u = 1 }, { .u = 4 }, { .u = 7 } });
		}
	}
	if (any && counted)
		put(t, EV_COUNTER,
		    (union cvl_store_value[]){ { .u = 1 },
					       { .u = wrapped[CVL_TASK_CYC] },
					       { .u = wrapped[CVL_TASK_FOLD] },
					       { .u = wrapped[CVL_TASK_LSU] },
					       { .u = wrapped[CVL_TASK_SLEEP] },
					       { .u = wrapped[CVL_TASK_EXC] },
					       { .u = wrapped[CVL_TASK_CPI] } });
	if (wrapped[CVL_TASK_CYC])
		put(t, EV_PC,
		    (union cvl_store_value[]){
			    { .u = 1 },
			    { .u = 0x8000000 },
			    { .s = draw_below(t->d, 1000) < rates->in_hot ? "hot" : "cold" },
			    { .s = "" } });
}

static void work(struct target *t, const struct rates *rates, uint64_t cycles)
{
	for (uint64_t i = 0; i < cycles; i++)
		one_cycle(t, rates, true);
	assert_true(t->segments < SEGMENTS_MAX);
	t->segment_end[t->segments] = t->tick;
	t->watt[t->segments++] = rates->watt;
}

static size_t begin_task(struct target *t, uint64_t task)
{
	size_t i = n_truth++;

	assert_true(i < RUNS_MAX);
	write_port(t, SWO_PORT_BEGIN, task);
	truth[i] = (struct truth){ .task = task, .begin = t->tick };
	memcpy(truth[i].at_begin, t->total, sizeof(t->total));
	return i;
}

static void end_task(struct target *t, size_t i)
{
	write_port(t, SWO_PORT_END, truth[i].task);
	truth[i].end = t->tick;
	for (unsigned k = 0; k < CVL_TASK_WHATS; k++)
		truth[i].count[k] = t->total[k] - truth[i].at_begin[k];
}

static void draw_rates(struct draw *d, struct rates *r)
{
	*r = (struct rates){ .watt = 0.01 + (double)draw_below(d, 1000) * 1e-4,
			     .in_hot = (unsigned)draw_below(d, 1001) };
	for (unsigned i = CVL_TASK_CPI; i < CVL_TASK_WHATS; i++)
		r->add[i] = (unsigned)draw_below(d, i <= CVL_TASK_FOLD ? 180 : 8);
}

static struct rates rates[TASKS + 1];

/* Tasks 1 to 3 in any order, some with another one within. */
static void run_program(struct target *t, size_t runs)
{
	n_truth = 0;
	for (unsigned i = 0; i <= TASKS; i++)
		draw_rates(t->d, &rates[i]);
	while (n_truth < runs) {
		uint64_t task = 1 + draw_below(t->d, TASKS);
		size_t outer;

		work(t, &rates[0], SEGMENT_MIN + draw_below(t->d, 1500));
		outer = begin_task(t, task);
		work(t, &rates[task], SEGMENT_MIN + draw_below(t->d, 6000));
		if (task > 1 && draw_below(t->d, 2)) {
			size_t inner = begin_task(t, task - 1);

			work(t, &rates[task - 1], SEGMENT_MIN + draw_below(t->d, 3000));
			end_task(t, inner);
			work(t, &rates[task], SEGMENT_MIN + draw_below(t->d, 2000));
		}
		end_task(t, outer);
	}
	work(t, &rates[0], 3000);
}

static struct cvl_session *new_session(const char *name, struct draw *d)
{
	char path[512];
	struct cvl_session *s;
	struct cvl_error err;

	snprintf(path, sizeof(path), "%s/%s-%" PRIx64, scratch, name, draw_u64(d));
	ok(cvl_session_create(&s, path, &err), &err);
	return s;
}

static void finish(struct cvl_session *s, struct target *t)
{
	struct cvl_error err;

	ok(cvl_session_finish(s, t->w, (struct cvl_tick){ t->tick }, &err), &err);
}

static struct cvl_tasks_opts plain(void)
{
	struct cvl_tasks_opts o = { .port_begin = SWO_PORT_BEGIN,
				    .port_end = SWO_PORT_END,
				    .watts = 1,
				    .functions = true };

	o.region[0] = CVL_TASK_FLASH;
	o.region[1] = CVL_TASK_RAM;
	return o;
}

static const struct cvl_tasks_opts scale = { .cycles_per_packet = CYC_PACKET,
					     .cycles_per_access = 1 };

static struct cvl_analysis *analysis;

static void drop(void)
{
	cvl_analysis_free(analysis);
	analysis = NULL;
}

static int study(struct cvl_session *s, const struct cvl_tasks_opts *opts,
		 struct cvl_tasks_result *tasks, struct cvl_error *err)
{
	struct cvl_timeline_opts all = { 0 };
	struct cvl_timeline *tl;
	int rc;

	drop();
	ok(cvl_timeline_open(&tl, s, &all, err), err);
	rc = cvl_tasks_open(&analysis, tl, opts, err);
	if (!rc)
		rc = cvl_analyse(tl, &analysis, 1, err);
	if (!rc)
		*tasks = *cvl_tasks_result(analysis);
	cvl_timeline_close(tl);
	return rc;
}

/* By other numbers than those of the study. */
static void figures(const struct cvl_tasks_result *tasks, const struct cvl_tasks_opts *scale_by,
		    const struct cvl_task_sum *sum, struct cvl_task_figures *f)
{
	struct cvl_tasks_result by = *tasks;

	by.opts = *scale_by;
	cvl_task_figures(&by, sum, f);
}

static struct cvl_selector select_one(const char *text)
{
	struct cvl_selector sel;
	struct cvl_error err;

	ok(cvl_selector_parse(&sel, text, strlen(text), &err), &err);
	return sel;
}

static bool holds(const struct cvl_task_figure *f, double value)
{
	return f->known && f->low <= value * (1 + 1e-12) + 1e-12 &&
	       value <= f->high * (1 + 1e-12) + 1e-12;
}

static double instructions_of(const uint64_t count[CVL_TASK_WHATS])
{
	return (double)count[CVL_TASK_CYC] - (double)count[CVL_TASK_CPI] -
	       (double)count[CVL_TASK_EXC] - (double)count[CVL_TASK_SLEEP] -
	       (double)count[CVL_TASK_LSU] + (double)count[CVL_TASK_FOLD];
}

static const struct truth *truth_of(const struct cvl_task_run *r)
{
	for (size_t i = 0; i < n_truth; i++)
		if (llabs(r->begin.time.ns - (int64_t)(truth[i].begin * 1000 / (HZ / 1000000))) <=
			    20 &&
		    llabs(r->end.time.ns - (int64_t)(truth[i].end * 1000 / (HZ / 1000000))) <= 20)
			return &truth[i];
	fail_msg("a run at %" PRId64 " ns never was", r->begin.time.ns);
	return NULL;
}

/* ---- counts ---- */

static void counts_of_each_run_lie_within_their_bounds(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		struct cvl_session *s = new_session("counts", &d);
		struct cvl_tasks_opts opts = plain();
		struct cvl_tasks_result tasks;
		struct cvl_error err;

		open_target(&target, s, &d, "swo");
		run_program(&target, 60);
		finish(s, &target);
		ok(study(s, &opts, &tasks, &err), &err);
		assert_int_equal(tasks.n_runs, n_truth);
		for (size_t i = 0; i < tasks.n_runs; i++) {
			const struct cvl_task_run *r = &tasks.run[i];
			const struct truth *t = truth_of(r);
			struct cvl_task_sum sum = { 0 };
			struct cvl_task_figures f;

			assert_true(tasks.task[r->task].number == t->task);
			cvl_task_sum_add(&sum, r);
			figures(&tasks, &scale, &sum, &f);
			assert_false(f.statistical);
			for (unsigned k = 0; k < CVL_TASK_WHATS; k++)
				if (k != CVL_TASK_PERIPHERAL && tasks.packets[k])
					assert_true(holds(&f.count[k], (double)t->count[k]));
			assert_false(f.count[CVL_TASK_PERIPHERAL].known);
			assert_int_equal(r->count[CVL_TASK_RAM].sure, t->count[CVL_TASK_RAM]);
			assert_int_equal(r->count[CVL_TASK_FLASH].sure, t->count[CVL_TASK_FLASH]);
			assert_true(holds(&f.seconds, (double)(t->end - t->begin) / HZ));
			assert_true(holds(&f.instructions, instructions_of(t->count)));
			if (f.cycles_per_instruction.known)
				assert_true(holds(&f.cycles_per_instruction,
						  (double)t->count[CVL_TASK_CYC] /
							  instructions_of(t->count)));
			if (f.share[CVL_TASK_LSU].known)
				assert_true(holds(&f.share[CVL_TASK_LSU],
						  (double)t->count[CVL_TASK_LSU] /
							  (double)t->count[CVL_TASK_CYC]));
			if (f.combined.known)
				assert_true(
					holds(&f.combined, ((double)t->count[CVL_TASK_LSU] -
							    (double)t->count[CVL_TASK_RAM]) /
								   (double)t->count[CVL_TASK_CYC]));
		}
		drop();
		cvl_session_close(s);
	}
}

/* Cycles by the rate of the processor are far closer than those by packets. */
static void cycles_by_the_rate_hold_too(void **state)
{
	struct draw d = draw_begin(2);
	struct cvl_session *s = new_session("rate", &d);
	struct cvl_tasks_opts opts = plain();
	struct cvl_tasks_opts by_rate = scale;
	struct cvl_tasks_result tasks;
	struct cvl_error err;

	(void)state;
	by_rate.cpu_hz = HZ;
	open_target(&target, s, &d, "swo");
	run_program(&target, 60);
	finish(s, &target);
	ok(study(s, &opts, &tasks, &err), &err);
	for (size_t i = 0; i < tasks.n_runs; i++) {
		const struct truth *t = truth_of(&tasks.run[i]);
		struct cvl_task_sum sum = { 0 };
		struct cvl_task_figures f;

		cvl_task_sum_add(&sum, &tasks.run[i]);
		figures(&tasks, &by_rate, &sum, &f);
		assert_true(holds(&f.cycles, (double)t->count[CVL_TASK_CYC]));
		assert_true(cvl_task_half(&f.cycles) < 10);
	}
	drop();
	cvl_session_close(s);
}

/* Sums of many runs: bounds of 99.9 %, so some of a thousand may miss. */
static void sums_of_many_runs_hold_as_often_as_they_say(void **state)
{
	struct draw d = draw_begin(3);
	unsigned seen = 0, missed = 0;

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		struct cvl_session *s = new_session("sums", &d);
		struct cvl_tasks_opts opts = plain();
		struct cvl_tasks_result tasks;
		struct cvl_error err;

		open_target(&target, s, &d, "swo");
		run_program(&target, 90);
		finish(s, &target);
		ok(study(s, &opts, &tasks, &err), &err);
		for (size_t k = 0; k < tasks.n; k++) {
			double all[CVL_TASK_WHATS] = { 0 };
			struct cvl_task_sum sum = { 0 };
			struct cvl_task_figures f;

			for (size_t i = 0; i < tasks.n_runs; i++) {
				const struct truth *t = truth_of(&tasks.run[i]);

				if (tasks.run[i].task != k)
					continue;
				cvl_task_sum_add(&sum, &tasks.run[i]);
				for (unsigned w = 0; w < CVL_TASK_WHATS; w++)
					all[w] += (double)t->count[w];
			}
			figures(&tasks, &scale, &sum, &f);
			for (unsigned w = 0; w <= CVL_TASK_FOLD; w++) {
				if (!f.count[w].known)
					continue;
				seen++;
				missed += !holds(&f.count[w], all[w]);
				assert_true(cvl_task_half(&f.count[w]) <=
					    (w == CVL_TASK_CYC ? CYC_PACKET : 256) *
						    (double)sum.runs);
			}
		}
		drop();
		cvl_session_close(s);
	}
	printf("%u sums, %u outside their bounds\n", seen, missed);
	assert_true(seen > 150);
	assert_true(missed <= 3);
}

static void own_time_is_without_what_ran_within(void **state)
{
	struct draw d = draw_begin(4);
	struct cvl_session *s = new_session("own", &d);
	struct cvl_tasks_opts opts = plain();
	struct cvl_tasks_result tasks;
	struct cvl_error err;
	int64_t own = 0, covered = 0, until = 0;

	(void)state;
	open_target(&target, s, &d, "swo");
	run_program(&target, 60);
	finish(s, &target);
	ok(study(s, &opts, &tasks, &err), &err);
	for (size_t i = 0; i < tasks.n_runs; i++) {
		const struct cvl_task_run *r = &tasks.run[i];

		own += r->end.time.ns - r->begin.time.ns - r->within;
		if (r->begin.time.ns >= until) {
			covered += r->end.time.ns - r->begin.time.ns;
			until = r->end.time.ns;
		}
	}
	assert_true(own == covered);
	drop();
	cvl_session_close(s);
}

/* ---- marks ---- */

static void unfinished_and_interleaved_runs_are_told_apart(void **state)
{
	struct draw d = draw_begin(5);
	struct cvl_session *s = new_session("marks", &d);
	struct cvl_tasks_opts opts = plain();
	struct rates none = { .watt = 0 };
	struct cvl_tasks_result tasks;
	struct cvl_error err;

	(void)state;
	open_target(&target, s, &d, "swo");
	write_port(&target, SWO_PORT_END, 7); /* never begun */
	work(&target, &none, 100);
	write_port(&target, SWO_PORT_BEGIN, 1);
	work(&target, &none, 100);
	write_port(&target, SWO_PORT_BEGIN, 2);
	work(&target, &none, 100);
	write_port(&target, SWO_PORT_END, 1); /* before the one that began in it */
	work(&target, &none, 100);
	write_port(&target, SWO_PORT_END, 2);
	write_port(&target, SWO_PORT_BEGIN, 3);
	work(&target, &none, 100);
	write_port(&target, SWO_PORT_BEGIN, 3);
	work(&target, &none, 60);
	write_port(&target, SWO_PORT_END, 3);
	write_port(&target, 5, 3);
	finish(s, &target);
	ok(study(s, &opts, &tasks, &err), &err);
	assert_int_equal(tasks.n, 4);
	assert_int_equal(tasks.n_runs, 3);
	assert_true(tasks.task[0].number == 7);
	assert_int_equal(tasks.task[0].unbegun, 1);
	assert_int_equal(tasks.run[0].end.time.ns - tasks.run[0].begin.time.ns, 2500);
	assert_int_equal(tasks.run[1].end.time.ns - tasks.run[1].begin.time.ns, 2500);
	assert_int_equal(tasks.run[2].end.time.ns - tasks.run[2].begin.time.ns, 750);
	assert_int_equal(tasks.task[tasks.run[2].task].unfinished, 1);
	drop();
	opts.port_begin = 5;
	opts.port_end = 6;
	ok(study(s, &opts, &tasks, &err), &err);
	assert_int_equal(tasks.task[0].unfinished, 1);
	assert_int_equal(tasks.n_runs, 0);
	drop();
	opts.port_begin = 8;
	assert_int_equal(study(s, &opts, &tasks, &err), CVL_E_NO);
	cvl_session_close(s);
}

static void spans_and_lines_mark_tasks(void **state)
{
	static const char *const lines[] = { "other", "busy", "swo" };
	const struct cvl_store_desc desc = {
		.clock = "la", .rate_hz = HZ, .lines = lines, .n_lines = 3
	};
	struct draw d = draw_begin(6);
	struct cvl_session *s = new_session("lines", &d);
	struct cvl_tasks_opts opts = plain();
	struct cvl_tasks_opts by_edges = scale;
	struct cvl_selector pin, edges;
	struct cvl_writer *w;
	struct cvl_tasks_result tasks;
	struct cvl_error err;
	uint64_t levels = 2, tick = 1000;
	struct cvl_task_sum sum = { 0 };
	struct cvl_task_figures f;

	(void)state;
	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_levels(w, (struct cvl_tick){ 0 }, levels, &err), &err); /* busy from before */
	for (unsigned run = 0; run < 4; run++) {
		levels ^= 2;
		tick += 1000;
		ok(cvl_writer_edges(w, (struct cvl_tick[]){ { tick } }, &levels, 1, &err), &err);
		ok(cvl_writer_span(w, (struct cvl_tick){ tick }, true, run, "outer", &err), &err);
		levels ^= 2;
		tick += 1000;
		ok(cvl_writer_edges(w, (struct cvl_tick[]){ { tick } }, &levels, 1, &err), &err);
		for (unsigned edge = 0; edge < 2 * 5 * 20; edge++) { /* 20 packets */
			levels ^= 4;
			tick += 10;
			ok(cvl_writer_edges(w, (struct cvl_tick[]){ { tick } }, &levels, 1, &err),
			   &err);
		}
	}
	for (unsigned run = 0; run < 4; run++) { /* they overlap: the id tells them apart */
		tick += 100;
		ok(cvl_writer_span(w, (struct cvl_tick){ tick }, false, run, "outer", &err), &err);
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ tick + 1000 }, &err), &err);
	opts.n_pins = 1;
	pin = select_one("busy");
	edges = select_one("swo");
	opts.pin = &pin;
	opts.edges = by_edges.edges = &edges;
	opts.counting = by_edges.counting = CVL_TASK_LSU;
	ok(study(s, &opts, &tasks, &err), &err);
	assert_int_equal(tasks.n, 2);
	assert_string_equal(tasks.task[0].name, "busy");
	assert_int_equal(tasks.task[0].runs, 3);
	assert_int_equal(tasks.task[0].unfinished, 1);
	assert_int_equal(tasks.task[0].unbegun, 1);
	assert_string_equal(tasks.task[1].name, "outer");
	assert_int_equal(tasks.task[1].runs, 4);
	assert_int_equal(tasks.run[0].end.place - tasks.run[0].begin.place > 300, 1);
	for (size_t i = 0; i < tasks.n_runs; i++)
		if (tasks.run[i].task == 0) {
			assert_int_equal(tasks.run[i].count[CVL_TASK_LSU].sure, 100);
			cvl_task_sum_add(&sum, &tasks.run[i]);
		}
	figures(&tasks, &by_edges, &sum, &f);
	assert_int_equal(llround(f.count[CVL_TASK_LSU].value), 3 * 20 * 256);
	drop();
	cvl_selector_free(&pin);
	pin = select_one("busy:low");
	ok(study(s, &opts, &tasks, &err), &err);
	assert_int_equal(tasks.task[0].runs, 4);
	drop();
	cvl_selector_free(&pin);
	pin = select_one("idle");
	assert_int_equal(study(s, &opts, &tasks, &err), CVL_E_UNKNOWN_ID);
	assert_non_null(strstr(err.text, "idle"));
	cvl_selector_free(&pin);
	cvl_selector_free(&edges);
	cvl_session_close(s);
}

static void loss_makes_counts_lower_bounds(void **state)
{
	struct draw d = draw_begin(7);
	struct cvl_session *s = new_session("loss", &d);
	struct cvl_tasks_opts opts = plain();
	struct rates busy = { .add = { [CVL_TASK_LSU] = 500, [CVL_TASK_CPI] = 100 } };
	struct cvl_tasks_result tasks;
	struct cvl_error err;

	(void)state;
	n_truth = 0;
	open_target(&target, s, &d, "swo");
	for (unsigned run = 0; run < 3; run++) {
		size_t i;

		work(&target, &busy, 2000);
		i = begin_task(&target, 1);
		work(&target, &busy, 5000);
		if (run == 1) {
			uint64_t from = target.tick;

			for (unsigned c = 0; c < 20000; c++)
				one_cycle(&target, &busy, false);
			ok(cvl_writer_gap(target.w, (struct cvl_tick){ from },
					  (struct cvl_tick){ target.tick }, CVL_LOST_UNKNOWN,
					  CVL_GAP_OVERFLOW, &err),
			   &err);
			work(&target, &busy, 5000);
		}
		end_task(&target, i);
	}
	finish(s, &target);
	ok(study(s, &opts, &tasks, &err), &err);
	assert_int_equal(tasks.n_runs, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct truth *t = truth_of(&tasks.run[i]);
		struct cvl_task_sum sum = { 0 };
		struct cvl_task_figures f;

		cvl_task_sum_add(&sum, &tasks.run[i]);
		figures(&tasks, &scale, &sum, &f);
		assert_int_equal(tasks.run[i].gaps, i == 1);
		assert_int_equal(f.count[CVL_TASK_LSU].at_least, i == 1);
		assert_true(f.count[CVL_TASK_LSU].low <= (double)t->count[CVL_TASK_LSU]);
		assert_int_equal(holds(&f.count[CVL_TASK_LSU], (double)t->count[CVL_TASK_LSU]),
				 i != 1);
	}
	drop();
	cvl_session_close(s);
}

/* ---- functions ---- */

static void shares_of_functions_hold_as_often_as_they_say(void **state)
{
	struct draw d = draw_begin(8);
	unsigned seen = 0, missed = 0;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		uint64_t n = 1 + draw_below(&d, 200), k = 0, share = draw_below(&d, 1001);
		double low, high;

		for (uint64_t i = 0; i < n; i++)
			k += draw_below(&d, 1000) < share;
		binomial_999(k, n, &low, &high);
		seen++;
		missed += (double)share / 1000 < low || (double)share / 1000 > high;
	}
	printf("%u shares, %u outside their intervals\n", seen, missed);
	assert_true(missed <= 40);
	for (unsigned i = 0; i < 2; i++) { /* 1 - 0.0005^(1/n), by hand */
		double low, high;

		binomial_999(0, 10, &low, &high);
		assert_int_equal(llround(high * 1e9), llround((1 - pow(0.0005, 0.1)) * 1e9));
		assert_true(low == 0);
	}
}

/* Whether what is said of task 1, which has no other within, holds its true share. */
static bool share_of_hot_holds(struct draw *d, unsigned round)
{
	char name[32];
	struct cvl_session *s;
	struct cvl_tasks_opts opts = plain();
	uint64_t hot[TASKS + 1] = { 0 }, all[TASKS + 1] = { 0 }, whole = 0;
	double low, high, share;
	struct cvl_tasks_result tasks;
	struct cvl_error err;

	snprintf(name, sizeof(name), "functions%u", round);
	s = new_session(name, d);
	open_target(&target, s, d, "swo");
	run_program(&target, 90);
	finish(s, &target);
	ok(study(s, &opts, &tasks, &err), &err);
	for (size_t i = 0; i < tasks.n_functions; i++) {
		const struct cvl_task_function *f = &tasks.function[i];

		if (f->task == CVL_TASK_NONE) {
			whole += f->samples;
			continue;
		}
		all[tasks.task[f->task].number] += f->samples;
		if (!strcmp(f->name, "hot"))
			hot[tasks.task[f->task].number] += f->samples;
	}
	assert_true(whole == tasks.packets[CVL_TASK_CYC]);
	assert_true(whole > 100);
	binomial_999(hot[1], all[1], &low, &high);
	share = rates[1].in_hot / 1000.0;
	drop();
	cvl_session_close(s);
	return low <= share && share <= high;
}

static void functions_are_of_the_tasks_they_ran_in(void **state)
{
	struct draw d = draw_begin(9);
	unsigned missed = 0;

	(void)state;
	for (unsigned round = 0; round < 6; round++)
		missed += !share_of_hot_holds(&d, round);
	assert_true(missed <= 1); /* of 99.9 % each */
}

/* ---- energy, on a clock of its own ---- */

static double true_joule(const struct target *t, uint64_t begin, uint64_t end)
{
	double joule = 0;

	for (size_t i = 0; i < t->segments; i++) {
		uint64_t from = i ? t->segment_end[i - 1] : 0, to = t->segment_end[i];

		from = from > begin ? from : begin;
		to = to < end ? to : end;
		if (from < to)
			joule += t->watt[i] * (double)(to - from) / HZ;
	}
	return joule;
}

#define POWER_HZ 10000000
#define PPM_OFF 60e-6
#define OFFSET_S 0.25

/* Another clock runs fast and began earlier: it hears the same beacons. */
static struct cvl_tick foreign(double seconds)
{
	return (struct cvl_tick){ (uint64_t)((seconds + OFFSET_S) * POWER_HZ * (1 + PPM_OFF)) };
}

static void sample_power(struct cvl_session *s, const struct target *t, struct draw *d, bool tied)
{
	static const char *const channels[] = { "watt" };
	const struct cvl_store_desc desc = {
		.clock = "power", .rate_hz = POWER_HZ, .channels = channels, .n_channels = 1
	};
	double seconds = (double)t->tick / HZ, next_beacon = 1.0 / BEACONS_HZ;
	struct cvl_writer *w;
	struct cvl_error err;
	size_t segment = 0;
	uint64_t beacon = 1;

	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	for (double at = -20e-6; at < seconds + 20e-6; at += 5e-6) {
		double cycle = at * HZ, noise = ((double)draw_below(d, 2001) - 1000) * 1e-6;

		while (tied && next_beacon <= at) {
			ok(cvl_writer_beacon(
				   w,
				   (struct cvl_tick){ (uint64_t)((next_beacon + OFFSET_S) *
								 POWER_HZ * (1 + PPM_OFF)) },
				   1, beacon++, &err),
			   &err);
			next_beacon += 1.0 / BEACONS_HZ;
		}
		while (segment + 1 < t->segments && cycle > (double)t->segment_end[segment])
			segment++;
		ok(cvl_writer_sample(w,
				     (struct cvl_tick){ (uint64_t)((at + OFFSET_S) * POWER_HZ *
								   (1 + PPM_OFF)) },
				     0, t->watt[segment] + noise, &err),
		   &err);
	}
	ok(cvl_session_finish(s, w,
			      (struct cvl_tick){ (uint64_t)((seconds + OFFSET_S + 1) * POWER_HZ) },
			      &err),
	   &err);
}

static void energy_holds_as_often_as_it_says(void **state)
{
	struct draw d = draw_begin(10);
	unsigned seen = 0, missed = 0, sums = 0, sums_missed = 0;
	double width = 0;

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		struct cvl_session *s = new_session("energy", &d);
		const struct cvl_sync_opts sync_opts = { .reference = "swo",
							 .beacon_period_ns =
								 1000000000 / BEACONS_HZ };
		struct cvl_tasks_opts opts = plain();
		struct cvl_tasks_opts with = scale;
		struct cvl_sync *sync;
		struct cvl_tasks_result tasks;
		struct cvl_error err;
		struct cvl_task_sum sum[TASKS] = { 0 };
		double all[TASKS] = { 0 };

		open_target(&target, s, &d, "swo");
		run_program(&target, 60);
		finish(s, &target);
		sample_power(s, &target, &d, true);
		ok(cvl_sync_run(&sync, s, &sync_opts, &err), &err);
		ok(cvl_sync_save(sync, s, &err), &err);
		cvl_sync_free(sync);
		opts.power = "watt";
		with.tracing_w = 0.004;
		ok(study(s, &opts, &tasks, &err), &err);
		assert_int_equal(tasks.n_runs, n_truth);
		for (size_t i = 0; i < tasks.n_runs; i++) {
			const struct cvl_task_run *r = &tasks.run[i];
			const struct truth *t = &truth[i]; /* both by begin */
			double joule = true_joule(&target, t->begin, t->end);
			struct cvl_task_sum one = { 0 };
			struct cvl_task_figures f;

			assert_true(tasks.task[r->task].number == t->task);
			joule -= 0.004 * (double)(t->end - t->begin) / HZ;
			cvl_task_sum_add(&one, r);
			figures(&tasks, &with, &one, &f);
			assert_true(f.joule.known);
			assert_false(f.joule.at_least);
			seen++;
			missed += !holds(&f.joule, joule);
			width += cvl_task_half(&f.joule) / joule;
			cvl_task_sum_add(&sum[r->task], r);
			all[r->task] += joule;
		}
		for (size_t k = 0; k < tasks.n; k++) {
			struct cvl_task_figures f;

			figures(&tasks, &with, &sum[k], &f);
			sums++;
			sums_missed += !holds(&f.joule, all[k]);
		}
		drop();
		cvl_session_close(s);
	}
	printf("%u energies, %u outside their bounds; %u sums, %u outside\n", seen, missed, sums,
	       sums_missed);
	printf("half-width %.1f %% of the energy on the average\n", 100 * width / seen);
	assert_true(seen > 700);
	assert_true(width < 0.6 * seen);
	assert_true(missed <= 3);
	assert_true(sums_missed == 0);
}

/* A line that is high during task 1, on a clock of its own. */
static void watch_line(struct cvl_session *s, const struct target *t)
{
	static const char *const lines[] = { "busy" };
	const struct cvl_store_desc desc = {
		.clock = "la", .rate_hz = POWER_HZ, .lines = lines, .n_lines = 1
	};
	struct cvl_writer *w;
	struct cvl_error err;
	uint64_t beacon = 1;

	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_levels(w, foreign(0), 0, &err), &err);
	for (size_t k = 0; k < 2 * n_truth + 2; k++) {
		bool last = k / 2 == n_truth;
		const struct truth *run = last ? NULL : &truth[k / 2];
		double at = (double)(last ? t->tick : k % 2 ? run->end : run->begin) / HZ;

		if (!last && run->task != 1)
			continue;
		for (; (double)beacon / BEACONS_HZ <= at; beacon++)
			ok(cvl_writer_beacon(w, foreign((double)beacon / BEACONS_HZ), 1, beacon,
					     &err),
			   &err);
		if (!last) {
			const struct cvl_tick tick = foreign(at);
			const uint64_t levels = 1 - k % 2;

			ok(cvl_writer_edges(w, &tick, &levels, 1, &err), &err);
		}
	}
	ok(cvl_session_finish(s, w, foreign(1), &err), &err);
}

/*
 * Records too near an end to decide are reported as such: the bound holds, and is wider than by
 * marks in the same stream.
 */
static void counts_on_another_clock_lie_within_their_bounds(void **state)
{
	struct draw d = draw_begin(12);
	unsigned seen = 0;
	uint64_t unsure = 0;

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		struct cvl_session *s = new_session("apart", &d);
		const struct cvl_sync_opts sync_opts = { .reference = "swo",
							 .beacon_period_ns =
								 1000000000 / BEACONS_HZ };
		struct cvl_tasks_opts opts = plain();
		struct cvl_sync *sync;
		struct cvl_tasks_result tasks;
		struct cvl_error err;
		struct cvl_selector pin = select_one("busy");
		size_t next = 0;

		open_target(&target, s, &d, "swo");
		run_program(&target, 60);
		finish(s, &target);
		watch_line(s, &target);
		ok(cvl_sync_run(&sync, s, &sync_opts, &err), &err);
		ok(cvl_sync_save(sync, s, &err), &err);
		cvl_sync_free(sync);
		opts.n_pins = 1;
		opts.pin = &pin;
		opts.port_begin = opts.port_end = 99;
		ok(study(s, &opts, &tasks, &err), &err);
		assert_int_equal(tasks.n, 1);
		for (size_t i = 0; i < tasks.n_runs; i++) {
			const struct cvl_task_run *r = &tasks.run[i];
			struct cvl_task_sum sum = { 0 };
			struct cvl_task_figures f;

			while (truth[next].task != 1)
				next++;
			cvl_task_sum_add(&sum, r);
			figures(&tasks, &scale, &sum, &f);
			assert_true(r->bound < 2000);
			assert_true(holds(&f.seconds,
					  (double)(truth[next].end - truth[next].begin) / HZ));
			for (unsigned k = 0; k < CVL_TASK_WHATS; k++) {
				if (k != CVL_TASK_PERIPHERAL && tasks.packets[k])
					assert_true(
						holds(&f.count[k], (double)truth[next].count[k]));
				unsure += r->count[k].maybe;
			}
			assert_true(r->count[CVL_TASK_RAM].sure <= truth[next].count[CVL_TASK_RAM]);
			assert_true(r->count[CVL_TASK_RAM].sure + r->count[CVL_TASK_RAM].maybe >=
				    truth[next].count[CVL_TASK_RAM]);
			next++;
			seen++;
		}
		drop();
		cvl_selector_free(&pin);
		cvl_session_close(s);
	}
	printf("%u runs on another clock, %" PRIu64 " records too near an end to tell\n", seen,
	       unsure);
	assert_true(seen > 50);
	assert_true(unsure > 0);
}

static void clocks_that_nothing_ties_are_refused(void **state)
{
	struct draw d = draw_begin(11);
	struct cvl_session *s = new_session("untied", &d);
	struct cvl_tasks_opts opts = plain();
	struct cvl_tasks_result tasks;
	struct cvl_error err;

	(void)state;
	open_target(&target, s, &d, "swo");
	run_program(&target, 10);
	finish(s, &target);
	sample_power(s, &target, &d, false);
	opts.power = "watt";
	assert_int_equal(study(s, &opts, &tasks, &err), CVL_E_NO);
	assert_non_null(strstr(err.text, "nothing ties the two"));
	opts.power = "volt";
	assert_int_equal(study(s, &opts, &tasks, &err), CVL_E_UNKNOWN_ID);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_each_run_lie_within_their_bounds),
		cmocka_unit_test(cycles_by_the_rate_hold_too),
		cmocka_unit_test(sums_of_many_runs_hold_as_often_as_they_say),
		cmocka_unit_test(own_time_is_without_what_ran_within),
		cmocka_unit_test(unfinished_and_interleaved_runs_are_told_apart),
		cmocka_unit_test(spans_and_lines_mark_tasks),
		cmocka_unit_test(loss_makes_counts_lower_bounds),
		cmocka_unit_test(shares_of_functions_hold_as_often_as_they_say),
		cmocka_unit_test(functions_are_of_the_tasks_they_ran_in),
		cmocka_unit_test(energy_holds_as_often_as_it_says),
		cmocka_unit_test(counts_on_another_clock_lie_within_their_bounds),
		cmocka_unit_test(clocks_that_nothing_ties_are_refused),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
