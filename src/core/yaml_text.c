/* SPDX-License-Identifier: MIT */
#include "core/yaml_text.h"

#include <string.h>

bool yaml_deeper(const char *text, size_t n, unsigned max, size_t *at)
{
	unsigned depth = 0;
	yaml_parser_t parser;
	bool end = false;

	if (!yaml_parser_initialize(&parser))
		return false;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	while (!end && depth <= max) {
		yaml_event_t e;

		if (!yaml_parser_parse(&parser, &e))
			break;
		depth += e.type == YAML_MAPPING_START_EVENT || e.type == YAML_SEQUENCE_START_EVENT;
		depth -= e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT;
		end = e.type == YAML_STREAM_END_EVENT;
		*at = e.start_mark.index;
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&parser);
	return depth > max;
}

const char *yaml_scalar(const yaml_node_t *n)
{
	const char *s =
		n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;

	return s && strlen(s) == n->data.scalar.length ? s : NULL;
}

uint64_t yaml_byte(const char *text, size_t len, size_t begin, size_t mark)
{
	size_t at = begin;

	while (at < len && mark) {
		at++;
		while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80)
			at++;
		mark--;
	}
	return at;
}
