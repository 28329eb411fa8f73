/* SPDX-License-Identifier: MIT */
#include "taskbench/say.h"

void say(const struct bench_hal *hal, const char *text)
{
	unsigned n = 0;

	while (text[n])
		n++;
	hal->put(hal->ctx, text, n);
}

void say_text(const struct bench_hal *hal, const char *key, const char *value)
{
	say(hal, " ");
	say(hal, key);
	say(hal, "=");
	say(hal, value);
}

void say_number(const struct bench_hal *hal, const char *key, uint64_t value)
{
	char digits[21];
	unsigned n = sizeof(digits) - 1;

	digits[n] = '\0';
	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	say_text(hal, key, digits + n);
}

void say_end(const struct bench_hal *hal)
{
	say(hal, "\r\n");
}

int say_same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

int say_is(const char *text, const char *word)
{
	for (; *word; word++, text++)
		if (*text != *word)
			return 0;
	return !*text || *text == ' ';
}

const char *say_find(const char *words, const char *key)
{
	while (*words) {
		const char *k = key;

		while (*words == ' ')
			words++;
		for (; *k && *words == *k; words++)
			k++;
		if (!*k && *words == '=')
			return words + 1;
		while (*words && *words != ' ')
			words++;
	}
	return 0;
}

int say_u32(const char *text, uint32_t *value)
{
	uint64_t v = 0;

	if (*text < '0' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		v = v * 10 + (uint64_t)(*text - '0');
		if (v > UINT32_MAX)
			return 0;
	}
	*value = (uint32_t)v;
	return !*text || *text == ' ';
}

static const char *hex(const char *s, uint32_t *value)
{
	uint32_t v = 0;
	unsigned n = 0;

	for (; n <= 8; n++, s++) {
		if (*s >= '0' && *s <= '9')
			v = v << 4 | (uint32_t)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			v = v << 4 | (uint32_t)(*s - 'a' + 10);
		else
			break;
	}
	*value = v;
	return n && n <= 8 ? s : 0;
}

unsigned say_ranges(const char *text, struct bench_range *r)
{
	for (unsigned n = 0; n < BENCH_MAX_RANGES; n++) {
		text = hex(text, &r[n].from);
		if (!text || *text++ != '-')
			return 0;
		text = hex(text, &r[n].to);
		if (!text || r[n].to < r[n].from)
			return 0;
		if (!*text || *text == ' ')
			return n + 1;
		if (*text++ != ',')
			return 0;
	}
	return 0;
}
