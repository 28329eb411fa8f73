/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

/* A decimal number as text: digits, of which the first @whole are before the point. */
struct decimal {
	const char *text;
	size_t point; /* digits before the point, as written */
	size_t digits;
	int64_t whole; /* the same once the exponent is applied; may be out of 0..digits */
	bool negative;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static unsigned digit(const struct decimal *d, int64_t i)
{
	size_t at = (size_t)i;

	if (i < 0 || at >= d->digits)
		return 0;
	return (unsigned)(d->text[at < d->point ? at : at + 1] - '0');
}

static bool parse_decimal(const char *s, struct decimal *d)
{
	/* far beyond any clock's range, and far from overflow */
	const int64_t huge = (int64_t)1 << 40;
	int64_t exp = 0;
	bool exp_negative;

	d->negative = *s == '-';
	if (*s == '-' || *s == '+')
		s++;
	d->text = s;
	while (is_digit(*s))
		s++;
	d->point = d->digits = (size_t)(s - d->text);
	if (*s == '.') {
		s++;
		while (is_digit(*s)) {
			s++;
			d->digits++;
		}
	}
	if (!d->digits)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		exp_negative = *s == '-';
		if (*s == '-' || *s == '+')
			s++;
		if (!is_digit(*s))
			return false;
		for (; is_digit(*s); s++)
			if (exp < huge)
				exp = exp * 10 + (*s - '0');
		if (exp_negative)
			exp = -exp;
	}
	d->whole = (int64_t)d->point + exp;
	return !*s;
}

/*
 * Ticks in the fraction 0.d1 d2 ... dn of a second, cut to a whole tick: by Horner's rule from the
 * last digit, (d1 + (d2 + ...) / 10) * rate / 10. Truncating each division gives the same as
 * cutting once at the end, since only whole numbers are added in between. The fraction that is cut
 * off at the end is a half or more exactly when the last remainder is 5 or more.
 */
static uint64_t fraction_ticks(const struct decimal *d, uint64_t rate_hz, bool *half)
{
	u128 x = 0;
	unsigned rest = 0;

	/* 20 zeros after the point leave less than half a tick of any 64-bit rate */
	if (d->whole >= -20)
		for (int64_t i = (int64_t)d->digits - 1; i >= d->whole; i--) {
			x += (u128)digit(d, i) * rate_hz;
			rest = (unsigned)(x % 10);
			x /= 10;
		}
	*half = rest >= 5;
	return (uint64_t)x;
}

int cvl_text_ticks(const char *s, int exp10, uint64_t rate_hz, struct cvl_text_ticks *out)
{
	struct decimal d;
	u128 whole = 0, ticks;
	bool half;

	if (!parse_decimal(s, &d))
		return CVL_E_SYNTAX;
	d.whole += exp10;
	for (int64_t i = 0; i < d.whole; i++) {
		if (!whole && i >= (int64_t)d.digits)
			break;
		whole = whole * 10 + digit(&d, i);
		if (whole > UINT64_MAX)
			return CVL_E_RANGE;
	}
	ticks = whole * rate_hz + fraction_ticks(&d, rate_hz, &half);
	ticks += half;
	if (ticks > UINT64_MAX)
		return CVL_E_RANGE;
	out->count = (uint64_t)ticks;
	out->negative = d.negative && ticks;
	return 0;
}

