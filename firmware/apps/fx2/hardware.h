/* SPDX-License-Identifier: MIT */
/**
 * Below the logic: functions needed on the chip only (sdcc).
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

/** Handle requests on endpoint 0. To be called repeatedly. */
void control_poll(void);

#endif
