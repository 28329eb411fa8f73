/* SPDX-License-Identifier: MIT */
/* Several analyses in one pass over a session with losses find what each finds alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <coeval/calls.h>
#include <coeval/check.h>
#include <coeval/files.h>
#include <coeval/flow.h>
#include <coeval/power.h>
#include <coeval/precision.h>
#include <coeval/session.h>
#include <coeval/summary.h>
#include <coeval/tasks.h>

#include "test_draw.h"
#include "test_scratch.h"

#define NODES 3
#define STEPS 3000
#define ANALYSES 7

static const char rules_text[] = "- { after: n1.P:rise, then: n1.Q:edge, within: 3ms }\n"
				 "- { state: Q:high, at most: 5ms }\n"
				 "- { never: P:high, while: other.Q:high }\n"
				 "- { count: 'any *.tick{v>3}', at most: 4, in: 5ms }\n"
				 "- { order: [n2.P:rise, n2.P:fall] }\n"
				 "- { after: main:begin, then: main:end, within: 30ms }\n";
static const char map_text[] = "program: p\npins: [P, Q]\npoints:\n"
			       "- { name: a, code: P }\n"
			       "- { name: b, code: Q }\n"
			       "- { name: c, code: P+Q }\n";

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* Lines, events and spans at once; now and then something is lost. */
static uint64_t fill(struct cvl_writer *w, struct draw *d)
{
	static const char *const names[] = { "main", "filter", "send" };
	const struct cvl_store_field v = { "v", CVL_STORE_U64 };
	struct cvl_error err;
	uint64_t tick = 100, levels = 0, id = 1;
	int e = cvl_writer_declare(w, "tick", &v, 1, &err), depth = 0;

	ok(e, &err);
	ok(cvl_writer_levels(w, (struct cvl_tick){ 1 }, levels, &err), &err);
	for (unsigned i = 0; i < STEPS; i++, tick += 20 + draw_below(d, 600)) {
		struct cvl_tick at = { tick };

		if (i % 3 == 0)
			ok(cvl_writer_sample(w, at, 0, 1e-3 * (double)draw_below(d, 50), &err),
			   &err);
		switch (draw_below(d, 50)) {
		case 0:
			tick += 500;
			ok(cvl_writer_gap(w, at, (struct cvl_tick){ tick }, 3, CVL_GAP_OVERFLOW,
					  &err),
			   &err);
			ok(cvl_writer_levels(w, (struct cvl_tick){ tick }, levels, &err), &err);
			break;
		case 1 ... 20:
			levels ^= 1 + draw_below(d, 3);
			ok(cvl_writer_edges(w, &at, &levels, 1, &err), &err);
			break;
		case 21 ... 30:
			ok(cvl_writer_event(w, at, e,
					    &(union cvl_store_value){ .u = draw_below(d, 8) },
					    &err),
			   &err);
			break;
		default:
			if (depth && (depth == 3 || draw_below(d, 2))) {
				depth--;
				ok(cvl_writer_span(w, at, false, id + (unsigned)depth, names[depth],
						   &err),
				   &err);
			} else {
				ok(cvl_writer_span(w, at, true, id + (unsigned)depth, names[depth],
						   &err),
				   &err);
				depth++;
			}
		}
	}
	return tick;
}

static struct cvl_session *make_session(const char *path, struct draw *d)
{
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	static const char *const lines[] = { "P", "Q" }, *const channels[] = { "watt" };
	static const char *const nodes[] = { "n1", "n2", "n3" };
	struct cvl_session *s;
	struct cvl_error err;

	ok(cvl_session_create(&s, path, &err), &err);
	for (unsigned i = 0; i < NODES; i++) {
		const struct cvl_store_desc desc = { .clock = nodes[i],
						     .node = nodes[i],
						     .rate_hz = 1000000,
						     .lines = lines,
						     .n_lines = 2,
						     .channels = channels,
						     .n_channels = 1 };
		struct cvl_writer *w;

		ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
		ok(cvl_session_finish(s, w, (struct cvl_tick){ fill(w, d) }, &err), &err);
	}
	return s;
}

/* ---- what is found, as text ---- */

struct opened {
	struct cvl_timeline *tl;
	struct cvl_analysis *a[ANALYSES];
};

