/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/near.h>
#include <coeval/select.h>

#include "test_draw.h"
#include "test_scratch.h"

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- parsing ---- */

static void selectors_are_read(void **state)
{
	static const struct {
		const char *text, *path;
		enum cvl_when when;
		size_t cuts, conditions;
		const char *old;
	} good[] = {
		{ "TX", "TX", CVL_WHEN_PLAIN, 0, 0, NULL },
		{ " n1.TX:rise ", "n1.TX", CVL_WHEN_RISE, 1, 0, NULL },
		{ "a.b.c.d:fall", "a.b.c.d", CVL_WHEN_FALL, 3, 0, NULL },
		{ "\"a.b\".c.d:edge", "a.b.c.d", CVL_WHEN_EDGE, 1, 0, NULL },
		{ "\"a.b\".\"c.d\":high", "a.b.c.d", CVL_WHEN_HIGH, 1, 0, NULL },
		{ "\"a.b\"", "a.b", CVL_WHEN_PLAIN, 0, 0, NULL },
		{ "\"a:rise\":low", "a:rise", CVL_WHEN_LOW, 0, 0, NULL },
		{ "\"a\\\"b\\\\c\"", "a\"b\\c", CVL_WHEN_PLAIN, 0, 0, NULL },
		{ "work:begin", "work", CVL_WHEN_BEGIN, 0, 0, NULL },
		{ "n*.my line:end", "n*.my line", CVL_WHEN_END, 1, 0, NULL },
		{ "ust:event", "ust:event", CVL_WHEN_PLAIN, 0, 0, NULL },
		{ "data[3]:rise", "data[3]", CVL_WHEN_RISE, 0, 0, NULL },
		{ "n1.boot{reason=3}", "n1.boot", CVL_WHEN_PLAIN, 1, 1, NULL },
		{ "boot { a != -1.5 , b=\"x, y}\",c<=0x10 }", "boot", CVL_WHEN_PLAIN, 0, 3, NULL },
		{ "x{path=/a..b}", "x", CVL_WHEN_PLAIN, 0, 1, NULL },
		{ "n1.TX rises", "n1.TX", CVL_WHEN_RISE, 1, 0, "n1.TX:rise" },
		{ "TX  falls", "TX", CVL_WHEN_FALL, 0, 0, "TX:fall" },
		{ "\"n1.my line\" changes", "n1.my line", CVL_WHEN_EDGE, 1, 0, "n1.my line:edge" },
		{ "TX is high", "TX", CVL_WHEN_HIGH, 0, 0, "TX:high" },
		{ "other.TX is low", "other.TX", CVL_WHEN_LOW, 1, 0, "other.TX:low" },
		{ "send where len > 10 and prio = 1", "send", CVL_WHEN_PLAIN, 0, 2,
		  "send{len>10,prio=1}" },
		{ "send where who=\"a, b\"", "send", CVL_WHEN_PLAIN, 0, 1, "send{who=\"a, b\"}" },
		{ "n1.boot:reason=3,cause=0x1f", "n1.boot", CVL_WHEN_PLAIN, 1, 2,
		  "n1.boot{reason=3,cause=0x1f}" },
	};
	struct cvl_selector sel;
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ok(cvl_selector_parse(&sel, good[i].text, strlen(good[i].text), &err), &err);
		assert_string_equal(sel.path, good[i].path);
		assert_int_equal(sel.when, good[i].when);
		assert_int_equal(sel.n_cuts, good[i].cuts);
		assert_int_equal(sel.n_conditions, good[i].conditions);
		if (good[i].old)
			assert_string_equal(sel.old, good[i].old);
		else
			assert_null(sel.old);
		cvl_selector_free(&sel);
	}
	ok(cvl_selector_parse(&sel, "e{a!=18446744073709551615,b=\"7\",c>=-2}", 39, &err), &err);
	assert_true(sel.condition[0].is_number &&
		    sel.condition[0].number == (long double)UINT64_MAX);
	assert_int_equal(sel.condition[0].op, CVL_NE);
	assert_string_equal(sel.condition[1].field, "b");
	assert_false(sel.condition[1].is_number);
	assert_true(sel.condition[2].op == CVL_GE && sel.condition[2].number == -2);
	cvl_selector_free(&sel);
}

