/* SPDX-License-Identifier: MIT */
/**
 * The graph of clocks and of the senders they heard, solved by one tracker.
 *
 * The timeline is the time of one source: pulses before beacons, as their clock is better; else the
 * one heard most. Clocks that heard it are tied by it; sources that those heard get times from
 * them, and tie further clocks. If a reference clock was requested, all times are finally expressed
 * in that clock's time.
 */
#ifndef SYNC_MARKS_H
#define SYNC_MARKS_H

#include "sync/problem.h"
#include "sync/track.h"

int marks_solve(const struct sync_problem *p, struct sync_solution *s,
		const struct tracker *tracker, struct cvl_error *err);

#endif
