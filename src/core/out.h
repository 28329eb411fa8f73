/* SPDX-License-Identifier: MIT */
/**
 * Buffered text output for those who write millions of lines: no locks, no formats, one write(2) for each
 * 64 KiB. Errors are kept until out_close() or out_flush(); a reader that closed the pipe is not one.
 *
 * Names and texts come from files that anybody wrote. On standard output nothing of them reaches a terminal as a command: see `plain`. In
 * a line of text names go through out_name(), in CSV through out_csv(), in JSON, XML and quotes through theirs.
 */
#ifndef CORE_OUT_H
#define CORE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <coeval/error.h>
#include <coeval/time.h>

#define OUT_BYTES 65536

struct out {
	int fd;
	bool own;    /* close it */
	bool closed; /* the reader is gone: everything is thrown away from now on */
	bool plain; /* text for people: control characters but tab and newline, and what is no UTF-8, are escaped as C does */
	unsigned char n_tail;
	char tail[4]; /* begin of a character whose rest has not come yet */
	int error;    /* first errno of a failed write */
	const char *path;
	size_t n;
	char buf[OUT_BYTES];
};

/** Write to @fd, called @path in messages; plainly to standard output. */
void out_init(struct out *o, int fd, const char *path);

/** Create @path ("-" or NULL: standard output, plainly if that is a terminal). The path must outlive @o. */
int out_open(struct out *o, const char *path, struct cvl_error *err);

void out_drain(struct out *o);

/** Write what is pending. CVL_E_IO if anything could not be written so far. */
int out_flush(struct out *o, struct cvl_error *err);

/** out_flush(), and close the file if out_open() made it. */
int out_close(struct out *o, struct cvl_error *err);

/** Room for @n bytes (at most OUT_BYTES) at o->buf + o->n. */
static inline char *out_room(struct out *o, size_t n)
{
	if (OUT_BYTES - o->n < n)
		out_drain(o);
	return o->buf + o->n;
}

static inline void out_char(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->n++;
}

/** For what does not fit at once. */
void out_long(struct out *o, const char *s, size_t n);

static inline void out_bytes(struct out *o, const char *s, size_t n)
{
	if (OUT_BYTES - o->n < n) {
		out_long(o, s, n);
		return;
	}
	memcpy(o->buf + o->n, s, n);
	o->n += n;
}

/** The same from memory that may be read up to OUT_SLACK bytes past its end: copied in whole blocks, without a call. */
#define OUT_SLACK 31

static inline void out_slack(struct out *o, const char *s, size_t n)
{
	char *w;

	if (OUT_BYTES - o->n < n + OUT_SLACK) {
		out_long(o, s, n);
		return;
	}
	w = o->buf + o->n;
	for (size_t i = 0; i < n; i += OUT_SLACK + 1)
		memcpy(w + i, s + i, OUT_SLACK + 1);
	o->n += n;
}

static inline void out_text(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

/** Room that text_u64() and the like need: they may overwrite some bytes behind what they write. */
#define OUT_NUMBER 32

/** @v in decimal at @w. Returns where it ends, to go on there without touching @o: see out_to(). */
char *text_u64(char *w, uint64_t v);
char *text_i64(char *w, int64_t v);
/** In base 16, in capitals, without prefix. */
char *text_hex(char *w, uint64_t v);

/** Everything up to @w, which lies in the room that out_room() gave, is written. */
static inline void out_to(struct out *o, const char *w)
{
	o->n = (size_t)(w - o->buf);
}

void out_u64(struct out *o, uint64_t v);
void out_i64(struct out *o, int64_t v);
/** In base 2 or 8, without prefix. */
void out_base(struct out *o, uint64_t v, unsigned base);
/** Shortest of %.17g and less that reads back as the same double; "nan" and "inf" as such. */
void out_double(struct out *o, double v);
/** Seconds with nine decimals, padded with blanks on the left to @width. */
void out_time(struct out *o, struct cvl_time t, size_t width);
/** @s in double quotes, escaped as C does (for JSON: out_json). */
void out_quoted(struct out *o, const char *s, size_t n);
/** @s as part of a line of text: control characters, line ends with them, and what is no UTF-8 are escaped as C does. */
void out_name(struct out *o, const char *s);
/** The same into @to, which has room for 4 * strlen(@s) + 1 bytes. */
void text_name(char *to, const char *s);
/** @s within XML 1.0, in text or quotes; bytes that are no UTF-8, and what XML cannot hold, become U+FFFD. */
void out_xml(struct out *o, const char *s);
/**
 * @s as a cell of CSV: as it is, or in double quotes with those in it doubled if it holds a comma, a quote or a line's end. What a spreadsheet
 * would take for a formula (it begins with = + - @, tab or CR) gets a ' in front, and quotes.
 */
void out_csv(struct out *o, const char *s, size_t n);
/** The same, in quotes whatever it holds. */
void out_csv_quoted(struct out *o, const char *s, size_t n);
/** @s as a JSON string; bytes that are no UTF-8 become U+FFFD. */
void out_json(struct out *o, const char *s, size_t n);
/** printf, for what is not hot; up to 1000 characters. */
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
