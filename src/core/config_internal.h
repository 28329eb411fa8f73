/* SPDX-License-Identifier: MIT */
/** Between the text of configuration (config.c) and the tables (config_keys.c). */
#ifndef CORE_CONFIG_INTERNAL_H
#define CORE_CONFIG_INTERNAL_H

#include "core/config.h"

enum config_node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/** A part of a document. In a mapping keys and values alternate. */
struct config_node {
	enum config_node_kind kind;
	bool plain;       /* a scalar without quotes */
	const char *text; /* of a scalar; NULL if it holds a NUL */
	size_t at;        /* byte where it begins */
	struct config_mark mark;
	struct config_node *first, *next;
	size_t n; /* of a list, or pairs of a mapping */
};

/** Where a value came from. */
struct config_place {
	const void *field;
	size_t size; /* of a mapping's struct; 0: a value */
	const struct config_node *node;
};

struct config {
	const struct config_source *source;
	const char *text;
	size_t len;
	struct config_memory *scratch; /* the nodes */
	struct config_node *root;      /* NULL: empty */
	size_t n_nodes;
	struct config_place *place;
	size_t n_places, room;
	struct cvl_error *err;
};

/** Fail at byte @at. */
int config_bad(const struct config *c, enum cvl_code code, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** Read the root by the tables. */
int config_read_root(struct config *c);

#endif