static void bad_selectors_name_the_place(void **state)
{
	static const struct {
		const char *text;
		uint64_t at;
	} wrong[] = {
		{ "", 0 },
		{ ":rise", 0 },
		{ "a..b", 1 },
		{ "\"a", 0 },
		{ "e{}", 2 },
		{ "e{a}", 2 },
		{ "e{a=}", 4 },
		{ "e{=1}", 2 },
		{ "e{a==1}", 3 },
		{ "e{a=1", 1 },
		{ "e{a=1}x", 6 },
		{ "e{a=1}:rise", 6 },
		{ "e{a<b}", 4 },
		{ "e=1", 1 },
		{ "e where", 0 },
		{ "e where a = 1 and", 17 },
		{ "a\"b\":rise", 1 },
		{ "e{a=\"b\"c}", 4 },
		{ "e where a = 1 b = 2", 12 },
	};
	struct cvl_selector sel;
	char text[CVL_SELECTOR_MAX + 2];
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (!strcmp(wrong[i].text, "e where")) { /* that is a name */
			ok(cvl_selector_parse(&sel, wrong[i].text, 7, &err), &err);
			cvl_selector_free(&sel);
			continue;
		}
		assert_int_equal(
			cvl_selector_parse(&sel, wrong[i].text, strlen(wrong[i].text), &err),
			CVL_E_SYNTAX);
		if (err.offset != wrong[i].at)
			fail_msg("%s: at %d", err.text, (int)err.offset);
	}
	memset(text, 'a', sizeof(text));
	assert_int_equal(cvl_selector_parse(&sel, text, sizeof(text) - 1, &err), CVL_E_LIMIT);
	ok(cvl_selector_parse(&sel, text, CVL_SELECTOR_MAX, &err), &err);
	cvl_selector_free(&sel);
}

static void pairs_are_read(void **state)
{
	struct cvl_selector pair[2];
	struct cvl_error err;

	(void)state;
	ok(cvl_selector_pair_parse(pair, "n1.TX:rise..\"x..y\"{a=b..c}", 26, &err), &err);
	assert_string_equal(pair[0].path, "n1.TX");
	assert_string_equal(pair[1].path, "x..y");
	assert_string_equal(pair[1].condition[0].text, "b..c");
	cvl_selector_free(&pair[0]);
	cvl_selector_free(&pair[1]);
	assert_int_equal(cvl_selector_pair_parse(pair, "a.b", 3, &err), CVL_E_SYNTAX);
	assert_int_equal(cvl_selector_pair_parse(pair, "a..", 3, &err), CVL_E_SYNTAX);
	assert_int_equal(cvl_selector_pair_parse(pair, "..b", 3, &err), CVL_E_SYNTAX);
	assert_int_equal(cvl_selector_pair_parse(pair, "a..b..c", 7, &err), CVL_E_SYNTAX);
}

/*
 * What is quoted is read as it was; what is written in an old spelling means the same in today's.
 */
static void names_survive_quoting(void **state)
{
	struct draw d = draw_begin(1);
	struct cvl_error err;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		static const char letters[] = "ab.:{}\"\\ =<*,";
		char name[12], text[80];
		size_t n = 1 + draw_below(&d, sizeof(name) - 1), at;
		struct cvl_selector sel, again;

		for (size_t k = 0; k < n; k++)
			name[k] = letters[draw_below(&d, sizeof(letters) - 1)];
		name[n] = '\0';
		at = cvl_select_quote(text, 0, sizeof(text), name);
		memcpy(text + at, ":rise", 6);
		ok(cvl_selector_parse(&sel, text, at + 5, &err), &err);
		assert_string_equal(sel.path, name);
		assert_int_equal(sel.n_cuts, 0);
		assert_int_equal(sel.when, CVL_WHEN_RISE);
		cvl_selector_free(&sel);

		snprintf(text, sizeof(text), "e where %s = x%s", "f", i % 2 ? " and g != 3" : "");
		ok(cvl_selector_parse(&sel, text, strlen(text), &err), &err);
		ok(cvl_selector_parse(&again, sel.old, strlen(sel.old), &err), &err);
		assert_null(again.old);
		assert_int_equal(sel.n_conditions, again.n_conditions);
		cvl_selector_free(&sel);
		cvl_selector_free(&again);
	}
}

/* ---- a small session ---- */

struct made {
	struct cvl_session *s;
	struct cvl_timeline *tl;
};

static const struct cvl_origin origin = { .format = "test", .path = "-" };

/*
 * A clock @name of 1 MHz: its @lines change at ticks 10, 20, ..., one after the other up and then
 * down; then its @events.
 */
