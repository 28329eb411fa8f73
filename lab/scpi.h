/* SPDX-License-Identifier: MIT */
/**
 * SCPI (IEEE 488.2): lines out; lines or blocks of bytes in. The upper half talks to an instrument
 * by a channel, the lower half is pure.
 */
#ifndef LAB_SCPI_H
#define LAB_SCPI_H

#include "lab/channel.h"

#define SCPI_TEXT 65536        /* longest answer in text */
#define SCPI_BLOCK (64u << 20) /* longest block */
#define SCPI_IDENTITY 128

struct scpi {
	struct channel *channel;
	int64_t timeout_ms;      /* for an answer to begin, and between two parts of it */
	const char *error_query; /* "SYST:ERR?", or "" if it has none */
};

/** Send @line. Fails as channel_write() does. */
int scpi_send(struct scpi *s, const char *line, struct cvl_error *err);

/**
 * Send @line and read the answer's line, without its end, into @text of @size. CVL_E_ENV if none
 * comes, CVL_E_LIMIT if it is longer.
 */
int scpi_ask(struct scpi *s, const char *line, char *text, size_t size, struct cvl_error *err);

/**
 * Send @line and read a block, whose bytes go to *@bytes, to be freed. @expect: bytes of a block of
 * unknown length (#0), 0: none may come. CVL_E_TRUNCATED if it ends early, with the length
 * received; CVL_E_SYNTAX if it is not a block.
 */
int scpi_ask_block(struct scpi *s, const char *line, size_t expect, unsigned char **bytes,
		   size_t *n, struct cvl_error *err);

/**
 * Empty the instrument's error queue. CVL_E_MISMATCH with its content if it was not empty; @after
 * is the command to blame.
 */
int scpi_check(struct scpi *s, const char *after, struct cvl_error *err);

/** Discard errors and unexpected answers. */
int scpi_clear(struct scpi *s, struct cvl_error *err);

/**
 * Read the head of a definite (#512345...) or indefinite (#0...) block at @bytes. Returns its
 * length in bytes, 0 if more bytes are needed, CVL_E_SYNTAX if invalid, CVL_E_LIMIT if longer than
 * SCPI_BLOCK. *@length: of the data; SIZE_MAX: unknown.
 */
int scpi_block_head(const void *bytes, size_t n, size_t *length);

/**
 * A single number; @text may also contain blanks and a unit of letters. CVL_E_SYNTAX; CVL_E_RANGE
 * for SCPI's 9.9e37, "not a number".
 */
int scpi_number(const char *text, double *value, const char *name, struct cvl_error *err);

/**
 * Numbers separated by commas into @value of @max. Returns how many, or CVL_E_SYNTAX, CVL_E_LIMIT.
 */
int scpi_numbers(const char *text, double *value, size_t max, const char *name,
		 struct cvl_error *err);

/** An answer to SYST:ERR?, such as `-113,"Undefined header"`: its number, or CVL_E_SYNTAX. */
int scpi_error(const char *text, long *number);

#endif
