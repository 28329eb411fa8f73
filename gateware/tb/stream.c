/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <string.h>

void stream_free(struct stream *s)
{
	free(s->events);
	free(s->acted);
	free(s->samples);
	free(s->losses);
}

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	REQUIRE(p);
	return p;
}

struct reader {
	uint64_t upper;
	int known;
	uint64_t since[2], high[2];
	int part[2];                         /* of a loss: 0 none, 1 SINCE was there, 2 HIGH */
	unsigned lost;                       /* event losses, not yet followed by an event */
	uint64_t first_sample, first_number; /* a sample of known time, and its number */
	int timed;
};

static void loss(struct stream *s, struct reader *r, unsigned sub, uint64_t time, uint32_t value)
{
	unsigned queue = sub >= TL_LOSS_OTHER_SINCE, part = sub % 4;

	REQUIRE(part < 3 && r->part[queue] == (int)part);
	r->part[queue] = part == 2 ? 0 : (int)part + 1;
	if (part == 0) {
		r->since[queue] = time;
	} else if (part == 1) {
		r->high[queue] = value;
	} else {
		uint64_t count = r->high[queue] << 26 | value;

		REQUIRE(count > 0);
		s->lost[queue] += count;
		if (queue == 0) {
			s->losses[s->n_losses].since = r->since[0];
			s->losses[s->n_losses++].count = count;
			r->lost = (unsigned)s->n_losses;
		} else {
			r->timed = 0;
			s->n_other_losses++;
		}
	}
}

static void sample(struct stream *s, struct reader *r, uint32_t packet)
{
	/* Numbers go on where they were, but for what was lost: RESUME gives a new place. */
	unsigned number = packet >> 16 & 0xfff;

	if (!r->timed) {
		s->slipped++;
		return;
	}
	if (r->first_number == UINT64_MAX)
		r->first_number = number;
	s->samples[s->n_samples].number = r->first_number;
	if (number != (r->first_number++ & 0xfff))
		s->samples_wrong++;
	s->samples[s->n_samples].value = packet & 0xffff;
	s->samples[s->n_samples++].bad = packet >> 28 & 1;
}

void stream_read(struct stream *s, const struct link *link)
{
	const uint32_t *packets = link->packets;
	const size_t n = link->n;
	struct reader r = { 0 };

	memset(s, 0, sizeof(*s));
	s->unit = link->mode == TL_FINE ? 1 : TL_TICK_CYCLES;
	s->events = room(n, sizeof(*s->events));
	s->acted = room(n, sizeof(*s->acted));
	s->samples = room(n, sizeof(*s->samples));
	s->losses = room(n, sizeof(*s->losses));
	for (size_t i = 0; i < n; i++) {
		uint32_t p = packets[i];
		uint64_t time = r.upper << TL_LOW_BITS | (p & 0xfffff);
		unsigned sub = p >> 26 & 7;

		if (p >> 29 == TL_MARKER) {
			REQUIRE(!r.known || r.upper != (p & 0x1fffffff));
			r.upper = p & 0x1fffffff;
			r.known = 1;
			continue;
		}
		REQUIRE(r.known);
		switch (p >> 29) {
		case TL_EVENT:
			REQUIRE(s->n_events == 0 || s->events[s->n_events - 1].time < time ||
				(s->unit > 1 && s->events[s->n_events - 1].time == time));
			s->events[s->n_events].time = time;
			s->events[s->n_events].after_loss = r.lost;
			s->events[s->n_events++].lines = p >> 20 & 0x1ff;
			r.lost = 0;
			break;
		case TL_ACTED:
			s->acted[s->n_acted].time = time;
			s->acted[s->n_acted].id = p >> 20 & 63;
			s->acted[s->n_acted++].lines = sub;
			break;
		case TL_LOSS: loss(s, &r, sub, time, p & 0x3ffffff); break;
		case TL_SAMPLE: sample(s, &r, p); break;
		case TL_POWER:
			sub = p >> 27 & 3;
			if (sub == TL_POWER_START) {
				s->power_starts++;
				s->power_start = time;
				r.first_number = 0;
				r.timed = 1;
			} else if (sub == TL_POWER_RESUME) {
				uint64_t period = TL_PERIOD_MIN * TL_TICK_CYCLES / s->unit;

				s->power_resumes++;
				if ((time - s->power_start) % period != 0)
					s->samples_wrong++;
				r.first_number = (time - s->power_start) / period;
				r.timed = 1;
			} else {
				s->power_stop = time;
			}
			break;
		case TL_CLOCK:
			s->n_clock++;
			if (sub == TL_CLOCK_PPS && s->n_pps < 64)
				s->pps[s->n_pps++] = time;
			break;
		default: REQUIRE(!"a packet of a kind that there is");
		}
	}
}

/* Where the edges' cycle 0 lies on the observer's time, in cycles: as exact as all stamps together make it. */
struct origin {
	int64_t low, high;
};

static void fit(struct origin *o, const struct stream *s, uint64_t time, uint64_t cycle)
{
	int64_t low = (int64_t)(time * s->unit - cycle), high = low + (int64_t)s->unit - 1;

	o->low = low > o->low ? low : o->low;
	o->high = high < o->high ? high : o->high;
	REQUIRE(o->low <= o->high);
}

void edges_step(void *ctx, struct tl_sim *sim, uint64_t cycle)
{
	struct edges *e = ctx;

	if (e->done < e->n && cycle == e->next) {
		e->at[e->done++] = cycle;
		tl_sim_lines(sim, e->done & 1);
		e->next += e->gap;
	}
}

void edges_more(struct edges *e, uint64_t from, uint64_t gap, uint64_t n)
{
	e->next = from;
	e->gap = gap;
	e->n = e->done + n;
	e->at = realloc(e->at, e->n * sizeof(*e->at));
	REQUIRE(e->at);
}

uint64_t stream_account(const struct stream *s, const struct edges *edges)
{
	struct origin origin = { INT64_MIN, INT64_MAX };
	uint64_t next = 0, first = edges->done;
	size_t told = 0;

	for (size_t i = 1; i < s->n_events; i++) {
		const struct stamped *e = &s->events[i];

		if (e->after_loss) {
			REQUIRE(next < edges->done);
			fit(&origin, s, s->losses[e->after_loss - 1].since, edges->at[next]);
			if (first == edges->done)
				first = next;
			next += s->losses[e->after_loss - 1].count;
			told = e->after_loss;
			/* It shows the state, and is a change only by chance. */
			if ((e->lines & 1) == (next & 1))
				continue;
		}
		REQUIRE(next < edges->done && (e->lines & 1) == (++next & 1));
		fit(&origin, s, e->time, edges->at[next - 1]);
	}
	/* One that nothing follows, as it was stopped. */
	if (told < s->n_losses) {
		REQUIRE(told + 1 == s->n_losses && next < edges->done);
		fit(&origin, s, s->losses[told].since, edges->at[next]);
		next += s->losses[told].count;
	}
	REQUIRE(next == edges->done);
	return first;
}
