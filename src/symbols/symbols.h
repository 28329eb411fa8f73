/* SPDX-License-Identifier: MIT */
/**
 * What lies at an address of a traced program: functions, lines and objects of its ELF file.
 *
 * The file is read once, when it is opened, into sorted arrays; it may change or disappear
 * afterwards. Addresses are those of the program as it runs (virtual addresses). On ARM the lowest
 * bit of a function's address marks Thumb code, and is dropped. Needs elfutils (libdw): without it
 * symbols_open() says what to install.
 *
 * All strings live as long as the struct. Look-ups keep their last answer: one thread at a time.
 */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/error.h>

struct symbols;

/**
 * Read the ELF file @path, of 32 or 64 bits and any machine. Absent or damaged debug information
 * only means that there are no lines. CVL_E_MAGIC: not an ELF file, CVL_E_TRUNCATED and
 * CVL_E_RANGE: damaged, CVL_E_MISSING: no symbols, CVL_E_LIMIT, CVL_E_ENV: no elfutils, CVL_E_IO,
 * CVL_E_NOMEM.
 */
int symbols_open(struct symbols **s, const char *path, struct cvl_error *err);
void symbols_close(struct symbols *s);

/** Function that contains @address, and the offset in it (@offset may be NULL); NULL: none. */
const char *symbols_code(struct symbols *s, uint64_t address, uint64_t *offset);

/**
 * Source line of the instruction at @address; @file is the last component of its name. False:
 * unknown.
 */
bool symbols_line(struct symbols *s, uint64_t address, const char **file, unsigned *line);

/**
 * Object (a variable) that contains @address, and the offset in it (@offset may be NULL); NULL:
 * none.
 */
const char *symbols_data(struct symbols *s, uint64_t address, uint64_t *offset);

/**
 * The object at the only address whose low @n_bits (up to 16) are @low_bits and that belongs to an
 * object at all; NULL if there is none, or more than one. A trace packet carries just 16 bits of a
 * data address. @address: the whole one; both pointers may be NULL.
 */
const char *symbols_data_low(struct symbols *s, unsigned low_bits, unsigned n_bits,
			     uint64_t *address, uint64_t *offset);

/**
 * Handler of exception @number of a Cortex-M: its architectural name up to 15 ("HardFault",
 * "SysTick"), then the function whose address the vector table holds there, or "IRQn". The vector
 * table is found by its names in common start-up code, else at the lowest loaded address.
 */
const char *symbols_exception(struct symbols *s, unsigned number);

/**
 * The architectural names alone, for use without a file: 0 is "Thread" (no exception), NULL from 16
 * on.
 */
const char *symbols_exception_name(unsigned number);

/** Whether @address is in code loaded from the file. */
bool symbols_has_code(struct symbols *s, uint64_t address);

/**
 * Addresses of instructions seen in a trace: an ELF file of another program leaves many of them
 * outside its code.
 */
struct symbols_check {
	uint64_t seen, outside;
	uint64_t first_outside; /* address; valid if outside > 0 */
};

void symbols_check(struct symbols_check *check, struct symbols *s, uint64_t address);

/**
 * False: too many lie outside; @err has CVL_E_MISMATCH and the percentage. The limit is one in a
 * hundred: code in RAM and in the ROM of a chip is rarely more.
 */
bool symbols_check_fits(const struct symbols_check *check, const char *path, struct cvl_error *err);

#endif
