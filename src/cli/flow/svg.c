/* SPDX-License-Identifier: MIT */
/* Histograms of times between points. */
#include "flow/view.h"

#include "output.h"
#include "report/figures.h"
#include "report/svg.h"

static void draw(struct cvl_out *o, const struct flow_view *v, const struct flow_times *t, double top)
{
	char title[3 * FLOW_NAME_MAX];

	snprintf(title, sizeof(title), "%s to %s: %zu times", v->map->point[t->pair.from].name,
		 v->map->point[t->pair.to].name, t->n);
	flow_times_draw(o, title, t, top);
}

static void put(struct cvl_out *o, const void *view)
{
	const struct flow_view *v = view;

	svg_begin(o, FIGURE_WIDTH, 10 + FLOW_PLOT_STRIDE * (double)v->study.pairs,
		  "times between points");
	for (size_t i = 0; i < v->study.pairs; i++)
		draw(o, v, &v->study.times[i], 36 + FLOW_PLOT_STRIDE * (double)i);
	svg_end(o);
}

int flow_view_svg(const struct flow_view *v, const char *path, struct cvl_error *err)
{
	return output_write(path, put, v, err);
}
