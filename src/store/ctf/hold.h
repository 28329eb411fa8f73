/* SPDX-License-Identifier: MIT */
/**
 * Records of a stream that is out of order by a known amount, held back until nothing older can
 * come, and handed out in order.
 *
 * What comes later than that is flagged CVL_LATE, and stands where it came. The order depends on
 * the records alone, not on how many were added at a time.
 */
#ifndef CTF_HOLD_H
#define CTF_HOLD_H

#include <coeval/record.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Most records that are held back, about 10 MB, and as much less as batches are shorter than
 * CVL_BATCH_MAX; with more the oldest goes out before its time.
 */
#define HOLD_MAX (1u << 17)

struct cvl_packet;
struct hold;

/** @disorder in ticks. NULL: out of memory. */
struct hold *hold_new(uint64_t disorder, size_t batch);
void hold_free(struct hold *h);

/**
 * The packet that records are now added of: a copy of @packet, with @n slots. Only if @packet->number
 * is another than before. CVL_E_NOMEM.
 */
int hold_packet(struct hold *h, const struct cvl_packet *packet, size_t n);

/** Add the records of @b, all of that packet. CVL_E_NOMEM. */
int hold_add(struct hold *h, const struct cvl_batch *b);

/** All that follows is at @tick or later, but for the disorder. CVL_E_NOMEM. */
int hold_advance(struct hold *h, uint64_t tick);

/** Nothing follows. CVL_E_NOMEM. */
int hold_end(struct hold *h);

/** Next batch, all of one packet; false: none is ready. Valid until the next call. */
bool hold_take(struct hold *h, struct cvl_batch *b);

/** How many were flagged CVL_LATE. */
uint64_t hold_late(const struct hold *h);

#endif
