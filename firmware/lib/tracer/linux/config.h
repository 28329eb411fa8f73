/* SPDX-License-Identifier: MIT */
/**
 * For all files of a program on Linux: clocks and stamps have 64 bits, so tracer_keep_time() is not
 * needed.
 */
#ifndef TRACER_STAMP_BITS
#define TRACER_STAMP_BITS 64
#endif
