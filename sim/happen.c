/* SPDX-License-Identifier: MIT */
#include "sim/happen.h"

#include <coeval/array.h>

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEACON_HIGH_NS 1e6    /* how long a receiver's line stays up */
#define LIGHT_NS_PER_M 3.3356 /* 1 / c */
#define PARETO_SHAPE 1.5
#define LINES_MAX 64

static int out_of_memory(struct cvl_error *err)
{
	return cvl_no_memory(err);
}

static bool on(const struct world_fault *f, double t)
{
	return t >= (double)f->at_ns && (!f->for_ns || t < (double)(f->at_ns + f->for_ns));
}

/* Sum of the amounts of faults of @kind that hit @who at @t; @any: whether there is one. */
static double faults_at(const struct world *w, enum world_fault_kind kind, const char *who,
			double t, bool *any)
{
	double sum = 0;

	*any = false;
	for (size_t i = 0; i < w->n_faults; i++)
		if (w->fault[i].kind == kind && on(&w->fault[i], t) &&
		    !fnmatch(w->fault[i].who, who, 0)) {
			*any = true;
			sum += w->fault[i].amount;
		}
	return sum;
}

/* ---- what is sent ---- */

static int make_beacons(struct world_air *air, size_t s, struct cvl_error *err)
{
	const struct world *w = air->w;
	const struct world_sender *spec = &w->sender[s];
	size_t most = (size_t)(w->duration_ns / spec->period_ns) + 2;
	struct oscillator o;
	struct sim_random r;
	char name[WORLD_NAME];
	double phase;
	int rc;

	snprintf(name, sizeof(name), "beacon %u", spec->id);
	rc = oscillator_make(&o, w, &spec->oscillator, name, err);
	air->sender[s].beacon = rc ? NULL : calloc(most, sizeof(struct sent_beacon));
	if (!rc && !air->sender[s].beacon)
		rc = out_of_memory(err);
	r = world_random(w->seed, name, "sending");
	phase = spec->disciplined ? 0 : sim_uniform(&r) * (double)spec->period_ns;
	for (size_t k = 0; k < most && !rc; k++) {
		double x = phase + (double)k * (double)spec->period_ns, t, jump;
		bool any;

		t = spec->disciplined ? x + spec->gps_ns * sim_normal(&r) : oscillator_when(&o, x);
		t += faults_at(w, WORLD_SENDER_STEP, name, t, &any);
		jump = faults_at(w, WORLD_NUMBER_JUMP, name, t, &any);
		t += spec->jitter_ns * sim_normal(&r);
		if (t >= (double)w->duration_ns)
			break;
		air->sender[s].beacon[air->sender[s].n++] =
			(struct sent_beacon){ t, spec->first_number + k + (uint64_t)(int64_t)jump };
	}
	oscillator_free(&o);
	return rc;
}

static int add_message(struct world_air *air, const struct sent_message *m, struct cvl_error *err)
{
	if (cvl_room(&air->message, air->n_messages, &air->cap_messages, sizeof(*air->message)))
		return out_of_memory(err);
	air->message[air->n_messages++] = *m;
	return 0;
}

static int pair_messages(struct world_air *air, const struct world_message *spec, uint32_t from,
			 uint32_t to, struct cvl_error *err)
{
	char name[2 * WORLD_MEMBER + 2];
	double t = 0, end = (double)air->w->duration_ns, factor = from > to ? spec->back_factor : 1;
	struct sim_random r;
	int rc = 0;

	snprintf(name, sizeof(name), "%s>%s", air->clock[from].name, air->clock[to].name);
	r = world_random(air->w->seed, name, "messages");
	while (!rc) {
		double latency;

		t -= log(1 - sim_uniform(&r)) / spec->per_second * 1e9;
		if (t >= end)
			break;
		latency = spec->latency_min_ns - spec->latency_exp_ns * log(1 - sim_uniform(&r));
		if (sim_uniform(&r) < spec->tail)
			latency +=
				spec->tail_ns * (pow(1 - sim_uniform(&r), -1 / PARETO_SHAPE) - 1);
		rc = add_message(air,
				 &(struct sent_message){ t, t + factor * latency, from, to,
							 sim_uniform(&r) < spec->lost },
				 err);
	}
	return rc;
}

