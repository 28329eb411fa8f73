/* SPDX-License-Identifier: MIT */
#include "cli/panels.h"

#include "cli/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 16.0       /* above the panels */
#define SIDE 26.0       /* left of them, for the label of all */
#define PANEL_LEFT 44.0 /* within a panel, for its numbers */
#define PANEL_TOP 24.0
#define PANEL_PLOT 84.0
#define PANEL_STRIDE 138.0
#define FOOT 34.0
#define OWN_SCALE 4.0 /* so many times the usual span is too much for the scale of the others */
#define BINS_MAX 400

struct span {
	double lo, hi;
};

/* A figure of panels: what of a clock it draws, and how. */
struct course {
	const char *label; /* %s: the unit, where it has one */
	bool has_unit;     /* values are ns */
	double least;      /* the shortest span worth an axis */
	bool (*shows)(const struct study_clock *c);
	struct span (*span)(const struct study_clock *c);
	void (*draw)(const struct svg_plot *p, const struct study_clock *c, double t_unit,
		     double unit);
	void (*remark)(const struct study_clock *c, FILE *f);
};

struct layout {
	size_t which[FIGURE_CLOCKS], n, of; /* of: clocks that could be shown */
	size_t columns, rows;
	struct span span[FIGURE_CLOCKS], shared;
	bool own[FIGURE_CLOCKS];
	bool any_own, any_degraded;
};

/* ---- which, and on what scale ---- */

struct ranked {
	size_t index;
	enum cvl_verdict verdict;
	double sd, bound;
};

