/* SPDX-License-Identifier: MIT */
#include "clocks_print.h"

#include "cli.h"

void clocks_table(const struct cvl_sync *sync, struct cvl_out *o, const char *indent)
{
	struct table t;

	table_heads(&t, "clock|verdict|rate off|used|rejected|median bound|at worst|promise");
	for (size_t i = 0; i < sync->n; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];

		table_row(&t, c->clock, cvl_verdict_name(c->verdict));
		if (c->map && c->used)
			table_cell(&t, "%+.3f +-%.3f ppm", c->rate_ppb / 1000,
				   c->rate_bound_ppb / 1000);
		else
			table_cell(&t, "-");
		table_counts(&t, c->used, c->rejected);
		table_bound(&t, c->map, c->bound_median);
		table_bound(&t, c->map, c->bound_max);
		table_cell(&t, "%s",
			   cvl_bound_kind_name(c->map ? cvl_map_kind(c->map) : CVL_BOUND_NONE));
	}
	table_print(&t, o, "llrrrrrl", indent);
}

void clocks_reasons(const struct cvl_sync *sync, struct cvl_out *o, bool all, const char *indent)
{
	bool ambiguous = false;

	for (size_t i = 0; i < sync->n; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];

		ambiguous = ambiguous || c->verdict == CVL_AMBIGUOUS;
		if (all || c->verdict != CVL_GOOD)
			cvl_out_printf(o, "%s%s: %s\n", indent, c->clock, c->reason);
	}
	if (ambiguous)
		cvl_out_printf(
			o,
			"%s`coeval import --start TIME+-S` states when a capture began, `coeval sync --start-bound S` how far what they "
			"claim may be off, `coeval sync --align LINE` an edge that all saw\n",
			indent);
}

void clocks_put(struct js *j, const struct cvl_clock_sync *c)
{
	bool tied = c->map != NULL;

	js_texts(j, "verdict reason", cvl_verdict_name(c->verdict), c->reason);
	js_reals(j, "rate_ppb rate_bound_ppb", c->rate_ppb, c->rate_bound_ppb);
	js_counts(j, "used rejected", c->used, c->rejected);
	js_known(j, "bound_min_ns", c->bound_min, tied);
	js_known(j, "bound_median_ns", c->bound_median, tied);
	js_known(j, "bound_max_ns", c->bound_max, tied);
	js_text(j, "bound", cvl_bound_kind_name(tied ? cvl_map_kind(c->map) : CVL_BOUND_NONE));
}