static int make_messages(struct world_air *air, const struct world_message *spec,
			 struct cvl_error *err)
{
	int rc = 0;

	for (uint32_t a = 0; a < air->n_clocks; a++)
		for (uint32_t b = 0; b < air->n_clocks && !rc; b++)
			if (a != b && spec->per_second > 0 &&
			    !fnmatch(spec->from, air->clock[a].name, 0) &&
			    !fnmatch(spec->to, air->clock[b].name, 0))
				rc = pair_messages(air, spec, a, b, err);
	return rc;
}

static int make_clocks(struct world_air *air, struct cvl_error *err)
{
	const struct world *w = air->w;
	size_t n = 0;

	for (size_t g = 0; g < w->n_clocks; g++)
		n += w->clocks[g].count;
	air->clock = calloc(n + 1, sizeof(*air->clock));
	if (!air->clock)
		return out_of_memory(err);
	for (size_t g = 0; g < w->n_clocks; g++)
		for (unsigned i = 0; i < w->clocks[g].count; i++) {
			struct world_clock *c = &air->clock[air->n_clocks];
			struct sim_random r;

			world_member_name(&w->clocks[g], i + 1, c->name);
			c->group = &w->clocks[g];
			c->index = air->n_clocks++;
			r = world_random(w->seed, c->name, "start");
			c->start = sim_uniform(&r) * (double)c->group->start_ns;
		}
	return 0;
}

static int make_pulses(struct world_air *air, size_t p, struct cvl_error *err)
{
	const struct world_pulse *spec = &air->w->pulse[p];
	size_t pulses = (size_t)((air->w->duration_ns - 1) / spec->period_ns) + 1;

	return reference_make(&air->reference[p], &spec->reference, air->w->seed, spec->line,
			      pulses, spec->period_ns, err);
}

int air_make(struct world_air *air, const struct world *w, struct cvl_error *err)
{
	int rc;

	*air = (struct world_air){ .w = w };
	rc = make_clocks(air, err);
	for (size_t s = 0; s < w->n_senders && !rc; s++)
		rc = make_beacons(air, s, err);
	for (size_t p = 0; p < w->n_pulses && !rc; p++)
		rc = make_pulses(air, p, err);
	for (size_t m = 0; m < w->n_messages && !rc; m++)
		rc = make_messages(air, &w->message[m], err);
	return rc;
}

void air_free(struct world_air *air)
{
	for (size_t s = 0; s < WORLD_LIST; s++)
		free(air->sender[s].beacon);
	for (size_t p = 0; p < WORLD_LIST; p++)
		reference_free(&air->reference[p]);
	free(air->message);
	free(air->clock);
}

/* ---- what a clock hears ---- */

/* Draws of one receiver or input. */
struct receiver {
	const struct world_jitter *j;
	struct sim_random r;
	double bias, last; /* last: correlated part, in units of its sd */
};

static struct receiver receiver_for(const struct world *w, const struct world_jitter *j,
				    const char *clock, const char *what)
{
	struct receiver rx = { .j = j, .r = world_random(w->seed, clock, what) };

	rx.bias = j->bias_sd_ns * sim_normal(&rx.r);
	rx.last = sim_normal(&rx.r);
	return rx;
}

/*
 * The same number of draws each time, so that worlds which differ in one number stay alike in all
 * else.
 */
static double delay_of(struct receiver *rx)
{
	const struct world_jitter *j = rx->j;
	double rho = j->correlation, d, luck, size, sign;

	rx->last = rho * rx->last + sqrt(1 - rho * rho) * sim_normal(&rx->r);
	d = rx->bias + j->normal_ns * rx->last + j->uniform_ns * sim_uniform(&rx->r) -
	    j->exp_ns * log(1 - sim_uniform(&rx->r));
	luck = sim_uniform(&rx->r);
	size = j->outlier_min_ns + (j->outlier_max_ns - j->outlier_min_ns) * sim_uniform(&rx->r);
	sign = sim_uniform(&rx->r) < j->outliers_late ? 1 : -1;
	return luck < j->outliers ? d + sign * size : d;
}

