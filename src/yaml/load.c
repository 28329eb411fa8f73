/* SPDX-License-Identifier: MIT */
#include "yaml/load.h"

#include <stdarg.h>
#include <stdio.h>

int yaml_file_bad(const struct yaml_file *f, const yaml_node_t *at, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cvl_fail(f->err, CVL_E_SYNTAX, at ? at->start_mark.index : 0, "%s:%zu: %s", f->name,
			at ? at->start_mark.line + 1 : 1, text);
}

static int load(struct yaml_file *f, yaml_parser_t *parser)
{
	if (yaml_parser_load(parser, &f->doc))
		return 0;
	return cvl_fail(f->err, CVL_E_SYNTAX, parser->problem_mark.index, "%s:%zu: %s", f->name,
			parser->problem_mark.line + 1,
			parser->problem ? parser->problem : "not YAML");
}

/* What follows must be empty: what is passed over would be missed by nobody. */
static int end(struct yaml_file *f, yaml_parser_t *parser)
{
	struct yaml_file more = { .name = f->name, .err = f->err };
	yaml_node_t *root;
	int rc = load(&more, parser);

	if (rc)
		return rc;
	root = yaml_document_get_root_node(&more.doc);
	if (root)
		rc = yaml_file_bad(&more, root, "more than one document; several rules are a list");
	yaml_document_delete(&more.doc);
	return rc;
}

int yaml_file_load(struct yaml_file *f, const char *text, size_t n, unsigned depth)
{
	yaml_parser_t parser;
	size_t deep;
	int rc;

	if (yaml_deeper(text, n, depth, &deep))
		return cvl_fail(f->err, CVL_E_LIMIT, deep, "%s: nested deeper than rules are",
				f->name);
	if (!yaml_parser_initialize(&parser))
		return cvl_fail(f->err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	rc = load(f, &parser);
	if (!rc) {
		rc = end(f, &parser);
		if (rc)
			yaml_document_delete(&f->doc);
	}
	yaml_parser_delete(&parser);
	return rc;
}
