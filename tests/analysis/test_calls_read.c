/* SPDX-License-Identifier: MIT */
/* From records to call stacks: tasks, interrupts, addresses, losses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include "analysis/calls/read.h"
#include "test_scratch.h"

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- a session of one clock of 1 MHz ---- */

struct world {
	struct cvl_session *s;
	struct cvl_writer *w;
	int entry, leave, change, isr, over;
	struct cvl_timeline *tl;
	struct calls_rules rules;
	struct calls_read *r;
	struct cvl_calls_span span[64];
	size_t n;
	struct cvl_error err;
};

static void make(struct world *w, const char *name)
{
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	const struct cvl_store_desc desc = { .clock = "n1", .node = "n1", .rate_hz = 1000000 };
	const struct cvl_store_field addr = { "addr", CVL_STORE_U64 },
				     irq = { "irq", CVL_STORE_U64 };
	const struct cvl_store_field next[] = { { "next", CVL_STORE_U64 },
						{ "name", CVL_STORE_STRING } };
	char path[300];

	*w = (struct world){ 0 };
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	ok(cvl_session_create(&w->s, path, &w->err), &w->err);
	ok(cvl_session_add(w->s, &desc, &origin, &w->w, &w->err), &w->err);
	w->entry = cvl_writer_declare(w->w, "func_entry", &addr, 1, &w->err);
	w->leave = cvl_writer_declare(w->w, "func_exit", &addr, 1, &w->err);
	w->change = cvl_writer_declare(w->w, "task_switch", next, 2, &w->err);
	w->isr = cvl_writer_declare(w->w, "isr_enter", &irq, 1, &w->err);
	w->over = cvl_writer_declare(w->w, "isr_exit", &irq, 1, &w->err);
}

static void put(struct world *w, uint64_t us, int class, uint64_t number, const char *name)
{
	const union cvl_store_value v[] = { { .u = number }, { .s = name } };

	ok(cvl_writer_event(w->w, (struct cvl_tick){ us }, class, v, &w->err), &w->err);
}

static void see(void *ctx, const struct cvl_calls_span *s)
{
	struct world *w = ctx;

	if (w->n < sizeof(w->span) / sizeof(*w->span))
		w->span[w->n] = *s;
	w->n++;
}

/* All that it says is read. */
static void read_it(struct world *w, uint64_t end)
{
	const struct cvl_timeline_opts none = { 0 };
	const struct calls_read_opts opts = { .rules = &w->rules };
	const struct calls_sink sink = { .span = see, .ctx = w };
	struct cvl_block block;
	struct cvl_slice slice;
	int rc;

	ok(cvl_session_finish(w->s, w->w, (struct cvl_tick){ end }, &w->err), &w->err);
	ok(calls_rules_builtin(&w->rules, &w->err), &w->err);
	ok(cvl_timeline_open(&w->tl, w->s, &none, &w->err), &w->err);
	ok(calls_read_open(&w->r, w->tl, &opts, &sink, &w->err), &w->err);
	while ((rc = cvl_timeline_next(w->tl, &block, &w->err)) > 0)
		while (cvl_block_take(&block, &slice))
			ok(calls_read_push(w->r, &slice, &w->err), &w->err);
	ok(rc, &w->err);
	ok(calls_read_end(w->r, &w->err), &w->err);
}

static void forget(struct world *w)
{
	calls_read_close(w->r);
	cvl_timeline_close(w->tl);
	calls_rules_free(&w->rules);
	cvl_session_close(w->s);
}

static const struct cvl_calls_span *find(struct world *w, const char *lane, const char *function)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(calls_read_thread(w->r, w->span[i].thread), lane) &&
		    !strcmp(calls_read_function(w->r, w->span[i].function), function))
			return &w->span[i];
	fail_msg("no span %s on %s", function, lane);
	return NULL;
}

#define US 1000