static int add(struct happenings *h, const struct happening *e, struct cvl_error *err)
{
	if (cvl_room(&h->at, h->n, &h->capacity, sizeof(*h->at)))
		return out_of_memory(err);
	h->at[h->n++] = *e;
	return 0;
}

static int add_edge(struct happenings *h, double t, size_t line, int level, struct cvl_error *err)
{
	return add(h,
		   &(struct happening){ .t = t,
					.kind = HAPPEN_EDGE,
					.line = (uint8_t)line,
					.level = (uint8_t)level },
		   err);
}

static int add_pulse(struct happenings *h, double t, double width, size_t line,
		     struct cvl_error *err)
{
	int rc = add_edge(h, t, line, 1, err);

	return rc ? rc : add_edge(h, t + width, line, 0, err);
}

/* Whether a mark that would be heard at @t is lost by a fault; and how late faults make it. */
static bool hit(const struct world *w, const char *who, double t, struct sim_random *r,
		double *late)
{
	bool out, any;
	double share = faults_at(w, WORLD_LOSS, who, t, &any), luck = sim_uniform(r);

	*late = faults_at(w, WORLD_BIAS, who, t, &out);
	faults_at(w, WORLD_OUTAGE, who, t, &out);
	return out || (any && luck < share);
}

static int hear(struct happenings *h, const struct world_sender *spec, double t, uint64_t number,
		size_t line, struct cvl_error *err)
{
	int rc = add_pulse(h, t, BEACON_HIGH_NS, line, err);

	return rc ? rc :
		    add(h,
			&(struct happening){
				.t = t, .kind = HAPPEN_BEACON, .who = spec->id, .number = number },
			err);
}

static int hear_sender(struct happenings *h, const struct world_air *air, size_t s,
		       const struct world_clock *c, size_t line, struct cvl_error *err)
{
	const struct world_sender *spec = &air->w->sender[s];
	struct receiver rx;
	char what[WORLD_NAME];
	double flight;
	int rc = 0;

	snprintf(what, sizeof(what), "beacon %u", spec->id);
	rx = receiver_for(air->w, &spec->receiver, c->name, what);
	flight = c->group->distance_m * sim_uniform(&rx.r) * LIGHT_NS_PER_M;
	for (size_t k = 0; k < air->sender[s].n && !rc; k++) {
		const struct sent_beacon *b = &air->sender[s].beacon[k];
		double t = b->t + flight + delay_of(&rx), luck[4], late, again;
		uint64_t number = b->number;

		for (int i = 0; i < 4; i++)
			luck[i] = sim_uniform(&rx.r);
		again = (0.02 + 0.18 * sim_uniform(&rx.r)) * (double)spec->period_ns;
		late = spec->late_min_ns +
		       (spec->late_max_ns - spec->late_min_ns) * sim_uniform(&rx.r);
		if (luck[0] < spec->late)
			t += late;
		if (luck[1] < spec->misnumbered)
			number += 1 + sim_u64(&rx.r) % 3;
		if (hit(air->w, c->name, t, &rx.r, &late) || luck[2] < spec->missed)
			continue;
		rc = hear(h, spec, t + late, number, line, err);
		if (!rc && luck[3] < spec->duplicated)
			rc = hear(h, spec, t + late + again, number, line, err);
	}
	return rc;
}

