/* SPDX-License-Identifier: MIT */
/**
 * For all files of a program on Linux: its clocks count 64 bits, and so do the stamps; nobody has
 * to keep time.
 */
#ifndef TRACER_STAMP_BITS
#define TRACER_STAMP_BITS 64
#endif
