/* SPDX-License-Identifier: MIT */
/* Readings of power, and the intervals that they are added to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/power_internal.h"

/* Intervals that may wait for readings at a time. */
#define OPEN_MAX 65536

/* ---- channels ---- */

static const char *main_channel(const struct power_opts *o)
{
	return o->watts ? o->watts : o->amperes;
}

/* "V1, I1": the channels that there are. */
static void list_channels(const struct power_study *s, char *out, size_t size)
{
	size_t len = 0;

	*out = '\0';
	for (size_t i = 0; i < cvl_timeline_streams(s->tl); i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(s->tl, i);
		uint64_t n = cvl_trace_env_number(trace, "channels");

		for (size_t k = 0; k < n && k < CVL_CHANNELS_MAX && len < size; k++) {
			const char *name = cvl_trace_env_at(trace, "channel", k);

			if (name)
				len += (size_t)snprintf(out + len, size - len, "%s%s",
							len ? ", " : "", name);
		}
	}
	if (len >= size && size > 4)
		strcpy(out + size - 4, "...");
}

static int no_channel(const struct power_study *s, const char *name)
{
	const char *path = cvl_session_path(cvl_timeline_session(s->tl));
	char names[160];

	list_channels(s, names, sizeof(names));
	if (!*names)
		return cvl_fail(s->err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
				"%s: no clock has analog channels", path);
	return cvl_fail(s->err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"%s: no clock has samples of a channel %s; there are: %s", path, name,
			names);
}

static int clock_of(const struct power_study *s, const struct cvl_trace *trace)
{
	const struct cvl_session *session = cvl_timeline_session(s->tl);

	for (size_t i = 0; i < cvl_session_clocks(session); i++)
		if (!strcmp(cvl_session_clock(session, i)->trace, cvl_trace_path(trace)))
			return (int)i;
	return -1;
}

int power_readers(struct power_study *s)
{
	const struct power_opts *o = s->opts;
	size_t streams = cvl_timeline_streams(s->tl);
	bool any = false;

	s->reader = calloc(streams + 1, sizeof(*s->reader));
	s->r->source = calloc(streams + 1, sizeof(*s->r->source));
	if (!s->reader || !s->r->source)
		return power_no_memory(s);
	for (size_t i = 0; i < streams; i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(s->tl, i);
		int channel = clocks_find(trace, "channel", main_channel(o));
		int volts = clocks_find(trace, "channel", o->volts), clock = clock_of(s, trace);

		any = any || channel >= 0;
		if (channel < 0 || clock < 0 || (o->volts && volts < 0))
			continue;
		s->r->source[s->r->n_sources] =
			(struct power_source){ .stream = i, .clock = (size_t)clock };
		s->reader[s->r->n_sources].channel = channel;
		s->reader[s->r->n_sources++].volts = volts;
	}
	if (s->r->n_sources)
		return 0;
	return no_channel(s, any ? o->volts : main_channel(o));
}

/* ---- intervals ---- */

static const char *node_of(const struct power_study *s, size_t clock)
{
	return cvl_session_clock(cvl_timeline_session(s->tl), clock)->node;
}

/* Greatest |watts| of the readings so far about @at, give or take @pad. */
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
 * Half-width of a reading against a mark. Of one stream both stand at the same looks, so that what is unknown is only
 * since when the line had been so.
 */
static int64_t apart_of(const struct power_study *s, size_t i, struct cvl_bound reading,
			const struct power_at *mark)
{
	const struct power_source *source = &s->r->source[i];

	if (source->stream == mark->stream)
		reading.capture = 0;
	return clocks_pair(s->root[mark->clock] == s->root[source->clock], reading, mark->bound);
}

static int open_at(struct power_study *s, size_t i, size_t lane, bool high,
		   const struct power_at *at)
{
	struct power_reader *r = &s->reader[i];
	struct power_open *new;

	if (r->n_open == OPEN_MAX)
		return cvl_fail(
			s->err, CVL_E_LIMIT, CVL_NO_OFFSET,
			"more than %d intervals before the next readings of %s: look at a part by --from and --to",
			OPEN_MAX,
			cvl_session_clock(cvl_timeline_session(s->tl), s->r->source[i].clock)
				->name);
	if (r->n_open == r->room) {
		size_t room = r->room ? 2 * r->room : 16;

		new = reallocarray(r->open, room, sizeof(*new));
		if (!new)
			return power_no_memory(s);
		r->open = new;
		r->room = room;
	}
	new = &r->open[r->n_open++];
	*new = (struct power_open){
		.span = { .source = i, .clock = at->clock, .high = high, .begin = at->time },
		.begin = *at,
		.lane = lane,
	};
	new->span.energy.begin_w = look_back(r, at->time, apart_of(s, i, r->last_bound, at));
	return 0;
}

