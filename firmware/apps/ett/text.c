/* SPDX-License-Identifier: MIT */
#include "text.h"

static void put_char(struct ett_text *t, char c)
{
	if (t->at < ETT_COLUMNS)
		t->row[t->at++] = c;
}

void ett_put(struct ett_text *t, const char *s)
{
	while (*s)
		put_char(t, *s++);
}

void ett_put_word(struct ett_text *t, const char *s)
{
	while (*s && *s != ' ')
		put_char(t, *s++);
}

void ett_put_dec(struct ett_text *t, uint64_t n, unsigned width)
{
	char digits[32];
	unsigned len = 0, figures = 0;

	do {
		if (figures && figures % 3 == 0)
			digits[len++] = ' ';
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
		figures++;
	} while (n);
	for (; width > len; width--)
		put_char(t, ' ');
	while (len)
		put_char(t, digits[--len]);
}

void ett_put_hex(struct ett_text *t, uint64_t n, unsigned digits)
{
	for (unsigned shift = 64; shift; shift -= 4) {
		unsigned digit = (unsigned)(n >> (shift - 4)) & 15;

		if (digit || shift <= 4 * digits || n >> (shift - 4) || shift == 4)
			put_char(t, "0123456789ABCDEF"[digit]);
	}
}

void ett_put_to(struct ett_text *t, unsigned column)
{
	while (t->at < column && t->at < ETT_COLUMNS)
		put_char(t, ' ');
}
