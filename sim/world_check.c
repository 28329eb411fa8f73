/* SPDX-License-Identifier: MIT */
#include "sim/world_keys.h"

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKS_MAX 0x1p31
/* An oscillator that is off by half could stand still or run back after an unlikely draw. */
#define RATE_OFF_MAX_PPM 500000.0

struct checker {
	const struct world *w;
	struct config_flaw *flaw;
	size_t n;
	char name[WORLD_CLOCKS_MAX][WORLD_NAME];
	uint8_t group[WORLD_CLOCKS_MAX];
};

__attribute__((format(printf, 3, 4))) static bool flawed(struct config_flaw *flaw,
							 const void *field, const char *fmt, ...)
{
	va_list ap;

	flaw->field = field;
	va_start(ap, fmt);
	vsnprintf(flaw->text, sizeof(flaw->text), fmt, ap);
	va_end(ap);
	return true;
}

static void enter(struct config_flaw *flaw, const char *list, size_t index, const void *entry)
{
	flaw->list = list;
	flaw->index = index;
	flaw->entry = entry;
}

/* ---- what goes together ---- */

size_t world_member_name(const struct world_clocks *group, unsigned k, char text[WORLD_MEMBER])
{
	int n = group->count == 1 ? snprintf(text, WORLD_MEMBER, "%s", group->name) :
				    snprintf(text, WORLD_MEMBER, "%s%u", group->name, k);

	return (size_t)n;
}

static int by_name(const void *a, const void *b)
{
	const char *const *pa = a, *const *pb = b;
	int order = strcmp(*pa, *pb);

	return order ? order : *pa < *pb ? -1 : 1;
}

static bool check_names(struct checker *c)
{
	const struct world *w = c->w;
	const char *sorted[WORLD_CLOCKS_MAX];

	if (!w->n_clocks)
		return flawed(c->flaw, w->clocks, "a world needs clocks");
	for (size_t i = 0; i < w->n_clocks; i++) {
		const struct world_clocks *g = &w->clocks[i];

		enter(c->flaw, "clocks", i, g);
		if (g->disorder_ns && g->bits < 64)
			return flawed(
				c->flaw, &g->disorder_ns,
				"a narrow counter cannot be extended out of order: with `disorder` it needs 64 `bits`");
		if (g->count > WORLD_CLOCKS_MAX - c->n)
			return flawed(c->flaw, &g->count, "more than %d clocks in all",
				      WORLD_CLOCKS_MAX);
		for (unsigned k = 1; k <= g->count; k++) {
			char name[WORLD_MEMBER];
			size_t len = world_member_name(g, k, name);

			if (len >= WORLD_NAME)
				return flawed(
					c->flaw, g->name,
					"`name` with the clock's number behind it (%s) is longer than %d bytes",
					name, WORLD_NAME - 1);
			memcpy(c->name[c->n], name, len + 1);
			c->group[c->n] = (uint8_t)i;
			sorted[c->n] = c->name[c->n];
			c->n++;
		}
	}
	qsort(sorted, c->n, sizeof(*sorted), by_name);
	for (size_t i = 1; i < c->n; i++)
		if (!strcmp(sorted[i - 1], sorted[i])) {
			size_t k = c->group[(size_t)(sorted[i] - c->name[0]) / WORLD_NAME];

			enter(c->flaw, "clocks", k, &w->clocks[k]);
			return flawed(c->flaw, w->clocks[k].name, "two clocks are called %s",
				      sorted[i]);
		}
	return false;
}

static size_t count_clocks(const struct checker *c, const char *glob)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += !fnmatch(glob, c->name[i], 0);
	return n;
}

/* A clock that both globs match, or NULL. */
static const char *common_clock(const struct checker *c, const char *a, const char *b)
{
	for (size_t i = 0; i < c->n; i++)
		if (!fnmatch(a, c->name[i], 0) && !fnmatch(b, c->name[i], 0))
			return c->name[i];
	return NULL;
}

static bool check_glob(const struct checker *c, const char *key, const char *glob)
{
	return !count_clocks(c, glob) && flawed(c->flaw, glob, "no clock's name matches `%s`", key);
}

