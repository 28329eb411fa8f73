/* SPDX-License-Identifier: MIT */
/**
 * What the workloads run on: Arm's MPS2 board (Cortex-M4) or QEMU's RISC-V board, with a clock that
 * goes by instructions (-icount shift=0), or Linux.
 */
#ifndef TRACER_BENCH_BOARD_H
#define TRACER_BENCH_BOARD_H

#include <stdint.h>

#if defined(BOARD_MPS2)

#define BOARD_COUNTER ((const volatile uint32_t *)0x40028018) /* FPGAIO COUNTER (DAI 0386) */
#define BOARD_HZ 25000000u
#define BOARD_INSTRUCTIONS 40u /* of 1 ns in a tick */

#elif defined(BOARD_VIRT)

#define BOARD_COUNTER ((const volatile uint32_t *)0x0200bff8) /* mtime of the CLINT */
#define BOARD_HZ 10000000u
#define BOARD_INSTRUCTIONS 100u

#else

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define BOARD_COUNTER ((const volatile uint32_t *)0)

#endif
#endif
