/* SPDX-License-Identifier: MIT */
#include "lab/answer.h"

#include "lab/channel.h"

#include <string.h>

/* Whether the line of @n bytes at @s begins with the word @word. */
static bool begins(const char *s, size_t n, const char *word)
{
	size_t w = strlen(word);

	return n >= w && !memcmp(s, word, w) && (n == w || s[w] == ' ');
}

int answer_read(struct answer *a, const char *text, size_t n, const char *name,
		struct cvl_error *err)
{
	const char *result = NULL, *line = text, *end = text + n;
	size_t length = 0;
	char seen[160];

	*a = (struct answer){ 0 };
	while (line < end) {
		size_t len = 0;

		while (line + len < end && line[len] != '\n' && line[len] != '\r')
			len++;
		if (begins(line, len, "ok") || begins(line, len, "error")) {
			result = line;
			length = len;
		}
		line += len + 1;
	}
	if (!result)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: the answer has no line `ok` or `error`: %s", name,
				lab_excerpt(seen, sizeof(seen), text, n));
	a->ok = result[0] == 'o';
	result += a->ok ? 2 : 5;
	length -= a->ok ? 2 : 5;
	if (length > ANSWER_LINE)
		return cvl_fail(err, CVL_E_LIMIT, (uint64_t)(result - text),
				"%s: a line of %zu bytes in the answer", name, length);
	for (size_t i = 0; i < length; i++)
		if (result[i] < ' ' || result[i] > '~')
			return cvl_fail(err, CVL_E_SYNTAX, (uint64_t)(result - text) + i,
					"%s: the answer is not text: %s", name,
					lab_excerpt(seen, sizeof(seen), result, length));
	memcpy(a->line, result, length);
	return 0;
}

/* Where the value of @key begins, and its length. */
static const char *find(const struct answer *a, const char *key, size_t *length)
{
	size_t n = strlen(key);
	const char *s = a->line;

	for (;;) {
		size_t word;

		s += strspn(s, " ");
		word = strcspn(s, " ");
		if (!word)
			return NULL;
		if (word > n && !memcmp(s, key, n) && s[n] == '=') {
			*length = word - n - 1;
			return s + n + 1;
		}
		s += word;
	}
}

bool answer_text(const struct answer *a, const char *key, char *out, size_t size)
{
	size_t n = 0;
	const char *v = find(a, key, &n);

	if (!v || n >= size)
		return false;
	memcpy(out, v, n);
	out[n] = '\0';
	return true;
}

bool answer_u64(const struct answer *a, const char *key, uint64_t *value)
{
	size_t n = 0;
	const char *v = find(a, key, &n);
	uint64_t sum = 0;

	if (!v || !n)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t digit = (uint64_t)(v[i] - '0');

		if (v[i] < '0' || v[i] > '9' || sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return true;
}
