/* SPDX-License-Identifier: MIT */
#include "advise.h"

#include "cli.h"
#include "report/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

/* Times as many exchanges: what the model was compared with, and beyond what it is not asked. */
#define TRIED 4
#define FAR 64

static const char *bound_text(char text[CVL_TIME_TEXT], double ns)
{
	cvl_bound_text(text, ns < 9e18 ? llround(ns) : INT64_MAX - 1);
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

	table_init(&t, 6);
	for (size_t i = 0; i < 6; i++)
		table_cell(&t, "%s",
			   (const char *[]){ "clock", "exchanges", "a second", "bound", "at worst",
					     "" }[i]);
	for (size_t c = 0; c < advice->n; c++) {
		const struct cvl_clock_advice *a = &advice->clock[c];

		for (size_t i = 0; i < a->n; i++) {
			const struct cvl_advice_run *r = &a->run[i];
			char text[CVL_TIME_TEXT];

			table_cell(&t, "%s", i ? "" : a->clock);
			cell_times(&t, r->times);
			table_cell(&t, "%.3g", a->per_second * r->times);
			table_cell(&t, "%s", bound_text(text, r->median_ns));
			table_cell(&t, "%s", bound_text(text, r->worst_ns));
			table_cell(&t, "%s", r->measured ? "measured" : "predicted");
		}
	}
	table_print(&t, o, "lrrrrl", "");
}

/* What it takes to keep to a bound. */
static void print_rate(struct cvl_out *o, const struct cvl_clock_advice *a, const char *which,
		       double times)
{
	if (isinf(times))
		cvl_out_printf(o, "; %s: no rate does", which);
	else if (times > FAR)
		cvl_out_printf(o, "; %s: more than %d times as many as here", which, FAR);
	else
		cvl_out_printf(o, "; %s: %.3g exchanges a second, %.2g times as many as here%s",
			       which, a->per_second * times, times,
			       times > TRIED            ? " (further than the model was tried)" :
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
	bound_text(gap, 1e9 / a->per_second);
	bound_text(drift, a->drift_ppm * 1e3 / a->per_second / 2);
	cvl_out_printf(
		o,
		"%s: half the shortest round trip is %s, and only quicker messages better that; a drift limit of %.4g ppm "
		"with the reference adds %s in half of the %s between exchanges\n",
		a->clock, bound_text(text, a->floor_ns), a->drift_ppm, drift, gap);
	if (!wanted_ns)
		return;
	cvl_out_printf(o, "%s: to keep to %s", a->clock, bound_text(text, (double)wanted_ns));
	print_rate(o, a, "half of the time", a->times_median);
	print_rate(o, a, "always", a->times_worst);
	cvl_out_char(o, '\n');
}

static json_t *times_json(double times)
{
	return isinf(times) ? json_null() : json_real(times);
}

static json_t *clock_json(const struct cvl_clock_advice *a, int64_t wanted_ns)
{
	json_t *j = json_pack("{s:s, s:I, s:f, s:f}", "clock", a->clock, "exchanges",
			      (json_int_t)a->exchanges, "per_second", a->per_second, "drift_ppm",
			      a->drift_ppm);
	json_t *runs = json_array();

	if (!a->n) {
		json_object_set_new(j, "reason", json_string(a->reason));
		json_decref(runs);
		return j;
	}
	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(
			runs, json_pack("{s:f, s:b, s:f, s:f}", "times", a->run[i].times,
					"measured", a->run[i].measured, "median_ns",
					a->run[i].median_ns, "worst_ns", a->run[i].worst_ns));
	json_object_set_new(j, "floor_ns", json_real(a->floor_ns));
	json_object_set_new(j, "runs", runs);
	if (wanted_ns) {
		json_object_set_new(j, "times_for_median", times_json(a->times_median));
		json_object_set_new(j, "times_for_worst", times_json(a->times_worst));
	}
	return j;
}

static void print_json(struct cvl_out *o, const struct cvl_advice *advice, int64_t wanted_ns)
{
	json_t *clocks = json_array(), *root;

	for (size_t i = 0; i < advice->n; i++)
		json_array_append_new(clocks, clock_json(&advice->clock[i], wanted_ns));
	root = json_pack("{s:s, s:o}", "reference", advice->reference, "clocks", clocks);
	if (wanted_ns)
		json_object_set_new(root, "wanted_ns", json_integer(wanted_ns));
	report_json(o, root);
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
	for (size_t i = 0; !rc && i < advice->n; i++)
		if (advice->clock[i].n && isinf(advice->clock[i].times_median))
			*reached = false;
	cvl_advice_free(advice);
	cvl_observations_free(obs);
	return rc;
}
