/* SPDX-License-Identifier: MIT */
/** CRC-32C (Castagnoli, reflected 0x82F63B78), as in RFC 3720 appendix B.4. */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** Continue @crc (0 to begin) over @n bytes. */
uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n);

typedef uint32_t cvl_crc32c_fn(uint32_t crc, const void *bytes, size_t n);

/** The same bit by bit: the reference. */
cvl_crc32c_fn cvl_crc32c_plain;

/** Each way that this processor can, the reference first, for tests: returns how many. */
size_t cvl_crc32c_all(cvl_crc32c_fn **fns, size_t max);

#endif
