/* SPDX-License-Identifier: MIT */
/*
 * Grace's clock (grace_clock.h) as an estimator, for comparison. It has no bound of its own: the
 * bound given is 99.9 % of a normal distribution with the spread of its errors at the last 256
 * beacons.
 */
#include "sync/grace_clock.h"
#include "sync/problem.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>

struct steered {
	struct track_setup setup;
	struct track_report *r;
	struct grace_clock clock;
	double ns_a_tick;
	int64_t x0, x, period; /* x of tick 0 and of the last beacon */
	int64_t time0;         /* of the first beacon, which says second 1 */
	bool any;
	struct forecast_errors errors;
	struct residual_sums residuals;
};

/* Offset of the clock's current time from x. */
static double offset_now(const struct steered *s, int64_t x)
{
	uint32_t frac;
	int64_t ns = grace_time_ns(&s->clock, &frac);
	long double since =
		((long double)ns - 1e9L + frac * 0x1p-32L) * ((long double)s->period * 1e-9L);

	return (double)((long double)(s->time0 - s->setup.base - x) + since);
}

static int emit(struct steered *s, int64_t x)
{
	struct track_knot k = { x, offset_now(s, x), forecast_bound(&s->errors) };

	return track_emit(s->r, &k);
}

/* Advance to @x; the rate changes where the phase correction ends. */
static int run_to(struct steered *s, int64_t x)
{
	uint64_t ticks = (uint64_t)llround((double)(x - s->x) / s->ns_a_tick);
	uint64_t left = grace_correction_left(&s->clock);
	int rc = 0;

	if (left && left < ticks) {
		grace_run(&s->clock, left);
		rc = emit(s, s->x + (int64_t)((double)left * s->ns_a_tick));
		ticks -= left;
	}
	grace_run(&s->clock, ticks);
	s->x = x;
	return rc;
}

static void *open_grace(const struct track_setup *setup, struct track_report *r)
{
	struct steered *s = calloc(1, sizeof(*s));
	double rate =
		(double)setup->rate_hz * setup->period_ns * 1e-9; /* ticks from beacon to beacon */

	if (!s)
		return NULL;
	s->setup = *setup;
	s->r = r;
	s->period = (int64_t)setup->period_ns;
	rate = fmin(fmax(rate, GRACE_RATE_MIN), GRACE_RATE_MAX);
	grace_init(&s->clock, (uint64_t)llround(rate));
	s->ns_a_tick = setup->period_ns / (double)s->clock.ticks_nominal;
	return s;
}

static int feed(void *state, const struct track_mark *m)
{
	struct steered *s = state;
	int64_t time = s->setup.base + m->x + (int64_t)llround(m->offset), second;
	int rc;

	if (!s->any) {
		s->any = true;
		s->x0 = s->x = m->x;
		s->time0 = time;
		grace_beacon(&s->clock, 1);
		s->r->used++;
		return 0;
	}
	second = 1 + (time - s->time0 + s->period / 2) / s->period;
	if (m->x <= s->x || second < 1)
		return 0;
	rc = run_to(s, m->x);
	if (s->clock.state == GRACE_FREQ) {
		double error = m->offset - offset_now(s, m->x);

		s->r->steps += forecast_error(&s->errors, error);
		residual_add(&s->residuals, error);
	}
	if (!rc && s->r->used > 1)
		rc = emit(s, m->x - 1);
	grace_beacon(&s->clock, (uint64_t)second);
	s->r->used++;
	return rc ? rc : emit(s, m->x);
}

static int close_grace(void *state, int rc)
{
	struct steered *s = state;
	double rate = (double)s->clock.freq_adj * (double)s->clock.ticks_nominal / 0x1p60;

	if (!rc && s->r->used < TRACK_MARKS_MIN)
		rc = CVL_E_NO;
	if (!rc) {
		double ppb = rate > 0.5 && rate < 2 ? (1 / rate - 1) * 1e9 : 0;

		rc = run_to(s, s->x + s->period);
		rc = rc ? rc : emit(s, s->x);
		residual_end(&s->residuals, s->r);
		s->r->jitter_ns = sqrt(s->errors.mean2);
		s->r->before = s->r->after = (struct cvl_map_edge){
			.rate_ppb = ppb,
			.drift_ppb = forecast_bound(&s->errors) / ((double)s->period * 1e-9),
			.wander_ppb_s = 10,
		};
	}
	free(s);
	return rc;
}

static const struct tracker tracker = { open_grace, feed, close_grace, true, false };

const struct estimator estimator_grace = {
	.info = { .name = "grace",
		  .what = "beacons, online: the clock of the Grace paper, for comparison",
		  .options = sync_beacon_options },
	.tracker = &tracker,
};