static int hear_pulses(struct happenings *h, const struct world_air *air, size_t p,
		       const struct world_clock *c, size_t line, struct cvl_error *err)
{
	const struct world *w = air->w;
	const struct world_pulse *spec = &w->pulse[p];
	const struct reference *ref = &air->reference[p];
	struct receiver rx = receiver_for(w, &spec->jitter, c->name, spec->line);
	int rc = 0;

	for (size_t k = 0; k < ref->n && !rc; k++) {
		double due = (double)((int64_t)k * spec->period_ns);
		double t = due + ref->slow[k] + ref->factor[k] * delay_of(&rx), missed, extra, at,
		       late;

		missed = sim_uniform(&rx.r);
		extra = sim_uniform(&rx.r);
		at = due + sim_uniform(&rx.r) * (double)spec->period_ns;
		if (!hit(w, c->name, t, &rx.r, &late) && missed >= spec->missed)
			rc = add_pulse(h, t + late, (double)spec->width_ns, line, err);
		if (!rc && extra < spec->extra)
			rc = add_pulse(h, at, 1e3, line, err);
	}
	return rc;
}

/* ---- what its node does ---- */

static int run_tdma(struct happenings *h, const struct world_air *air,
		    const struct world_program *p, const struct world_clock *c, size_t line,
		    struct cvl_error *err)
{
	struct sim_random r = world_random(air->w->seed, c->name, "tdma");
	double frame = (double)p->period_ns, slot = frame / (double)air->n_clocks;
	double end = (double)air->w->duration_ns - frame;
	int64_t n = 0;
	int rc = 0;

	for (double t = frame; t < end && !rc; t += frame, n++) {
		double mine = t + slot * (double)c->index;
		size_t next = (c->index + 1) % air->n_clocks;

		rc = add_edge(h, t, line + 3, (int)(n & 1), err);
		if (!rc)
			rc = add_pulse(h, mine + 0.02 * slot, 0.96 * slot, line, err);
		if (!rc)
			rc = add_pulse(h, mine + 0.2 * slot, 0.3 * slot, line + 1, err);
		if (!rc && next != c->index)
			rc = add_pulse(h,
				       t + slot * (double)next + 0.5 * slot + 12e3 +
					       400 * fabs(sim_normal(&r)),
				       0.05 * slot, line + 2, err);
	}
	return rc;
}

/* The first clock floods; others relay at their hop, three times in turns with their neighbours. */
static int run_glossy(struct happenings *h, const struct world_air *air,
		      const struct world_program *p, const struct world_clock *c, size_t line,
		      struct cvl_error *err)
{
	struct sim_random r = world_random(air->w->seed, c->name, "glossy");
	const double packet = 1.2e6, turn = 23e3;
	double hop = c->index ? 1 + (double)((c->index - 1) % 4) : 0;
	double end = (double)air->w->duration_ns - (double)p->period_ns;
	int rc = 0;

	for (double t = (double)p->period_ns; t < end && !rc; t += (double)p->period_ns) {
		rc = add_edge(h, t - 500e3, line, 1, err);
		for (int k = 0; k < 3 && !rc; k++) {
			double send = t + (hop + 2 * k) * (packet + turn) +
				      100 * sqrt(hop) * sim_normal(&r);

			if (hop > 0)
				rc = add_pulse(h, send - packet - turn, packet, line + 1, err);
			if (!rc)
				rc = add_pulse(h, send, packet, line + 2, err);
		}
		if (!rc)
			rc = add_edge(h, t + 12 * (packet + turn), line, 0, err);
	}
	return rc;
}

static const struct {
	size_t n;
	const char *line[4];
	int (*run)(struct happenings *h, const struct world_air *air, const struct world_program *p,
		   const struct world_clock *c, size_t line, struct cvl_error *err);
} programs[] = {
	[WORLD_TDMA] = { 4, { "SLOT", "SEND", "RECEIVE", "FRAME" }, run_tdma },
	[WORLD_GLOSSY] = { 3, { "RADIO", "RX", "TX" }, run_glossy },
	[WORLD_IDLE] = { 0, { 0 }, NULL },
};

/* ---- all of one clock ---- */

static const char *const beacon_line[WORLD_LIST] = {
	"BEACON",   "BEACON2",  "BEACON3",  "BEACON4",  "BEACON5",  "BEACON6",
	"BEACON7",  "BEACON8",  "BEACON9",  "BEACON10", "BEACON11", "BEACON12",
	"BEACON13", "BEACON14", "BEACON15", "BEACON16",
};

