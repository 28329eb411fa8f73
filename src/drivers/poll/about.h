/* SPDX-License-Identifier: MIT */
/** What is kept of the machine with a capture. */
#ifndef DRIVERS_POLL_ABOUT_H
#define DRIVERS_POLL_ABOUT_H

#include "drivers/poll/source.h"
#include "drivers/poll/told.h"

/** Tell of the source, the system, the clock's rate (and by how much of 1e9 it may be off), and each point of facts.h. */
int about_machine(struct told *t, const struct poll_source *s, uint64_t rate_hz, uint64_t off_ppb,
		  struct cvl_error *err);

#endif
