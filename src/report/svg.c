/* SPDX-License-Identifier: MIT */
#include "report/svg.h"

#include "core/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TICK 4.0
#define TICK_TEXT 9.5
#define TICKS_MAX 110

/* ---- text ---- */

#define CUT_MAX 250 /* longest text, in characters */

/* Bytes of the character at @s; 1 for an invalid byte. */
static size_t character(const char *s)
{
	size_t n = utf8_length(s, strlen(s));

	return n ? n : 1;
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; n++)
		s += character(s);
	return n;
}

/* Similar names differ at their ends, so long ones are cut in the middle. */
void svg_escape(struct cvl_out *o, const char *text, size_t most)
{
	size_t all = characters(text), tail = most / 2, head = most ? most - tail - 1 : 0;
	char cut[4 * CUT_MAX + 8], *to = cut;

	if (!most || all <= most || most > CUT_MAX) {
		cvl_out_xml(o, text);
		return;
	}
	for (size_t i = 0; *text; i++) {
		size_t n = character(text);

		if (i < head || i >= all - tail)
			to = mempcpy(to, text, n);
		else if (i == head)
			to = stpcpy(to, "\xe2\x80\xa6");
		text += n;
	}
	*to = '\0';
	cvl_out_xml(o, cut);
}

/* ---- axes ---- */

struct svg_axis svg_axis_empty(const char *label)
{
	return (struct svg_axis){ .lo = INFINITY, .hi = -INFINITY, .label = label };
}

void svg_axis_see(struct svg_axis *a, double v)
{
	if (!isfinite(v) || (a->log && v <= 0))
		return;
	a->lo = fmin(a->lo, v);
	a->hi = fmax(a->hi, v);
}

void svg_axis_settle(struct svg_axis *a, double margin)
{
	double more;

	if (!(a->lo <= a->hi)) {
		a->lo = a->log ? 1 : 0;
		a->hi = a->log ? 10 : 1;
	}
	if (a->log) {
		more = fmax(pow(a->hi / a->lo, margin), a->lo < a->hi ? 1 : 2);
		a->lo /= more;
		a->hi *= more;
		return;
	}
	more = (a->hi - a->lo) * margin;
	if (a->hi - a->lo <= fmax(fabs(a->lo), fabs(a->hi)) * 1e-12)
		more = a->hi != 0 ? fabs(a->hi) * 0.1 : 1;
	a->lo -= more;
	a->hi += more;
}

double svg_nice_step(double span, unsigned n)
{
	double raw = span / n, unit = pow(10, floor(log10(raw)));

	if (!(span > 0) || !n || !isfinite(raw) || !(unit > 0))
		return 1;
	return raw / unit <= 1.5 ? unit :
	       raw / unit <= 3.5 ? 2 * unit :
	       raw / unit <= 7.5 ? 5 * unit :
				   10 * unit;
}

/* Share of the axis below @v. */
static double share(const struct svg_axis *a, double v)
{
	double s;

	if (a->log)
		s = v > 0 ? log(v / a->lo) / log(a->hi / a->lo) : 0;
	else
		s = (v - a->lo) / (a->hi - a->lo);
	return isfinite(s) ? fmin(fmax(s, 0), 1) : 0;
}

double svg_x(const struct svg_plot *p, double x)
{
	return p->left + p->width * share(&p->x, x);
}

double svg_y(const struct svg_plot *p, double y)
{
	return p->top + p->height * (1 - share(&p->y, y));
}

struct ticks {
	size_t n;
	double at[TICKS_MAX];
	bool small[TICKS_MAX]; /* without a label */
	double step;           /* 0: decades */
};

static void decades(const struct svg_axis *a, struct ticks *t)
{
	double first = floor(log10(a->lo)), last = ceil(log10(a->hi));
	int every = 1 + (int)((last - first) / 10);

	for (double e = first; e <= last && t->n + 9 < TICKS_MAX; e += every)
		for (int k = 1; k < (every > 1 ? 2 : 10); k++) {
			double v = k * pow(10, e);

			if (v < a->lo * 0.9999 || v > a->hi * 1.0001)
				continue;
			t->small[t->n] = k > 1;
			t->at[t->n++] = v;
		}
}

static void find_ticks(const struct svg_axis *a, struct ticks *t)
{
	t->n = 0;
	t->step = 0;
	if (a->log) {
		decades(a, t);
		return;
	}
	t->step = svg_nice_step(a->hi - a->lo, a->ticks ? a->ticks : 5);
	for (double k = ceil(a->lo / t->step - 1e-6); k * t->step <= a->hi + t->step * 1e-6; k++) {
		if (t->n == TICKS_MAX)
			break;
		t->small[t->n] = false;
		t->at[t->n++] = k * t->step;
	}
}

