/* SPDX-License-Identifier: MIT */
/** Text on a screen of rows of ETT_COLUMNS characters, without the C library. */
#ifndef ETT_TEXT_H
#define ETT_TEXT_H

#include <stdint.h>

#define ETT_ROWS 25
#define ETT_COLUMNS 80

/** A row that is written from left to right; what does not fit is left out. */
struct ett_text {
	char *row;
	unsigned at;
};

void ett_put(struct ett_text *t, const char *s);
/** @s up to its first blank. */
void ett_put_word(struct ett_text *t, const char *s);
/** @n with groups of three digits, right-aligned in @width columns. */
void ett_put_dec(struct ett_text *t, uint64_t n, unsigned width);
/** @n of base 16, of at least @digits. */
void ett_put_hex(struct ett_text *t, uint64_t n, unsigned digits);
/** Blanks up to column @column. */
void ett_put_to(struct ett_text *t, unsigned column);

#endif
