/* SPDX-License-Identifier: MIT */
/** From records to the cells of all levels, in one pass. */
#ifndef LOD_BUILD_H
#define LOD_BUILD_H

#include <coeval/lod.h>

#define LOD_LINES 64
#define LOD_KINDS LOD_LINES
#define LOD_CHANNELS (LOD_KINDS + CVL_KINDS)

struct lod_level;

struct lod_build {
	unsigned leaf, top;      /* levels */
	size_t channels, tracks; /* tracks: LOD_CHANNELS, the channels, the classes of events */
	struct cvl_levels levels;
	uint64_t first, last; /* ticks */
	bool any;
	struct lod_level *level; /* CVL_LOD_LEVELS of them; those below the leaf are unused */
	/* receives each cell once it is complete; 0 or a negative code */
	int (*emit)(void *ctx, unsigned level, const struct cvl_lod_cell *cell);
	void *ctx;
};

/** CVL_E_NOMEM. All of @b before its levels is set, and from where to whom cells go. */
int lod_build_begin(struct lod_build *b);
void lod_build_free(struct lod_build *b);

int lod_build_push(struct lod_build *b, const struct cvl_batch *batch);

/** Emit all cells that are not complete, as if nothing followed; @b goes on as before. */
int lod_build_tail(const struct lod_build *b,
		   int (*emit)(void *ctx, unsigned level, const struct cvl_lod_cell *cell),
		   void *ctx);

#endif