static void interrupts_and_tasks_take_the_core_from_what_ran(void **state)
{
	const struct cvl_calls_span *s;
	struct world w;

	(void)state;
	make(&w, "tasks");
	put(&w, 10, w.change, 1, "work");
	put(&w, 20, w.entry, 7, NULL);
	put(&w, 30, w.isr, 5, NULL);
	put(&w, 33, w.isr, 6, NULL); /* of higher priority */
	put(&w, 35, w.over, 6, NULL);
	put(&w, 40, w.over, 5, NULL);
	put(&w, 50, w.change, 2, "urgent");
	put(&w, 60, w.entry, 7, NULL);
	put(&w, 80, w.leave, 7, NULL);
	put(&w, 90, w.change, 3, "idle");
	put(&w, 100, w.change, 1, "work");
	put(&w, 120, w.leave, 7, NULL);
	read_it(&w, 120);
	assert_int_equal(w.n, 4);
	s = find(&w, "n1/work", "7");
	assert_int_equal(s->end.ns - s->begin.ns, 100 * US);
	assert_int_equal(s->self, (10 + 10 + 20) * US);
	assert_int_equal(s->part.preempted, 10 * US); /* by interrupts */
	assert_int_equal(s->part.switched, 40 * US);  /* for the urgent task, without a reason */
	assert_int_equal(s->part.blocked, 10 * US);
	assert_int_equal(s->marks, 0);
	s = find(&w, "n1/urgent", "7");
	assert_int_equal(s->self, 20 * US);
	s = find(&w, "n1/interrupt 5", "interrupt 5");
	assert_int_equal(s->end.ns - s->begin.ns, 10 * US);
	assert_int_equal(s->self, 8 * US);
	s = find(&w, "n1/interrupt 6", "interrupt 6");
	assert_int_equal(s->self, 2 * US);
	forget(&w);
}

