/* SPDX-License-Identifier: MIT */
/**
 * Bytes in memory that grows. What does not fit because there is no more sets `failed`, to be looked
 * at once at the end; then nothing more is added.
 */
#ifndef TABLE_BUFFER_H
#define TABLE_BUFFER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
	uint8_t *at;
	size_t n, room;
	bool failed;
};

/** Room for @more bytes at b->at + b->n; NULL: there is none. */
static inline uint8_t *buffer_room(struct buffer *b, size_t more)
{
	if (b->failed)
		return NULL;
	if (b->room - b->n < more) {
		const size_t room = b->room + b->room / 2 + more;
		uint8_t *grown = realloc(b->at, room);

		if (!grown) {
			b->failed = true;
			return NULL;
		}
		b->at = grown;
		b->room = room;
	}
	return b->at + b->n;
}

static inline void buffer_put(struct buffer *b, const void *bytes, size_t n)
{
	uint8_t *w = n ? buffer_room(b, n) : NULL;

	if (w) {
		memcpy(w, bytes, n);
		b->n += n;
	}
}

static inline void buffer_byte(struct buffer *b, unsigned byte)
{
	buffer_put(b, &(uint8_t){ (uint8_t)byte }, 1);
}

/** The low @n bytes of @v, the lowest first. */
static inline void buffer_number(struct buffer *b, uint64_t v, size_t n)
{
	v = htole64(v);
	buffer_put(b, &v, n);
}

static inline void buffer_zeros(struct buffer *b, size_t n)
{
	uint8_t *w = n ? buffer_room(b, n) : NULL;

	if (w) {
		memset(w, 0, n);
		b->n += n;
	}
}

static inline void buffer_free(struct buffer *b)
{
	free(b->at);
	*b = (struct buffer){ 0 };
}

#endif
