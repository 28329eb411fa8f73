/* SPDX-License-Identifier: MIT */
/**
 * A file of knots: a clock's map on disk. docs/session.md has every byte of it.
 *
 * It is mapped, and knots are found by bisection, so that opening one costs the same for any
 * length; of what was read only a few pages stay in memory. Blocks have a checksum each, which is
 * compared when the block is read; a damaged block is left out, and remembered.
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
 * in @ends. CVL_E_SYNTAX, CVL_E_UNSUPPORTED, CVL_E_CHECKSUM, CVL_E_NOMEM, or as cvl_fail_errno().
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

struct knots_writer;

/** Begin the file @path, which must not be in use. */
int knots_create(struct knots_writer **w, const char *path, struct cvl_error *err);

/** Append a knot. */
int knots_put(struct knots_writer *w, const struct cvl_knot *knot, struct cvl_error *err);

/**
 * Write the header, by @spec without its knots, and close the file; @digest, if not NULL, becomes
 * that of its content. It is not synced. Frees @w in any case; without @spec the file is removed.
 */
int knots_finish(struct knots_writer *w, const struct cvl_map_spec *spec,
		 char digest[CVL_MAP_DIGEST], struct cvl_error *err);

#endif
