/* SPDX-License-Identifier: MIT */
/**
 * The best possible result from what the receivers of a world heard, knowing all of the
 * world but its random numbers: how far each rate wanders, how much the receivers jitter, the wave
 * and the steps of each rate, when beacons were sent, and which of them are outliers. What is left
 * is a random walk of the rate and white noise, for which the Kalman filter (of those that only
 * know the past) and its smoother (Rauch, Tung, Striebel 1965) are optimal.
 */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H

#include <coeval/score.h>

#include "sim/world.h"

/** Mean absolute errors of the differences of all pairs, ns. */
struct oracle {
	double online, offline;
};

/**
 * At the instants of cvl_score() with @at (which must say from and to), events being stamped as
 * there.
 * @w has one sender that all clocks hear, no faults, and no white noise of rates. CVL_E_NOMEM.
 */
int oracle_score(struct oracle *o, const struct world *w, const struct cvl_score_opts *at,
		 struct cvl_error *err);

#endif
