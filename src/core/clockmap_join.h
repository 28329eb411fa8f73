/* SPDX-License-Identifier: MIT */
/** A clock map of which the end is in memory, and what was before may be in a file. */
#ifndef CORE_CLOCKMAP_JOIN_H
#define CORE_CLOCKMAP_JOIN_H

#include <coeval/clockmap.h>

/**
 * Let the knots of @past that are before the first of @map, a map in memory, precede it. @map owns
 * @past afterwards. CVL_E_UNSUPPORTED: their rates or kinds differ; CVL_E_ORDER: times would go
 * back; CVL_E_CHECKSUM. Then both are as before.
 */
int map_join(struct cvl_map *map, struct cvl_map *past, struct cvl_error *err);

/** Number of knots before @tick. CVL_E_CHECKSUM. */
int map_knots_before(const struct cvl_map *map, uint64_t tick, size_t *n, struct cvl_error *err);

#endif
