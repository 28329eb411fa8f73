/* SPDX-License-Identifier: MIT */
#include "sim/reference.h"

#include "sim/oscillator.h"

#include <math.h>
#include <stdlib.h>

#define STEPS 100.0       /* of the wander's equation in its own time */
#define KICK_RISE_MIN 0.5 /* s */
#define KICK_RISE_MAX 2.0
#define KICK_FALL_MIN 2.0
#define KICK_FALL_MAX 5.0

void reference_free(struct reference *r)
{
	free(r->slow);
	free(r->factor);
	*r = (struct reference){ 0 };
}

static void draw_bursts(struct reference *r, const struct world_reference *spec,
			struct sim_random rnd, double period)
{
	double every = (double)spec->bursts_every_ns, length = (double)spec->burst_ns,
	       phase = sim_uniform(&rnd) * every;

	for (size_t i = 0; i < r->n; i++)
		r->factor[i] = every > 0 && fmod((double)i * period + phase, every) < length ?
				       spec->burst_factor :
				       1;
}

/*
 * Stationary: g'' + 2 l g' + l^2 g = noise of density 4 l^3 sd^2 (a Matern process of order 3/2),
 * or g' + l g = noise of 2 l sd^2 where it is rough; in steps that are short against 1 / l.
 */
static void draw_wander(struct reference *r, const struct world_reference *spec,
			struct sim_random rnd, double period)
{
	double tau = (double)spec->wander_time_ns * 1e-9, l, g, v, h, dt;
	int steps;

	if (!(spec->wander_ns > 0) || !(tau > 0))
		return;
	l = 1 / tau;
	steps = (int)fmax(ceil(period * 1e-9 / tau * STEPS), 1);
	dt = period * 1e-9 / steps;
	h = sqrt(dt);
	g = sim_normal(&rnd);
	v = l * sim_normal(&rnd);
	for (size_t i = 0; i < r->n; i++) {
		r->slow[i] += spec->wander_ns * r->factor[i] * g;
		for (int k = 0; k < steps; k++) {
			double noise = sim_normal(&rnd) * h;

			if (spec->rough) {
				g += -l * g * dt + sqrt(2 * l) * noise;
			} else {
				v += -(2 * l * v + l * l * g) * dt + sqrt(4 * l * l * l) * noise;
				g += v * dt;
			}
		}
	}
}

/*
 * Kicks rise and fall as a servo lets them: A (e^(-t/fall) - e^(-t/rise)), scaled to A at its
 * height or thereabouts.
 */
static void draw_kicks(struct reference *r, const struct world_reference *spec,
		       struct sim_random rnd, double period)
{
	double at = 0, end = (double)r->n * period;

	if (!spec->kicks_every_ns)
		return;
	while ((at -= log(1 - sim_uniform(&rnd)) * (double)spec->kicks_every_ns) < end) {
		double size = spec->kick_ns * exp(spec->kick_spread * sim_normal(&rnd));
		double rise = KICK_RISE_MIN + (KICK_RISE_MAX - KICK_RISE_MIN) * sim_uniform(&rnd);
		double fall = KICK_FALL_MIN + (KICK_FALL_MAX - KICK_FALL_MIN) * sim_uniform(&rnd);
		double scale = fall / fmax(fall - rise, 0.1);

		size = sim_uniform(&rnd) < 0.5 ? -size : size;
		for (size_t i = (size_t)ceil(at / period); i < r->n; i++) {
			double t = ((double)i * period - at) * 1e-9;

			if (t > 20 * fall)
				break;
			r->slow[i] += size * scale * (exp(-t / fall) - exp(-t / rise));
		}
	}
}

int reference_make(struct reference *r, const struct world_reference *spec, uint64_t seed,
		   const char *line, size_t n, int64_t period_ns, struct cvl_error *err)
{
	*r = (struct reference){ .n = n,
				 .slow = calloc(n + 1, sizeof(*r->slow)),
				 .factor = calloc(n + 1, sizeof(*r->factor)) };
	if (!r->slow || !r->factor)
		return cvl_no_memory(err);
	draw_bursts(r, spec, world_random(seed, line, "bursts"), (double)period_ns);
	draw_wander(r, spec, world_random(seed, line, "wander"), (double)period_ns);
	draw_kicks(r, spec, world_random(seed, line, "kicks"), (double)period_ns);
	return 0;
}
