/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put_bound(struct table *t, const struct cvl_clock_sync *c, int64_t bound)
{
	char text[CVL_TIME_TEXT];

	cvl_bound_text(text, bound);
	table_cell(t, "%s", c->map ? text : "-");
}

void report_sync_table(const struct cvl_sync *sync, struct cvl_out *o, const char *indent)
{
	static const char *const heads[] = { "clock",    "verdict",  "rate off",
					     "used",     "rejected", "median bound",
					     "at worst", "promise",  NULL };
	struct table t;

	table_init(&t, 8);
	table_heads(&t, heads);
	for (size_t i = 0; i < sync->n; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];

		table_cell(&t, "%s", c->clock);
		table_cell(&t, "%s", cvl_verdict_name(c->verdict));
		if (c->map && c->used)
			table_cell(&t, "%+.3f +-%.3f ppm", c->rate_ppb / 1000,
				   c->rate_bound_ppb / 1000);
		else
			table_cell(&t, "-");
		table_cell(&t, "%llu", (unsigned long long)c->used);
		table_cell(&t, "%llu", (unsigned long long)c->rejected);
		put_bound(&t, c, c->bound_median);
		put_bound(&t, c, c->bound_max);
		table_cell(&t, "%s",
			   cvl_bound_kind_name(c->map ? cvl_map_kind(c->map) : CVL_BOUND_NONE));
	}
	table_print(&t, o, "llrrrrrl", indent);
}

json_t *report_sync_json(const struct cvl_clock_sync *c)
{
	return json_pack("{s:s, s:s, s:f, s:f, s:I, s:I, s:o, s:o, s:o, s:s}", "verdict",
			 cvl_verdict_name(c->verdict), "reason", c->reason, "rate_ppb", c->rate_ppb,
			 "rate_bound_ppb", c->rate_bound_ppb, "used", (json_int_t)c->used,
			 "rejected", (json_int_t)c->rejected, "bound_min_ns",
			 c->map ? json_integer(c->bound_min) : json_null(), "bound_median_ns",
			 c->map ? json_integer(c->bound_median) : json_null(), "bound_max_ns",
			 c->map ? json_integer(c->bound_max) : json_null(), "bound",
			 cvl_bound_kind_name(c->map ? cvl_map_kind(c->map) : CVL_BOUND_NONE));
}

json_t *report_text(const char *s)
{
	json_t *j = json_string(s);
	char *plain = j ? NULL : strdup(s);

	if (!plain)
		return j;
	for (char *p = plain; *p; p++)
		if (*p & 0x80)
			*p = '?';
	j = json_string(plain);
	free(plain);
	return j;
}

void report_json(struct cvl_out *o, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	if (text)
		cvl_out_text(o, text);
	else
		o->error = ENOMEM;
	cvl_out_char(o, '\n');
	free(text);
	json_decref(root);
}
