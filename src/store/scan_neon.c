/* SPDX-License-Identifier: MIT */
#if defined(__aarch64__)

#include <arm_neon.h>

#define SCAN_NAME cvl_scan_neon
#define SCAN_TARGET

#include "scan_internal.h"

SCAN_INLINE uint8x16_t diff(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	return vandq_u8(veorq_u8(vld1q_u8(p), vld1q_u8(p - unit)),
			vreinterpretq_u8_u64(vdupq_n_u64(lanes)));
}

/* All ones in every byte of a sample that has a one. */
SCAN_INLINE uint8x16_t spread(uint8x16_t d, unsigned unit)
{
	uint16x8_t d16 = vreinterpretq_u16_u8(d);
	uint32x4_t d32 = vreinterpretq_u32_u8(d);
	uint64x2_t d64 = vreinterpretq_u64_u8(d);

	return unit == 1 ? vtstq_u8(d, d) :
	       unit == 2 ? vreinterpretq_u8_u16(vtstq_u16(d16, d16)) :
	       unit == 4 ? vreinterpretq_u8_u32(vtstq_u32(d32, d32)) :
			   vreinterpretq_u8_u64(vtstq_u64(d64, d64));
}

SCAN_INLINE bool scan_any(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	uint8x16_t any = vorrq_u8(vorrq_u8(diff(p, unit, lanes), diff(p + 16, unit, lanes)),
				  vorrq_u8(diff(p + 32, unit, lanes), diff(p + 48, unit, lanes)));

	return vmaxvq_u32(vreinterpretq_u32_u8(any)) != 0;
}

/* NEON has no movemask: weight the bytes and add neighbours three times. */
SCAN_INLINE uint64_t scan_bits(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
					     1, 2, 4, 8, 16, 32, 64, 128 };
	const uint64_t firsts = unit == 1 ? ~0ull : ~0ull / ((1ull << unit) - 1);
	const uint8x16_t weight = vld1q_u8(weights);
	uint8x16_t v[4];

	for (size_t i = 0; i < 4; i++)
		v[i] = vandq_u8(spread(diff(p + 16 * i, unit, lanes), unit), weight);
	v[0] = vpaddq_u8(vpaddq_u8(v[0], v[1]), vpaddq_u8(v[2], v[3]));
	v[0] = vpaddq_u8(v[0], v[0]);
	return vgetq_lane_u64(vreinterpretq_u64_u8(v[0]), 0) & firsts;
}

#include "scan_loop.h"

#else
typedef int scan_neon_is_for_aarch64;
#endif
