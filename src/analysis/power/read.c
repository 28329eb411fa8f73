/* SPDX-License-Identifier: MIT */
/* Readings of power. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/power/internal.h"

/* ---- channels ---- */

static const char *main_channel(const struct cvl_power_opts *o)
{
	return o->watts ? o->watts : o->amperes;
}

/* "V1, I1": the available channels. */
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
	const struct cvl_power_opts *o = &s->opts;
	size_t streams = cvl_timeline_streams(s->tl);
	bool any = false;

	s->reader = calloc(streams + 1, sizeof(*s->reader));
	s->r.source = calloc(streams + 1, sizeof(*s->r.source));
	if (!s->reader || !s->r.source)
		return cvl_no_memory(s->err);
	for (size_t i = 0; i < streams; i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(s->tl, i);
		int channel = clocks_find(trace, "channel", main_channel(o));
		int volts = clocks_find(trace, "channel", o->volts), clock = clock_of(s, trace);

		any = any || channel >= 0;
		if (channel < 0 || clock < 0 || (o->volts && volts < 0))
			continue;
		s->r.source[s->r.n_sources] =
			(struct cvl_power_source){ .stream = i, .clock = (size_t)clock };
		s->reader[s->r.n_sources].channel = channel;
		s->reader[s->r.n_sources++].volts = volts;
	}
	if (s->r.n_sources)
		return 0;
	return no_channel(s, any ? o->volts : main_channel(o));
}

/* ---- readings ---- */

/* One more reading of an interval: @p, if there was a previous one. */
static int add_reading(struct power_study *s, struct power_open *o, const struct power_reader *r,
		       const struct energy_pair *p, double w)
{
	struct cvl_power_interval *span = &o->span;
	int64_t t = r->time.ns, end = o->closed ? span->end.ns : INT64_MAX;
	int64_t begin = span->whole ? INT64_MIN : span->begin.ns, apart = 0;

	if (!span->whole)
		apart = power_apart(s, span->source, r->bound, &o->begin);
	if (o->closed && apart != CVL_BOUND_UNKNOWN) {
		int64_t at_end = power_apart(s, span->source, r->bound, &o->end);

		apart = at_end > apart ? at_end : apart;
	}
	if (apart == CVL_BOUND_UNKNOWN)
		return power_not_tied(s, span->clock, s->r.source[span->source].clock);
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
	struct cvl_power_source *source = &s->r.source[i];
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
	if (s->r.of == CVL_POWER_ALL)
		rc = add_reading(s, &r->whole, r, is_pair ? &pair : NULL, w);
	for (size_t k = 0; k < r->n_open; k++) {
		if (!rc)
			rc = add_reading(s, &r->open[k], r, is_pair ? &pair : NULL, w);
		if (!rc && is_pair && is_done(&r->open[k], pair.t0))
			rc = power_emit(s, &r->open[k]);
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

/*
 * A reading of the current without the volts, or the other way round, does not give the power.
 */
static void give_up(struct power_study *s, size_t i)
{
	struct power_reader *r = &s->reader[i];

	s->r.source[i].unpaired += r->pending;
	r->pending = r->have[0] = r->have[1] = false;
}

int power_read(struct power_study *s, size_t i, const struct cvl_slice *sl, size_t k)
{
	struct power_reader *r = &s->reader[i];
	const uint32_t cls = sl->batch->cls[k];
	double w, volts = 1, rounded;

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
	w = r->value[0] * s->opts.unit;
	if (s->opts.amperes)
		volts = r->volts >= 0 ? r->value[1] : s->opts.fixed_volts;
	w *= volts;
	if (fabs(w) <= CVL_POWER_MOST && fabs(volts) <= CVL_POWER_MOST) {
		rounded = s->opts.rounded * s->opts.unit * fabs(volts);
		s->r.source[i].rounded_w = fmax(s->r.source[i].rounded_w, rounded);
		return reading(s, i, w);
	}
	r->known = false;
	s->r.source[i].out_of_range++;
	return 0;
}

void power_lose(struct power_study *s, size_t i)
{
	struct power_reader *r = &s->reader[i];

	give_up(s, i);
	r->known = false;
	s->r.source[i].gaps++;
	r->whole.span.gaps++;
	for (size_t k = 0; k < r->n_open; k++)
		r->open[k].span.gaps += !r->open[k].closed;
}

static int end_whole(struct power_study *s, size_t i)
{
	const struct cvl_power_source *source = &s->r.source[i];
	struct power_open *o = &s->reader[i].whole;

	if (!source->samples)
		return 0;
	o->span.clock = o->begin.clock = o->end.clock = source->clock;
	o->span.begin = source->first;
	o->span.end = source->last;
	o->begin.bound = o->first;
	o->end.bound = o->last;
	return power_emit(s, o);
}

int power_read_end(struct power_study *s)
{
	uint64_t samples = 0, unpaired = 0, out_of_range = 0;
	int rc = 0;

	for (size_t i = 0; i < s->r.n_sources && !rc; i++) {
		struct power_reader *r = &s->reader[i];

		give_up(s, i);
		samples += s->r.source[i].samples;
		unpaired += s->r.source[i].unpaired;
		out_of_range += s->r.source[i].out_of_range;
		for (size_t k = 0; k < r->n_open && !rc; k++)
			rc = r->open[k].closed ? power_emit(s, &r->open[k]) : 0;
		r->n_open = 0;
		if (!rc && s->r.of == CVL_POWER_ALL)
			rc = end_whole(s, i);
	}
	if (!rc && !samples && out_of_range)
		return cvl_fail(
			s->err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: all %llu readings are beyond %.0e W or V: check the channel and its unit",
			cvl_session_path(cvl_timeline_session(s->tl)),
			(unsigned long long)out_of_range, CVL_POWER_MOST);
	if (!rc && !samples && unpaired)
		return cvl_fail(
			s->err, CVL_E_NO, CVL_NO_OFFSET,
			"%s: %s and %s are never read at the same time; give the volts as a number",
			cvl_session_path(cvl_timeline_session(s->tl)), s->opts.amperes,
			s->opts.volts);
	return rc;
}
