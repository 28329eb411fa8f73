/* SPDX-License-Identifier: MIT */
/**
 * Types of fields, what each costs, and how it is written. For points.h and metadata.h alone.
 *
 * TRACER_T_type defines a type: a class and its parameters. An operation on a field has one macro
 * per class: TRACER_DO(operation, type, name).
 */
#ifndef TRACER_FIELDS_H
#define TRACER_FIELDS_H

#include "tracer.h"

/* class, type in C, bits, alignment, signed */
#define TRACER_T_u8 INT, uint8_t, 8, 8, 0
#define TRACER_T_u16 INT, uint16_t, 16, 16, 0
#define TRACER_T_u32 INT, uint32_t, 32, 32, 0
#define TRACER_T_u64 INT, uint64_t, 64, 32, 0
#define TRACER_T_i8 INT, int8_t, 8, 8, 1
#define TRACER_T_i16 INT, int16_t, 16, 16, 1
#define TRACER_T_i32 INT, int32_t, 32, 32, 1
#define TRACER_T_i64 INT, int64_t, 64, 32, 1
#define TRACER_T_uint(n) INT, TRACER_WIDE(n, uint32_t, uint64_t), n, TRACER_ALIGN_OF(n), 0
#define TRACER_T_sint(n) INT, TRACER_WIDE(n, int32_t, int64_t), n, TRACER_ALIGN_OF(n), 1
#define TRACER_T_f32 F32, 32
#define TRACER_T_f64 F64, 64
#define TRACER_T_str STR
#define TRACER_T_enumerated(e) ENUM, e
#define TRACER_T_structure(s) STRUCT, s
#define TRACER_T_array(type, n) ARRAY, n, TRACER_T_##type

#define TRACER_WIDE(n, narrow, wide) \
	__typeof__(__builtin_choose_expr((n) <= 32, (narrow)0, (wide)0))
/* Sizes other than machine words are packed. */
#define TRACER_ALIGN_OF(n) ((n) == 8 ? 8 : (n) == 16 ? 16 : (n) == 32 || (n) == 64 ? 32 : 1)

#define TRACER_DO(op, type, name) TRACER_DO_(op, TRACER_T_##type, name)
#define TRACER_DO_(op, ...) TRACER_DO__(op, __VA_ARGS__)
#define TRACER_DO__(op, class, ...) TRACER_##op##_##class(__VA_ARGS__)

/* ---- lists: a name, and up to 16 fields ---- */

#define TRACER_CAT(a, b) TRACER_CAT_(a, b)
#define TRACER_CAT_(a, b) a##b
#define TRACER_NAME(...) TRACER_NAME_(__VA_ARGS__, ~)
#define TRACER_NAME_(name, ...) name
#define TRACER_INSIDE(...) __VA_ARGS__
#define TRACER_COUNT(...) \
	TRACER_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ~)
#define TRACER_COUNT_(h, a, b, c, d, e, f, g, i, j, k, l, m, o, p, q, r, n, ...) n

/** @op applied to each field, a pair in parentheses. */
#define TRACER_EACH(op, ...) TRACER_CAT(TRACER_EACH_, TRACER_COUNT(__VA_ARGS__))(op, __VA_ARGS__)
#define TRACER_EACH_0(op, h)
#define TRACER_EACH_1(op, h, f) op f
#define TRACER_EACH_2(op, h, f, ...) op f TRACER_EACH_1(op, h, __VA_ARGS__)
#define TRACER_EACH_3(op, h, f, ...) op f TRACER_EACH_2(op, h, __VA_ARGS__)
#define TRACER_EACH_4(op, h, f, ...) op f TRACER_EACH_3(op, h, __VA_ARGS__)
#define TRACER_EACH_5(op, h, f, ...) op f TRACER_EACH_4(op, h, __VA_ARGS__)
#define TRACER_EACH_6(op, h, f, ...) op f TRACER_EACH_5(op, h, __VA_ARGS__)
#define TRACER_EACH_7(op, h, f, ...) op f TRACER_EACH_6(op, h, __VA_ARGS__)
#define TRACER_EACH_8(op, h, f, ...) op f TRACER_EACH_7(op, h, __VA_ARGS__)
#define TRACER_EACH_9(op, h, f, ...) op f TRACER_EACH_8(op, h, __VA_ARGS__)
#define TRACER_EACH_10(op, h, f, ...) op f TRACER_EACH_9(op, h, __VA_ARGS__)
#define TRACER_EACH_11(op, h, f, ...) op f TRACER_EACH_10(op, h, __VA_ARGS__)
#define TRACER_EACH_12(op, h, f, ...) op f TRACER_EACH_11(op, h, __VA_ARGS__)
#define TRACER_EACH_13(op, h, f, ...) op f TRACER_EACH_12(op, h, __VA_ARGS__)
#define TRACER_EACH_14(op, h, f, ...) op f TRACER_EACH_13(op, h, __VA_ARGS__)
#define TRACER_EACH_15(op, h, f, ...) op f TRACER_EACH_14(op, h, __VA_ARGS__)
#define TRACER_EACH_16(op, h, f, ...) op f TRACER_EACH_15(op, h, __VA_ARGS__)

