/* SPDX-License-Identifier: MIT */
#include "sim/trap.h"

#include "core/random.h"
#include <coeval/array.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIX_START 1700000000.0 /* chosen: true time 0 */
#define DRIFT 150e-6            /* chosen: rates are drawn within it; 200 ppm is stated */

const char *const trap_names[TRAP_TIES] = {
	[TRAP_PULSES] = "pulses alone",
	[TRAP_PULSES_CLAIMS] = "pulses, claimed starts",
	[TRAP_REFERENCES] = "references of their own",
	[TRAP_PULSES_BEACONS] = "pulses, beacons",
	[TRAP_PULSES_ALIGN] = "pulses, an edge to align by",
	[TRAP_PULSES_MESSAGES] = "pulses, messages",
	[TRAP_MESSAGES] = "messages",
	[TRAP_WRAPS] = "messages, keys that wrap",
	[TRAP_WRAPS_CLAIMS] = "the same, claimed starts",
	[TRAP_HOPS] = "messages that are forwarded",
};

enum what { RISE, FALL, ALIGN_RISE, ALIGN_FALL, HEARD, SENT, RECEIVED };

struct event {
	double t; /* true time, s */
	enum what what;
	uint64_t key;
};

struct events {
	struct event *at;
	size_t n, cap;
};

struct maker {
	struct trap *w;
	struct sim_random r;
	struct events of[TRAP_CLOCKS];
	double jitter_s;
	double claim_s[TRAP_CLOCKS], claim_bound_s[TRAP_CLOCKS]; /* bound 0: none is stated */
	double drift_ppm; /* that is stated; 0: the default */
	enum cvl_counter counter;
	bool failed;
};

static double uniform(struct maker *m, double a, double b)
{
	return a + (b - a) * sim_uniform(&m->r);
}

static bool chance(struct maker *m, double p)
{
	return sim_uniform(&m->r) < p;
}

static void happen(struct maker *m, size_t clock, double t, enum what what, uint64_t key)
{
	struct events *e = &m->of[clock];
	const struct trap_clock *c = &m->w->clock[clock];

	if (t < c->start_s + 1e-3 || t > c->end_s)
		return;
	if (cvl_room(&e->at, e->n, &e->cap, sizeof(*e->at)))
		m->failed = true;
	else
		e->at[e->n++] = (struct event){ t, what, key };
}

struct cvl_tick trap_tick(const struct trap *w, size_t i, double t_s)
{
	const struct trap_clock *c = &w->clock[i];
	long double s = ((long double)t_s - c->start_s) * (1 + (long double)c->off);

	if (c->step_s > 0 && t_s >= c->step_at_s)
		s += c->step_s;
	return (struct cvl_tick){ (uint64_t)floorl(fmaxl(s, 0) * (long double)c->rate_hz) };
}

/* ---- what happens ---- */

static void make_clocks(struct maker *m, double span)
{
	static const uint64_t rates[] = { 8000000, 24000000, 100000000, 1000000 };
	struct trap *w = m->w;

	w->n = 2 + sim_u64(&m->r) % (TRAP_CLOCKS - 1);
	for (size_t i = 0; i < w->n; i++)
		w->clock[i] = (struct trap_clock){
			.rate_hz = rates[sim_u64(&m->r) % 4],
			.off = uniform(m, -DRIFT, DRIFT),
			.start_s = uniform(m, 0, 8),
			.end_s = span - uniform(m, 0, 5),
		};
}

static void one_pulse(struct maker *m, size_t clock, double t, double width)
{
	t += m->jitter_s * sim_normal(&m->r);
	happen(m, clock, t, RISE, 0);
	happen(m, clock, t + width, FALL, 0);
}

