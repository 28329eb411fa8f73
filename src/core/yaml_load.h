/* SPDX-License-Identifier: MIT */
/** Reading a text that is one YAML document. */
#ifndef YAML_LOAD_H
#define YAML_LOAD_H

#include <coeval/error.h>

#include "core/yaml_text.h"

/** How a text of one document is read. The functions return 0 or a negative code with their error filled, and get the reader's own @reader. */
struct yaml_one {
	yaml_document_t *doc; /* where documents are loaded to */
	yaml_encoding_t encoding;
	int (*read)(void *reader);                                /* the document */
	int (*broken)(void *reader, const yaml_parser_t *parser); /* fails: this is no YAML */
	int (*more)(void *reader,
		    const yaml_node_t
			    *root); /* fails: another document follows, which nobody would miss */
};

/** What the functions return; CVL_E_NOMEM. */
int yaml_one_read(const struct yaml_one *how, void *reader, const char *text, size_t n,
		  struct cvl_error *err);

/** Hand each item of the list that is the root of @doc to @read, or the root if it is none; up to the first that fails. */
int yaml_each(yaml_document_t *doc, int (*read)(void *reader, const yaml_node_t *item),
	      void *reader);

#endif
