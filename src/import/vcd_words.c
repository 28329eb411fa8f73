/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "vcd_internal.h"

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

uint64_t vcd_offset(const struct vcd_words *words)
{
	return cvl_input_offset(words->in) + words->at;
}

/*
 * Drop what has been read and look further ahead. Returns 1, 0 at the end of the input, or a
 * negative code.
 */
static int refill(struct vcd_words *words, struct cvl_error *err)
{
	size_t rest = words->n - words->at;
	const unsigned char *bytes;
	ssize_t n;

	if (rest >= CVL_INPUT_WINDOW)
		return cvl_fail(err, CVL_E_LIMIT, vcd_offset(words),
				"%s: word of more than %u bytes", cvl_input_name(words->in),
				CVL_INPUT_WINDOW);
	cvl_input_skip(words->in, words->at);
	words->at = words->n = 0;
	n = cvl_input_peek(words->in, rest + 1, &bytes, err);
	if (n < 0)
		return (int)n;
	words->bytes = (const char *)bytes;
	words->n = (size_t)n;
	return words->n > rest;
}

int vcd_word(struct vcd_words *words, struct vcd_word *w, struct cvl_error *err)
{
	size_t len = 0;
	int rc;

	for (;;) {
		while (words->at < words->n && is_blank(words->bytes[words->at]))
			words->at++;
		if (words->at < words->n)
			break;
		rc = refill(words, err);
		if (rc <= 0)
			return rc;
	}
	for (;;) {
		while (words->at + len < words->n && !is_blank(words->bytes[words->at + len]))
			len++;
		if (words->at + len < words->n) {
			w->ended = true;
			break;
		}
		rc = refill(words, err);
		if (rc < 0)
			return rc;
		if (!rc) {
			w->ended = false;
			break;
		}
	}
	w->s = words->bytes + words->at;
	w->n = len;
	w->offset = vcd_offset(words);
	words->at += len;
	return 1;
}

bool vcd_word_is(const struct vcd_word *w, const char *text)
{
	return w->n == strlen(text) && !memcmp(w->s, text, w->n);
}

int vcd_section_word(struct vcd_words *words, struct vcd_word *w, struct cvl_error *err)
{
	int rc = vcd_word(words, w, err);

	if (rc < 0)
		return rc;
	if (!rc)
		return cvl_fail(err, CVL_E_TRUNCATED, vcd_offset(words),
				"%s: the file ends before $end", cvl_input_name(words->in));
	return !vcd_word_is(w, "$end");
}

int vcd_skip_section(struct vcd_words *words, struct cvl_error *err)
{
	struct vcd_word w;
	int rc;

	do
		rc = vcd_section_word(words, &w, err);
	while (rc > 0);
	return rc;
}
