/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)

#include <immintrin.h>

#define SCAN_NAME cvl_scan_avx2
#define SCAN_TARGET __attribute__((target("avx2,bmi,popcnt")))

#include "scan_internal.h"

SCAN_INLINE SCAN_TARGET __m256i diff(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	__m256i now = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i before = _mm256_loadu_si256((const __m256i *)(const void *)(p - unit));

	return _mm256_and_si256(_mm256_xor_si256(now, before),
				_mm256_set1_epi64x((long long)lanes));
}

SCAN_INLINE SCAN_TARGET uint32_t same(__m256i d, unsigned unit)
{
	const __m256i zero = _mm256_setzero_si256();

	d = unit == 1 ? _mm256_cmpeq_epi8(d, zero) :
	    unit == 2 ? _mm256_cmpeq_epi16(d, zero) :
	    unit == 4 ? _mm256_cmpeq_epi32(d, zero) :
			_mm256_cmpeq_epi64(d, zero);
	return (uint32_t)_mm256_movemask_epi8(d);
}

SCAN_INLINE SCAN_TARGET bool scan_any(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	__m256i any = _mm256_or_si256(diff(p, unit, lanes), diff(p + 32, unit, lanes));

	return !_mm256_testz_si256(any, any);
}

SCAN_INLINE SCAN_TARGET uint64_t scan_bits(const uint8_t *p, unsigned unit, uint64_t lanes)
{
	const uint64_t firsts = unit == 1 ? ~0ull : ~0ull / ((1ull << unit) - 1);

	return ~(same(diff(p, unit, lanes), unit) | (uint64_t)same(diff(p + 32, unit, lanes), unit)
							    << 32) &
	       firsts;
}

#include "scan_loop.h"

#else
typedef int scan_avx2_is_for_x86;
#endif
