/* SPDX-License-Identifier: MIT */
#include <coeval/near.h>

#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES (sizeof(((struct cvl_near *)0)->best[0].text) - 1)

/* Levenshtein's distance, row by row. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_BYTES + 1];
	size_t n = strlen(b);

	if (n > NAME_MAX_BYTES)
		return 1000;
	for (unsigned k = 0; k <= n; k++)
		row[k] = k;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned k = 1; k <= n; k++) {
			unsigned up = row[k], same = corner + ((*a | 32) != (b[k - 1] | 32));

			row[k] = same < up + 1 ? same : up + 1;
			if (row[k - 1] + 1 < row[k])
				row[k] = row[k - 1] + 1;
			corner = up;
		}
	}
	return row[n];
}

void cvl_near_add(struct cvl_near *near, const char *name)
{
	unsigned edits = distance(near->name, name);
	size_t at = near->n;

	if (!*name || strlen(name) > NAME_MAX_BYTES)
		return;
	for (size_t i = 0; i < near->n; i++)
		if (!strcmp(near->best[i].text, name))
			return;
	while (at && near->best[at - 1].edits > edits)
		at--;
	if (at == CVL_NEAR_MAX)
		return;
	near->n = near->n < CVL_NEAR_MAX ? near->n + 1 : CVL_NEAR_MAX;
	memmove(&near->best[at + 1], &near->best[at], (near->n - 1 - at) * sizeof(near->best[0]));
	memcpy(near->best[at].text, name, strlen(name) + 1);
	near->best[at].edits = edits;
}

const char *cvl_near_text(const struct cvl_near *near, char text[CVL_NEAR_TEXT])
{
	/* a typo, not another word */
	size_t limit = 1 + strlen(near->name) / 4, n = 0, close = 0;

	text[0] = '\0';
	while (close < near->n && near->best[close].edits <= limit)
		close++;
	for (size_t i = 0; i < (close ? close : near->n); i++)
		n += (size_t)snprintf(text + n, CVL_NEAR_TEXT - n, "%s%s",
				      i     ? ", " :
				      close ? " (did you mean " :
					      "; there is ",
				      near->best[i].text);
	if (close)
		memcpy(text + n, "?)", 3);
	return text;
}
