/* SPDX-License-Identifier: MIT */
/*
 * Every scan against the plain one on random input: built for Arm by tests/cli/neon.sh and run in
 * an emulator.
 */
#include "store/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 12301
#define EDGES 4096

static uint64_t state = 1;

static uint64_t next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 11;
}

static size_t run(cvl_scan_fn *scan, const unsigned char *s, size_t n, unsigned unit, uint64_t mask,
		  size_t max, struct cvl_tick *tick, uint64_t *level, uint64_t *last, size_t *used)
{
	return scan(s, n, unit, mask, 7, last, (struct cvl_scan_out){ tick, level, max }, used);
}

int main(void)
{
	static struct cvl_tick tick[2][EDGES];
	static uint64_t level[2][EDGES];
	static unsigned char bytes[BYTES];
	cvl_scan_fn *fns[8];
	const char *names[8];
	size_t n_fns = cvl_scan_all(fns, names, 8);
	unsigned long runs = 0;

	for (unsigned round = 0; round < 2000; round++) {
		unsigned unit = 1u << next() % 4;
		size_t n = next() % (BYTES / unit - 8), offset = next() % 8, max = next() % EDGES,
		       used[2], got[2];
		uint64_t mask = next() % 2 ? ~(uint64_t)0 : next(), last[2];
		unsigned rare = 1 + (unsigned)(next() % (next() % 2 ? 8 : 200));

		for (size_t i = 1; i < BYTES; i++)
			bytes[i] = next() % rare ? bytes[i - 1] : (unsigned char)next();
		for (size_t f = 0; f < n_fns; f++) {
			last[0] = last[1] = 0;
			got[0] = run(cvl_scan_plain, bytes + offset, n, unit, mask, max, tick[0],
				     level[0], &last[0], &used[0]);
			got[1] = run(fns[f], bytes + offset, n, unit, mask, max, tick[1], level[1],
				     &last[1], &used[1]);
			if (got[0] != got[1] || used[0] != used[1] || last[0] != last[1] ||
			    memcmp(tick[0], tick[1], got[0] * sizeof(**tick)) ||
			    memcmp(level[0], level[1], got[0] * sizeof(**level))) {
				printf("%s differs from plain: unit %u, %zu samples\n", names[f],
				       unit, n);
				return 1;
			}
			runs++;
		}
	}
	for (size_t f = 0; f < n_fns; f++)
		printf("%s%s", names[f], f + 1 < n_fns ? " " : "\n");
	return runs ? 0 : 1;
}
