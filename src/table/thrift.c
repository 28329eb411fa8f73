/* SPDX-License-Identifier: MIT */
#include "table/thrift.h"

#include <assert.h>

#include "table/packing.h"

enum { TYPE_TRUE = 1, TYPE_FALSE = 2, TYPE_I8 = 3, TYPE_I64 = 6, TYPE_LIST = 9 };

static void varint(struct thrift *t, uint64_t v)
{
	uint8_t *w = buffer_room(t->to, 10);

	if (w)
		t->to->n = (size_t)(pack_varint(w, v) - t->to->at);
}

/* Fields are so near to each other that their distance is in the same byte as their type. */
static void head(struct thrift *t, unsigned field, unsigned type)
{
	unsigned *last = &t->last[t->depth];

	if (!field)
		return;
	assert(field > *last && field - *last < 16);
	buffer_byte(t->to, (field - *last) << 4 | type);
	*last = field;
}

void thrift_i8(struct thrift *t, unsigned field, int8_t v)
{
	head(t, field, TYPE_I8);
	buffer_byte(t->to, (uint8_t)v);
}

void thrift_i32(struct thrift *t, unsigned field, int32_t v)
{
	head(t, field, THRIFT_I32);
	varint(t, pack_zigzag(v));
}

void thrift_i64(struct thrift *t, unsigned field, int64_t v)
{
	head(t, field, TYPE_I64);
	varint(t, pack_zigzag(v));
}

void thrift_bool(struct thrift *t, unsigned field, bool v)
{
	head(t, field, v ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_binary(struct thrift *t, unsigned field, const void *bytes, size_t n)
{
	head(t, field, THRIFT_BINARY);
	varint(t, n);
	buffer_put(t->to, bytes, n);
}

void thrift_text(struct thrift *t, unsigned field, const char *s)
{
	thrift_binary(t, field, s, strlen(s));
}

void thrift_list(struct thrift *t, unsigned field, enum thrift_type type, size_t n)
{
	head(t, field, TYPE_LIST);
	buffer_byte(t->to, (n < 15 ? (unsigned)n : 15) << 4 | type);
	if (n >= 15)
		varint(t, n);
}

void thrift_begin(struct thrift *t, unsigned field)
{
	head(t, field, THRIFT_STRUCT);
	assert(t->depth + 1 < THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	buffer_byte(t->to, 0);
	t->depth--;
}
