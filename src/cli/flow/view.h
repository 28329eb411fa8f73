/* SPDX-License-Identifier: MIT */
/** Output of `coeval flow`. */
#ifndef CLI_FLOW_VIEW_H
#define CLI_FLOW_VIEW_H

#include <coeval/flow.h>

/** An item of the path: a line of text, or of JSON. */
void flow_view_item(const struct cvl_flow_map *map, const char *clock,
		    const struct cvl_flow_item *item, bool json, struct cvl_out *o);

/** The summary. */
void flow_view_text(const struct cvl_flow_result *r, struct cvl_out *o);
void flow_view_json(const struct cvl_flow_result *r, const char *session, struct cvl_out *o);

#endif