static bool check_oscillator(const struct checker *c, const struct world_oscillator *o)
{
	double seconds = (double)c->w->duration_ns / 1e9;
	double step = (double)(c->w->step_ns ? c->w->step_ns : 1000000000) / 1e9;
	double off = fabs(o->offset_ppm) + 6 * o->offset_sd_ppm +
		     6 * o->white_ppb / 1e3 / sqrt(step) + 6 * o->walk_ppb / 1e3 * sqrt(seconds) +
		     fabs(o->ageing_ppb_day) / 1e3 * seconds / 86400 + o->sine_ppm +
		     o->rate_steps * o->rate_step_ppm;

	for (size_t i = 0; i < c->w->n_faults; i++)
		if (c->w->fault[i].kind == WORLD_RATE_STEP)
			off += fabs(c->w->fault[i].amount);
	if (o->sine_ppm > 0 && !o->sine_period_ns)
		return flawed(c->flaw, &o->sine_ppm, "`sine_ppm` needs a `sine_period`");
	if (off <= RATE_OFF_MAX_PPM)
		return false;
	c->flaw->entry = o;
	return flawed(c->flaw, NULL,
		      "this oscillator's rate could come to be off by %.0f %%; half is too much",
		      off / 1e4);
}

static bool check_jitter(const struct checker *c, const struct world_jitter *j)
{
	if (j->outlier_max_ns < j->outlier_min_ns)
		return flawed(c->flaw, &j->outlier_max_ns,
			      "`outlier_max_ns` must not be less than `outlier_min_ns`");
	if (j->outliers > 0 && j->outlier_max_ns <= 0)
		return flawed(c->flaw, &j->outliers, "`outliers` needs an `outlier_max_ns`");
	return false;
}

static bool check_clocks(const struct checker *c)
{
	for (size_t i = 0; i < c->w->n_clocks; i++) {
		const struct world_clocks *g = &c->w->clocks[i];

		enter(c->flaw, "clocks", i, g);
		if (g->resolution > g->rate_hz)
			return flawed(c->flaw, &g->resolution,
				      "`resolution` must not be more than a second, %llu ticks",
				      (unsigned long long)g->rate_hz);
		if (g->start_ns >= c->w->duration_ns)
			return flawed(c->flaw, &g->start_ns,
				      "`start` must be less than the world's `duration`");
		if (check_oscillator(c, &g->oscillator))
			return true;
	}
	return false;
}

static bool check_senders(const struct checker *c)
{
	for (size_t i = 0; i < c->w->n_senders; i++) {
		const struct world_sender *s = &c->w->sender[i];

		enter(c->flaw, "beacons", i, s);
		for (size_t k = 0; k < i; k++)
			if (c->w->sender[k].id == s->id)
				return flawed(c->flaw, &s->id, "two senders have the id %u", s->id);
		if (s->late_max_ns < s->late_min_ns)
			return flawed(c->flaw, &s->late_max_ns,
				      "`late_max_ns` must not be less than `late_min_ns`");
		if (s->late > 0 && s->late_max_ns <= 0)
			return flawed(c->flaw, &s->late, "`late` needs a `late_max_ns`");
		if (check_glob(c, "heard_by", s->heard_by) || check_oscillator(c, &s->oscillator) ||
		    check_jitter(c, &s->receiver))
			return true;
	}
	return false;
}

static bool check_reference(const struct checker *c, const struct world_reference *r)
{
	if (r->wander_ns > 0 && !r->wander_time_ns)
		return flawed(c->flaw, &r->wander_ns, "`wander_ns` needs a `wander_time`");
	if (r->burst_ns > r->bursts_every_ns)
		return flawed(c->flaw, &r->burst_ns,
			      "`burst` must not be longer than `bursts_every`");
	return false;
}