size_t clock_lines(const struct world_air *air, const struct world_clock *c, const char **line)
{
	const struct world *w = air->w;
	size_t n = 0;

	for (size_t s = 0; s < w->n_senders; s++)
		if (!fnmatch(w->sender[s].heard_by, c->name, 0))
			line[n++] = beacon_line[s];
	for (size_t p = 0; p < w->n_pulses; p++)
		if (!fnmatch(w->pulse[p].clocks, c->name, 0))
			line[n++] = w->pulse[p].line;
	for (size_t p = 0; p < w->n_programs; p++)
		for (size_t k = 0; k < programs[w->program[p].kind].n; k++)
			if (!fnmatch(w->program[p].clocks, c->name, 0) && n < LINES_MAX)
				line[n++] = programs[w->program[p].kind].line[k];
	return n;
}

static int add_messages(struct happenings *h, const struct world_air *air,
			const struct world_clock *c, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < air->n_messages && !rc; i++) {
		const struct sent_message *m = &air->message[i];
		struct happening e = { .number = i + 1 };

		if (m->from == c->index) {
			e.t = m->sent;
			e.kind = HAPPEN_SENT;
			e.who = m->to;
		} else if (m->to == c->index && !m->lost) {
			e.t = m->received;
			e.kind = HAPPEN_RECEIVED;
			e.who = m->from;
		} else {
			continue;
		}
		rc = add(h, &e, err);
	}
	return rc;
}

static int by_time(const void *pa, const void *pb)
{
	const struct happening *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* Outside the capture, or in a part of it that was not recorded. */
static bool unseen(const struct world *w, const struct world_clock *c, double t)
{
	bool any, slipping, resetting;

	faults_at(w, WORLD_NO_RECORDS, c->name, t, &any);
	faults_at(w, WORLD_SLIP, c->name, t, &slipping);
	faults_at(w, WORLD_RESET, c->name, t, &resetting);
	return any || slipping || resetting || t < c->start || t >= (double)w->duration_ns;
}

int clock_happenings(struct happenings *h, const struct world_air *air, const struct world_clock *c,
		     struct cvl_error *err)
{
	const struct world *w = air->w;
	size_t line = 0, kept = 0;
	int rc = 0;

	*h = (struct happenings){ 0 };
	for (size_t s = 0; s < w->n_senders && !rc; s++)
		if (!fnmatch(w->sender[s].heard_by, c->name, 0))
			rc = hear_sender(h, air, s, c, line++, err);
	for (size_t p = 0; p < w->n_pulses && !rc; p++)
		if (!fnmatch(w->pulse[p].clocks, c->name, 0))
			rc = hear_pulses(h, air, p, c, line++, err);
	for (size_t p = 0; p < w->n_programs && !rc; p++) {
		const struct world_program *prog = &w->program[p];

		if (!programs[prog->kind].run || fnmatch(prog->clocks, c->name, 0) ||
		    line + programs[prog->kind].n > LINES_MAX)
			continue;
		rc = programs[prog->kind].run(h, air, prog, c, line, err);
		line += programs[prog->kind].n;
	}
	if (!rc)
		rc = add_messages(h, air, c, err);
	for (size_t i = 0; i < h->n && !rc; i++)
		if (!unseen(w, c, h->at[i].t))
			h->at[kept++] = h->at[i];
	h->n = kept;
	if (!rc && h->n)
		qsort(h->at, h->n, sizeof(*h->at), by_time);
	return rc;
}

double clock_counts(const struct world_clock *c, const struct oscillator *o, double t)
{
	return (oscillator_x(o, t) - oscillator_x(o, c->start)) *
	       ((double)c->group->rate_hz * 1e-9);
}

uint64_t clock_stamp(const struct world_clock *c, const struct oscillator *o, double t)
{
	double look = ceil(clock_counts(c, o, t) / (double)c->group->resolution);

	return look <= 0 ? 0 : (uint64_t)look * c->group->resolution;
}
