/* SPDX-License-Identifier: MIT */
/**
 * Writes FlatBuffers from front to back (flatbuffers.dev, "FlatBuffers internals"): a table first, then
 * what its fields refer to. A buffer begins at b->at, with flat_root().
 */
#ifndef TABLE_FLAT_H
#define TABLE_FLAT_H

#include "table/buffer.h"

#define FLAT_FIELDS 8

/** Of 1, 2, 4 or 8 bytes; 0: absent. A reference is FLAT_REF, and points nowhere until flat_refer(). */
struct flat_field {
	uint8_t size;
	uint64_t value;
};

#define FLAT_REF     \
	{            \
		4, 0 \
	}

/** Begin with the reference at 0. */
void flat_root(struct buffer *b);
/**
 * The reference at @at is to what these write: a table of @n <= FLAT_FIELDS fields, with where each of
 * them is; a text.
 */
void flat_table_at(struct buffer *b, size_t at, const struct flat_field *field, size_t n,
		   size_t *fields);
void flat_text_at(struct buffer *b, size_t at, const char *s);
/** A vector of @n zeros of @size (4: references; or structures of 8-byte numbers). Returns where the first is. */
size_t flat_vector_at(struct buffer *b, size_t at, size_t n, size_t size);
/** Set 8 bytes at @at. */
void flat_set(struct buffer *b, size_t at, uint64_t v);

#endif