static bool check_pulses(const struct checker *c)
{
	for (size_t i = 0; i < c->w->n_pulses; i++) {
		const struct world_pulse *p = &c->w->pulse[i];
		const char *both;

		enter(c->flaw, "pulses", i, p);
		if (p->width_ns >= p->period_ns)
			return flawed(c->flaw, &p->width_ns, "`width` must be less than `period`");
		if (check_glob(c, "clocks", p->clocks) || check_jitter(c, &p->jitter) ||
		    check_reference(c, &p->reference))
			return true;
		for (size_t k = 0; k < i; k++) {
			if (strcmp(p->line, c->w->pulse[k].line))
				continue;
			both = common_clock(c, p->clocks, c->w->pulse[k].clocks);
			if (both)
				return flawed(c->flaw, p->line, "%s has two lines called %s", both,
					      p->line);
		}
	}
	return false;
}

static bool check_messages(const struct checker *c)
{
	for (size_t i = 0; i < c->w->n_messages; i++) {
		const struct world_message *m = &c->w->message[i];

		enter(c->flaw, "messages", i, m);
		if (check_glob(c, "from", m->from) || check_glob(c, "to", m->to))
			return true;
		if (m->tail > 0 && m->tail_ns <= 0)
			return flawed(c->flaw, &m->tail, "`tail` needs a `tail_ns`");
	}
	return false;
}

static bool check_programs(const struct checker *c)
{
	for (size_t i = 0; i < c->w->n_programs; i++) {
		const struct world_program *p = &c->w->program[i];
		const char *both;

		enter(c->flaw, "programs", i, p);
		if (check_glob(c, "clocks", p->clocks))
			return true;
		for (size_t k = 0; k < i; k++) {
			both = common_clock(c, p->clocks, c->w->program[k].clocks);
			if (both)
				return flawed(c->flaw, p->clocks, "%s has two programs", both);
		}
	}
	return false;
}

static const struct fault_kind {
	const char *name;
	double min, max; /* of the amount; both 0: there is none */
	bool whole;      /* the amount is */
	bool lasts;      /* for a time */
	bool clock, sender;
} fault_kinds[WORLD_FAULTS] = {
	[WORLD_OUTAGE] = { "an outage", .lasts = true, .clock = true },
	[WORLD_LOSS] = { "a loss", 0, 1, .lasts = true, .clock = true },
	[WORLD_PHASE_STEP] = { "a phase_step", -1e12, 1e12, .clock = true },
	[WORLD_RATE_STEP] = { "a rate_step", -10000, 10000, .clock = true, .sender = true },
	[WORLD_BIAS] = { "a bias", -1e9, 1e9, .clock = true },
	[WORLD_NUMBER_JUMP] = { "a number_jump", -1e9, 1e9, .whole = true, .sender = true },
	[WORLD_SENDER_STEP] = { "a sender_step", -1e12, 1e12, .sender = true },
	[WORLD_FREEZE] = { "a freeze", .lasts = true, .clock = true },
	[WORLD_NO_RECORDS] = { "no_records", .lasts = true, .clock = true },
	[WORLD_SLIP] = { "a slip", 0, 1e12, .lasts = true, .clock = true },
	[WORLD_RESET] = { "a reset", 0, 1e15, .lasts = true, .clock = true },
};

static size_t count_senders(const struct checker *c, const char *glob)
{
	size_t n = 0;

	for (size_t i = 0; i < c->w->n_senders; i++) {
		char name[24];

		snprintf(name, sizeof(name), "beacon %u", c->w->sender[i].id);
		n += !fnmatch(glob, name, 0);
	}
	return n;
}

/* What its counter is off by comes about in whole steps, while nothing is recorded. */
static bool check_slip(const struct checker *c, const struct world_fault *f)
{
	int64_t step = c->w->step_ns ? c->w->step_ns : WORLD_STEP_NS;

	if (f->at_ns % step || f->for_ns % step || !f->for_ns)
		return flawed(c->flaw, &f->for_ns,
			      "a slip begins and ends with a `step` of the world, %.10g s",
			      (double)step * 1e-9);
	return f->amount > (double)f->for_ns / 4 &&
	       flawed(c->flaw, &f->amount,
		      "the `amount` of a slip is at most a quarter of the time it lasts");
}

