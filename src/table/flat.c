/* SPDX-License-Identifier: MIT */
#include "table/flat.h"

static void align(struct buffer *b, size_t to, size_t and)
{
	while (!b->failed && b->n % to != and)
		buffer_byte(b, 0);
}

static void set(struct buffer *b, size_t at, uint64_t v, size_t size)
{
	v = htole64(v);
	if (!b->failed)
		memcpy(b->at + at, &v, size);
}

void flat_set(struct buffer *b, size_t at, uint64_t v)
{
	set(b, at, v, 8);
}

void flat_root(struct buffer *b)
{
	b->n = 0;
	buffer_zeros(b, 4);
}

/* A table begins with how far its list of fields is before it; fields lie by their size. */
void flat_table_at(struct buffer *b, size_t ref, const struct flat_field *field, size_t n,
		   size_t *at)
{
	uint16_t place[FLAT_FIELDS] = { 0 };
	size_t size = 4, list;

	for (size_t i = 0; i < n; i++) {
		if (!field[i].size)
			continue;
		size = (size + field[i].size - 1) / field[i].size * field[i].size;
		place[i] = (uint16_t)size;
		size += field[i].size;
	}
	/* so that the table itself begins at a multiple of 8 */
	align(b, 8, (8 - (4 + 2 * n) % 8) % 8);
	list = b->n;
	buffer_number(b, 4 + 2 * n, 2);
	buffer_number(b, size, 2);
	for (size_t i = 0; i < n; i++)
		buffer_number(b, place[i], 2);
	set(b, ref, b->n - ref, 4);
	for (size_t i = 0; i < n; i++)
		at[i] = b->n + place[i];
	buffer_number(b, b->n - list, 4);
	buffer_zeros(b, size - 4);
	for (size_t i = 0; i < n; i++)
		set(b, at[i], field[i].value, field[i].size);
}

void flat_text_at(struct buffer *b, size_t ref, const char *s)
{
	align(b, 4, 0);
	set(b, ref, b->n - ref, 4);
	buffer_number(b, strlen(s), 4);
	buffer_put(b, s, strlen(s) + 1);
}

size_t flat_vector_at(struct buffer *b, size_t ref, size_t n, size_t size)
{
	align(b, 8, 4);
	set(b, ref, b->n - ref, 4);
	buffer_number(b, n, 4);
	buffer_zeros(b, n * size);
	return b->n - n * size;
}