/** A constant expression: @op(value so far, type, name) for each field, from @v on. */
#define TRACER_FOLD(op, v, ...) \
	TRACER_CAT(TRACER_FOLD_, TRACER_COUNT(__VA_ARGS__))(op, v, __VA_ARGS__)
#define TRACER_STEP(op, v, f) TRACER_STEP_(op, v, TRACER_INSIDE f)
#define TRACER_STEP_(...) TRACER_STEP__(__VA_ARGS__)
#define TRACER_STEP__(op, v, type, name) op(v, type, name)
#define TRACER_FOLD_0(op, v, h) v
#define TRACER_FOLD_1(op, v, h, f) TRACER_STEP(op, v, f)
#define TRACER_FOLD_2(op, v, h, f, ...) TRACER_FOLD_1(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_3(op, v, h, f, ...) TRACER_FOLD_2(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_4(op, v, h, f, ...) TRACER_FOLD_3(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_5(op, v, h, f, ...) TRACER_FOLD_4(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_6(op, v, h, f, ...) TRACER_FOLD_5(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_7(op, v, h, f, ...) TRACER_FOLD_6(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_8(op, v, h, f, ...) TRACER_FOLD_7(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_9(op, v, h, f, ...) TRACER_FOLD_8(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_10(op, v, h, f, ...) TRACER_FOLD_9(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_11(op, v, h, f, ...) TRACER_FOLD_10(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_12(op, v, h, f, ...) TRACER_FOLD_11(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_13(op, v, h, f, ...) TRACER_FOLD_12(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_14(op, v, h, f, ...) TRACER_FOLD_13(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_15(op, v, h, f, ...) TRACER_FOLD_14(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)
#define TRACER_FOLD_16(op, v, h, f, ...) TRACER_FOLD_15(op, TRACER_STEP(op, v, f), h, __VA_ARGS__)

/* ---- sizes ---- */

/** Position behind a field that is the next at @v, as a constant; strings as empty. */
#define TRACER_AFTER(v, type, name) \
	(TRACER_UP(v, 0u + TRACER_DO(ALIGN, type, name)) + TRACER_DO(BITS, type, name))

#define TRACER_ALIGN_INT(ctype, bits, align, is_signed, name) (align)
#define TRACER_ALIGN_F32(bits, name) 32
#define TRACER_ALIGN_F64(bits, name) 32
#define TRACER_ALIGN_STR(name) 8
#define TRACER_ALIGN_ENUM(e, name) tracer_align_##e
#define TRACER_ALIGN_STRUCT(s, name) tracer_align_##s
#define TRACER_ALIGN_ARRAY(n, class, ...) TRACER_ALIGN_##class(__VA_ARGS__)

#define TRACER_BITS_INT(ctype, bits, align, is_signed, name) (bits)
#define TRACER_BITS_F32(bits, name) (bits)
#define TRACER_BITS_F64(bits, name) (bits)
#define TRACER_BITS_STR(name) 8
#define TRACER_BITS_ENUM(e, name) tracer_bits_##e
#define TRACER_BITS_STRUCT(s, name) tracer_bits_##s
#define TRACER_BITS_ARRAY(n, class, ...) ((n)*TRACER_BITS_##class(__VA_ARGS__))

