/* SPDX-License-Identifier: MIT */
#include "discipline.h"

#define NS_S 1000000000
#define STEP_BACK_NS 10000000.0
#define RUN_TO_LOCK 5     /* pulses that must agree, the first included */
#define RUN_SPREAD 2000.0 /* ns by which seconds within a run may differ */
#define HOLDOVER_S 2.5
#define GATE 5.0  /* standard deviations beyond which a pulse is an outlier */
#define WIDTH 3.3 /* standard deviations in an uncertainty: 99.9 % */
#define NOISE_MEMORY 64.0
#define NOISE_MAX 1e6 /* ns^2 */

static double square(double x)
{
	return x * x;
}

/* Newton's; the board's C library is not needed for this alone. */
static double root(double x)
{
	double r = x > 1 ? x : 1;

	if (!(x > 0))
		return 0;
	for (int i = 0; i < 200; i++) {
		double next = (r + x / r) / 2;

		if (!(next < r))
			break;
		r = next;
	}
	return r;
}

/* Nearest whole number, halves up. */
static int64_t nearest(double x)
{
	int64_t n = (int64_t)x;

	if ((double)n > x)
		n--;
	return x - (double)n >= 0.5 ? n + 1 : n;
}

void discipline_init(struct discipline *d, uint32_t timer_hz,
		     const struct discipline_limits *limits)
{
	*d = (struct discipline){ .limits = *limits, .hz = timer_hz, .rate = 1e9 / timer_hz };
}

static double seconds(const struct discipline *d, uint64_t from, uint64_t to)
{
	return (double)(int64_t)(to - from) / d->hz;
}

/*
 * The most that the crystal can have done in @s seconds to the rate (ns/s), and to the phase (ns).
 */
static double wander_rate(const struct discipline *d, double s)
{
	double rate = d->limits.wander_ppb_s * s;

	return rate < d->limits.range_ppb ? rate : d->limits.range_ppb;
}

static double wander(const struct discipline *d, double s)
{
	double to_range = (double)d->limits.range_ppb / d->limits.wander_ppb_s;

	if (s < to_range)
		return d->limits.wander_ppb_s * s * s / 2;
	return d->limits.range_ppb * (s - to_range / 2);
}

/* Variance of the phase @s seconds on, if the crystal does not wander. */
static double phase_variance(const struct discipline *d, double s)
{
	return d->pp + 2 * s * d->pr + s * s * d->rr;
}

int64_t discipline_time(const struct discipline *d, uint64_t count)
{
	return d->ns + nearest((double)(int64_t)(count - d->at) * d->rate + d->part);
}

uint64_t discipline_count(const struct discipline *d, int64_t ns)
{
	return d->at + (uint64_t)nearest(((double)(ns - d->ns) - d->part) / d->rate);
}

uint32_t discipline_uncertain(const struct discipline *d, uint64_t count)
{
	double s = seconds(d, d->at, count), u;

	if (d->state == DISCIPLINE_FREE)
		return DISCIPLINE_UNKNOWN;
	if (s < 0)
		s = 0;
	u = WIDTH * root(phase_variance(d, s)) + d->lag + s * d->lag_rate + wander(d, s) + d->rate +
	    1;
	return u < 4e9 ? (uint32_t)u : DISCIPLINE_UNKNOWN - 1;
}

int32_t discipline_rate_ppb(const struct discipline *d)
{
	return (int32_t)nearest((1e9 / d->hz / d->rate - 1) * 1e9);
}

/* Move the anchor to @count. */
static void carry(struct discipline *d, uint64_t count)
{
	double s = seconds(d, d->at, count);
	double phase = wander(d, s), rate = wander_rate(d, s);
	double ahead = (double)(int64_t)(count - d->at) * d->rate + d->part;
	int64_t whole = nearest(ahead);

	d->ns += whole;
	d->part = ahead - (double)whole;
	d->at = count;
	d->lag += s * d->lag_rate + wander(d, s);
	d->lag_rate += wander_rate(d, s);
	/*
	 * What the crystal did was one movement, of phase and rate alike. The most that it can do
	 * is taken for a standard deviation: with less, the filter lags more than it smooths.
	 */
	d->pp = phase_variance(d, s) + phase * phase;
	d->pr += s * d->rr + phase * rate;
	d->rr += rate * rate;
}

