/* SPDX-License-Identifier: MIT */
#include "report/figures.h"

#include "report/courses.h"
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH FIGURE_WIDTH

/* Okabe, Ito: Color Universal Design, 2008; without its yellow, which is no colour for lines on white. */
#define BLUE FIGURE_BLUE
#define VERMILLION FIGURE_VERMILLION

static const char *const palette[] = {
	BLUE, VERMILLION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
};
#define PALETTE (sizeof(palette) / sizeof(*palette))

/* ---- numbers ---- */

struct figure_unit figure_unit(double ns)
{
	ns = fabs(ns);
	if (ns < 2e3)
		return (struct figure_unit){ 1, "ns" };
	if (ns < 2e6)
		return (struct figure_unit){ 1e3, "\xc2\xb5s" };
	if (ns < 2e9)
		return (struct figure_unit){ 1e6, "ms" };
	return (struct figure_unit){ 1e9, "s" };
}

void figure_ns(FILE *f, double ns)
{
	struct figure_unit u = figure_unit(ns / 0.5);
	double v = ns / u.ns;

	if (!isfinite(ns) || ns < 0)
		fputs("\xe2\x80\x93", f);
	else
		fprintf(f,
			(v >= 100 && v < 1e6) || (u.ns == 1 && v == floor(v)) ? "%.0f %s" :
										"%#.3g %s",
			v, u.name);
}

void figure_count(FILE *f, unsigned long long n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			fputc(',', f);
		fputc(digits[i], f);
	}
}

static const struct study_result *main_result(const struct study *s)
{
	return &s->result[s->main];
}

/* ---- histograms ---- */

#define BINS 64

struct histogram {
	double first, step; /* ns */
	size_t n, bins;
	double share[BINS + 2]; /* % */
	size_t outside;
};

/* @v by size. All but 0.2 % of the values, unless that presses most of them into a few bins. */
static double usual_reach(const double *v, size_t n)
{
	return n ? fmin(fabs(v[(size_t)(0.998 * (double)(n - 1))]), 8 * fabs(v[n / 2])) : 0;
}

/* Bins of a nice width to both sides of 0. */
static void count(struct histogram *h, const double *v, size_t n, double reach)
{
	double limit = fmax(fmax(usual_reach(v, n), reach), 1);

	*h = (struct histogram){ .n = n };
	h->step = svg_nice_step(2 * limit, BINS * 2 / 3);
	h->bins = 2 * (size_t)ceil(limit / h->step + 1e-9);
	if (h->bins > BINS)
		h->bins = BINS;
	h->first = -(double)h->bins / 2 * h->step;
	for (size_t i = 0; i < n; i++) {
		double at = floor((v[i] - h->first) / h->step);

		if (at >= 0 && at < (double)h->bins)
			h->share[(size_t)at] += 100.0 / (double)n;
		else
			h->outside++;
	}
}

/* The bound is drawn when that does not press the bars into a few either. */
static double bound_reach(const struct study *s)
{
	const struct cvl_score *score = &main_result(s)->score;
	double bound = (double)score->median_bound;

	return bound < 4 * usual_reach(s->error, score->n) ? bound * 1.08 : 0;
}

static void draw_bound(const struct study *s, const struct svg_plot *p, double unit)
{
	const struct svg_style line = { .colour = VERMILLION, .width = 1.2, .dash = "5 3" };
	double bound = (double)main_result(s)->score.median_bound, x = svg_x(p, bound / unit);
	bool left = x > p->left + 0.75 * p->width;
	char *text = NULL;
	size_t n;
	FILE *m;

	if (bound / unit > p->x.hi)
		return;
	svg_upright(p, bound / unit, &line);
	svg_upright(p, -bound / unit, &line);
	m = open_memstream(&text, &n);
	if (m) {
		fputs("median bound \xc2\xb1", m);
		figure_ns(m, bound);
		fclose(m);
		svg_text(p->f,
			 &(struct svg_words){ .x = x + (left ? -5 : 5),
					      .y = p->top - 6,
					      .anchor = left ? SVG_END : SVG_START,
					      .colour = VERMILLION },
			 text);
	}
	free(text);
}

