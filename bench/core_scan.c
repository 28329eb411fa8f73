/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <coeval/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/scan.h"
#include "core/random.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* More than a processor's cache holds, several times. */
#define BYTES ((size_t)256 << 20)
#define RUNS 9
#define EDGES 4096

#define SPARSE 1000
#define DENSE 20

void core_samples(uint8_t *samples, size_t n, double spacing)
{
	struct sim_random r = { 1 };
	uint8_t level = 0;

	for (size_t i = 0; i < n;) {
		double gap = 1 - log(1 - sim_uniform(&r)) * (spacing - 1);
		size_t len = gap < (double)(n - i) ? (size_t)gap : n - i;

		memset(samples + i, level, len);
		level ^= (uint8_t)(1 << sim_u64(&r) % 8);
		i += len;
	}
}

/* ---- what is compared; each returns something that depends on all of the samples ---- */

typedef uint64_t pass_fn(const uint8_t *samples, size_t n);

static uint64_t scan_with(cvl_scan_fn *scan, const uint8_t *samples, size_t n)
{
	static struct cvl_tick tick[EDGES];
	static uint64_t level[EDGES];
	const struct cvl_scan_out out = { tick, level, EDGES };
	uint64_t last = 0, sum = 0;

	for (size_t done = 0, used; done < n; done += used) {
		size_t edges = scan(samples + done, n - done, 1, 0xff, done, &last, out, &used);

		sum += edges;
		for (size_t i = 0; i < edges; i++)
			sum += tick[i].count ^ level[i];
	}
	return sum;
}

static uint64_t scan_best(const uint8_t *samples, size_t n)
{
	return scan_with(cvl_scan_best(NULL), samples, n);
}

static uint64_t scan_plain(const uint8_t *samples, size_t n)
{
	return scan_with(cvl_scan_plain, samples, n);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static uint64_t read_avx2(const uint8_t *samples, size_t n)
{
	const __m256i *p = (const __m256i *)(const void *)samples;
	__m256i sum[8] = { _mm256_setzero_si256() };
	uint64_t lanes[4], total = 0;

	for (size_t i = 0; i < n / 32; i += 8)
#pragma GCC unroll 8
		for (size_t k = 0; k < 8; k++)
			sum[k] = _mm256_add_epi64(sum[k], _mm256_load_si256(p + i + k));
	for (size_t k = 0; k < 8; k++) {
		_mm256_storeu_si256((__m256i *)(void *)lanes, sum[k]);
		total += lanes[0] + lanes[1] + lanes[2] + lanes[3];
	}
	return total;
}

#endif

static uint64_t read_words(const uint8_t *samples, size_t n)
{
	const uint64_t *p = (const uint64_t *)(const void *)samples;
	uint64_t sum[8] = { 0 }, total = 0;

	for (size_t i = 0; i < n / 8; i += 8)
#pragma GCC unroll 8
		for (size_t k = 0; k < 8; k++)
			sum[k] += p[i + k];
	for (size_t k = 0; k < 8; k++)
		total += sum[k];
	return total;
}

static pass_fn *read_memory(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return read_avx2;
#endif
	return read_words;
}

/* ---- rows ---- */

/* A result that is kept cannot be optimised away. */
static double gb_per_s(pass_fn *pass, const uint8_t *samples, volatile uint64_t *result)
{
	double begin = bench_cpu();

	*result = pass(samples, BYTES);
	return (double)BYTES / 1e9 / (bench_cpu() - begin);
}

static int put_row(const struct bench *b, const char *name, double goal, pass_fn *reference,
		   const uint8_t *samples)
{
	struct bench_row row = { .name = name, .unit = "GB/s", .goal = goal };
	volatile uint64_t ours, theirs;

	bench_doing(b, "%s", name);
	for (int i = 0; i < RUNS; i++) {
		if (bench_stopped())
			return CVL_E_NO;
		bench_add(&row.ours, gb_per_s(scan_best, samples, &ours));
		bench_add(&row.reference, gb_per_s(reference, samples, &theirs));
		if (reference == scan_plain && ours != theirs)
			return bench_fail(b, CVL_E_MISMATCH, "the scans found different edges");
	}
	bench_put(b, &row);
	return 0;
}

int core_scan(const struct bench *b)
{
	uint8_t *samples = aligned_alloc(64, BYTES);
	int rc;

	if (!samples)
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	bench_doing(b, "making samples");
	core_samples(samples, BYTES, SPARSE);
	rc = put_row(b, "scan, 1 edge in 1000: memory read", 0.7, read_memory(), samples);
	if (!rc)
		rc = put_row(b, "scan, 1 edge in 1000: plain loop", 8, scan_plain, samples);
	if (!rc) {
		core_samples(samples, BYTES, DENSE);
		rc = put_row(b, "scan, 1 edge in 20: plain loop", 3, scan_plain, samples);
	}
	free(samples);
	return rc;
}
