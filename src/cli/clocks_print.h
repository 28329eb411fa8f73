/* SPDX-License-Identifier: MIT */
/** How well clocks are tied, as more than one verb tells it. */
#ifndef CLI_CLOCKS_PRINT_H
#define CLI_CLOCKS_PRINT_H

#include <coeval/sync.h>

#include "json.h"

/** One row a clock: verdict, rate, observations, bounds and what they promise. */
void clocks_table(const struct cvl_sync *sync, struct cvl_out *o, const char *indent);

/**
 * Why each is what it is, but for good ones if not @all; and what would decide for ambiguous ones.
 */
void clocks_reasons(const struct cvl_sync *sync, struct cvl_out *o, bool all, const char *indent);

/** The same of one clock, as members of an object. */
void clocks_put(struct js *j, const struct cvl_clock_sync *clock);

#endif
