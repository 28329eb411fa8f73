/* SPDX-License-Identifier: MIT */
/** UTF-8 validation. */
#ifndef CORE_UTF8_H
#define CORE_UTF8_H

#include <stddef.h>

/** Bytes of the UTF-8 sequence at @s, which holds @n > 0 bytes; 0 if there is none (RFC 3629). */
size_t utf8_length(const char *s, size_t n);

#endif
