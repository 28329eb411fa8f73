/* SPDX-License-Identifier: MIT */
/**
 * JSON (RFC 8259) as a tree that knows where each value stands, with integers of 64 bits, signed or
 * not: what CTF 2 metadata needs and jansson does not give.
 */
#ifndef CTF_JSON_TREE_H
#define CTF_JSON_TREE_H

#include "store/ctf/internal.h"

enum json_tree_kind {
	TREE_NULL,
	TREE_BOOL,
	TREE_INT,
	TREE_REAL, /* its value is not kept */
	TREE_TEXT,
	TREE_ARRAY,
	TREE_OBJECT,
};

struct json_tree {
	enum json_tree_kind kind;
	bool truth;       /* of a bool */
	bool negative;    /* of an integer */
	uint64_t num;     /* of an integer, as two's complement if it is negative */
	const char *text; /* UTF-8 without NUL */
	const char *key;  /* of a member of an object */
	size_t offset;
	size_t n; /* elements or members: */
	const struct json_tree *first, *next, *same_hash;
};

/**
 * Read the one value of @text[@from, @to). NULL and @err: code and offset, and what is wrong there, not
 * yet where. The tree is in @tree, the texts, copied, in @texts.
 */
const struct json_tree *json_tree_read(struct arena *tree, struct arena *texts, const char *text,
				       size_t from, size_t to, struct cvl_error *err);

/** The member called @key of an object, or NULL; NULL, too, of what is no object. */
const struct json_tree *json_tree_member(const struct json_tree *object, const char *key);

/** Its kind for messages: "a string", "an integer". */
const char *json_tree_kind_name(enum json_tree_kind kind);

#endif
