/* SPDX-License-Identifier: MIT */
/* The intervals that readings are added to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/power/internal.h"
#include <coeval/array.h>

/* Most intervals waiting for readings. */
#define OPEN_MAX 65536

static const char *node_of(const struct power_study *s, size_t clock)
{
	return cvl_session_clock(cvl_timeline_session(s->tl), clock)->node;
}

/* Greatest |watts| of the readings so far about @at, within @pad. */
static double look_back(const struct power_reader *r, struct cvl_time at, int64_t pad)
{
	size_t kept = r->n_ring < POWER_RING ? r->n_ring : POWER_RING;
	double most = 0;

	if (pad == CVL_BOUND_UNKNOWN)
		return 0;
	for (size_t k = 0; k < kept; k++) {
		const struct energy_pair *p = &r->ring[(r->n_ring - 1 - k) % POWER_RING];

		if (p->t1 < cvl_add_sat(at.ns, -pad))
			return most;
		most = fmax(most, fmax(fabs(p->w0), fabs(p->w1)));
	}
	return fmax(most, r->most);
}

/*
 * In one stream both are stamped at the same polls, so only the time of the change before the poll
 * is uncertain.
 */
int64_t power_apart(const struct power_study *s, size_t i, struct cvl_bound reading,
		    const struct power_at *mark)
{
	const struct cvl_power_source *source = &s->r.source[i];

	if (source->stream == mark->stream)
		reading.capture = 0;
	return clocks_pair(s->root[mark->clock] == s->root[source->clock], reading, mark->bound);
}

static struct cvl_power_row *row_of(struct power_study *s, const struct cvl_power_interval *span)
{
	struct cvl_power_result *r = &s->r;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->row[i].source == span->source && r->row[i].clock == span->clock &&
		    r->row[i].high == span->high)
			return &r->row[i];
	if (cvl_room(&r->row, r->n_rows, &s->rows_room, sizeof(*r->row)))
		return NULL;
	r->row[r->n_rows] = (struct cvl_power_row){ .source = span->source,
						    .clock = span->clock,
						    .high = span->high };
	return &r->row[r->n_rows++];
}

static int hand_on(struct power_study *s, const struct cvl_power_interval *span)
{
	struct cvl_power_result *r = &s->r;
	struct cvl_power_row *row = row_of(s, span);
	struct cvl_power_sum one = { 0 };

	if (!row)
		return cvl_no_memory(s->err);
	cvl_power_sum_add(&one, span);
	cvl_power_sum_add(&row->sum, span);
	if (one.sampled && (!row->least.n || one.energy.joule < row->least.energy.joule))
		row->least = one;
	if (one.sampled && (!row->most.n || one.energy.joule > row->most.energy.joule))
		row->most = one;
	if (s->opts.keep) {
		if (cvl_room(&r->interval, r->n_intervals, &s->intervals_room,
			     sizeof(*r->interval)))
			return cvl_no_memory(s->err);
		r->interval[r->n_intervals++] = *span;
	}
	return s->opts.put ? s->opts.put(s->opts.ctx, span, r) : 0;
}

int power_emit(struct power_study *s, struct power_open *o)
{
	struct cvl_power_interval *span = &o->span;
	int64_t ns = span->end.ns - span->begin.ns;

	span->bound = s->root[o->begin.clock] == s->root[o->end.clock] ?
			      clocks_duration(ns, o->begin.bound, o->end.bound) :
			      cvl_bound_pair(o->begin.bound, o->end.bound);
	if (o->read && span->energy.covered_ns > 0) {
		int64_t covered = (int64_t)span->energy.covered_ns;

		o->first.capture = o->last.capture = 0;
		span->stretch_j = fabs(span->energy.joule) *
				  (double)clocks_duration(covered, o->first, o->last) /
				  span->energy.covered_ns;
	}
	return hand_on(s, span);
}

/*
 * Readings may have ended long ago. An interval that ended since then without a reading will never
 * get one, as later readings are later still: it need not wait.
 */
static int emit_unread(struct power_study *s, struct power_reader *r)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t k = 0; k < r->n_open; k++) {
		struct power_open *o = &r->open[k];

		if (!rc && o->closed && !o->span.energy.samples && o->span.end.ns <= s->latest.ns)
			rc = power_emit(s, o);
		else
			r->open[kept++] = *o;
	}
	r->n_open = kept;
	return rc;
}

static int open_at(struct power_study *s, size_t i, size_t lane, bool high,
		   const struct power_at *at)
{
	struct power_reader *r = &s->reader[i];
	struct power_open *new;
	int rc = r->n_open == OPEN_MAX ? emit_unread(s, r) : 0;

	if (rc)
		return rc;
	if (r->n_open == OPEN_MAX)
		return cvl_fail(
			s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
			"more than %d intervals before the next readings of %s; look at a part",
			OPEN_MAX,
			cvl_session_clock(cvl_timeline_session(s->tl), s->r.source[i].clock)->name);
	if (cvl_room(&r->open, r->n_open, &r->room, sizeof(*r->open)))
		return cvl_no_memory(s->err);
	new = &r->open[r->n_open++];
	*new = (struct power_open){
		.span = { .source = i, .clock = at->clock, .high = high, .begin = at->time },
		.begin = *at,
		.lane = lane,
	};
	new->span.energy.begin_w = look_back(r, at->time, power_apart(s, i, r->last_bound, at));
	return 0;
}

int power_open(struct power_study *s, size_t lane, bool high, const struct power_at *at)
{
	const char *node = node_of(s, at->clock);
	bool own = false;
	int rc = 0;

	for (size_t i = 0; i < s->r.n_sources; i++)
		own = own || !strcmp(node_of(s, s->r.source[i].clock), node);
	for (size_t i = 0; i < s->r.n_sources && !rc; i++)
		if (!own || !strcmp(node_of(s, s->r.source[i].clock), node))
			rc = open_at(s, i, lane, high, at);
	return rc;
}

void power_close(struct power_study *s, size_t lane, const struct power_at *at)
{
	for (size_t i = 0; i < s->r.n_sources; i++)
		for (size_t k = s->reader[i].n_open; k-- > 0;) {
			struct power_open *o = &s->reader[i].open[k];

			if (o->closed || o->lane != lane)
				continue;
			o->closed = true;
			o->end = *at;
			o->span.end = at->time.ns > o->span.begin.ns ? at->time : o->span.begin;
			o->span.energy.end_w =
				look_back(&s->reader[i], at->time,
					  power_apart(s, i, s->reader[i].last_bound, at));
			break;
		}
}

void power_drop(struct power_study *s, size_t lane)
{
	for (size_t i = 0; i < s->r.n_sources; i++) {
		struct power_reader *r = &s->reader[i];
		size_t kept = 0;

		for (size_t k = 0; k < r->n_open; k++)
			if (r->open[k].closed || r->open[k].lane != lane)
				r->open[kept++] = r->open[k];
		r->n_open = kept;
	}
}
