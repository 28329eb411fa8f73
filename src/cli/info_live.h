/* SPDX-License-Identifier: MIT */
/** A session while it grows: how far its clocks are, as a table that is kept up to date. */
#ifndef CLI_INFO_LIVE_H
#define CLI_INFO_LIVE_H

#include "follow.h"

struct info_live;

/** NULL when out of memory. */
struct info_live *info_live_new(bool json);
void info_live_free(struct info_live *l);

/**
 * Redrawn once a second on a terminal, else printed anew when something changed; its ctx is a
 * struct info_live.
 */
extern const struct follow_view info_live_view;

#endif
