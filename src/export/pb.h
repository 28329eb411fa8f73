/* SPDX-License-Identifier: MIT */
/**
 * Protocol Buffers wire format, for writing: fields put one after the other into memory of fixed
 * size (protobuf.dev, "Encoding"). What does not fit is left out as a whole field, and said by
 * `full`.
 */
#ifndef PB_H
#define PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pb {
	uint8_t *buf; /* of the caller */
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
void pb_bytes(struct pb *p, unsigned field, const void *bytes, size_t n);
/** Of type string: @s, where every byte that is no UTF-8 becomes U+FFFD. */
void pb_text(struct pb *p, unsigned field, const char *s, size_t n);

/** A field that is a message begins; its own fields follow. Returns what pb_end() wants. */
size_t pb_begin(struct pb *p, unsigned field);
void pb_end(struct pb *p, size_t begun);

/** Take back everything from @n on. */
static inline void pb_cut(struct pb *p, size_t n)
{
	p->n = n;
	p->full = false;
}

#endif
