/* SPDX-License-Identifier: MIT */
/*
 * Loops recorded in sessions, and durations between events of one clock, with what gaps do to
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <coeval/precision.h>

#include "analysis/durations.h"
#include "capture/drivers/poll/records.h"
#include "test_scratch.h"

#define HZ 500000000 /* 2 ns, as the paper's */

struct world {
	struct cvl_session *session;
	struct cvl_writer *w;
	int class[POLL_RECORD_CLASSES];
	char path[300];
};

static void begin(struct world *w, const char *name)
{
	static const char *const lines[] = { "A", "B" };
	const struct cvl_store_desc desc = {
		.clock = "pc", .rate_hz = HZ, .lines = lines, .n_lines = 2, .edges_within = true
	};
	const struct cvl_origin origin = { "test", "-", NULL };

	snprintf(w->path, sizeof(w->path), "%s/%s", scratch, name);
	assert_int_equal(cvl_session_create(&w->session, w->path, NULL), 0);
	assert_int_equal(cvl_session_add(w->session, &desc, &origin, &w->w, NULL), 0);
	for (int i = 0; i < POLL_RECORD_CLASSES; i++) {
		w->class[i] = cvl_writer_declare(w->w, poll_records_events[i].name,
						 poll_records_events[i].field,
						 poll_records_events[i].n, NULL);
		assert_true(w->class[i] >= 0);
	}
}

static void put(struct world *w, uint64_t tick, int class, uint64_t a, uint64_t b, uint64_t c,
		uint64_t d)
{
	const union cvl_store_value v[] = { { .u = a }, { .u = b }, { .u = c }, { .u = d } };

	assert_int_equal(
		cvl_writer_event(w->w, (struct cvl_tick){ tick }, w->class[class], v, NULL), 0);
}

static void put_texts(struct world *w, uint64_t tick, int class, union cvl_store_value first,
		      const char *b, const char *c)
{
	const union cvl_store_value v[] = { first, { .s = b }, { .s = c } };

	assert_int_equal(
		cvl_writer_event(w->w, (struct cvl_tick){ tick }, w->class[class], v, NULL), 0);
}

static void levels(struct world *w, uint64_t tick, uint64_t levels)
{
	assert_int_equal(cvl_writer_levels(w->w, (struct cvl_tick){ tick }, levels, NULL), 0);
}

static void edge(struct world *w, uint64_t tick, uint64_t half, uint64_t levels)
{
	assert_int_equal(
		cvl_writer_edge_within(w->w, (struct cvl_tick){ tick }, half, levels, NULL), 0);
}

static void gap(struct world *w, uint64_t from, uint64_t to, enum cvl_gap why, uint64_t lost)
{
	assert_int_equal(cvl_writer_gap(w->w, (struct cvl_tick){ from }, (struct cvl_tick){ to },
					lost, why, NULL),
			 0);
	assert_int_equal(cvl_writer_restate(w->w, (struct cvl_tick){ from }, NULL), 0);
}

static struct cvl_analysis *analysis;

static void drop(void)
{
	cvl_analysis_free(analysis);
	analysis = NULL;
}

static int study(struct world *w, uint64_t end, const struct cvl_precision_opts *opts,
		 struct cvl_precision_result *p)
{
	const struct cvl_timeline_opts to = { .nominal = true };
	struct cvl_timeline *tl;
	struct cvl_error err;
	int rc;

	drop();
	assert_int_equal(cvl_session_finish(w->session, w->w, (struct cvl_tick){ end }, NULL), 0);
	cvl_session_close(w->session);
	assert_int_equal(cvl_session_open(&w->session, w->path, NULL, NULL), 0);
	assert_int_equal(cvl_timeline_open(&tl, w->session, &to, NULL), 0);
	rc = cvl_precision_open(&analysis, tl, opts, &err);
	if (!rc)
		rc = cvl_analyse(tl, &analysis, 1, &err);
	if (!rc)
		*p = *cvl_precision_result(analysis);
	cvl_timeline_close(tl);
	cvl_session_close(w->session);
	return rc;
}

static struct cvl_selector pair[2];

