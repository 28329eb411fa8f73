/* SPDX-License-Identifier: MIT */
#include <coeval/durations.h>

#include <inttypes.h>
#include <stdio.h>

#include "report/figures.h"
#include "report/svg.h"

#define PLOT_HEIGHT 150.0
#define STRIDE 230.0 /* vertical distance of histograms */
#define LEFT 64.0

static void draw(struct cvl_out *o, const char *name, const struct cvl_durations *d, double top)
{
	static const struct svg_style style = { .colour = FIGURE_BLUE };
	struct svg_words head = { LEFT, top - 12, 12, SVG_START, NULL, true, 0 };
	char label[80];
	double height[CVL_BINS_MAX];
	struct figure_unit u;
	const struct cvl_bins *b = &d->bins;
	struct svg_plot p = { .o = o,
			      .left = LEFT,
			      .top = top,
			      .width = FIGURE_WIDTH - LEFT - 20,
			      .height = PLOT_HEIGHT };

	svg_text(o, &head, name);
	if (!d->n)
		return;
	u = figure_unit((double)(b->first + b->width * (int64_t)b->n));
	for (size_t i = 0; i < b->n; i++) {
		const double thin = (double)b->most * 1.05 / PLOT_HEIGHT;

		/* even one in a million stays visible */
		height[i] = b->count[i] && (double)b->count[i] < thin ? thin : (double)b->count[i];
	}
	snprintf(label, sizeof(label), "time, %s", u.name);
	if (b->shorter || b->longer)
		snprintf(label, sizeof(label), "time, %s (%" PRIu64 " shorter, %" PRIu64 " longer)",
			 u.name, b->shorter, b->longer);
	p.x = (struct svg_axis){ .lo = (double)b->first / u.ns,
				 .hi = (double)(b->first + b->width * (int64_t)b->n) / u.ns,
				 .label = label };
	p.y = (struct svg_axis){
		.lo = 0, .hi = (double)b->most * 1.05, .ticks = 4, .label = "times"
	};
	svg_bars(&p, p.x.lo, (double)b->width / u.ns, height, b->n, &style);
	svg_axes(&p);
}

void cvl_durations_svg(const char *title, const char *const *name,
		       const struct cvl_durations *const *d, size_t n, struct cvl_out *out)
{
	svg_begin(out, FIGURE_WIDTH, 10 + STRIDE * (double)n, title);
	for (size_t i = 0; i < n; i++)
		draw(out, name[i], d[i], 36 + STRIDE * (double)i);
	svg_end(out);
}
