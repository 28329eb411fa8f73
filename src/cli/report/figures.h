/* SPDX-License-Identifier: MIT */
/** The figures of a report: each a member of a table, drawn from a study. */
#ifndef CLI_REPORT_FIGURES_H
#define CLI_REPORT_FIGURES_H

#include <stdbool.h>
#include <stdio.h>

#include "report/study.h"

/** Clocks that one figure of many panels shows at most: the worst of them. */
#define FIGURE_CLOCKS 24

struct figure {
	const char *name; /* of its file, without ".svg" */
	const char *title;
	bool (*fits)(const struct study *s); /* there is something to draw */
	void (*draw)(const struct study *s, const char *title, FILE *f);
	void (*caption)(const struct study *s, FILE *f); /* XML text */
};

/** In the order of the report, ended by NULL. */
extern const struct figure *const figures[];

#define FIGURE_WIDTH 860.0
#define FIGURE_BLUE "#0072b2"
#define FIGURE_VERMILLION "#d55e00"

/** A unit that gives @ns a number that can be read. */
struct figure_unit {
	double ns;
	const char *name;
};

struct figure_unit figure_unit(double ns);

/** "412 ns", "1.23 us" with the sign for micro; a dash below 0. */
void figure_ns(FILE *f, double ns);

/** @n with its thousands separated. */
void figure_count(FILE *f, unsigned long long n);

#endif
