/* SPDX-License-Identifier: MIT */
#include "report/svg.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TICK 4.0
#define TICK_TEXT 9.5
#define TICKS_MAX 110

/* ---- text ---- */

/* Length of the UTF-8 sequence at @s and its character, or 1 and U+FFFD. */
static size_t decode(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc2 ? 2 : 0;

	*c = *s;
	if (n > 1)
		*c &= 0xffu >> (n + 1);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			n = 0;
			break;
		}
		*c = *c << 6 | (s[i] & 0x3f);
	}
	if (!n || *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000)) {
		*c = 0xfffd;
		return 1;
	}
	return n;
}

static size_t characters(const char *text)
{
	size_t n = 0;
	uint32_t c;

	for (; *text; n++)
		text += decode((const unsigned char *)text, &c);
	return n;
}

static void put_character(FILE *f, const char *s, size_t n, uint32_t c)
{
	switch (c) {
	case '&': fputs("&amp;", f); return;
	case '<': fputs("&lt;", f); return;
	case '>': fputs("&gt;", f); return;
	case '"': fputs("&quot;", f); return;
	case '\'': fputs("&#39;", f); return;
	case '\t':
	case '\n':
	case '\r': fputc(' ', f); return;
	default: break;
	}
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffd || c == 0xfffe || c == 0xffff)
		fputs("\xef\xbf\xbd", f);
	else
		fwrite(s, 1, n, f);
}

/* Names of one kind differ at their ends: what is too much is left out in the middle. */
void svg_escape(FILE *f, const char *text, size_t most)
{
	size_t all = characters(text), tail = most / 2, head = most ? most - tail - 1 : 0;
	bool cut = most && all > most;

	for (size_t i = 0; *text; i++) {
		uint32_t c;
		size_t n = decode((const unsigned char *)text, &c);

		if (!cut || i < head || i >= all - tail)
			put_character(f, text, n, c);
		else if (i == head)
			fputs("\xe2\x80\xa6", f);
		text += n;
	}
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
	bool small[TICKS_MAX]; /* without a number */
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

		svg_rule(p->f, x, bottom, x, bottom + (t.small[i] ? TICK / 2 : TICK), &thin);
		if (t.small[i] || p->x.plain)
			continue;
		tick_text(text, &t, t.at[i]);
		svg_text(p->f,
			 &(struct svg_words){ x, bottom + TICK + 10, TICK_TEXT, SVG_MIDDLE,
					      .colour = "#444" },
			 text);
	}
	if (p->x.label)
		svg_text(p->f,
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

		svg_rule(p->f, p->left - (t.small[i] ? TICK / 2 : TICK), y, p->left, y, &thin);
		if (t.small[i] || p->y.plain)
			continue;
		tick_text(text, &t, t.at[i]);
		longest = characters(text) > longest ? characters(text) : longest;
		svg_text(p->f,
			 &(struct svg_words){ p->left - TICK - 2, y + 3.3, TICK_TEXT, SVG_END,
					      .colour = "#444" },
			 text);
	}
	if (!p->y.label)
		return;
	fprintf(p->f, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">",
		p->left - TICK - 10 - 5.7 * (double)longest, p->top + p->height / 2);
	svg_text(p->f, &(struct svg_words){ .size = 11, .anchor = SVG_MIDDLE }, p->y.label);
	fputs("</g>\n", p->f);
}

void svg_axes(const struct svg_plot *p)
{
	const struct svg_style thin = { SVG_FAINT, 0.7, 0, NULL };

	if (!p->y.log && p->y.lo < 0 && p->y.hi > 0)
		svg_rule(p->f, p->left, svg_y(p, 0), p->left + p->width, svg_y(p, 0),
			 &(struct svg_style){ "#ddd", 0.7, 0, NULL });
	svg_rule(p->f, p->left, p->top, p->left, p->top + p->height, &thin);
	svg_rule(p->f, p->left, p->top + p->height, p->left + p->width, p->top + p->height, &thin);
	x_axis(p);
	y_axis(p);
}

