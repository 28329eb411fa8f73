/* SPDX-License-Identifier: MIT */
/* Tracepoints of the tests. */
ENUM(mode, u8, (idle, 0), (run, 1), (sleep, 200))
ENUM(sign, sint(4), (minus, -8), (none, 0), (plus, 7))
STRUCT(pos, (i16, x), (i16, y))
STRUCT(mixed, (uint(3), a), (structure(pos), p), (array(u8, 3), z), (enumerated(sign), s))
TRACEPOINT(started)
TRACEPOINT(sample, (u32, value))
TRACEPOINT(pair, (u8, who), (u32, number))
TRACEPOINT(words, (str, first), (uint(5), five), (str, second), (u64, last))
TRACEPOINT(everything, (u8, a), (i64, b), (array(u16, 4), adc), (str, name), (enumerated(mode), m),
	   (structure(mixed), p), (uint(3), t), (sint(45), w), (f32, f), (f64, g),
	   (array(enumerated(mode), 2), ms), (array(sint(7), 3), s7))
TRACEPOINT(never, (u32, value))
