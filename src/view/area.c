/* SPDX-License-Identifier: MIT */
#include "view/area.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/energy.h"
#include "store/stored.h"

#define LEVEL_MOST 25
#define READINGS_MOST 20000000

struct sum {
	uint32_t track;
	bool line;
	uint64_t width, at; /* ticks of a bucket; up to where it is summed up */
	bool high;          /* the line, from there on */
	uint64_t count, high_ticks;
	double min, max, total;
};

static int see(void *ctx, const struct cvl_lod_cell *c)
{
	struct sum *s = ctx;

	for (size_t i = 0; i < c->n; i++) {
		const struct cvl_lod_sum *x = &c->sum[i];

		if (x->track != s->track)
			continue;
		if (!s->count || x->min < s->min)
			s->min = x->min;
		if (!s->count || x->max > s->max)
			s->max = x->max;
		s->total += x->total;
		s->count += x->count;
		if (!s->line)
			continue;
		s->high_ticks += (s->high ? c->bucket * s->width - s->at : 0) + x->ticks;
		s->at = (c->bucket + 1) * s->width;
		s->high = c->after.now >> s->track & 1;
	}
	return 0;
}

/* Add ticks @from up to @to: as few buckets as there are, of any level. */
static int add_up(struct cvl_lod *lod, uint64_t from, uint64_t to, struct sum *s,
		  struct cvl_error *err)
{
	while (from < to) {
		struct cvl_lod_begin begin;
		unsigned level = 0;
		uint64_t n;
		int rc;

		while (level < LEVEL_MOST && !(from & ((UINT64_C(4) << 2 * level) - 1)) &&
		       to - from >= UINT64_C(4) << 2 * level)
			level++;
		s->width = UINT64_C(1) << 2 * level;
		n = (to - from) / s->width;
		if (level < LEVEL_MOST && n > 4 - (from >> 2 * level) % 4)
			n = 4 - (from >> 2 * level) % 4;
		s->at = from;
		rc = cvl_lod_read(lod, level, from >> 2 * level, (from >> 2 * level) + n - 1,
				  &begin, NULL, NULL, err);
		if (rc)
			return rc;
		s->high = s->line && (begin.levels.now >> s->track & 1);
		rc = cvl_lod_read(lod, level, from >> 2 * level, (from >> 2 * level) + n - 1,
				  &begin, see, s, err);
		if (rc)
			return rc;
		from += n * s->width;
		if (s->high)
			s->high_ticks += from - s->at;
	}
	return 0;
}

/* Where @ns is on the stream, within what it has. */
static uint64_t place(const struct cvl_map *map, int64_t ns, uint64_t first, uint64_t end)
{
	const uint64_t tick = cvl_map_tick(map, (struct cvl_time){ ns }).count;

	return tick < first ? first : tick > end ? end : tick;
}

