/* SPDX-License-Identifier: MIT */
#include "core/crc32c.h"

#include <stdbool.h>
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
#include <immintrin.h>

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

/*
 * The same carries on whole vectors: 16 bytes, as two words that stand for a x^64 + b, are moved on
 * by D bytes as a product with x^(8 D + 31) for the first and x^(8 D - 33) for the second, modulo
 * the polynomial and reflected; a product of reflected words itself is one by x^33.
 */
#define FOLD_TARGET __attribute__((target("avx512f,vpclmulqdq,sse4.2,pclmul")))
#define FOLD_BYTES 256 /* four vectors */
#define X_256 0xdcb17aa4, 0xb9e02b86
#define X_64 0x740eef02, 0x9e4addf8

FOLD_TARGET static inline __m512i fold(__m512i v, __m512i x, __m512i next)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(v, x, 0x00),
					 _mm512_clmulepi64_epi128(v, x, 0x11), next, 0x96);
}

FOLD_TARGET static inline __m512i fold_by(long long first, long long second)
{
	return _mm512_set4_epi64(second, first, second, first);
}

FOLD_TARGET static uint32_t crc_fold(uint32_t crc, const void *bytes, size_t n)
{
	const __m512i x_256 = fold_by(X_256), x_64 = fold_by(X_64);
	const uint8_t *p = bytes;
	__m512i v[4];
	uint8_t rest[64];

	if (n < FOLD_BYTES)
		return crc_sse42(crc, bytes, n);
	for (size_t k = 0; k < 4; k++)
		v[k] = _mm512_loadu_si512(p + 64 * k);
	v[0] = _mm512_xor_si512(v[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
	for (p += FOLD_BYTES, n -= FOLD_BYTES; n >= FOLD_BYTES; n -= FOLD_BYTES, p += FOLD_BYTES) {
#pragma GCC unroll 4
		for (size_t k = 0; k < 4; k++)
			v[k] = fold(v[k], x_256, _mm512_loadu_si512(p + 64 * k));
	}
	for (size_t k = 1; k < 4; k++)
		v[k] = fold(v[k - 1], x_64, v[k]);
	for (; n >= 64; n -= 64, p += 64)
		v[3] = fold(v[3], x_64, _mm512_loadu_si512(p));
	_mm512_storeu_si512(rest, v[3]);
	return crc_sse42(crc_sse42(~0u, rest, sizeof(rest)), p, n);
}

static bool has_sse42(void)
{
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

static bool has_fold(void)
{
	return has_sse42() && __builtin_cpu_supports("vpclmulqdq") &&
	       __builtin_cpu_supports("avx512f");
}

uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	return has_fold()  ? crc_fold(crc, bytes, n) :
	       has_sse42() ? crc_sse42(crc, bytes, n) :
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

size_t cvl_crc32c_all(cvl_crc32c_fn **fns, size_t max)
{
	size_t n = 0;

	if (n < max)
		fns[n++] = cvl_crc32c_plain;
#if defined(__x86_64__)
	if (n < max && has_sse42())
		fns[n++] = crc_sse42;
#endif
	if (n < max)
		fns[n++] = cvl_crc32c;
	return n;
}