static void draw_histogram(const struct study *s, const char *title, const char *what,
			   const double *v, size_t n, bool with_bound, FILE *f)
{
	const struct svg_style bars = { .colour = BLUE };
	struct svg_plot p = { .f = f, .left = 66, .top = 24, .width = WIDTH - 86, .height = 190 };
	struct histogram h;
	struct figure_unit u;
	char label[80];

	count(&h, v, n, with_bound ? bound_reach(s) : 0);
	u = figure_unit(-h.first);
	snprintf(label, sizeof(label), "%s (%s)", what, u.name);
	p.x = (struct svg_axis){
		.lo = h.first / u.ns, .hi = -h.first / u.ns, .ticks = 10, .label = label
	};
	p.y = svg_axis_empty("share (%)");
	svg_axis_see(&p.y, 0);
	for (size_t i = 0; i < h.bins; i++)
		svg_axis_see(&p.y, h.share[i] * 1.05);
	svg_axis_settle(&p.y, 0);
	svg_begin(f, WIDTH, 260, title);
	svg_bars(&p, h.first / u.ns, h.step / u.ns, h.share, h.bins, &bars);
	svg_axes(&p);
	if (with_bound)
		draw_bound(s, &p, u.ns);
	svg_end(f);
}

static void say_outside(const double *v, size_t n, double reach, FILE *f)
{
	struct histogram h;

	count(&h, v, n, reach);
	fputs(" Bins of ", f);
	figure_ns(f, h.step);
	if (h.outside) {
		fputs("; ", f);
		figure_count(f, h.outside);
		fprintf(f, " value%s beyond the axis", h.outside == 1 ? " lies" : "s lie");
	}
	fputs(".", f);
}

static bool has_residuals(const struct study *s)
{
	return s->n_residuals > 0;
}

static void residual_histogram(const struct study *s, const char *title, FILE *f)
{
	draw_histogram(s, title, "residual", s->residual, s->n_residuals, false, f);
}

static void residual_histogram_caption(const struct study *s, FILE *f)
{
	fputs("Residuals of ", f);
	figure_count(f, s->n_residuals);
	fprintf(f, " marks that %zu clocks heard, about the maps of %s.", s->n_clocks,
		main_result(s)->info->name);
	say_outside(s->residual, s->n_residuals, 0, f);
}

static bool has_score(const struct study *s)
{
	return main_result(s)->score.n > 0;
}

static void error_histogram(const struct study *s, const char *title, FILE *f)
{
	draw_histogram(s, title, "error of the difference of two clocks", s->error,
		       main_result(s)->score.n, true, f);
}

static void error_histogram_caption(const struct study *s, FILE *f)
{
	const struct cvl_score *score = &main_result(s)->score;

	fputs("Errors of ", f);
	figure_count(f, score->n);
	fprintf(f,
		" differences between two clocks by the maps of %s; median bound of a pair \xc2\xb1",
		main_result(s)->info->name);
	figure_ns(f, (double)score->median_bound);
	fputs(bound_reach(s) > 0 ? " (dashed)." : " (beyond the axis).", f);
	say_outside(s->error, score->n, bound_reach(s), f);
}

/* ---- estimators beside each other ---- */

static size_t scored(const struct study *s, const struct study_result *list[STUDY_ESTIMATORS])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->result[i].score.n)
			list[n++] = &s->result[i];
	return n;
}

static int by_median(const void *pa, const void *pb)
{
	const struct study_result *const *a = pa, *const *b = pb;
	double x = (*a)->quantile[STUDY_QUANTILES / 2], y = (*b)->quantile[STUDY_QUANTILES / 2];

	return x < y ? -1 : x > y;
}

