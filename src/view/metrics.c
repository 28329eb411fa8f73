/* SPDX-License-Identifier: MIT */
/* What Prometheus is told of a session that is looked at. */
#include "view/metrics.h"

#include <math.h>

#include "core/metrics.h"

#define LEVEL 25 /* few cells */

struct counting {
	const struct cvl_lod *lod;
	struct clock_health *told;
};

static int count(void *ctx, const struct cvl_lod_cell *cell)
{
	const struct counting *c = ctx;

	for (size_t i = 0; i < cell->n; i++) {
		const struct cvl_lod_track t = cvl_lod_track(c->lod, cell->sum[i].track);
		const double n = (double)cell->sum[i].count;

		if (t.of == CVL_LOD_KIND && t.number == CVL_GAP)
			c->told->gaps += n;
		if (t.of == CVL_LOD_KIND && t.number == CVL_BEACON)
			c->told->beacons += n;
	}
	return 0;
}

static void add_stream(const struct model *m, const struct model_stream *s, struct clock_health *t)
{
	const struct cvl_clock *clock = cvl_session_clock(m->session, s->clock);
	struct counting c = { s->lod, t };
	struct cvl_lod_begin begin;
	struct cvl_tick first, last;
	double seconds;
	int64_t bound;

	t->up |= s->grows;
	if (!cvl_lod_range(s->lod, &first, &last))
		return;
	cvl_lod_read(s->lod, LEVEL, first.count >> 2 * LEVEL, last.count >> 2 * LEVEL, &begin,
		     count, &c, NULL);
	seconds = (double)(last.count - first.count) / (double)clock->rate_hz;
	t->seconds = seconds > t->seconds ? seconds : t->seconds;
	bound = cvl_bound_total(cvl_timeline_clock_bound(m->tl, s->clock, last));
	t->bound = bound == CVL_BOUND_UNKNOWN ? NAN : (double)bound / 1e9;
	t->watermark = (double)cvl_map_time(cvl_timeline_map(m->tl, s->clock), last, NULL).ns / 1e9;
	t->any = true;
}

void clock_health(const struct model *m, size_t clock, struct clock_health *h)
{
	*h = (struct clock_health){ 0 };
	for (size_t s = 0; s < m->n; s++)
		if (m->stream[s].clock == clock)
			add_stream(m, &m->stream[s], h);
}

static double value_of(const struct clock_health *t, enum metric m)
{
	switch (m) {
	case METRIC_UP: return t->up;
	case METRIC_CAPTURED: return t->seconds;
	case METRIC_GAPS: return t->gaps;
	case METRIC_BEACONS: return t->beacons;
	case METRIC_BOUND: return t->any ? t->bound : NAN;
	case METRIC_WATERMARK: return t->any ? t->watermark : NAN;
	default: return NAN;
	}
}

int view_metrics(struct model *m, struct cvl_out *o, struct cvl_error *err)
{
	static const enum metric list[] = { METRIC_UP,      METRIC_CAPTURED, METRIC_GAPS,
					    METRIC_BEACONS, METRIC_BOUND,    METRIC_WATERMARK };
	int rc = model_refresh(m, err);

	for (size_t k = 0; k < sizeof(list) / sizeof(*list) && !rc; k++) {
		metric_head(o, list[k]);
		for (size_t i = 0; i < cvl_session_clocks(m->session); i++) {
			struct clock_health t;

			clock_health(m, i, &t);
			metric_value(o, list[k], cvl_session_clock(m->session, i)->name,
				     value_of(&t, list[k]));
		}
	}
	metric_disk(o, cvl_session_path(m->session));
	return rc;
}
