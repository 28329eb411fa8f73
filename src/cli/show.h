/* SPDX-License-Identifier: MIT */
/** Records of a session on standard output, as text or JSON lines. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdbool.h>

#include <coeval/timeline.h>

struct show_style {
	const char *event; /* glob; NULL: all */
	bool bounds, ticks, absolute, json;
};

struct show;

/** NULL when out of memory. */
struct show *show_new(const struct show_style *style);

/** Print the records that @opts select. May be called again, to go on where a growing session had ended. */
int show_records(struct show *s, struct cvl_session *session, const struct cvl_timeline_opts *opts,
		 struct cvl_error *err);

/** The reader closed the pipe, or nothing can be written any more. */
bool show_is_over(const struct show *s);

void show_free(struct show *s);

#endif
