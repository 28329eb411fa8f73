/* SPDX-License-Identifier: MIT */
/**
 * What lies at an address of a traced program: functions, lines and objects of its ELF file.
 *
 * The file is read once, when it is opened, into sorted arrays; it may change or go afterwards.
 * Addresses are those of the program as it runs (virtual addresses). The lowest bit of a function's
 * address tells Thumb code on ARM, and is left out there. Needs elfutils (libdw): without it
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
 * Read the ELF file @path, of 32 or 64 bits and any machine. Debug information that is absent or
 * damaged leaves the lines out; the rest is there. CVL_E_MAGIC: no ELF file, CVL_E_TRUNCATED and
 * CVL_E_RANGE: a damaged one, CVL_E_MISSING: it has no symbols, CVL_E_LIMIT, CVL_E_ENV: no
 * elfutils, CVL_E_IO, CVL_E_NOMEM.
 */
int symbols_open(struct symbols **s, const char *path, struct cvl_error *err);
void symbols_close(struct symbols *s);

/** Function that holds @address, and where in it (@offset may be NULL); NULL: none. */
const char *symbols_code(struct symbols *s, uint64_t address, uint64_t *offset);

/**
 * Source line of the instruction at @address; @file is the last component of its name. False: not
 * known.
 */
bool symbols_line(struct symbols *s, uint64_t address, const char **file, unsigned *line);

/** Object (a variable) that holds @address, and where in it (@offset may be NULL); NULL: none. */
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
 * table is looked for by its names in common start-up code, else at the lowest loaded address.
 */
const char *symbols_exception(struct symbols *s, unsigned number);

/**
 * The architectural names alone, for those who have no file: 0 is "Thread" (no exception), NULL
 * from 16 on.
 */
const char *symbols_exception_name(unsigned number);

/** Whether @address lies in what the file loads as code. */
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
 * False: CVL_E_MISMATCH in @err says the share that lies outside. More than one in a hundred is too
 * much: code in RAM and in the ROM of a chip is seldom more.
 */
bool symbols_check_fits(const struct symbols_check *check, const char *path, struct cvl_error *err);

#endif
