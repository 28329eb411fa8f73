/* SPDX-License-Identifier: MIT */
#include "core/yaml_load.h"

static int load(const struct yaml_one *how, void *reader, yaml_parser_t *parser)
{
	return yaml_parser_load(parser, how->doc) ? 0 : how->broken(reader, parser);
}

static int read_all(const struct yaml_one *how, void *reader, yaml_parser_t *parser)
{
	const yaml_node_t *root;
	int rc = load(how, reader, parser);

	if (rc)
		return rc;
	rc = how->read(reader);
	yaml_document_delete(how->doc);
	if (!rc)
		rc = load(how, reader, parser);
	if (rc)
		return rc;
	root = yaml_document_get_root_node(how->doc);
	rc = root ? how->more(reader, root) : 0;
	yaml_document_delete(how->doc);
	return rc;
}

int yaml_one_read(const struct yaml_one *how, void *reader, const char *text, size_t n,
		  struct cvl_error *err)
{
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return cvl_no_memory(err);
	yaml_parser_set_encoding(&parser, how->encoding);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	rc = read_all(how, reader, &parser);
	yaml_parser_delete(&parser);
	return rc;
}

int yaml_each(yaml_document_t *doc, int (*read)(void *reader, const yaml_node_t *item),
	      void *reader)
{
	const yaml_node_t *root = yaml_document_get_root_node(doc);
	int rc = 0;

	if (root->type != YAML_SEQUENCE_NODE)
		return read(reader, root);
	for (yaml_node_item_t *i = root->data.sequence.items.start;
	     !rc && i < root->data.sequence.items.top; i++)
		rc = read(reader, yaml_document_get_node(doc, *i));
	return rc;
}