static int64_t later(int64_t ns, int64_t by)
{
	int64_t sum;

	return __builtin_add_overflow(ns, by, &sum) ? (by < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Integrate readings of @channel over the area. */
static int integrate(struct model *m, const struct model_stream *s, uint32_t channel, uint64_t from,
		     uint64_t to, struct area *a, struct cvl_error *err)
{
	const struct cvl_map *map = cvl_timeline_map(m->tl, s->clock);
	const uint64_t back = a->count ? 4 * (to - from) / a->count + 1 : 0;
	struct cvl_stream_opts opts =
		session_stream_opts(m->session, s->of, cvl_trace_stream_name(s->trace, s->number));
	struct cvl_energy e = { 0 };
	struct cvl_energy_sum sum = { 0 };
	struct energy_pair pair = { 0 };
	struct cvl_stream *stream;
	struct cvl_batch b;
	bool any = false;
	int rc;

	opts.from.count = from > back ? from - back : 0;
	opts.to.count = to + back;
	rc = cvl_stream_open(&stream, s->trace, s->number, &opts, err);
	if (rc)
		return rc;
	while ((rc = cvl_stream_next(stream, &b, err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			if (b.kind[i] == CVL_GAP)
				any = false;
			if (b.kind[i] != CVL_SAMPLE || b.cls[i] != channel)
				continue;
			pair.t0 = pair.t1;
			pair.w0 = pair.w1;
			pair.t1 = cvl_map_time(map, b.tick[i], NULL).ns;
			memcpy(&pair.w1, &b.value[i], sizeof(pair.w1));
			if (any && pair.t1 > pair.t0 && pair.t1 > a->from && pair.t0 < a->to)
				energy_add(&e, a->from, a->to, &pair, a->bound);
			any = pair.w1 - pair.w1 == 0;
		}
	cvl_stream_close(stream);
	if (rc < 0)
		return rc;
	energy_sum_add(&sum, &e);
	a->integrated = e.covered_ns > 0;
	a->integral = e.joule;
	a->integral_half = energy_half(&sum);
	a->covered = a->to > a->from ? e.covered_ns / (double)(a->to - a->from) : 0;
	return 0;
}

/* Records within the bound of @ns. */
static int near(const struct model_stream *s, const struct cvl_map *map, int64_t ns, uint64_t first,
		uint64_t end, struct sum *sum, int64_t bound, struct cvl_error *err)
{
	return add_up(s->lod, place(map, later(ns, -bound), first, end),
		      place(map, later(ns, bound), first, end), sum, err);
}

int area_sum(struct model *m, const struct model_stream *s, uint32_t track, struct area *a,
	     struct cvl_error *err)
{
	const struct cvl_map *map = cvl_timeline_map(m->tl, s->clock);
	const struct cvl_lod_track what = cvl_lod_track(s->lod, track);
	const struct cvl_clock *clock = cvl_session_clock(m->session, s->clock);
	struct cvl_bound of_from, of_to;
	struct cvl_tick first, last;
	struct sum in = { .track = track, .line = what.of == CVL_LOD_LINE }, ends = in;
	uint64_t from, to;
	int rc;

	*a = (struct area){
		.from = a->from, .to = a->to, .of = what.of, .bound = CVL_BOUND_UNKNOWN
	};
	if (!cvl_lod_range(s->lod, &first, &last))
		return 0;
	last.count++;
	from = place(map, a->from, first.count, last.count);
	to = place(map, a->to, first.count, last.count);
	of_from = cvl_timeline_clock_bound(m->tl, s->clock, (struct cvl_tick){ from });
	of_to = cvl_timeline_clock_bound(m->tl, s->clock, (struct cvl_tick){ to });
	of_from.capture = of_to.capture =
		(int64_t)((double)clock->resolution * 1e9 / (double)clock->rate_hz) + 1;
	a->bound = cvl_bound_total(of_from) > cvl_bound_total(of_to) ? cvl_bound_total(of_from) :
								       cvl_bound_total(of_to);
	rc = add_up(s->lod, from, to, &in, err);
	if (!rc && a->bound != CVL_BOUND_UNKNOWN && a->bound < (a->to - a->from) / 2) {
		rc = near(s, map, a->from, first.count, last.count, &ends, a->bound, err);
		rc = rc ? rc : near(s, map, a->to, first.count, last.count, &ends, a->bound, err);
	} else if (!rc && a->bound != CVL_BOUND_UNKNOWN) { /* the ends' bounds overlap */
		rc = add_up(s->lod, place(map, later(a->from, -a->bound), first.count, last.count),
			    place(map, later(a->to, a->bound), first.count, last.count), &ends,
			    err);
	}
	a->count = in.count;
	a->maybe = ends.count;
	a->high_ns = (double)in.high_ticks * 1e9 / (double)clock->rate_hz;
	a->min = in.min;
	a->max = in.max;
	a->total = in.total;
	if (!rc && what.of == CVL_LOD_CHANNEL && in.count && in.count <= READINGS_MOST)
		rc = integrate(m, s, what.number, from, to, a, err);
	return rc;
}