static bool check_faults(const struct checker *c)
{
	for (size_t i = 0; i < c->w->n_faults; i++) {
		const struct world_fault *f = &c->w->fault[i];
		const struct fault_kind *kind = &fault_kinds[f->kind];

		enter(c->flaw, "faults", i, f);
		if (!(kind->clock && count_clocks(c, f->who)) &&
		    !(kind->sender && count_senders(c, f->who)))
			return flawed(
				c->flaw, f->who,
				"%s befalls %s, and `who` matches none; clocks go by their names, senders by 'beacon ID'",
				kind->name,
				!kind->sender ? "clocks" :
				kind->clock   ? "clocks and senders" :
						"senders");
		if (f->at_ns >= c->w->duration_ns)
			return flawed(c->flaw, &f->at_ns,
				      "`at` must be less than the world's `duration`");
		if (f->for_ns && !kind->lasts)
			return flawed(c->flaw, &f->for_ns, "%s has no `for`: it stays", kind->name);
		if (kind->max <= 0 && f->amount != 0)
			return flawed(c->flaw, &f->amount, "%s has no `amount`", kind->name);
		if (!(f->amount >= kind->min && f->amount <= kind->max) ||
		    (kind->whole && f->amount != rint(f->amount)))
			return flawed(c->flaw, &f->amount,
				      "the `amount` of %s must be a %snumber from %.10g to %.10g",
				      kind->name, kind->whole ? "whole " : "", kind->min,
				      kind->max);
		if (f->kind == WORLD_SLIP && check_slip(c, f))
			return true;
		if (f->kind == WORLD_RESET && !f->for_ns)
			return flawed(c->flaw, &f->for_ns,
				      "a reset takes a time: `for` is missing");
	}
	return false;
}

/*
 * About, and rather too many: a frame of @n nodes has a slot, sendings and receptions in every
 * slot.
 */
static double marks(const struct checker *c)
{
	const struct world *w = c->w;
	double ns = (double)w->duration_ns, sum = 0;

	for (size_t i = 0; i < w->n_senders; i++)
		sum += (double)count_clocks(c, w->sender[i].heard_by) *
		       (1 + ns / (double)w->sender[i].period_ns) * (1 + w->sender[i].duplicated);
	for (size_t i = 0; i < w->n_pulses; i++)
		sum += (double)count_clocks(c, w->pulse[i].clocks) *
		       (1 + ns / (double)w->pulse[i].period_ns) * 2 * (1 + w->pulse[i].extra);
	for (size_t i = 0; i < w->n_messages; i++)
		sum += (double)count_clocks(c, w->message[i].from) *
		       (double)count_clocks(c, w->message[i].to) * 2 * ns / 1e9 *
		       w->message[i].per_second;
	for (size_t i = 0; i < w->n_programs; i++) {
		double n = (double)count_clocks(c, w->program[i].clocks);

		if (w->program[i].kind != WORLD_IDLE)
			sum += n * (1 + ns / (double)w->program[i].period_ns) *
			       (w->program[i].kind == WORLD_TDMA ? 8 * (n + 1) : 32);
	}
	return sum;
}

static bool check_whole(struct checker *c)
{
	double n;

	if (check_names(c) || check_clocks(c) || check_senders(c) || check_pulses(c) ||
	    check_messages(c) || check_programs(c) || check_faults(c))
		return true;
	enter(c->flaw, NULL, 0, c->w);
	n = marks(c);
	return n > MARKS_MAX &&
	       flawed(c->flaw, &c->w->duration_ns,
		      "some %.2g beacons, edges and messages in all; 2^31 are too many", n);
}

bool world_find_flaw(const struct world *w, struct config_flaw *flaw)
{
	struct checker c = { .w = w, .flaw = flaw };

	return config_find_flaw(&world_shape, w, flaw) || check_whole(&c);
}

int world_check(const struct world *w, struct cvl_error *err)
{
	struct config_flaw flaw;

	if (!world_find_flaw(w, &flaw))
		return 0;
	if (!flaw.list)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "the world: %s", flaw.text);
	return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "%s[%zu]: %s", flaw.list, flaw.index,
			flaw.text);
}
