/* SPDX-License-Identifier: MIT */
#include "durations.h"

#include <stdlib.h>

#include "cli.h"

/* ---- as text ---- */

static void put_figure(struct table *t, const char *name, const struct cvl_figure *f)
{
	char bound[CVL_TIME_TEXT];
	int64_t below = f->value - f->low, above = f->high - f->value;

	cvl_bound_text(bound, below > above ? below : above);
	table_cell(t, "%s", name);
	table_cell(t, "%lld.%03lld us", (long long)(f->value / 1000), (long long)(f->value % 1000));
	table_cell(t, "+-%s", bound);
}

static void percentile_name(unsigned permille, char name[16])
{
	if (permille % 10)
		snprintf(name, 16, "%u.%u %%", permille / 10, permille % 10);
	else
		snprintf(name, 16, "%u %%", permille / 10);
}

static void put_left_out(struct table *t, const char *what, uint64_t n)
{
	if (!n)
		return;
	table_row(t, what, "");
	table_counts(t, n);
}

static void put_bins(struct cvl_out *o, const struct cvl_bins *b)
{
	struct table t;

	table_heads(&t, "from us||times");
	put_left_out(&t, "shorter", b->shorter);
	for (size_t i = 0; i < b->n; i++) {
		int64_t from = b->first + b->width * (int64_t)i;
		int len = (int)((b->count[i] * 40 + b->most - 1) / b->most);

		table_cell(&t, "%s%lld.%03lld", from < 0 ? "-" : "",
			   (long long)(llabs(from) / 1000), (long long)(llabs(from) % 1000));
		table_cell(&t, "%.*s", len, "########################################");
		table_counts(&t, b->count[i]);
	}
	put_left_out(&t, "longer", b->longer);
	table_print(&t, o, "rlr", "  ");
}

void durations_text(struct cvl_out *o, const struct cvl_durations *d)
{
	struct table t;

	if (!d->n)
		return;
	table_init(&t, 3);
	put_figure(&t, "best", &d->best);
	put_figure(&t, "mean", &d->mean);
	for (unsigned i = 0; i < CVL_PERCENTILES; i++) {
		char name[16];

		percentile_name(d->permille[i], name);
		put_figure(&t, name, &d->percentile[i]);
	}
	put_figure(&t, "worst", &d->worst);
	table_print(&t, o, "lrr", "  ");
	cvl_out_char(o, '\n');
	put_bins(o, &d->bins);
}

/* ---- as JSON ---- */

static void figure_json(struct js *j, const char *key, const struct cvl_figure *f,
			unsigned permille)
{
	js_open(j, key, '{');
	js_ints(j, "ns low_ns high_ns", f->value, f->low, f->high);
	if (permille)
		js_int(j, "permille", permille);
	js_close(j, '}');
}

void durations_json(struct js *j, const struct cvl_durations *d)
{
	const struct cvl_bins *b = &d->bins;

	js_counts(j, "times not_counted", d->n, d->broken);
	if (d->n) {
		js_counts(j, "histogram_shorter histogram_longer", b->shorter, b->longer);
		figure_json(j, "best", &d->best, 0);
		figure_json(j, "mean", &d->mean, 0);
		figure_json(j, "worst", &d->worst, 0);
	}
	js_open(j, "percentiles", '[');
	for (unsigned i = 0; d->n && i < CVL_PERCENTILES; i++)
		figure_json(j, NULL, &d->percentile[i], d->permille[i]);
	js_close(j, ']');
	js_open(j, "histogram", '[');
	for (size_t i = 0; d->n && i < b->n; i++) {
		js_open(j, NULL, '{');
		js_ints(j, "from_ns times", b->first + b->width * (int64_t)i, (int64_t)b->count[i]);
		js_close(j, '}');
	}
	js_close(j, ']');
}