int power_open(struct power_study *s, size_t lane, bool high, const struct power_at *at)
{
	const char *node = node_of(s, at->clock);
	bool own = false;
	int rc = 0;

	for (size_t i = 0; i < s->r->n_sources; i++)
		own = own || !strcmp(node_of(s, s->r->source[i].clock), node);
	for (size_t i = 0; i < s->r->n_sources && !rc; i++)
		if (!own || !strcmp(node_of(s, s->r->source[i].clock), node))
			rc = open_at(s, i, lane, high, at);
	return rc;
}

void power_close(struct power_study *s, size_t lane, const struct power_at *at)
{
	for (size_t i = 0; i < s->r->n_sources; i++)
		for (size_t k = s->reader[i].n_open; k-- > 0;) {
			struct power_open *o = &s->reader[i].open[k];

			if (o->closed || o->lane != lane)
				continue;
			o->closed = true;
			o->end = *at;
			o->span.end = at->time.ns > o->span.begin.ns ? at->time : o->span.begin;
			o->span.energy.end_w =
				look_back(&s->reader[i], at->time,
					  apart_of(s, i, s->reader[i].last_bound, at));
			break;
		}
}

void power_drop(struct power_study *s, size_t lane)
{
	for (size_t i = 0; i < s->r->n_sources; i++) {
		struct power_reader *r = &s->reader[i];
		size_t kept = 0;

		for (size_t k = 0; k < r->n_open; k++)
			if (r->open[k].closed || r->open[k].lane != lane)
				r->open[kept++] = r->open[k];
		r->n_open = kept;
	}
}

static int emit(struct power_study *s, struct power_open *o)
{
	struct power_span *span = &o->span;
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
	return s->put(s->ctx, span);
}

/* ---- readings ---- */

/* One more reading of an interval: @p, if there was one before it. */
static int add_reading(struct power_study *s, struct power_open *o, const struct power_reader *r,
		       const struct energy_pair *p, double w)
{
	struct power_span *span = &o->span;
	int64_t t = r->time.ns, end = o->closed ? span->end.ns : INT64_MAX;
	int64_t begin = span->whole ? INT64_MIN : span->begin.ns, apart = 0;

	if (!span->whole)
		apart = apart_of(s, span->source, r->bound, &o->begin);
	if (o->closed && apart != CVL_BOUND_UNKNOWN) {
		int64_t at_end = apart_of(s, span->source, r->bound, &o->end);

		apart = at_end > apart ? at_end : apart;
	}
	if (apart == CVL_BOUND_UNKNOWN)
		return power_not_tied(s, span->clock, s->r->source[span->source].clock);
	if (t >= begin && t <= end && (!o->read || w > span->peak_w)) {
		span->peak_w = w;
		span->peak_at = r->time;
	}
	if (t >= begin && !o->read) {
		o->first = r->bound;
		o->read = true;
	}
	o->last = r->bound;
	if (p)
		energy_add(&span->energy, begin, end, p, apart);
	return 0;
}

static bool is_done(const struct power_open *o, int64_t t0)
{
	return o->closed && cvl_add_sat(o->span.end.ns, o->span.energy.apart) < t0;
}

static void remember(struct power_reader *r, const struct energy_pair *p)
{
	struct energy_pair *slot = &r->ring[r->n_ring % POWER_RING];

	if (r->n_ring >= POWER_RING)
		r->most = fmax(r->most, fmax(fabs(slot->w0), fabs(slot->w1)));
	*slot = *p;
	r->n_ring++;
}

