/* SPDX-License-Identifier: MIT */
/** What a study of power found, as tables and for other programs. */
#ifndef CLI_POWER_VIEW_H
#define CLI_POWER_VIEW_H

#include "analysis/power/power.h"
#include "cli.h"

/** Intervals of one kind, by one source. */
struct power_row {
	size_t source, clock;
	bool high;
	struct power_sum sum;
	struct power_sum least,
		most; /* of the one interval with readings that took the least and the most */
};

struct power_view {
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct power_opts opts;
	const char *points; /* A..B as it was given */
	bool each, json;
	struct power_result result;
	struct power_row *row;
	size_t n_rows;
	uint64_t listed;
	struct cvl_out *out;
};

/** Take an interval: power_study()'s put, with the view as its ctx. With each, it is written at once. */
int power_view_put(void *view, const struct power_span *span);

/** All the rest. */
void power_view_text(struct power_view *v);
void power_view_json(struct power_view *v);

#endif
