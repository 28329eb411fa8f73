/* SPDX-License-Identifier: MIT */
/**
 * From the timestamps of a RocketLogger's blocks to ticks of its sampling clock.
 *
 * The converters are clocked at 100 MHz / 49 instead of the intended 2.048 MHz (RocketLogger's
 * issue 13): a nominal rate R gives R * 100e6 / 49 / 2.048e6 samples per second. Ticks are of the
 * 100 MHz, so that a sample takes a whole number of them at every available rate: 100352000 / R.
 * Tick 0 is the first sample of the file.
 *
 * Software timestamps each block when its first sample is due, some tenths of a millisecond late.
 * The timestamps do not steer the ticks but reveal losses: blocks are lost as a whole, so a
 * timestamp that is late by half a block or more shows how many samples are missing.
 */
#ifndef RLD_STAMPS_H
#define RLD_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#define RLD_TICK_HZ 100000000u

struct rld_stamps {
	unsigned rate;
	uint32_t block;    /* samples */
	uint64_t position; /* of the next sample, counting lost ones */
	bool begun;
	int64_t mono_ns;        /* timestamp of the last block */
	uint64_t mono_position; /* of its first sample */
	int64_t jitter_ns;      /* most that a timestamp was off, except for jumps */
};

enum rld_jump { RLD_STEADY, RLD_LOST, RLD_BACK, RLD_FAR };

/** Tick of the sample at @position. CVL_TICK_UNKNOWN: out of range. */
uint64_t rld_tick(const struct rld_stamps *s, uint64_t position);

/** Ticks from one sample to the next, rounded up. */
uint64_t rld_step(const struct rld_stamps *s);

/**
 * A block begins at s->position, timestamped @mono_ns. RLD_LOST: *@lost samples are missing before
 * it, and s->position has been advanced by them. RLD_BACK: the timestamp is *@back_ns too early.
 * RLD_FAR: it is impossibly late.
 */
enum rld_jump rld_stamps_block(struct rld_stamps *s, int64_t mono_ns, uint64_t *lost,
			       int64_t *back_ns);

/**
 * Half-width in ticks of the position of samples after a loss: twice the error of timestamps, which
 * is taken as at least 1 ms.
 */
uint64_t rld_slack(const struct rld_stamps *s);

#endif