static struct cvl_precision_opts between(const char *text)
{
	struct cvl_error err;

	cvl_selector_free(&pair[0]);
	cvl_selector_free(&pair[1]);
	assert_int_equal(cvl_selector_pair_parse(pair, text, strlen(text), &err), 0);
	return (struct cvl_precision_opts){ .between = pair };
}

static void what_a_loop_told_is_read(void **state)
{
	const struct cvl_precision_opts opts = { 0 };
	struct cvl_precision_result p;
	struct world w;

	(void)state;
	begin(&w, "loop");
	levels(&w, 50, 0);
	edge(&w, 100, 3, 1);
	edge(&w, 200, 40, 0);
	gap(&w, 300, 900, CVL_GAP_UNKNOWN, CVL_LOST_UNKNOWN);
	put_texts(&w, 900, POLL_RECORD_GAP, (union cvl_store_value){ .u = 600 }, "preempted",
		  "once");
	gap(&w, 910, 920, CVL_GAP_OVERFLOW, 7);
	put(&w, 1000, POLL_RECORD_LOOP, 60, 590, 600, 50);
	put(&w, 1000, POLL_RECORD_STEP, 5, 5, 59, 295);
	put(&w, 1000, POLL_RECORD_STEP, 576, 591, 1, 590);
	put(&w, 1000, POLL_RECORD_SPAN, 10, 10, 57, 570);
	put_texts(&w, 1000, POLL_RECORD_FACT, (union cvl_store_value){ .s = "tsc" }, "constant",
		  "good");
	assert_int_equal(study(&w, 1000, &opts, &p), 0);
	assert_int_equal(p.n, 1);
	assert_true(p.clock[0].looped);
	assert_int_equal(p.clock[0].rate_hz, HZ);
	assert_int_equal(p.clock[0].steps, 60);
	assert_int_equal(p.clock[0].longest, 590);
	assert_int_equal(p.clock[0].step.ticks, 885);
	assert_int_equal(p.clock[0].events, 2);
	assert_int_equal(p.clock[0].half_least, 3);
	assert_int_equal(p.clock[0].half_most, 40);
	assert_int_equal(p.clock[0].lost, 7);
	assert_int_equal(p.n_gaps, 1);
	assert_int_equal(p.gap[0].end, 900);
	assert_string_equal(p.gap[0].cause, "preempted");
	assert_string_equal(p.clock[0].fact[0].value, "constant");
	/* nearly all steps are short, and most of the time is in the long one */
	assert_int_equal(cvl_precision_at(&p.clock[0], 0.3).tau, 5);
	assert_int_equal(cvl_precision_at(&p.clock[0], 0.5).tau, 590);
	drop();
}

/*
 * Single steps, as recorded by the kernel of firmware/apps/ett in its worst-case mode; the
 * figures of the paper, section 5.
 */
static void a_kernel_tells_in_its_own_words(void **state)
{
	static const struct cvl_store_field run[] = { { "ended_by", CVL_STORE_STRING },
						      { "steps", CVL_STORE_U64 },
						      { "step_most", CVL_STORE_U64 } };
	static const struct cvl_store_field step[] = { { CVL_HALF_WIDTH, CVL_STORE_U64 },
						       { "ticks", CVL_STORE_U64 } };
	const struct cvl_store_desc desc = { .clock = "pc", .rate_hz = HZ };
	const struct cvl_origin origin = { "ett", "-", NULL };
	const struct cvl_precision_opts opts = { 0 };
	struct cvl_precision_result p;
	struct world w;
	int of_run, of_step;
	uint64_t at = 0;

	(void)state;
	snprintf(w.path, sizeof(w.path), "%s/kernel", scratch);
	assert_int_equal(cvl_session_create(&w.session, w.path, NULL), 0);
	assert_int_equal(cvl_session_add(w.session, &desc, &origin, &w.w, NULL), 0);
	of_run = cvl_writer_declare(w.w, "run", run, 3, NULL);
	of_step = cvl_writer_declare(w.w, "step", step, 2, NULL);
	{
		const union cvl_store_value v[] = { { .s = "key" }, { .u = 1000 }, { .u = 1040 } };

		cvl_writer_event(w.w, (struct cvl_tick){ 0 }, of_run, v, NULL);
	}
	for (unsigned i = 0; i < 1000; i++) {
		const uint64_t ticks = i < 955 ? 760 : i < 997 ? 900 : 1040;
		const union cvl_store_value v[] = { { .u = ticks }, { .u = ticks } };

		at += ticks;
		cvl_writer_event(w.w, (struct cvl_tick){ at }, of_step, v, NULL);
	}
	assert_int_equal(study(&w, at, &opts, &p), 0);
	assert_true(p.clock[0].looped);
	assert_int_equal(p.clock[0].events, 0);
	assert_int_equal(p.clock[0].step.ticks, at);
	assert_int_equal(cvl_precision_at(&p.clock[0], 1).tau, 1040);
	assert_int_equal(cvl_precision_at(&p.clock[0], 1).bracket, 2080);
	assert_in_range(cvl_precision_at(&p.clock[0], 0.9).tau, 760, 760 + 760 / 32);
	assert_in_range(cvl_precision_at(&p.clock[0], 0.99).tau, 900, 900 + 900 / 32);
	drop();
}

