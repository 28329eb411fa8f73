/* SPDX-License-Identifier: MIT */
#include "check_print.h"

#include <jansson.h>
#include <stdio.h>

#include "cli.h"
#include "clocks_print.h"

#define LINE_MAX 400

static const char *const reason_names[CHECK_REASONS] = {
	[CHECK_BOUNDS] = "bounds",       [CHECK_LOSS] = "gap",
	[CHECK_CUT] = "capture ends",    [CHECK_LATE] = "out of order",
	[CHECK_CROWDED] = "too crowded", [CHECK_TOO_SHORT] = "too short",
	[CHECK_TOO_LONG] = "too long",   [CHECK_NONE_CAME] = "none came",
	[CHECK_HAPPENED] = "it came",    [CHECK_OVERLAP] = "both at once",
	[CHECK_WRONG_ORDER] = "order",   [CHECK_TOO_MANY] = "too many",
};

static const char *const reason_says[CHECK_REASONS] = {
	[CHECK_BOUNDS] = "the bounds are too wide to say",
	[CHECK_LOSS] = "a gap may hide it",
	[CHECK_CUT] = "the capture begins or ends in it",
	[CHECK_LATE] = "a record came out of order",
	[CHECK_CROWDED] = "more at once than are kept",
	[CHECK_TOO_SHORT] = "too short",
	[CHECK_TOO_LONG] = "too long",
	[CHECK_NONE_CAME] = "none came",
	[CHECK_HAPPENED] = "it came",
	[CHECK_OVERLAP] = "both at once",
	[CHECK_WRONG_ORDER] = "wrong order",
	[CHECK_TOO_MANY] = "one too many",
};

size_t check_count(const struct check_report *r, enum check_verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < r->rules->n; i++)
		n += check_result(r->check, i)->verdict == v;
	return n;
}

static uint64_t cases_of(const struct check_result *r)
{
	return r->held + r->violated + r->unknown;
}

/* "1.005074751 +- 76.4 us  n1 -> n2: 612 us +- 1 us, too long" */
static void say_case(const struct check_result *r, const struct check_case *c, char text[LINE_MAX])
{
	char time[CVL_TIME_TEXT], bound[CVL_TIME_TEXT], value[CVL_TIME_TEXT];
	size_t n;

	cvl_time_text(time, c->time);
	cvl_bound_text(bound, c->bound);
	n = (size_t)snprintf(text, LINE_MAX, "%s +- %s  %s%s%s: ", time, bound, c->from,
			     c->to && strcmp(c->to, c->from) ? " -> " : "",
			     c->to && strcmp(c->to, c->from) ? c->to : "");
	if (n >= LINE_MAX)
		return;
	if (c->has_value) {
		cvl_bound_text(value, c->value < 0 ? -c->value : c->value);
		cvl_bound_text(bound, c->value_bound);
		n += (size_t)snprintf(text + n, LINE_MAX - n, "%s%s +- %s, ",
				      c->value < 0 ? "-" : "", value, bound);
	}
	if (n < LINE_MAX && c->step >= 0)
		n += (size_t)snprintf(text + n, LINE_MAX - n, "'%s' after '%s', ",
				      r->rule->phrase[c->step].text,
				      r->rule->phrase[c->before].text);
	if (n < LINE_MAX)
		snprintf(text + n, LINE_MAX - n, "%s", reason_says[c->reason]);
}

static void say_cases(const struct check_result *r, const struct check_case *first, uint64_t n,
		      const char *what, struct cvl_out *o)
{
	char text[LINE_MAX];

	if (!n)
		return;
	cvl_out_printf(o, "    %llu %s", (unsigned long long)n, what);
	cvl_out_text(o, n > CHECK_CASES_MAX ? "; the first:\n" : ":\n");
	for (size_t i = 0; i < n && i < CHECK_CASES_MAX; i++) {
		say_case(r, &first[i], text);
		cvl_out_printf(o, "      %s\n", text);
	}
}

/* ---- text ---- */

void check_print_text(const struct check_report *r, struct cvl_out *o)
{
	static const char *const heads[] = { "rule",     "verdict",     "cases",
					     "violated", "cannot tell", NULL };
	struct table t;
	bool blank = false;

	table_init(&t, 5);
	table_heads(&t, heads);
	for (size_t i = 0; i < r->rules->n; i++) {
		const struct check_result *x = check_result(r->check, i);

		table_cell(&t, "%s", x->rule->name);
		table_cell(&t, "%s", check_verdict_name(x->verdict));
		table_cell(&t, "%llu", (unsigned long long)cases_of(x));
		table_cell(&t, "%llu", (unsigned long long)x->violated);
		table_cell(&t, "%llu", (unsigned long long)x->unknown);
	}
	table_print(&t, o, "llrrr", "  ");
	for (size_t i = 0; i < r->rules->n; i++) {
		const struct check_result *x = check_result(r->check, i);

		if (!x->violated && !x->unknown && x->verdict != CHECK_VACUOUS)
			continue;
		if (!blank)
			cvl_out_char(o, '\n');
		blank = true;
		cvl_out_printf(o, "  %s (line %zu)\n", x->rule->name, x->rule->line);
		say_cases(x, x->first_violated, x->violated, "violated", o);
		say_cases(x, x->first_unknown, x->unknown, "cannot be told", o);
		if (x->verdict == CHECK_VACUOUS)
			cvl_out_text(o,
				     "    it was never tried: what it is about did not happen\n");
	}
	cvl_out_printf(o, "\n%zu hold, %zu violated, %zu cannot tell, %zu not tried\n",
		       check_count(r, CHECK_HOLDS), check_count(r, CHECK_VIOLATED),
		       check_count(r, CHECK_CANNOT_TELL), check_count(r, CHECK_VACUOUS));
}

