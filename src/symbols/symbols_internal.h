/* SPDX-License-Identifier: MIT */
/** What is kept of an ELF file after reading: between its reader and the look-ups. */
#ifndef SYMBOLS_INTERNAL_H
#define SYMBOLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#include "symbols/spans.h"

/** Numbers an exception packet can hold. */
#define SYMBOLS_EXCEPTIONS 512
/** Low bits of an address in a data address packet. */
#define SYMBOLS_LOW_BITS 16

/** The only object at an address with these low bits. */
struct symbols_low {
	int64_t covers; /* addresses with these low bits that an object holds */
	uint64_t sum;   /* of those objects' indices, modulo 2^64: the index if there is one */
	uint64_t high;  /* of those addresses' high parts, likewise */
};

struct symbols {
	struct spans code, data, line,
		text;     /* functions, objects, source lines, executable sections */
	bool thumb;       /* bit 0 is not part of a code address */
	uint32_t *vector; /* words of the vector table, or NULL */
	size_t n_vectors;
	char *exception[SYMBOLS_EXCEPTIONS]; /* generated names: "IRQn" */
	struct symbols_low *low;             /* built on first use */
	unsigned low_bits;
	void *file, *dwarf, *bytes; /* hold the strings */
};

/**
 * Fill an empty @s from the file @path, which is read completely. On failure symbols_close() frees
 * what was filled in.
 */
int symbols_read(struct symbols *s, const char *path, struct cvl_error *err);

/** Read source lines, where possible, from the debug information of s->file. -1: out of memory. */
int symbols_read_lines(struct symbols *s);

/** Free what symbols_read() opened. */
void symbols_release(struct symbols *s);

#endif