/** Tells declarations apart: a number that each field goes into. */
#define TRACER_HASH(v, type, name) \
	((v)*0x01000193u + (uint32_t)sizeof(#name) * 0x3779b1u + TRACER_DO(CODE, type, name))

#define TRACER_CODE_INT(ctype, bits, align, is_signed, name) (0u + (bits)*2 + (is_signed))
#define TRACER_CODE_F32(bits, name) 1000u
#define TRACER_CODE_F64(bits, name) 1001u
#define TRACER_CODE_STR(name) 1002u
#define TRACER_CODE_ENUM(e, name) (2000u + tracer_bits_##e)
#define TRACER_CODE_STRUCT(s, name) (0u + tracer_hash_##s)
#define TRACER_CODE_ARRAY(n, class, ...) (3000u * (n) + TRACER_CODE_##class(__VA_ARGS__))

/* ---- declarations ---- */

#define TRACER_PARAM(type, name) , TRACER_DO(DECLARE, type, name)
#define TRACER_MEMBER(type, name) TRACER_DO(MEMBER, type, name);
#define TRACER_LOCAL(type, name) TRACER_DO(DECLARE, type, name) = tracer_from->name;

#define TRACER_DECLARE_INT(ctype, bits, align, is_signed, name) ctype name
#define TRACER_DECLARE_F32(bits, name) float name
#define TRACER_DECLARE_F64(bits, name) double name
#define TRACER_DECLARE_STR(name) const char *name
#define TRACER_DECLARE_ENUM(e, name) enum trace_##e name
#define TRACER_DECLARE_STRUCT(s, name) struct trace_##s name
#define TRACER_DECLARE_ARRAY(n, class, ...) const TRACER_POINT_##class(__VA_ARGS__)

#define TRACER_POINT_INT(ctype, bits, align, is_signed, name) ctype *name
#define TRACER_POINT_F32(bits, name) float *name
#define TRACER_POINT_F64(bits, name) double *name
#define TRACER_POINT_ENUM(e, name) enum trace_##e *name

#define TRACER_MEMBER_INT TRACER_DECLARE_INT
#define TRACER_MEMBER_F32 TRACER_DECLARE_F32
#define TRACER_MEMBER_F64 TRACER_DECLARE_F64
#define TRACER_MEMBER_ENUM TRACER_DECLARE_ENUM
#define TRACER_MEMBER_STRUCT TRACER_DECLARE_STRUCT
#define TRACER_MEMBER_ARRAY(n, class, ...) TRACER_DECLARE_##class(__VA_ARGS__)[n]

/*
 * ---- what is done in the function of a tracepoint: tracer_bits grows to its size, then tracer_o
 * goes over it again ----
 */

#define TRACER_SIZE(type, name) TRACER_DO(SIZE, type, name)
#define TRACER_ADD(align, bits) tracer_bits = TRACER_UP(tracer_bits, 0u + (align)) + (bits);
#define TRACER_SIZE_INT(ctype, bits, align, is_signed, name) TRACER_ADD(align, bits)
#define TRACER_SIZE_F32(bits, name) TRACER_ADD(32, bits)
#define TRACER_SIZE_F64(bits, name) TRACER_ADD(32, bits)
#define TRACER_SIZE_STR(name)                                      \
	const uint32_t tracer_length_##name = tracer_length(name); \
	TRACER_ADD(8, 8u * (tracer_length_##name + 1u))
#define TRACER_SIZE_ENUM(e, name) TRACER_ADD(tracer_align_##e, tracer_bits_##e)
#define TRACER_SIZE_STRUCT(s, name) TRACER_ADD(tracer_align_##s, tracer_bits_##s)
#define TRACER_SIZE_ARRAY(n, class, ...) \
	TRACER_ADD(TRACER_ALIGN_##class(__VA_ARGS__), (n)*TRACER_BITS_##class(__VA_ARGS__))

#define TRACER_PUT(type, name) TRACER_DO(PUT, type, name)
#define TRACER_PUT_INT(ctype, bits, align, is_signed, name) \
	tracer_o = tracer_put_bits(tracer_at, tracer_o, align, bits, (uint64_t)(name));
#define TRACER_PUT_F32(bits, name) \
	tracer_o = tracer_put_bits(tracer_at, tracer_o, 32, bits, tracer_f32(name));
#define TRACER_PUT_F64(bits, name) \
	tracer_o = tracer_put_bits(tracer_at, tracer_o, 32, bits, tracer_f64(name));
#define TRACER_PUT_STR(name) \
	tracer_o = tracer_put_string(tracer_at, tracer_o, name, tracer_length_##name);
#define TRACER_PUT_ENUM(e, name)                                                           \
	tracer_o = tracer_put_bits(tracer_at, tracer_o, tracer_align_##e, tracer_bits_##e, \
				   (uint64_t)(name));
#define TRACER_PUT_STRUCT(s, name) tracer_o = tracer_put_struct_##s(tracer_at, tracer_o, &(name));
#define TRACER_PUT_ARRAY(n, class, ...)                         \
	for (uint32_t tracer_i = 0; tracer_i < (n); tracer_i++) \
	TRACER_ELEMENT_##class(__VA_ARGS__)
#define TRACER_ELEMENT_INT(ctype, bits, align, is_signed, name) \
	TRACER_PUT_INT(ctype, bits, align, is_signed, (name)[tracer_i])
#define TRACER_ELEMENT_F32(bits, name) TRACER_PUT_F32(bits, (name)[tracer_i])
#define TRACER_ELEMENT_F64(bits, name) TRACER_PUT_F64(bits, (name)[tracer_i])
#define TRACER_ELEMENT_ENUM(e, name) TRACER_PUT_ENUM(e, (name)[tracer_i])

/**
 * Write the lowest @bits of @v behind position @o of an event. Returns the position behind it.
 * Folds where these are constants.
 */
PORT_INLINE uint32_t tracer_put_bits(uint8_t *at, uint32_t o, uint32_t align, uint32_t bits,
				     uint64_t v)
{
	uint8_t *to;

	o = TRACER_UP(o, align);
	to = at + (o >> 3);
	if (align >= 8) {
		if (bits == 8)
			*to = (uint8_t)v;
		else if (bits == 16)
			*(tracer_u16 *)(void *)to = (uint16_t)v;
		else if (bits == 32)
			*(tracer_u32 *)(void *)to = (uint32_t)v;
		else
			*(tracer_u64 *)(void *)to = v;
		return o + bits;
	}
	/* the first to reach a byte writes the whole of it */
#pragma GCC unroll 9
	while (bits) {
		uint32_t from = o & 7u, n = bits < 8u - from ? bits : 8u - from;
		uint32_t part = ((uint32_t)v & ((1u << n) - 1u)) << from;

		at[o >> 3] = (uint8_t)(from ? at[o >> 3] | part : part);
		v >>= n;
		o += n;
		bits -= n;
	}
	return o;
}

PORT_INLINE uint32_t tracer_f32(float f)
{
	const union {
		float f;
		uint32_t u;
	} both = { f };

	return both.u;
}

PORT_INLINE uint64_t tracer_f64(double f)
{
	const union {
		double f;
		uint64_t u;
	} both = { f };

	return both.u;
}

/** Of what will be written, without its end. */
static inline __attribute__((unused)) uint32_t tracer_length(const char *s)
{
	uint32_t n = 0;

	while (s && n < TRACER_STRING_BYTES - 1u && s[n])
		n++;
	return n;
}

/* The string may change meanwhile: it keeps the length it had. */
static inline __attribute__((unused)) uint32_t tracer_put_string(uint8_t *at, uint32_t o,
								 const char *s, uint32_t length)
{
	uint8_t *to = at + (TRACER_UP(o, 8u) >> 3);

	for (uint32_t i = 0; i < length; i++)
		to[i] = (uint8_t)(s[i] ? s[i] : '?');
	to[length] = 0;
	return TRACER_UP(o, 8u) + 8u * (length + 1u);
}

#endif
