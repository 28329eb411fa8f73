/* SPDX-License-Identifier: MIT */
/**
 * A file or a pipe, read once from front to back in constant memory.
 *
 * Errors name the file and the offset.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <coeval/error.h>
#include <coeval/format.h>

#include "store/hash.h"

/** Bytes that can be looked at ahead of reading, and a line's greatest length. */
#define CVL_INPUT_WINDOW (1u << 20)

/** Open @path, "-" being standard input. */
int cvl_input_open(struct cvl_input **in, const char *path, struct cvl_error *err);
/** What is left of the open file, pipe or socket @fd, which is not closed. */
int cvl_input_fd(struct cvl_input **in, int fd, const char *name, struct cvl_error *err);
/** An input over bytes in memory, which must outlive it. */
int cvl_input_memory(struct cvl_input **in, const void *bytes, size_t n, const char *name,
		     struct cvl_error *err);
void cvl_input_close(struct cvl_input *in);

/** Name for messages; "-" is shown as "standard input". */
const char *cvl_input_name(const struct cvl_input *in);
/** What a session keeps as the origin: the path as given, or the name. */
const char *cvl_input_origin(const struct cvl_input *in);
/** Path as given; NULL: it was not opened by one. */
const char *cvl_input_path(const struct cvl_input *in);
/** All the bytes of an input over memory; NULL: it is none. */
const void *cvl_input_bytes(const struct cvl_input *in, size_t *n);
/**
 * The descriptor and where reading it began, of a file that can be read at any place; -1: it
 * cannot.
 */
int cvl_input_file(const struct cvl_input *in, uint64_t *begin);
/**
 * A digest of the size and of one KiB in 64 of what was read so far: who imports the same file
 * twice hardly means it, and reading all of it again for that would cost more than importing it.
 */
void cvl_input_digest(const struct cvl_input *in, char out[CVL_HASH_TEXT]);
/** Bytes consumed so far: the offset that errors carry. */
uint64_t cvl_input_offset(const struct cvl_input *in);
/** Size in bytes, 0 if unknown (a pipe). */
uint64_t cvl_input_size(const struct cvl_input *in);

/**
 * Look at up to CVL_INPUT_WINDOW bytes ahead without consuming them. Waits for data until at least
 * @want bytes are there or the input ends. Returns how many there are (0 at the end), or a negative
 *       code.
 */
ssize_t cvl_input_peek(struct cvl_input *in, size_t want, const unsigned char **bytes,
		       struct cvl_error *err);
/** Consume @n of the bytes last peeked at. */
void cvl_input_skip(struct cvl_input *in, size_t n);

/**
 * Next line without its end ("\n" or "\r\n"), NUL-terminated and valid until the next call. Returns
 * 1, 0 at the end of the input, or a negative code (CVL_E_LIMIT: longer than the window). @offset:
 * of its first byte. @ended: whether a newline was there (false: the file was cut in this line). A
 * NUL byte inside is CVL_E_SYNTAX.
 */
int cvl_input_line(struct cvl_input *in, char **line, size_t *len, uint64_t *offset, bool *ended,
		   struct cvl_error *err);

/** Name for a clock: opts->node, or the file's name without directory and last suffix. */
void cvl_input_clock_name(const struct cvl_input *in, const struct cvl_import_opts *opts, char *out,
			  size_t size);

/**
 * Whom to tell how far @in is, each time that more of it is read, which fails when that is
 * cancelled.
 */
void cvl_input_progress(struct cvl_input *in, const struct cvl_progress *progress);

#endif
