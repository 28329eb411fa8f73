/* SPDX-License-Identifier: MIT */
/**
 * When beacons are due: slot k of n in every interval, of a time that all sync nodes of a site
 * share.
 *
 * A slot begins at (k - 1)/n of the interval. Two nodes never speak at once as long as each knows
 * the time to within half of SCHEDULE_GUARD_NS, and a beacon and the guard fit in a slot;
 * schedule_check() refuses what does not fit, and a node that does not know the time so well is
 * silent (schedule_silent). A node by itself (slot 1/1) needs no time but its own.
 */
#ifndef COEVAL_SYNCNODE_SCHEDULE_H
#define COEVAL_SYNCNODE_SCHEDULE_H

#include <stdint.h>

#define SCHEDULE_GUARD_NS 2000000
#define SCHEDULE_LEAD_NS 5000000 /* the radio is prepared this long before the instant */
#define SCHEDULE_TAIL_NS 5000000 /* and has this long after the last bit to be idle again */
#define SCHEDULE_INTERVAL_MAX_MS 10000
#define SCHEDULE_SLOTS_MAX 64

struct schedule {
	uint32_t interval_ms;
	uint8_t slot, slots; /* 1 and up */
};

/**
 * How long a packet of @n bytes (length and address included) is on the air at @baud, one bit a
 * symbol; ns.
 */
uint64_t schedule_air_ns(uint32_t baud, unsigned n);

/** NULL, or why this cannot be: @air_ns the time on the air of a beacon. */
const char *schedule_check(const struct schedule *s, uint64_t air_ns);

/**
 * The first instant of the schedule after @ns, in a time @ahead_s whole seconds ahead of own time.
 */
int64_t schedule_next(const struct schedule *s, int64_t ns, int64_t ahead_s);

/** Whether every second begins an interval, so that pulses are enough to agree on the schedule. */
int schedule_divides_second(const struct schedule *s);

/**
 * NULL, or why a node of this schedule must not send now: its time is known to @uncertain_ns, its
 * seconds are (@utc) UTC's.
 */
const char *schedule_silent(const struct schedule *s, uint32_t uncertain_ns, int utc);

#endif
