/* SPDX-License-Identifier: MIT */
/** The emulated mps2-an385 under a kernel: memory, a clock, a ring, and the way out of it. */
#ifndef RTOS_BOARD_H
#define RTOS_BOARD_H

#include <stdint.h>

#include "tracer/tracer.h"

#define CLOCK_HZ 25000000u

extern struct tracer board_tracer;

/** 0, if the tracer could be started. */
int board_start(const struct tracer_layout *layout);
/** Compute for @us. */
void board_spin(uint32_t us);
/** Write trace.bin on the host, and end the emulator. Interrupts must be off. */
void board_end(void) __attribute__((noreturn));

#endif
