/* SPDX-License-Identifier: MIT */
#include "lines.h"

void lines_char(struct lines *l, char c)
{
	if (l->n < LINES_BYTES - 2) /* there always is room for the end */
		l->text[l->n++] = c;
}

void lines_text(struct lines *l, const char *s)
{
	while (*s)
		lines_char(l, *s++);
}

void lines_number(struct lines *l, int64_t v)
{
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
	char digits[20];
	unsigned n = 0;

	if (v < 0)
		lines_char(l, '-');
	do {
		digits[n++] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	while (n)
		lines_char(l, digits[--n]);
}

static void name(struct lines *l, const char *s)
{
	if (l->n)
		lines_char(l, ' ');
	lines_text(l, s);
	lines_char(l, ' ');
}

void lines_pair(struct lines *l, const char *s, int64_t value)
{
	name(l, s);
	lines_number(l, value);
}

void lines_word(struct lines *l, const char *s, const char *value)
{
	name(l, s);
	lines_text(l, value);
}

void lines_end(struct lines *l)
{
	l->text[l->n++] = '\r';
	l->text[l->n++] = '\n';
}
