/* SPDX-License-Identifier: MIT */
/** The rate of the time stamp counter (TSC), and times out of its ticks. */
#ifndef ETT_RATE_H
#define ETT_RATE_H

#include <stdint.h>

/** Hz of the 8254's clock: a third of the 14.31818 MHz of the PC's crystal, by four. */
#define ETT_PIT_HZ 1193182

/** A reading of a counter, and the TSC before and after it. */
struct ett_reading {
	uint64_t before, count, after; /* count: of a counter that goes up */
};

struct ett_rate {
	uint64_t hz, least, most;
};

/**
 * Rate of the TSC from two readings of a counter of @hz. The counter's edge may lie anywhere in a
 * tick of it and in the reading: least and most follow from that, not from its crystal's error. All
 * 0 if the readings do not suffice.
 */
struct ett_rate ett_rate(const struct ett_reading *a, const struct ett_reading *b, uint64_t hz);

/**
 * What CPUID claims: leaf 15h (EAX denominator, EBX numerator, ECX crystal's Hz), else leaf 16h
 * (EAX MHz). 0: nothing. Intel's manual, volume 2A, CPUID.
 */
uint64_t ett_rate_cpuid(const uint32_t leaf15[4], const uint32_t leaf16[4]);

/** @ticks in ns, rounded down. @hz up to 2^34. */
uint64_t ett_ns(uint64_t ticks, uint64_t hz);
/** Ticks of @us. */
uint64_t ett_ticks(uint64_t us, uint64_t hz);

#endif
