/* SPDX-License-Identifier: MIT */
/* Distributions of residuals and errors, and estimators side by side. */
#include "report/session.h"

#include "report/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH FIGURE_WIDTH

/*
 * Okabe, Ito: Color Universal Design, 2008; without its yellow, unsuitable for lines on white.
 */
#define BLUE FIGURE_BLUE
#define VERMILLION FIGURE_VERMILLION

static const char *const palette[] = {
	BLUE, VERMILLION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
};
#define PALETTE (sizeof(palette) / sizeof(*palette))

/* ---- histograms ---- */

#define BINS 64

struct histogram {
	double first, step; /* ns */
	size_t n, bins;
	double share[BINS + 2]; /* % */
	size_t outside;
};

/* @v by size. All but 0.2 % of the values, unless that squeezes most of them into a few bins. */
static double usual_reach(const double *v, size_t n)
{
	return n ? fmin(fabs(v[(size_t)(0.998 * (double)(n - 1))]), 8 * fabs(v[n / 2])) : 0;
}

/* Bins of a round width on both sides of 0. */
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

/* The bound is drawn if that does not squeeze the bars, either. */
static double bound_reach(const struct cvl_study *s)
{
	const struct cvl_score *score = &study_main(s)->score;
	double bound = (double)score->median_bound;

	return bound < 4 * usual_reach(s->error, score->n) ? bound * 1.08 : 0;
}

static void draw_bound(const struct cvl_study *s, const struct svg_plot *p, double unit)
{
	const struct svg_style line = { .colour = VERMILLION, .width = 1.2, .dash = "5 3" };
	double bound = (double)study_main(s)->score.median_bound, x = svg_x(p, bound / unit);
	bool left = x > p->left + 0.75 * p->width;
	char ns[40], text[80];

	if (bound / unit > p->x.hi)
		return;
	svg_upright(p, bound / unit, &line);
	svg_upright(p, -bound / unit, &line);
	snprintf(text, sizeof(text), "median bound \xc2\xb1%s", figure_ns_text(ns, bound));
	svg_text(p->o,
		 &(struct svg_words){ .x = x + (left ? -5 : 5),
				      .y = p->top - 6,
				      .anchor = left ? SVG_END : SVG_START,
				      .colour = VERMILLION },
		 text);
}

static void draw_histogram(struct cvl_out *o, const struct cvl_study *s, const char *title,
			   const char *what, const double *v, size_t n, bool with_bound)
{
	const struct svg_style bars = { .colour = BLUE };
	struct svg_plot p = { .o = o, .left = 66, .top = 24, .width = WIDTH - 86, .height = 190 };
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
	svg_begin(o, WIDTH, 260, title);
	svg_bars(&p, h.first / u.ns, h.step / u.ns, h.share, h.bins, &bars);
	svg_axes(&p);
	if (with_bound)
		draw_bound(s, &p, u.ns);
	svg_end(o);
}

static void say_outside(struct cvl_out *o, const double *v, size_t n, double reach)
{
	struct histogram h;

	count(&h, v, n, reach);
	cvl_out_text(o, " Bins of ");
	figure_ns(o, h.step);
	if (h.outside) {
		cvl_out_text(o, "; ");
		figure_count(o, h.outside);
		cvl_out_printf(o, " value%s beyond the axis", h.outside == 1 ? " lies" : "s lie");
	}
	cvl_out_text(o, ".");
}

static bool has_residuals(const struct cvl_study *s)
{
	return s->n_residuals > 0;
}

static void residual_histogram(struct cvl_out *o, const struct cvl_study *s, const char *title)
{
	draw_histogram(o, s, title, "residual", s->residual, s->n_residuals, false);
}

static void residual_histogram_caption(struct cvl_out *o, const struct cvl_study *s)
{
	cvl_out_text(o, "Residuals of ");
	figure_count(o, s->n_residuals);
	cvl_out_printf(o, " marks that %zu clocks heard, about the maps of %s.", s->n_clocks,
		       study_main(s)->info->name);
	say_outside(o, s->residual, s->n_residuals, 0);
}

static bool has_score(const struct cvl_study *s)
{
	return study_main(s)->score.n > 0;
}

static void error_histogram(struct cvl_out *o, const struct cvl_study *s, const char *title)
{
	draw_histogram(o, s, title, "error of the difference of two clocks", s->error,
		       study_main(s)->score.n, true);
}

static void error_histogram_caption(struct cvl_out *o, const struct cvl_study *s)
{
	const struct cvl_score *score = &study_main(s)->score;

	cvl_out_text(o, "Errors of ");
	figure_count(o, score->n);
	cvl_out_printf(
		o,
		" differences between two clocks by the maps of %s; median bound of a pair \xc2\xb1",
		study_main(s)->info->name);
	figure_ns(o, (double)score->median_bound);
	cvl_out_text(o, bound_reach(s) > 0 ? " (dashed)." : " (beyond the axis).");
	say_outside(o, s->error, score->n, bound_reach(s));
}

