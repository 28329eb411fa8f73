/* SPDX-License-Identifier: MIT */
/**
 * Levels of detail of a stream: what its records add up to in buckets of 4^level ticks, so that any
 * part of any capture can be drawn at the cost of its pixels.
 *
 * Bucket i of a level holds the ticks from i * 4^level up to (i + 1) * 4^level. Sums are exact: a
 * bucket's are those of its four parts. Buckets in which nothing happens are left out; levels go on
 * through them. A late record (CVL_LATE) counts at the latest tick before it. Ticks are the
 * clock's own: no sync changes them.
 */
#ifndef COEVAL_LOD_H
#define COEVAL_LOD_H

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/record.h>
#include <coeval/session.h>

CVL_BEGIN_DECLS

#define CVL_LOD_LEVELS 32

/** What is summed up: tracks, numbered in this order. */
enum cvl_lod_of {
	CVL_LOD_LINE,    /* a digital line */
	CVL_LOD_KIND,    /* records of an enum cvl_kind without fields: gaps, beacons, pulses */
	CVL_LOD_CHANNEL, /* readings of an analog channel */
	CVL_LOD_CLASS,   /* events of a class; of spans, their begins */
};

struct cvl_lod_track {
	enum cvl_lod_of of;
	uint32_t number; /* of the line, kind, channel or class */
};

/** What is known of a track in a bucket. */
struct cvl_lod_sum {
	uint32_t track;
	uint64_t count; /* edges, records, readings, events */
	/*
	 * of a line: for how long it was high; of gaps: from the bucket's first tick to the end of
	 * the one that lasts longest
	 */
	uint64_t ticks;
	double min, max, total; /* readings */
};

/** A bucket in which something happened. */
struct cvl_lod_cell {
	uint64_t bucket;
	struct cvl_levels before,
		after; /* levels of lines at its first tick, and behind its last */
	size_t n;
	const struct cvl_lod_sum *sum; /* by track; lines that did not change are left out */
};

/** What holds at the begin of a range of buckets. */
struct cvl_lod_begin {
	struct cvl_levels levels;
	uint64_t gap_until; /* tick up to which a gap lasts that began earlier; 0: none */
};

struct cvl_lod;

/**
 * Levels of detail of stream @stream of the trace of clock @clock, as far as it was written; @s must
 * outlive it. They are kept in the session's derived files once the stream has ended, and read from
 * there as long as it does not change. CVL_E_NOMEM, CVL_E_CANCELLED, what is wrong with the trace.
 * @progress, in bytes, may be NULL.
 */
CVL_API int cvl_lod_open(struct cvl_lod **lod, const struct cvl_session *s, size_t clock,
			 size_t stream, const struct cvl_progress *progress, struct cvl_error *err);
CVL_API void cvl_lod_close(struct cvl_lod *lod);

/** Add what a growing stream got meanwhile: 1 if there was anything, 0 or a negative code. */
CVL_API int cvl_lod_update(struct cvl_lod *lod, struct cvl_error *err);

/** The finest level that is kept. */
CVL_API unsigned cvl_lod_leaf(const struct cvl_lod *lod);
/** Its first record, and the end of its packets; false: the stream is empty. */
CVL_API bool cvl_lod_range(const struct cvl_lod *lod, struct cvl_tick *first,
			   struct cvl_tick *last);
/** Number of tracks, and what track @i is. */
CVL_API size_t cvl_lod_tracks(const struct cvl_lod *lod);
CVL_API struct cvl_lod_track cvl_lod_track(const struct cvl_lod *lod, uint32_t i);

/**
 * Pass the cells of @level from bucket @from to bucket @to to @see (NULL: nothing), in order; @begin
 * gets what holds at the begin of @from. @see returns 0, or what ends the call. Below the leaf level
 * they are made from the records; what was kept and is damaged is made again. CVL_E_RANGE, and as
 * cvl_lod_open().
 */
CVL_API int cvl_lod_read(struct cvl_lod *lod, unsigned level, uint64_t from, uint64_t to,
			 struct cvl_lod_begin *begin,
			 int (*see)(void *ctx, const struct cvl_lod_cell *cell), void *ctx,
			 struct cvl_error *err);

CVL_END_DECLS

#endif
