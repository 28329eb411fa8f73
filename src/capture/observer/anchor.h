/* SPDX-License-Identifier: MIT */
/**
 * The host's time of a tick, kept on disk beside a session's traces, so that a capture that died
 * can be resumed with the time in between known to a few ms.
 */
#ifndef OBSERVER_ANCHOR_H
#define OBSERVER_ANCHOR_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/error.h>

#include "capture/drivers/driver.h"

struct anchor {
	uint64_t tick;
	int64_t early, late;           /* CLOCK_BOOTTIME before and after, ns */
	int64_t unix_early, unix_late; /* the same in CLOCK_REALTIME */
	char boot[40];                 /* the kernel's boot id */
};

/**
 * Move @a, made at the start of a capture, to @tick, whose sample has been passed on, so @tick is
 * not later than now. Its age is unknown, since the host may have been busy for long; the crystal
 * may be off by DRIVER_CRYSTAL_PPM.
 */
struct anchor anchor_at(const struct anchor *a, uint64_t rate_hz, uint64_t tick);

/** The uncertainty of ticks grows by @slack. */
void anchor_widen(struct anchor *a, uint64_t rate_hz, uint64_t slack);

/** An anchor for a tick between two readings of driver_boottime_ns(). */
struct anchor anchor_between(uint64_t tick, int64_t early, int64_t late);

/** What is missing from @from up to @to, which came later. */
struct driver_loss anchor_loss(const struct anchor *from, const struct anchor *to, uint64_t rate_hz,
			       enum cvl_gap why);

#define ANCHOR_HOST 80

/**
 * Name of the wall clock that @a was read from: that of this machine since its boot, for as long as
 * it is not set. Two captures with the same name agree on the time to within their readings.
 */
void anchor_host(const struct anchor *a, char host[ANCHOR_HOST]);

/**
 * How far this machine's wall clock can be off UTC, as the kernel knows from whatever disciplines
 * it; 0: nothing does.
 */
int64_t anchor_utc_error(void);

/** Write @a to @path, replacing the file atomically. CVL_E_IO. */
int anchor_save(const struct anchor *a, const char *path, struct cvl_error *err);

/**
 * CVL_E_MISSING if there is no file or it is invalid; CVL_E_UNSUPPORTED if its version is newer.
 */
int anchor_load(struct anchor *a, const char *path, struct cvl_error *err);

#endif
