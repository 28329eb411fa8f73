/* SPDX-License-Identifier: MIT */
#include "core/utf8.h"

size_t utf8_length(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80                 ? 1 :
		     s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		     (s[0] & 0xf0) == 0xe0       ? 3 :
		     s[0] >= 0xf0 && s[0] < 0xf5 ? 4 :
						   0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

size_t utf8_put(char *to, uint32_t c)
{
	const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 63));
	*to = (char)(lead[n] | c);
	return n;
}
