/* SPDX-License-Identifier: MIT */
#include "workload.h"

static int same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

const struct workload *workload_find(const struct workload *const *lists, const char *name)
{
	for (; *lists; lists++)
		for (const struct workload *w = *lists; w->name; w++)
			if (same(w->name, name))
				return w;
	return 0;
}
