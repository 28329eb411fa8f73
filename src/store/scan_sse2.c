/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)

#include <emmintrin.h>

#define SCAN_NAME cvl_scan_sse2
#define SCAN_TARGET

#include "scan_internal.h"

SCAN_INLINE __m128i diff(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	__m128i now = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i before = _mm_loadu_si128((const __m128i *)(const void *)(p - unit));

	return _mm_and_si128(_mm_xor_si128(now, before), _mm_set1_epi64x((long long)lanes));
}

/* SSE2 cannot compare 64-bit lanes: check that both halves are zero. */
SCAN_INLINE __m128i zero64(__m128i d)
{
	__m128i half = _mm_cmpeq_epi32(d, _mm_setzero_si128());

	return _mm_and_si128(half, _mm_shuffle_epi32(half, _MM_SHUFFLE(2, 3, 0, 1)));
}

SCAN_INLINE uint64_t same(__m128i d, unsigned unit)
{
	const __m128i zero = _mm_setzero_si128();

	d = unit == 1 ? _mm_cmpeq_epi8(d, zero) :
	    unit == 2 ? _mm_cmpeq_epi16(d, zero) :
	    unit == 4 ? _mm_cmpeq_epi32(d, zero) :
			zero64(d);
	return (uint64_t)(uint32_t)_mm_movemask_epi8(d);
}

SCAN_INLINE bool scan_any(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	__m128i any =
		_mm_or_si128(_mm_or_si128(diff(p, unit, lanes), diff(p + 16, unit, lanes)),
			     _mm_or_si128(diff(p + 32, unit, lanes), diff(p + 48, unit, lanes)));

	return _mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())) != 0xffff;
}

SCAN_INLINE uint64_t scan_bits(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	const uint64_t firsts = unit == 1 ? ~0ull : ~0ull / ((1ull << unit) - 1);

	return ~(same(diff(p, unit, lanes), unit) | same(diff(p + 16, unit, lanes), unit) << 16 |
		 same(diff(p + 32, unit, lanes), unit) << 32 |
		 same(diff(p + 48, unit, lanes), unit) << 48) &
	       firsts;
}

#include "scan_loop.h"

#else
typedef int scan_sse2_is_for_x86;
#endif