static int reading(struct power_study *s, size_t i, double w)
{
	struct power_source *source = &s->r->source[i];
	struct power_reader *r = &s->reader[i];
	struct energy_pair pair = { r->last.ns, r->time.ns, r->watt, w };
	bool is_pair = r->known && r->time.ns > r->last.ns;
	size_t kept = 0;
	int rc = 0;

	if (!source->samples++)
		source->first = r->time;
	source->last = r->time;
	r->whole.span.whole = true;
	r->whole.span.source = i;
	if (s->opts->how == POWER_WHOLE)
		rc = add_reading(s, &r->whole, r, is_pair ? &pair : NULL, w);
	for (size_t k = 0; k < r->n_open; k++) {
		if (!rc)
			rc = add_reading(s, &r->open[k], r, is_pair ? &pair : NULL, w);
		if (!rc && is_pair && is_done(&r->open[k], pair.t0))
			rc = emit(s, &r->open[k]);
		else
			r->open[kept++] = r->open[k];
	}
	r->n_open = kept;
	if (is_pair)
		remember(r, &pair);
	r->known = true;
	r->last = r->time;
	r->last_bound = r->bound;
	r->watt = w;
	return rc;
}

/* What was read of the current without the volts, or the other way round, tells nothing of the power. */
static void give_up(struct power_study *s, size_t i)
{
	struct power_reader *r = &s->reader[i];

	s->r->source[i].unlike += r->pending;
	r->pending = r->have[0] = r->have[1] = false;
}

int power_read(struct power_study *s, size_t i, const struct cvl_slice *sl, size_t k)
{
	struct power_reader *r = &s->reader[i];
	const uint32_t cls = sl->batch->cls[k];
	double w, volts = 1;

	if (cls != (uint32_t)r->channel && (r->volts < 0 || cls != (uint32_t)r->volts))
		return 0;
	if (r->pending && r->time.ns != sl->time[k].ns)
		give_up(s, i);
	r->pending = true;
	r->time = sl->time[k];
	for (unsigned which = 0; which < 2; which++)
		if (cls == (uint32_t)(which ? r->volts : r->channel)) {
			memcpy(&r->value[which], &sl->batch->value[k], sizeof(double));
			r->have[which] = true;
		}
	if (!r->have[0] || (r->volts >= 0 && !r->have[1]))
		return 0;
	r->pending = r->have[0] = r->have[1] = false;
	r->bound = cvl_timeline_bound_parts(s->tl, sl, k);
	w = r->value[0] * s->opts->unit;
	if (s->opts->amperes)
		volts = r->volts >= 0 ? r->value[1] : s->opts->fixed_volts;
	w *= volts;
	if (isfinite(w)) {
		s->r->source[i].most_volts = fmax(s->r->source[i].most_volts, fabs(volts));
		return reading(s, i, w);
	}
	r->known = false;
	return 0;
}

void power_lose(struct power_study *s, size_t i)
{
	struct power_reader *r = &s->reader[i];

	give_up(s, i);
	r->known = false;
	s->r->source[i].gaps++;
	r->whole.span.gaps++;
	for (size_t k = 0; k < r->n_open; k++)
		r->open[k].span.gaps += !r->open[k].closed;
}

static int end_whole(struct power_study *s, size_t i)
{
	const struct power_source *source = &s->r->source[i];
	struct power_open *o = &s->reader[i].whole;

	if (!source->samples)
		return 0;
	o->span.clock = o->begin.clock = o->end.clock = source->clock;
	o->span.begin = source->first;
	o->span.end = source->last;
	o->begin.bound = o->first;
	o->end.bound = o->last;
	return emit(s, o);
}

int power_read_end(struct power_study *s)
{
	uint64_t samples = 0, unlike = 0;
	int rc = 0;

	for (size_t i = 0; i < s->r->n_sources && !rc; i++) {
		struct power_reader *r = &s->reader[i];

		give_up(s, i);
		samples += s->r->source[i].samples;
		unlike += s->r->source[i].unlike;
		for (size_t k = 0; k < r->n_open && !rc; k++)
			rc = r->open[k].closed ? emit(s, &r->open[k]) : 0;
		r->n_open = 0;
		if (!rc && s->opts->how == POWER_WHOLE)
			rc = end_whole(s, i);
	}
	if (!rc && !samples && unlike)
		return cvl_fail(
			s->err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: %s and %s are never read at the same time; give the volts as a number by --volts",
			cvl_session_path(cvl_timeline_session(s->tl)), s->opts->amperes,
			s->opts->volts);
	return rc;
}