/* ---- estimators side by side ---- */

static size_t scored(const struct cvl_study *s,
		     const struct cvl_study_result *list[CVL_STUDY_ESTIMATORS])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->result[i].score.n)
			list[n++] = &s->result[i];
	return n;
}

static int by_median(const void *pa, const void *pb)
{
	const struct cvl_study_result *const *a = pa, *const *b = pb;
	double x = (*a)->quantile[CVL_STUDY_QUANTILES / 2],
	       y = (*b)->quantile[CVL_STUDY_QUANTILES / 2];

	return x < y ? -1 : x > y;
}

/*
 * Every line has its name at the right, at its own height, with a leader from the point where it
 * passes that height.
 */
static void draw_name(const struct svg_plot *p, const struct cvl_study_result *r, bool main,
		      double level, const double x[CVL_STUDY_QUANTILES])
{
	const char *colour = palette[r->index % PALETTE];
	size_t k = (size_t)(level * (CVL_STUDY_QUANTILES - 1));
	double y = (double)k / (CVL_STUDY_QUANTILES - 1), right = p->left + p->width;

	svg_rule(p->o, svg_x(p, x[k]), svg_y(p, y), right + 6, svg_y(p, y),
		 &(struct svg_style){ .colour = colour, .width = 0.6, .dash = "1 2.5" });
	svg_dots(p, &x[k], &y, 1, 2.6, &(struct svg_style){ .colour = colour });
	svg_text(p->o,
		 &(struct svg_words){
			 .x = right + 9, .y = svg_y(p, y) + 4, .colour = colour, .bold = main },
		 r->info->name);
}

static void cdf(struct cvl_out *o, const struct cvl_study *s, const char *title)
{
	const struct cvl_study_result *list[CVL_STUDY_ESTIMATORS];
	struct svg_plot p = { .o = o, .left = 66, .top = 14, .width = WIDTH - 170, .height = 280 };
	double y[CVL_STUDY_QUANTILES], x[CVL_STUDY_QUANTILES];
	size_t n = scored(s, list);
	struct figure_unit u = figure_unit(study_main(s)->quantile[CVL_STUDY_QUANTILES / 2]);
	char label[80];

	qsort(list, n, sizeof(*list), by_median);
	snprintf(label, sizeof(label), "|error of the difference of two clocks| (%s)", u.name);
	p.x = svg_axis_empty(label);
	p.x.log = true;
	for (size_t i = 0; i < n; i++) {
		svg_axis_see(&p.x, fmax(list[i]->quantile[2], 0.5) / u.ns);
		svg_axis_see(&p.x, list[i]->quantile[CVL_STUDY_QUANTILES - 1] / u.ns);
	}
	svg_axis_settle(&p.x, 0.01);
	p.y = (struct svg_axis){ .lo = 0, .hi = 1, .label = "share of differences" };
	for (size_t k = 0; k < CVL_STUDY_QUANTILES; k++)
		y[k] = (double)k / (CVL_STUDY_QUANTILES - 1);
	svg_begin(o, WIDTH, 340, title);
	svg_axes(&p);
	for (size_t i = 0; i < n; i++) {
		bool main = list[i] == study_main(s);

		for (size_t k = 0; k < CVL_STUDY_QUANTILES; k++)
			x[k] = fmax(list[i]->quantile[k] / u.ns, p.x.lo);
		svg_line(&p, x, y, CVL_STUDY_QUANTILES,
			 &(struct svg_style){
				 .colour = palette[list[i]->index % PALETTE],
				 .width = main ? 2.4 : 1.3,
				 .dash = list[i]->index >= PALETTE ? "5 2.5" : NULL,
			 });
		draw_name(&p, list[i], main, 0.92 - 0.84 * (double)i / (double)(n > 6 ? n - 1 : 6),
			  x);
	}
	svg_end(o);
}

static void cdf_caption(struct cvl_out *o, const struct cvl_study *s)
{
	const struct cvl_study_result *list[CVL_STUDY_ESTIMATORS];
	size_t n = scored(s, list);

	cvl_out_printf(o, "Cumulative distribution of the absolute error of pairs, ");
	figure_count(o, study_main(s)->score.n);
	cvl_out_printf(o,
		       " differences for each of %zu estimators. Bold: %s, the one examined below.",
		       n, study_main(s)->info->name);
}

/* ---- the figures ---- */

const struct figure figure_cdf = {
	.name = "error-cdf",
	.title = "Estimators compared",
	.fits = has_score,
	.draw = cdf,
	.caption = cdf_caption,
};

const struct figure figure_residual_histogram = {
	.name = "residual-histogram",
	.title = "Residuals",
	.fits = has_residuals,
	.draw = residual_histogram,
	.caption = residual_histogram_caption,
};

const struct figure figure_error_histogram = {
	.name = "error-histogram",
	.title = "Errors against the truth",
	.fits = has_score,
	.draw = error_histogram,
	.caption = error_histogram_caption,
};
