/* SPDX-License-Identifier: MIT */
/* Dictionaries: texts by number, found by a hash. */
#include "table/internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

struct cvl_names {
	char **text;
	size_t n, room;
	uint32_t *slot; /* 1 + number of a text; 0: free. A power of two of them */
	size_t slots;
};

struct cvl_names *names_new(void)
{
	return calloc(1, sizeof(struct cvl_names));
}

void names_free(struct cvl_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++)
		free(n->text[i]);
	free(n->text);
	free(n->slot);
	free(n);
}

/* FNV-1a */
static uint64_t hash(const char *s, size_t len)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)s[i]) * 1099511628211u;
	return h ^ h >> 29;
}

static uint32_t *find(const struct cvl_names *n, const char *s, size_t len)
{
	size_t at = hash(s, len) & (n->slots - 1);

	while (n->slot[at]) {
		const char *have = n->text[n->slot[at] - 1];

		if (!strncmp(have, s, len) && !have[len])
			break;
		at = (at + 1) & (n->slots - 1);
	}
	return &n->slot[at];
}

static bool more_slots(struct cvl_names *n)
{
	const size_t slots = n->slots ? 2 * n->slots : 32;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	free(n->slot);
	n->slot = slot;
	n->slots = slots;
	for (size_t i = 0; i < n->n; i++)
		*find(n, n->text[i], strlen(n->text[i])) = (uint32_t)i + 1;
	return true;
}

size_t table_utf8(char *to, const char *s, size_t n)
{
	size_t to_n = 0, len;

	for (size_t i = 0; i < n; i += len ? len : 1) {
		len = utf8_length(s + i, n - i);
		if (len)
			memcpy(to + to_n, s + i, len);
		else
			memcpy(to + to_n, "\xef\xbf\xbd", 3);
		to_n += len ? len : 3;
	}
	return to_n;
}

int32_t names_put(struct cvl_names *n, const char *text, size_t len)
{
	uint32_t *slot;
	char *copy;

	len = strnlen(text, len);
	copy = malloc(3 * len + 1);
	if (!copy || (2 * n->n >= n->slots && !more_slots(n)))
		goto failed;
	len = table_utf8(copy, text, len);
	copy[len] = '\0';
	slot = find(n, copy, len);
	if (*slot) {
		free(copy);
		return (int32_t)(*slot - 1);
	}
	if (n->n >= INT32_MAX || cvl_room(&n->text, n->n, &n->room, sizeof(*n->text)))
		goto failed;
	n->text[n->n++] = copy;
	*slot = (uint32_t)n->n;
	return (int32_t)n->n - 1;
failed:
	free(copy);
	return -1;
}

size_t cvl_names_count(const struct cvl_names *n)
{
	return n->n;
}

const char *cvl_names_at(const struct cvl_names *n, size_t i)
{
	return n->text[i];
}
