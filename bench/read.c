/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Bytes that the processor is told of before they are read. */
#define AHEAD 8192

/* Each returns something that depends on all of the bytes, so that no load is optimised away. */
typedef uint64_t read_fn(const uint8_t *bytes, size_t n);

static inline __attribute__((always_inline)) uint64_t words(const uint8_t *bytes, size_t n,
							    bool ahead)
{
	const uint64_t *p = (const uint64_t *)(const void *)bytes;
	uint64_t sum[8] = { 0 }, total = 0;

	for (size_t i = 0; i < n / 8; i += 8) {
		if (ahead)
			__builtin_prefetch((const uint8_t *)(p + i) + AHEAD);
#pragma GCC unroll 8
		for (size_t k = 0; k < 8; k++)
			sum[k] += p[i + k];
	}
	for (size_t k = 0; k < 8; k++)
		total += sum[k];
	return total;
}

static uint64_t read_words(const uint8_t *bytes, size_t n)
{
	return words(bytes, n, false);
}

static uint64_t read_words_ahead(const uint8_t *bytes, size_t n)
{
	return words(bytes, n, true);
}

#if defined(__x86_64__)

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f")))

AVX2 static inline __attribute__((always_inline)) uint64_t avx2(const uint8_t *bytes, size_t n,
								bool ahead)
{
	const __m256i *p = (const __m256i *)(const void *)bytes;
	__m256i sum[8] = { _mm256_setzero_si256() };
	uint64_t lanes[4], total = 0;

	for (size_t i = 0; i < n / 32; i += 8)
#pragma GCC unroll 8
		for (size_t k = 0; k < 8; k++) {
			if (ahead && k % 2 == 0)
				__builtin_prefetch((const uint8_t *)(p + i + k) + AHEAD);
			sum[k] = _mm256_add_epi64(sum[k], _mm256_load_si256(p + i + k));
		}
	for (size_t k = 0; k < 8; k++) {
		_mm256_storeu_si256((__m256i *)(void *)lanes, sum[k]);
		total += lanes[0] + lanes[1] + lanes[2] + lanes[3];
	}
	return total;
}

AVX2 static uint64_t read_avx2(const uint8_t *bytes, size_t n)
{
	return avx2(bytes, n, false);
}

AVX2 static uint64_t read_avx2_ahead(const uint8_t *bytes, size_t n)
{
	return avx2(bytes, n, true);
}

AVX512 static inline __attribute__((always_inline)) uint64_t avx512(const uint8_t *bytes, size_t n,
								    bool ahead)
{
	const __m512i *p = (const __m512i *)(const void *)bytes;
	__m512i sum[8] = { _mm512_setzero_si512() };
	uint64_t total = 0;

	for (size_t i = 0; i < n / 64; i += 8)
#pragma GCC unroll 8
		for (size_t k = 0; k < 8; k++) {
			if (ahead)
				__builtin_prefetch((const uint8_t *)(p + i + k) + AHEAD);
			sum[k] = _mm512_add_epi64(sum[k], _mm512_load_si512(p + i + k));
		}
	for (size_t k = 0; k < 8; k++)
		total += (uint64_t)_mm512_reduce_add_epi64(sum[k]);
	return total;
}

AVX512 static uint64_t read_avx512(const uint8_t *bytes, size_t n)
{
	return avx512(bytes, n, false);
}

AVX512 static uint64_t read_avx512_ahead(const uint8_t *bytes, size_t n)
{
	return avx512(bytes, n, true);
}

#endif

double bench_read_s(const uint8_t *bytes, size_t n)
{
	read_fn *fns[6] = { read_words, read_words_ahead };
	size_t n_fns = 2;
	volatile uint64_t result;
	double best = INFINITY;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		fns[n_fns++] = read_avx2;
		fns[n_fns++] = read_avx2_ahead;
	}
	if (__builtin_cpu_supports("avx512f")) {
		fns[n_fns++] = read_avx512;
		fns[n_fns++] = read_avx512_ahead;
	}
#endif
	for (size_t i = 0; i < n_fns; i++) {
		double begin = bench_cpu();

		result = fns[i](bytes, n);
		best = fmin(best, bench_cpu() - begin);
	}
	(void)result;
	return best;
}
