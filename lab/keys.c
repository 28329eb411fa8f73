/* SPDX-License-Identifier: MIT */
#include "lab/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 10000
#define PLACE 200

static int read_value(const struct key *k, const json_t *v, const char *file, const char *place,
		      void *to, struct cvl_error *err);

static int wrong(const char *file, const char *place, const char *what, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET, "%s: %s must be %s", file, place, what);
}

static size_t item_size(const struct key *k)
{
	switch (k->type) {
	case KEY_TEXTS: return sizeof(const char *);
	case KEY_NUMBERS: return sizeof(double);
	case KEY_BOOLS: return sizeof(bool);
	default: return k->shape->size;
	}
}

static int new_list(const struct key *k, size_t n, const char *file, const char *place,
		    struct key_list *list, struct cvl_error *err)
{
	if (!n && k->must)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s: %s is empty", file, place);
	if (n > MAX_ITEMS)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: %s has more than %d entries",
				file, place, MAX_ITEMS);
	list->item = calloc(n ? n : 1, item_size(k));
	list->n = 0;
	return list->item ? 0 : cvl_no_memory(err);
}

/* One entry of a list that holds structs. */
static int read_entry(const struct key *k, const json_t *v, const char *file, const char *place,
		      struct key_list *list, struct cvl_error *err)
{
	char *to = (char *)list->item + list->n * k->shape->size;
	int rc;

	if (k->shape->defaults)
		memcpy(to, k->shape->defaults, k->shape->size);
	if (k->short_form && json_is_string(v)) {
		/* the text is shared, so that it lives as long as the file's */
		const struct key *only = k->shape->key;

		while (strcmp(only->name, k->short_form))
			only++;
		list->n++;
		return read_value(only, v, file, place, to + only->offset, err);
	}
	rc = keys_read(k->shape, v, file, place, to, err);
	list->n++; /* also if it failed: what it holds is to be freed */
	return rc;
}

static int read_list(const struct key *k, const json_t *v, const char *file, const char *place,
		     struct key_list *list, struct cvl_error *err)
{
	const struct key one = { .type = k->type == KEY_TEXTS   ? KEY_TEXT :
					 k->type == KEY_NUMBERS ? KEY_NUMBER :
								  KEY_BOOL,
				 .min = k->min,
				 .max = k->max };
	size_t n = json_is_array(v) ? json_array_size(v) : 1;
	int rc = new_list(k, n, file, place, list, err);

	for (size_t i = 0; !rc && i < n; i++) {
		const json_t *item = json_is_array(v) ? json_array_get(v, i) : v;
		char where[PLACE];

		snprintf(where, sizeof(where), json_is_array(v) ? "%s[%zu]" : "%s", place, i);
		if (k->type == KEY_LIST) {
			rc = read_entry(k, item, file, where, list, err);
			continue;
		}
		rc = read_value(&one, item, file, where,
				(char *)list->item + list->n * item_size(k), err);
		list->n++;
	}
	return rc;
}

static int read_maps(const struct key *k, const json_t *v, const char *file, const char *place,
		     struct key_list *list, struct cvl_error *err)
{
	const char *name;
	json_t *item;
	int rc;

	if (!json_is_object(v))
		return wrong(file, place, "an object", err);
	rc = new_list(k, json_object_size(v), file, place, list, err);
	json_object_foreach((json_t *)(uintptr_t)v, name, item)
	{
		char where[PLACE];

		if (rc)
			break;
		snprintf(where, sizeof(where), "%s.%.60s", place, name);
		rc = read_entry(k, item, file, where, list, err);
		*(const char **)((char *)list->item + (list->n - 1) * k->shape->size) = name;
	}
	return rc;
}

static int read_value(const struct key *k, const json_t *v, const char *file, const char *place,
		      void *to, struct cvl_error *err)
{
	double number;

	switch (k->type) {
	case KEY_TEXT:
		if (!json_is_string(v))
			return wrong(file, place, "a text", err);
		if (k->min > 0 && !json_string_length(v))
			return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "%s: %s is empty", file,
					place);
		if (strlen(json_string_value(v)) != json_string_length(v))
			return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "%s: %s holds a NUL", file,
					place);
		*(const char **)to = json_string_value(v);
		return 0;
	case KEY_NUMBER:
		if (!json_is_number(v))
			return wrong(file, place, "a number", err);
		number = json_number_value(v);
		if (!(number >= k->min && number <= k->max))
			return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
					"%s: %s must be from %g to %g, not %g", file, place, k->min,
					k->max, number);
		*(double *)to = number;
		return 0;
	case KEY_BOOL:
		if (!json_is_boolean(v))
			return wrong(file, place, "true or false", err);
		*(bool *)to = json_is_true(v);
		return 0;
	case KEY_MAP: return keys_read(k->shape, v, file, place, to, err);
	case KEY_MAPS: return read_maps(k, v, file, place, to, err);
	default: return read_list(k, v, file, place, to, err);
	}
}

/* "; there are a, b, c" */
static void known_keys(const struct key *k, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%s", k->name);

	while ((++k)->name && n < size)
		n += (size_t)snprintf(out + n, size - n, ", %s", k->name);
}

int keys_read(const struct key_shape *shape, const json_t *json, const char *file,
	      const char *place, void *to, struct cvl_error *err)
{
	const char *dot = *place ? "." : "", *name;
	char where[PLACE], known[300];
	json_t *item;

	if (!json_is_object(json))
		return wrong(file, *place ? place : "the whole", "an object", err);
	json_object_foreach((json_t *)(uintptr_t)json, name, item)
	{
		const struct key *k = shape->key;
		int rc;

		snprintf(where, sizeof(where), "%.120s%s%.60s", place, dot, name);
		while (k->name && strcmp(k->name, name))
			k++;
		if (!k->name) {
			known_keys(shape->key, known, sizeof(known));
			return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
					"%s: %s is no key; there are %s", file, where, known);
		}
		rc = read_value(k, item, file, where, (char *)to + k->offset, err);
		if (rc)
			return rc;
	}
	for (const struct key *k = shape->key; k->name; k++)
		if (k->must && !json_object_get(json, k->name))
			return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
					"%s: %.120s%s%s is missing", file, place, dot, k->name);
	return 0;
}

void keys_free(const struct key_shape *shape, void *to)
{
	for (const struct key *k = shape->key; k->name; k++) {
		char *at = (char *)to + k->offset;
		struct key_list *list = (struct key_list *)at;

		if (k->type == KEY_MAP)
			keys_free(k->shape, at);
		if (k->type < KEY_TEXTS || k->type == KEY_MAP)
			continue;
		if (k->type == KEY_LIST || k->type == KEY_MAPS)
			for (size_t i = 0; i < list->n; i++)
				keys_free(k->shape, (char *)list->item + i * k->shape->size);
		free(list->item);
		*list = (struct key_list){ 0 };
	}
}
