/* SPDX-License-Identifier: MIT */
/**
 * Answers of a target's shell: the last line that begins with `ok` or `error` is the result,
 * followed by key=value pairs (see firmware/apps/taskbench/shell.h). Pure: any bytes may come.
 */
#ifndef LAB_ANSWER_H
#define LAB_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#define ANSWER_LINE 512

struct answer {
	bool ok;
	char line[ANSWER_LINE + 1]; /* the result, without the first word */
};

/**
 * Find the result in @n bytes of @text, called @name in messages. CVL_E_MISSING if there is none,
 * CVL_E_LIMIT if it is longer than ANSWER_LINE, CVL_E_SYNTAX if it is not text.
 */
int answer_read(struct answer *a, const char *text, size_t n, const char *name,
		struct cvl_error *err);

/** The value of @key, up to @size - 1 characters, into @out. False if missing or longer. */
bool answer_text(const struct answer *a, const char *key, char *out, size_t size);

/** The same as a decimal number. False if missing or not a number. */
bool answer_u64(const struct answer *a, const char *key, uint64_t *value);

#endif
