/* SPDX-License-Identifier: MIT */
/**
 * Layout of a file of knots: header, tail slots, full blocks. docs/session.md has every byte of it.
 *
 * All numbers are little-endian; doubles are written as the 64 bits of IEEE 754.
 */
#ifndef CORE_KNOTS_INTERNAL_H
#define CORE_KNOTS_INTERNAL_H

#include <endian.h>
#include <string.h>

#include "core/crc32c.h"
#include "core/knots.h"

#define KNOTS_MAGIC "coevalkn"
#define KNOTS_VERSION 2

/* One slot is that of the newest commit, one that of the newest durable commit, one is free. */
#define KNOTS_SLOTS 3
/** Blocks before the first full one. */
#define KNOTS_HEAD (1 + KNOTS_SLOTS)

struct wire_knot {
	uint64_t tick;
	int64_t ns;
	int64_t bound_ns;
	uint32_t frac;
	uint32_t zero;
};

struct wire_edge {
	uint64_t rate_ppb, drift_ppb, wander_ppb_s;
};

/* The map as one commit left it. */
struct wire_state {
	uint64_t n; /* 0: there is none */
	uint64_t rate_hz;
	uint32_t kind;
	uint32_t slot; /* of the last n % KNOTS_IN_BLOCK knots */
	struct wire_edge before, after;
	struct wire_knot first, last;
};

/*
 * It is overwritten by each commit. All of it lies in the first 512 bytes of its block, which any
 * disk writes as a whole.
 */
struct wire_header {
	uint32_t crc; /* of the rest of the block, as in every block */
	uint32_t version;
	char magic[8];
	struct wire_state newest, durable;
};

/* A full block, or a tail. */
struct wire_block {
	uint32_t crc;
	uint32_t n;      /* knots in it */
	uint64_t number; /* of its first knot */
	struct wire_knot knot[KNOTS_IN_BLOCK];
	uint8_t rest[KNOTS_BLOCK - 16 - KNOTS_IN_BLOCK * sizeof(struct wire_knot)];
};

_Static_assert(CVL_BOUND_NONE == 0 && CVL_BOUND_GUESS == 1 && CVL_BOUND_STATISTICAL == 2 &&
		       CVL_BOUND_PROVEN == 3,
	       "kinds are stored as these numbers");
_Static_assert(sizeof(struct wire_knot) == 32, "no padding");
_Static_assert(sizeof(struct wire_state) == 136, "no padding");
_Static_assert(sizeof(struct wire_header) == 288, "no padding");
_Static_assert(sizeof(struct wire_block) == KNOTS_BLOCK, "a block is a page");

/** Where slot @slot and full block @i are in the file. */
static inline uint64_t knots_slot_at(uint32_t slot)
{
	return (uint64_t)(1 + slot) * KNOTS_BLOCK;
}

static inline uint64_t knots_full_at(uint64_t i)
{
	return (KNOTS_HEAD + i) * KNOTS_BLOCK;
}

/** What the first four bytes of @block should be, in the machine's order. */
static inline uint32_t knots_crc(const void *block)
{
	return cvl_crc32c(0, (const uint8_t *)block + 4, KNOTS_BLOCK - 4);
}

static inline bool knots_ordered(const struct cvl_knot *a, const struct cvl_knot *b)
{
	return a->tick.count < b->tick.count &&
	       (a->time.ns < b->time.ns || (a->time.ns == b->time.ns && a->frac <= b->frac));
}

#endif
