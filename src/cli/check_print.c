/* SPDX-License-Identifier: MIT */
#include "check_print.h"

#include <stdio.h>

#include "cli.h"
#include "json.h"

#define LINE_MAX 400

static uint64_t cases_of(const struct cvl_check_outcome *r)
{
	return r->held + r->violated + r->unknown;
}

/* "1.005074751 +- 76.4 us  n1 -> n2: 612 us +- 1 us, too long" */
static void say_case(const struct cvl_check_case *c, char text[LINE_MAX])
{
	char time[CVL_TIME_TEXT], bound[CVL_TIME_TEXT], value[CVL_TIME_TEXT];
	size_t n;

	cvl_time_text(time, c->time);
	cvl_bound_text(bound, c->bound_ns);
	n = (size_t)snprintf(text, LINE_MAX, "%s +- %s  %s%s%s: ", time, bound, c->from,
			     c->to && strcmp(c->to, c->from) ? " -> " : "",
			     c->to && strcmp(c->to, c->from) ? c->to : "");
	if (n >= LINE_MAX)
		return;
	if (c->has_value) {
		cvl_bound_text(value, c->value_ns < 0 ? -c->value_ns : c->value_ns);
		cvl_bound_text(bound, c->value_bound_ns);
		n += (size_t)snprintf(text + n, LINE_MAX - n, "%s%s +- %s, ",
				      c->value_ns < 0 ? "-" : "", value, bound);
	}
	if (n < LINE_MAX && c->event)
		n += (size_t)snprintf(text + n, LINE_MAX - n, "'%s' after '%s', ", c->event,
				      c->after);
	if (n < LINE_MAX)
		snprintf(text + n, LINE_MAX - n, "%s", cvl_check_reason_text(c->reason));
}

static void say_cases(const struct cvl_check_case *first, uint64_t n, const char *what,
		      struct cvl_out *o)
{
	char text[LINE_MAX];

	if (!n)
		return;
	cvl_out_printf(o, "    %llu %s", (unsigned long long)n, what);
	cvl_out_text(o, n > CVL_CHECK_CASES_MAX ? "; the first:\n" : ":\n");
	for (size_t i = 0; i < n && i < CVL_CHECK_CASES_MAX; i++) {
		say_case(&first[i], text);
		cvl_out_printf(o, "      %s\n", text);
	}
}

/* ---- text ---- */

void check_print_text(const struct cvl_check_result *r, struct cvl_out *o)
{
	struct table t;
	bool blank = false;

	table_heads(&t, "rule|verdict|cases|violated|cannot tell");
	for (size_t i = 0; i < r->n; i++) {
		const struct cvl_check_outcome *x = &r->rule[i];

		table_row(&t, x->name, cvl_check_verdict_name(x->verdict));
		table_counts(&t, cases_of(x), x->violated, x->unknown);
	}
	table_print(&t, o, "llrrr", "  ");
	for (size_t i = 0; i < r->n; i++) {
		const struct cvl_check_outcome *x = &r->rule[i];

		if (!x->violated && !x->unknown && x->verdict != CVL_CHECK_VACUOUS)
			continue;
		if (!blank)
			cvl_out_char(o, '\n');
		blank = true;
		cvl_out_printf(o, "  %s (line %zu)\n", x->name, x->line);
		say_cases(x->first_violated, x->violated, "violated", o);
		say_cases(x->first_unknown, x->unknown, "cannot be told", o);
		if (x->verdict == CVL_CHECK_VACUOUS)
			cvl_out_text(o,
				     "    it was never tried: what it is about did not happen\n");
	}
	cvl_out_printf(o, "\n%zu hold, %zu violated, %zu cannot tell, %zu not tried\n",
		       r->count[CVL_CHECK_HOLDS], r->count[CVL_CHECK_VIOLATED],
		       r->count[CVL_CHECK_CANNOT_TELL], r->count[CVL_CHECK_VACUOUS]);
}

/* ---- JSON ---- */

