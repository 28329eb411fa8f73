/* SPDX-License-Identifier: MIT */
/* Clocks over time: the figures with a panel for each clock. */
#include "report/session.h"

#include "core/order.h"
#include "report/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS_MAX 400

/* @v / @unit, to be freed. */
static double *scaled(const double *v, size_t n, double unit)
{
	double *out = malloc((n + 1) * sizeof(*out));

	for (size_t i = 0; out && i < n; i++)
		out[i] = v[i] / unit;
	return out;
}

static void draw_course(const struct svg_plot *p, const double *t, const double *v, double t_unit,
			double unit, const struct svg_style *style)
{
	double *x = scaled(t, CVL_STUDY_POINTS, t_unit), *y = scaled(v, CVL_STUDY_POINTS, unit);

	if (x && y)
		svg_line(p, x, y, CVL_STUDY_POINTS, style);
	free(x);
	free(y);
}

static void see(struct figure_span *s, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		s->lo = fmin(s->lo, v[i]);
		s->hi = fmax(s->hi, v[i]);
	}
}

/* The range of all but this share of the values at either end. */
static void see_most(struct figure_span *s, const double *v, size_t n, double share)
{
	double *sorted = malloc((n + 1) * sizeof(*sorted));
	size_t there = 0, skip;

	for (size_t i = 0; sorted && i < n; i++)
		if (isfinite(v[i]))
			sorted[there++] = v[i];
	if (!sorted)
		return;
	qsort(sorted, there, sizeof(*sorted), order_doubles);
	skip = (size_t)(share * (double)there);
	see(s, sorted + skip, there - 2 * skip);
	free(sorted);
}

static bool has_map(const struct cvl_study_clock *c)
{
	return c->sync->map != NULL;
}

/* ---- rates ---- */

static struct figure_span rate_span(const struct cvl_study_clock *c)
{
	struct figure_span v = { 0, 0 };

	see_most(&v, c->rate, CVL_STUDY_POINTS, 0.02);
	see_most(&v, c->truth, CVL_STUDY_POINTS, 0.02);
	return v;
}

static void rate_draw(const struct svg_plot *p, const struct cvl_study_clock *c, double t_unit,
		      double unit)
{
	draw_course(p, c->t, c->truth, t_unit, unit,
		    &(struct svg_style){ .colour = "#cccccc", .width = 3.2 });
	draw_course(p, c->t, c->rate, t_unit, unit,
		    &(struct svg_style){ .colour = FIGURE_BLUE, .width = 1.1 });
}

static void rate_remark(const struct cvl_study_clock *c, char text[120])
{
	snprintf(text, 120, "median %s%.3f ppm", c->usual_rate < 0 ? "\xe2\x88\x92" : "+",
		 fabs(c->usual_rate));
}

static const struct figure_panels rate_course = {
	.label = "rate against its median (ppm)",
	.least = 0.002,
	.shows = has_map,
	.span = rate_span,
	.draw = rate_draw,
	.remark = rate_remark,
};

static void rate_caption(struct cvl_out *o, const struct cvl_study *s)
{
	cvl_out_printf(
		o,
		"Rate of each clock by its map, means over %d stretches; positive: faster than "
		"usual. Each scale covers 96 %% of a clock's values; the rest is drawn along its edge.",
		CVL_STUDY_POINTS);
	if (s->truth)
		cvl_out_text(
			o,
			" Grey: its true rate, against the median of that; a sender whose time is the timeline "
			"wanders too.");
}

const struct figure figure_rate = {
	.name = "rate",
	.title = "Rates",
	.panels = &rate_course,
	.caption = rate_caption,
};

/* ---- bounds ---- */

static struct figure_span bound_span(const struct cvl_study_clock *c)
{
	struct figure_span v = { 0, 0 };

	see(&v, c->bound, CVL_STUDY_POINTS);
	v.hi *= 1.05;
	return v;
}

static void bound_draw(const struct svg_plot *p, const struct cvl_study_clock *c, double t_unit,
		       double unit)
{
	draw_course(p, c->t, c->bound, t_unit, unit,
		    &(struct svg_style){ .colour = FIGURE_BLUE, .width = 1.2 });
}

static void bound_remark(const struct cvl_study_clock *c, char text[120])
{
	struct figure_span v = { INFINITY, 0 };
	char lo[40], hi[40];

	see(&v, c->bound, CVL_STUDY_POINTS);
	if (v.lo > v.hi)
		strcpy(text, "unknown");
	else
		snprintf(text, 120, "%s to %s", figure_ns_text(lo, v.lo), figure_ns_text(hi, v.hi));
}

