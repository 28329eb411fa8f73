/* SPDX-License-Identifier: MIT */
/* Tracepoints of tests/tracer/program.c. */
TRACEPOINT(step, (u8, who), (u32, number))
