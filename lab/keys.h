/* SPDX-License-Identifier: MIT */
/**
 * Objects of JSON read by tables of what may stand in them. Texts belong to the JSON value and live as long as it does; lists are
 * allocated and freed by keys_free().
 */
#ifndef LAB_KEYS_H
#define LAB_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include <coeval/error.h>

enum key_type {
	KEY_TEXT,    /* const char *, not empty unless @min is 0 */
	KEY_NUMBER,  /* double, @min to @max */
	KEY_BOOL,    /* bool */
	KEY_TEXTS,   /* struct key_list of const char *; one text is a list of one */
	KEY_NUMBERS, /* struct key_list of double */
	KEY_BOOLS,   /* struct key_list of bool */
	KEY_MAP,     /* a struct */
	KEY_LIST,    /* struct key_list of structs */
	KEY_MAPS, /* struct key_list of structs, an object in which each has a name: its first member is const char * */
};

struct key_list {
	void *item;
	size_t n;
};

struct key_shape;

struct key {
	const char *name; /* NULL ends a table */
	enum key_type type;
	size_t offset;
	bool must;
	double min, max;
	const struct key_shape *shape; /* of KEY_MAP and the like */
	const char *
		short_form; /* KEY_LIST: an entry that is a text stands for an object of this one key */
};

struct key_shape {
	const struct key *key;
	size_t size;
	const void *defaults; /* of entries, or NULL: zeros */
};

/**
 * Fill @to, which has its defaults, from @json. @place: where @json stands, "" for the whole. Errors name the key: CVL_E_SYNTAX for a
 * wrong type, CVL_E_MISSING, CVL_E_RANGE, CVL_E_UNKNOWN_ID for a key that is none.
 */
int keys_read(const struct key_shape *shape, const json_t *json, const char *file,
	      const char *place, void *to, struct cvl_error *err);

/** Free the lists in @to. */
void keys_free(const struct key_shape *shape, void *to);

#endif
