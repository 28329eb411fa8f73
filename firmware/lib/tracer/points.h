/* SPDX-License-Identifier: MIT */
/**
 * Tracepoints, declared in a header of the program's own, which holds nothing but lines like these
 * and comments, and no guard, as it is read several times:
 *
 *   ENUM(mode, u8, (idle, 0), (run, 1))              enum trace_mode { trace_mode_idle = 0,
 *                                                    trace_mode_run = 1 }
 *   STRUCT(pos, (i16, x), (i16, y))                  struct trace_pos { int16_t x, y; }
 *   TRACEPOINT(started)
 *   TRACEPOINT(sample, (u32, value), (array(u16, 4), adc), (str, name), (enumerated(mode), m),
 *   (structure(pos), p))
 *
 * Then
 *
 *   #define TRACER_POINTS "my_points.h"
 *   #include "tracer/points.h"
 *
 * gives for each tracepoint its identifier, trace_id_sample, and a function
 *
 *   trace_sample(struct tracer *, uint32_t value, const uint16_t *adc, const char *name, enum
 *   trace_mode m, struct trace_pos p)
 *
 * Types are u8 u16 u32 u64, i8 i16 i32 i64, uint(N) and sint(N) of 1 to 64 bits, f32, f64, str,
 * enumerated(NAME), structure(NAME) and array(TYPE, N) of integers, floats or enums. A value keeps
 * as many of its lowest bits as its type has. Strings end after TRACER_STRING_BYTES; they do not go
 * into structs. Up to 16 fields each.
 *
 * A tracepoint for which TRACER_OFF_name is defined as 1, or any if TRACER_OFF is, is no code at
 * all.
 */
#ifndef TRACER_POINTS
#error "define TRACER_POINTS as the name of the header that declares the tracepoints"
#endif
#ifndef TRACER_POINTS_H
#define TRACER_POINTS_H

#include "fields.h"

/* Whether TRACER_OFF_name is 1: then what it is pasted to is a list of two. */
#define TRACER_ONE_1 ~, 1
#define TRACER_IS_ONE(x) TRACER_IS_ONE_(TRACER_CAT(TRACER_ONE_, x))
#define TRACER_IS_ONE_(...) TRACER_SECOND(__VA_ARGS__, 0, ~)
#define TRACER_SECOND(a, b, ...) b
#ifdef TRACER_OFF
#define TRACER_IS_OFF(name) 1
#else
#define TRACER_IS_OFF(name) TRACER_IS_ONE(TRACER_OFF_##name)
#endif

#define TRACER_OR_ALIGN(type, name) | TRACER_DO(ALIGN, type, name)
/* Where the fields begin: in CTF a struct is aligned as the member that is aligned most. */
#define TRACER_START(...)                                         \
	(((0u TRACER_EACH(TRACER_OR_ALIGN, __VA_ARGS__)) & 32u) ? \
		 TRACER_UP(TRACER_HEADER_BITS, 32u) :             \
		 TRACER_HEADER_BITS)
#define TRACER_TOTAL(...) TRACER_FOLD(TRACER_AFTER, TRACER_START(__VA_ARGS__), __VA_ARGS__)

/* ---- identifiers, from 1 on ---- */

#define ENUM(...)
#define STRUCT(...)
#define TRACEPOINT(...) TRACER_CAT(trace_id_, TRACER_NAME(__VA_ARGS__)),
enum tracer_id {
	tracer_id_clock = TRACE_ID_CLOCK,
#include TRACER_POINTS
	tracer_ids
};
#undef ENUM
#undef STRUCT
#undef TRACEPOINT

/* ---- types and functions ---- */

/* Labels have the enumeration's name before theirs; it goes along in front of the list. */
#define ENUM(name, type, ...)                                      \
	enum trace_##name{ TRACER_LABELS(name, __VA_ARGS__) };     \
	enum {                                                     \
		tracer_bits_##name = TRACER_DO(BITS, type, name),  \
		tracer_align_##name = TRACER_DO(ALIGN, type, name) \
	};
#define TRACER_LABELS(name, ...) \
	TRACER_CAT(TRACER_LABEL_, TRACER_COUNT(~, __VA_ARGS__))(name, __VA_ARGS__)
#define TRACER_LABEL_IS(...) TRACER_LABEL_IS_(__VA_ARGS__)
#define TRACER_LABEL_IS_(e, name, value) trace_##e##_##name = (value),
#define TRACER_LABEL_1(e, f) TRACER_LABEL_IS(e, TRACER_INSIDE f)
#define TRACER_LABEL_2(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_1(e, __VA_ARGS__)
#define TRACER_LABEL_3(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_2(e, __VA_ARGS__)
#define TRACER_LABEL_4(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_3(e, __VA_ARGS__)
#define TRACER_LABEL_5(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_4(e, __VA_ARGS__)
#define TRACER_LABEL_6(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_5(e, __VA_ARGS__)
#define TRACER_LABEL_7(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_6(e, __VA_ARGS__)
#define TRACER_LABEL_8(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_7(e, __VA_ARGS__)
#define TRACER_LABEL_9(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_8(e, __VA_ARGS__)
#define TRACER_LABEL_10(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_9(e, __VA_ARGS__)
#define TRACER_LABEL_11(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_10(e, __VA_ARGS__)
#define TRACER_LABEL_12(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_11(e, __VA_ARGS__)
#define TRACER_LABEL_13(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_12(e, __VA_ARGS__)
#define TRACER_LABEL_14(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_13(e, __VA_ARGS__)
#define TRACER_LABEL_15(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_14(e, __VA_ARGS__)
#define TRACER_LABEL_16(e, f, ...) TRACER_LABEL_1(e, f) TRACER_LABEL_15(e, __VA_ARGS__)

