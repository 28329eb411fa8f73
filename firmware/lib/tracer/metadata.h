/* SPDX-License-Identifier: MIT */
/**
 * The declarations of a program's tracepoints as a table, and as metadata of CTF 1.8: for the host.
 * After tracer/points.h,
 *
 *   #include "tracer/metadata.h"
 *   tracer_metadata(file, &tracer_declared, &(struct tracer_origin){ .node = "probe" , .rate_hz =
 *   25000000 });
 *
 * prints the metadata for the packets of a ring.
 */
#ifndef TRACER_METADATA_H
#define TRACER_METADATA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tracer.h"

enum tracer_class { TRACER_INT, TRACER_F32, TRACER_F64, TRACER_STR, TRACER_ENUM, TRACER_STRUCT };

struct tracer_field {
	const char *name;
	enum tracer_class kind;
	uint8_t bits, align, is_signed; /* of an integer */
	uint16_t count;                 /* of an array; 0: none */
	const char *of;                 /* name of the enum or struct */
};

struct tracer_label {
	const char *name;
	int64_t value;
};

/** A struct, an enum (its container is the one field) or a tracepoint. */
struct tracer_type {
	const char *name;
	const struct tracer_field *field;
	size_t fields;
	const struct tracer_label *label;
	size_t labels;
	unsigned id; /* of a tracepoint */
};

struct tracer_declarations {
	const struct tracer_type *type; /* structs and enums, each after what it is made of */
	size_t types;
	const struct tracer_type *point;
	size_t points;
	const struct tracer_layout *layout;
	unsigned stamp_bits;
};

/** Properties that are not in the declarations. */
struct tracer_origin {
	const char *node;  /* "hostname" in the metadata; NULL: none */
	const char *clock; /* its description; NULL: none */
	uint64_t rate_hz;  /* 0: 1 GHz, which is what CTF has then */
	int64_t offset_s;  /* when the clock showed 0, since 1970 */
	uint64_t offset;   /* and ticks */
};

/** Print the metadata. Returns 0, or -1 if @f could not be written. */
int tracer_metadata(FILE *f, const struct tracer_declarations *d, const struct tracer_origin *o);

#ifdef TRACER_POINTS_H

#define TRACER_ROW(type, name) TRACER_DO(ROW, type, name),
#define TRACER_ROW_INT(ctype, bits, align, is_signed, name)        \
	{                                                          \
#name, TRACER_INT, bits, align, is_signed, 0, NULL \
	}
#define TRACER_ROW_F32(bits, name)                      \
	{                                               \
#name, TRACER_F32, bits, 32, 1, 0, NULL \
	}
#define TRACER_ROW_F64(bits, name)                      \
	{                                               \
#name, TRACER_F64, bits, 32, 1, 0, NULL \
	}
#define TRACER_ROW_STR(name)                        \
	{                                           \
#name, TRACER_STR, 8, 8, 0, 0, NULL \
	}
#define TRACER_ROW_ENUM(e, name)                   \
	{                                          \
#name, TRACER_ENUM, 0, 0, 0, 0, #e \
	}
#define TRACER_ROW_STRUCT(s, name)                   \
	{                                            \
#name, TRACER_STRUCT, 0, 0, 0, 0, #s \
	}
#define TRACER_ROW_ARRAY(n, class, ...) TRACER_ROWS_##class(n, __VA_ARGS__)
#define TRACER_ROWS_INT(n, ctype, bits, align, is_signed, name)    \
	{                                                          \
#name, TRACER_INT, bits, align, is_signed, n, NULL \
	}
#define TRACER_ROWS_F32(n, bits, name)                  \
	{                                               \
#name, TRACER_F32, bits, 32, 1, n, NULL \
	}
#define TRACER_ROWS_F64(n, bits, name)                  \
	{                                               \
#name, TRACER_F64, bits, 32, 1, n, NULL \
	}
#define TRACER_ROWS_ENUM(n, e, name)               \
	{                                          \
#name, TRACER_ENUM, 0, 0, 0, n, #e \
	}

#define TRACER_LABEL_ROW(name, value) { #name, value },
#define TRACER_LENGTH(table) (sizeof(table) / sizeof((table)[0]) - 1)
#define TRACER_STRING(name) TRACER_STRING_(name)
#define TRACER_STRING_(name) #name

/* Each table ends in an empty row: C has no empty arrays. */
#define ENUM(name, type, ...)                                                                \
	static const struct tracer_field tracer_row_##name[] = { TRACER_DO(ROW, type, name), \
								 { 0 } };                    \
	static const struct tracer_label tracer_labels_##name[] = { TRACER_EACH(             \
		TRACER_LABEL_ROW, name, __VA_ARGS__){ 0 } };
#define STRUCT(name, ...)                                                                      \
	static const struct tracer_field tracer_row_##name[] = { TRACER_EACH(TRACER_ROW, name, \
									     __VA_ARGS__){ 0 } };
#define TRACEPOINT(...)                                                                            \
	static const struct tracer_field TRACER_CAT(tracer_point_, TRACER_NAME(__VA_ARGS__))[] = { \
		TRACER_EACH(TRACER_ROW, __VA_ARGS__){ 0 }                                          \
	};
#include TRACER_POINTS
#undef ENUM
#undef STRUCT
#undef TRACEPOINT

#define ENUM(name, type, ...)                        \
	{                                            \
		#name,                               \
		tracer_row_##name,                   \
		1,                                   \
		tracer_labels_##name,                \
		TRACER_LENGTH(tracer_labels_##name), \
		0                                    \
	},
#define STRUCT(name, ...) \
	{ #name, tracer_row_##name, TRACER_LENGTH(tracer_row_##name), NULL, 0, 0 },
#define TRACEPOINT(...)
static const struct tracer_type tracer_types[] = {
#include TRACER_POINTS
	{ 0 }
};
#undef ENUM
#undef STRUCT
#undef TRACEPOINT

#define ENUM(...)
#define STRUCT(...)
#define TRACEPOINT(...) TRACER_POINT_ROW(TRACER_NAME(__VA_ARGS__))
#define TRACER_POINT_ROW(name) TRACER_POINT_ROW_(name)
#define TRACER_POINT_ROW_(name)                                                       \
	{                                                                             \
		#name, tracer_point_##name, TRACER_LENGTH(tracer_point_##name), NULL, \
		0,     trace_id_##name                                                \
	},
static const struct tracer_type tracer_points[] = {
#include TRACER_POINTS
	{ 0 }
};
#undef ENUM
#undef STRUCT
#undef TRACEPOINT

static const struct tracer_declarations tracer_declared
	__attribute__((unused)) = { tracer_types,   TRACER_LENGTH(tracer_types),
				    tracer_points,  TRACER_LENGTH(tracer_points),
				    &tracer_layout, TRACER_STAMP_BITS };

#endif
#endif
