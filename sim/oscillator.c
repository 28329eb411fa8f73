/* SPDX-License-Identifier: MIT */
#include "sim/oscillator.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400.0

struct sim_random world_random(uint64_t seed, const char *who, const char *what)
{
	uint64_t h = seed ^ 0xcbf29ce484222325u; /* FNV-1a over both names */
	struct sim_random r;

	for (const char *s = who; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	h = (h ^ '/') * 0x100000001b3u;
	for (const char *s = what; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	r.state = h;
	r.state = sim_u64(&r);
	return r;
}

void oscillator_free(struct oscillator *o)
{
	free(o->ahead);
	*o = (struct oscillator){ 0 };
}

static bool names(const struct world_fault *f, enum world_fault_kind kind, const char *who)
{
	return f->kind == kind && !fnmatch(f->who, who, 0);
}

/* Change of the rate by faults at true time @t, in parts. */
static double fault_rate(const struct world *w, const char *who, double t)
{
	double rate = 0;

	for (size_t i = 0; i < w->n_faults; i++) {
		const struct world_fault *f = &w->fault[i];
		bool on =
			t >= (double)f->at_ns && (!f->for_ns || t < (double)(f->at_ns + f->for_ns));

		if (on && names(f, WORLD_RATE_STEP, who))
			rate += f->amount * 1e-6;
		if (on && names(f, WORLD_SLIP, who)) {
			struct sim_random r = world_random(w->seed + i, who, "slip");

			rate += f->amount * (2 * sim_uniform(&r) - 1) / (double)f->for_ns;
		}
	}
	return rate;
}

static bool frozen(const struct world *w, const char *who, double t)
{
	for (size_t i = 0; i < w->n_faults; i++) {
		const struct world_fault *f = &w->fault[i];

		if (names(f, WORLD_FREEZE, who) && t >= (double)f->at_ns &&
		    t < (double)(f->at_ns + f->for_ns))
			return true;
	}
	return false;
}

static void add_jumps(struct oscillator *o, const struct world *w, const char *who)
{
	for (size_t i = 0; i < w->n_faults; i++)
		if (names(&w->fault[i], WORLD_PHASE_STEP, who)) {
			o->jump[o->n_jumps].at = (double)w->fault[i].at_ns;
			o->jump[o->n_jumps++].ns = w->fault[i].amount;
		}
}

int oscillator_make(struct oscillator *o, const struct world *w,
		    const struct world_oscillator *spec, const char *who, struct cvl_error *err)
{
	struct sim_random r = world_random(w->seed, who, "oscillator");
	double *step_at = calloc(spec->rate_steps + 1, sizeof(*step_at)), *step_by, walk, phase,
	       dt_s;

	*o = (struct oscillator){ .step_ns = (double)(w->step_ns ? w->step_ns : WORLD_STEP_NS) };
	step_by = calloc(spec->rate_steps + 1, sizeof(*step_by));
	o->n = (size_t)ceil((double)w->duration_ns / o->step_ns) + 1;
	o->ahead = malloc((o->n + 1) * sizeof(*o->ahead));
	if (!step_at || !step_by || !o->ahead) {
		free(step_at);
		free(step_by);
		return cvl_no_memory(err);
	}
	walk = (spec->offset_ppm + spec->offset_sd_ppm * sim_normal(&r)) * 1e-6;
	phase = 2 * M_PI * sim_uniform(&r);
	for (unsigned i = 0; i < spec->rate_steps; i++) {
		step_at[i] = sim_uniform(&r) * (double)w->duration_ns;
		step_by[i] = (sim_u64(&r) & 1 ? 1 : -1) * spec->rate_step_ppm * 1e-6;
	}
	dt_s = o->step_ns * 1e-9;
	o->ahead[0] = 0;
	for (size_t i = 0; i < o->n; i++) {
		double t = (double)i * o->step_ns, mid = t + o->step_ns / 2;
		double rate = walk + spec->white_ppb * 1e-9 / sqrt(dt_s) * sim_normal(&r) +
			      spec->ageing_ppb_day * 1e-9 * mid * 1e-9 / DAY_S +
			      fault_rate(w, who, mid);

		if (spec->sine_period_ns)
			rate += spec->sine_ppm * 1e-6 *
				sin(2 * M_PI * mid / (double)spec->sine_period_ns + phase);
		for (unsigned k = 0; k < spec->rate_steps; k++)
			rate += t >= step_at[k] ? step_by[k] : 0;
		if (frozen(w, who, mid))
			rate = -1;
		o->ahead[i + 1] = o->ahead[i] + rate * o->step_ns;
		walk += spec->walk_ppb * 1e-9 * sqrt(dt_s) * sim_normal(&r);
	}
	add_jumps(o, w, who);
	free(step_at);
	free(step_by);
	return 0;
}

static double without_jumps(const struct oscillator *o, double t)
{
	double at = t / o->step_ns;
	size_t i = at <= 0 ? 0 : at >= (double)o->n ? o->n - 1 : (size_t)at;

	return t + o->ahead[i] + (o->ahead[i + 1] - o->ahead[i]) * (at - (double)i);
}

double oscillator_x(const struct oscillator *o, double t)
{
	double x = without_jumps(o, t);

	for (size_t i = 0; i < o->n_jumps; i++)
		x += t >= o->jump[i].at ? o->jump[i].ns : 0;
	return x;
}

double oscillator_when(const struct oscillator *o, double x)
{
	double low = -o->step_ns, high = (double)(o->n + 1) * o->step_ns;

	for (int i = 0; i < 80 && high - low > 0x1p-10; i++) {
		double mid = (low + high) / 2;

		if (oscillator_x(o, mid) >= x)
			high = mid;
		else
			low = mid;
	}
	return high;
}
