/* SPDX-License-Identifier: MIT */
/**
 * From digital samples to a stored clock: the stage behind every importer of sampled captures.
 *
 * A tick is the index of a sample. Only edges are stored, and the levels before the first of them.
 * Streams beside the samples (beacons heard, analog readings) are merged in, in order of their
 * ticks.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <coeval/format.h>

/** Records beside the samples, whose ticks do not fall. */
struct cvl_side {
	/** Tick of the next record: 1, or 0 at the end, or a negative code. */
	int (*next)(void *ctx, struct cvl_tick *tick, struct cvl_error *err);
	/** Write the records of that tick, and go on. */
	int (*put)(void *ctx, struct cvl_writer *w, struct cvl_error *err);
	void *ctx;
};

#define CVL_SIDES_MAX 2

struct cvl_samples;

/**
 * Add a clock to @session and get ready for samples of @unit bytes (1 to 8, little-endian), whose
 * lowest desc->n_lines bits are the lines.
 */
int cvl_samples_open(struct cvl_samples **s, struct cvl_session *session,
		     const struct cvl_store_desc *desc, const struct cvl_origin *origin,
		     unsigned unit, struct cvl_error *err);

/**
 * The same with clock @i of @session, which an earlier capture left behind. *@last gets its last
 * tick, or CVL_TICK_UNKNOWN; samples go on behind it, and cvl_samples_skip() says what is missing
 * in between.
 */
int cvl_samples_resume(struct cvl_samples **s, struct cvl_session *session, size_t i,
		       const struct cvl_store_desc *desc, unsigned unit, struct cvl_tick *last,
		       struct cvl_error *err);

/**
 * Somebody to be told of each rise of a line, once its edge is written: may write records of that
 * tick.
 */
struct cvl_watch {
	int (*rise)(void *ctx, struct cvl_tick tick, struct cvl_writer *w, struct cvl_error *err);
	void *ctx;
	unsigned line;
};

/** Have @watch told. Before the first samples. */
void cvl_samples_watch(struct cvl_samples *s, const struct cvl_watch *watch);

/** Merge @side in. Before the first samples, CVL_SIDES_MAX at most. */
void cvl_samples_side(struct cvl_samples *s, struct cvl_side side);

/** Take @n bytes more; samples may be cut anywhere. */
int cvl_samples_feed(struct cvl_samples *s, const void *bytes, size_t n, struct cvl_error *err);

/** Whole samples so far: the tick of the next one. */
uint64_t cvl_samples_count(const struct cvl_samples *s);

/**
 * The input called @name has ended at @offset. If that cuts a sample, leave a gap and report it;
 * with opts->strict it is CVL_E_TRUNCATED. The offset told is that of the sample's first byte.
 */
int cvl_samples_tail(struct cvl_samples *s, const char *name, uint64_t offset,
		     const struct cvl_import_opts *opts, struct cvl_error *err);

/**
 * Before the next sample @lost of them are missing, more or fewer by @slack at the most (below
 * @lost). A sample of which only a part has come is dropped with them. Beacons and the like stand
 * still meanwhile.
 */
int cvl_samples_skip(struct cvl_samples *s, enum cvl_gap why, uint64_t lost, uint64_t slack,
		     struct cvl_error *err);

/** Its writer, for events of one's own, at ticks that do not fall. */
struct cvl_writer *cvl_samples_writer(struct cvl_samples *s);

/**
 * Somebody wrote by cvl_samples_writer() what happened before tick @count: it is the next one. Not
 * for samples.
 */
void cvl_samples_advance(struct cvl_samples *s, uint64_t count);

/** Nothing is known from the next sample on. */
int cvl_samples_gap(struct cvl_samples *s, enum cvl_gap why, uint64_t lost, struct cvl_error *err);

/** Why what follows is missing where reading ended by the error @rc. */
enum cvl_gap cvl_gap_after(int rc);

/**
 * Finish the clock and free. @rc tells how reading went: 0 writes what is left of the sides; a
 * negative code leaves a gap where the samples end, and is returned with @err as it was. NULL is
 * allowed.
 */
int cvl_samples_close(struct cvl_samples *s, int rc, struct cvl_error *err);

#endif
