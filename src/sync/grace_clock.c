/* SPDX-License-Identifier: MIT */
#include "grace_clock.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

#define FREQ_MAX (GRACE_SECOND / 4)

/* Weight of a new frequency, in tenths. */
#define WEIGHT 9

/* To the nearest, halves away from zero. */
static int64_t divide(int64_t a, uint64_t b)
{
	uint64_t size = a < 0 ? -(uint64_t)a : (uint64_t)a;
	int64_t q = (int64_t)((size + b / 2) / b);

	return a < 0 ? -q : q;
}

static int64_t size_of(int64_t v)
{
	return v < 0 ? -v : v;
}

void grace_init(struct grace_clock *g, uint64_t rate_hz)
{
	assert(rate_hz >= GRACE_RATE_MIN && rate_hz <= GRACE_RATE_MAX);
	*g = (struct grace_clock){
		.ticks_nominal = rate_hz,
		.freq_adj = divide(GRACE_SECOND, rate_hz),
	};
}

void grace_tick(struct grace_clock *g)
{
	if (g->state == GRACE_WAIT)
		return;
	g->accumulator += g->freq_adj - g->offset_adj;
	if (g->offset_adj < 0)
		g->error_remaining += g->offset_adj;
	else
		g->error_remaining -= g->offset_adj;
	if (g->error_remaining <= 0)
		g->offset_adj = 0;
	if (g->accumulator > GRACE_SECOND) {
		g->seconds++;
		g->accumulator -= GRACE_SECOND;
	}
	g->ticks_actual++;
}

/* An error of 0 or less ends the correction too, but only after one tick. */
uint64_t grace_correction_left(const struct grace_clock *g)
{
	int64_t each = size_of(g->offset_adj);

	if (!each)
		return 0;
	if (g->error_remaining <= each)
		return 1;
	return (uint64_t)((g->error_remaining - 1) / each + 1);
}

/*
 * @n ticks that all add @step. A step is less than a second, so each tick carries at most one
 * second
 *    over, leaving more than 0 and at most a second: the sum gives the number of seconds. A step of
 *    0 or less lasts only for a correction, which ends near 0.
 */
static void advance(struct grace_clock *g, int64_t step, uint64_t n)
{
	i128 sum = (i128)n * step + g->accumulator;

	if (sum > GRACE_SECOND) {
		uint64_t passed = (uint64_t)((sum - 1) / GRACE_SECOND);

		g->seconds += passed;
		sum -= (i128)passed * GRACE_SECOND;
	}
	g->accumulator = (int64_t)sum;
	g->ticks_actual += n;
}

void grace_run(struct grace_clock *g, uint64_t ticks)
{
	uint64_t left = grace_correction_left(g);
	uint64_t corrected = ticks < left ? ticks : left;

	if (g->state == GRACE_WAIT)
		return;
	if (corrected) {
		advance(g, g->freq_adj - g->offset_adj, corrected);
		g->error_remaining -= (int64_t)corrected * size_of(g->offset_adj);
		if (corrected == left)
			g->offset_adj = 0;
	}
	advance(g, g->freq_adj, ticks - corrected);
}

/*
 * Lines 6 to 12: the old frequency and the one since the last beacon, weighted, in 128-bit
 * fractions.
 */
static int64_t frequency(const struct grace_clock *g, uint64_t seconds_ref)
{
	const bool back = seconds_ref < g->seconds_previous;
	const uint64_t passed =
		back ? g->seconds_previous - seconds_ref : seconds_ref - g->seconds_previous;
	const unsigned weight = g->state == GRACE_OFFSET ? 10 : WEIGHT;
	/* at most 2^58 * 2^64, and 10 * 2^64 * 2^60 < 2^127.4 */
	const u128 old = (u128)(10 - weight) * (u128)g->freq_adj * g->ticks_actual;
	const u128 new = (u128)weight *passed *(u128)GRACE_SECOND;
	const u128 half = (u128)5 * g->ticks_actual;
	u128 freq;

	if (back && new > old)
		return 0;
	freq = ((back ? old - new : old + new) + half) / (half * 2);
	return freq < FREQ_MAX ? (int64_t)freq : FREQ_MAX;
}

void grace_beacon(struct grace_clock *g, uint64_t seconds_ref)
{
	int64_t offset = 0;

	if (g->state == GRACE_WAIT) {
		g->seconds = seconds_ref;
		g->state = GRACE_OFFSET;
	} else {
		if (g->ticks_actual) {
			g->freq_adj = frequency(g, seconds_ref);
			g->state = GRACE_FREQ;
		}
		if (seconds_ref == g->seconds + 1) {
			g->error_remaining = GRACE_SECOND - g->accumulator;
			offset = g->accumulator - GRACE_SECOND;
		} else if (seconds_ref == g->seconds) {
			g->error_remaining = g->accumulator;
			offset = g->accumulator;
		} else {
			g->seconds = seconds_ref;
			g->error_remaining = 0;
		}
		g->offset_adj = divide(offset, g->ticks_nominal);
		g->ticks_actual = 0;
	}
	g->seconds_previous = seconds_ref;
}

int64_t grace_time_ns(const struct grace_clock *g, uint32_t *frac)
{
	/* in 2^-32 ns; 2^60 a second leaves 28 bits */
	i128 fine = (i128)g->seconds * 1000000000 * ((i128)1 << 32) +
		    ((i128)g->accumulator * 1000000000 >> 28);
	i128 ns = fine >> 32;
	bool beyond = ns > INT64_MAX;

	if (frac)
		*frac = beyond ? UINT32_MAX : (uint32_t)fine;
	return beyond ? INT64_MAX : (int64_t)ns;
}
