/* SPDX-License-Identifier: MIT */
/**
 * All tables of a timeline that have rows, and `gaps` and `clocks` in any case, out of one pass over
 * it. Memory is that of some 64 MiB of rows, however many tables there are.
 */
#ifndef TABLE_PASS_H
#define TABLE_PASS_H

#include <coeval/table.h>

struct pass;

/**
 * Read @tl, which is at its beginning, and must outlive the pass. @only: this table alone; NULL: all
 * but those that are results.
 */
int pass_open(struct pass **p, struct cvl_timeline *tl, const char *only, struct cvl_error *err);
/**
 * Some rows of table number *@i: 1, 0 at the end, or a negative code. A table that has none comes
 * once, with no rows.
 */
int pass_next(struct pass *p, size_t *i, struct cvl_rows **rows, struct cvl_error *err);
/** Table @i of those that were met so far; NULL: there are no more. With @only, 0 is that one. */
struct cvl_table *pass_table(const struct pass *p, size_t i);
/** NULL is allowed. */
void pass_close(struct pass *p);

#endif
