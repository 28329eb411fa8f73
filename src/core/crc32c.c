/* SPDX-License-Identifier: MIT */
#include "core/crc32c.h"

#include <string.h>

#define POLY 0x82f63b78u

uint32_t cvl_crc32c_plain(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		for (int k = 0; k < 8; k++)
			crc = (crc >> 1) ^ (POLY & (0u - (crc & 1)));
	}
	return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t crc, const void *bytes,
							    size_t n)
{
	const uint8_t *p = bytes;
	uint64_t c = ~crc;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		c = _mm_crc32_u64(c, word);
	}
	while (n--)
		c = _mm_crc32_u8((uint32_t)c, *p++);
	return ~(uint32_t)c;
}

uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	return __builtin_cpu_supports("sse4.2") ? crc_sse42(crc, bytes, n) :
						  cvl_crc32c_plain(crc, bytes, n);
}
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		crc = __crc32cd(crc, word);
	}
	while (n--)
		crc = __crc32cb(crc, *p++);
	return ~crc;
}
#else
uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	return cvl_crc32c_plain(crc, bytes, n);
}
#endif
