/* SPDX-License-Identifier: MIT */
/**
 * Configuration files (worlds, rules, maps, devices, benches), read by tables of their keys.
 *
 * A file is one document of YAML, or of JSON, which is read as YAML. Every error is
 * "FILE:LINE:COLUMN: ..." (both from 1, columns in characters); the error's offset is the byte.
 * CVL_E_SYNTAX: not YAML, or not as the tables require; CVL_E_LIMIT: too large or too deep for a
 * configuration. What a table cannot express is checked by a hook, with codes of its own.
 *
 * Anchors (&name) and aliases (*name) are supported; merge keys (<<) are not. JSON's escapes of
 * characters beyond U+FFFF (pairs of \uD800 to \uDFFF) are refused, as libyaml does not know them.
 */
#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#define CONFIG_BYTES_MAX (1u << 20)
#define CONFIG_DEPTH_MAX 16
#define CONFIG_NODES_MAX 100000
#define CONFIG_ANCHORS_MAX 64
/** Maximum entries of a list that does not state its own. */
#define CONFIG_LIST_MAX 10000

struct config;

/** Owns what was read: texts, lists. Start with NULL; call config_free() also after an error. */
struct config_memory;

/** @n zeroed bytes for any type; NULL: out of memory. */
void *config_alloc(struct config_memory **memory, size_t n);
void config_free(struct config_memory **memory);

enum config_type {
	CONFIG_TEXT,  /* const char *, of at least @min bytes, and at most @max unless that is 0 */
	CONFIG_CHARS, /* char[@max + 1], of at least @min bytes */
	CONFIG_TIME,  /* int64_t, ns; "250ms" */
	CONFIG_RATE,  /* uint64_t, Hz; "8 MHz" */
	CONFIG_U64,   /* whole numbers in decimal */
	CONFIG_UNSIGNED, /* unsigned, or uint32_t */
	CONFIG_REAL,     /* double */
	CONFIG_BOOL,     /* bool */
	CONFIG_WORD,     /* an enum: @min is the first of @words, and so on */
	CONFIG_OWN,      /* converted from text by @take; described by @what */
	CONFIG_MAP,      /* a struct */
};

enum config_many {
	CONFIG_ONE,
	CONFIG_LIST,
	CONFIG_ONE_OR_LIST, /* a single value is a list of one */
	CONFIG_NAMED, /* a mapping; each value is a struct whose first member (a text) is its key */
};

struct config_key {
	const char *name; /* NULL ends a table */
	enum config_type type;
	size_t offset; /* in the struct */
	bool must;     /* required */
	bool or_zero;  /* 0 is allowed below @min: none, or the default */
	bool string;   /* a text: unquoted numbers, true, false and null are rejected */
	double min, max;
	const char *const *words;     /* ended by NULL */
	bool (*is)(const char *text); /* of texts: further requirement, described by @what */
	bool (*take)(const char *text, void *to);
	const char *what;                 /* "a time from 1ms to 5s" */
	const struct config_shape *shape; /* of MAP */

	enum config_many many;
	size_t length;      /* of lists: offset of its size_t */
	size_t least, most; /* entries; most 0: CONFIG_LIST_MAX */
	/* the list is an array of @most in the struct; else a pointer to allocated memory */
	bool inside;
};

struct config_shape {
	const char *what; /* "a sender" */
	const struct config_key *key;
	size_t size;
	const void *defaults;   /* of entries of lists, and of the root; NULL: zeros */
	const char *short_form; /* the key set by a value that is not a mapping, or NULL */
	/*
	 * Called when a struct is filled: 0, or a negative code after config_fail(). May be NULL.
	 */
	int (*end)(struct config *c, void *to);
};

/** What to read. */
struct config_source {
	const char *file;              /* its name, also for errors */
	const struct config_key *root; /* the root, without a name */
	void *to;                      /* the struct that @root has its offsets in */
	void *user;                    /* for hooks */
	struct config_memory **memory; /* may be NULL if nothing read needs any */
};

/** Read @n bytes of @text. */
int config_parse(const struct config_source *source, const char *text, size_t n,
		 struct cvl_error *err);

/** Read the file, of at most CONFIG_BYTES_MAX. */
int config_load(const struct config_source *source, struct cvl_error *err);

/* ---- for hooks ---- */

void *config_user(const struct config *c);
struct config_memory **config_memory(struct config *c);

/**
 * Fail at the value that was read into @field (each list entry has its own); if there was none, at
 * the mapping that it belongs to or that was read into it.
 */
int config_fail(const struct config *c, const void *field, enum cvl_code code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/** The same for the whole of the mapping that was read into @entry. */
int config_fail_in(const struct config *c, const void *entry, enum cvl_code code, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));
int config_no_memory(const struct config *c);

/** Their positions, for later errors; both from 1. */
struct config_mark {
	unsigned line, column;
};

struct config_mark config_mark(const struct config *c, const void *field);
struct config_mark config_mark_in(const struct config *c, const void *entry);

/** Whether @s has no control characters: C0, DEL, and C1 as UTF-8. For @is. */
bool config_is_line(const char *s);

/* ---- for structs that were not read ---- */

#define CONFIG_SAYS 360

/** An invalid value. */
struct config_flaw {
	const char *list;  /* the list it is in, such as "clocks", or NULL */
	size_t index;      /* in that list */
	const void *entry; /* the struct it is in */
	const void *field; /* the field at fault in it, or NULL: all of it */
	char text[CONFIG_SAYS];
};

/** Find the first value in the struct @base that could not have been read: true if there is one. */
bool config_find_flaw(const struct config_shape *shape, const void *base, struct config_flaw *flaw);

#endif
