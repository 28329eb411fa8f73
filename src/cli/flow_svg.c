/* SPDX-License-Identifier: MIT */
/* Histograms of times between points. */
#include "cli/flow_view.h"

#include <math.h>
#include <stdlib.h>

#include "cli/figures.h"
#include "cli/svg.h"

#define PLOT_HEIGHT 150.0
#define STRIDE 230.0
#define LEFT 64.0

void flow_bins_fill(struct flow_bins *b, const struct flow_times *t)
{
	int64_t least = t->ns[0], most = t->ns[0];

	for (size_t i = 1; i < t->n; i++) {
		least = t->ns[i] < least ? t->ns[i] : least;
		most = t->ns[i] > most ? t->ns[i] : most;
	}
	*b = (struct flow_bins){ .width = 1 };
	if (most - least > FLOW_BINS_MAX / 2)
		b->width = (int64_t)svg_nice_step((double)(most - least), FLOW_BINS_MAX / 2);
	for (;; b->width *= 2) {
		b->width = b->width < 1 ? 1 : b->width;
		b->first = least - ((least % b->width) + b->width) % b->width;
		b->n = (size_t)((most - b->first) / b->width) + 1;
		if (b->n <= FLOW_BINS_MAX)
			break;
	}
	for (size_t i = 0; i < t->n; i++) {
		uint64_t *count = &b->count[(t->ns[i] - b->first) / b->width];

		(*count)++;
		b->most = *count > b->most ? *count : b->most;
	}
}

static void draw(FILE *f, const struct flow_view *v, const struct flow_times *t, double top)
{
	static const struct svg_style style = { .colour = FIGURE_BLUE };
	struct svg_words head = { LEFT, top - 12, 12, SVG_START, NULL, true, 0 };
	char label[40], title[3 * FLOW_NAME_MAX];
	double height[FLOW_BINS_MAX];
	struct figure_unit u;
	struct flow_bins b;
	struct svg_plot p = { .f = f,
			      .left = LEFT,
			      .top = top,
			      .width = FIGURE_WIDTH - LEFT - 20,
			      .height = PLOT_HEIGHT };

	snprintf(title, sizeof(title), "%s to %s: %zu times", v->map->point[t->pair.from].name,
		 v->map->point[t->pair.to].name, t->n);
	svg_text(f, &head, title);
	if (!t->n)
		return;
	flow_bins_fill(&b, t);
	u = figure_unit((double)(b.first + b.width * (int64_t)b.n));
	for (size_t i = 0; i < b.n; i++)
		height[i] = (double)b.count[i];
	snprintf(label, sizeof(label), "time, %s", u.name);
	p.x = (struct svg_axis){ .lo = (double)b.first / u.ns,
				 .hi = (double)(b.first + b.width * (int64_t)b.n) / u.ns,
				 .label = label };
	p.y = (struct svg_axis){
		.lo = 0, .hi = (double)b.most * 1.05, .ticks = 4, .label = "times"
	};
	svg_bars(&p, p.x.lo, (double)b.width / u.ns, height, b.n, &style);
	svg_axes(&p);
}

int flow_view_svg(const struct flow_view *v, const char *path, struct cvl_error *err)
{
	FILE *f = fopen(path, "we");
	int bad;

	if (!f)
		return cvl_fail_errno(err, "create", path);
	svg_begin(f, FIGURE_WIDTH, 10 + STRIDE * (double)v->study.pairs, "times between points");
	for (size_t i = 0; i < v->study.pairs; i++)
		draw(f, v, &v->study.times[i], 36 + STRIDE * (double)i);
	svg_end(f);
	bad = ferror(f);
	return fclose(f) || bad ? cvl_fail_errno(err, "write", path) : 0;
}