struct asked {
	struct cvl_session *s;
	struct cvl_check_rules *rules;
	struct cvl_flow_map map;
	struct cvl_selector pair[2], pin;
};

static void open_one(struct asked *q, struct opened *o, unsigned which)
{
	const struct cvl_check_opts check = { .rules = q->rules };
	const struct cvl_calls_opts calls = { 0 };
	const struct cvl_flow_opts flow = { .map = &q->map, .pair = { { 0, 1 } }, .n_pairs = 1 };
	const struct cvl_power_opts power = {
		.watts = "watt", .unit = 1, .between = q->pair, .keep = true
	};
	const struct cvl_precision_opts precision = { .between = q->pair };
	const struct cvl_tasks_opts tasks = { .pin = &q->pin, .n_pins = 1 };
	struct cvl_analysis **a = &o->a[which];
	struct cvl_error err;

	ok(which == 0 ? cvl_check_open(a, o->tl, &check, &err) :
	   which == 1 ? cvl_calls_open(a, o->tl, &calls, &err) :
	   which == 2 ? cvl_flow_open(a, o->tl, &flow, &err) :
	   which == 3 ? cvl_summary_open(a, o->tl, &err) :
	   which == 4 ? cvl_power_open(a, o->tl, &power, &err) :
	   which == 5 ? cvl_precision_open(a, o->tl, &precision, &err) :
			cvl_tasks_open(a, o->tl, &tasks, &err),
	   &err);
}

static void put_cases(struct cvl_out *o, const struct cvl_check_case *c, uint64_t n)
{
	for (size_t i = 0; i < n && i < CVL_CHECK_CASES_MAX; i++)
		cvl_out_printf(o, "  %s %" PRId64 " %" PRId64 " %s %" PRId64 " %" PRId64 "\n",
			       cvl_check_reason_name(c[i].reason), c[i].time.ns, c[i].bound_ns,
			       c[i].from, c[i].value_ns, c[i].value_bound_ns);
}

static void put_check(struct cvl_out *o, const struct cvl_check_result *r)
{
	uint64_t cases = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct cvl_check_outcome *x = &r->rule[i];

		cvl_out_printf(o, "%s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", x->name,
			       cvl_check_verdict_name(x->verdict), x->held, x->violated,
			       x->unknown);
		put_cases(o, x->first_violated, x->violated);
		put_cases(o, x->first_unknown, x->unknown);
		cases = x->held + x->violated + x->unknown;
		assert_true(cases || x->verdict == CVL_CHECK_HOLDS);
	}
	assert_true(cases > 10);
}

static void put_flow(struct cvl_out *o, const struct cvl_flow_result *r)
{
	assert_int_equal(r->n_nodes, NODES);
	for (size_t i = 0; i < r->n_nodes; i++)
		for (size_t k = 0; k < CVL_FLOW_WHATS; k++)
			cvl_out_printf(o, "%s %zu %" PRIu64 "\n", r->node[i].clock, k,
				       r->node[i].items[k]);
	assert_true(r->times[0].times.n > 10);
	for (size_t i = 0; i < r->times[0].times.n; i++)
		cvl_out_printf(o, "%" PRId64 " %" PRId64 "\n", r->times[0].times.ns[i],
			       r->times[0].times.bound_ns[i]);
	cvl_out_printf(o, "%" PRIu64 " %" PRId64 "\n", r->misfits, r->times[0].times.worst.high);
}

static void put_summary(struct cvl_out *o, const struct cvl_summary *r)
{
	for (size_t i = 0; i < r->n_clocks; i++) {
		const struct cvl_summary_clock *c = &r->clock[i];

		cvl_out_printf(o, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n",
			       c->records, c->gaps, c->lost, c->first.ns, c->last.ns);
	}
}

static void put_power(struct cvl_out *o, const struct cvl_power_result *r)
{
	assert_int_equal(r->n_sources, NODES);
	assert_true(r->n_intervals > 10);
	for (size_t i = 0; i < r->n_intervals; i++) {
		const struct cvl_power_interval *x = &r->interval[i];

		cvl_out_printf(o, "%zu %zu %" PRId64 " %" PRId64 " %" PRId64 " %.17g %.17g\n",
			       x->source, x->clock, x->begin.ns, x->end.ns, x->bound,
			       x->energy.joule, x->peak_w);
	}
	cvl_out_printf(o, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->left.unbegun, r->left.again,
		       r->left.cut);
}

