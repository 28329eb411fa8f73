/* SPDX-License-Identifier: MIT */
/*
 * Rules against timelines that are known: each kind holds, is violated, or cannot be told; and
 * against a plain search over all pairs of records of random timelines with bounds and gaps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/check/check.h"
#include "test_draw.h"

#define NODES 3
#define HZ 1000000 /* a tick is 1 us */
#define RECORDS 4000

enum { A = 1, B = 2 }; /* lines */

static char scratch[256];
static unsigned sessions;

static int make_scratch(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(scratch, sizeof(scratch), "%s/coeval-check-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int remove_scratch(void **state)
{
	(void)state;
	return nftw(scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- sessions of n1, n2, n3 with lines A and B, and events e of a value v ---- */

struct world {
	struct cvl_session *s;
	struct cvl_writer *w[NODES];
	int e[NODES];
	uint64_t last[NODES];
	char path[512];
};

static const struct cvl_origin origin = { .format = "test", .path = "-" };

static void begin_world(struct world *x)
{
	static const char *const lines[] = { "A", "B" };
	static const char *const names[] = { "n1", "n2", "n3" };
	static const struct cvl_store_field v = { "v", CVL_STORE_U64 };
	struct cvl_error err;

	snprintf(x->path, sizeof(x->path), "%s/s%u", scratch, sessions++);
	ok(cvl_session_create(&x->s, x->path, &err), &err);
	for (unsigned i = 0; i < NODES; i++) {
		const struct cvl_store_desc desc = {
			.clock = names[i], .rate_hz = HZ, .lines = lines, .n_lines = 2
		};

		ok(cvl_session_add(x->s, &desc, &origin, &x->w[i], &err), &err);
		ok(x->e[i] = cvl_writer_declare(x->w[i], "e", &v, 1, &err), &err);
		ok(cvl_writer_levels(x->w[i], (struct cvl_tick){ 0 }, 0, &err), &err);
		x->last[i] = 0;
	}
}

static void set(struct world *x, unsigned n, uint64_t tick, uint64_t levels)
{
	struct cvl_error err;

	ok(cvl_writer_edges(x->w[n], &(struct cvl_tick){ tick }, &levels, 1, &err), &err);
	x->last[n] = tick;
}

static void happen(struct world *x, unsigned n, uint64_t tick, uint64_t v)
{
	struct cvl_error err;

	ok(cvl_writer_event(x->w[n], (struct cvl_tick){ tick }, x->e[n],
			    &(union cvl_store_value){ .u = v }, &err),
	   &err);
	x->last[n] = tick;
}

static void lose(struct world *x, unsigned n, uint64_t from, uint64_t to, uint64_t levels)
{
	struct cvl_error err;

	ok(cvl_writer_gap(x->w[n], (struct cvl_tick){ from }, (struct cvl_tick){ to }, 1,
			  CVL_GAP_OVERFLOW, &err),
	   &err);
	ok(cvl_writer_levels(x->w[n], (struct cvl_tick){ to }, levels, &err), &err);
	x->last[n] = to;
}

/* All clocks are right, and within @bound_ns[i] of it. */
static void end_world(struct world *x, uint64_t end, const int64_t *bound_ns,
		      enum cvl_bound_kind kind)
{
	struct cvl_clock_sync clock[NODES] = { { 0 } };
	struct cvl_sync sync = {
		.estimator = "test", .reference = "n1", .settings = "{}", .n = NODES, .clock = clock
	};
	struct cvl_error err;

	for (unsigned i = 0; i < NODES; i++)
		ok(cvl_session_finish(x->s, x->w[i], (struct cvl_tick){ end }, &err), &err);
	cvl_session_close(x->s);
	ok(cvl_session_open(&x->s, x->path, NULL, &err), &err);
	snprintf(sync.session, sizeof(sync.session), "%s", cvl_session_uuid(x->s));
	for (unsigned i = 0; i < NODES; i++) {
		const struct cvl_knot knot = { .bound_ns = bound_ns[i] };
		const struct cvl_map_spec spec = {
			.rate_hz = HZ, .knots = &knot, .n = 1, .kind = kind
		};

		clock[i].clock = (char *)(uintptr_t)cvl_session_clock(x->s, i)->name;
		clock[i].verdict = CVL_GOOD;
		ok(cvl_map_new(&clock[i].map, &spec, &err), &err);
	}
	ok(cvl_sync_save(&sync, x->s, &err), &err);
	for (unsigned i = 0; i < NODES; i++)
		cvl_map_free(clock[i].map);
}

static const int64_t tight[NODES] = { 100, 100, 100 };

/* ---- asking ---- */

static struct cvl_check_outcome results[32];
static size_t n_results;

static int try(struct world *x, const char *text, bool nominal, struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { .nominal = nominal };
	struct cvl_check_opts check = { 0 };
	struct cvl_check_rules *rules;
	struct cvl_timeline *tl = NULL;
	struct cvl_analysis *c = NULL;
	int rc = cvl_check_rules_parse(&rules, text, strlen(text), "rules", err);

	check.rules = rules;
	if (!rc)
		rc = cvl_timeline_open(&tl, x->s, &opts, err);
	if (!rc)
		rc = cvl_check_open(&c, tl, &check, err);
	if (!rc)
		rc = cvl_analyse(tl, &c, 1, err);
	n_results = rc ? 0 : cvl_check_result(c)->n;
	for (size_t i = 0; i < n_results; i++)
		results[i] = cvl_check_result(c)->rule[i];
	cvl_analysis_free(c);
	cvl_timeline_close(tl);
	cvl_check_rules_free(rules);
	return rc;
}

static void ask(struct world *x, const char *text)
{
	struct cvl_error err;

	ok(try(x, text, false, &err), &err);
}

static void expect(size_t i, enum cvl_check_verdict verdict, uint64_t held, uint64_t violated,
		   uint64_t unknown)
{
	const struct cvl_check_outcome *r = &results[i];

	if (r->verdict != verdict || r->held != held || r->violated != violated ||
	    r->unknown != unknown)
		fail_msg("rule %zu: %s, held %d, violated %d, unknown %d", i,
			 cvl_check_verdict_name(r->verdict), (int)r->held, (int)r->violated,
			 (int)r->unknown);
}

static void done(struct world *x)
{
	cvl_session_close(x->s);
}

/* ---- each kind ---- */

#define HEARD "- { after: n1.A rises, then: other.B rises, within: 100us }\n"

static void an_answer_in_time_holds_and_a_late_one_is_violated(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A);
	set(&x, 1, 1050, B);
	set(&x, 2, 1090, B);
	set(&x, 0, 2000, 0);
	set(&x, 1, 2000, 0);
	set(&x, 0, 3000, A);
	set(&x, 1, 3150, B);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	ask(&x, HEARD "- { after: n1.A rises, never: n2.B rises, within: 120us to 200us }\n"
		      "- { after: n1.A falls, then: n2.B falls, within: -5us to 5us }\n"
		      "- { after: n1.A falls, then: any other.B rises, within: 2ms }\n");
	expect(0, CVL_CHECK_VIOLATED, 2, 2, 0);
	assert_int_equal(results[0].first_violated[0].time.ns, 3000000);
	assert_string_equal(results[0].first_violated[0].from, "n1");
	expect(1, CVL_CHECK_VIOLATED, 1, 1, 0);
	assert_int_equal(results[1].first_violated[0].value_ns, 150000);
	expect(2, CVL_CHECK_HOLDS, 1, 0, 0);
	expect(3, CVL_CHECK_HOLDS, 1, 0, 0);
	done(&x);
}

/* How many records it takes until a case is known to be violated; 0: none is. */
static uint64_t records_to_violation(struct world *x, const char *text)
{
	struct cvl_check_opts check = { 0 };
	struct cvl_check_rules *rules;
	struct cvl_timeline *tl;
	struct cvl_analysis *c;
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	uint64_t n = 0;
	bool violated;

	ok(cvl_check_rules_parse(&rules, text, strlen(text), "rules", &err), &err);
	check.rules = rules;
	ok(cvl_timeline_open(&tl, x->s, NULL, &err), &err);
	ok(cvl_check_open(&c, tl, &check, &err), &err);
	while (!cvl_check_violated(c) && cvl_timeline_next(tl, &block, &err) > 0)
		while (cvl_block_take(&block, &slice))
			for (struct cvl_slice one = slice;
			     one.begin < slice.end && !cvl_check_violated(c); one.begin++, n++) {
				one.end = one.begin + 1;
				ok(cvl_analysis_push(c, &one, &err), &err);
			}
	violated = cvl_check_violated(c);
	ok(cvl_analysis_end(c, CVL_TIME_MAX, &err), &err);
	assert_int_equal(violated, cvl_check_result(c)->count[CVL_CHECK_VIOLATED] > 0);
	cvl_analysis_free(c);
	cvl_timeline_close(tl);
	cvl_check_rules_free(rules);
	return violated ? n : 0;
}

static void a_violation_is_known_at_once(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	for (unsigned i = 0; i < 10; i++) {
		set(&x, 0, 1000 + 1000 * i, A);
		set(&x, 0, 1500 + 1000 * i, 0);
	}
	set(&x, 0, 20000, A);
	set(&x, 0, 22000, 0);
	set(&x, 0, 30000, A);
	end_world(&x, 40000, tight, CVL_BOUND_PROVEN);
	/* the levels at the begin, and 22 edges */
	assert_int_equal(records_to_violation(&x, "- { state: n1.A is high, at most: 1ms }\n"),
			 NODES + 22);
	assert_int_equal(records_to_violation(&x, "- { state: n1.A is high, at most: 20ms }\n"), 0);
	done(&x);
}

/* Streams are read ahead: an answer that was captured, but not pushed, is not missing. */
static void what_comes_after_the_end_is_not_known(void **state)
{
	struct cvl_check_opts check = { 0 };
	struct cvl_check_rules *rules;
	struct cvl_analysis *c;
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A);
	set(&x, 1, 1050, B);
	set(&x, 2, 1060, B);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	ok(cvl_check_rules_parse(&rules, HEARD, strlen(HEARD), "rules", &err), &err);
	check.rules = rules;
	ok(cvl_timeline_open(&tl, x.s, NULL, &err), &err);
	ok(cvl_check_open(&c, tl, &check, &err), &err);
	ok(cvl_timeline_next(tl, &block, &err), &err);
	do {
		assert_true(cvl_block_take(&block, &slice));
		ok(cvl_analysis_push(c, &slice, &err), &err);
	} while (slice.time[slice.end - 1].ns < 1000000);
	ok(cvl_analysis_end(c, slice.time[slice.end - 1], &err), &err);
	results[0] = cvl_check_result(c)->rule[0];
	expect(0, CVL_CHECK_CANNOT_TELL, 0, 0, 2);
	assert_int_equal(results[0].why[CVL_CHECK_CUT], 2);
	cvl_analysis_free(c);
	cvl_timeline_close(tl);
	cvl_check_rules_free(rules);
	done(&x);
}

static void an_answer_at_the_limit_cannot_be_told(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A);
	set(&x, 1, 1101, B);
	set(&x, 2, 1000, B); /* before or after */
	end_world(&x, 9000, tight, CVL_BOUND_STATISTICAL);
	ask(&x, HEARD);
	expect(0, CVL_CHECK_CANNOT_TELL, 0, 0, 2);
	assert_int_equal(results[0].why[CVL_CHECK_BOUNDS], 2);
	done(&x);
}

static void nothing_is_told_across_clocks_that_nothing_ties(void **state)
{
	struct cvl_error err;
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A);
	set(&x, 1, 1050, B);
	set(&x, 0, 2000, A | B);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	ok(try(&x,
	       "- { after: n1.A rises, then: n2.B rises, within: 100us }\n"
	       "- { after: n1.A rises, then: B rises, within: 2ms }\n"
	       "- { never: n1.A is high, while: n2.B is high }\n",
	       true, &err),
	   &err);
	expect(0, CVL_CHECK_CANNOT_TELL, 0, 0, 1);
	expect(1, CVL_CHECK_HOLDS, 1, 0, 0);
	expect(2, CVL_CHECK_CANNOT_TELL, 0, 0, 1);
	done(&x);
}

