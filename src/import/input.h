/* SPDX-License-Identifier: MIT */
/**
 * A file or pipe, read sequentially in constant memory.
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

/** How many bytes can be peeked at, and the maximum length of a line. */
#define CVL_INPUT_WINDOW (1u << 20)

/** Open @path, "-" being standard input. */
int cvl_input_open(struct cvl_input **in, const char *path, struct cvl_error *err);
/** Read the rest of the open file, pipe or socket @fd, which is not closed. */
int cvl_input_fd(struct cvl_input **in, int fd, const char *name, struct cvl_error *err);
/** An input over bytes in memory, which must outlive it. */
int cvl_input_memory(struct cvl_input **in, const void *bytes, size_t n, const char *name,
		     struct cvl_error *err);
void cvl_input_close(struct cvl_input *in);

/** Name for messages; "-" is shown as "standard input". */
const char *cvl_input_name(const struct cvl_input *in);
/** Origin to store in a session: the path as given, or the name. */
const char *cvl_input_origin(const struct cvl_input *in);
/** Path as given; NULL: not opened by path. */
const char *cvl_input_path(const struct cvl_input *in);
/** All the bytes of an input in memory; NULL: not in memory. */
const void *cvl_input_bytes(const struct cvl_input *in, size_t *n);
/** The descriptor of a seekable file and the position where reading began; -1: not seekable. */
int cvl_input_file(const struct cvl_input *in, uint64_t *begin);
/**
 * A digest of the size and of one KiB in 64 of what was read so far, to detect that the same file
 * is imported twice. Hashing all of it would cost more than importing it.
 */
void cvl_input_digest(const struct cvl_input *in, char out[CVL_HASH_TEXT]);
/** Bytes consumed so far: the offset that errors carry. */
uint64_t cvl_input_offset(const struct cvl_input *in);
/** Size in bytes, 0 if unknown (a pipe). */
uint64_t cvl_input_size(const struct cvl_input *in);

/**
 * Look at up to CVL_INPUT_WINDOW bytes ahead without consuming them. Waits until at least @want
 * bytes are available or the input ends. Returns how many are available (0 at the end), or a
 * negative code.
 */
ssize_t cvl_input_peek(struct cvl_input *in, size_t want, const unsigned char **bytes,
		       struct cvl_error *err);
/** Consume @n of the bytes last peeked at. */
void cvl_input_skip(struct cvl_input *in, size_t n);

/**
 * Next line without its end ("\n" or "\r\n"), NUL-terminated and valid until the next call. Returns
 * 1, 0 at the end of the input, or a negative code (CVL_E_LIMIT: longer than the window). @offset:
 * of its first byte. @ended: whether a newline followed (false: the file ends in this line). A NUL
 * byte inside is CVL_E_SYNTAX.
 */
int cvl_input_line(struct cvl_input *in, char **line, size_t *len, uint64_t *offset, bool *ended,
		   struct cvl_error *err);

/** Name for a clock: opts->node, or the file name without directory and last suffix. */
void cvl_input_clock_name(const struct cvl_input *in, const struct cvl_import_opts *opts, char *out,
			  size_t size);

/** Report progress each time more of @in is read; reading fails if cancelled. */
void cvl_input_progress(struct cvl_input *in, const struct cvl_progress *progress);

#endif
