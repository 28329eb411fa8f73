/* SPDX-License-Identifier: MIT */
#include "core/nesting.h"

#include <yaml.h>

bool cvl_yaml_deeper(const char *text, size_t n, unsigned max, size_t *at)
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
