/* SPDX-License-Identifier: MIT */
/**
 * Intel HEX, as far as 8051 compilers write it: data and end records (types 0 and 1), 16-bit
 * addresses. Pure.
 */
#ifndef DRIVERS_FX2_IHX_H
#define DRIVERS_FX2_IHX_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

/** Program memory of the FX2LP: 16 KiB from address 0 (EZ-USB TRM, section 5.2). */
#define FX2_RAM 16384

/** What lies in program memory from address 0 on; bytes that no record names are 0. */
struct fx2_program {
	uint8_t byte[FX2_RAM];
	size_t n; /* one past the last byte named */
};

/**
 * Parse the @n characters of @text, called @name in messages. CVL_E_SYNTAX, CVL_E_CHECKSUM,
 * CVL_E_RANGE (an address outside of program memory), CVL_E_UNSUPPORTED (another type of record),
 * CVL_E_TRUNCATED (no end record), each with the offset of the record.
 */
int fx2_ihx_parse(struct fx2_program *program, const char *text, size_t n, const char *name,
		  struct cvl_error *err);

#endif