/* Pulses of one source, as each clock's own wire shows them. */
static void pulses(struct maker *m, double span)
{
	struct trap *w = m->w;
	bool noisy = chance(m, 0.3), pausing = chance(m, 0.2);
	double missing = chance(m, 0.5) ? uniform(m, 0, 0.2) : 0;

	w->period_s = chance(m, 0.7) ? 1 : 0.1;
	w->stated_period_ns = llround(w->period_s * 1e9);
	if (chance(m, 0.05)) {
		static const double wrong[] = { 1.01, 0.5, 2, 10, 0.1 };

		w->stated_period_ns = llround(w->period_s * wrong[sim_u64(&m->r) % 5] * 1e9);
		w->decidable = false;
	}
	m->jitter_s = pow(10, uniform(m, -7.5, -4)) * w->period_s;
	w->disturbed = noisy || pausing;
	for (size_t c = 0; c < w->n; c++) {
		double burst = noisy ? uniform(m, 0, span) : span, burst_end = burst;
		double pause = pausing ? uniform(m, 0, span) : span, pause_end = pause;
		double hertz = uniform(m, 2, 30);
		double off = w->reference_s / 3.29 * sim_normal(&m->r);

		if (noisy)
			burst_end += uniform(m, 3, 0.2 * span);
		if (pausing)
			pause_end += uniform(m, 3, 0.3 * span);
		for (double t = w->period_s / 2; t < span; t += w->period_s)
			if (!(t >= burst && t < burst_end) && !(t >= pause && t < pause_end) &&
			    !chance(m, missing))
				one_pulse(m, c, t + off, 0.2 * w->period_s);
		for (double t = burst; t < burst_end; t -= log(1 - sim_uniform(&m->r)) / hertz)
			one_pulse(m, c, t, 0.002);
	}
}

static void claims(struct maker *m, double most)
{
	static const double within[] = { 1e-3, 0.02, 0.1, 0.2 };

	for (size_t c = 0; c < m->w->n; c++) {
		double e = fmin(within[sim_u64(&m->r) % 4], most);

		m->claim_bound_s[c] = e;
		m->claim_s[c] = m->w->clock[c].start_s + uniform(m, -e, e);
	}
}

/* Analyzers that were started by hand say nothing of when, or something unreliable. */
static void no_claims(struct maker *m)
{
	for (size_t c = 0; c < m->w->n; c++)
		if (chance(m, 0.5))
			m->claim_s[c] = m->w->clock[c].start_s + uniform(m, -5, 5);
}

static void beacons(struct maker *m, double span)
{
	uint64_t first = sim_u64(&m->r) % 1000;

	for (int k = 0; k < (int)span; k++)
		for (size_t c = 0; c < m->w->n; c++)
			if (!chance(m, 0.1))
				happen(m, c, k + 0.37 + 5e-7 * sim_normal(&m->r), HEARD,
				       first + (uint64_t)k);
}

static void align(struct maker *m)
{
	double t = 9 + uniform(m, 0, 5);

	m->w->align = true;
	for (size_t c = 0; c < m->w->n; c++) {
		happen(m, c, t, ALIGN_RISE, 0);
		happen(m, c, t + 0.5, ALIGN_FALL, 0);
	}
}

static double flight(struct maker *m)
{
	return 1.5e-4 - 4e-4 * log(1 - sim_uniform(&m->r));
}

static void message(struct maker *m, size_t from, size_t to, double t, uint64_t key, double lost)
{
	happen(m, from, t, SENT, key);
	if (!chance(m, lost))
		happen(m, to, t + flight(m), RECEIVED, key);
}

/*
 * Messages between neighbours, both ways; @bits: of their keys, a counter for each direction of
 * each pair.
 */