static void add_clock(struct cvl_session *s, const char *name, const char *node,
		      const char *const *lines, size_t n_lines, const char *const *events,
		      size_t n_events)
{
	const struct cvl_store_field fields[] = { { "code", CVL_STORE_U64 },
						  { "who", CVL_STORE_STRING } };
	const struct cvl_store_desc desc = {
		.clock = name, .node = node, .rate_hz = 1000000, .lines = lines, .n_lines = n_lines
	};
	struct cvl_writer *w;
	struct cvl_error err;
	uint64_t tick = 10;
	int class[4];

	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	for (size_t i = 0; i < n_events; i++) {
		class[i] = cvl_writer_declare(w, events[i], fields, 2, &err);
		ok(class[i], &err);
	}
	if (n_lines)
		ok(cvl_writer_levels(w, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (size_t i = 0; i < 2 * n_lines; i++, tick += 10)
		ok(cvl_writer_edges(w, &(struct cvl_tick){ tick },
				    &(uint64_t){ i % 2 ? 0 : (uint64_t)1 << i / 2 }, 1, &err),
		   &err);
	for (size_t i = 0; i < n_events; i++)
		for (uint64_t k = 0; k < 3; k++, tick += 10) {
			const union cvl_store_value v[] = { { .u = k },
							    { .s = k ? "bob" : "ann" } };

			ok(cvl_writer_event(w, (struct cvl_tick){ tick }, class[i], v, &err), &err);
		}
	for (int i = 0; i < 2; i++, tick += 10)
		ok(cvl_writer_span(w, (struct cvl_tick){ tick }, !i, 1, "work", &err), &err);
	ok(cvl_writer_span(w, (struct cvl_tick){ tick }, true, 2, "play", &err), &err);
	ok(cvl_writer_beacon(w, (struct cvl_tick){ tick + 10 }, 7, 42, &err), &err);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ tick + 20 }, &err), &err);
}

static struct made make(const char *name)
{
	static const char *const lines[] = { "TX", "RX", "led.red" },
				 *const dotted[] = { "c.d", "d", "x" },
				 *const events[] = { "boot", "sched_in", "sched_out", "odd:rise" };
	const struct cvl_timeline_opts opts = { 0 };
	char path[300];
	struct made m;
	struct cvl_error err;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	ok(cvl_session_create(&m.s, path, &err), &err);
	add_clock(m.s, "n1", "n1", lines, 3, events, 4);
	add_clock(m.s, "n2", "n2", lines, 2, events, 1);
	add_clock(m.s, "a.b", "a.b", dotted, 3, NULL, 0);
	add_clock(m.s, "a", "a", (const char *const[]){ "b.x", "q.c.d" }, 2, NULL, 0);
	cvl_session_close(m.s);
	ok(cvl_session_open(&m.s, path, NULL, &err), &err);
	ok(cvl_timeline_open(&m.tl, m.s, &opts, &err), &err);
	return m;
}

static void unmake(struct made *m)
{
	cvl_timeline_close(m->tl);
	cvl_session_close(m->s);
}

static struct cvl_selector parse(const char *text)
{
	struct cvl_selector sel;
	struct cvl_error err;

	ok(cvl_selector_parse(&sel, text, strlen(text), &err), &err);
	return sel;
}

static void the_longest_name_that_exists_is_meant(void **state)
{
	static const struct {
		const char *text, *node, *name; /* NULL: refused */
		bool line, event;
	} cases[] = {
		{ "TX", "", "TX", true, false },
		{ "n1.TX:rise", "n1", "TX", true, false },
		{ "n*.boot", "n*", "boot", false, true },
		{ "boot{code=1}", "", "boot", false, true },
		{ "n1.sched_*", "n1", "sched_*", false, true },
		{ "n1.*", "n1", "*", true, true },
		{ "n1.led.red:edge", "n1", "led.red", true, false },
		{ "red:edge", "", "red", true, false },
		{ "a.b.c.d", "a.b", "c.d", true, false }, /* not `d` of a.b.c, nor q.c.d of a */
		{ "a.b.d", "a.b", "d", true, false },
		{ "a.b.x", NULL, NULL, false, false }, /* x of a.b, or b.x of a */
		{ "\"a.b\".x", "a.b", "x", true, false },
		{ "a.\"b.x\"", "a", "b.x", true, false },
		{ "odd:rise", "", "odd:rise", false, true },
		{ "beacon{seq=42}", "", "beacon", false, true },
	};
	struct made m = make("longest");
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cvl_selector sel = parse(cases[i].text);
		int rc = cvl_selector_resolve(&sel, m.tl, NULL, &err);

		if (cases[i].node) {
			ok(rc, &err);
			assert_string_equal(sel.node, cases[i].node);
			assert_string_equal(sel.name, cases[i].name);
			assert_int_equal(sel.line, cases[i].line);
			assert_int_equal(sel.event, cases[i].event);
		} else {
			assert_int_equal(rc, CVL_E_USAGE);
			assert_string_equal(
				err.text,
				"'a.b.x' is ambiguous: a.\"b.x\" or \"a.b\".x; quote the names");
		}
		cvl_selector_free(&sel);
	}
	unmake(&m);
}

