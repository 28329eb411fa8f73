/* SPDX-License-Identifier: MIT */
/** How sure the time between two moments of one clock is. */
#ifndef ANALYSIS_DURATION_H
#define ANALYSIS_DURATION_H

#include <coeval/timeline.h>

/**
 * Half-width in ns of a duration of @ns between two times of one clock, whose bounds are @begin and @end.
 *
 * What the clock's map errs by is common to both but for the rate, which is within the limit on both sides: of the map and of the
 * truth. So a duration has a bound though the clock is not synchronised.
 */
int64_t duration_bound(int64_t ns, struct cvl_bound begin, struct cvl_bound end);

#endif
