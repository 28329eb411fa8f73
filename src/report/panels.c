/* SPDX-License-Identifier: MIT */
#include "report/session.h"

#include "core/order.h"
#include "report/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 16.0       /* above the panels */
#define SIDE 26.0       /* left of them, for the label of all */
#define PANEL_LEFT 44.0 /* within a panel, for its tick labels */
#define PANEL_TOP 24.0
#define PANEL_PLOT 84.0
#define PANEL_STRIDE 138.0
#define FOOT 34.0
#define OWN_SCALE 4.0 /* a clock with this many times the usual span gets its own scale */

struct layout {
	size_t which[FIGURE_CLOCKS], n, of; /* of: clocks that could be shown */
	size_t columns, rows;
	struct figure_span span[FIGURE_CLOCKS], shared;
	bool own[FIGURE_CLOCKS];
	bool any_own, any_degraded;
};

/* ---- selection and scales ---- */

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

double panels_spread(const struct cvl_study_clock *c)
{
	double sum = 0, sum2 = 0, n = (double)c->n_marks;

	for (size_t i = 0; i < c->n_marks; i++) {
		sum += c->residual[i];
		sum2 += c->residual[i] * c->residual[i];
	}
	return c->n_marks ? sqrt(fmax(sum2 / n - sum / n * (sum / n), 0)) : 0;
}

static void choose_clocks(struct layout *l, const struct cvl_study *s,
			  const struct figure_panels *course)
{
	struct ranked *r = calloc(s->n_clocks + 1, sizeof(*r));

	l->n = l->of = 0;
	for (size_t i = 0; r && i < s->n_clocks; i++) {
		const struct cvl_study_clock *c = &s->clock[i];

		if (course->shows(c))
			r[l->of++] = (struct ranked){ i, c->sync->verdict, panels_spread(c),
						      (double)c->sync->bound_max };
	}
	if (r)
		qsort(r, l->of, sizeof(*r), worst_first);
	for (; l->n < l->of && l->n < FIGURE_CLOCKS; l->n++)
		l->which[l->n] = r[l->n].index;
	qsort(l->which, l->n, sizeof(*l->which), by_index);
	free(r);
}

static struct figure_span widened(struct figure_span v, double least)
{
	double more = fmax(least - (v.hi - v.lo), 0) / 2;

	return (struct figure_span){ v.lo - more, v.hi + more };
}

static void choose_scales(struct layout *l, const struct cvl_study *s,
			  const struct figure_panels *course)
{
	double length[FIGURE_CLOCKS];

	for (size_t i = 0; i < l->n; i++) {
		l->span[i] = widened(course->span(&s->clock[l->which[i]]), course->least);
		length[i] = l->span[i].hi - l->span[i].lo;
	}
	qsort(length, l->n, sizeof(*length), order_doubles);
	l->shared = (struct figure_span){ INFINITY, -INFINITY };
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

static void lay_out(struct layout *l, const struct cvl_study *s, const struct figure_panels *course)
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

static void put_name(const struct svg_plot *p, const struct cvl_study_clock *c, bool own,
		     size_t columns)
{
	size_t most = columns > 3 ? 20 : columns > 2 ? 30 : 50;

	svg_text(p->o,
		 &(struct svg_words){ .x = p->left, .y = p->top - 18, .bold = true, .most = most },
		 c->sync->clock);
	if (c->sync->verdict == CVL_DEGRADED || own)
		svg_text(p->o,
			 &(struct svg_words){ .x = p->left - 3,
					      .y = p->top - 18,
					      .anchor = SVG_END,
					      .colour = FIGURE_VERMILLION,
					      .bold = true },
			 c->sync->verdict != CVL_DEGRADED ? "*" :
			 own                              ? "*\xe2\x80\xa0" :
							    "\xe2\x80\xa0");
}

static void put_remark(const struct svg_plot *p, const struct figure_panels *course,
		       const struct cvl_study_clock *c)
{
	char text[120];

	course->remark(c, text);
	svg_text(
		p->o,
		&(struct svg_words){ .x = p->left, .y = p->top - 6, .size = 9.5, .colour = "#555" },
		text);
}

bool panels_fit(const struct cvl_study *s, const struct figure_panels *panels)
{
	for (size_t i = 0; i < s->n_clocks && s->length_s > 0; i++)
		if (panels->shows(&s->clock[i]))
			return true;
	return false;
}

void panels_draw(struct cvl_out *o, const struct cvl_study *s, const struct figure_panels *course,
		 const char *title)
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
	svg_begin(o, FIGURE_WIDTH, height, title);
	for (size_t i = 0; i < l.n; i++) {
		const struct cvl_study_clock *c = &s->clock[l.which[i]];
		struct figure_span v = l.own[i] ? l.span[i] : l.shared;
		struct svg_plot p = {
			.o = o,
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
	cvl_out_printf(o, "<g transform=\"translate(14 %.1f) rotate(-90)\">", (height - FOOT) / 2);
	svg_text(o, &(struct svg_words){ .anchor = SVG_MIDDLE }, label);
	cvl_out_text(o, "</g>\n");
	svg_text(
		o,
		&(struct svg_words){ .x = FIGURE_WIDTH / 2, .y = height - 6, .anchor = SVG_MIDDLE },
		t.label);
	svg_end(o);
}

/* Explain the signs and what is missing. */
void panels_say(struct cvl_out *o, const struct cvl_study *s, const struct figure_panels *course)
{
	struct layout l;

	lay_out(&l, s, course);
	if (l.any_own)
		cvl_out_text(o, " * on a scale of its own.");
	if (l.any_degraded)
		cvl_out_text(o, " \xe2\x80\xa0 degraded.");
	if (l.n < l.of)
		cvl_out_printf(
			o,
			" The %zu worst of %zu clocks: degraded ones first, then those with the greatest spread "
			"of residuals, then those with the widest bound.",
			l.n, l.of);
	else if (l.of < s->n_clocks)
		cvl_out_printf(o, " %zu of %zu clocks have none.", s->n_clocks - l.of, s->n_clocks);
}
