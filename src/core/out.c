/* SPDX-License-Identifier: MIT */
#include "core/out.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void out_init(struct out *o, int fd, const char *path)
{
	o->fd = fd;
	o->own = false;
	o->closed = false;
	o->error = 0;
	o->path = path;
	o->n = 0;
}

int out_open(struct out *o, const char *path, struct cvl_error *err)
{
	int fd;

	if (!path || !strcmp(path, "-")) {
		out_init(o, STDOUT_FILENO, "standard output");
		return 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return cvl_fail_errno(err, "create", path);
	out_init(o, fd, path);
	o->own = true;
	return 0;
}

void out_drain(struct out *o)
{
	const char *p = o->buf;

	while (o->n && !o->error && !o->closed) {
		ssize_t put = write(o->fd, p, o->n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EPIPE) {
			o->closed = true;
		} else if (put < 0) {
			o->error = errno;
		} else {
			p += put;
			o->n -= (size_t)put;
		}
	}
	o->n = 0;
}

int out_flush(struct out *o, struct cvl_error *err)
{
	out_drain(o);
	if (!o->error)
		return 0;
	errno = o->error;
	return cvl_fail_errno(err, "write", o->path);
}

int out_close(struct out *o, struct cvl_error *err)
{
	int rc = out_flush(o, err);

	if (o->own && close(o->fd) && !rc)
		rc = cvl_fail_errno(err, "write", o->path);
	o->own = false;
	return rc;
}

void out_long(struct out *o, const char *s, size_t n)
{
	while (n) {
		size_t part = n < OUT_BYTES ? n : OUT_BYTES;

		memcpy(out_room(o, part), s, part);
		o->n += part;
		s += part;
		n -= part;
	}
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
			    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

/* Digits of @v, written so that they end before @end. Returns where they begin. */
static char *digits_before(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * v, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

/* How many decimal digits @v has; one for 0. */
static inline unsigned count_digits(uint64_t v)
{
	static const uint64_t power[] = {
		0,		 10,		   100,		      1000,		 10000,
		100000,		 1000000,	   10000000,	      100000000,	 1000000000,
		10000000000,	 100000000000,	   1000000000000,     10000000000000,	 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000, 10000000000000000000u,
	};
	/* 1233 / 4096 is log10(2), from below */
	unsigned guess = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return guess + (v >= power[guess]);
}

/* Digits are written where they stay: copying what was just stored in pieces is slow. */
void out_u64(struct out *o, uint64_t v)
{
	char *w = out_room(o, 20);
	unsigned n = count_digits(v);

	digits_before(w + n, v);
	o->n += n;
}

void out_i64(struct out *o, int64_t v)
{
	if (v < 0)
		out_char(o, '-');
	out_u64(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void out_base(struct out *o, uint64_t v, unsigned base)
{
	char text[64], *s = text + sizeof(text);

	do {
		*--s = "0123456789ABCDEF"[v % base];
		v /= base;
	} while (v);
	out_bytes(o, s, (size_t)(text + sizeof(text) - s));
}

void out_double(struct out *o, double v)
{
	char text[40];

	for (int precision = 6; precision <= 17; precision += precision < 15 ? 9 : 2) {
		snprintf(text, sizeof(text), "%.*g", precision, v);
		if (!isfinite(v) || strtod(text, NULL) == v)
			break;
	}
	out_text(o, text);
}

void out_time(struct out *o, struct cvl_time t, size_t width)
{
	uint64_t abs = t.ns < 0 ? 0 - (uint64_t)t.ns : (uint64_t)t.ns, whole = abs / 1000000000u;
	uint32_t f = (uint32_t)(abs - whole * 1000000000u);
	unsigned n = count_digits(whole) + (t.ns < 0) + 10, pad = width > n && width < 64 ? (unsigned)width - n : 0;
	char *w = out_room(o, 96), *s;

	for (unsigned i = 0; i < pad; i++)
		w[i] = ' ';
	w += pad;
	w[0] = '-'; /* overwritten by a digit if there is no sign */
	s = w + n - 9;
	digits_before(s - 1, whole);
	s[-1] = '.';
	memcpy(s + 7, pairs + 2 * (f % 100), 2);
	f /= 100;
	memcpy(s + 5, pairs + 2 * (f % 100), 2);
	f /= 100;
	memcpy(s + 3, pairs + 2 * (f % 100), 2);
	f /= 100;
	memcpy(s + 1, pairs + 2 * (f % 100), 2);
	s[0] = (char)('0' + f / 100);
	o->n += pad + n;
}

void out_quoted(struct out *o, const char *s, size_t n)
{
	static const char names[] = "0......abtnvfr.............e....";

	out_char(o, '"');
	for (size_t i = 0, plain = 0; i <= n; i++) {
		unsigned char c = i < n ? (unsigned char)s[i] : 0;

		if (c >= 32 && c != 127 && c != '"' && c != '\\')
			continue;
		out_bytes(o, s + plain, i - plain);
		plain = i + 1;
		if (i == n)
			break;
		if (c == '"' || c == '\\')
			out_printf(o, "\\%c", c);
		else if (c < 32 && names[c] != '.')
			out_printf(o, "\\%c", names[c]);
		else
			out_printf(o, "\\x%02x", c);
	}
	out_char(o, '"');
}

/* Length of the UTF-8 sequence at @s, 0 if there is none (RFC 3629). */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3
								     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
												   : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

void out_json(struct out *o, const char *s, size_t n)
{
	out_char(o, '"');
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)s[i];
		size_t len = utf8_length((const unsigned char *)s + i, n - i);

		if (!len)
			out_text(o, "\\ufffd");
		else if (c == '"' || c == '\\')
			out_printf(o, "\\%c", c);
		else if (c < 32)
			out_printf(o, "\\u%04x", c);
		else
			out_bytes(o, s + i, len);
		i += len ? len : 1;
	}
	out_char(o, '"');
}

void out_printf(struct out *o, const char *fmt, ...)
{
	char *room = out_room(o, 1024);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room, 1024, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->n += (size_t)n < 1024 ? (size_t)n : 1023;
}