static void a_gap_makes_it_unknown_and_an_end_too(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A); /* n2 blind, n3 answers */
	set(&x, 2, 1010, B);
	lose(&x, 1, 1020, 1080, 0);
	set(&x, 0, 2000, 0);
	set(&x, 2, 2000, 0);
	set(&x, 0, 8950, A); /* the capture ends first */
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	ask(&x, HEARD "- { after: n2.B rises, then: n1.A rises, within: 1ms }\n"
		      "- { after: n1.A rises, never: n2.B rises, within: 10us }\n");
	expect(0, CVL_CHECK_CANNOT_TELL, 1, 0, 3);
	assert_int_equal(results[0].why[CVL_CHECK_LOSS], 1);
	assert_int_equal(results[0].why[CVL_CHECK_CUT], 2);
	expect(1, CVL_CHECK_CANNOT_TELL, 0, 0, 1);
	expect(2, CVL_CHECK_HOLDS, 2, 0, 0);
	done(&x);
}

static void stays_are_as_long_as_they_should_be(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A);
	set(&x, 0, 1500, 0);
	set(&x, 0, 2000, A);
	set(&x, 0, 4500, 0);
	set(&x, 1, 1000, A);
	set(&x, 1, 3000, 0); /* 2000 us +- 2 us and what the rate errs by */
	set(&x, 2, 1000, A);
	lose(&x, 2, 1100, 1200, A);
	set(&x, 2, 5000, 0);
	set(&x, 2, 8500, A);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	ask(&x, "- { state: n1.A is high, at most: 2ms }\n"
		"- { state: n1.A is high, at least: 1ms }\n"
		"- { state: n2.A is high, at most: 2ms }\n"
		"- { state: n3.A is high, at most: 2ms }\n"
		"- { state: n3.A is high, at most: 10ms }\n"
		"- { state: B is high, at most: 10ms }\n"
		"- { state: n1.A is low, at most: 600us }\n");
	expect(0, CVL_CHECK_VIOLATED, 1, 1, 0);
	assert_int_equal(results[0].first_violated[0].value_ns, 2500000);
	assert_int_equal(results[0].first_violated[0].reason, CVL_CHECK_TOO_LONG);
	expect(1, CVL_CHECK_VIOLATED, 1, 1, 0);
	assert_int_equal(results[1].first_violated[0].reason, CVL_CHECK_TOO_SHORT);
	expect(2, CVL_CHECK_CANNOT_TELL, 0, 0, 1);
	expect(3, CVL_CHECK_VIOLATED, 0, 1, 2);
	expect(4, CVL_CHECK_CANNOT_TELL, 0, 0, 3);
	/* the gap of n3 alone: else B never was high */
	expect(5, CVL_CHECK_CANNOT_TELL, 0, 0, 1);
	expect(6, CVL_CHECK_VIOLATED, 1, 2, 0);
	done(&x);
}