/* With as many decimals as the step needs; U+2212 for the sign. */
static void tick_text(char text[48], const struct ticks *t, double v)
{
	char digits[32];
	int decimals = 0;

	if (t->step > 0 && fabs(v) < t->step / 2)
		v = 0;
	if (t->step > 0 && t->step < 1)
		decimals = (int)ceil(-log10(t->step) - 1e-6);
	if (fabs(v) >= 1e6 || decimals > 6)
		snprintf(digits, sizeof(digits), "%.4g", fabs(v));
	else if (t->step > 0)
		snprintf(digits, sizeof(digits), "%.*f", decimals, fabs(v));
	else
		snprintf(digits, sizeof(digits), "%g", fabs(v));
	snprintf(text, 48, "%s%s", v < 0 ? "\xe2\x88\x92" : "", digits);
}

static void x_axis(const struct svg_plot *p)
{
	const struct svg_style thin = { SVG_FAINT, 0.7, 0, NULL };
	double bottom = p->top + p->height;
	struct ticks t;
	char text[48];

	find_ticks(&p->x, &t);
	for (size_t i = 0; i < t.n; i++) {
		double x = svg_x(p, t.at[i]);

		svg_rule(p->o, x, bottom, x, bottom + (t.small[i] ? TICK / 2 : TICK), &thin);
		if (t.small[i] || p->x.plain)
			continue;
		tick_text(text, &t, t.at[i]);
		svg_text(p->o,
			 &(struct svg_words){ x, bottom + TICK + 10, TICK_TEXT, SVG_MIDDLE,
					      .colour = "#444" },
			 text);
	}
	if (p->x.label)
		svg_text(p->o,
			 &(struct svg_words){ .x = p->left + p->width / 2,
					      .y = bottom + TICK + 25,
					      .anchor = SVG_MIDDLE },
			 p->x.label);
}

static void y_axis(const struct svg_plot *p)
{
	const struct svg_style thin = { SVG_FAINT, 0.7, 0, NULL };
	size_t longest = 0;
	struct ticks t;
	char text[48];

	find_ticks(&p->y, &t);
	for (size_t i = 0; i < t.n; i++) {
		double y = svg_y(p, t.at[i]);

		svg_rule(p->o, p->left - (t.small[i] ? TICK / 2 : TICK), y, p->left, y, &thin);
		if (t.small[i] || p->y.plain)
			continue;
		tick_text(text, &t, t.at[i]);
		longest = characters(text) > longest ? characters(text) : longest;
		svg_text(p->o,
			 &(struct svg_words){ p->left - TICK - 2, y + 3.3, TICK_TEXT, SVG_END,
					      .colour = "#444" },
			 text);
	}
	if (!p->y.label)
		return;
	cvl_out_printf(p->o, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">",
		       p->left - TICK - 10 - 5.7 * (double)longest, p->top + p->height / 2);
	svg_text(p->o, &(struct svg_words){ .size = 11, .anchor = SVG_MIDDLE }, p->y.label);
	cvl_out_text(p->o, "</g>\n");
}

void svg_axes(const struct svg_plot *p)
{
	const struct svg_style thin = { SVG_FAINT, 0.7, 0, NULL };

	if (!p->y.log && p->y.lo < 0 && p->y.hi > 0)
		svg_rule(p->o, p->left, svg_y(p, 0), p->left + p->width, svg_y(p, 0),
			 &(struct svg_style){ "#ddd", 0.7, 0, NULL });
	svg_rule(p->o, p->left, p->top, p->left, p->top + p->height, &thin);
	svg_rule(p->o, p->left, p->top + p->height, p->left + p->width, p->top + p->height, &thin);
	x_axis(p);
	y_axis(p);
}

/* ---- marks ---- */

static void put_style(struct cvl_out *o, const struct svg_style *s, bool filled)
{
	if (filled)
		cvl_out_printf(o, " fill=\"%s\" stroke=\"none\"", s->colour);
	else
		cvl_out_printf(o, " fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", s->colour,
			       s->width > 0 ? s->width : 1.2);
	if (s->opacity > 0)
		cvl_out_printf(o, " opacity=\"%g\"", s->opacity);
	if (s->dash)
		cvl_out_printf(o, " stroke-dasharray=\"%s\"", s->dash);
}

