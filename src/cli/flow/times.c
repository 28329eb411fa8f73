/* SPDX-License-Identifier: MIT */
#include "flow/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "report/figures.h"
#include "report/svg.h"

#define PLOT_HEIGHT 150.0
#define LEFT 64.0
#define LEFT_OUT 100 /* at most one in so many, at each end */
#define CROWDED 4    /* if the others are in one in so many bins, or fewer */

/* ---- as text ---- */

static void put_figure(struct table *t, const char *name, const struct flow_figure *f)
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
	table_cell(t, "%s", what);
	table_cell(t, "%s", "");
	table_cell(t, "%llu", (unsigned long long)n);
}

static void put_bins(struct cvl_out *o, const struct flow_times *times)
{
	struct flow_bins b;
	struct table t;

	flow_bins_fill(&b, times);
	table_init(&t, 3);
	table_heads(&t, (const char *[]){ "from us", "", "times", NULL });
	put_left_out(&t, "shorter", b.shorter);
	for (size_t i = 0; i < b.n; i++) {
		int64_t from = b.first + b.width * (int64_t)i;
		int len = (int)((b.count[i] * 40 + b.most - 1) / b.most);

		table_cell(&t, "%s%lld.%03lld", from < 0 ? "-" : "",
			   (long long)(llabs(from) / 1000), (long long)(llabs(from) % 1000));
		table_cell(&t, "%.*s", len, "########################################");
		table_cell(&t, "%llu", (unsigned long long)b.count[i]);
	}
	put_left_out(&t, "longer", b.longer);
	table_print(&t, o, "rlr", "  ");
}

int flow_times_text(struct cvl_out *o, const struct flow_times *times)
{
	struct flow_sum sum;
	struct table t;

	if (!times->n)
		return 0;
	if (flow_times_sum(times, &sum))
		return CVL_E_NOMEM;
	table_init(&t, 3);
	put_figure(&t, "best", &sum.best);
	put_figure(&t, "mean", &sum.mean);
	for (unsigned i = 0; i < FLOW_PERCENTILES; i++) {
		char name[16];

		percentile_name(flow_permille[i], name);
		put_figure(&t, name, &sum.percentile[i]);
	}
	put_figure(&t, "worst", &sum.worst);
	table_print(&t, o, "lrr", "  ");
	cvl_out_char(o, '\n');
	put_bins(o, times);
	return 0;
}

/* ---- as JSON ---- */

static json_t *figure_json(const struct flow_figure *f)
{
	return json_pack("{s:I, s:I, s:I}", "ns", (json_int_t)f->value, "low_ns",
			 (json_int_t)f->low, "high_ns", (json_int_t)f->high);
}

json_t *flow_times_json(const struct flow_times *t, const char *from, const char *to)
{
	json_t *bins = json_array(), *percentiles = json_array(), *j;
	struct flow_sum sum;
	struct flow_bins b;

	j = json_pack("{s:s, s:s, s:I, s:I}", "from", from, "to", to, "times", (json_int_t)t->n,
		      "not_counted", (json_int_t)t->broken);
	if (t->n && !flow_times_sum(t, &sum)) {
		for (unsigned i = 0; i < FLOW_PERCENTILES; i++) {
			json_t *one = figure_json(&sum.percentile[i]);

			json_object_set_new(one, "permille",
					    json_integer((json_int_t)flow_permille[i]));
			json_array_append_new(percentiles, one);
		}
		flow_bins_fill(&b, t);
		for (size_t i = 0; i < b.n; i++)
			json_array_append_new(
				bins, json_pack("{s:I, s:I}", "from_ns",
						(json_int_t)(b.first + b.width * (int64_t)i),
						"times", (json_int_t)b.count[i]));
		json_object_set_new(j, "histogram_shorter", json_integer((json_int_t)b.shorter));
		json_object_set_new(j, "histogram_longer", json_integer((json_int_t)b.longer));
		json_object_set_new(j, "best", figure_json(&sum.best));
		json_object_set_new(j, "mean", figure_json(&sum.mean));
		json_object_set_new(j, "worst", figure_json(&sum.worst));
	}
	json_object_set_new(j, "percentiles", percentiles);
	json_object_set_new(j, "histogram", bins);
	return j;
}

/* ---- as a histogram ---- */