static const struct figure_panels bound_course = {
	.label = "bound, half-width",
	.has_unit = true,
	.least = 0,
	.shows = has_map,
	.span = bound_span,
	.draw = bound_draw,
	.remark = bound_remark,
};

static void bound_caption(struct cvl_out *o, const struct cvl_study *s)
{
	(void)s;
	cvl_out_printf(
		o,
		"Bound of each clock's map, %d points; the resolution of a capture comes on top.",
		CVL_STUDY_POINTS);
}

const struct figure figure_bound = {
	.name = "bound",
	.title = "Bounds",
	.panels = &bound_course,
	.caption = bound_caption,
};

/* ---- residuals ---- */

static bool has_marks(const struct cvl_study_clock *c)
{
	return c->n_marks > 0 && c->sync->map;
}

/* Outliers must not hide all other marks. */
static struct figure_span residual_span(const struct cvl_study_clock *c)
{
	struct figure_span s = { 0, 0 };

	see_most(&s, c->residual, c->n_marks, 0.005);
	return s;
}

struct binned {
	size_t n;
	double x[BINS_MAX], lo[BINS_MAX], hi[BINS_MAX], median[BINS_MAX];
};

/* Put marks, in time order, into bins of two pixels. */
static bool bin_marks(struct binned *b, const struct svg_plot *p, const struct cvl_study_clock *c,
		      double t_unit, double unit)
{
	double step, *v = malloc((c->n_marks + 1) * sizeof(*v));
	size_t k = 0;

	if (!v)
		return false;
	b->n = (size_t)fmin(p->width / 2, BINS_MAX);
	step = (p->x.hi - p->x.lo) / (double)b->n;
	for (size_t i = 0; i < b->n; i++) {
		double end = p->x.lo + (double)(i + 1) * step;
		size_t n = 0;

		for (; k < c->n_marks && (c->mark_t[k] / t_unit < end || i + 1 == b->n); k++)
			v[n++] = c->residual[k] / unit;
		b->x[i] = end - step / 2;
		b->lo[i] = b->hi[i] = b->median[i] = (double)NAN;
		if (!n)
			continue;
		qsort(v, n, sizeof(*v), order_doubles);
		b->lo[i] = v[0];
		b->hi[i] = v[n - 1];
		b->median[i] = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	}
	free(v);
	return true;
}

static bool crowded(const struct svg_plot *p, const struct cvl_study_clock *c)
{
	return (double)c->n_marks > 2 * p->width;
}

static void residual_draw(const struct svg_plot *p, const struct cvl_study_clock *c, double t_unit,
			  double unit)
{
	struct binned b;

	if (!crowded(p, c)) {
		double *x = scaled(c->mark_t, c->n_marks, t_unit),
		       *y = scaled(c->residual, c->n_marks, unit);

		if (x && y)
			svg_dots(p, x, y, c->n_marks, 1.1,
				 &(struct svg_style){ .colour = FIGURE_BLUE, .opacity = 0.7 });
		free(x);
		free(y);
	} else if (bin_marks(&b, p, c, t_unit, unit)) {
		svg_band(p, b.x, b.lo, b.hi, b.n, &(struct svg_style){ .colour = "#a9cfe8" });
		svg_line(p, b.x, b.median, b.n,
			 &(struct svg_style){ .colour = FIGURE_BLUE, .width = 1 });
	}
}

static void residual_remark(const struct cvl_study_clock *c, char text[120])
{
	char n[40], sd[40];

	snprintf(text, 120, "%s marks, sd %s", figure_count_text(n, c->n_marks),
		 figure_ns_text(sd, panels_spread(c)));
}

static const struct figure_panels residual_course = {
	.label = "residual",
	.has_unit = true,
	.least = 2,
	.shows = has_marks,
	.span = residual_span,
	.draw = residual_draw,
	.remark = residual_remark,
};

static void residual_caption(struct cvl_out *o, const struct cvl_study *s)
{
	figure_count(o, s->n_residuals);
	cvl_out_text(
		o,
		" residuals. Dots, or where they exceed the pixels their range with the median as "
		"a line. Each scale covers 99 % of a clock's values; the rest is drawn at its edge.");
}

const struct figure figure_residuals = {
	.name = "residuals",
	.title = "Residuals over time",
	.panels = &residual_course,
	.caption = residual_caption,
};
