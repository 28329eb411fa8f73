/* SPDX-License-Identifier: MIT */
/**
 * From digital samples to a stored clock: used by every importer of sampled captures.
 *
 * A tick is the index of a sample. Only edges are stored, and the levels before the first of them.
 * Other streams (beacons heard, analog readings) are merged in by tick.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <coeval/format.h>

/** Records merged with the samples, with non-decreasing ticks. */
struct cvl_side {
	/** Get the tick of the next record. Returns 1, 0 at the end, or a negative code. */
	int (*next)(void *ctx, struct cvl_tick *tick, struct cvl_error *err);
	/** Write the records of that tick and advance. */
	int (*put)(void *ctx, struct cvl_writer *w, struct cvl_error *err);
	void *ctx;
};

#define CVL_SIDES_MAX 2

struct cvl_samples;

/**
 * Add a clock to @session for samples of @unit bytes (1 to 8, little-endian), whose lowest
 * desc->n_lines bits are the lines.
 */
int cvl_samples_open(struct cvl_samples **s, struct cvl_session *session,
		     const struct cvl_store_desc *desc, const struct cvl_origin *origin,
		     unsigned unit, struct cvl_error *err);

/**
 * The same, resuming clock @i of @session from an earlier capture. *@last gets its last tick, or
 * CVL_TICK_UNKNOWN; samples continue after it, and cvl_samples_skip() records what is missing in
 * between.
 */
int cvl_samples_resume(struct cvl_samples **s, struct cvl_session *session, size_t i,
		       const struct cvl_store_desc *desc, unsigned unit, struct cvl_tick *last,
		       struct cvl_error *err);

/**
 * Called at each rising edge of a line once the edge is written; may write records of that tick.
 */
struct cvl_watch {
	int (*rise)(void *ctx, struct cvl_tick tick, struct cvl_writer *w, struct cvl_error *err);
	void *ctx;
	unsigned line;
};

/** Set the watch. Call before the first samples. */
void cvl_samples_watch(struct cvl_samples *s, const struct cvl_watch *watch);

/** Merge @side in. Call before the first samples, CVL_SIDES_MAX times at most. */
void cvl_samples_side(struct cvl_samples *s, struct cvl_side side);

/** Take @n more bytes; samples may be split anywhere. */
int cvl_samples_feed(struct cvl_samples *s, const void *bytes, size_t n, struct cvl_error *err);

/** Whole samples so far: the tick of the next one. */
uint64_t cvl_samples_count(const struct cvl_samples *s);

/**
 * The input called @name has ended at @offset. If that truncates a sample, leave a gap and report
 * it; with opts->strict it is CVL_E_TRUNCATED. The offset reported is that of the sample's first
 * byte.
 */
int cvl_samples_tail(struct cvl_samples *s, const char *name, uint64_t offset,
		     const struct cvl_import_opts *opts, struct cvl_error *err);

/**
 * @lost samples, give or take @slack (less than @lost), are missing before the next one. A partial
 * sample is dropped with them. Side records do not advance meanwhile.
 */
int cvl_samples_skip(struct cvl_samples *s, enum cvl_gap why, uint64_t lost, uint64_t slack,
		     struct cvl_error *err);

/** The writer, for other events, at non-decreasing ticks. */
struct cvl_writer *cvl_samples_writer(struct cvl_samples *s);

/**
 * Records before tick @count were written by cvl_samples_writer(): @count is the next tick. Not for
 * clocks that are fed samples.
 */
void cvl_samples_advance(struct cvl_samples *s, uint64_t count);

/** Nothing is known from the next sample on. */
int cvl_samples_gap(struct cvl_samples *s, enum cvl_gap why, uint64_t lost, struct cvl_error *err);

/** Reason of the gap after reading failed with @rc. */
enum cvl_gap cvl_gap_after(int rc);

/**
 * Finish the clock and free @s, which may be NULL. @rc is the result of reading: 0 writes the rest
 * of the sides; a negative code leaves a gap where the samples end, and is returned with @err
 * unchanged.
 */
int cvl_samples_close(struct cvl_samples *s, int rc, struct cvl_error *err);

#endif
