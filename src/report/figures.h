/* SPDX-License-Identifier: MIT */
/**
 * Shared by all figures: width, colours, and number formats.
 */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include <coeval/out.h>

#define FIGURE_WIDTH 860.0
#define FIGURE_BLUE "#0072b2"
#define FIGURE_VERMILLION "#d55e00"

/** A unit in which @ns is readable. */
struct figure_unit {
	double ns;
	const char *name;
};

struct figure_unit figure_unit(double ns);

/** "412 ns", "1.23 us" with the sign for micro; a dash below 0. Returns @text. */
char *figure_ns_text(char text[40], double ns);
void figure_ns(struct cvl_out *o, double ns);

/** @n with its thousands separated. Returns @text. */
char *figure_count_text(char text[40], uint64_t n);
void figure_count(struct cvl_out *o, uint64_t n);

#endif