static void put_cases(struct js *j, const char *key, const struct cvl_check_case *first, uint64_t n)
{
	js_open(j, key, '[');
	for (size_t i = 0; i < n && i < CVL_CHECK_CASES_MAX; i++) {
		const struct cvl_check_case *c = &first[i];

		js_open(j, NULL, '{');
		js_text(j, "why", cvl_check_reason_name(c->reason));
		js_int(j, "t_ns", c->time.ns);
		js_bound(j, "bound_ns", c->bound_ns);
		js_texts(j, "from to", c->from, c->to);
		if (c->has_value) {
			js_int(j, "value_ns", c->value_ns);
			js_bound(j, "value_bound_ns", c->value_bound_ns);
		}
		if (c->event)
			js_texts(j, "event after", c->event, c->after);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_rule(struct js *j, const struct cvl_check_outcome *x)
{
	js_open(j, NULL, '{');
	js_text(j, "name", x->name);
	js_count(j, "line", x->line);
	js_text(j, "verdict", cvl_check_verdict_name(x->verdict));
	js_counts(j, "cases held violated cannot_tell", cases_of(x), x->held, x->violated,
		  x->unknown);
	js_open(j, "why", '{');
	for (unsigned k = 0; k < CVL_CHECK_REASONS; k++)
		if (x->why[k])
			js_int(j, cvl_check_reason_name((enum cvl_check_reason)k),
			       (int64_t)x->why[k]);
	js_close(j, '}');
	put_cases(j, "first_violated", x->first_violated, x->violated);
	put_cases(j, "first_cannot_tell", x->first_unknown, x->unknown);
	js_close(j, '}');
}

void check_print_json(const struct cvl_check_result *r, const char *session, struct cvl_out *o)
{
	struct js j = js_begin(o);

	js_texts(&j, "session rules", session, r->file);
	js_open(&j, "checks", '[');
	for (size_t i = 0; i < r->n; i++)
		put_rule(&j, &r->rule[i]);
	js_close(&j, ']');
	js_end(&j);
}

/* ---- JUnit ---- */

static bool fails(const struct cvl_check_outcome *x, bool strict)
{
	return x->verdict == CVL_CHECK_VIOLATED || (strict && x->verdict != CVL_CHECK_HOLDS);
}

static void junit_case(const struct cvl_check_result *r, const struct cvl_check_outcome *x,
		       bool strict, struct cvl_out *o)
{
	const char *tag = fails(x, strict) ? "failure" : "skipped";
	bool violated = x->verdict == CVL_CHECK_VIOLATED;
	const struct cvl_check_case *first = violated ? x->first_violated : x->first_unknown;
	uint64_t n = violated ? x->violated : x->unknown;
	char text[LINE_MAX];

	cvl_out_text(o, "    <testcase classname=\"");
	cvl_out_xml(o, r->file);
	cvl_out_text(o, "\" name=\"");
	cvl_out_xml(o, x->name);
	if (x->verdict == CVL_CHECK_HOLDS) {
		cvl_out_text(o, "\"/>\n");
		return;
	}
	cvl_out_printf(o, "\">\n      <%s message=\"%s: %llu of %llu cases\">", tag,
		       cvl_check_verdict_name(x->verdict), (unsigned long long)n,
		       (unsigned long long)cases_of(x));
	for (size_t i = 0; i < n && i < CVL_CHECK_CASES_MAX; i++) {
		say_case(&first[i], text);
		cvl_out_xml(o, text);
		cvl_out_char(o, '\n');
	}
	cvl_out_printf(o, "</%s>\n    </testcase>\n", tag);
}

void check_print_junit(const struct cvl_check_result *r, const char *session, bool strict,
		       struct cvl_out *o)
{
	size_t failed = 0, skipped = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct cvl_check_outcome *x = &r->rule[i];

		failed += fails(x, strict);
		skipped += !fails(x, strict) && x->verdict != CVL_CHECK_HOLDS;
	}
	cvl_out_text(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	cvl_out_text(o, "  <testsuite name=\"coeval check ");
	cvl_out_xml(o, session);
	cvl_out_printf(o, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", r->n,
		       failed, skipped);
	for (size_t i = 0; i < r->n; i++)
		junit_case(r, &r->rule[i], strict, o);
	cvl_out_text(o, "  </testsuite>\n</testsuites>\n");
}
