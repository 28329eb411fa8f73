/* SPDX-License-Identifier: MIT */
#include "sim/simbed/judge.h"

#include <coeval/array.h>

#include <coeval/ctf.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN_NS 1000000000 /* bound of the true map where there is nothing to know */

/* A run of samples without a hole, in ticks of the true clock; @end is behind it. */
struct segment {
	uint64_t first, end;
};

struct judge {
	struct judgement *j;
	const struct bed_course *course;
	struct segment *segment;
	size_t n_segments, room, at; /* segment that is being read */
	int64_t shift;               /* true tick minus stored one */
	size_t edge;                 /* next one that is expected */
	uint8_t pins;
	bool known;     /* what the pins were */
	uint64_t first; /* true tick at which the stored segment begins */
	bool in_gap;
	/*
	 * before the last slip, which was at @slip_tick; for one that follows on it without a
	 * sample between
	 */
	uint64_t slip_tick, half;
	size_t slip_at;
	int64_t slip_shift;
	struct cvl_knot *knot;
	size_t n_knots, cap_knots;
	struct cvl_error *err;
};

static int read_log(struct judge *j, const char *path)
{
	FILE *f = fopen(path, "re");
	struct segment s;

	if (!f)
		return cvl_fail_errno(j->err, "open", path);
	while (fscanf(f, "%" SCNu64 " %" SCNu64, &s.first, &s.end) == 2) {
		if (cvl_room(&j->segment, j->n_segments, &j->room, sizeof(*j->segment))) {
			fclose(f);
			return cvl_no_memory(j->err);
		}
		j->segment[j->n_segments++] = s;
	}
	fclose(f);
	return 0;
}

/* ---- the true map ---- */

/* @bound: 0, or that nothing was seen there. */
static int add_knot(struct judge *j, uint64_t true_tick, int64_t bound)
{
	double t = bed_time(j->course, true_tick);
	struct cvl_knot k = { .tick = { (uint64_t)((int64_t)true_tick - j->shift) },
			      .time = { (int64_t)floor(t) },
			      .frac = (uint32_t)((t - floor(t)) * 0x1p32),
			      .bound_ns = bound };

	if (j->n_knots && k.tick.count <= j->knot[j->n_knots - 1].tick.count)
		return 0;
	if (cvl_room(&j->knot, j->n_knots, &j->cap_knots, sizeof(*j->knot)))
		return cvl_no_memory(j->err);
	j->knot[j->n_knots++] = k;
	return 0;
}

/* From true tick @from to @to, bending where the oscillator does. */
static int add_knots(struct judge *j, uint64_t from, uint64_t to)
{
	const struct oscillator *o = &j->course->osc;
	int rc = add_knot(j, from, 0);

	for (size_t i = 1; i <= o->n && !rc; i++) {
		double tick = clock_counts(j->course->clock, o, (double)i * o->step_ns);

		if (tick > (double)from && tick < (double)to)
			rc = add_knot(j, (uint64_t)tick, 0);
	}
	return rc ? rc : add_knot(j, to, 0);
}

/* ---- edges ---- */

/*
 * Everything that was there before true tick @to, which is behind what is stored: none of it may be
 * missing.
 */
static void expect_all(struct judge *j, uint64_t to)
{
	const struct bed_course *c = j->course;

	for (; j->edge < c->n_edges && c->edge[j->edge].tick < to; j->edge++)
		j->j->missing++;
}

static void pass_gap(struct judge *j, uint64_t to)
{
	const struct bed_course *c = j->course;

	for (; j->edge < c->n_edges && c->edge[j->edge].tick < to; j->edge++)
		j->j->in_gaps++;
}

static void see_edge(struct judge *j, uint64_t stored, uint8_t levels, bool restated)
{
	const struct bed_course *c = j->course;
	uint64_t tick = (uint64_t)((int64_t)stored + j->shift);
	uint8_t pins = levels & (uint8_t)((1u << BED_RADIO_LINE) - 1);

	if (restated && j->known && !j->in_gap) {
		j->j->invented += pins != j->pins; /* the levels as they were before this tick */
		return;
	}
	if (restated || !j->known) {
		uint8_t is = 0;

		while (j->edge < c->n_edges && c->edge[j->edge].tick <= tick)
			j->edge++;
		if (j->edge)
			is = c->edge[j->edge - 1].pins;
		j->j->invented += is != pins;
		j->pins = pins;
		j->known = true;
		j->in_gap = false;
		return;
	}
	if (pins == j->pins)
		return; /* the radio's line */
	expect_all(j, tick);
	if (j->edge < c->n_edges && c->edge[j->edge].tick == tick &&
	    c->edge[j->edge].pins == pins) {
		j->edge++;
		j->j->edges++;
	} else {
		j->j->invented++;
	}
	j->pins = pins;
}

/* It must stand where its packet ended, to a us. */
static void see_beacon(struct judge *j, uint64_t stored, uint64_t number)
{
	const struct bed_course *c = j->course;
	double tick = (double)((int64_t)stored + j->shift),
	       reach = 2 + 1e-6 * (double)c->clock->group->rate_hz;

	j->j->beacons++;
	for (size_t i = 0; i < c->n_heard; i++)
		if (c->heard[i].packet->number == number &&
		    fabs(tick - clock_counts(c->clock, &c->osc, c->heard[i].end_ns)) < reach)
			return;
	j->j->wrong_beacons++;
}

