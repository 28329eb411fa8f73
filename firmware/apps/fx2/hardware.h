/* SPDX-License-Identifier: MIT */
/**
 * Below the logic: what only the chip itself needs (sdcc).
 */
#ifndef FX2_HARDWARE_H
#define FX2_HARDWARE_H

#include <stdint.h>

/** Clocks, timer, endpoints, sampling engine. */
void chip_init(void);

/* sdcc puts the vector where it sees the prototype: main.c must. */
void timer_overflow(void) __interrupt(1);

/** Leave the bus and come back as the analyzer. */
void control_connect(void);

/** Handle what came over endpoint 0. To be called again and again. */
void control_poll(void);

#endif
