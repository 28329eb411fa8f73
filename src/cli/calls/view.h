/* SPDX-License-Identifier: MIT */
/** What `coeval calls` found, as text and JSON. */
#ifndef CLI_CALLS_VIEW_H
#define CLI_CALLS_VIEW_H

#include <coeval/calls.h>

struct calls_view {
	const char *session;
	const struct cvl_analysis *a;
	const struct cvl_calls_result *r; /* of it */
	size_t top;                       /* rows of a table */
	bool off_cpu;                     /* of stacks: times when the thread did not run */
};

void calls_view_text(const struct calls_view *v, struct cvl_out *o);
void calls_view_json(const struct calls_view *v, struct cvl_out *o);

#endif
