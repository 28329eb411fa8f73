/* SPDX-License-Identifier: MIT */
/**
 * Buffered text output for millions of lines: no locks, no format strings, one write(2) for each 64
 * KiB. Errors are kept until cvl_out_close() or cvl_out_flush(); a reader that closed the pipe is
 * not an error.
 *
 * Names and texts come from untrusted files. On standard output they cannot send control sequences
 * to a terminal: see `plain`. Write names with cvl_out_name() in text, cvl_out_csv() in CSV, and
 * the corresponding functions in JSON, XML and quotes.
 */
#ifndef COEVAL_OUT_H
#define COEVAL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/time.h>

CVL_BEGIN_DECLS

#define CVL_OUT_BYTES 65536

struct cvl_out {
	int fd;
	bool own;    /* close it */
	bool closed; /* the reader is gone: further output is discarded */
	/*
	 * text for people: control characters except tab and newline, and invalid UTF-8, are
	 * escaped as in C
	 */
	bool plain;
	unsigned char n_tail;
	char tail[4]; /* start of an incomplete character */
	int error;    /* first errno of a failed write */
	/* the library's: what left the buffer of one that writes to memory */
	char *kept;
	size_t n_kept, kept_room;
	const char *path;
	size_t n;
	char buf[CVL_OUT_BYTES];
};

/** Write to @fd, called @path in messages; `plain` for standard output. */
CVL_API void cvl_out_init(struct cvl_out *o, int fd, const char *path);

/**
 * Create @path ("-" or NULL: standard output, `plain` if that is a terminal). The path must outlive
 * @o.
 */
CVL_API int cvl_out_open(struct cvl_out *o, const char *path, struct cvl_error *err);

/** Write what is pending to make room; errors are kept. */
CVL_API void cvl_out_drain(struct cvl_out *o);

/** Write what is pending. CVL_E_IO if anything could not be written so far. */
CVL_API int cvl_out_flush(struct cvl_out *o, struct cvl_error *err);

/** cvl_out_flush(), and close the file if cvl_out_open() created it. */
CVL_API int cvl_out_close(struct cvl_out *o, struct cvl_error *err);

/** Room for @n bytes (at most CVL_OUT_BYTES) at o->buf + o->n. */
static inline char *cvl_out_room(struct cvl_out *o, size_t n)
{
	if (CVL_OUT_BYTES - o->n < n)
		cvl_out_drain(o);
	return o->buf + o->n;
}

static inline void cvl_out_char(struct cvl_out *o, char c)
{
	*cvl_out_room(o, 1) = c;
	o->n++;
}

/** For text that does not fit in the buffer. */
CVL_API void cvl_out_long(struct cvl_out *o, const char *s, size_t n);

static inline void cvl_out_bytes(struct cvl_out *o, const char *s, size_t n)
{
	if (CVL_OUT_BYTES - o->n < n) {
		cvl_out_long(o, s, n);
		return;
	}
	memcpy(o->buf + o->n, s, n);
	o->n += n;
}

/**
 * The same from memory that is readable up to CVL_OUT_SLACK bytes past its end: copied in whole
 * blocks, without a call.
 */
#define CVL_OUT_SLACK 31

static inline void cvl_out_slack(struct cvl_out *o, const char *s, size_t n)
{
	char *w;

	if (CVL_OUT_BYTES - o->n < n + CVL_OUT_SLACK) {
		cvl_out_long(o, s, n);
		return;
	}
	w = o->buf + o->n;
	for (size_t i = 0; i < n; i += CVL_OUT_SLACK + 1)
		memcpy(w + i, s + i, CVL_OUT_SLACK + 1);
	o->n += n;
}

static inline void cvl_out_text(struct cvl_out *o, const char *s)
{
	cvl_out_bytes(o, s, strlen(s));
}

/** Room that cvl_text_u64() and the like need: they may overwrite some bytes after their output. */
#define CVL_OUT_NUMBER 32

/**
 * Write @v in decimal at @w. Returns its end, to continue there without touching @o: see
 * cvl_out_to().
 */
CVL_API char *cvl_text_u64(char *w, uint64_t v);
CVL_API char *cvl_text_i64(char *w, int64_t v);
/** The same in upper-case hexadecimal, without prefix. */
CVL_API char *cvl_text_hex(char *w, uint64_t v);

/** Commit everything up to @w, which is in the room from cvl_out_room(). */
static inline void cvl_out_to(struct cvl_out *o, const char *w)
{
	o->n = (size_t)(w - o->buf);
}

/** @v in decimal. */
CVL_API void cvl_out_u64(struct cvl_out *o, uint64_t v);
CVL_API void cvl_out_i64(struct cvl_out *o, int64_t v);
/** In base 2 or 8, without prefix. */
CVL_API void cvl_out_base(struct cvl_out *o, uint64_t v, unsigned base);
/** Shortest of %.17g and less that parses to the same double; "nan" and "inf" as such. */
CVL_API void cvl_out_double(struct cvl_out *o, double v);
/** Seconds with nine decimals, padded with blanks on the left to @width. */
CVL_API void cvl_out_time(struct cvl_out *o, struct cvl_time t, size_t width);
/** @s in double quotes, escaped as in C (for JSON: cvl_out_json()). */
CVL_API void cvl_out_quoted(struct cvl_out *o, const char *s, size_t n);
/**
 * @s as part of a line of text: control characters, including line ends, and invalid UTF-8 are
 * escaped as in C.
 */
CVL_API void cvl_out_name(struct cvl_out *o, const char *s);
/** The same into @to, which has room for 4 * strlen(@s) + 1 bytes. */
CVL_API void cvl_text_name(char *to, const char *s);
/**
 * @s within XML 1.0, in text or quotes; invalid UTF-8, and what XML cannot hold, becomes U+FFFD.
 */
CVL_API void cvl_out_xml(struct cvl_out *o, const char *s);
/**
 * @s as a CSV cell: unquoted, or in double quotes with its quotes doubled if it holds a comma, a
 * quote or a line end. What a spreadsheet would take for a formula (starting with = + - @, tab or
 * CR) gets a leading ' and quotes.
 */
CVL_API void cvl_out_csv(struct cvl_out *o, const char *s, size_t n);
/** The same, always in quotes. */
CVL_API void cvl_out_csv_quoted(struct cvl_out *o, const char *s, size_t n);
/** @s as a JSON string; invalid UTF-8 becomes U+FFFD. */
CVL_API void cvl_out_json(struct cvl_out *o, const char *s, size_t n);
/** printf, for use off the hot path; up to 1000 characters. */
CVL_API void cvl_out_printf(struct cvl_out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

CVL_END_DECLS

#endif
