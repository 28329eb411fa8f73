/* SPDX-License-Identifier: MIT */
/**
 * A timer of 32 bits made of one of 16 and a count of its overflows.
 */
#ifndef FX2_TIMER_H
#define FX2_TIMER_H

#include <stdint.h>

/**
 * Read in this order while interrupts are off. The timer runs on meanwhile, by far less than half
 * of its range.
 */
struct timer_reading {
	uint8_t high_before; /* TH0 */
	uint8_t low;         /* TL0: the moment that the whole stands for */
	uint8_t high_after;  /* TH0 again */
	uint8_t overflow;    /* not 0: an overflow has not been counted yet */
	uint16_t overflows;  /* counted ones; wraps */
};

uint32_t timer_join(const struct timer_reading *reading);

#endif
