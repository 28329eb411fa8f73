/* SPDX-License-Identifier: MIT */
/**
 * A panel for each clock, side by side: which clocks, on what scale, with what around them. What is drawn into a
 * panel is told by a struct panels.
 */
#ifndef CLI_REPORT_PANELS_H
#define CLI_REPORT_PANELS_H

#include "report/figures.h"
#include "report/svg.h"

struct span {
	double lo, hi;
};

/* A figure of panels: what of a clock it draws, and how. */
struct panels {
	const char *label; /* the unit of ns is added */
	bool has_unit;     /* values are ns */
	double least;      /* the shortest span worth an axis */
	bool (*shows)(const struct study_clock *c);
	struct span (*span)(const struct study_clock *c);
	void (*draw)(const struct svg_plot *p, const struct study_clock *c, double t_unit,
		     double unit);
	void (*remark)(const struct study_clock *c, FILE *f);
};

void panels_draw(const struct study *s, const struct panels *course, const char *title, FILE *f);

/** For the caption: what the signs beside names mean, and which clocks are not there. */
void panels_say(const struct study *s, const struct panels *course, FILE *f);

/** Standard deviation of a clock's residuals, ns. */
double panels_spread(const struct study_clock *c);

#endif
