/* SPDX-License-Identifier: MIT */
/** One YAML document, and failing at a place in it. */
#ifndef YAML_LOAD_H
#define YAML_LOAD_H

#include <coeval/error.h>

#include "yaml/text.h"

struct yaml_file {
	yaml_document_t doc;
	const char *name; /* for messages */
	struct cvl_error *err;
};

/**
 * Read the one document of @text into @f, whose name and err are set: CVL_E_SYNTAX; CVL_E_LIMIT if it is nested deeper than @depth. To
 * be freed with yaml_document_delete() if this returns 0. An empty text has no root.
 */
int yaml_file_load(struct yaml_file *f, const char *text, size_t n, unsigned depth);

/** CVL_E_SYNTAX, "NAME:LINE: ...", at @at (NULL: the first line). */
int yaml_file_bad(const struct yaml_file *f, const yaml_node_t *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
