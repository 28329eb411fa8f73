/* SPDX-License-Identifier: MIT */
/** Shared by the files of CTF 2 metadata: ctf2.c and ctf2_types.c read it, ctf2_put.c writes it. */
#ifndef STORE_CTF_CTF2_H
#define STORE_CTF_CTF2_H

#include "store/ctf/json_tree.h"

#define CTF2_BUCKETS 1024

struct ctf2_alias {
	const char *name;
	const struct cvl_type *type;
	struct ctf2_alias *next;
};

struct ctf2 {
	struct cvl_trace *trace;
	const char *text, *name; /* of the metadata, which it is called */
	struct cvl_error *err;
	int code;
	struct arena tree;                /* of one fragment */
	const struct json_tree *fragment; /* being read, its number from 1: */
	unsigned number;
	struct ctf2_alias *alias[CTF2_BUCKETS]; /* by hash */
	uint32_t n_aliases;
	const char *clock_id[CTF_CLOCKS_MAX]; /* of the trace's clocks */
	unsigned depth;
	unsigned checked; /* fields whose roles were looked at */
	bool trace_seen, stream_seen;
};

/** A property that an object may have; kinds: bits 1 << enum json_tree_kind. */
struct ctf2_property {
	const char *name;
	unsigned kinds;
	bool required;
};

#define CTF2_TEXT (1u << TREE_TEXT)
#define CTF2_INT (1u << TREE_INT)
#define CTF2_ARRAY (1u << TREE_ARRAY)
#define CTF2_OBJECT (1u << TREE_OBJECT)
#define CTF2_ANY (~0u)

/** The first error stays. @at: what it is about, in the fragment. Always returns NULL. */
void *ctf2_bad(struct ctf2 *p, enum cvl_code code, const struct json_tree *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void *ctf2_need_memory(struct ctf2 *p, size_t n);

/**
 * Look up the @n properties of @object; got[i] is NULL where it has none. What is neither of them nor
 * an attribute is an error.
 */
bool ctf2_take(struct ctf2 *p, const struct json_tree *object, const struct ctf2_property *property,
	       size_t n, const struct json_tree **got);

/** @at, or @otherwise if it is NULL, as a number up to @max. */
uint64_t ctf2_uint(struct ctf2 *p, const struct json_tree *at, uint64_t otherwise, uint64_t max);

/** Where an alias called @name is, or belongs. */
struct ctf2_alias **ctf2_alias(struct ctf2 *p, const char *name);

/* ---- ctf2_types.c ---- */

/** Scopes, as locations call them. */
extern const char *const ctf2_origins[CVL_SCOPES];

/** A field class, or the name of an alias. */
const struct cvl_type *ctf2_type(struct ctf2 *p, const struct json_tree *j);
/** The class of scope @scope, a structure whose fields have roles of that scope only; NULL: @j is. */
const struct cvl_type *ctf2_scope(struct ctf2 *p, const struct json_tree *j, enum cvl_scope scope,
				  bool has_clock);

#endif
