/* SPDX-License-Identifier: MIT */
#include "core/sha256.h"

#include <stdint.h>
#include <stdio.h>

void cvl_sha256_digits(struct sha256_ctx *sha, char hex[CVL_SHA256_TEXT])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(sha, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
}

void cvl_sha256(const void *bytes, size_t n, char hex[CVL_SHA256_TEXT])
{
	struct sha256_ctx sha;

	sha256_init(&sha);
	sha256_update(&sha, n, bytes);
	cvl_sha256_digits(&sha, hex);
}