#define STRUCT(name, ...)                                                                       \
	struct trace_##name {                                                                   \
		TRACER_EACH(TRACER_MEMBER, name, __VA_ARGS__)                                   \
	};                                                                                      \
	enum { tracer_aligns_##name = 0 TRACER_EACH(TRACER_OR_ALIGN, name, __VA_ARGS__) };      \
	enum {                                                                                  \
		tracer_align_##name = tracer_aligns_##name & 32 ? 32 :                          \
				      tracer_aligns_##name & 16 ? 16 :                          \
				      tracer_aligns_##name & 8  ? 8 :                           \
								  1,                             \
		tracer_bits_##name = TRACER_FOLD(TRACER_AFTER, 0u, name, __VA_ARGS__),          \
		tracer_hash_##name =                                                            \
			(int)(TRACER_FOLD(TRACER_HASH, 4000u, name, __VA_ARGS__) & 0x7fffffffu) \
	};                                                                                      \
	PORT_INLINE uint32_t tracer_put_struct_##name(uint8_t *tracer_at, uint32_t tracer_o,    \
						      const struct trace_##name *tracer_from)   \
	{                                                                                       \
		TRACER_EACH(TRACER_LOCAL, name, __VA_ARGS__)                                    \
		tracer_o = TRACER_UP(tracer_o, 0u + tracer_align_##name);                       \
		TRACER_EACH(TRACER_PUT, name, __VA_ARGS__)                                      \
		return tracer_o;                                                                \
	}

#define TRACER_FITS(name, bits)
#ifdef TRACER_PACKET_BYTES
#undef TRACER_FITS
#define TRACER_FITS(name, bits)                                                                   \
	typedef char tracer_event_fits_a_packet_##name                                            \
		[TRACER_UP(bits, 32u) < 8u * (TRACER_PACKET_BYTES)-TRACE_PACKET_HEADER_BITS ? 1 : \
											      -1];
#endif

#define TRACEPOINT(...) TRACER_FUNCTION(TRACER_NAME(__VA_ARGS__), __VA_ARGS__)
#define TRACER_FUNCTION(name, ...) TRACER_FUNCTION_(name, __VA_ARGS__)
#define TRACER_FUNCTION_(name, ...)                                                        \
	TRACER_FITS(name, TRACER_TOTAL(__VA_ARGS__))                                       \
	static inline __attribute__((unused)) void trace_##name(                           \
		struct tracer *tracer TRACER_EACH(TRACER_PARAM, __VA_ARGS__))              \
	{                                                                                  \
		if (TRACER_IS_OFF(name) || !tracer->on[trace_id_##name % TRACER_SWITCHES]) \
			return;                                                            \
		uint32_t tracer_bits = TRACER_START(__VA_ARGS__);                          \
		struct tracer_slot tracer_slot;                                            \
		TRACER_EACH(TRACER_SIZE, __VA_ARGS__)                                      \
		if (tracer_begin(tracer, tracer_bits, trace_id_##name, &tracer_slot)) {    \
			uint8_t *tracer_at = tracer_slot.at;                               \
			uint32_t tracer_o = TRACER_START(__VA_ARGS__);                     \
			TRACER_EACH(TRACER_PUT, __VA_ARGS__)                               \
			(void)tracer_at;                                                   \
			(void)tracer_o;                                                    \
			tracer_end(tracer, &tracer_slot, tracer_bits);                     \
		}                                                                          \
	}
#include TRACER_POINTS
#undef ENUM
#undef STRUCT
#undef TRACEPOINT

/* ---- what the ring has to know of them ---- */

#define ENUM(...)
#define STRUCT(...)
#define TRACEPOINT(...)         \
	char TRACER_CAT(trace_, \
			TRACER_NAME(__VA_ARGS__))[TRACER_UP(TRACER_TOTAL(__VA_ARGS__), 32u) / 8];
union tracer_events {
	char tracer_clock[TRACER_HEADER_BITS / 8 + 6];
#include TRACER_POINTS
};
#undef TRACEPOINT

#define TRACEPOINT(...)                                                                          \
	+TRACER_FOLD(TRACER_HASH, TRACER_CAT(trace_id_, TRACER_NAME(__VA_ARGS__)) * 0x9e3779b1u, \
		     __VA_ARGS__) *                                                              \
		0x85ebca6bu
static const struct tracer_layout tracer_layout
	__attribute__((unused)) = { .number = (TRACER_STAMP_BITS + 0u
#include TRACER_POINTS
					       ),
				    .bytes = sizeof(union tracer_events) };
#undef ENUM
#undef STRUCT
#undef TRACEPOINT

#endif