/* Distance of own time from the next whole second at the anchor: positive if own time is late. */
static double to_second(const struct discipline *d)
{
	int64_t over = d->ns % NS_S;

	if (over < 0)
		over += NS_S;
	if (over > NS_S / 2)
		over -= NS_S;
	return -(double)over - d->part;
}

/* Take the anchor, which is at a run's last pulse, to the whole second that it must be. */
static int64_t lock(struct discipline *d)
{
	double off = to_second(d), seconds_run = RUN_TO_LOCK - 1;
	int64_t before = d->ns;

	if (off < -STEP_BACK_NS)
		off += NS_S;
	d->ns += nearest(off + d->part);
	d->part = 0;
	d->rate = seconds_run * NS_S / (double)(d->run_last - d->run_first);
	d->noise = square(3.0 * d->limits.pulse_ns);
	/* phase by the last pulse, rate by the last and the first */
	d->pp = d->noise;
	d->pr = d->noise / seconds_run;
	d->rr = 2 * d->noise / square(seconds_run);
	/* the rate is that of the middle of the run */
	d->lag = 0;
	d->lag_rate = wander_rate(d, seconds_run / 2);
	d->offset_ns = off;
	d->state = DISCIPLINE_LOCKED;
	d->run = 0;
	d->locks++;
	return d->ns - before;
}

/*
 * A pulse that own time does not expect. Returns whether enough of them agree. One that comes too
 * early for the run is taken for noise; one that is late ends the run, and begins another.
 */
static int run(struct discipline *d, uint64_t count)
{
	double step = (double)(count - d->run_last);
	double off = step / d->hz - 1, limit = d->limits.crystal_ppb * 1e-9;
	double spread = RUN_SPREAD * 1e-9 * d->hz;

	if (d->run && off < -limit)
		return 0;
	if (d->run && off <= limit &&
	    (d->run < 2 || (step - d->run_step <= spread && d->run_step - step <= spread))) {
		d->run++;
	} else {
		d->run = 1;
		d->run_first = count;
	}
	d->run_last = count;
	d->run_step = step;
	return d->run == RUN_TO_LOCK;
}

/* Whether the pulse at @count fits, and then what it says. */
static int follow(struct discipline *d, uint64_t count)
{
	struct discipline next = *d;
	double off, s, gate, k0, k1;

	carry(&next, count);
	off = to_second(&next);
	s = next.pp + next.noise;
	gate = GATE * root(s);
	if (off > gate || off < -gate)
		return 0;
	k0 = next.pp / s;
	k1 = next.pr / s;
	next.part += k0 * off;
	/* own time was late: the counts are longer than they were taken to be */
	next.rate *= 1 + k1 * off * 1e-9;
	next.rr -= k1 * next.pr;
	next.pr -= k0 * next.pr;
	next.pp -= k0 * next.pp;
	next.lag_rate -= k1 * next.lag;
	next.lag -= k0 * next.lag;
	next.noise += (square(off) - s) / NOISE_MEMORY;
	if (next.noise < square(next.limits.pulse_ns))
		next.noise = square(next.limits.pulse_ns);
	if (next.noise > NOISE_MAX)
		next.noise = NOISE_MAX;
	next.offset_ns = off;
	next.state = DISCIPLINE_LOCKED;
	next.run = 0;
	*d = next;
	return 1;
}

int64_t discipline_pulse(struct discipline *d, uint64_t count)
{
	d->pulses++;
	discipline_pass(d, count);
	if (d->state != DISCIPLINE_FREE) {
		if (follow(d, count))
			return 0;
		d->outliers++;
	}
	if (!run(d, count))
		return 0;
	carry(d, count);
	return lock(d);
}

void discipline_pass(struct discipline *d, uint64_t count)
{
	if (d->state == DISCIPLINE_LOCKED && seconds(d, d->at, count) > HOLDOVER_S)
		d->state = DISCIPLINE_HOLDOVER;
	if (d->state == DISCIPLINE_HOLDOVER && discipline_uncertain(d, count) > d->limits.lost_ns)
		d->state = DISCIPLINE_FREE;
}
