/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include "cli.h"

#include <math.h>

/* "110 ns", or "-" if unknown. */
static void cell_ns(struct table *t, double ns, bool known)
{
	known = known && ns >= 0 && ns <= 9e18;
	table_bound(t, known, known ? llround(ns) : 0);
}

static void print_text(struct cvl_out *o, const struct cvl_study *s)
{
	struct table t;

	table_heads(
		&t,
		s->truth ?
			"estimator|tied|degraded|residual sd|bound|mean error|sd|99.9 %|max|covered" :
			"estimator|tied|degraded|residual sd|bound");
	for (size_t i = 0; i < s->n; i++) {
		const struct cvl_study_result *r = &s->result[i];
		const struct cvl_score *e = &r->score;

		table_cell(&t, "%s", r->info->name);
		if (!r->sync) {
			for (size_t k = 1; k < t.columns; k++)
				table_cell(&t, "-");
			continue;
		}
		table_cell(&t, "%zu/%zu", r->tied, r->sync->n);
		table_counts(&t, r->degraded);
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

static void put_score(struct js *j, const struct cvl_score *e)
{
	js_open(j, "pairs", '{');
	js_count(j, "n", e->n);
	js_reals(j, "mean_abs_ns sd_ns p999_ns max_ns coverage", e->mean_abs, e->sd, e->p999,
		 e->max, e->coverage);
	js_int(j, "median_bound_ns", e->median_bound);
	js_close(j, '}');
}

void compare_put(struct js *j, const struct cvl_study *s)
{
	js_open(j, "estimators", '[');
	for (size_t i = 0; i < s->n; i++) {
		const struct cvl_study_result *r = &s->result[i];

		js_open(j, NULL, '{');
		js_text(j, "estimator", r->info->name);
		if (r->sync) {
			js_counts(j, "clocks tied degraded", r->sync->n, r->tied, r->degraded);
		} else {
			js_text(j, "error", r->why);
		}
		if (r->sync && r->residuals)
			js_real(j, "residual_sd_ns", r->residual_sd);
		if (r->sync && r->median_bound >= 0)
			js_real(j, "median_bound_ns", r->median_bound);
		if (r->score.n)
			put_score(j, &r->score);
		js_close(j, '}');
	}
	js_close(j, ']');
}

int compare_print(struct cvl_out *o, struct cvl_session *session, const struct cvl_sync_opts *opts,
		  bool json, struct cvl_error *err)
{
	struct cvl_study *s;
	int rc = cvl_study_make(&s, session, opts, NULL, err);

	if (rc)
		return rc;
	if (json) {
		struct js j = js_begin(o);

		compare_put(&j, s);
		js_end(&j);
	} else {
		print_text(o, s);
	}
	cvl_study_free(s);
	return rc;
}