int cvl_text_real(const char *s, double *out)
{
	struct decimal d;
	char *end;

	if (!parse_decimal(s, &d))
		return CVL_E_SYNTAX;
	*out = strtod(s, &end);
	return *end || *out - *out != 0 ? CVL_E_SYNTAX : 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Unquote in place the cell that starts after the quote; returns the comma or NUL after it, or
 * NULL.
 */
static char *unquote(char *p)
{
	char *out = p;

	for (; *p; p++) {
		if (*p == '"' && *++p != '"') {
			while (is_blank(*p))
				p++;
			if (*p && *p != ',')
				return NULL;
			*out = '\0';
			return p;
		}
		*out++ = *p;
	}
	return NULL;
}

size_t cvl_text_split(char *line, char **cells, size_t max)
{
	char *p = line;

	for (size_t n = 1;; n++) {
		char *cell, *end;
		bool last;

		while (is_blank(*p))
			p++;
		cell = p;
		if (*p == '"') {
			cell = ++p;
			p = unquote(p);
			if (!p)
				return 0;
			last = !*p;
		} else {
			p += strcspn(p, ",");
			last = !*p;
			for (end = p; end > cell && is_blank(end[-1]); end--)
				;
			*end = '\0';
		}
		if (n <= max)
			cells[n - 1] = cell;
		if (last)
			return n;
		p++;
	}
}

int cvl_text_rename(const char *list, char **names, size_t n)
{
	for (size_t i = 0; list; i++) {
		size_t len = strcspn(list, ",");
		char *name;

		if (i == n)
			return CVL_E_USAGE;
		name = strndup(list, len);
		if (!name)
			return CVL_E_NOMEM;
		free(names[i]);
		names[i] = name;
		list = list[len] ? list + len + 1 : NULL;
	}
	return 0;
}

/*
 * Match a glob of @n characters. Backtracks only to the last '*', so the time is at most the
 * product of both lengths.
 */
static bool matches(const char *glob, size_t n, const char *s)
{
	const char *end = glob + n, *star = NULL, *from = NULL;

	while (*s) {
		if (glob < end && *glob == '*') {
			star = ++glob;
			from = s;
		} else if (glob < end && (*glob == '?' || *glob == *s)) {
			glob++;
			s++;
		} else if (star) {
			glob = star;
			s = ++from;
		} else {
			return false;
		}
	}
	while (glob < end && *glob == '*')
		glob++;
	return glob == end;
}

bool cvl_text_chosen(const char *list, const char *name)
{
	const char *dot = strrchr(name, '.');

	for (;;) {
		size_t n = strcspn(list, ",");

		if (matches(list, n, name) || (dot && matches(list, n, dot + 1)))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

void cvl_tally_tell(const struct cvl_tally *t, const struct cvl_import_opts *opts,
		    enum cvl_code code, const char *name, const char *what)
{
	struct cvl_error e;

	if (!t->n)
		return;
	if (t->offset == CVL_NO_OFFSET)
		cvl_fail(&e, code, t->offset, "%s: %" PRIu64 " %s", name, t->n, what);
	else
		cvl_fail(&e, code, t->offset, "%s:%" PRIu64 ": the first of %" PRIu64 " %s", name,
			 t->offset, t->n, what);
	cvl_tell(opts->report, &e);
}

/* An earlier line with the name of line @i, or @i if none. */
static size_t same_name(char *const *names, size_t i)
{
	size_t k = 0;

	while (k < i && strcmp(names[k], names[i]))
		k++;
	return k;
}

/* Give line @i a unique name. */
static int make_unique(char **names, size_t n, size_t i)
{
	char *old = names[i];

	for (unsigned number = 2;; number++) {
		char *name;
		size_t k = 0;

		if (asprintf(&name, "%s-%u", old, number) < 0)
			return CVL_E_NOMEM;
		while (k < n && strcmp(names[k], name))
			k++;
		if (k == n) {
			names[i] = name;
			free(old);
			return 0;
		}
		free(name);
	}
}

int cvl_names_fill(char **names, size_t n, const char *list, struct cvl_error *err)
{
	size_t listed = list && *list ? 1 : 0;
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (names[i] && *names[i])
			continue;
		free(names[i]);
		if (asprintf(&names[i], "D%zu", i) < 0) {
			names[i] = NULL;
			return cvl_no_memory(err);
		}
	}
	rc = cvl_text_rename(list, names, n);
	if (rc == CVL_E_USAGE)
		return cvl_hint(err, CVL_HINT_LINE_NAMES,
				cvl_fail(err, rc, CVL_NO_OFFSET, "more names than lines (%zu)", n));
	for (const char *p = list; p && *p; p++)
		listed += *p == ',';
	for (size_t i = 0; i < n && !rc; i++) {
		if (same_name(names, i) == i)
			continue;
		if (i < listed)
			return cvl_hint(err, CVL_HINT_LINE_NAMES,
					cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
						 "duplicate line name %.60s", names[i]));
		rc = make_unique(names, n, i);
	}
	if (rc)
		return cvl_no_memory(err);
	return 0;
}

void cvl_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
}
