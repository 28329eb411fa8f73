/* SPDX-License-Identifier: MIT */
#include "sync/smooth_lanes.h"

#include "sync/smooth.h"

#include <stdint.h>
#include <string.h>

#define VECTOR_BYTES 16
#define VECTOR_NAME(x) x##_plain
#define VECTOR_TARGET
#include "sync/smooth_lanes_vector.h"

#if defined(__x86_64__)
#define VECTOR_BYTES 32
#define VECTOR_NAME(x) x##_avx2
#define VECTOR_TARGET __attribute__((target("avx2")))
#include "sync/smooth_lanes_vector.h"
#endif

typedef size_t weigher(const struct lane_reading *r, size_t n, const struct kalman *start,
		       struct lane *lane, double *u);

/* All lanes are filtered, those that are not used as the first one. */
static size_t weigh_with(weigher *weigh, const struct lane_reading *r, size_t n,
			 const struct kalman *start, struct lane *lane, size_t lanes, double *u)
{
	struct lane all[LANES];

	for (size_t i = 0; i < LANES; i++)
		all[i] = lane[i < lanes ? i : 0];
	n = weigh(r, n, start, all, u);
	memcpy(lane, all, lanes * sizeof(*lane));
	return n;
}

size_t lanes_weigh_plain(const struct lane_reading *r, size_t n, const struct kalman *start,
			 struct lane *lane, size_t lanes, double *u)
{
	return weigh_with(weigh_plain, r, n, start, lane, lanes, u);
}

size_t lanes_weigh(const struct lane_reading *r, size_t n, const struct kalman *start,
		   struct lane *lane, size_t lanes, double *u)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return weigh_with(weigh_avx2, r, n, start, lane, lanes, u);
#endif
	return lanes_weigh_plain(r, n, start, lane, lanes, u);
}
