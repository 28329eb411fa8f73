/* SPDX-License-Identifier: MIT */
/** Words and numbers of lines: reading and writing them. Pure but for the board's put(). */
#ifndef COEVAL_TASKBENCH_SAY_H
#define COEVAL_TASKBENCH_SAY_H

#include "taskbench/hal.h"

void say(const struct bench_hal *hal, const char *text);
/** " key=value" */
void say_text(const struct bench_hal *hal, const char *key, const char *value);
void say_number(const struct bench_hal *hal, const char *key, uint64_t value);
/** The end of a line. */
void say_end(const struct bench_hal *hal);

int say_same(const char *a, const char *b);

/**
 * The value of @key in the words key=value at @words, which end at NUL, each ended by a blank or
 * NUL; NULL if it is not there.
 */
const char *say_find(const char *words, const char *key);

/** A decimal number up to 2^32 - 1, ended by a blank or NUL. Returns 1, or 0 if it is none. */
int say_u32(const char *text, uint32_t *value);

/**
 * "HEX-HEX,HEX-HEX": first and last address of up to BENCH_MAX_RANGES ranges. Returns how many, 0
 * if they cannot be read.
 */
unsigned say_ranges(const char *text, struct bench_range *r);

/** Whether the word at @text, ended by a blank or NUL, is @word. */
int say_is(const char *text, const char *word);

#endif
