/* SPDX-License-Identifier: MIT */
/* What the example tells. No guard: the tracer reads this several times. */
ENUM(level, u8, (low, 0), (high, 1))
STRUCT(reading, (u16, light), (sint(12), celsius), (uint(4), battery))
TRACEPOINT(started, (str, version))
TRACEPOINT(led, (enumerated(level), to))
TRACEPOINT(measured, (u8, sensor), (structure(reading), value), (f32, mean))