static void put_precision(struct cvl_out *o, const struct cvl_precision_result *r)
{
	assert_true(r->times.n > 10);
	for (size_t i = 0; i < r->times.n; i++)
		cvl_out_printf(o, "%" PRId64 " %" PRId64 "\n", r->times.ns[i],
			       r->times.bound_ns[i]);
	cvl_out_printf(o, "%" PRIu64 " %" PRIu64 "\n", r->times.broken, r->open);
	for (size_t i = 0; i < r->n; i++)
		cvl_out_printf(o, "%zu %" PRIu64 " %" PRIu64 "\n", r->clock[i].clock,
			       r->clock[i].overflows, r->clock[i].lost);
}

static void put_tasks(struct cvl_out *o, const struct cvl_tasks_result *r)
{
	assert_true(r->n_runs > 10);
	for (size_t i = 0; i < r->n_runs; i++) {
		const struct cvl_task_run *x = &r->run[i];

		cvl_out_printf(o, "%s %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %u\n",
			       r->task[x->task].name, x->clock, x->begin.time.ns, x->end.time.ns,
			       x->bound, x->within, x->gaps);
	}
	for (size_t i = 0; i < r->n; i++)
		cvl_out_printf(o, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->task[i].name,
			       r->task[i].runs, r->task[i].unfinished, r->task[i].unbegun);
}

/* What analysis @which found. */
static char *found(const struct opened *opened, unsigned which, const char *path)
{
	const struct cvl_analysis *a = opened->a[which];
	struct cvl_out *o = malloc(sizeof(*o));
	struct cvl_error err;
	char *text;
	size_t n;

	assert_non_null(o);
	ok(cvl_out_open(o, path, &err), &err);
	if (which == 0)
		put_check(o, cvl_check_result(a));
	else if (which == 1)
		ok(cvl_calls_folded(a, false, o, &err) | cvl_calls_flame(a, "t", false, o, &err),
		   &err);
	else if (which == 2)
		put_flow(o, cvl_flow_result(a));
	else if (which == 3)
		put_summary(o, cvl_summary_result(a));
	else if (which == 4)
		put_power(o, cvl_power_result(a));
	else if (which == 5)
		put_precision(o, cvl_precision_result(a));
	else
		put_tasks(o, cvl_tasks_result(a));
	ok(cvl_out_close(o, &err), &err);
	free(o);
	text = cvl_read_whole(path, 1 << 24, &n, &err);
	assert_non_null(text);
	return text;
}

/* Analyses of bits @which in one pass; what each found. */
static void run(struct asked *q, unsigned which, const struct cvl_timeline_opts *opts,
		char *text[ANALYSES])
{
	struct cvl_analysis *list[ANALYSES];
	struct opened o = { 0 };
	struct cvl_error err;
	char path[300];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/found", scratch);
	ok(cvl_timeline_open(&o.tl, q->s, opts, &err), &err);
	for (unsigned i = 0; i < ANALYSES; i++)
		if (which >> i & 1) {
			open_one(q, &o, i);
			list[n++] = o.a[i];
		}
	ok(cvl_analyse(o.tl, list, n, &err), &err);
	for (unsigned i = 0; i < ANALYSES; i++) {
		if (which >> i & 1)
			text[i] = found(&o, i, path);
		cvl_analysis_free(o.a[i]);
	}
	cvl_timeline_close(o.tl);
}