static void two_at_once_are_found_and_neighbours_let_pass(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A);
	set(&x, 1, 1000, A); /* together: surely at once, whoever began */
	set(&x, 0, 1500, 0);
	set(&x, 1, 1600, 0);
	set(&x, 0, 2000, A);
	set(&x, 0, 2500, 0);
	set(&x, 1, 2501, A); /* one after the other, within the bounds */
	set(&x, 1, 2600, 0);
	set(&x, 2, 3000, B);
	happen(&x, 0, 3500, 7);
	happen(&x, 1, 3500, 8);
	set(&x, 2, 4000, 0);
	happen(&x, 0, 4100, 7);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	ask(&x, "- { never: n1.A is high, while: n2.A is high }\n"
		"- { never: A is high, while: B is high }\n"
		"- { never: n1.e, while: n3.B is high }\n"
		"- { never: e where v = 8 }\n"
		"- { never: e where v > 8 }\n"
		"- { never: n1.e, while: n3.B is low }\n");
	expect(0, CVL_CHECK_VIOLATED, 0, 1, 1);
	expect(1, CVL_CHECK_VACUOUS, 4, 0, 0);
	expect(2, CVL_CHECK_VIOLATED, 1, 1, 0);
	expect(3, CVL_CHECK_VIOLATED, 0, 1, 0);
	expect(4, CVL_CHECK_HOLDS, 0, 0, 0);
	expect(5, CVL_CHECK_VIOLATED, 1, 1, 0);
	done(&x);
}

static void what_never_happened_was_not_tried(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	set(&x, 0, 1000, A);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	ask(&x, "- { after: n2.A rises, then: n1.A rises, within: 1ms }\n"
		"- { state: B is high, at most: 1ms }\n"
		"- { count: B rises, at most: 1, in: 1s }\n"
		"- { event: n2.A rises, every: 1s +- 1ms }\n"
		"- { order: [n2.A rises, n2.A falls] }\n"
		"- { never: A is high, while: B is high }\n");
	for (size_t i = 0; i < n_results; i++)
		assert_int_equal(results[i].verdict, CVL_CHECK_VACUOUS);
	done(&x);
}

