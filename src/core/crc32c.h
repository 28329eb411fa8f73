/* SPDX-License-Identifier: MIT */
/** CRC-32C (Castagnoli, reflected 0x82F63B78), as in RFC 3720 appendix B.4. */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** Continue @crc (0 to begin) over @n bytes. */
uint32_t cvl_crc32c(uint32_t crc, const void *bytes, size_t n);

/** The same bit by bit, for testing the hardware version. */
uint32_t cvl_crc32c_plain(uint32_t crc, const void *bytes, size_t n);

#endif
