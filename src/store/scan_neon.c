/* SPDX-License-Identifier: MIT */
#if defined(__aarch64__)

#include <arm_neon.h>

#define SCAN_NAME cvl_scan_neon
#define SCAN_TARGET
#define SCAN_BLOCK 64

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

SCAN_INLINE bool scan_differ(const uint8_t *p, unsigned unit, uint64_t lanes, uint64_t *bits)
{
	static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
					     1, 2, 4, 8, 16, 32, 64, 128 };
	const uint64_t firsts = unit == 1 ? ~0ull : ~0ull / ((1ull << unit) - 1);
	const uint8x16_t weight = vld1q_u8(weights);
	uint8x16_t a = diff(p, unit, lanes), b = diff(p + 16, unit, lanes);
	uint8x16_t c = diff(p + 32, unit, lanes), d = diff(p + 48, unit, lanes);

	if (!vmaxvq_u32(vreinterpretq_u32_u8(vorrq_u8(vorrq_u8(a, b), vorrq_u8(c, d)))))
		return false;
	/* NEON has no movemask: weight the bytes and add neighbours three times. */
	a = vpaddq_u8(vandq_u8(spread(a, unit), weight), vandq_u8(spread(b, unit), weight));
	c = vpaddq_u8(vandq_u8(spread(c, unit), weight), vandq_u8(spread(d, unit), weight));
	a = vpaddq_u8(a, c);
	a = vpaddq_u8(a, a);
	bits[0] = vgetq_lane_u64(vreinterpretq_u64_u8(a), 0) & firsts;
	return true;
}

#include "scan_loop.h"

#else
typedef int scan_neon_is_for_aarch64;
#endif