/* A rises and B rises, with half-widths of 10 ticks; what lies in between differs. */
static size_t one_duration(const char *name, uint64_t from, uint64_t to, bool across,
			   struct cvl_precision_result *p)
{
	struct cvl_precision_opts opts = between("A:rise..B");
	struct world w;

	opts.across = across;
	begin(&w, name);
	levels(&w, 5, 0);
	if (from && from < 1000)
		gap(&w, from, to, CVL_GAP_UNKNOWN, CVL_LOST_UNKNOWN);
	edge(&w, 1000, 10, 1);
	if (from >= 1000)
		gap(&w, from, to, CVL_GAP_UNKNOWN, CVL_LOST_UNKNOWN);
	edge(&w, 2000, 10, 3);
	edge(&w, 3000, 10, 0);
	assert_int_equal(study(&w, 4000, &opts, p), 0);
	return p->times.n;
}

static void a_duration_has_the_bounds_of_both_ends(void **state)
{
	struct cvl_precision_result p;

	(void)state;
	assert_int_equal(one_duration("plain", 0, 0, false, &p), 1);
	assert_int_equal(p.times.ns[0], 2000);
	assert_in_range(p.times.bound_ns[0], 40, 42);
	assert_int_equal(p.times.broken, 0);
	drop();
}

static void a_gap_in_between_breaks_it(void **state)
{
	struct cvl_precision_result p;

	(void)state;
	assert_int_equal(one_duration("between", 1200, 1300, false, &p), 0);
	assert_int_equal(p.times.broken, 1);
	drop();
	assert_int_equal(one_duration("across", 1200, 1300, true, &p), 1);
	drop();
	/* B's bracket does not reach back to where it begins */
	assert_int_equal(one_duration("before_b", 1980, 2020, false, &p), 0);
	drop();
	/* nor A's to where it ends */
	assert_int_equal(one_duration("behind_a", 980, 1020, false, &p), 0);
	assert_int_equal(p.times.broken, 1);
	drop();
	assert_int_equal(one_duration("open", 1500, CVL_TICK_UNKNOWN, false, &p), 0);
	drop();
}

static void a_gap_that_a_bracket_covers_does_not(void **state)
{
	struct cvl_precision_result p;

	(void)state;
	assert_int_equal(one_duration("in_a", 990, 1010, false, &p), 1);
	drop();
	assert_int_equal(one_duration("in_b", 1990, 2010, false, &p), 1);
	drop();
	assert_int_equal(one_duration("long_ago", 100, 200, false, &p), 1);
	drop();
}

