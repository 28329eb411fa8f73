/* SPDX-License-Identifier: MIT */
/* What clocks looked like over time: the figures with a panel for each. */
#include "report/courses.h"

#include "report/panels.h"

#include <math.h>
#include <stdlib.h>

#define BINS_MAX 400

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

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
	double *x = scaled(t, STUDY_POINTS, t_unit), *y = scaled(v, STUDY_POINTS, unit);

	if (x && y)
		svg_line(p, x, y, STUDY_POINTS, style);
	free(x);
	free(y);
}

static void see(struct span *s, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		s->lo = fmin(s->lo, v[i]);
		s->hi = fmax(s->hi, v[i]);
	}
}

/* All but this share of the outermost at either side. */
static void see_most(struct span *s, const double *v, size_t n, double share)
{
	double *sorted = malloc((n + 1) * sizeof(*sorted));
	size_t there = 0, skip;

	for (size_t i = 0; sorted && i < n; i++)
		if (isfinite(v[i]))
			sorted[there++] = v[i];
	if (!sorted)
		return;
	qsort(sorted, there, sizeof(*sorted), by_value);
	skip = (size_t)(share * (double)there);
	see(s, sorted + skip, there - 2 * skip);
	free(sorted);
}

static bool has_map(const struct study_clock *c)
{
	return c->sync->map != NULL;
}

static bool any(const struct study *s, bool (*shows)(const struct study_clock *c))
{
	for (size_t i = 0; i < s->n_clocks && s->length_s > 0; i++)
		if (shows(&s->clock[i]))
			return true;
	return false;
}

/* ---- rates ---- */

static struct span rate_span(const struct study_clock *c)
{
	struct span v = { 0, 0 };

	see_most(&v, c->rate, STUDY_POINTS, 0.02);
	see_most(&v, c->truth, STUDY_POINTS, 0.02);
	return v;
}

static void rate_draw(const struct svg_plot *p, const struct study_clock *c, double t_unit,
		      double unit)
{
	draw_course(p, c->t, c->truth, t_unit, unit,
		    &(struct svg_style){ .colour = "#cccccc", .width = 3.2 });
	draw_course(p, c->t, c->rate, t_unit, unit,
		    &(struct svg_style){ .colour = FIGURE_BLUE, .width = 1.1 });
}

static void rate_remark(const struct study_clock *c, FILE *f)
{
	fprintf(f, "median %s%.3f ppm", c->usual_rate < 0 ? "\xe2\x88\x92" : "+",
		fabs(c->usual_rate));
}

static const struct panels rate_course = {
	.label = "rate against its median (ppm)",
	.least = 0.002,
	.shows = has_map,
	.span = rate_span,
	.draw = rate_draw,
	.remark = rate_remark,
};

static bool rate_fits(const struct study *s)
{
	return any(s, has_map);
}

static void rate_figure(const struct study *s, const char *title, FILE *f)
{
	panels_draw(s, &rate_course, title, f);
}

static void rate_caption(const struct study *s, FILE *f)
{
	fprintf(f,
		"Rate of each clock by its map, means over %d stretches; positive: it runs faster than "
		"usual. Each scale holds 96 %% of a clock's; what is beyond runs along its edge.",
		STUDY_POINTS);
	if (s->truth)
		fputs(" Grey: its true rate, against the median of that; a sender whose time is the timeline "
		      "wanders too.",
		      f);
	panels_say(s, &rate_course, f);
}

const struct figure figure_rate = {
	.name = "rate",
	.title = "Rates",
	.fits = rate_fits,
	.draw = rate_figure,
	.caption = rate_caption,
};

/* ---- bounds ---- */

static struct span bound_span(const struct study_clock *c)
{
	struct span v = { 0, 0 };

	see(&v, c->bound, STUDY_POINTS);
	v.hi *= 1.05;
	return v;
}

static void bound_draw(const struct svg_plot *p, const struct study_clock *c, double t_unit,
		       double unit)
{
	draw_course(p, c->t, c->bound, t_unit, unit,
		    &(struct svg_style){ .colour = FIGURE_BLUE, .width = 1.2 });
}

static void bound_remark(const struct study_clock *c, FILE *f)
{
	struct span v = { INFINITY, 0 };

	see(&v, c->bound, STUDY_POINTS);
	if (v.lo > v.hi) {
		fputs("unknown", f);
		return;
	}
	figure_ns(f, v.lo);
	fputs(" to ", f);
	figure_ns(f, v.hi);
}

static const struct panels bound_course = {
	.label = "bound, half-width",
	.has_unit = true,
	.least = 0,
	.shows = has_map,
	.span = bound_span,
	.draw = bound_draw,
	.remark = bound_remark,
};

static void bound_figure(const struct study *s, const char *title, FILE *f)
{
	panels_draw(s, &bound_course, title, f);
}

static void bound_caption(const struct study *s, FILE *f)
{
	fprintf(f,
		"Bound of each clock's map, %d points; what a capture cannot resolve comes on top.",
		STUDY_POINTS);
	panels_say(s, &bound_course, f);
}

const struct figure figure_bound = {
	.name = "bound",
	.title = "Bounds",
	.fits = rate_fits,
	.draw = bound_figure,
	.caption = bound_caption,
};

/* ---- residuals ---- */

static bool has_marks(const struct study_clock *c)
{
	return c->n_marks > 0 && c->sync->map;
}

/* One mark that was heard wrong hides all others. */
static struct span residual_span(const struct study_clock *c)
{
	struct span s = { 0, 0 };

	see_most(&s, c->residual, c->n_marks, 0.005);
	return s;
}

struct binned {
	size_t n;
	double x[BINS_MAX], lo[BINS_MAX], hi[BINS_MAX], median[BINS_MAX];
};

/* Marks in the order of time into bins of two pixels. */
static bool bin_marks(struct binned *b, const struct svg_plot *p, const struct study_clock *c,
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
		qsort(v, n, sizeof(*v), by_value);
		b->lo[i] = v[0];
		b->hi[i] = v[n - 1];
		b->median[i] = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	}
	free(v);
	return true;
}

static bool crowded(const struct svg_plot *p, const struct study_clock *c)
{
	return (double)c->n_marks > 2 * p->width;
}

static void residual_draw(const struct svg_plot *p, const struct study_clock *c, double t_unit,
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

static void residual_remark(const struct study_clock *c, FILE *f)
{
	figure_count(f, c->n_marks);
	fputs(" marks, sd ", f);
	figure_ns(f, panels_spread(c));
}

static const struct panels residual_course = {
	.label = "residual",
	.has_unit = true,
	.least = 2,
	.shows = has_marks,
	.span = residual_span,
	.draw = residual_draw,
	.remark = residual_remark,
};

static bool residual_fits(const struct study *s)
{
	return any(s, has_marks);
}

static void residual_figure(const struct study *s, const char *title, FILE *f)
{
	panels_draw(s, &residual_course, title, f);
}

static void residual_caption(const struct study *s, FILE *f)
{
	figure_count(f, s->n_residuals);
	fputs(" residuals. Dots, or where there are more than pixels the range of them with their median as "
	      "a line. Each scale holds 99 % of a clock's; what is beyond lies at its edge.",
	      f);
	panels_say(s, &residual_course, f);
}

const struct figure figure_residuals = {
	.name = "residuals",
	.title = "Residuals over time",
	.fits = residual_fits,
	.draw = residual_figure,
	.caption = residual_caption,
};
