/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include "scan_internal.h"

SCAN_INLINE size_t plain(const uint8_t *p, size_t n, unsigned unit, uint64_t mask, uint64_t base,
			 uint64_t *last, struct cvl_scan_out out, size_t *used)
{
	uint64_t prev = *last & mask;
	size_t stored = 0, i;

	for (i = 0; i < n && stored < out.max; i++) {
		uint64_t now = scan_load(p + i * unit, unit) & mask;

		if (now != prev) {
			out.tick[stored].count = base + i;
			out.level[stored++] = now;
			prev = now;
		}
	}
	*last = prev;
	*used = i;
	return stored;
}

size_t cvl_scan_plain(const void *samples, size_t n, unsigned unit, uint64_t mask, uint64_t base,
		      uint64_t *last, struct cvl_scan_out out, size_t *used)
{
	switch (unit) {
	case 1: return plain(samples, n, 1, mask, base, last, out, used);
	case 2: return plain(samples, n, 2, mask, base, last, out, used);
	case 4: return plain(samples, n, 4, mask, base, last, out, used);
	default: return plain(samples, n, 8, mask, base, last, out, used);
	}
}

size_t cvl_scan_all(cvl_scan_fn **fns, const char **names, size_t max)
{
	size_t n = 0;

#define ADD(fn, name) (n < max ? (fns[n] = (fn), names[n++] = (name), 0) : 0)
	ADD(cvl_scan_plain, "plain");
#if defined(__x86_64__)
	ADD(cvl_scan_sse2, "sse2");
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	    __builtin_cpu_supports("popcnt"))
		ADD(cvl_scan_avx2, "avx2");
#elif defined(__aarch64__)
	ADD(cvl_scan_neon, "neon");
#endif
#undef ADD
	return n;
}

cvl_scan_fn *cvl_scan_best(const char **name)
{
	cvl_scan_fn *fns[4];
	const char *names[4];
	size_t n = cvl_scan_all(fns, names, 4);

	if (name)
		*name = names[n - 1];
	return fns[n - 1];
}