/* Bins from @least to @most; what is outside of them is left out. */
static void fill_between(struct flow_bins *b, const struct flow_times *t, int64_t least,
			 int64_t most)
{
	*b = (struct flow_bins){ .width = 1 };
	if (most - least > FLOW_BINS_MAX / 2)
		b->width = (int64_t)svg_nice_step((double)(most - least), FLOW_BINS_MAX / 2);
	for (;; b->width *= 2) {
		b->width = b->width < 1 ? 1 : b->width;
		b->first = least - ((least % b->width) + b->width) % b->width;
		b->n = (size_t)((most - b->first) / b->width) + 1;
		if (b->n <= FLOW_BINS_MAX)
			break;
	}
	for (size_t i = 0; i < t->n; i++) {
		const int64_t at = t->ns[i] - b->first;

		if (at < 0) {
			b->shorter++;
		} else if (at / b->width >= (int64_t)b->n) {
			b->longer++;
		} else {
			uint64_t *count = &b->count[at / b->width];

			(*count)++;
			b->most = *count > b->most ? *count : b->most;
		}
	}
}

/* The least and the most of the times from *@least to *@most. There is one. */
static void tighten(const struct flow_times *t, int64_t *least, int64_t *most)
{
	int64_t lo = *most, hi = *least;

	for (size_t i = 0; i < t->n; i++)
		if (t->ns[i] >= *least && t->ns[i] <= *most) {
			lo = t->ns[i] < lo ? t->ns[i] : lo;
			hi = t->ns[i] > hi ? t->ns[i] : hi;
		}
	*least = lo;
	*most = hi;
}

void flow_bins_fill(struct flow_bins *b, const struct flow_times *t)
{
	const uint64_t few = t->n / LEFT_OUT;
	int64_t least = INT64_MIN, most = INT64_MAX;

	for (;;) {
		size_t lo = 0, hi;
		uint64_t shorter, longer;

		tighten(t, &least, &most);
		fill_between(b, t, least, most);
		hi = b->n;
		shorter = b->shorter;
		longer = b->longer;
		while (lo < hi && shorter + b->count[lo] <= few)
			shorter += b->count[lo++];
		while (hi > lo && longer + b->count[hi - 1] <= few)
			longer += b->count[--hi];
		if (b->width == 1 || (hi - lo) * CROWDED > b->n)
			return;
		least = b->first + b->width * (int64_t)lo;
		most = b->first + b->width * (int64_t)hi - 1;
	}
}

void flow_times_draw(struct cvl_out *o, const char *title, const struct flow_times *t, double top)
{
	static const struct svg_style style = { .colour = FIGURE_BLUE };
	struct svg_words head = { LEFT, top - 12, 12, SVG_START, NULL, true, 0 };
	char label[80];
	double height[FLOW_BINS_MAX];
	struct figure_unit u;
	struct flow_bins b;
	struct svg_plot p = { .o = o,
			      .left = LEFT,
			      .top = top,
			      .width = FIGURE_WIDTH - LEFT - 20,
			      .height = PLOT_HEIGHT };

	svg_text(o, &head, title);
	if (!t->n)
		return;
	flow_bins_fill(&b, t);
	u = figure_unit((double)(b.first + b.width * (int64_t)b.n));
	for (size_t i = 0; i < b.n; i++) {
		const double thin = (double)b.most * 1.05 / PLOT_HEIGHT;

		/* a single one among a million is seen, too */
		height[i] = b.count[i] && (double)b.count[i] < thin ? thin : (double)b.count[i];
	}
	snprintf(label, sizeof(label), "time, %s", u.name);
	if (b.shorter || b.longer)
		snprintf(label, sizeof(label), "time, %s (%" PRIu64 " shorter, %" PRIu64 " longer)",
			 u.name, b.shorter, b.longer);
	p.x = (struct svg_axis){ .lo = (double)b.first / u.ns,
				 .hi = (double)(b.first + b.width * (int64_t)b.n) / u.ns,
				 .label = label };
	p.y = (struct svg_axis){
		.lo = 0, .hi = (double)b.most * 1.05, .ticks = 4, .label = "times"
	};
	svg_bars(&p, p.x.lo, (double)b.width / u.ns, height, b.n, &style);
	svg_axes(&p);
}