static void periods_counts_and_orders(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	for (unsigned i = 0; i < 8; i++) {
		happen(&x, 0, 1000 + i * 1000 + (i == 5 ? 100 : 0), i);
		happen(&x, 1, 1500 + i * 1000, i);
	}
	lose(&x, 2, 100, 200, 0);
	end_world(&x, 20000, tight, CVL_BOUND_PROVEN);
	ask(&x, "- { event: n1.e, every: 1ms +- 50us }\n"
		"- { event: any *.e, every: 500us +- 200us }\n"
		"- { count: n2.e, at most: 2, in: 1900us }\n"
		"- { count: n2.e, at most: 2, in: 2100us }\n"
		"- { count: n2.e, at most: 2, in: 2ms }\n"
		"- { count: any n?.e, at most: 2, in: 1900us }\n"
		"- { order: [n1.e, n2.e] }\n"
		"- { order: [n1.e where v < 3, n2.e, n1.e where v >= 3] }\n"
		"- { count: n3.e, at most: 1, in: 1s }\n");
	/* two beside the late one, and it stopped long before the capture did */
	expect(0, CVL_CHECK_VIOLATED, 5, 3, 0);
	expect(1, CVL_CHECK_VIOLATED, 15, 1, 1);
	expect(2, CVL_CHECK_HOLDS, 8, 0, 0);
	expect(3, CVL_CHECK_VIOLATED, 2, 6, 0);
	expect(4, CVL_CHECK_CANNOT_TELL, 2, 0, 6);
	/* n3 is one of any: its gap, and what it may hide of the first window */
	expect(5, CVL_CHECK_VIOLATED, 0, 14, 3);
	expect(6, CVL_CHECK_HOLDS, 15, 0, 0);
	assert_int_equal(results[7].verdict, CVL_CHECK_VIOLATED);
	expect(8, CVL_CHECK_CANNOT_TELL, 0, 0, 1);
	done(&x);
}

static void order_that_the_bounds_hide_is_not_told(void **state)
{
	static const int64_t wide[NODES] = { 100, 100000, 100 };
	struct world x;

	(void)state;
	begin_world(&x);
	happen(&x, 0, 1000, 0);
	happen(&x, 1, 1010, 0);
	happen(&x, 0, 3000, 0);
	happen(&x, 1, 3500, 0);
	happen(&x, 0, 4000, 0);
	end_world(&x, 9000, wide, CVL_BOUND_PROVEN);
	ask(&x, "- { order: [n1.e, n2.e] }\n");
	expect(0, CVL_CHECK_CANNOT_TELL, 2, 0, 1);
	done(&x);
}

/* ---- what cannot be asked ---- */

static void refuse(struct world *x, const char *text, enum cvl_code code, const char *says)
{
	struct cvl_error err = { 0 };
	int rc = try(x, text, false, &err);

	if (rc != (int)code || !strstr(err.text, says))
		fail_msg("%s: %d '%s', not '%s'", text, rc, err.text, says);
}

static void bad_rules_are_refused_with_their_line(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	refuse(&x, "", CVL_E_SYNTAX, "rules:1:1: empty; expected a rule");
	refuse(&x, "[]", CVL_E_SYNTAX, "rules:1:1: expected a list of 1 to 1000");
	refuse(&x, "- {}", CVL_E_SYNTAX, "an empty rule");
	refuse(&x, "- { name: x }", CVL_E_SYNTAX, "an empty rule");
	refuse(&x, "\n- { after: A rises, than: B rises }", CVL_E_SYNTAX,
	       "rules:2:21: unknown key 'than'");
	refuse(&x, "- { after: A rises, then: B rises }", CVL_E_SYNTAX, "missing key 'within'");
	refuse(&x, "- { after: A rises, then: B rises, within: 0 }", CVL_E_SYNTAX,
	       "window of zero");
	refuse(&x, "- { after: A rises, then: B rises, within: 5ms to 1ms }", CVL_E_SYNTAX,
	       "ends before it begins");
	refuse(&x, "- { after: A rises, then: B rises, within: soon }", CVL_E_SYNTAX, "a time");
	refuse(&x, "- { after: A is high, then: B rises, within: 1ms }", CVL_E_SYNTAX,
	       "an event is needed");
	refuse(&x, "- { after: A is hihg, then: B rises, within: 1ms }", CVL_E_UNKNOWN_ID,
	       "rules:1:12: 'A is hihg': the session has no line or event A is hihg");
	refuse(&x, "- { after: 'A:hihg', then: B rises, within: 1ms }", CVL_E_UNKNOWN_ID,
	       "not hihg");
	refuse(&x, "- { state: A rises, at most: 1ms }", CVL_E_SYNTAX, "a state is needed");
	refuse(&x, "- { state: A is high, at most: 1ms, at least: 2ms }", CVL_E_SYNTAX,
	       "nothing can be both");
	refuse(&x, "- { state: A is high, at most: 1ms }\n- { state: A is high, at least: 2ms }",
	       CVL_E_SYNTAX, "rules:2:3: the rule 'state A is high at least 2ms' contradicts");
	refuse(&x,
	       "- { after: A rises, then: B rises, within: 1ms }\n"
	       "- { after: A rises, never: B rises, within: 5ms }",
	       CVL_E_SYNTAX, "contradicts the one in line 1");
	refuse(&x, "- { never: e }\n- { never: e }", CVL_E_SYNTAX, "is the same");
	refuse(&x, "- { count: e, at most: 0, in: 1s }", CVL_E_SYNTAX, "whole number");
	refuse(&x, "- { count: e, at most: 1, in: 0 }", CVL_E_SYNTAX, "window of zero");
	refuse(&x, "- { event: e, every: 1s }", CVL_E_SYNTAX, "how exact");
	refuse(&x, "- { event: e, every: 1s +- 2s }", CVL_E_SYNTAX, "less than the period");
	refuse(&x, "- { order: [e] }", CVL_E_SYNTAX, "a list of 2 to 16");
	refuse(&x, "- { order: [e, e] }", CVL_E_SYNTAX, "duplicate");
	refuse(&x, "- { never: *.e }", CVL_E_SYNTAX, "put quotes around");
	refuse(&x, "- { never: e where v }", CVL_E_SYNTAX, "expected FIELD=VALUE");
	refuse(&x, "- { never: 'e{}' }", CVL_E_SYNTAX, "expected FIELD=VALUE");
	refuse(&x, "- { never: 'e{v=1' }", CVL_E_SYNTAX, "rules:1:12: 'e{v=1'");
	refuse(&x, "- { never: e where v < high }", CVL_E_SYNTAX, "only numbers");
	refuse(&x, "- { never: n4.e }", CVL_E_UNKNOWN_ID,
	       "no node is called n4 (did you mean n1, n2, n3?)");
	refuse(&x, "- { never: n1.C rises }", CVL_E_UNKNOWN_ID,
	       "rules:1:12: 'n1.C rises': n1 has no line C (did you mean A, B?)");
	refuse(&x, "- { never: same.e }", CVL_E_UNKNOWN_ID, "comes first");
	refuse(&x, "- { state: \"n1.[AB] is high\", at most: 1s }", CVL_E_UNKNOWN_ID,
	       "of one line");
	refuse(&x, "- { order: [n1.e, \"*.A rises\"] }", CVL_E_UNKNOWN_ID, "several nodes");
	done(&x);
}