/* ---- JSON ---- */

static json_t *known(int64_t ns)
{
	return ns == CVL_BOUND_UNKNOWN ? json_null() : json_integer(ns);
}

static json_t *case_json(const struct check_result *r, const struct check_case *c)
{
	json_t *j = json_pack("{s:s, s:I, s:o, s:s, s:s?}", "why", reason_names[c->reason], "t_ns",
			      (json_int_t)c->time.ns, "bound_ns", known(c->bound), "from", c->from,
			      "to", c->to);

	if (c->has_value) {
		json_object_set_new(j, "value_ns", json_integer(c->value));
		json_object_set_new(j, "value_bound_ns", known(c->value_bound));
	}
	if (c->step >= 0) {
		json_object_set_new(j, "event", json_string(r->rule->phrase[c->step].text));
		json_object_set_new(j, "after", json_string(r->rule->phrase[c->before].text));
	}
	return j;
}

static json_t *cases_json(const struct check_result *r, const struct check_case *first, uint64_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n && i < CHECK_CASES_MAX; i++)
		json_array_append_new(list, case_json(r, &first[i]));
	return list;
}

void check_print_json(const struct check_report *r, struct cvl_out *o)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < r->rules->n; i++) {
		const struct check_result *x = check_result(r->check, i);
		json_t *why = json_object();

		for (unsigned k = 0; k < CHECK_REASONS; k++)
			if (x->why[k])
				json_object_set_new(why, reason_names[k],
						    json_integer((json_int_t)x->why[k]));
		json_array_append_new(
			rules,
			json_pack("{s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "name",
				  x->rule->name, "line", (json_int_t)x->rule->line, "verdict",
				  check_verdict_name(x->verdict), "cases", (json_int_t)cases_of(x),
				  "held", (json_int_t)x->held, "violated", (json_int_t)x->violated,
				  "cannot_tell", (json_int_t)x->unknown, "why", why,
				  "first_violated", cases_json(x, x->first_violated, x->violated),
				  "first_cannot_tell",
				  cases_json(x, x->first_unknown, x->unknown)));
	}
	report_json(o, json_pack("{s:o, s:o, s:o}", "session", report_text(r->session), "rules",
				 report_text(r->rules->file), "checks", rules));
}

/* ---- JUnit ---- */

static bool fails(const struct check_report *r, const struct check_result *x)
{
	return x->verdict == CHECK_VIOLATED || (r->strict && x->verdict != CHECK_HOLDS);
}

static void junit_case(const struct check_report *r, const struct check_result *x,
		       struct cvl_out *o)
{
	const char *tag = fails(r, x) ? "failure" : "skipped";
	bool violated = x->verdict == CHECK_VIOLATED;
	const struct check_case *first = violated ? x->first_violated : x->first_unknown;
	uint64_t n = violated ? x->violated : x->unknown;
	char text[LINE_MAX];

	cvl_out_text(o, "    <testcase classname=\"");
	cvl_out_xml(o, r->rules->file);
	cvl_out_text(o, "\" name=\"");
	cvl_out_xml(o, x->rule->name);
	if (x->verdict == CHECK_HOLDS) {
		cvl_out_text(o, "\"/>\n");
		return;
	}
	cvl_out_printf(o, "\">\n      <%s message=\"%s: %llu of %llu cases\">", tag,
		       check_verdict_name(x->verdict), (unsigned long long)n,
		       (unsigned long long)cases_of(x));
	for (size_t i = 0; i < n && i < CHECK_CASES_MAX; i++) {
		say_case(x, &first[i], text);
		cvl_out_xml(o, text);
		cvl_out_char(o, '\n');
	}
	cvl_out_printf(o, "</%s>\n    </testcase>\n", tag);
}

void check_print_junit(const struct check_report *r, struct cvl_out *o)
{
	size_t failed = 0, skipped = 0;

	for (size_t i = 0; i < r->rules->n; i++) {
		const struct check_result *x = check_result(r->check, i);

		failed += fails(r, x);
		skipped += !fails(r, x) && x->verdict != CHECK_HOLDS;
	}
	cvl_out_text(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	cvl_out_text(o, "  <testsuite name=\"coeval check ");
	cvl_out_xml(o, r->session);
	cvl_out_printf(o, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
		       r->rules->n, failed, skipped);
	for (size_t i = 0; i < r->rules->n; i++)
		junit_case(r, check_result(r->check, i), o);
	cvl_out_text(o, "  </testsuite>\n</testsuites>\n");
}
