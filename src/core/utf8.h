/* SPDX-License-Identifier: MIT */
/** UTF-8: what is valid, and writing it. */
#ifndef CORE_UTF8_H
#define CORE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Bytes of the UTF-8 sequence at @s, which holds @n > 0 bytes; 0 if there is none (RFC 3629). */
size_t utf8_length(const char *s, size_t n);

/** Write character @c, up to 0x10ffff, to @to. Returns its bytes, 1 to 4. */
size_t utf8_put(char *to, uint32_t c);

#endif