static void codes_are_points_too(void **state)
{
	struct cvl_precision_opts opts;
	struct cvl_precision_result p;
	struct world w;

	(void)state;
	opts = between("edge:levels=7..edge{levels=9}");
	begin(&w, "codes");
	levels(&w, 1, 9);
	for (uint64_t i = 0; i < 10; i++) {
		edge(&w, 100 * i + 10, 2, 7);
		edge(&w, 100 * i + 50 + i, 2, 9);
	}
	assert_int_equal(study(&w, 2000, &opts, &p), 0);
	assert_int_equal(p.times.n, 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(p.times.ns[i], 2 * (40 + i));
	drop();
}

/* An event's name alone is any of them; of two fields, both must be there. */
static void points_may_have_more_than_one_field(void **state)
{
	struct cvl_precision_opts opts;
	struct cvl_precision_result p;
	struct world w;

	(void)state;
	opts = between("poll_step:low=7,count=1..poll_gap");
	begin(&w, "fields");
	put(&w, 100, POLL_RECORD_STEP, 7, 7, 1, 7);
	put(&w, 150, POLL_RECORD_STEP, 7, 7, 2, 7);
	put_texts(&w, 200, POLL_RECORD_GAP, (union cvl_store_value){ .u = 1 }, "unknown", "");
	/* the first of two has no end of its own */
	put(&w, 300, POLL_RECORD_STEP, 7, 7, 1, 7);
	put(&w, 350, POLL_RECORD_STEP, 7, 7, 1, 7);
	put_texts(&w, 400, POLL_RECORD_GAP, (union cvl_store_value){ .u = 1 }, "unknown", "");
	put(&w, 500, POLL_RECORD_STEP, 7, 7, 1, 7);
	assert_int_equal(study(&w, 2000, &opts, &p), 0);
	assert_int_equal(p.times.n, 2);
	assert_int_equal(p.times.ns[0], 200);
	assert_int_equal(p.times.ns[1], 100);
	assert_int_equal(p.open, 2);
	drop();
}

/* A field that is not there, or that is a text, is not 0. */
static void a_field_that_is_not_there_has_no_value(void **state)
{
	static const char *const points[] = { "poll_gap:none=0..poll_gap:none=0",
					      "poll_gap{cause=0}..poll_gap{cause=0}" };
	struct cvl_precision_opts opts;
	struct cvl_precision_result p;
	struct world w;
	char name[16];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		opts = between(points[i]);
		snprintf(name, sizeof(name), "none%zu", i);
		begin(&w, name);
		put_texts(&w, 200, POLL_RECORD_GAP, (union cvl_store_value){ .u = 1 }, "unknown",
			  "");
		put_texts(&w, 400, POLL_RECORD_GAP, (union cvl_store_value){ .u = 1 }, "unknown",
			  "");
		assert_int_equal(study(&w, 2000, &opts, &p), 0);
		assert_int_equal(p.times.n + p.open, 0);
		drop();
	}
}

/* The longest are kept, whenever they were, in the order of time. */
static void the_longest_gaps_are_kept(void **state)
{
	const struct cvl_precision_opts opts = { 0 };
	struct cvl_precision_result p;
	struct world w;
	const unsigned n = 3 * CVL_PRECISION_GAPS;

	(void)state;
	begin(&w, "gaps");
	for (unsigned i = 1; i <= n; i++)
		put_texts(&w, 10 * (uint64_t)i, POLL_RECORD_GAP,
			  (union cvl_store_value){ .u = i % 3 ? 1 : 2 }, "unknown", "");
	assert_int_equal(study(&w, 10 * (uint64_t)n, &opts, &p), 0);
	assert_int_equal(p.clock[0].gaps, n);
	assert_int_equal(p.n_gaps, CVL_PRECISION_GAPS);
	for (size_t i = 0; i < p.n_gaps; i++) {
		assert_int_equal(p.gap[i].ticks, 2);
		assert_int_equal(p.gap[i].end, 30 * (i + 1));
	}
	drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_loop_told_is_read),
		cmocka_unit_test(a_kernel_tells_in_its_own_words),
		cmocka_unit_test(a_duration_has_the_bounds_of_both_ends),
		cmocka_unit_test(a_gap_in_between_breaks_it),
		cmocka_unit_test(a_gap_that_a_bracket_covers_does_not),
		cmocka_unit_test(codes_are_points_too),
		cmocka_unit_test(points_may_have_more_than_one_field),
		cmocka_unit_test(a_field_that_is_not_there_has_no_value),
		cmocka_unit_test(the_longest_gaps_are_kept),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
