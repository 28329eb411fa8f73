/* SPDX-License-Identifier: MIT */
/** The figures of a session's report: each a member of a table, drawn from a study. */
#ifndef REPORT_SESSION_H
#define REPORT_SESSION_H

#include <coeval/out.h>
#include <coeval/study.h>

#include "report/svg.h"

/** Most clocks in one figure of panels: the worst are shown. */
#define FIGURE_CLOCKS 24

struct figure_span {
	double lo, hi;
};

/** A panel for each clock, side by side: what it draws, and how. */
struct figure_panels {
	const char *label; /* the unit of ns is added */
	bool has_unit;     /* values are ns */
	double least;      /* the shortest span worth an axis */
	bool (*shows)(const struct cvl_study_clock *c);
	struct figure_span (*span)(const struct cvl_study_clock *c);
	void (*draw)(const struct svg_plot *p, const struct cvl_study_clock *c, double t_unit,
		     double unit);
	void (*remark)(const struct cvl_study_clock *c, char text[120]);
};

struct figure {
	const char *name; /* of its file, without ".svg" */
	const char *title;
	bool (*fits)(const struct cvl_study *s); /* there is something to draw */
	void (*draw)(struct cvl_out *o, const struct cvl_study *s, const char *title);
	const struct figure_panels *panels; /* instead of fits() and draw() */
	void (*caption)(struct cvl_out *o, const struct cvl_study *s); /* XML text */
};

extern const struct figure figure_cdf, figure_residual_histogram, figure_error_histogram,
	figure_rate, figure_bound, figure_residuals;

bool panels_fit(const struct cvl_study *s, const struct figure_panels *panels);
void panels_draw(struct cvl_out *o, const struct cvl_study *s, const struct figure_panels *panels,
		 const char *title);

/** For the caption: what the signs beside names mean, and which clocks are missing. */
void panels_say(struct cvl_out *o, const struct cvl_study *s, const struct figure_panels *panels);

/** Standard deviation of a clock's residuals, ns. */
double panels_spread(const struct cvl_study_clock *c);

static inline const struct cvl_study_result *study_main(const struct cvl_study *s)
{
	return &s->result[s->main];
}

#endif
