/* SPDX-License-Identifier: MIT */
/**
 * Drawing of plots as SVG: axes, lines, bands, bars and text, independent of their meaning.
 *
 * A figure is one <svg>; a plot is a rectangle in it with two axes, in whose units things are
 * drawn. NaN values leave a hole; anything outside of the axes is cut off. Sizes are in CSS pixels,
 * from the upper left corner of the figure. Write errors are kept in the struct cvl_out.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include <coeval/out.h>

#define SVG_INK "#222"
#define SVG_FAINT "#8a8a8a"

struct svg_axis {
	double lo, hi; /* lo < hi; both above 0 on a logarithmic axis */
	bool log;
	bool plain;        /* no labels at its ticks */
	unsigned ticks;    /* about how many, 0: 5 */
	const char *label; /* or NULL */
};

struct svg_plot {
	struct cvl_out *o;
	double left, top, width, height; /* within the axes */
	struct svg_axis x, y;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_style {
	const char *colour;
	double width;     /* of a line; 0: 1.2 */
	double opacity;   /* 0: 1 */
	const char *dash; /* "4 2", or NULL */
};

/** Extend the axis to @v, unless NaN. */
void svg_axis_see(struct svg_axis *a, double v);
/** An axis without values. */
struct svg_axis svg_axis_empty(const char *label);
/**
 * Make it drawable, whatever values it has, with @margin (share of its length) at both ends.
 */
void svg_axis_settle(struct svg_axis *a, double margin);

/**
 * Step between ticks, 1, 2 or 5 times a power of ten, so that there are about @n of them in @span.
 */
double svg_nice_step(double span, unsigned n);

/** @text by cvl_out_xml(), not more than @most (up to 250) characters of it; 0: all. */
void svg_escape(struct cvl_out *o, const char *text, size_t most);

void svg_begin(struct cvl_out *o, double width, double height, const char *title);
void svg_end(struct cvl_out *o);

/** Frame, ticks, numbers and labels. */
void svg_axes(const struct svg_plot *p);

void svg_line(const struct svg_plot *p, const double *x, const double *y, size_t n,
	      const struct svg_style *style);
/** The area from @lo to @hi; holes where one is NaN. */
void svg_band(const struct svg_plot *p, const double *x, const double *lo, const double *hi,
	      size_t n, const struct svg_style *style);
/** Bar @i extends from @first + @i * @step to the next. */
void svg_bars(const struct svg_plot *p, double first, double step, const double *height, size_t n,
	      const struct svg_style *style);
void svg_dots(const struct svg_plot *p, const double *x, const double *y, size_t n, double radius,
	      const struct svg_style *style);
/** An upright line across the plot. */
void svg_upright(const struct svg_plot *p, double x, const struct svg_style *style);

/** Position of a value in the figure, clamped to its axis. */
double svg_x(const struct svg_plot *p, double x);
double svg_y(const struct svg_plot *p, double y);

struct svg_words {
	double x, y, size; /* in the figure; the base line; size 0: 11 */
	enum svg_anchor anchor;
	const char *colour; /* NULL: ink */
	bool bold;
	size_t most; /* characters, 0: all */
};

void svg_text(struct cvl_out *o, const struct svg_words *where, const char *text);
/** A straight line in the figure. */
void svg_rule(struct cvl_out *o, double x1, double y1, double x2, double y2,
	      const struct svg_style *style);

#endif
