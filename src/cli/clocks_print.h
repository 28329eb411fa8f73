/* SPDX-License-Identifier: MIT */
/** How well clocks are tied, as printed by several verbs. */
#ifndef CLI_CLOCKS_PRINT_H
#define CLI_CLOCKS_PRINT_H

#include <coeval/sync.h>

#include "json.h"

/** One row per clock: verdict, rate, observations, bounds and their kind. */
void clocks_table(const struct cvl_sync *sync, struct cvl_out *o, const char *indent);

/**
 * The reason for each verdict, except good ones unless @all; and what would decide ambiguous ones.
 */
void clocks_reasons(const struct cvl_sync *sync, struct cvl_out *o, bool all, const char *indent);

/** The same for one clock, as members of an object. */
void clocks_put(struct js *j, const struct cvl_clock_sync *clock);

#endif
