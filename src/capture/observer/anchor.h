/* SPDX-License-Identifier: MIT */
/**
 * When a tick was, by the host's clock: kept on disk beside a session's traces, so that a capture
 * which died can be resumed and the time in between be known to a few ms.
 */
#ifndef OBSERVER_ANCHOR_H
#define OBSERVER_ANCHOR_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/error.h>

#include "capture/drivers/driver.h"

struct anchor {
	uint64_t tick;
	int64_t early, late;           /* CLOCK_BOOTTIME between which it was, ns */
	int64_t unix_early, unix_late; /* the same in CLOCK_REALTIME */
	char boot[40];                 /* the kernel's boot id */
};

/**
 * Move @a, made at the start of a capture, to @tick, whose sample has been handed on: it is not
 * later than now. How old it is is unknown, since the host may have been busy for long; the
 * crystal may be off by DRIVER_CRYSTAL_PPM.
 */
struct anchor anchor_at(const struct anchor *a, uint64_t rate_hz, uint64_t tick);

/** Ticks are off by @slack more than they were. */
void anchor_widen(struct anchor *a, uint64_t rate_hz, uint64_t slack);

/** An anchor for a tick between two readings of driver_boottime_ns(). */
struct anchor anchor_between(uint64_t tick, int64_t early, int64_t late);

/** What is missing from behind @from up to @to, which came later. */
struct driver_loss anchor_loss(const struct anchor *from, const struct anchor *to, uint64_t rate_hz,
			       enum cvl_gap why);

#define ANCHOR_HOST 80

/**
 * Name of the wall clock that @a was read off: of this machine, since it was started, and as long
 * as the clock is not set. Two captures with one name agree on the time as well as they were read.
 */
void anchor_host(const struct anchor *a, char host[ANCHOR_HOST]);

/**
 * How far this machine's wall clock can be off UTC, as the kernel knows from what disciplines it;
 * 0: nothing does.
 */
int64_t anchor_utc_error(void);

/** Keep @a in @path, replaced as a whole. CVL_E_IO. */
int anchor_save(const struct anchor *a, const char *path, struct cvl_error *err);

/**
 * CVL_E_MISSING if there is none, or it makes no sense; CVL_E_UNSUPPORTED if it is of a newer
 * version.
 */
int anchor_load(struct anchor *a, const char *path, struct cvl_error *err);

#endif