static int worst_first(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	if (a->sd != b->sd)
		return a->sd > b->sd ? -1 : 1;
	if (a->bound != b->bound)
		return a->bound > b->bound ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static int by_index(const void *pa, const void *pb)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	return a < b ? -1 : a > b;
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

static double spread(const struct study_clock *c)
{
	double sum = 0, sum2 = 0, n = (double)c->n_marks;

	for (size_t i = 0; i < c->n_marks; i++) {
		sum += c->residual[i];
		sum2 += c->residual[i] * c->residual[i];
	}
	return c->n_marks ? sqrt(fmax(sum2 / n - sum / n * (sum / n), 0)) : 0;
}

static void choose_clocks(struct layout *l, const struct study *s, const struct course *course)
{
	struct ranked *r = calloc(s->n_clocks + 1, sizeof(*r));

	l->n = l->of = 0;
	for (size_t i = 0; r && i < s->n_clocks; i++) {
		const struct study_clock *c = &s->clock[i];

		if (course->shows(c))
			r[l->of++] = (struct ranked){ i, c->sync->verdict, spread(c),
						      (double)c->sync->bound_max };
	}
	if (r)
		qsort(r, l->of, sizeof(*r), worst_first);
	for (; l->n < l->of && l->n < FIGURE_CLOCKS; l->n++)
		l->which[l->n] = r[l->n].index;
	qsort(l->which, l->n, sizeof(*l->which), by_index);
	free(r);
}

static struct span widened(struct span v, double least)
{
	double more = fmax(least - (v.hi - v.lo), 0) / 2;

	return (struct span){ v.lo - more, v.hi + more };
}

static void choose_scales(struct layout *l, const struct study *s, const struct course *course)
{
	double length[FIGURE_CLOCKS];

	for (size_t i = 0; i < l->n; i++) {
		l->span[i] = widened(course->span(&s->clock[l->which[i]]), course->least);
		length[i] = l->span[i].hi - l->span[i].lo;
	}
	qsort(length, l->n, sizeof(*length), by_value);
	l->shared = (struct span){ INFINITY, -INFINITY };
	l->any_own = l->any_degraded = false;
	for (size_t i = 0; i < l->n; i++) {
		l->own[i] = l->span[i].hi - l->span[i].lo > OWN_SCALE * length[(l->n - 1) / 2];
		l->any_own = l->any_own || l->own[i];
		l->any_degraded =
			l->any_degraded || s->clock[l->which[i]].sync->verdict == CVL_DEGRADED;
		if (l->own[i])
			continue;
		l->shared.lo = fmin(l->shared.lo, l->span[i].lo);
		l->shared.hi = fmax(l->shared.hi, l->span[i].hi);
	}
}

static void lay_out(struct layout *l, const struct study *s, const struct course *course)
{
	choose_clocks(l, s, course);
	choose_scales(l, s, course);
	l->columns = l->n <= 2 ? 1 : l->n <= 4 ? 2 : l->n <= 9 ? 3 : 4;
	l->rows = (l->n + l->columns - 1) / l->columns;
}

/* ---- drawing ---- */

struct time_unit {
	double s;
	const char *label;
};

static struct time_unit time_unit(double length_s)
{
	if (length_s < 1)
		return (struct time_unit){ 1e-3, "time on the timeline since the first knot (ms)" };
	if (length_s < 300)
		return (struct time_unit){ 1, "time on the timeline since the first knot (s)" };
	if (length_s < 3 * 3600)
		return (struct time_unit){ 60, "time on the timeline since the first knot (min)" };
	return (struct time_unit){ 3600, "time on the timeline since the first knot (h)" };
}

static void put_name(const struct svg_plot *p, const struct study_clock *c, bool own,
		     size_t columns)
{
	size_t most = columns > 3 ? 20 : columns > 2 ? 30 : 50;

	svg_text(p->f,
		 &(struct svg_words){ .x = p->left, .y = p->top - 18, .bold = true, .most = most },
		 c->sync->clock);
	if (c->sync->verdict == CVL_DEGRADED || own)
		svg_text(p->f,
			 &(struct svg_words){ .x = p->left - 3,
					      .y = p->top - 18,
					      .anchor = SVG_END,
					      .colour = FIGURE_VERMILLION,
					      .bold = true },
			 c->sync->verdict != CVL_DEGRADED ? "*" :
			 own                              ? "*\xe2\x80\xa0" :
							    "\xe2\x80\xa0");
}

static void put_remark(const struct svg_plot *p, const struct course *course,
		       const struct study_clock *c)
{
	char *text = NULL;
	size_t n;
	FILE *m = open_memstream(&text, &n);

	if (!m)
		return;
	course->remark(c, m);
	fclose(m);
	svg_text(
		p->f,
		&(struct svg_words){ .x = p->left, .y = p->top - 6, .size = 9.5, .colour = "#555" },
		text);
	free(text);
}

static void draw_panels(const struct study *s, const struct course *course, const char *title,
			FILE *f)
{
	struct layout l;
	struct time_unit t = time_unit(s->length_s);
	struct figure_unit u = { 1, "" };
	double height, wide;
	char label[80];

	lay_out(&l, s, course);
	if (course->has_unit)
		u = figure_unit(fmax(fabs(l.shared.lo), fabs(l.shared.hi)));
	snprintf(label, sizeof(label), course->has_unit ? "%s (%s)" : "%s%s", course->label,
		 u.name);
	height = HEAD + (double)l.rows * PANEL_STRIDE + FOOT - 24;
	wide = (FIGURE_WIDTH - SIDE) / (double)l.columns;
	svg_begin(f, FIGURE_WIDTH, height, title);
	for (size_t i = 0; i < l.n; i++) {
		const struct study_clock *c = &s->clock[l.which[i]];
		struct span v = l.own[i] ? l.span[i] : l.shared;
		struct svg_plot p = {
			.f = f,
			.left = SIDE + wide * (double)(i % l.columns) + PANEL_LEFT,
			.top = HEAD + PANEL_STRIDE * (double)(i / l.columns) + PANEL_TOP - 10,
			.width = wide - PANEL_LEFT - 10,
			.height = PANEL_PLOT,
			.x = { .lo = 0,
			       .hi = s->length_s / t.s,
			       .ticks = l.columns > 2 ? 4 : 8,
			       .plain = i + l.columns < l.n },
			.y = { .lo = v.lo / u.ns, .hi = v.hi / u.ns, .ticks = 3 },
		};

		svg_axis_settle(&p.y, course->span(c).lo == 0 && v.lo == 0 ? 0 : 0.04);
		svg_axes(&p);
		course->draw(&p, c, t.s, u.ns);
		put_name(&p, c, l.own[i], l.columns);
		put_remark(&p, course, c);
	}
	fprintf(f, "<g transform=\"translate(14 %.1f) rotate(-90)\">", (height - FOOT) / 2);
	svg_text(f, &(struct svg_words){ .anchor = SVG_MIDDLE }, label);
	fputs("</g>\n", f);
	svg_text(
		f,
		&(struct svg_words){ .x = FIGURE_WIDTH / 2, .y = height - 6, .anchor = SVG_MIDDLE },
		t.label);
	svg_end(f);
}

/* What the signs mean, and what is not there. */
static void say_layout(const struct study *s, const struct course *course, FILE *f)
{
	struct layout l;

	lay_out(&l, s, course);
	if (l.any_own)
		fputs(" * on a scale of its own.", f);
	if (l.any_degraded)
		fputs(" \xe2\x80\xa0 degraded.", f);
	if (l.n < l.of)
		fprintf(f,
			" The %zu worst of %zu clocks: degraded ones first, then those with the greatest spread "
			"of residuals, then those with the widest bound.",
			l.n, l.of);
	else if (l.of < s->n_clocks)
		fprintf(f, " %zu of %zu clocks have none.", s->n_clocks - l.of, s->n_clocks);
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

static const struct course rate_course = {
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
	draw_panels(s, &rate_course, title, f);
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
	say_layout(s, &rate_course, f);
}

const struct figure panels_rate = {
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

static const struct course bound_course = {
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
	draw_panels(s, &bound_course, title, f);
}

static void bound_caption(const struct study *s, FILE *f)
{
	fprintf(f,
		"Bound of each clock's map, %d points; what a capture cannot resolve comes on top.",
		STUDY_POINTS);
	say_layout(s, &bound_course, f);
}

const struct figure panels_bound = {
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
	figure_ns(f, spread(c));
}

static const struct course residual_course = {
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
	draw_panels(s, &residual_course, title, f);
}

static void residual_caption(const struct study *s, FILE *f)
{
	figure_count(f, s->n_residuals);
	fputs(" residuals. Dots, or where there are more than pixels the range of them with their median as "
	      "a line. Each scale holds 99 % of a clock's; what is beyond lies at its edge.",
	      f);
	say_layout(s, &residual_course, f);
}

const struct figure panels_residuals = {
	.name = "residuals",
	.title = "Residuals over time",
	.fits = residual_fits,
	.draw = residual_figure,
	.caption = residual_caption,
};
