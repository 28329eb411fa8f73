/* SPDX-License-Identifier: MIT */
#include <coeval/out.h>
#include "core/out_keep.h"
#include "core/utf8.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cvl_out_init(struct cvl_out *o, int fd, const char *path)
{
	o->fd = fd;
	o->own = false;
	o->closed = false;
	o->plain = fd == STDOUT_FILENO;
	o->n_tail = 0;
	o->error = 0;
	o->path = path;
	o->n = 0;
	o->kept = NULL;
	o->n_kept = o->kept_room = 0;
}

#define KEEP (-2) /* in place of a descriptor */

void out_keep(struct cvl_out *o, bool plain)
{
	cvl_out_init(o, KEEP, "memory");
	o->plain = plain;
}

int cvl_out_open(struct cvl_out *o, const char *path, struct cvl_error *err)
{
	int fd;

	if (!path || !strcmp(path, "-")) {
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		o->plain = isatty(STDOUT_FILENO) == 1;
		return 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return cvl_fail_errno(err, "create", path);
	cvl_out_init(o, fd, path);
	o->own = true;
	return 0;
}

static void keep(struct cvl_out *o, const char *p, size_t n)
{
	if (!n) /* there may be no room at all */
		return;
	if (o->kept_room - o->n_kept < n) {
		const size_t room = 2 * o->kept_room + n;
		char *grown = realloc(o->kept, room);

		if (!grown) {
			o->error = ENOMEM;
			return;
		}
		o->kept = grown;
		o->kept_room = room;
	}
	memcpy(o->kept + o->n_kept, p, n);
	o->n_kept += n;
}

static void write_all(struct cvl_out *o, const char *p, size_t n)
{
	if (o->fd == KEEP) {
		keep(o, p, n);
		return;
	}
	while (n && !o->error && !o->closed) {
		ssize_t put = write(o->fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EPIPE) {
			o->closed = true;
		} else if (put < 0) {
			o->error = errno;
		} else {
			p += put;
			n -= (size_t)put;
		}
	}
}

/* ---- text for people ---- */

/* Letters of the C escapes of the first characters; '.': none. */
static const char escapes[] = "0......abtnvfr.............e....";

static bool is_control(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	return *c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
}

/* Length of the character at @s if it needs no escape, else 0. */
static size_t plain_length(const char *s, size_t n, bool in_name)
{
	size_t len = utf8_length(s, n);

	if (!len || !is_control(s))
		return len;
	return !in_name && (*s == '\n' || *s == '\t') ? 1 : 0;
}

static char *escape(char *w, unsigned char c)
{
	*w++ = '\\';
	if (c && c < 32 && escapes[c] != '.') {
		*w++ = escapes[c];
		return w;
	}
	*w++ = 'x';
	*w++ = "0123456789abcdef"[c >> 4];
	*w++ = "0123456789abcdef"[c & 15];
	return w;
}

/* Escape @n bytes into @to, which has four times the room. Returns the end. */
static char *make_plain(char *to, const char *s, size_t n, bool in_name)
{
	for (size_t i = 0; i < n;) {
		size_t len = plain_length(s + i, n - i, in_name), bad = utf8_length(s + i, n - i);

		memcpy(to, s + i, len);
		to += len;
		i += len;
		for (bad = len ? 0 : bad ? bad : 1; bad; bad--)
			to = escape(to, (unsigned char)s[i++]);
	}
	return to;
}

void cvl_text_name(char *to, const char *s)
{
	*make_plain(to, s, strlen(s), true) = '\0';
}

typedef int8_t chars __attribute__((vector_size(16)));

/* Whether all is ASCII that needs no escape: the usual case. */
static bool is_plain(const char *s, size_t n)
{
	chars bad = { 0 };
	uint64_t half[2];

	for (; n >= sizeof(chars); s += sizeof(chars), n -= sizeof(chars)) {
		chars c;

		memcpy(&c, s, sizeof(c));
		/* what is not ASCII is negative */
		bad |= ((c < ' ') & (c != '\n') & (c != '\t')) | (c == 0x7f);
	}
	memcpy(half, &bad, sizeof(half));
	for (; n; s++, n--)
		half[0] |= !plain_length(s, 1, false);
	return !(half[0] | half[1]);
}

void cvl_out_name(struct cvl_out *o, const char *s)
{
	char safe[4 * 64];
	size_t n = strlen(s), part;

	if (is_plain(s, n) && !memchr(s, '\n', n) && !memchr(s, '\t', n)) {
		cvl_out_bytes(o, s, n);
		return;
	}
	for (; n; s += part, n -= part) {
		part = n < 64 ? n : 64;
		while (part < n && part > 60 && ((unsigned char)s[part] & 0xc0) == 0x80)
			part--; /* whole characters */
		cvl_out_bytes(o, safe, (size_t)(make_plain(safe, s, part, true) - safe));
	}
}

/* Bytes at the end of @s that may be an incomplete character. */
static size_t cut_off(const char *s, size_t n)
{
	for (size_t k = 1; k <= 3 && k <= n; k++) {
		unsigned char c = (unsigned char)s[n - k];

		if (c >= 0xc2)
			return k < (c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4) ? k : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

static void write_plain(struct cvl_out *o, const char *s, size_t n, bool last)
{
	char part[1024], safe[4 * sizeof(part)];

	while (n || (last && o->n_tail)) {
		size_t have = o->n_tail, more = n < sizeof(part) - have ? n : sizeof(part) - have;

		memcpy(part, o->tail, have);
		memcpy(part + have, s, more);
		have += more;
		s += more;
		n -= more;
		o->n_tail = last && !n ? 0 : (unsigned char)cut_off(part, have);
		have -= o->n_tail;
		memcpy(o->tail, part + have, o->n_tail);
		write_all(o, safe, (size_t)(make_plain(safe, part, have, false) - safe));
	}
}

void cvl_out_drain(struct cvl_out *o)
{
	if (o->plain && (o->n_tail || !is_plain(o->buf, o->n)))
		write_plain(o, o->buf, o->n, false);
	else
		write_all(o, o->buf, o->n);
	o->n = 0;
}

void out_join(struct cvl_out *o, struct cvl_out *part)
{
	cvl_out_drain(part);
	if (part->n_kept) {
		cvl_out_drain(o);
		write_all(o, part->kept, part->n_kept);
	}
	if (part->error && !o->error)
		o->error = part->error;
	part->n_kept = 0;
}

int cvl_out_flush(struct cvl_out *o, struct cvl_error *err)
{
	cvl_out_drain(o);
	write_plain(o, "", 0, true);
	if (!o->error)
		return 0;
	errno = o->error;
	return cvl_fail_errno(err, "write", o->path);
}

int cvl_out_close(struct cvl_out *o, struct cvl_error *err)
{
	int rc = cvl_out_flush(o, err);

	if (o->own && close(o->fd) && !rc)
		rc = cvl_fail_errno(err, "write", o->path);
	o->own = false;
	return rc;
}

void cvl_out_long(struct cvl_out *o, const char *s, size_t n)
{
	while (n) {
		size_t part = n < CVL_OUT_BYTES ? n : CVL_OUT_BYTES;

		memcpy(cvl_out_room(o, part), s, part);
		o->n += part;
		s += part;
		n -= part;
	}
}

/* How many decimal digits @v has; one for 0. */
static inline unsigned count_digits(uint64_t v)
{
	static const uint64_t power[] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	/* 1233 / 4096 is log10(2), from below */
	unsigned guess = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return guess + (v >= power[guess]);
}

/*
 * Eight decimal digits of @v, which is below 10^8, one per byte, the first in the lowest: halves,
 * quarters and digits are split in all lanes of the word at once. The factors are 1/100 and 1/10,
 * exact enough for up to 9999 and 99.
 */
static inline uint64_t eight_digits(uint64_t v)
{
	uint64_t x = v / 10000 | v % 10000 << 32, high;

	high = (x * 5243 >> 19) & 0x0000007f0000007fu;
	x = high | (x - high * 100) << 16;
	high = (x * 103 >> 10) & 0x000f000f000f000fu;
	return high | (x - high * 10) << 8;
}

static inline void store_digits(char *w, uint64_t digits)
{
	digits = htole64(digits + 0x3030303030303030u);
	memcpy(w, &digits, 8);
}

static const char pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/*
 * More than eight digits. Separate from the far more frequent short ones, which then need no
 * registers saved.
 */
static __attribute__((noinline)) char *text_long(char *w, uint64_t v)
{
	w = cvl_text_u64(w, v / 100000000);
	store_digits(w, eight_digits(v % 100000000));
	return w + 8;
}

char *cvl_text_u64(char *w, uint64_t v)
{
	unsigned n;

	if (v < 100) {
		unsigned one = v < 10;

		memcpy(w, pairs + 2 * v + one, 2);
		return w + 2 - one;
	}
	if (v >= 100000000)
		return text_long(w, v);
	n = count_digits(v);
	store_digits(w, eight_digits(v) >> (64 - 8 * n));
	return w + n;
}

char *cvl_text_i64(char *w, int64_t v)
{
	*w = '-';
	return v < 0 ? cvl_text_u64(w + 1, 0 - (uint64_t)v) : cvl_text_u64(w, (uint64_t)v);
}

void cvl_out_u64(struct cvl_out *o, uint64_t v)
{
	cvl_out_to(o, cvl_text_u64(cvl_out_room(o, CVL_OUT_NUMBER), v));
}

void cvl_out_i64(struct cvl_out *o, int64_t v)
{
	cvl_out_to(o, cvl_text_i64(cvl_out_room(o, CVL_OUT_NUMBER), v));
}

/* Eight digits of @v in base 16, as eight_digits(). */
static inline uint64_t eight_hex(uint32_t v)
{
	uint64_t x = __builtin_bswap32(v);

	x = (x | x << 16) & 0x0000ffff0000ffffu;
	x = (x | x << 8) & 0x00ff00ff00ff00ffu;
	return (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0fu;
}

/* As store_digits(); digits from ten on are seven characters further. */
static inline void store_hex(char *w, uint64_t digits)
{
	store_digits(w, digits + ((digits + 0x0606060606060606u) >> 4 & 0x0101010101010101u) * 7);
}

char *cvl_text_hex(char *w, uint64_t v)
{
	uint64_t digits, zeros;

	if (v >> 32)
		w = cvl_text_hex(w, v >> 32);
	digits = eight_hex((uint32_t)v);
	if (v >> 32) {
		store_hex(w, digits);
		return w + 8;
	}
	zeros = (uint64_t)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
	store_hex(w, digits >> 8 * zeros);
	return w + 8 - zeros;
}

void cvl_out_base(struct cvl_out *o, uint64_t v, unsigned base)
{
	unsigned shift = (unsigned)__builtin_ctz(base),
		 n = (63 - (unsigned)__builtin_clzll(v | 1)) / shift + 1;
	char *w = cvl_out_room(o, 64);

	for (unsigned i = n; i-- > 0; v >>= shift)
		w[i] = "01234567"[v & (base - 1)];
	o->n += n;
}

void cvl_out_double(struct cvl_out *o, double v)
{
	char text[40];

	for (int precision = 6; precision <= 17; precision += precision < 15 ? 9 : 2) {
		snprintf(text, sizeof(text), "%.*g", precision, v);
		if (!isfinite(v) || strtod(text, NULL) == v)
			break;
	}
	cvl_out_text(o, text);
}

void cvl_out_time(struct cvl_out *o, struct cvl_time t, size_t width)
{
	uint64_t abs = t.ns < 0 ? 0 - (uint64_t)t.ns : (uint64_t)t.ns, whole = abs / 1000000000u;
	uint64_t fraction = abs - whole * 1000000000u;
	size_t n = count_digits(whole) + (t.ns < 0) + 10;
	char *w = cvl_out_room(o, 64 + CVL_OUT_NUMBER);

	if (n < width) {
		memset(w, ' ', 64);
		w += (width < 64 ? width : 64) - n;
	}
	*w = '-';
	w = cvl_text_u64(w + (t.ns < 0), whole);
	*w++ = '.';
	*w++ = (char)('0' + fraction / 100000000);
	store_digits(w, eight_digits(fraction % 100000000));
	cvl_out_to(o, w + 8);
}

/* Whether none of eight characters needs an escape; @ascii: nor is any beyond ASCII. */
static inline bool plain8(uint64_t x, bool ascii)
{
	const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
	uint64_t del = x ^ ones * 127, quote = x ^ ones * '"', slash = x ^ ones * '\\';
	/*
	 * (y - ones * n) & ~y has a top bit set if and only if some byte of y is below n, which is
	 * at most 128
	 */
	uint64_t found = ((x - ones * 32) & ~x) | ((del - ones) & ~del) |
			 ((quote - ones) & ~quote) | ((slash - ones) & ~slash);

	return !((ascii ? found | x : found) & tops);
}

/*
 * Copy up to 16 characters to @w, as two halves that may overlap, so that no loop depends on their
 * number. Returns false if one of them needs an escape.
 */
static inline bool copy_plain(char *w, const char *s, size_t n, bool ascii)
{
	uint64_t head = 0x2020202020202020u, tail;
	uint32_t four[2];

	if (n >= 8) {
		memcpy(&head, s, 8);
		memcpy(&tail, s + n - 8, 8);
		memcpy(w, &head, 8);
		memcpy(w + n - 8, &tail, 8);
		return plain8(head, ascii) && plain8(tail, ascii);
	}
	if (n >= 4) {
		memcpy(&four[0], s, 4);
		memcpy(&four[1], s + n - 4, 4);
		memcpy(w, &four[0], 4);
		memcpy(w + n - 4, &four[1], 4);
		return plain8((uint64_t)four[0] << 32 | four[1], ascii);
	}
	memcpy(&head, s, n);
	memcpy(w, s, n);
	return plain8(head, ascii);
}

void cvl_out_quoted(struct cvl_out *o, const char *s, size_t n)
{
	char *w = cvl_out_room(o, 16 + 2);

	if (n <= 16 && copy_plain(w + 1, s, n, false)) {
		w[0] = w[n + 1] = '"';
		o->n += n + 2;
		return;
	}
	cvl_out_char(o, '"');
	for (size_t i = 0, plain = 0; i <= n; i++) {
		unsigned char c = i < n ? (unsigned char)s[i] : 0;

		if (c >= 32 && c != 127 && c != '"' && c != '\\')
			continue;
		cvl_out_bytes(o, s + plain, i - plain);
		plain = i + 1;
		if (i == n)
			break;
		if (c == '"' || c == '\\')
			cvl_out_printf(o, "\\%c", c);
		else if (c < 32 && escapes[c] != '.')
			cvl_out_printf(o, "\\%c", escapes[c]);
		else
			cvl_out_printf(o, "\\x%02x", c);
	}
	cvl_out_char(o, '"');
}

void cvl_out_json(struct cvl_out *o, const char *s, size_t n)
{
	char *w = cvl_out_room(o, 16 + 2);
	size_t done = 0;

	if (n <= 16 && copy_plain(w + 1, s, n, true)) {
		w[0] = w[n + 1] = '"';
		o->n += n + 2;
		return;
	}
	cvl_out_char(o, '"');
	for (size_t i = 0; i < n;) {
		const unsigned char c = (unsigned char)s[i];
		const size_t len = c >= 32 && c < 0x80 ? 1 : utf8_length(s + i, n - i);

		if (len && c >= 32 && c != '"' && c != '\\') {
			i += len;
			continue;
		}
		cvl_out_bytes(o, s + done, i - done);
		if (!len)
			cvl_out_text(o, "\\ufffd");
		else if (c < 32)
			cvl_out_printf(o, "\\u%04x", c);
		else
			cvl_out_printf(o, "\\%c", c);
		done = i += 1;
	}
	cvl_out_bytes(o, s + done, n - done);
	cvl_out_char(o, '"');
}

/*
 * XML 1.0, section 2.2: no controls but tab and the ends of lines, nor U+FFFE and U+FFFF. U+0080 to
 * U+009F are controls, too.
 */
static bool is_xml(const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;

	return len && (c >= ' ' || c == '\t' || c == '\n' || c == '\r') && c != 0x7f &&
	       !(c == 0xc2 && (unsigned char)s[1] < 0xa0) &&
	       memcmp(s, "\xef\xbf\xbe", len < 3 ? 1 : 3) != 0 &&
	       memcmp(s, "\xef\xbf\xbf", len < 3 ? 1 : 3) != 0;
}

void cvl_out_xml(struct cvl_out *o, const char *s)
{
	for (size_t n = strlen(s); n;) {
		size_t len = utf8_length(s, n);

		if (!is_xml(s, len))
			cvl_out_text(o, "\xef\xbf\xbd");
		else if (strchr("&<>\"\t\n\r", *s))
			cvl_out_printf(o, "&#%d;", *s);
		else
			cvl_out_bytes(o, s, len);
		len = len ? len : 1;
		s += len;
		n -= len;
	}
}

void cvl_out_printf(struct cvl_out *o, const char *fmt, ...)
{
	char *room = cvl_out_room(o, 1024);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room, 1024, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->n += (size_t)n < 1024 ? (size_t)n : 1023;
}

static void put_quoted(struct cvl_out *o, const char *front, const char *s, size_t n)
{
	cvl_out_char(o, '"');
	cvl_out_text(o, front);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			cvl_out_char(o, '"');
		cvl_out_char(o, s[i]);
	}
	cvl_out_char(o, '"');
}

void cvl_out_csv_quoted(struct cvl_out *o, const char *s, size_t n)
{
	put_quoted(o, "", s, n);
}

void cvl_out_csv(struct cvl_out *o, const char *s, size_t n)
{
	const char *guard = n && *s && strchr("=+-@\t\r", *s) ? "'" : "";

	if (*guard || memchr(s, '"', n) || memchr(s, ',', n) || memchr(s, '\n', n) ||
	    memchr(s, '\r', n))
		put_quoted(o, guard, s, n);
	else
		cvl_out_bytes(o, s, n);
}
