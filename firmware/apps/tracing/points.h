/* SPDX-License-Identifier: MIT */
/* What the demonstration of the platforms traces. */
ENUM(phase, u8, (begin, 0), (burst, 1), (rest, 2))
TRACEPOINT(enter, (enumerated(phase), phase))
TRACEPOINT(work, (u32, number), (u8, burst))
TRACEPOINT(tick, (u32, number))
TRACEPOINT(finish, (u32, works), (u32, ticks))
