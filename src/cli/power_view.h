/* SPDX-License-Identifier: MIT */
/** What a study of power found, as tables and for other programs. */
#ifndef CLI_POWER_VIEW_H
#define CLI_POWER_VIEW_H

#include <coeval/power.h>

#include "cli.h"
#include "json.h"

struct power_view {
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct cvl_power_opts opts;
	const char *points; /* A..B as it was given */
	bool each, json;
	const struct cvl_power_result *result;
	uint64_t listed;
	struct cvl_out *out;
	struct js js; /* on out */
};

/** Write an interval at once: a cvl_power_opts' put, with the view as its ctx. */
int power_view_put(void *view, const struct cvl_power_interval *interval,
		   const struct cvl_power_result *result);

/** All the rest. */
void power_view_text(struct power_view *v);
void power_view_json(struct power_view *v);

#endif
