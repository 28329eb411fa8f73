/* SPDX-License-Identifier: MIT */
/*
 * The clock of TraceLab (Lim et al., LCN Workshops 2015, Sec. IV-B and IV-E) as an estimator, for
 * comparison.
 *
 * Reference times are first filtered, equation 1: T'(i) = a T(i) + (1 - a) (T'(i-1) + mean
 * interval), a = 0.1. The mean is over the last M intervals; the paper leaves M open, here it is N.
 * Then a system time is steered: the open loop takes the rate from the last N = 8 periods, the P
 * controller (gain 1) adds the offset seen at the pulse, and the sum, in whole clock cycles, is
 * spread evenly over the next second. The divider of 49 to 51 limits it to 2 %. After a second
 * without a pulse the offset has been worked off and only the open loop remains.
 */
#include "sync/problem.h"
#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 8
#define ALPHA 0.1
#define DIVIDER_LIMIT 0.02

struct steered {
	struct track_setup setup;
	struct track_report *r;
	int64_t x0;                     /* x of the first mark; the rest is relative to it */
	double raw[N + 1], seen[N + 1]; /* the last reference times, raw and filtered, x in ns */
	double y[N + 1];                /* their times, ns from the first */
	size_t n;
	double at, time, slope, end,
		/* system time: from x = at on, the offset being worked off up to end */
		slope_after;
	struct forecast_errors errors;
	struct residual_sums residuals;
};

/* System time at @x, relative to the first mark. */
static double system_time(const struct steered *s, double x)
{
	double first = fmin(x, s->end) - s->at, rest = fmax(x - s->end, 0);

	return s->time + s->slope * first + s->slope_after * rest;
}

static int emit(struct steered *s, double x)
{
	int64_t whole = s->x0 + (int64_t)llround(x);
	struct track_knot k = { whole,
				system_time(s, (double)(whole - s->x0)) - (double)(whole - s->x0),
				forecast_bound(&s->errors) };

	return track_emit(s->r, &k);
}

/* Equation 1. Each missed pulse counts as one mean interval. */
static double filtered(const struct steered *s, double x, double y)
{
	size_t k = s->n < N ? s->n : N;
	double interval;

	if (s->n < 2)
		return x; /* no interval yet */
	interval = (s->raw[N] - s->raw[N + 1 - k]) / (s->y[N] - s->y[N + 1 - k]);
	return ALPHA * x + (1 - ALPHA) * (s->seen[N] + interval * (y - s->y[N]));
}

static void *open_tracelab(const struct track_setup *setup, struct track_report *r)
{
	struct steered *s = calloc(1, sizeof(*s));

	if (s) {
		s->setup = *setup;
		s->r = r;
	}
	return s;
}

/* From the pulse at @x, time @y: whole clock cycles more or fewer over the next second. */
static void steer(struct steered *s, double x, double y)
{
	size_t k = s->n - 1 < N ? s->n - 1 : N; /* intervals available */
	double period = s->setup.period_ns, cycle = 1e9 / (double)s->setup.rate_hz;
	double offset = y - system_time(s, x), rate, both;

	rate = (s->y[N] - s->y[N - k]) / (s->seen[N] - s->seen[N - k]) - 1;
	both = round((rate * period + offset) / cycle) * cycle;
	both = fmax(fmin(both, DIVIDER_LIMIT * period), -DIVIDER_LIMIT * period);
	s->time = system_time(s, x);
	s->at = x;
	s->end = x + period;
	s->slope = 1 + both / period;
	s->slope_after = 1 + round(rate * period / cycle) * cycle / period;
}

static int feed(void *state, const struct track_mark *m)
{
	struct steered *s = state;
	double x, y, at;
	int rc = 0;

	if (!s->n)
		s->x0 = m->x;
	x = (double)(m->x - s->x0);
	y = x + m->offset;
	if (s->n && (y <= s->y[N] || x <= s->raw[N]))
		return 0;
	at = fmax(filtered(s, x, y), s->at);
	if (s->n > 1) {
		if (at > s->end)
			rc = emit(s, s->end);
		s->r->steps += forecast_error(&s->errors, y - system_time(s, at));
		residual_add(&s->residuals, y - system_time(s, at));
	}
	memmove(s->raw, s->raw + 1, N * sizeof(*s->raw));
	memmove(s->seen, s->seen + 1, N * sizeof(*s->seen));
	memmove(s->y, s->y + 1, N * sizeof(*s->y));
	s->raw[N] = x;
	s->seen[N] = at;
	s->y[N] = y;
	s->r->used++;
	if (s->n++) {
		if (s->n == 2) { /* the first second uses the rate of the first interval */
			s->at = s->end = x;
			s->time = y;
			s->slope = s->slope_after = 1;
		}
		steer(s, at, y);
		if (!rc)
			rc = emit(s, at);
	}
	return rc;
}

static int close_tracelab(void *state, int rc)
{
	struct steered *s = state;

	if (!rc && s->n < TRACK_MARKS_MIN)
		rc = CVL_E_NO;
	if (!rc)
		rc = emit(s, s->end);
	if (!rc) {
		residual_end(&s->residuals, s->r);
		s->r->jitter_ns = sqrt(s->errors.mean2);
		s->r->before = s->r->after = (struct cvl_map_edge){
			.rate_ppb = track_rate_ppb(s->slope_after - 1),
			.drift_ppb = forecast_bound(&s->errors) / N / (s->setup.period_ns * 1e-9),
			.wander_ppb_s = 10,
		};
	}
	free(s);
	return rc;
}

static const struct tracker tracker = { open_tracelab, feed, close_tracelab, true, false };

const struct estimator estimator_tracelab = {
	.info = { .name = "tracelab",
		  .what = "pulses, online: the controller of the TraceLab paper, for comparison",
		  .options = sync_mark_options },
	.tracker = &tracker,
};
