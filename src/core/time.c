/* SPDX-License-Identifier: MIT */
#include <coeval/time.h>

#include <ctype.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

const char *cvl_bound_kind_name(enum cvl_bound_kind kind)
{
	switch (kind) {
	case CVL_BOUND_GUESS: return "best guess";
	case CVL_BOUND_STATISTICAL: return "99.9 %";
	case CVL_BOUND_PROVEN: return "proven";
	case CVL_BOUND_NONE: break;
	}
	return "none";
}

size_t cvl_time_text(char out[CVL_TIME_TEXT], struct cvl_time t)
{
	uint64_t abs = t.ns < 0 ? 0 - (uint64_t)t.ns : (uint64_t)t.ns;
	uint64_t s = abs / 1000000000u;
	uint32_t f = (uint32_t)(abs % 1000000000u);
	char digits[24];
	size_t n = 0, len = 0;

	do {
		digits[n++] = (char)('0' + s % 10);
		s /= 10;
	} while (s);
	if (t.ns < 0)
		out[len++] = '-';
	while (n)
		out[len++] = digits[--n];
	out[len++] = '.';
	for (size_t i = 9; i-- > 0;) {
		out[len + i] = (char)('0' + f % 10);
		f /= 10;
	}
	len += 9;
	out[len] = '\0';
	return len;
}

size_t cvl_bound_text(char out[CVL_TIME_TEXT], int64_t bound_ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	double v = (double)bound_ns;
	size_t u = 3;
	int len;

	if (bound_ns == CVL_BOUND_UNKNOWN)
		return (size_t)snprintf(out, CVL_TIME_TEXT, "unknown");
	for (u = 0; u < 3 && v < units[u].ns * 0.9995; u++)
		;
	v /= units[u].ns;
	len = snprintf(out, CVL_TIME_TEXT, "%.*f %s",
		       u == 3 || v >= 99.95 ? 0 :
		       v >= 9.995           ? 1 :
					      2,
		       v, units[u].name);
	return (size_t)len;
}

/*
 * Digits with an optional point, times 10^@exp, truncated. Returns the first byte not read, or
 * NULL.
 */
static const char *parse_decimal(const char *s, int exp, uint64_t *out)
{
	unsigned __int128 v = 0;
	int digits = 0, after_point = -1;

	for (;; s++) {
		if (*s == '.' && after_point < 0) {
			after_point = 0;
			continue;
		}
		if (!isdigit((unsigned char)*s))
			break;
		digits++;
		if (after_point >= 0) {
			if (after_point >= exp)
				continue;
			after_point++;
		}
		v = v * 10 + (unsigned)(*s - '0');
		if (v > UINT64_MAX)
			return NULL;
	}
	if (!digits)
		return NULL;
	for (int i = after_point > 0 ? after_point : 0; i < exp; i++) {
		v *= 10;
		if (v > UINT64_MAX)
			return NULL;
	}
	*out = (uint64_t)v;
	return s;
}

int cvl_duration_parse(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		int exp;
		uint64_t times;
	} units[] = {
		{ "", 9, 1 },   { "s", 9, 1 },  { "ms", 6, 1 },   { "us", 3, 1 },
		{ "ns", 0, 1 }, { "m", 9, 60 }, { "min", 9, 60 }, { "h", 9, 3600 },
	};
	const char *unit = text + strspn(text, "+-.0123456789 ");
	bool negative = *text == '-';
	uint64_t v;

	if (*text == '-' || *text == '+')
		text++;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		const char *end;

		if (strcmp(unit, units[i].name))
			continue;
		end = parse_decimal(text, units[i].exp, &v);
		if (!end || strspn(end, " ") != (size_t)(unit - end) ||
		    v > INT64_MAX / units[i].times)
			return -1;
		*ns = (int64_t)(v * units[i].times);
		if (negative)
			*ns = -*ns;
		return 0;
	}
	return -1;
}

int cvl_rate_parse(const char *text, uint64_t *hz)
{
	const char *digits_end = text + strspn(text, ".0123456789"), *unit = digits_end, *end;
	int exp = 0;

	while (*unit == ' ')
		unit++;
	switch (*unit) {
	case 'k':
	case 'K':
		exp = 3;
		unit++;
		break;
	case 'm':
	case 'M':
		exp = 6;
		unit++;
		break;
	case 'g':
	case 'G':
		exp = 9;
		unit++;
		break;
	default: break;
	}
	if (*unit && strcasecmp(unit, "hz"))
		return -1;
	end = parse_decimal(text, exp, hz);
	return end == digits_end && *hz ? 0 : -1;
}