/* The same rules, in the old spelling and in today's. */
static void spellings_mean_the_same(void **state)
{
	static const char *const text[2] = {
		"- { after: n1.A rises, then: other.A falls, within: 2ms }\n"
		"- { after: A changes, never: e where v > 3 and v != 5, within: 1ms }\n"
		"- { state: A is high, at most: 3ms }\n"
		"- { never: B is low, while: other.A is high }\n"
		"- { count: any n*.e where v = 1, at most: 1, in: 5ms }\n",
		"- { after: n1.A:rise, then: other.A:fall, within: 2ms }\n"
		"- { after: A:edge, never: 'e{v>3,v!=5}', within: 1ms }\n"
		"- { state: A:high, at most: 3ms }\n"
		"- { never: B:low, while: other.A:high }\n"
		"- { count: 'any n*.e{v=1}', at most: 1, in: 5ms }\n",
	};
	struct cvl_check_outcome old[5];
	struct draw d = draw_begin(77);
	uint64_t cases = 0;
	struct world x;

	(void)state;
	begin_world(&x);
	for (uint64_t tick = 1000; tick < 400000; tick += 200 + draw_below(&d, 2000)) {
		unsigned n = (unsigned)draw_below(&d, NODES);

		if (draw_below(&d, 3))
			set(&x, n, tick, draw_below(&d, 4));
		else
			happen(&x, n, tick, draw_below(&d, 7));
	}
	end_world(&x, 400000, tight, CVL_BOUND_PROVEN);
	ask(&x, text[0]);
	assert_int_equal(n_results, 5);
	memcpy(old, results, sizeof(old));
	ask(&x, text[1]);
	for (size_t i = 0; i < 5; i++) {
		expect(i, old[i].verdict, old[i].held, old[i].violated, old[i].unknown);
		cases += old[i].held + old[i].violated;
	}
	assert_true(cases > 100);
	done(&x);
}

static void one_record_is_not_both_sides_of_a_rule(void **state)
{
	struct world x;

	(void)state;
	begin_world(&x);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	refuse(&x, "- { never: A rises, while: A is high }", CVL_E_UNKNOWN_ID,
	       "the same line of n1");
	refuse(&x, "- { never: n2.A falls, while: n2.A is low }", CVL_E_UNKNOWN_ID, "of n2");
	refuse(&x, "- { never: A is high, while: A is low }", CVL_E_UNKNOWN_ID, "the same line");
	refuse(&x, "- { never: A is high, while: \"n?.A is high\" }", CVL_E_UNKNOWN_ID, "`other.`");
	refuse(&x, "- { never: any *.A rises, while: n3.A is low }", CVL_E_UNKNOWN_ID, "of n3");
	refuse(&x, "- { order: [n1.A rises, n1.A changes] }", CVL_E_UNKNOWN_ID, "no order");
	refuse(&x, "- { order: [n1.A falls, n1.B rises, any *.A falls] }", CVL_E_UNKNOWN_ID,
	       "'n1.A falls'");
	ask(&x, "- { never: A rises, while: B is high }\n"
		"- { never: A is high, while: other.A is high }\n"
		"- { order: [n1.A rises, n1.A falls] }\n");
	done(&x);
}

static void names_are_text_that_can_be_shown(void **state)
{
	struct cvl_check_rules set = { 0 };
	struct cvl_error err = { 0 };
	char text[400], *at = text;
	struct world x;
	size_t n;

	(void)state;
	begin_world(&x);
	end_world(&x, 9000, tight, CVL_BOUND_PROVEN);
	refuse(&x, "- { name: \"a\\e[31m\", never: A rises }", CVL_E_SYNTAX, "one line");
	refuse(&x, "- { name: \"a\\nb\", never: A rises }", CVL_E_SYNTAX, "one line");
	refuse(&x, "- { name: \"a\\u0085b\", never: A rises }", CVL_E_SYNTAX, "one line");
	refuse(&x, "- { never: \"A\\x07 rises\" }", CVL_E_SYNTAX, "an event");
	done(&x);
	/* a name that is made ends between characters, wherever that is */
	for (unsigned pad = 0; pad < 4; pad++) {
		at = text + sprintf(text, "- { never: \"n1.e where v = %.*s", (int)pad, "xxx");
		for (unsigned i = 0; i < 40; i++)
			at += sprintf(at, "\xe2\x82\xac"); /* the euro sign */
		at += sprintf(at, "\" }");
		assert_int_equal(check_rules_parse(&set, text, (size_t)(at - text), "r", &err), 0);
		n = strlen(set.rule[0].name);
		assert_true(n <= 6 + 80);
		assert_memory_equal(set.rule[0].name + n - 3, "\xe2\x82\xac", 3);
		check_rules_free(&set);
	}
}

/* ---- the oracle: all against all ---- */

struct rec {
	struct cvl_time t;
	struct cvl_bound b;
	size_t clock;
	uint64_t place;
};

struct stay {
	struct rec s, e;
	bool seen_s, seen_e; /* its ends; else it is what was seen of it, or a shadow */
	bool shadow, open;
};

struct trace {
	struct rec rise[2][RECORDS];
	size_t rises[2];
	struct stay stay[2][2 * RECORDS];
	size_t stays[2];
	struct rec dark[RECORDS], light[RECORDS]; /* gaps */
	size_t gaps;
	struct rec first, end;
};

static struct trace traces[NODES];

