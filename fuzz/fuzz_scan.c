/* SPDX-License-Identifier: MIT */
/*
 * Every scan against the plain one, and every checksum against the plain one. The first 20 bytes: unit
 * and alignment, how often the rest is repeated, edges a call, level before, mask; the rest are
 * samples, or runs of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/core/crc32c.h"
#include "../src/store/scan.h"

#define HEAD 20
#define BYTES 20000
#define BASE (UINT64_MAX - 5000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void compare(cvl_scan_fn *fn, const uint8_t *p, size_t n, unsigned unit, uint64_t mask,
		    uint64_t last, size_t max)
{
	static struct cvl_tick tick[2][BYTES];
	static uint64_t level[2][BYTES];
	uint64_t lasts[2] = { last, last };
	size_t used[2], edges[2];

	for (size_t at = 0; at < n; at += used[0]) {
		for (int i = 0; i < 2; i++)
			edges[i] = (i ? fn : cvl_scan_plain)(
				p + at * unit, n - at, unit, mask, BASE + at, &lasts[i],
				(struct cvl_scan_out){ tick[i], level[i], max }, &used[i]);
		if (edges[0] != edges[1] || used[0] != used[1] || lasts[0] != lasts[1] ||
		    memcmp(tick[0], tick[1], edges[0] * sizeof(**tick)) ||
		    memcmp(level[0], level[1], edges[0] * sizeof(**level)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cvl_scan_fn *fns[8];
	const char *names[8];
	cvl_crc32c_fn *sums[4];
	const size_t n_fns = cvl_scan_all(fns, names, 8);
	unsigned unit, align, run;
	size_t bytes = 0, max;
	uint64_t last, mask;
	uint8_t *p;

	if (n <= HEAD)
		return 0;
	unit = 1u << (data[0] & 3);
	align = data[0] >> 2;
	run = data[1] + 1u; /* each sample this often, so that a small input is a long capture */
	max = data[2] & 0x80 ? BYTES : 1 + (size_t)(data[2] | data[3] << 7);
	memcpy(&last, data + 4, 8);
	memcpy(&mask, data + 12, 8);
	p = malloc(align + BYTES); /* to the byte: a read beyond it is seen */
	if (!p)
		return 0;
	for (size_t at = HEAD; at + unit <= n; at += unit)
		for (unsigned k = 0; k < run && bytes + unit <= BYTES; k++, bytes += unit)
			memcpy(p + align + bytes, data + at, unit);
	p = realloc(p, align + (bytes ? bytes : 1));
	if (!p)
		return 0;
	for (size_t f = 1; f < n_fns; f++)
		compare(fns[f], p + align, bytes / unit, unit, mask, last, max);
	for (size_t k = cvl_crc32c_all(sums, 4); k-- > 1;)
		if (sums[k]((uint32_t)last, p + align, bytes) !=
		    sums[0]((uint32_t)last, p + align, bytes))
			abort();
	free(p);
	return 0;
}
