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

size_t lanes_weigh_plain(const struct lane_reading *r, size_t n, const struct kalman *start,
			 struct lane *lane, size_t lanes, double *u)
{
	return weigh_plain(r, n, start, lane, lanes, u);
}

size_t lanes_weigh(const struct lane_reading *r, size_t n, const struct kalman *start,
		   struct lane *lane, size_t lanes, double *u)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return weigh_avx2(r, n, start, lane, lanes, u);
#endif
	return weigh_plain(r, n, start, lane, lanes, u);
}
