/* SPDX-License-Identifier: MIT */
/** Where in an array something is, by a hash of its names: of a thousand nodes each message has one to find. */
#ifndef UPLINK_LOOKUP_H
#define UPLINK_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lookup_slot;

/** All zero: empty. */
struct lookup {
	struct lookup_slot *slot;
	size_t n, room;
};

/** Of the names that there are: others may be NULL. */
uint32_t lookup_hash(const char *node, const char *clock, const uint8_t id[16]);

/** Place @index is of @hash. It may not be any more: whoever looks compares. CVL_E_NOMEM. */
int lookup_put(struct lookup *t, uint32_t hash, size_t index);

/** The next @index of @hash; begin with *@at 0. False: there are no more. */
bool lookup_next(const struct lookup *t, uint32_t hash, size_t *at, size_t *index);

void lookup_clear(struct lookup *t);
void lookup_free(struct lookup *t);

#endif