static void messages(struct maker *m, double span, unsigned bits, bool regular)
{
	struct trap *w = m->w;
	double apart = bits < 32 ? 0.01 : uniform(m, 0.05, 0.5), lost = uniform(m, 0, 0.1);
	bool again = bits == 32 && chance(m, 0.3);

	for (size_t b = 1; b < w->n; b++)
		for (int back = 0; back < 2; back++) {
			uint64_t key = sim_u64(&m->r) % 256;

			for (double t = 0; t < span;
			     t += regular ? apart : -apart * log(1 - sim_uniform(&m->r))) {
				/* who sends is in the key */
				uint64_t all = (key & (((uint64_t)1 << bits) - 1)) |
					       (uint64_t)(2 * b + (size_t)back) << 40;

				key++;
				message(m, back ? b : b - 1, back ? b - 1 : b, t, all, lost);
				if (again && chance(m, 0.1)) /* a copy, later */
					message(m, back ? b : b - 1, back ? b - 1 : b, t + 0.02,
						all, lost);
			}
		}
	snprintf(
		w->rules, sizeof(w->rules),
		"name: trap\nsend: { event: sent, key: [key] }\nreceive: { event: received, key: [key] }\n%s",
		bits < 32 ? "window: 1s\n" : "");
}

/* Packets with one key over all hops, there and back along the chain of clocks. */
static void hops(struct maker *m, double span)
{
	struct trap *w = m->w;
	uint64_t key = 1000;

	for (double t = 0; t < span; t += uniform(m, 0.1, 0.4), key++) {
		bool back = chance(m, 0.5);
		double at = t;
		size_t length = 1 + sim_u64(&m->r) % w->n;

		for (size_t k = 0; k + 1 < w->n && k < length; k++) {
			size_t from = back ? w->n - 1 - k : k, to = back ? from - 1 : from + 1;
			double arrives = at + flight(m);

			happen(m, from, at, SENT, key);
			if (chance(m, 0.05))
				break;
			happen(m, to, arrives, RECEIVED, key);
			at = arrives + uniform(m, 1e-3, 0.03);
		}
	}
	snprintf(
		w->rules, sizeof(w->rules),
		"name: trap\nsend: { event: sent, key: [key] }\nreceive: { event: received, key: [key] }\n");
}

/* One clock is set, once: more is beyond what `settable` promises. */
static void step(struct maker *m, double span)
{
	struct trap_clock *c = &m->w->clock[sim_u64(&m->r) % m->w->n];

	m->counter = CVL_SETTABLE;
	m->w->disturbed = true;
	c->step_at_s = uniform(m, 0.2 * span, 0.8 * span);
	c->step_s = pow(10, uniform(m, -5, -2.5)); /* forward: ticks rise */
}

static void draw(struct maker *m)
{
	struct trap *w = m->w;
	double span = uniform(m, 40, 150);

	make_clocks(m, span);
	w->decidable = true;
	if (w->ties == TRAP_REFERENCES)
		w->reference_s = pow(10, uniform(m, -7, -5));
	if (w->ties <= TRAP_PULSES_MESSAGES) {
		pulses(m, span);
		if (chance(m, 0.1)) { /* one clock runs faster than is stated */
			w->clock[sim_u64(&m->r) % w->n].off = uniform(m, 3e-4, 9e-4);
			w->decidable = false;
			w->disturbed = true;
		}
	} else if (chance(m, 0.2)) {
		step(m, span);
		w->decidable = false;
	}
	no_claims(m);
	switch (w->ties) {
	case TRAP_PULSES: w->decidable = false; break;
	case TRAP_PULSES_CLAIMS:
	case TRAP_REFERENCES: claims(m, 0.1 * w->period_s); break;
	case TRAP_PULSES_BEACONS: beacons(m, span); break;
	case TRAP_PULSES_ALIGN: align(m); break;
	case TRAP_PULSES_MESSAGES: messages(m, span, 32, false); break;
	case TRAP_MESSAGES: messages(m, span, 32, chance(m, 0.5)); break;
	case TRAP_WRAPS:
		messages(m, span, 8, chance(m, 0.5));
		w->decidable = false;
		break;
	case TRAP_WRAPS_CLAIMS:
		messages(m, span, 8, chance(m, 0.5));
		claims(m, 0.2);
		break;
	case TRAP_HOPS:
		hops(m, span);
		w->decidable = false;
		break;
	case TRAP_TIES: break;
	}
}

