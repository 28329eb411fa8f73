/* SPDX-License-Identifier: MIT */
/* Names of numbers, from a file. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/pairs.h"
#include "analysis/calls/read.h"
#include <coeval/files.h>
#include <coeval/array.h>

#define FILE_MAX (64u << 20)

void calls_names_free(struct calls_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i].name);
	free(names->name);
	*names = (struct calls_names){ 0 };
}

/* Parse a number; returns what follows it, NULL if there is none. */
static char *number(char *text, uint64_t *out)
{
	size_t digits = strspn(text, "0123456789abcdefABCDEF");
	bool hex = digits == 8 || digits == 16 || !strncmp(text, "0x", 2);
	char *end;

	if (!isdigit((unsigned char)*text) && !hex)
		return NULL;
	*out = strtoull(text, &end, hex ? 16 : 10);
	return end == text || !strchr(" \t", *end) || !*end ? NULL : end + strspn(end, " \t");
}

static int add_line(struct calls_names *names, char *line)
{
	uint64_t n;
	char *text;
	size_t len;

	line[strcspn(line, "#\r")] = '\0';
	text = number(line + strspn(line, " \t"), &n);
	if (!text)
		return 0;
	len = strcspn(text, " \t");
	if (len == 1 && text[1]) /* the symbol type printed by nm */
		text += 1 + strspn(text + 1, " \t");
	for (len = strlen(text); len && strchr(" \t", text[len - 1]); len--)
		text[len - 1] = '\0';
	if (!*text)
		return 0;
	if (cvl_room(&names->name, names->n, &names->room, sizeof(*names->name)))
		return -1;
	names->name[names->n] = (struct calls_name){ n, strdup(text) };
	if (!names->name[names->n].name)
		return -1;
	names->n++;
	return 0;
}

static int by_number(const void *va, const void *vb)
{
	const struct calls_name *a = va, *b = vb;

	return (a->number > b->number) - (a->number < b->number);
}

int calls_names_load(struct calls_names *names, const char *path, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	size_t before = names->n;
	int rc = 0;

	if (!text)
		return (int)err->code;
	for (char *line = text, *next; line && !rc; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		rc = add_line(names, line);
	}
	free(text);
	if (rc)
		return cvl_no_memory(err);
	if (names->n == before)
		return cvl_fail(
			err, CVL_E_SYNTAX, 0,
			"%s:0: no line with a number and a name, such as `0000000000401aac t draw` or `3 worker`",
			path);
	qsort(names->name, names->n, sizeof(*names->name), by_number);
	return 0;
}

const char *calls_names_find(const struct calls_names *names, uint64_t n)
{
	size_t lo = 0, hi = names->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (names->name[mid].number < n)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < names->n && names->name[lo].number == n ? names->name[lo].name : NULL;
}
