/* SPDX-License-Identifier: MIT */
/**
 * Writes the Protocol Buffers wire format: fields in sequence in memory of fixed size
 * (protobuf.dev, "Encoding"). A field that does not fit is left out completely, and sets `full`.
 */
#ifndef PB_H
#define PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pb {
	uint8_t *buf; /* owned by the caller */
	size_t n, cap;
	bool full; /* something was left out */
};

/**
 * Field @field of type uint64, uint32, int64, enum or bool; negative numbers as their two's
 * complement.
 */
void pb_u64(struct pb *p, unsigned field, uint64_t v);
/** Of type fixed64. */
void pb_fixed64(struct pb *p, unsigned field, uint64_t v);
void pb_double(struct pb *p, unsigned field, double v);
/** The head of a field of @n bytes, which the caller writes. */
void pb_head(struct pb *p, unsigned field, size_t n);
void pb_bytes(struct pb *p, unsigned field, const void *bytes, size_t n);
/** Of type string: @s, with every invalid UTF-8 byte replaced by U+FFFD. */
void pb_text(struct pb *p, unsigned field, const char *s, size_t n);

/** Begin a field that is a message; its own fields follow. Returns the argument for pb_end(). */
size_t pb_begin(struct pb *p, unsigned field);
void pb_end(struct pb *p, size_t begun);

/** Take back everything from @n on. */
static inline void pb_cut(struct pb *p, size_t n)
{
	p->n = n;
	p->full = false;
}

#endif
