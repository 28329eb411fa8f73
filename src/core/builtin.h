/* SPDX-License-Identifier: MIT */
/** Files of rules/ that are built in, by name: a table of these, ended by one without a name. */
#ifndef CORE_BUILTIN_H
#define CORE_BUILTIN_H

#include <stddef.h>
#include <string.h>

struct builtin {
	const char *name;
	const unsigned char *text;
	const size_t *bytes;
};

/** NULL: there is none of that name. */
static inline const char *builtin_text(const struct builtin *table, const char *name, size_t *n)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name)) {
			*n = *table->bytes;
			return (const char *)table->text;
		}
	return NULL;
}

#endif
