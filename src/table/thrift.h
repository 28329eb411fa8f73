/* SPDX-License-Identifier: MIT */
/**
 * Writes structures in Thrift's compact protocol (Apache Thrift, "Thrift compact protocol"). Fields
 * come in the order of their numbers. Number 0 is an element of a list, or the structure that is
 * written.
 */
#ifndef TABLE_THRIFT_H
#define TABLE_THRIFT_H

#include "table/buffer.h"

#define THRIFT_DEPTH 8

struct thrift {
	struct buffer *to;
	unsigned depth;
	unsigned last[THRIFT_DEPTH]; /* field of each structure that is open */
};

enum thrift_type { THRIFT_I32 = 5, THRIFT_BINARY = 8, THRIFT_STRUCT = 12 };

void thrift_i8(struct thrift *t, unsigned field, int8_t v);
void thrift_i32(struct thrift *t, unsigned field, int32_t v);
void thrift_i64(struct thrift *t, unsigned field, int64_t v);
void thrift_bool(struct thrift *t, unsigned field, bool v);
void thrift_binary(struct thrift *t, unsigned field, const void *bytes, size_t n);
void thrift_text(struct thrift *t, unsigned field, const char *s);
/** @n elements follow. */
void thrift_list(struct thrift *t, unsigned field, enum thrift_type type, size_t n);
void thrift_begin(struct thrift *t, unsigned field);
void thrift_end(struct thrift *t);

#endif
