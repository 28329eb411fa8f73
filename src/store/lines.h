/* SPDX-License-Identifier: MIT */
/** The error for a line name that is unknown or ambiguous. */
#ifndef SESSION_LINES_H
#define SESSION_LINES_H

#include <coeval/timeline.h>

/**
 * Fails with CVL_E_USAGE: @name matches no line of any clock of @tl, or several lines of one. The
 * message lists similar names.
 */
int lines_none(const struct cvl_timeline *tl, const char *name, struct cvl_error *err);

#endif
