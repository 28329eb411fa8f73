/* SPDX-License-Identifier: MIT */
#include "lab/fill.h"

#include <string.h>

static const char *find(const struct fill *fill, size_t n, const char *name, size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(fill[i].name) == length && !memcmp(fill[i].name, name, length))
			return fill[i].value;
	return NULL;
}

int fill_text(char *out, size_t size, const char *text, const struct fill *fill, size_t n,
	      struct cvl_error *err)
{
	size_t k = 0;

	for (const char *s = text; *s;) {
		const char *piece = s, *end;
		size_t length = 1;

		if (*s != '{') {
			s++;
		} else if (s[1] == '{') {
			s += 2;
		} else {
			end = strchr(s, '}');
			if (!end)
				return cvl_fail(err, CVL_E_SYNTAX, (uint64_t)(s - text),
						"'%.100s': a { without its }", text);
			piece = find(fill, n, s + 1, (size_t)(end - s) - 1);
			if (!piece)
				return cvl_fail(err, CVL_E_UNKNOWN_ID, (uint64_t)(s - text),
						"'%.100s': nothing is called %.*s here", text,
						(int)(end - s) + 1 > 60 ? 60 : (int)(end - s) + 1,
						s);
			length = strlen(piece);
			s = end + 1;
		}
		if (length >= size - k)
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
					"'%.100s' is longer than %zu characters", text, size - 1);
		memcpy(out + k, piece, length);
		k += length;
	}
	out[k] = '\0';
	return 0;
}