void svg_begin(struct cvl_out *o, double width, double height, const char *title)
{
	cvl_out_printf(
		o,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
		"font-family=\"sans-serif\" role=\"img\">\n<title>",
		width, height, width, height);
	svg_escape(o, title, 0);
	cvl_out_printf(o, "</title>\n<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n", width,
		       height);
}

void svg_end(struct cvl_out *o)
{
	cvl_out_text(o, "</svg>\n");
}

/* A hole ends a path; the next value begins another. Values beyond the axis are clamped to it. */
void svg_line(const struct svg_plot *p, const double *x, const double *y, size_t n,
	      const struct svg_style *style)
{
	bool drawn = false, pen = false;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]) || !isfinite(y[i])) {
			pen = false;
			continue;
		}
		if (!drawn) {
			cvl_out_text(p->o, "<path");
			put_style(p->o, style, false);
			cvl_out_text(p->o, " stroke-linejoin=\"round\" d=\"");
		}
		drawn = true;
		cvl_out_printf(p->o, "%c%.1f %.1f", pen ? 'L' : 'M', svg_x(p, x[i]),
			       svg_y(p, y[i]));
		pen = true;
	}
	if (drawn)
		cvl_out_text(p->o, "\"/>\n");
}

static bool in_band(const double *x, const double *lo, const double *hi, size_t i)
{
	return isfinite(x[i]) && isfinite(lo[i]) && isfinite(hi[i]);
}

void svg_band(const struct svg_plot *p, const double *x, const double *lo, const double *hi,
	      size_t n, const struct svg_style *style)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		if (!in_band(x, lo, hi, i))
			continue;
		while (end < n && in_band(x, lo, hi, end))
			end++;
		cvl_out_text(p->o, "<path");
		put_style(p->o, style, true);
		cvl_out_text(p->o, " d=\"");
		for (size_t k = i; k < end; k++)
			cvl_out_printf(p->o, "%c%.1f %.1f", k == i ? 'M' : 'L', svg_x(p, x[k]),
				       svg_y(p, hi[k]));
		for (size_t k = end; k-- > i;)
			cvl_out_printf(p->o, "L%.1f %.1f", svg_x(p, x[k]), svg_y(p, lo[k]));
		cvl_out_text(p->o, "Z\"/>\n");
	}
}

void svg_bars(const struct svg_plot *p, double first, double step, const double *height, size_t n,
	      const struct svg_style *style)
{
	double base = svg_y(p, 0);

	cvl_out_text(p->o, "<path");
	put_style(p->o, style, true);
	cvl_out_text(p->o, " d=\"M0 0");
	for (size_t i = 0; i < n; i++) {
		double l = svg_x(p, first + (double)i * step),
		       r = svg_x(p, first + (double)(i + 1) * step), top = svg_y(p, height[i]);

		if (height[i] > 0)
			cvl_out_printf(p->o, "M%.2f %.2fV%.2fH%.2fV%.2fZ", l, base, top,
				       fmax(r - 0.5, l + 0.3), base);
	}
	cvl_out_text(p->o, "\"/>\n");
}

void svg_dots(const struct svg_plot *p, const double *x, const double *y, size_t n, double radius,
	      const struct svg_style *style)
{
	cvl_out_text(p->o, "<g");
	put_style(p->o, style, true);
	cvl_out_text(p->o, ">\n");
	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]) && isfinite(y[i]))
			cvl_out_printf(p->o, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/>\n",
				       svg_x(p, x[i]), svg_y(p, y[i]), radius);
	cvl_out_text(p->o, "</g>\n");
}

void svg_upright(const struct svg_plot *p, double x, const struct svg_style *style)
{
	svg_rule(p->o, svg_x(p, x), p->top, svg_x(p, x), p->top + p->height, style);
}

void svg_rule(struct cvl_out *o, double x1, double y1, double x2, double y2,
	      const struct svg_style *style)
{
	cvl_out_printf(o, "<path");
	put_style(o, style, false);
	cvl_out_printf(o, " d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x1, y1, x2, y2);
}

void svg_text(struct cvl_out *o, const struct svg_words *w, const char *text)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	cvl_out_printf(
		o, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%g\" text-anchor=\"%s\" fill=\"%s\"%s>",
		w->x, w->y, w->size > 0 ? w->size : 11, anchors[w->anchor],
		w->colour ? w->colour : SVG_INK, w->bold ? " font-weight=\"bold\"" : "");
	svg_escape(o, text, w->most);
	cvl_out_text(o, "</text>\n");
}