/* ---- what is recorded of it ---- */

static int by_time(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	return a->t < b->t ? -1 : a->t > b->t;
}

static int put(struct cvl_writer *w, const struct event *e, struct cvl_tick tick, uint64_t *levels,
	       const int class[2], struct cvl_error *err)
{
	const union cvl_store_value key = { .u = e->key };

	switch (e->what) {
	case RISE: *levels |= 1; break;
	case FALL: *levels &= ~(uint64_t)1; break;
	case ALIGN_RISE: *levels |= 2; break;
	case ALIGN_FALL: *levels &= ~(uint64_t)2; break;
	case HEARD: return cvl_writer_beacon(w, tick, 1, e->key, err);
	case SENT: return cvl_writer_event(w, tick, class[0], &key, err);
	case RECEIVED: return cvl_writer_event(w, tick, class[1], &key, err);
	}
	return cvl_writer_edges(w, &tick, levels, 1, err);
}

static int record(struct maker *m, struct cvl_session *s, size_t i, struct cvl_error *err)
{
	static const char *const lines[] = { "PPS", "ALIGN" };
	static const struct cvl_origin origin = { .format = "sim", .path = "trap" };
	static const struct cvl_store_field field = { "key", CVL_STORE_U64 };
	struct events *e = &m->of[i];
	char name[24];
	const struct cvl_store_desc desc = {
		.clock = name,
		.rate_hz = m->w->clock[i].rate_hz,
		.start_unix_ns = m->claim_s[i] > 0 || m->claim_bound_s[i] > 0 ?
					 llround((UNIX_START + m->claim_s[i]) * 1e9) :
					 0,
		.start_bound_ns = llround(m->claim_bound_s[i] * 1e9),
		.lines = lines,
		.n_lines = 2,
	};
	const struct cvl_clock_facts facts = { .drift_ppm = m->drift_ppm, .counter = m->counter };
	struct cvl_writer *w;
	uint64_t levels = 0;
	int class[2], rc;

	snprintf(name, sizeof(name), "c%zu", i);
	rc = cvl_session_add(s, &desc, &origin, &w, err);
	if (rc)
		return rc;
	class[0] = cvl_writer_declare(w, "sent", &field, 1, err);
	class[1] = cvl_writer_declare(w, "received", &field, 1, err);
	rc = cvl_writer_levels(w, (struct cvl_tick){ 0 }, 0, err);
	if (e->n)
		qsort(e->at, e->n, sizeof(*e->at), by_time);
	for (size_t k = 0; k < e->n && !rc; k++)
		rc = put(w, &e->at[k], trap_tick(m->w, i, e->at[k].t), &levels, class, err);
	if (rc) {
		cvl_writer_abandon(w);
		return rc;
	}
	rc = cvl_session_finish(s, w, trap_tick(m->w, i, m->w->clock[i].end_s), err);
	return rc ? rc : cvl_session_state(s, i, &facts, err);
}

int trap_make(struct trap *w, uint64_t seed, enum trap_ties ties, const char *path,
	      struct cvl_error *err)
{
	struct maker m = { .w = w, .r = { seed * 0x9e3779b97f4a7c15u + (uint64_t)ties } };
	struct cvl_session *s;
	int rc;

	*w = (struct trap){ .seed = seed, .ties = ties };
	draw(&m);
	rc = m.failed ? cvl_no_memory(err) : cvl_session_create(&s, path, err);
	if (!rc) {
		for (size_t i = 0; i < w->n && !rc; i++)
			rc = record(&m, s, i, err);
		cvl_session_close(s);
	}
	for (size_t i = 0; i < TRAP_CLOCKS; i++)
		free(m.of[i].at);
	return rc;
}
