/* SPDX-License-Identifier: MIT */
/**
 * What may stand in a world, as tables: each key with its type, place and limits. The reader (world_file.c) and the
 * checks (world_check.c) both go by them. docs/sim.md tells what the keys mean.
 */
#ifndef SIM_WORLD_KEYS_H
#define SIM_WORLD_KEYS_H

#include "sim/world.h"

enum world_key_type {
	WORLD_KEY_TEXT,  /* char[WORLD_NAME], may be empty */
	WORLD_KEY_IDENT, /* char[WORLD_NAME]: a name that a file may have */
	WORLD_KEY_GLOB,  /* char[WORLD_NAME] */
	WORLD_KEY_TIME,  /* int64_t, ns; "250ms" */
	WORLD_KEY_RATE,  /* uint64_t, Hz; "8 MHz" */
	WORLD_KEY_U64,
	WORLD_KEY_UNSIGNED,
	WORLD_KEY_REAL, /* double */
	WORLD_KEY_BOOL,
	WORLD_KEY_WORD, /* an enum, counted from 0 */
	WORLD_KEY_MAP,  /* a struct */
	WORLD_KEY_LIST, /* an array of WORLD_LIST structs and its size_t length */
};

struct world_shape;

struct world_key {
	const char *name; /* NULL ends a table */
	enum world_key_type type;
	size_t offset;                   /* in the struct */
	double min, max;                 /* of numbers; both can be had */
	bool must;                       /* cannot be left out */
	bool or_zero;                    /* 0 stands for none, or for a default, below @min */
	const char *const *words;        /* ended by NULL */
	const struct world_shape *shape; /* of a map, or of each entry of a list */
	size_t length;                   /* offset of a list's length */
};

struct world_shape {
	const char *what; /* "a sender" */
	const struct world_key *key;
	const void *defaults; /* for entries of lists, and the world */
	size_t size;
};

extern const struct world_shape world_shape;

#define WORLD_SAYS 360

/** Write what a key may be: "`bits` must be a whole number from 8 to 64". */
void world_key_says(const struct world_key *key, char text[WORLD_SAYS]);

/** Write which keys a mapping has: "a program has kind, clocks, period". */
void world_shape_says(const struct world_shape *shape, char text[WORLD_SAYS]);

/** Longer than any name that world_check() lets pass. */
#define WORLD_MEMBER (WORLD_NAME + 12)

/** Name of clock @k of a group, from 1; returns its length. */
size_t world_member_name(const struct world_clocks *group, unsigned k, char text[WORLD_MEMBER]);

/** Something that cannot be. */
struct world_flaw {
	const char *list;  /* the list it is in, such as "clocks", or NULL */
	size_t index;      /* in that list */
	const void *entry; /* the struct it is in */
	const void *field; /* the field at fault in it, or NULL: all of it */
	char text[WORLD_SAYS];
};

/** Find the first flaw of @w; false if there is none. */
bool world_find_flaw(const struct world *w, struct world_flaw *flaw);

#endif
