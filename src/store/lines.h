/* SPDX-License-Identifier: MIT */
/**
 * Lines that a user names, and what is said when the name is none.
 */
#ifndef SESSION_LINES_H
#define SESSION_LINES_H

#include <coeval/timeline.h>

/**
 * No clock of @tl has a line that @name means, or one of them has several: fails with CVL_E_USAGE,
 * and says which names are near.
 */
int lines_none(const struct cvl_timeline *tl, const char *name, struct cvl_error *err);

#endif
