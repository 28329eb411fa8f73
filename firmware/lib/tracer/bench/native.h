/* SPDX-License-Identifier: MIT */
/*
 * The tracer's clock where a program may read the processor's. The fence keeps it behind what was
 * read before, so that threads agree.
 */
#if defined(__x86_64__)
#include <x86intrin.h>
#define TRACER_CLOCK(t) (_mm_lfence(), (uint32_t)__rdtsc())
#endif