static void together_as_alone(void **state)
{
	const struct cvl_timeline_opts opts[] = {
		{ 0 },
		{ .has_from = true,
		  .from = { 50000000 },
		  .has_until = true,
		  .until = { 400000000 } },
	};
	struct draw d = draw_begin(1);
	struct asked q = { 0 };
	struct cvl_error err;
	char path[300];

	(void)state;
	snprintf(path, sizeof(path), "%s/s", scratch);
	q.s = make_session(path, &d);
	ok(cvl_check_rules_parse(&q.rules, rules_text, strlen(rules_text), "rules", &err), &err);
	ok(cvl_flow_map_parse(&q.map, map_text, strlen(map_text), "map", false, &err), &err);
	ok(cvl_selector_pair_parse(q.pair, "P:rise..Q:rise", 14, &err), &err);
	ok(cvl_selector_parse(&q.pin, "P:high", 6, &err), &err);
	for (size_t k = 0; k < 2; k++) {
		char *alone[ANALYSES], *with[ANALYSES];

		for (unsigned i = 0; i < ANALYSES; i++)
			run(&q, 1u << i, &opts[k], alone);
		run(&q, (1u << ANALYSES) - 1, &opts[k], with);
		for (unsigned i = 0; i < ANALYSES; i++) {
			assert_string_equal(alone[i], with[i]);
			free(with[i]);
		}
		run(&q, 0x15, &opts[k], with); /* of those that ask for less */
		for (unsigned i = 0; i <= 4; i += 2) {
			assert_string_equal(alone[i], with[i]);
			free(with[i]);
		}
		for (unsigned i = 0; i < ANALYSES; i++)
			free(alone[i]);
	}
	cvl_selector_free(&q.pair[0]);
	cvl_selector_free(&q.pair[1]);
	cvl_selector_free(&q.pin);
	cvl_flow_map_free(&q.map);
	cvl_check_rules_free(q.rules);
	cvl_session_close(q.s);
}

/* An error of one ends all, and requests that the timeline cannot satisfy are reported. */
static void what_cannot_be_asked_is_told(void **state)
{
	static const char missing[] = "pins: [P, X]\npoints: [ { name: a, code: P } ]\n";
	struct cvl_timeline_opts opts = { .node = "n9" };
	struct draw d = draw_begin(2);
	struct cvl_flow_opts flow = { .n_pairs = CVL_FLOW_PAIRS_MAX + 1 };
	struct cvl_calls_opts calls = { .path = "nobody" };
	const struct cvl_calls_result *r;
	struct cvl_flow_map map;
	struct cvl_session *s;
	struct cvl_timeline *tl;
	struct cvl_analysis *a;
	struct cvl_error err;
	char path[300];

	(void)state;
	snprintf(path, sizeof(path), "%s/t", scratch);
	s = make_session(path, &d);
	ok(cvl_flow_map_parse(&map, missing, strlen(missing), "map", false, &err), &err);
	flow.map = &map;
	assert_int_equal(cvl_timeline_open(&tl, s, &opts, &err), CVL_E_USAGE);
	opts.node = NULL;
	ok(cvl_timeline_open(&tl, s, &opts, &err), &err);
	assert_int_equal(cvl_flow_open(&a, tl, &flow, &err), CVL_E_USAGE);
	assert_null(a);
	flow.n_pairs = 1;
	flow.pair[0].to = 7;
	assert_int_equal(cvl_flow_open(&a, tl, &flow, &err), CVL_E_USAGE);
	flow.n_pairs = 0;
	ok(cvl_flow_open(&a, tl, &flow, &err), &err);
	assert_int_equal(cvl_analyse(tl, &a, 1, &err), CVL_E_UNKNOWN_ID);
	assert_non_null(strstr(err.text, "map:1:7: n1 has some of the pins, but no line X"));
	cvl_analysis_free(a);
	ok(cvl_timeline_rewind(tl, &err), &err);
	ok(cvl_calls_open(&a, tl, &calls, &err), &err);
	ok(cvl_analyse(tl, &a, 1, &err), &err);
	assert_null(cvl_calls_result(a)->chosen);
	assert_int_equal(cvl_calls_result(a)->n_steps, 0);
	assert_int_equal(cvl_calls_result(a)->n_functions, 3);
	cvl_analysis_free(a);
	calls.path = "n2.f*";
	ok(cvl_timeline_rewind(tl, &err), &err);
	ok(cvl_calls_open(&a, tl, &calls, &err), &err);
	ok(cvl_analyse(tl, &a, 1, &err), &err);
	r = cvl_calls_result(a);
	assert_non_null(r->chosen);
	assert_string_equal(r->node[r->thread[r->chosen->thread].node], "n2");
	assert_string_equal(r->function[r->chosen->function].name, "filter");
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	cvl_session_close(s);
	cvl_flow_map_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together_as_alone),
		cmocka_unit_test(what_cannot_be_asked_is_told),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
