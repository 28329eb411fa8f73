/* SPDX-License-Identifier: MIT */
#include "analysis/duration.h"

/* A crystal's rate is off by so much at the most, as sync takes it: what a map may err by within a duration. */
#define DRIFT_PPM 200

int64_t duration_bound(int64_t ns, struct cvl_bound begin, struct cvl_bound end)
{
	int64_t maps = cvl_bound_pair((struct cvl_bound){ .map = begin.map, .kind = begin.kind },
				      (struct cvl_bound){ .map = end.map, .kind = end.kind });
	int64_t rate = ns / (1000000 / DRIFT_PPM) + 1;

	if (begin.map != CVL_BOUND_UNKNOWN)
		rate = cvl_add_sat(rate, rate);
	return cvl_add_sat(maps < rate ? maps : rate, cvl_add_sat(begin.capture, end.capture));
}
