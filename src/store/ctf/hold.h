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

/** A packet whose records are held: what it takes to decode their fields later. */
struct hold_packet {
	uint64_t offset;      /* bytes, of the packet in its file */
	uint64_t end;         /* bits */
	uint64_t context_pos; /* of the packet context, bits */
	uint64_t number;
	unsigned uses;
	uint64_t slot[];
};

struct hold;

/** @disorder in ticks. NULL: out of memory. */
struct hold *hold_new(uint64_t disorder, size_t batch);
void hold_free(struct hold *h);

/**
 * The packet that records are now added of: a copy of @packet, with @n slots. Only if @packet->number
 * is another than before. CVL_E_NOMEM.
 */
int hold_packet(struct hold *h, const struct hold_packet *packet, const uint64_t *slot, size_t n);

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

/** The packet of the last batch; NULL before the first. */
struct hold_packet *hold_shown(const struct hold *h);

#endif
