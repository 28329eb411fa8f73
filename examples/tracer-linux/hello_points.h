/* SPDX-License-Identifier: MIT */
/* What hello.c traces. */
ENUM(mood, u8, (calm, 0), (busy, 1))
TRACEPOINT(step, (u32, number), (enumerated(mood), mood))