/* ---- marks ---- */

static void put_style(FILE *f, const struct svg_style *s, bool filled)
{
	if (filled)
		fprintf(f, " fill=\"%s\" stroke=\"none\"", s->colour);
	else
		fprintf(f, " fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", s->colour,
			s->width > 0 ? s->width : 1.2);
	if (s->opacity > 0)
		fprintf(f, " opacity=\"%g\"", s->opacity);
	if (s->dash)
		fprintf(f, " stroke-dasharray=\"%s\"", s->dash);
}

void svg_begin(FILE *f, double width, double height, const char *title)
{
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
		"font-family=\"sans-serif\" role=\"img\">\n<title>",
		width, height, width, height);
	svg_escape(f, title, 0);
	fprintf(f, "</title>\n<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n", width, height);
}

void svg_end(FILE *f)
{
	fputs("</svg>\n", f);
}

/* A hole ends a path; the next value begins another. What is beyond the axis runs along its end. */
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
			fputs("<path", p->f);
			put_style(p->f, style, false);
			fputs(" stroke-linejoin=\"round\" d=\"", p->f);
		}
		drawn = true;
		fprintf(p->f, "%c%.1f %.1f", pen ? 'L' : 'M', svg_x(p, x[i]), svg_y(p, y[i]));
		pen = true;
	}
	if (drawn)
		fputs("\"/>\n", p->f);
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
		fputs("<path", p->f);
		put_style(p->f, style, true);
		fputs(" d=\"", p->f);
		for (size_t k = i; k < end; k++)
			fprintf(p->f, "%c%.1f %.1f", k == i ? 'M' : 'L', svg_x(p, x[k]),
				svg_y(p, hi[k]));
		for (size_t k = end; k-- > i;)
			fprintf(p->f, "L%.1f %.1f", svg_x(p, x[k]), svg_y(p, lo[k]));
		fputs("Z\"/>\n", p->f);
	}
}

void svg_bars(const struct svg_plot *p, double first, double step, const double *height, size_t n,
	      const struct svg_style *style)
{
	double base = svg_y(p, 0);

	fputs("<path", p->f);
	put_style(p->f, style, true);
	fputs(" d=\"M0 0", p->f);
	for (size_t i = 0; i < n; i++) {
		double l = svg_x(p, first + (double)i * step),
		       r = svg_x(p, first + (double)(i + 1) * step), top = svg_y(p, height[i]);

		if (height[i] > 0)
			fprintf(p->f, "M%.2f %.2fV%.2fH%.2fV%.2fZ", l, base, top,
				fmax(r - 0.5, l + 0.3), base);
	}
	fputs("\"/>\n", p->f);
}

void svg_dots(const struct svg_plot *p, const double *x, const double *y, size_t n, double radius,
	      const struct svg_style *style)
{
	fputs("<g", p->f);
	put_style(p->f, style, true);
	fputs(">\n", p->f);
	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]) && isfinite(y[i]))
			fprintf(p->f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/>\n",
				svg_x(p, x[i]), svg_y(p, y[i]), radius);
	fputs("</g>\n", p->f);
}

void svg_upright(const struct svg_plot *p, double x, const struct svg_style *style)
{
	svg_rule(p->f, svg_x(p, x), p->top, svg_x(p, x), p->top + p->height, style);
}

void svg_rule(FILE *f, double x1, double y1, double x2, double y2, const struct svg_style *style)
{
	fprintf(f, "<path");
	put_style(f, style, false);
	fprintf(f, " d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x1, y1, x2, y2);
}

void svg_text(FILE *f, const struct svg_words *w, const char *text)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%g\" text-anchor=\"%s\" fill=\"%s\"%s>",
		w->x, w->y, w->size > 0 ? w->size : 11, anchors[w->anchor],
		w->colour ? w->colour : SVG_INK, w->bold ? " font-weight=\"bold\"" : "");
	svg_escape(f, text, w->most);
	fputs("</text>\n", f);
}