static enum tri { NO = -1, MAYBE, YES } say(int64_t least, int64_t most, int64_t lo, int64_t hi)
{
	return least >= lo && most <= hi ? YES : most < lo || least > hi ? NO : MAYBE;
}

static int64_t width(const struct rec *a, const struct rec *b)
{
	int64_t d = b->t.ns - a->t.ns, drift = 2 * ((d < 0 ? -d : d) / 5000 + 1);
	struct cvl_bound x = a->b, y = b->b;

	x.capture = y.capture = 0;
	if (a->clock == b->clock && drift < cvl_bound_pair(x, y))
		return drift + a->b.capture + b->b.capture;
	return cvl_bound_pair(a->b, b->b);
}

static enum tri between(const struct rec *a, const struct rec *b, int64_t lo, int64_t hi)
{
	int64_t d = b->t.ns - a->t.ns, w = width(a, b);

	return say(d - w, d + w, lo, hi);
}

static enum tri before(const struct rec *a, const struct rec *b)
{
	enum cvl_order o;

	if (a->clock == b->clock)
		return a->place < b->place ? YES : a->place > b->place ? NO : MAYBE;
	o = cvl_timeline_order(a->t, b->t, width(a, b));
	return o == CVL_BEFORE ? YES : o == CVL_AFTER ? NO : MAYBE;
}

static void read_traces(struct world *x)
{
	bool known[NODES] = { false };
	uint64_t levels[NODES] = { 0 }, place[NODES] = { 0 };
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;

	memset(traces, 0, sizeof(traces));
	ok(cvl_timeline_open(&tl, x->s, NULL, &err), &err);
	while (cvl_timeline_next(tl, &block, &err) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++) {
				struct trace *t = &traces[sl.clock];
				uint64_t now = sl.batch->value[i];
				struct rec r = { sl.time[i], cvl_timeline_bound_parts(tl, &sl, i),
						 sl.clock, place[sl.clock]++ };
				bool gap = sl.batch->kind[i] == CVL_GAP;

				if (sl.batch->kind[i] != CVL_EDGE && !gap)
					continue;
				t->end = r;
				if (!gap && !known[sl.clock] && !t->gaps)
					t->first = r;
				if (!gap && !known[sl.clock] && t->gaps)
					t->light[t->gaps - 1] = r;
				if (gap) {
					t->dark[t->gaps] = r;
					t->light[t->gaps++].t.ns = INT64_MAX;
				}
				for (unsigned k = 0; k < 2; k++) {
					struct stay *last =
						t->stays[k] ? &t->stay[k][t->stays[k] - 1] : NULL;
					bool up = now >> k & 1, was = levels[sl.clock] >> k & 1;

					if (gap || (known[sl.clock] && was && !up) ||
					    !known[sl.clock])
						if (last && last->open) {
							last->e = r;
							last->open = false;
							last->seen_e = !gap && known[sl.clock];
						}
					if (gap)
						t->stay[k][t->stays[k]++] = (struct stay){
							.s = r, .shadow = true, .open = true
						};
					else if (up && (!was || !known[sl.clock]))
						t->stay[k][t->stays[k]++] =
							(struct stay){ .s = r,
								       .open = true,
								       .seen_s = known[sl.clock] };
					if (!gap && known[sl.clock] && up && !was)
						t->rise[k][t->rises[k]++] = r;
				}
				known[sl.clock] = !gap;
				levels[sl.clock] = now;
			}
	for (size_t c = 0; c < NODES; c++) {
		struct cvl_stream_stats stats;

		for (size_t i = 0; i < cvl_timeline_streams(tl); i++)
			if (cvl_timeline_stream_clock(tl, i) == (int)c) {
				cvl_stream_stats(cvl_timeline_stream(tl, i), &stats);
				traces[c].end.t =
					cvl_map_time(cvl_timeline_map(tl, c), stats.end, NULL);
				traces[c].end.place = UINT64_MAX;
			}
		for (unsigned k = 0; k < 2; k++)
			for (size_t i = 0; i < traces[c].stays[k]; i++)
				if (traces[c].stay[k][i].open)
					traces[c].stay[k][i].e = traces[c].end;
	}
	cvl_timeline_close(tl);
}

struct tally {
	uint64_t held, violated, unknown;
};

static void same_tally(size_t rule, struct tally t)
{
	const struct cvl_check_outcome *r = &results[rule];

	if (r->held != t.held || r->violated != t.violated || r->unknown != t.unknown)
		fail_msg("rule %zu: held %d violated %d unknown %d; all against all: %d %d %d",
			 rule, (int)r->held, (int)r->violated, (int)r->unknown, (int)t.held,
			 (int)t.violated, (int)t.unknown);
}

static struct tally all_after(int64_t lo, int64_t hi, bool forbids)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++)
		for (size_t y = 0; y < NODES; y++) {
			const struct trace *a = &traces[x], *b = &traces[y];
			int64_t reach = a->first.b.map + b->first.b.map + 2000, from, to;

			if (x == y)
				continue;
			n.unknown += a->gaps;
			for (size_t i = 0; i < a->rises[0]; i++) {
				const struct rec *r = &a->rise[0][i];
				bool yes = false, maybe = false;

				from = r->t.ns - reach + (lo < 0 ? lo : 0);
				to = r->t.ns + hi + reach;
				for (size_t k = 0; k < b->rises[1]; k++) {
					enum tri t = between(r, &b->rise[1][k], lo, hi);

					yes = yes || t == YES;
					maybe = maybe || t == MAYBE;
				}
				for (size_t k = 0; k < b->gaps; k++)
					maybe = maybe ||
						(b->dark[k].t.ns <= to && b->light[k].t.ns >= from);
				maybe = maybe || to > b->end.t.ns || from <= b->first.t.ns;
				n.held += yes ? !forbids : !maybe && forbids;
				n.violated += yes ? forbids : !maybe && !forbids;
				n.unknown += !yes && maybe;
			}
		}
	return n;
}

