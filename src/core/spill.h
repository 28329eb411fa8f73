/* SPDX-License-Identifier: MIT */
/**
 * Arrays that may be larger than memory. A short one is in memory; one beyond SPILL_BYTES lies in an
 * unnamed file in TMPDIR (/var/tmp), mapped, of which only what was used since the last spill_rest()
 * takes memory. Where no such file can be made, or the disk is full, it stays in memory.
 */
#ifndef CORE_SPILL_H
#define CORE_SPILL_H

#include <stdbool.h>
#include <stddef.h>

#define SPILL_BYTES (256u << 10)

struct spill {
	void *at; /* moves when it grows */
	size_t room;
	bool file;
	int fd; /* if it lies in a file */
};

/** Make room for @bytes; what is new is zero. CVL_E_NOMEM: @s is as before. */
int spill_room(struct spill *s, size_t bytes);

/** Give memory back. The contents stay, and are read again when they are used. */
void spill_rest(const struct spill *s);

/** From here on elements far apart are used, or no longer: each then takes a small page. */
void spill_scattered(const struct spill *s, bool scattered);

/** @s may be {0}, and is again afterwards. */
void spill_free(struct spill *s);

/** An unnamed file for temporary data; -1 if there can be none. */
int spill_open(void);

#endif
