/* SPDX-License-Identifier: MIT */
/** What a study of precision found, as text and for other programs. */
#ifndef CLI_PRECISION_VIEW_H
#define CLI_PRECISION_VIEW_H

#include <coeval/precision.h>

#include "cli.h"

struct precision_view {
	struct cvl_session *session;
	const struct cvl_precision_result *study;
	const char *between; /* A..B as it was given, or NULL */
	const char *svg;
	unsigned gaps; /* that are listed */
	bool json;
};

/** On standard output. CVL_E_NOMEM, CVL_E_IO. */
int precision_view_put(const struct precision_view *v, struct cvl_error *err);
/** The histogram of durations, into v->svg. */
int precision_view_svg(const struct precision_view *v, struct cvl_error *err);

#endif
