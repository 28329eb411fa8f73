/* SPDX-License-Identifier: MIT */
/**
 * Cells of all levels, in blocks of some KiB, in order.
 *
 * A block's bytes are those of its cells: the distance of its bucket from the one before (of the first:
 * from the block's); a bit for each line with a sum, and the count and ticks of each; twice the number
 * of other sums (plus one if levels follow), and of each the distance of its track from the one before
 * (of the first: from LOD_LINES), its count, and the ticks of gaps, or the least, greatest and total
 * reading as doubles; then, maybe, the levels and the lines of known level behind it: else lines with
 * odd counts changed. Numbers are LEB128.
 */
#ifndef LOD_BLOCKS_H
#define LOD_BLOCKS_H

#include <coeval/lod.h>

#include "core/spill.h"

struct lod_block {
	uint64_t at; /* of its bytes */
	uint32_t bytes, crc;
	uint64_t first, last;     /* buckets */
	struct cvl_levels before; /* its first cell */
	uint64_t gap_until;       /* of the blocks before it */
};

struct lod_blocks {
	size_t channels; /* readings are those of so many tracks */
	struct lod_list {
		struct lod_block *block;
		size_t n, room;
		/* the one that is not full yet */
		struct lod_block open;
		unsigned char *bytes;
		size_t room_bytes;
		uint64_t gap_until;
	} level[CVL_LOD_LEVELS];
	struct spill spill;         /* bytes of the full ones, */
	const unsigned char *bytes; /* or a file's */
	size_t n_bytes;
	bool mapped;
	size_t file_bytes;
	void *file;
};

/** Add a cell behind the others of @level. CVL_E_NOMEM. */
int lod_blocks_put(struct lod_blocks *b, unsigned level, const struct cvl_lod_cell *cell);
void lod_blocks_free(struct lod_blocks *b);

struct lod_reading {
	uint64_t from, to; /* buckets */
	struct cvl_lod_begin begin;
	bool known; /* begin is */
	int (*see)(void *ctx, const struct cvl_lod_cell *cell);
	void *ctx;
};

/**
 * As cvl_lod_read(). @r->begin is kept from an earlier one if there is nothing before @r->from.
 */
int lod_blocks_read(const struct lod_blocks *b, unsigned level, struct lod_reading *r);

/** A cell as in a block, at @w, in which lod_cell_room() bytes are free. Returns the end. */
unsigned char *lod_cell_put(unsigned char *w, const struct cvl_lod_cell *cell, uint64_t distance,
			    size_t channels);
size_t lod_cell_room(const struct cvl_lod_cell *cell);

/** A number as in a block, of at most ten bytes. Returns the end. */
unsigned char *lod_number_put(unsigned char *w, uint64_t v);

/** Tick up to which its gaps last; 0: it has none. */
uint64_t lod_cell_gap(const struct cvl_lod_cell *cell, unsigned level);

/** Write all of it to file @path, with @text, which tells what it was made from, and @facts. */
int lod_blocks_save(struct lod_blocks *b, const char *path, const char *text,
		    const uint64_t facts[4], struct cvl_error *err);
/** Read it from there; @b is {0}. CVL_E_MISSING: no such file, or another text. */
int lod_blocks_load(struct lod_blocks *b, const char *path, const char *text, uint64_t facts[4],
		    struct cvl_error *err);

#endif