static struct tally all_state(int64_t lo, int64_t hi)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++)
		for (size_t i = 0; i < traces[x].stays[0]; i++) {
			const struct stay *s = &traces[x].stay[0][i];
			enum tri t = between(&s->s, &s->e, lo, hi);

			if (s->shadow) { /* counted with the stay that it cut, if there is one */
				n.unknown += !i || s[-1].e.place != s->s.place || s[-1].shadow;
				continue;
			}
			if (!s->seen_s || !s->seen_e)
				t = between(&s->s, &s->e, INT64_MIN, hi) == NO ? NO : MAYBE;
			n.held += t == YES;
			n.violated += t == NO;
			n.unknown += t == MAYBE;
		}
	return n;
}

static struct tally all_never(void)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++)
		for (size_t y = 0; y < NODES; y++)
			for (size_t i = 0; x != y && i < traces[x].stays[0]; i++) {
				const struct stay *a = &traces[x].stay[0][i];
				const struct trace *b = &traces[y];
				bool hit = false, unsure = before(&a->s, &b->first) == YES ||
							   before(&b->end, &a->e) == YES;

				for (size_t k = 0; k < b->stays[1]; k++) {
					const struct stay *s = &b->stay[1][k];
					enum tri p = before(&a->s, &s->e), q = before(&s->s, &a->e);

					if (p == NO || q == NO)
						continue;
					if (p == YES && q == YES && !a->shadow && !s->shadow)
						hit = true;
					unsure = true;
				}
				n.violated += hit;
				n.unknown += !hit && unsure;
				n.held += !hit && !unsure && !a->shadow;
			}
	return n;
}

/*
 * A rises while another's B is high: an edge is a stay without length, and what a gap hides of A
 * one that may have been.
 */
static struct tally all_edges_never(void)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++)
		for (size_t y = 0; y < NODES; y++) {
			const struct trace *a = &traces[x], *b = &traces[y];

			for (size_t i = 0; x != y && i < a->rises[0] + a->gaps; i++) {
				bool shadow = i >= a->rises[0], hit = false, unsure;
				const struct rec *from =
					shadow ? &a->dark[i - a->rises[0]] : &a->rise[0][i];
				const struct rec *to = shadow ? &a->light[i - a->rises[0]] : from;

				unsure = before(from, &b->first) == YES ||
					 before(&b->end, to) == YES;
				for (size_t k = 0; k < b->stays[1]; k++) {
					const struct stay *s = &b->stay[1][k];
					enum tri p = before(from, &s->e), q = before(&s->s, to);

					if (p == NO || q == NO)
						continue;
					hit = hit ||
					      (p == YES && q == YES && !shadow && !s->shadow);
					unsure = true;
				}
				n.violated += hit;
				n.unknown += !hit && unsure;
				n.held += !hit && !unsure && !shadow;
			}
		}
	return n;
}

/* After A a B of any other node, where nothing was lost. */
static struct tally all_after_any(int64_t hi)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++) {
		const struct trace *a = &traces[x];
		int64_t reach = 0;

		for (size_t y = 0; y < NODES; y++)
			if (y != x && traces[y].first.b.map > reach)
				reach = traces[y].first.b.map;
		reach += a->first.b.map + 2000;
		for (size_t i = 0; i < a->rises[0]; i++) {
			const struct rec *r = &a->rise[0][i];
			bool yes = false, maybe = false;

			for (size_t y = 0; y < NODES; y++) {
				const struct trace *b = &traces[y];

				if (y == x)
					continue;
				for (size_t k = 0; k < b->rises[1]; k++) {
					enum tri t = between(r, &b->rise[1][k], 0, hi);

					yes = yes || t == YES;
					maybe = maybe || t == MAYBE;
				}
				maybe = maybe || r->t.ns + hi + reach > b->end.t.ns ||
					r->t.ns - reach <= b->first.t.ns;
			}
			n.held += yes;
			n.violated += !yes && !maybe;
			n.unknown += !yes && maybe;
		}
	}
	return n;
}

static struct tally all_bare(void)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++) {
		n.violated += traces[x].rises[0];
		n.unknown += traces[x].gaps;
	}
	return n;
}

static struct tally all_count(uint64_t limit, int64_t window)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++) {
		const struct trace *a = &traces[x];

		n.unknown += a->gaps;
		for (size_t i = 0; i < a->rises[0]; i++) {
			uint64_t sure = 0, most = 0;
			bool lossy = false;

			for (size_t k = 0; k <= i; k++) {
				enum tri t = between(&a->rise[0][k], &a->rise[0][i], INT64_MIN,
						     window - 1);

				sure += t == YES;
				most += t != NO;
			}
			for (size_t k = 0; k < a->gaps; k++)
				lossy = lossy || (a->dark[k].place < a->rise[0][i].place &&
						  between(&a->light[k], &a->rise[0][i], INT64_MIN,
							  window - 1) != NO);
			n.violated += sure > limit;
			n.unknown += sure <= limit && (most > limit || lossy);
			n.held += most <= limit && !lossy;
		}
	}
	return n;
}

static struct tally all_every(int64_t lo, int64_t hi)
{
	struct tally n = { 0 };

	for (size_t x = 0; x < NODES; x++) {
		const struct trace *a = &traces[x];
		size_t last = a->rises[0];

		n.unknown += a->gaps;
		for (size_t i = 0; i < last; i++) {
			const struct rec *r = &a->rise[0][i],
					 *next = i + 1 < last ? r + 1 : &a->end;
			bool cut = false;
			enum tri t;

			for (size_t k = 0; k < a->gaps; k++)
				cut = cut || (a->dark[k].place > r->place &&
					      a->dark[k].place < next->place);
			if (cut)
				continue;
			t = between(r, next, lo, hi);
			if (i + 1 == last) {
				n.violated += between(r, next, INT64_MIN, hi) == NO;
				continue;
			}
			n.held += t == YES;
			n.violated += t == NO;
			n.unknown += t == MAYBE;
		}
	}
	return n;
}

