/* SPDX-License-Identifier: MIT */
/**
 * Guaranteed earliest and latest offset of a clock at every instant.
 *
 * The offset of a clock is theta(x) = T - x: what must be added to its nominal time x. Each message
 * gives an inequality at one x. Between and beyond them theta changes no faster than the drift
 * limit rho allows and, if the rate may change by at most w per second, |theta''| <= w.
 */
#ifndef SYNC_BAND_H
#define SYNC_BAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

/** theta(x) >= bound (lower), or <= bound. */
struct band_limit {
	int64_t x;
	int64_t bound;
	bool lower;
	uint32_t id; /* of the observation, for messages */
};

/** The band at x; between points it is the chord, beyond the ends it widens by rho. */
struct band_point {
	int64_t x;
	long double low, high;
};

struct band {
	struct band_point *point;
	size_t n, capacity;
	double rho;                     /* of the limits it was made with, ns per ns */
	bool empty;                     /* contradiction: no theta fulfils all limits */
	size_t cuts;                    /* steps of theta, for a settable clock */
	int64_t cut_from, cut_to;       /* x that bracket the first of them */
	int64_t sure_from, sure_to;     /* x between which one unobserved step is allowed */
	uint32_t worst_low, worst_high; /* the observations with the worst contradiction */
	long double worst;              /* by how many ns */
};

void band_free(struct band *b);

/**
 * Make the band that @limits allow. @limits is sorted in place. @from, @to: x between which it is
 * needed. With @wander (w in 1/s, may be 0: rates never change) @rho limits the rate only. Returns
 * 0 or CVL_E_NOMEM; a band without points is unbounded (one direction has no limits).
 */
int band_make(struct band *b, struct band_limit *limits, size_t n, int64_t from, int64_t to,
	      double rho, bool has_wander, double wander, struct cvl_error *err);

/**
 * The band of all straight lines that satisfy @limits, which include both directions: exact at the
 * @n_at places @at, and between them if these include the limits' places. Both are sorted in place.
 */
int band_make_lines(struct band *b, struct band_limit *limits, size_t n, int64_t *at, size_t n_at,
		    struct cvl_error *err);

/**
 * As band_make() for a theta that may have stepped once, anywhere. The step is before x or after
 * it, so the limits on one side of x still hold: the band is the union of what those up to x and
 * those from x on allow. Where the limits show a step, the band is cut: each part has its own
 * limits, and the bracket of the step is the union of its neighbours. Empty only if more than
 * BAND_CUTS_MAX steps are needed, or a part has limits of one direction only.
 */
int band_make_settable(struct band *b, struct band_limit *limits, size_t n, double rho,
		       struct cvl_error *err);

#define BAND_CUTS_MAX 4

/** Earliest and latest theta at @x. False if nothing is known. */
bool band_at(const struct band *b, int64_t x, long double *low, long double *high);

#endif