/* A task is out while another runs, by a switch that says why, or whose rule does. */
static void a_switch_or_its_rule_says_why(void **state)
{
	static const struct {
		const char *name, *rule, *field;
		uint64_t value;
		int64_t preempted, switched, blocked; /* us */
	} cases[] = {
		{ "plain", NULL, "other", 0, 0, 40, 0 },
		{ "runnable", NULL, "blocked", 0, 40, 0, 0 },
		{ "sleeping", NULL, "blocked", 2, 0, 0, 40 },
		{ "rule", "{ switch: task_switch, next: next, reason: preempted }", "other", 0, 40,
		  0, 0 },
		{ "rule-blocked", "{ switch: task_switch, next: next, reason: blocked }", "other",
		  0, 0, 0, 40 },
		{ "field-first",
		  "{ switch: task_switch, next: next, blocked: state, reason: blocked }", "state",
		  0, 40, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cvl_store_field next[] = { { "next", CVL_STORE_U64 },
							{ cases[i].field, CVL_STORE_U64 } };
		const union cvl_store_value back[] = { { .u = 1 }, { .u = 1 } },
					    away[] = { { .u = 2 }, { .u = cases[i].value } };
		const struct cvl_calls_span *s;
		struct world w;

		make(&w, cases[i].name);
		w.change = cvl_writer_declare(w.w, "task_switch", next, 2, &w.err);
		if (cases[i].rule)
			ok(calls_rules_parse(&w.rules, cases[i].rule, strlen(cases[i].rule), "rule",
					     &w.err),
			   &w.err);
		ok(cvl_writer_event(w.w, (struct cvl_tick){ 10 }, w.change, back, &w.err), &w.err);
		put(&w, 20, w.entry, 7, NULL);
		ok(cvl_writer_event(w.w, (struct cvl_tick){ 50 }, w.change, away, &w.err), &w.err);
		ok(cvl_writer_event(w.w, (struct cvl_tick){ 90 }, w.change, back, &w.err), &w.err);
		put(&w, 120, w.leave, 7, NULL);
		read_it(&w, 120);
		s = find(&w, "n1/task 1", "7");
		assert_int_equal(s->part.preempted, cases[i].preempted * US);
		assert_int_equal(s->part.switched, cases[i].switched * US);
		assert_int_equal(s->part.blocked, cases[i].blocked * US);
		forget(&w);
	}
}

static void a_loss_with_unknown_end_ends_with_the_next_record(void **state)
{
	const struct cvl_calls_span *s;
	struct world w;

	(void)state;
	make(&w, "gap");
	put(&w, 10, w.entry, 1, NULL);
	put(&w, 20, w.entry, 2, NULL);
	ok(cvl_writer_gap(w.w, (struct cvl_tick){ 30 }, (struct cvl_tick){ CVL_TICK_UNKNOWN },
			  CVL_LOST_UNKNOWN, CVL_GAP_OVERFLOW, &w.err),
	   &w.err);
	put(&w, 70, w.leave, 3, NULL); /* its entry was lost */
	put(&w, 80, w.leave, 1, NULL);
	put(&w, 90, w.leave, 4, NULL); /* and this was there before anything else */
	read_it(&w, 90);
	assert_int_equal(w.n, 4);
	s = find(&w, "n1", "3");
	assert_int_equal(s->begin.ns, 30 * US); /* where nothing is known of it any more */
	assert_int_equal(s->end.ns, 70 * US);
	assert_int_equal(s->part.hidden, 40 * US);
	assert_int_equal(s->marks, CVL_CALLS_LOST_ENTRY | CVL_CALLS_GAP);
	s = find(&w, "n1", "2");
	assert_int_equal(s->marks, CVL_CALLS_LOST_EXIT | CVL_CALLS_GAP);
	s = find(&w, "n1", "1");
	assert_int_equal(s->part.hidden, 40 * US);
	assert_int_equal(s->marks, CVL_CALLS_GAP);
	s = find(&w, "n1", "4");
	assert_int_equal(s->depth, -1);
	assert_int_equal(calls_repairs(calls_read_calls(w.r))->lost_entries, 2);
	assert_int_equal(calls_repairs(calls_read_calls(w.r))->lost_exits, 1);
	forget(&w);
}

static void a_stack_of_ten_thousand_is_read(void **state)
{
	const struct cvl_calls_cost *k;
	struct world w;

	(void)state;
	make(&w, "deep");
	for (uint64_t i = 0; i < 10000; i++)
		put(&w, 1 + i, w.entry, 42, NULL);
	for (uint64_t i = 0; i < 10000; i++)
		put(&w, 20000 + i, w.leave, 42, NULL);
	read_it(&w, 30000);
	assert_int_equal(w.n, 10000);
	k = calls_cost(calls_read_calls(w.r), 0);
	assert_int_equal(k->calls, 10000);
	assert_int_equal(k->repaired, 0);
	assert_int_equal(k->total, INT64_C(29998) * US);
	assert_int_equal(k->self, INT64_C(29998) * US);
	forget(&w);
}

/* Numbers of more than 32 bits are not cut, and names are no numbers. */
static void cores_are_told_apart_by_any_number_or_name(void **state)
{
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	const struct cvl_store_desc desc = { .clock = "n1", .node = "n1", .rate_hz = 1000000 };
	const struct cvl_store_field number[] = { { "addr", CVL_STORE_U64 },
						  { "core", CVL_STORE_U64 } };
	const struct cvl_store_field name[] = { { "addr", CVL_STORE_U64 },
						{ "core", CVL_STORE_STRING } };
	const union cvl_store_value values[] = { { .u = 0 },
						 { .u = UINT64_C(1) << 32 },
						 { .u = UINT64_MAX },
						 { .s = "left" },
						 { .s = "right" } };
	static const char *const lanes[] = { "n1/0", "n1/4294967296", "n1/18446744073709551615",
					     "n1/left", "n1/right" };
	struct world w = { 0 };
	int class[2][2];
	char path[300];

	(void)state;
	snprintf(path, sizeof(path), "%s/cores", scratch);
	ok(cvl_session_create(&w.s, path, &w.err), &w.err);
	ok(cvl_session_add(w.s, &desc, &origin, &w.w, &w.err), &w.err);
	class[0][0] = cvl_writer_declare(w.w, "number_begin", number, 2, &w.err);
	class[0][1] = cvl_writer_declare(w.w, "number_end", number, 2, &w.err);
	class[1][0] = cvl_writer_declare(w.w, "name_begin", name, 2, &w.err);
	class[1][1] = cvl_writer_declare(w.w, "name_end", name, 2, &w.err);
	for (uint64_t side = 0; side < 2; side++)
		for (uint64_t i = 0; i < 5; i++) {
			const union cvl_store_value v[] = { { .u = 0 }, values[i] };

			ok(cvl_writer_event(w.w, (struct cvl_tick){ 10 + 100 * side + i },
					    class[i >= 3][side], v, &w.err),
			   &w.err);
		}
	read_it(&w, 200);
	assert_int_equal(w.n, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(find(&w, lanes[i], i < 3 ? "number" : "name")->self, 100 * US);
	forget(&w);
}

static void tasks_of_one_name_are_told_apart_by_their_numbers(void **state)
{
	struct world w;

	(void)state;
	make(&w, "twins");
	put(&w, 10, w.change, 1, "work");
	put(&w, 20, w.entry, 7, NULL);
	put(&w, 30, w.leave, 7, NULL);
	put(&w, 40, w.change, 2, "work");
	put(&w, 50, w.entry, 8, NULL);
	put(&w, 60, w.leave, 8, NULL);
	read_it(&w, 60);
	find(&w, "n1/work", "7");
	find(&w, "n1/work-2", "8");
	forget(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts_and_tasks_take_the_core_from_what_ran),
		cmocka_unit_test(a_switch_or_its_rule_says_why),
		cmocka_unit_test(a_loss_with_unknown_end_ends_with_the_next_record),
		cmocka_unit_test(a_stack_of_ten_thousand_is_read),
		cmocka_unit_test(cores_are_told_apart_by_any_number_or_name),
		cmocka_unit_test(tasks_of_one_name_are_told_apart_by_their_numbers),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
