/* SPDX-License-Identifier: MIT */
/** The keys of a world (docs/sim.md), as tables, and the checks that tables cannot express. */
#ifndef SIM_WORLD_KEYS_H
#define SIM_WORLD_KEYS_H

#include "core/config.h"
#include "sim/world.h"

extern const struct config_shape world_shape;

/** Longer than any name that world_check() lets pass. */
#define WORLD_MEMBER (WORLD_NAME + 12)

/** Name of clock @k of a group, from 1; returns its length. */
size_t world_member_name(const struct world_clocks *group, unsigned k, char text[WORLD_MEMBER]);

/** Find the first flaw of @w; false if there is none. */
bool world_find_flaw(const struct world *w, struct config_flaw *flaw);

#endif
