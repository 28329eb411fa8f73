/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include "cli.h"
#include "report/report.h"
#include "report/study.h"

#include <jansson.h>
#include <math.h>

/* "110 ns", or "-" where nothing is known. */
static void cell_ns(struct table *t, double ns, bool known)
{
	char text[CVL_TIME_TEXT];

	if (!known || !(ns >= 0) || ns > 9e18) {
		table_cell(t, "-");
		return;
	}
	cvl_bound_text(text, llround(ns));
	table_cell(t, "%s", text);
}

static void print_text(struct cvl_out *o, const struct study *s)
{
	static const char *const heads[] = { "estimator", "tied",       "degraded", "residual sd",
					     "bound",     "mean error", "sd",       "99.9 %",
					     "max",       "covered",    NULL };
	struct table t;

	table_init(&t, s->truth ? 10 : 5);
	for (size_t i = 0; i < t.columns; i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < s->n; i++) {
		const struct study_result *r = &s->result[i];
		const struct cvl_score *e = &r->score;

		table_cell(&t, "%s", r->info->name);
		if (!r->sync) {
			for (size_t k = 1; k < t.columns; k++)
				table_cell(&t, "-");
			continue;
		}
		table_cell(&t, "%zu/%zu", r->tied, r->sync->n);
		table_cell(&t, "%zu", r->degraded);
		cell_ns(&t, r->residual_sd, r->residuals);
		cell_ns(&t, r->median_bound, true);
		if (!s->truth)
			continue;
		cell_ns(&t, e->mean_abs, e->n);
		cell_ns(&t, e->sd, e->n);
		cell_ns(&t, e->p999, e->n);
		cell_ns(&t, e->max, e->n);
		if (e->n)
			table_cell(&t, "%.3f %%", 100 * e->coverage);
		else
			table_cell(&t, "-");
	}
	table_print(&t, o, "lrrrrrrrrr", "");
	for (size_t i = 0; i < s->n; i++)
		if (!s->result[i].sync)
			cvl_out_printf(o, "\n%s: %s", s->result[i].info->name, s->result[i].why);
	cvl_out_printf(
		o,
		"\nresiduals: pulses and beacons about the maps; bound: the middle one of a clock\n");
	if (s->truth)
		cvl_out_printf(
			o,
			"errors: differences of all pairs of clocks at %zu random instants from %.0f s on, "
			"against the simulated truth\n",
			s->instants, s->settled_s);
}

static void print_json(struct cvl_out *o, const struct study *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++) {
		const struct study_result *r = &s->result[i];
		json_t *j = json_pack("{s:s}", "estimator", r->info->name);

		if (!r->sync)
			json_object_set_new(j, "error", json_string(r->why));
		else
			json_object_update_new(j, json_pack("{s:I, s:I, s:I}", "clocks",
							    (json_int_t)r->sync->n, "tied",
							    (json_int_t)r->tied, "degraded",
							    (json_int_t)r->degraded));
		if (r->sync && r->residuals)
			json_object_set_new(j, "residual_sd_ns", json_real(r->residual_sd));
		if (r->sync && r->median_bound >= 0)
			json_object_set_new(j, "median_bound_ns", json_real(r->median_bound));
		if (r->score.n)
			json_object_set_new(
				j, "pairs",
				json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:I}", "n",
					  (json_int_t)r->score.n, "mean_abs_ns", r->score.mean_abs,
					  "sd_ns", r->score.sd, "p999_ns", r->score.p999, "max_ns",
					  r->score.max, "coverage", r->score.coverage,
					  "median_bound_ns", (json_int_t)r->score.median_bound));
		json_array_append_new(list, j);
	}
	report_json(o, json_pack("{s:o}", "estimators", list));
}

int compare_print(struct cvl_out *o, struct cvl_session *session, const struct cvl_sync_opts *opts,
		  bool json, struct cvl_error *err)
{
	struct study s;
	int rc = study_make(&s, session, opts, NULL, err);

	if (!rc && json)
		print_json(o, &s);
	else if (!rc)
		print_text(o, &s);
	study_free(&s);
	return rc;
}
