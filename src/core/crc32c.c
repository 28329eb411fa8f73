/* SPDX-License-Identifier: MIT */
#include "core/crc32c.h"

#include <string.h>

#define POLY 0x82f63b78u

uint32_t cvl_crc32c_plain(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		for (int k = 0; k < 8; k++)
			crc = (crc >> 1) ^ (POLY & (0u - (crc & 1)));
	}
	return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>

/*
 * The instruction has a latency of three cycles and a throughput of one per cycle: so use three
 * lanes. @crc after n zero bytes is its product with x^(8 n - 33) modulo the polynomial
 * (reflected), reduced by the instruction itself; the 33 make up for that and the reflected
 * product.
 */
#define LANE 336 /* bytes: twelve lanes and a bit make a block of 4096 */
#define X_LANE 0xa60ce07bu
#define X_TWO_LANES 0xcec3662eu

__attribute__((target("sse4.2,pclmul"))) static uint64_t over_zeros(uint64_t crc, uint32_t x)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
					       _mm_cvtsi64_si128((long long)x), 0);

	return _mm_crc32_u64(0, (unsigned long long)_mm_cvtsi128_si64(product));
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t crc_sse42(uint32_t crc, const void *bytes,
								   size_t n)
{
	const uint8_t *p = bytes;
	uint64_t a = ~crc, b, c;

	for (; n >= 3 * LANE; n -= 3 * LANE, p += 3 * LANE) {
		b = c = 0;
		for (size_t i = 0; i < LANE; i += 8) {
			a = _mm_crc32_u64(a, word_at(p + i));
			b = _mm_crc32_u64(b, word_at(p + LANE + i));
			c = _mm_crc32_u64(c, word_at(p + 2 * LANE + i));
		}
		a = over_zeros(a, X_TWO_LANES) ^ over_zeros(b, X_LANE) ^ c;
	}
	for (; n >= 8; n -= 8, p += 8)
		a = _mm_crc32_u64(a, word_at(p));
	while (n--)
		a = _mm_crc32_u8((uint32_t)a, *p++);
	return ~(uint32_t)a;
}

uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") ?
		       crc_sse42(crc, bytes, n) :
		       cvl_crc32c_plain(crc, bytes, n);
}
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		crc = __crc32cd(crc, word);
	}
	while (n--)
		crc = __crc32cb(crc, *p++);
	return ~crc;
}
#else
uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	return cvl_crc32c_plain(crc, bytes, n);
}
#endif
