/* SPDX-License-Identifier: MIT */
/** What the library alone does with levels of detail. */
#ifndef LOD_LOD_H
#define LOD_LOD_H

#include <coeval/lod.h>

/**
 * The session was opened again: @lod is that of clock @clock of @s from here on, whose trace is the
 * same. If it ended meanwhile, the next cvl_lod_update() reads it to its end.
 */
void lod_move(struct cvl_lod *lod, const struct cvl_session *s, size_t clock);

#endif
