/* SPDX-License-Identifier: MIT */
#include "advise.h"

#include "cli.h"
#include "json.h"

#include <math.h>

static int64_t rounded(double ns)
{
	return ns < 9e18 ? llround(ns) : INT64_MAX - 1;
}

static const char *bound_text(char text[CVL_TIME_TEXT], double ns)
{
	cvl_bound_text(text, rounded(ns));
	return text;
}

/* "1/8", "all", "2 x". */
static void cell_times(struct table *t, double times)
{
	if (times < 1)
		table_cell(t, "1/%.0f", 1 / times);
	else if (times > 1)
		table_cell(t, "%.0f x", times);
	else
		table_cell(t, "all");
}

static void print_runs(struct cvl_out *o, const struct cvl_advice *advice)
{
	struct table t;

	table_heads(&t, "clock|exchanges|a second|bound|at worst|");
	for (size_t c = 0; c < advice->n; c++) {
		const struct cvl_clock_advice *a = &advice->clock[c];

		for (size_t i = 0; i < a->n; i++) {
			const struct cvl_advice_run *r = &a->run[i];

			table_cell(&t, "%s", i ? "" : a->clock);
			cell_times(&t, r->times);
			table_cell(&t, "%.3g", a->per_second * r->times);
			table_bound(&t, true, rounded(r->median_ns));
			table_bound(&t, true, rounded(r->worst_ns));
			table_row(&t, r->measured ? "measured" : "predicted");
		}
	}
	table_print(&t, o, "lrrrrl", "");
}

/* The rate needed to meet a bound. */
static void print_rate(struct cvl_out *o, const struct cvl_clock_advice *a, const char *which,
		       double times)
{
	if (isinf(times))
		cvl_out_printf(o, "; %s: no rate does", which);
	else if (times > CVL_ADVICE_FAR)
		cvl_out_printf(o, "; %s: more than %d times as many as here", which,
			       CVL_ADVICE_FAR);
	else
		cvl_out_printf(o, "; %s: %.3g exchanges a second, %.2g times as many as here%s",
			       which, a->per_second * times, times,
			       times > CVL_ADVICE_TRIED ? " (further than the model was tried)" :
			       times <= a->run[0].times ? ", or fewer" :
							  "");
}

static void print_clock(struct cvl_out *o, const struct cvl_clock_advice *a, int64_t wanted_ns)
{
	char text[CVL_TIME_TEXT], gap[CVL_TIME_TEXT], drift[CVL_TIME_TEXT];

	if (!a->n) {
		cvl_out_printf(o, "%s: %s\n", a->clock, a->reason);
		return;
	}
	bound_text(gap, a->gap_ns);
	bound_text(drift, a->drift_ns);
	cvl_out_printf(
		o,
		"%s: half the shortest round trip is %s, and only faster messages improve on that; a drift limit of %.4g ppm "
		"with the reference adds %s in half of the %s between exchanges\n",
		a->clock, bound_text(text, a->floor_ns), a->drift_ppm, drift, gap);
	if (!wanted_ns)
		return;
	cvl_out_printf(o, "%s: to keep to %s", a->clock, bound_text(text, (double)wanted_ns));
	print_rate(o, a, "half of the time", a->times_median);
	print_rate(o, a, "always", a->times_worst);
	cvl_out_char(o, '\n');
}

static void put_clock(struct js *j, const struct cvl_clock_advice *a, int64_t wanted_ns)
{
	js_open(j, NULL, '{');
	js_text(j, "clock", a->clock);
	js_count(j, "exchanges", a->exchanges);
	js_reals(j, "per_second drift_ppm", a->per_second, a->drift_ppm);
	if (!a->n)
		js_text(j, "reason", a->reason);
	if (a->n) {
		js_real(j, "floor_ns", a->floor_ns);
		js_open(j, "runs", '[');
		for (size_t i = 0; i < a->n; i++) {
			const struct cvl_advice_run *r = &a->run[i];

			js_open(j, NULL, '{');
			js_real(j, "times", r->times);
			js_bool(j, "measured", r->measured);
			js_reals(j, "median_ns worst_ns", r->median_ns, r->worst_ns);
			js_close(j, '}');
		}
		js_close(j, ']');
	}
	if (a->n && wanted_ns)
		js_reals(j, "times_for_median times_for_worst", a->times_median, a->times_worst);
	js_close(j, '}');
}

static void print_json(struct cvl_out *o, const struct cvl_advice *advice, int64_t wanted_ns)
{
	struct js j = js_begin(o);

	js_text(&j, "reference", advice->reference);
	js_open(&j, "clocks", '[');
	for (size_t i = 0; i < advice->n; i++)
		put_clock(&j, &advice->clock[i], wanted_ns);
	js_close(&j, ']');
	if (wanted_ns)
		js_int(&j, "wanted_ns", wanted_ns);
	js_end(&j);
}

static void print_text(struct cvl_out *o, const struct cvl_advice *advice, int64_t wanted_ns)
{
	cvl_out_printf(o, "reference %s\n\n", advice->reference);
	print_runs(o, advice);
	cvl_out_char(o, '\n');
	for (size_t i = 0; i < advice->n; i++)
		print_clock(o, &advice->clock[i], wanted_ns);
}

int advise_print(struct cvl_out *o, struct cvl_session *session, const struct cvl_sync_opts *opts,
		 int64_t wanted_ns, bool json, bool *reached, struct cvl_error *err)
{
	struct cvl_observations *obs;
	struct cvl_advice *advice = NULL;
	int rc = cvl_observe(&obs, session, opts, err);

	if (rc)
		return rc;
	rc = cvl_sync_advise(&advice, obs, opts->estimator, (double)wanted_ns, err);
	if (!rc && json)
		print_json(o, advice, wanted_ns);
	else if (!rc)
		print_text(o, advice, wanted_ns);
	if (!rc)
		*reached = advice->reached;
	cvl_advice_free(advice);
	cvl_observations_free(obs);
	return rc;
}
