/* SPDX-License-Identifier: MIT */
/** Shared by those who read flow maps from YAML. */
#ifndef ANALYSIS_FLOW_READER_H
#define ANALYSIS_FLOW_READER_H

#include "analysis/flow/flow.h"
#include "core/yaml_text.h"

struct flow_reader {
	yaml_document_t doc;
	struct cvl_flow_map *map;
	bool program; /* codes may be missing */
	struct cvl_error *err;
};

/** Fail at a place in the file: "FILE:LINE: ...". */
int flow_bad(const struct flow_reader *r, enum cvl_code code, const yaml_node_t *at,
	     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int flow_reader_no_memory(const struct flow_reader *r);

/** Value of @key in a mapping, or NULL. */
yaml_node_t *flow_child(struct flow_reader *r, const yaml_node_t *map, const char *key);
/** @map is a mapping of keys in @known (ended by NULL, up to 32), each once; else @says tells which there are. */
int flow_check_keys(struct flow_reader *r, const yaml_node_t *map, const char *const *known,
		    const char *says);

/** Letters, digits and '_', up to CVL_FLOW_NAME_MAX. */
bool flow_is_name(const char *s);
/** Number of the pin called so, or -1. */
int flow_find_pin(const struct cvl_flow_map *map, const char *name, size_t len);

int flow_read_points(struct flow_reader *r, const yaml_node_t *root);

#endif