static void what_is_not_there_is_told(void **state)
{
	static const char *const cases[][2] = {
		{ "n1.TXX:rise", "'n1.TXX:rise': n1 has no line TXX (did you mean TX?)" },
		{ "n1.bot{a=1}", "'n1.bot{a=1}': n1 has no event bot (did you mean boot?)" },
		{ "n1.TX:rises",
		  "'n1.TX:rises': expected rise, fall, edge, high, low, begin or end after the colon, not rises" },
		{ "nn.TX:rise", "'nn.TX:rise': no node is called nn (did you mean n1, n2?)" },
		{ "n2.sched_in",
		  "'n2.sched_in': n2 has no line or event sched_in; there is TX, RX, boot" },
		{ "zzzzzzz",
		  "'zzzzzzz': the session has no line or event zzzzzzz; there is TX, RX, led.red, c.d" },
		{ "same.TX:rise",
		  "'same.TX:rise': no node is called same; there is a.b, a, n1, n2" },
	};
	struct made m = make("missing");
	const struct cvl_select_opts relative = { .relative = true };
	struct cvl_selector sel;
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sel = parse(cases[i][0]);
		assert_int_equal(cvl_selector_resolve(&sel, m.tl, NULL, &err), CVL_E_UNKNOWN_ID);
		assert_string_equal(err.text, cases[i][1]);
		cvl_selector_free(&sel);
	}
	sel = parse("same.TX:rise");
	ok(cvl_selector_resolve(&sel, m.tl, &relative, &err), &err);
	assert_string_equal(sel.node, "same");
	cvl_selector_free(&sel);
	unmake(&m);
}

/* ---- matching ---- */