/* ---- gaps and slips ---- */

static int see_gap(struct judge *j, uint64_t from)
{
	uint64_t end = (uint64_t)((int64_t)from + j->shift);
	int rc;

	j->j->gaps++;
	j->in_gap = true;
	if (j->j->slips && from == j->slip_tick) { /* nothing came in between: both are one */
		j->at = j->slip_at;
		j->shift = j->slip_shift;
		while (j->n_knots && j->knot[j->n_knots - 1].tick.count + 1 >= from)
			j->n_knots--;
		return 0;
	}
	j->half = 0;
	expect_all(j, end);
	rc = end > j->first ? add_knots(j, j->first, end - 1) : 0;
	return rc ? rc : add_knot(j, end, UNSEEN_NS);
}

static int see_slip(struct judge *j, uint64_t stored, uint64_t half)
{
	int64_t guess = (int64_t)stored + j->shift, best = INT64_MAX, off;
	size_t next = j->at;

	j->j->slips++;
	j->slip_tick = stored;
	j->slip_at = j->at;
	j->slip_shift = j->shift;
	j->half = half += j->half;
	/* the first that it can be, or else the nearest */
	for (size_t i = j->at + 1; i < j->n_segments && best > (int64_t)half; i++) {
		int64_t apart = llabs((int64_t)j->segment[i].first - guess);

		if (apart < best) {
			best = apart;
			next = i;
		}
	}
	j->at = next;
	off = (int64_t)j->segment[next].first - guess;
	j->j->narrow += (uint64_t)llabs(off) > half;
	j->j->worst_slip = fmax(j->j->worst_slip, fabs((double)off) / (double)half);
	j->shift = (int64_t)j->segment[next].first - (int64_t)stored;
	j->first = j->segment[next].first;
	pass_gap(j, j->first);
	return add_knot(j, j->first - 1, UNSEEN_NS);
}

static int see_batch(struct judge *j, const struct cvl_batch *b, uint64_t *last)
{
	int rc = 0;

	for (size_t i = 0; i < b->n && !rc; i++) {
		uint64_t tick = b->tick[i].count;

		switch ((enum cvl_kind)b->kind[i]) {
		case CVL_EDGE:
			see_edge(j, tick, (uint8_t)b->value[i], b->flags[i] & CVL_STATE);
			break;
		case CVL_BEACON: see_beacon(j, tick, b->value[i]); break;
		case CVL_GAP: rc = see_gap(j, tick); break;
		case CVL_SLIP: rc = see_slip(j, tick, b->value[i]); break;
		default: break;
		}
		*last = tick > *last ? tick : *last;
	}
	return rc;
}

static int read_clock(struct judge *j, const struct cvl_clock *clock)
{
	struct cvl_trace *trace;
	struct cvl_stream *stream = NULL;
	struct cvl_batch batch;
	uint64_t last = 0;
	int rc = cvl_trace_open(&trace, clock->trace, NULL, j->err);

	if (rc)
		return rc;
	rc = cvl_stream_open(&stream, trace, 0, NULL, j->err);
	while (!rc && (rc = cvl_stream_next(stream, &batch, j->err)) > 0)
		rc = see_batch(j, &batch, &last);
	if (!rc && !j->in_gap) {
		uint64_t end = (uint64_t)((int64_t)last + j->shift);

		expect_all(j, end);
		if (end > j->first)
			rc = add_knots(j, j->first, end);
	}
	j->j->ticks = last + 1;
	cvl_stream_close(stream);
	cvl_trace_close(trace);
	return rc;
}

int judge_clock(struct judgement *out, struct cvl_clock_sync *truth,
		const struct cvl_session *session, size_t clock, const struct bed_course *course,
		const char *log, struct cvl_error *err)
{
	struct judge j = { .j = out, .course = course, .err = err };
	struct cvl_map_spec spec = { .rate_hz = course->clock->group->rate_hz,
				     .kind = CVL_BOUND_PROVEN };
	int rc;

	*out = (struct judgement){ 0 };
	rc = read_log(&j, log);
	if (!rc && !j.n_segments)
		rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "%s: the capture saw no sample",
			      course->clock->name);
	if (!rc) {
		j.shift = (int64_t)j.segment[0].first;
		j.first = j.segment[0].first;
		rc = read_clock(&j, cvl_session_clock(session, clock));
	}
	spec.knots = j.knot;
	spec.n = j.n_knots;
	if (!rc)
		rc = cvl_map_new(&truth->map, &spec, err);
	if (!rc) {
		truth->clock = strdup(cvl_session_clock(session, clock)->name);
		truth->verdict = CVL_GOOD;
		snprintf(truth->reason, sizeof(truth->reason), "simulated");
		if (!truth->clock)
			rc = cvl_no_memory(j.err);
	}
	free(j.segment);
	free(j.knot);
	return rc;
}
