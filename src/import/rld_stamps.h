/* SPDX-License-Identifier: MIT */
/**
 * From the stamps of a RocketLogger's blocks to ticks of its sampling clock.
 *
 * The converters are clocked by 100 MHz / 49, where they are made for 2.048 MHz (RocketLogger's
 * issue 13): a nominal rate R gives R * 100e6 / 49 / 2.048e6 samples a second. A tick is one of the
 * 100 MHz, so that a sample takes a whole number of them at every rate that there is: 100352000 /
 * R. Ticks count samples, from the first of the file.
 *
 * Each block is stamped by software when its first sample is due, some tenths of a millisecond
 * late. The stamps do not steer the ticks; they tell of what is missing: blocks are lost as a
 * whole, so that a stamp which is late by half of one or more says how many samples are not there.
 */
#ifndef RLD_STAMPS_H
#define RLD_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#define RLD_TICK_HZ 100000000u

struct rld_stamps {
	unsigned rate;
	uint32_t block;    /* samples */
	uint64_t position; /* of the next sample, lost ones counted */
	bool begun;
	int64_t mono_ns;        /* stamp of the last block */
	uint64_t mono_position; /* of its first sample */
	int64_t jitter_ns;      /* most that a stamp was off, jumps apart */
};

enum rld_jump { RLD_STEADY, RLD_LOST, RLD_BACK, RLD_FAR };

/** Tick of the sample at @position. CVL_TICK_UNKNOWN: out of range. */
uint64_t rld_tick(const struct rld_stamps *s, uint64_t position);

/** Ticks from one sample to the next, rounded up. */
uint64_t rld_step(const struct rld_stamps *s);

/**
 * A block begins at s->position, stamped @mono_ns. RLD_LOST: *@lost samples are missing before it,
 * and s->position is moved by them. RLD_BACK: its stamp is *@back_ns too early. RLD_FAR: it is
 * beyond all that can be.
 */
enum rld_jump rld_stamps_block(struct rld_stamps *s, int64_t mono_ns, uint64_t *lost,
			       int64_t *back_ns);

/**
 * Half-width in ticks of where samples stand behind some that are lost: twice what stamps are off
 * by, at least 1 ms each.
 */
uint64_t rld_slack(const struct rld_stamps *s);

#endif