/* Everything that @text matches, as "node@tick", with what happens there. */
static char *matches(const char *name, const char *text, const struct cvl_select_opts *opts,
		     bool pick)
{
	static char out[4000];
	struct made m = make(name);
	struct cvl_selector sel = parse(text), *list[] = { &sel };
	struct cvl_selection *s;
	struct cvl_pick picks[8];
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_match got;
	struct cvl_error err;
	size_t n = 0;
	int rc;

	out[0] = '\0';
	ok(cvl_select_open(&s, list, 1, m.tl, opts, &err), &err);
	for (size_t i = 0; pick && i < cvl_timeline_streams(m.tl); i++) {
		cvl_select_want(s, i, &picks[i]);
		cvl_timeline_pick(m.tl, i, &picks[i]);
	}
	while ((rc = cvl_timeline_next(m.tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++)
				if (cvl_select_match(s, &sl, i, &got) && (got.happened | got.ended))
					n += (size_t)snprintf(
						out + n, sizeof(out) - n, "%s%s%s@%d", n ? " " : "",
						got.ended ? "-" : "",
						cvl_session_clock(m.s, sl.clock)->name,
						(int)sl.batch->tick[i].count);
	ok(rc, &err);
	cvl_select_close(s);
	cvl_selector_free(&sel);
	unmake(&m);
	return out;
}

static void records_match(void **state)
{
	const struct cvl_select_opts spans = { .spans = true }, rise = { .line = CVL_WHEN_RISE };
	static const struct {
		const char *text, *found;
		int how;
	} cases[] = {
		{ "TX:rise", "n1@10 n2@10", 0 },
		{ "n1.TX", "n1@10 n1@20", 0 },
		{ "n1.TX", "n1@10", 2 },
		{ "n*.RX:fall", "n1@40 n2@40", 0 },
		{ "n1.?X:rise", "n1@10 n1@30", 0 },
		{ "n1.TX:high", "n1@10 -n1@20", 0 },
		{ "n1.TX:low", "-n1@10 n1@20", 0 },
		{ "boot", "n2@50 n2@60 n1@70 n2@70 n1@80 n1@90", 0 },
		{ "boot{code>0,who=b*}", "n2@60 n2@70 n1@80 n1@90", 0 },
		{ "n1.boot{who!=ann,code<2}", "n1@80", 0 },
		{ "n1.sched_*{code=0}", "n1@100 n1@130", 0 },
		{ "n1.work:begin", "n1@190", 0 },
		{ "n1.work:end", "n1@200", 0 },
		{ "n1.work", "n1@190 n1@200", 1 },
		{ "n1.begin{name=play}", "n1@210", 0 },
		{ "beacon{sender=7,seq=42}", "a@80 n2@120 n1@220 a.b@100", 0 },
		{ "n1.odd:rise{code=2}", "n1@180", 0 },
	};
	const struct cvl_select_opts *opts[] = { NULL, &spans, &rise };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int pick = 0; pick < 2; pick++) {
			char name[20];
			char *got;

			snprintf(name, sizeof(name), "match%zu-%d", i, pick);
			got = matches(name, cases[i].text, opts[cases[i].how], pick);
			if (strlen(got) != strlen(cases[i].found) ||
			    (i != 15 && strcmp(got, cases[i].found)))
				fail_msg("%s: %s", cases[i].text, got);
		}
}

static void a_state_is_known_at_the_begin_of_a_range(void **state)
{
	const struct cvl_timeline_opts range = { .has_from = true, .from = { 15000 } };
	struct made m = make("begin");
	struct cvl_selector sel[] = { parse("n1.TX:high"), parse("n1.RX:high"),
				      parse("n1.TX:fall") },
			    several = parse("n1.?X:high"), *list[] = { &sel[0], &sel[1], &sel[2] },
			    *one = &several;
	struct cvl_selection *s;
	struct cvl_match got;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	bool first = true;

	(void)state;
	cvl_timeline_close(m.tl);
	ok(cvl_timeline_open(&m.tl, m.s, &range, &err), &err);
	assert_int_equal(cvl_select_open(&s, &one, 1, m.tl, NULL, &err), CVL_E_USAGE);
	assert_string_equal(
		err.text, "'n1.?X:high' matches several lines of n1; a state must be of one line");
	ok(cvl_select_open(&s, list, 3, m.tl, NULL, &err), &err);
	assert_true(cvl_select_in(s, 0, 0) && !cvl_select_in(s, 0, 1));
	while (cvl_timeline_next(m.tl, &block, &err) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++) {
				bool any = cvl_select_match(s, &sl, i, &got);

				if (sl.stream)
					continue;
				if (first) {
					assert_true(any && got.found == 7 && got.in == 1 &&
						    !got.happened);
					first = false;
				} else if (sl.batch->tick[i].count == 20) {
					assert_true(any && got.ended == 1 && got.happened == 4 &&
						    !got.in);
				}
			}
	assert_false(first);
	cvl_select_close(s);
	for (int i = 0; i < 3; i++)
		cvl_selector_free(&sel[i]);
	cvl_selector_free(&several);
	unmake(&m);
}

static void collect(void *ctx, const char *quoted, bool is_line)
{
	char *out = ctx;

	snprintf(out + strlen(out), 1000 - strlen(out), "%s%s ", is_line ? "" : "!", quoted);
}

static void all_names_are_listed_as_selectors_have_them(void **state)
{
	char names[1000] = "";
	struct made m = make("each");

	(void)state;
	cvl_select_each(m.tl, collect, names);
	assert_string_equal(
		names,
		"n1.TX n1.RX n1.\"led.red\" !n1.boot !n1.sched_in !n1.sched_out !n1.\"odd:rise\" "
		"n2.TX n2.RX !n2.boot \"a.b\".\"c.d\" \"a.b\".d \"a.b\".x a.\"b.x\" a.\"q.c.d\" ");
	unmake(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selectors_are_read),
		cmocka_unit_test(bad_selectors_name_the_place),
		cmocka_unit_test(pairs_are_read),
		cmocka_unit_test(names_survive_quoting),
		cmocka_unit_test(the_longest_name_that_exists_is_meant),
		cmocka_unit_test(what_is_not_there_is_told),
		cmocka_unit_test(records_match),
		cmocka_unit_test(a_state_is_known_at_the_begin_of_a_range),
		cmocka_unit_test(all_names_are_listed_as_selectors_have_them),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
