/* SPDX-License-Identifier: MIT */
/**
 * A file of knots: a clock's map on disk. docs/session.md has every byte of it.
 *
 * It is mapped, and knots are found by bisection, so that opening one costs the same for any
 * length; of what was read only a few pages stay in memory. Blocks have a checksum each, which is
 * compared when the block is read; a damaged block is left out, and remembered.
 *
 * It may grow while others read it: full blocks never change, and a reader has its own copy of the
 * header and of the last knots, as they were when it was opened.
 *
 * Any number of threads may read one.
 */
#ifndef CORE_KNOTS_H
#define CORE_KNOTS_H

#include <coeval/clockmap.h>

#define KNOTS_BLOCK 4096
#define KNOTS_IN_BLOCK 127

/* ---- reading ---- */

struct knots;

/**
 * Open @path and tell in @spec what its header says, all but the knots; its first and last knot are
 * in @ends. What is committed later is not seen. CVL_E_MISSING if nothing was committed yet,
 * CVL_E_SYNTAX, CVL_E_UNSUPPORTED, CVL_E_CHECKSUM, CVL_E_NOMEM, or as cvl_fail_errno().
 */
int knots_open(struct knots **k, const char *path, struct cvl_map_spec *spec,
	       struct cvl_knot ends[2], struct cvl_error *err);
/** NULL is allowed. */
void knots_close(struct knots *k);

const char *knots_path(const struct knots *k);

/** Two neighbours, @a not after the place, @b after it. */
struct knots_pair {
	struct cvl_knot a, b;
	bool damaged; /* knots between them were lost */
};

/** Those around @tick, which is not before the first knot's and before the last one's. */
void knots_at_tick(struct knots *k, uint64_t tick, struct knots_pair *p);
/** The same by time. */
void knots_at_time(struct knots *k, int64_t ns, struct knots_pair *p);

/** Knot @i of spec.n; false if it is in a damaged block. */
bool knots_get(struct knots *k, size_t i, struct cvl_knot *knot);

/** Whether a damaged block was met, and @err, if not NULL, where the first one is. */
bool knots_damaged(const struct knots *k, struct cvl_error *err);

/** Read the rest of the file, and return how many blocks of it are damaged. */
size_t knots_verify(struct knots *k);

/* ---- writing ---- */

/* A call that failed may be repeated, but what could not be synced never will be. */
struct knots_writer;

/**
 * Begin the file @path, which must not exist, or be empty. It is locked until the writer ends.
 */
int knots_create(struct knots_writer **w, const char *path, struct cvl_error *err);

/** Append a knot. CVL_E_ORDER, CVL_E_RANGE (its bound), or as cvl_fail_errno(). */
int knots_put(struct knots_writer *w, const struct cvl_knot *knot, struct cvl_error *err);

/**
 * Let those who open the file from now on see what was put, with @spec, whose knots are ignored. It
 * survives the end of the process, and with @durable that of the machine; after a loss of power
 * there are at least the knots of the last durable commit. Costs the same for any length.
 * CVL_E_RANGE if there is no knot.
 */
int knots_commit(struct knots_writer *w, const struct cvl_map_spec *spec, bool durable,
		 struct cvl_error *err);

/**
 * Commit what was put, not durably, and close the file; @digest, if not NULL, becomes that of its
 * content, which does not depend on earlier commits. Frees @w in any case. Without @spec, or if it
 * fails, the file stays as it was last committed, and is removed if it never was.
 */
int knots_finish(struct knots_writer *w, const struct cvl_map_spec *spec,
		 char digest[CVL_MAP_DIGEST], struct cvl_error *err);

#endif