/* Every line has its name at the right, at a height of its own, and a leader from where it passes that height. */
static void draw_name(const struct svg_plot *p, const struct study_result *r, bool main,
		      double level, const double x[STUDY_QUANTILES])
{
	const char *colour = palette[r->index % PALETTE];
	size_t k = (size_t)(level * (STUDY_QUANTILES - 1));
	double y = (double)k / (STUDY_QUANTILES - 1), right = p->left + p->width;

	svg_rule(p->f, svg_x(p, x[k]), svg_y(p, y), right + 6, svg_y(p, y),
		 &(struct svg_style){ .colour = colour, .width = 0.6, .dash = "1 2.5" });
	svg_dots(p, &x[k], &y, 1, 2.6, &(struct svg_style){ .colour = colour });
	svg_text(p->f,
		 &(struct svg_words){
			 .x = right + 9, .y = svg_y(p, y) + 4, .colour = colour, .bold = main },
		 r->info->name);
}

static void cdf(const struct study *s, const char *title, FILE *f)
{
	const struct study_result *list[STUDY_ESTIMATORS];
	struct svg_plot p = { .f = f, .left = 66, .top = 14, .width = WIDTH - 170, .height = 280 };
	double y[STUDY_QUANTILES], x[STUDY_QUANTILES];
	size_t n = scored(s, list);
	struct figure_unit u = figure_unit(main_result(s)->quantile[STUDY_QUANTILES / 2]);
	char label[80];

	qsort(list, n, sizeof(*list), by_median);
	snprintf(label, sizeof(label), "|error of the difference of two clocks| (%s)", u.name);
	p.x = svg_axis_empty(label);
	p.x.log = true;
	for (size_t i = 0; i < n; i++) {
		svg_axis_see(&p.x, fmax(list[i]->quantile[2], 0.5) / u.ns);
		svg_axis_see(&p.x, list[i]->quantile[STUDY_QUANTILES - 1] / u.ns);
	}
	svg_axis_settle(&p.x, 0.01);
	p.y = (struct svg_axis){ .lo = 0, .hi = 1, .label = "share of differences" };
	for (size_t k = 0; k < STUDY_QUANTILES; k++)
		y[k] = (double)k / (STUDY_QUANTILES - 1);
	svg_begin(f, WIDTH, 340, title);
	svg_axes(&p);
	for (size_t i = 0; i < n; i++) {
		bool main = list[i] == main_result(s);

		for (size_t k = 0; k < STUDY_QUANTILES; k++)
			x[k] = fmax(list[i]->quantile[k] / u.ns, p.x.lo);
		svg_line(&p, x, y, STUDY_QUANTILES,
			 &(struct svg_style){
				 .colour = palette[list[i]->index % PALETTE],
				 .width = main ? 2.4 : 1.3,
				 .dash = list[i]->index >= PALETTE ? "5 2.5" : NULL,
			 });
		draw_name(&p, list[i], main, 0.92 - 0.84 * (double)i / (double)(n > 6 ? n - 1 : 6),
			  x);
	}
	svg_end(f);
}

static void cdf_caption(const struct study *s, FILE *f)
{
	const struct study_result *list[STUDY_ESTIMATORS];
	size_t n = scored(s, list);

	fprintf(f, "Cumulative distribution of the absolute error of pairs, ");
	figure_count(f, main_result(s)->score.n);
	fprintf(f, " differences for each of %zu estimators. Bold: %s, the one looked at below.", n,
		main_result(s)->info->name);
}

/* ---- all of them ---- */

static const struct figure residual_histogram_figure = {
	.name = "residual-histogram",
	.title = "Residuals",
	.fits = has_residuals,
	.draw = residual_histogram,
	.caption = residual_histogram_caption,
};

static const struct figure error_histogram_figure = {
	.name = "error-histogram",
	.title = "Errors against the truth",
	.fits = has_score,
	.draw = error_histogram,
	.caption = error_histogram_caption,
};

static const struct figure cdf_figure = {
	.name = "error-cdf",
	.title = "Estimators compared",
	.fits = has_score,
	.draw = cdf,
	.caption = cdf_caption,
};

const struct figure *const figures[] = {
	&cdf_figure,
	&residual_histogram_figure,
	&error_histogram_figure,
	&figure_rate,
	&figure_bound,
	&figure_residuals,
	NULL,
};
