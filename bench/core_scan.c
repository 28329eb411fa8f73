/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <coeval/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/scan.h"
#include "core/random.h"

/* More than a processor's cache holds, several times. */
#define BYTES ((size_t)256 << 20)
#define RUNS 9
#define EDGES 4096

#define SPARSE 1000
#define MORE 100
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

/* ---- rows ---- */

/* A result that is kept cannot be optimised away. */
static double gb_per_s(pass_fn *pass, const uint8_t *samples, volatile uint64_t *result)
{
	double begin = bench_cpu();

	*result = pass(samples, BYTES);
	return (double)BYTES / 1e9 / (bench_cpu() - begin);
}

static int put_row(const struct bench *b, const char *name, double goal, bool against_read,
		   const uint8_t *samples)
{
	struct bench_row row = { .name = name, .unit = "GB/s", .goal = goal };
	volatile uint64_t ours, theirs;

	bench_doing(b, "%s", name);
	for (int i = 0; i < RUNS; i++) {
		if (bench_stopped())
			return CVL_E_NO;
		bench_add(&row.ours, gb_per_s(scan_best, samples, &ours));
		if (against_read) {
			bench_add(&row.reference,
				  (double)BYTES / 1e9 / bench_read_s(samples, BYTES));
			continue;
		}
		bench_add(&row.reference, gb_per_s(scan_plain, samples, &theirs));
		if (ours != theirs)
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
	rc = put_row(b, "scan, 1 edge in 1000: fastest memory read", 0.8, true, samples);
	if (!rc) {
		core_samples(samples, BYTES, MORE);
		rc = put_row(b, "scan, 1 edge in 100: plain loop", 5.5, false, samples);
	}
	if (!rc) {
		core_samples(samples, BYTES, DENSE);
		rc = put_row(b, "scan, 1 edge in 20: plain loop", 4, false, samples);
	}
	free(samples);
	return rc;
}