/* n1.A then n2.A, over and over: what cannot be told from its neighbours goes together. */
static struct tally all_order(void)
{
	struct tally n = { 0 };
	size_t at[2] = { 0 }, cluster = 0;
	const struct trace *t = traces;
	int last = -1, which = -1;
	static struct rec in[2 * RECORDS];
	static int who[2 * RECORDS];
	size_t all = 0;

	while (at[0] < t[0].rises[0] || at[1] < t[1].rises[0]) {
		int k = at[1] == t[1].rises[0] ||
					(at[0] < t[0].rises[0] &&
					 t[0].rise[0][at[0]].t.ns <= t[1].rise[0][at[1]].t.ns) ?
				0 :
				1;

		if (t[k].rise[0][at[k]].t.ns > t[0].end.t.ns ||
		    t[k].rise[0][at[k]].t.ns > t[1].end.t.ns) {
			n.unknown++; /* the capture of one is over */
			break;
		}
		who[all] = k;
		in[all++] = t[k].rise[0][at[k]++];
	}
	for (size_t i = 0; i <= all; i++) {
		bool apart = true;

		for (size_t p = 0; p < i && i < all && apart; p++)
			for (size_t q = i; q < all && apart; q++)
				apart = before(&in[p], &in[q]) == YES;
		if (!all)
			break;
		if (!i || (i < all && !apart)) {
			cluster++;
			which = i < all ? who[i] : -1;
			continue;
		}
		if (cluster > 1) {
			n.unknown++;
			last = -1;
		} else {
			n.held += last >= 0 && which != last;
			n.violated += last >= 0 && which == last;
			last = which;
		}
		cluster = 1;
		which = i < all ? who[i] : -1;
	}
	return n;
}

static void fill_world(struct draw *d, struct world *x, bool gaps)
{
	for (unsigned i = 0; i < NODES; i++) {
		uint64_t tick = draw_below(d, 200), levels = 0, n = draw_below(d, 300);

		for (uint64_t k = 0; k < n; k++) {
			tick += 1 + draw_below(d, draw_below(d, 5) ? 60 : 1000);
			if (gaps && draw_below(d, 40) == 0) {
				uint64_t from = tick;

				tick += draw_below(d, 100);
				levels = draw_below(d, 4);
				lose(x, i, from, tick, levels);
			} else {
				levels ^= 1 + draw_below(d, 3);
				set(x, i, tick, levels);
			}
		}
	}
}

static void deep_nesting_is_refused_at_once(void **state)
{
	const size_t n = 1 << 20;
	struct cvl_check_rules set = { 0 };
	struct cvl_error err;
	char *text = malloc(n);

	(void)state;
	assert_non_null(text);
	memset(text, '[', n);
	assert_int_equal(check_rules_parse(&set, text, n, "rules", &err), CVL_E_LIMIT);
	assert_true(err.offset < 100);
	check_rules_free(&set);
	free(text);
}

static void random_timelines_agree_with_all_against_all(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned round = 0; round < 150; round++) {
		bool gaps = round % 3;
		int64_t bound[NODES];
		struct world x;

		begin_world(&x);
		fill_world(&d, &x, gaps);
		for (unsigned i = 0; i < NODES; i++)
			bound[i] = (int64_t)draw_size(&d, 17);
		end_world(&x, 20000 + draw_below(&d, 20000), bound,
			  draw_below(&d, 2) ? CVL_BOUND_PROVEN : CVL_BOUND_STATISTICAL);
		read_traces(&x);
		ask(&x, "- { after: A rises, then: other.B rises, within: 300us }\n"
			"- { after: A rises, then: other.B rises, within: 50us to 200us }\n"
			"- { after: A rises, never: other.B rises, within: 20us to 90us }\n"
			"- { after: A rises, then: other.B rises, within: -70us to 30us }\n"
			"- { state: A is high, at most: 90us, at least: 20us }\n"
			"- { never: A is high, while: other.B is high }\n"
			"- { count: A rises, at most: 4, in: 600us }\n"
			"- { event: A rises, every: 150us +- 100us }\n"
			"- { order: [n1.A rises, n2.A rises] }\n"
			"- { never: A rises, while: other.B is high }\n"
			"- { never: A rises }\n"
			"- { after: A rises, then: any other.B rises, within: 250us }\n");
		same_tally(0, all_after(0, 300000, false));
		same_tally(1, all_after(50000, 200000, false));
		same_tally(2, all_after(20000, 90000, true));
		same_tally(3, all_after(-70000, 30000, false));
		same_tally(4, all_state(20000, 90000));
		same_tally(5, all_never());
		same_tally(6, all_count(4, 600000));
		same_tally(7, all_every(50000, 250000));
		if (!gaps)
			same_tally(8, all_order());
		same_tally(9, all_edges_never());
		same_tally(10, all_bare());
		if (!gaps)
			same_tally(11, all_after_any(250000));
		done(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_in_time_holds_and_a_late_one_is_violated),
		cmocka_unit_test(a_violation_is_known_at_once),
		cmocka_unit_test(what_comes_after_the_end_is_not_known),
		cmocka_unit_test(an_answer_at_the_limit_cannot_be_told),
		cmocka_unit_test(nothing_is_told_across_clocks_that_nothing_ties),
		cmocka_unit_test(a_gap_makes_it_unknown_and_an_end_too),
		cmocka_unit_test(stays_are_as_long_as_they_should_be),
		cmocka_unit_test(two_at_once_are_found_and_neighbours_let_pass),
		cmocka_unit_test(what_never_happened_was_not_tried),
		cmocka_unit_test(periods_counts_and_orders),
		cmocka_unit_test(order_that_the_bounds_hide_is_not_told),
		cmocka_unit_test(bad_rules_are_refused_with_their_line),
		cmocka_unit_test(spellings_mean_the_same),
		cmocka_unit_test(one_record_is_not_both_sides_of_a_rule),
		cmocka_unit_test(names_are_text_that_can_be_shown),
		cmocka_unit_test(deep_nesting_is_refused_at_once),
		cmocka_unit_test(random_timelines_agree_with_all_against_all),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
