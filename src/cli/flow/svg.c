/* SPDX-License-Identifier: MIT */
/* Histograms of times between points. */
#include "flow/view.h"

#include "report/figures.h"
#include "report/svg.h"

static void draw(FILE *f, const struct flow_view *v, const struct flow_times *t, double top)
{
	char title[3 * FLOW_NAME_MAX];

	snprintf(title, sizeof(title), "%s to %s: %zu times", v->map->point[t->pair.from].name,
		 v->map->point[t->pair.to].name, t->n);
	flow_times_draw(f, title, t, top);
}

int flow_view_svg(const struct flow_view *v, const char *path, struct cvl_error *err)
{
	FILE *f = fopen(path, "we");
	int bad;

	if (!f)
		return cvl_fail_errno(err, "create", path);
	svg_begin(f, FIGURE_WIDTH, 10 + FLOW_PLOT_STRIDE * (double)v->study.pairs,
		  "times between points");
	for (size_t i = 0; i < v->study.pairs; i++)
		draw(f, v, &v->study.times[i], 36 + FLOW_PLOT_STRIDE * (double)i);
	svg_end(f);
	bad = ferror(f);
	return fclose(f) || bad ? cvl_fail_errno(err, "write", path) : 0;
}
