/* SPDX-License-Identifier: MIT */
/** What was asked of a timeline that somebody else opened. */
#ifndef TIMELINE_WANTED_H
#define TIMELINE_WANTED_H

#include <coeval/timeline.h>

/** Whether clock @clock was asked for. */
bool timeline_wants(const struct cvl_timeline *tl, size_t clock);

/** Give bounds, as by the option, of what is read from here on. */
void timeline_want_bounds(struct cvl_timeline *tl);

#endif
