/* SPDX-License-Identifier: MIT */
/** Shared by the scans. */
#ifndef SCAN_INTERNAL_H
#define SCAN_INTERNAL_H

#include <stdbool.h>
#include <string.h>

#include "scan.h"

#define SCAN_INLINE static inline __attribute__((always_inline))

/* A sample of @unit bytes, little-endian; @unit is a constant wherever speed matters. */
SCAN_INLINE uint64_t scan_load(const uint8_t *p, unsigned unit)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t v = 0;

	memcpy(&v, p, unit);
#else
	uint64_t v = 0;

	for (unsigned i = 0; i < unit; i++)
		v |= (uint64_t)p[i] << (8 * i);
#endif
	return v;
}

#if defined(__x86_64__)
cvl_scan_fn cvl_scan_avx2;
cvl_scan_fn cvl_scan_sse2;
#elif defined(__aarch64__)
cvl_scan_fn cvl_scan_neon;
#endif

#endif
