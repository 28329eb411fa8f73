/* SPDX-License-Identifier: MIT */
/** Hooks for RIOT: see hooks.c. */
#ifndef RTOS_RIOT_HOOKS_H
#define RTOS_RIOT_HOOKS_H

struct tracer;

/** The number of "nothing runs", beyond RIOT's threads. */
#define RTOS_RIOT_IDLE 0xffffu

/** Trace to @t; after the threads were made, whose names are traced, or with rtos_create() for each. */
void rtos_riot_start(struct tracer *t);

#endif
