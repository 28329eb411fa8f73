/* SPDX-License-Identifier: MIT */
/** SHA-256 as hexadecimal digits. */
#ifndef CORE_SHA256_H
#define CORE_SHA256_H

#include <stddef.h>

#include <nettle/sha2.h>

#define CVL_SHA256_TEXT 65 /* digits and NUL */

/** Digest of what was added to @sha, which is reset. */
void cvl_sha256_digits(struct sha256_ctx *sha, char hex[CVL_SHA256_TEXT]);

/** Digest of @n bytes. */
void cvl_sha256(const void *bytes, size_t n, char hex[CVL_SHA256_TEXT]);

#endif
