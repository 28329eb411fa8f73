/* SPDX-License-Identifier: MIT */
/** Options that say what a view looks for. */
#ifndef CLI_VIEW_ASK_H
#define CLI_VIEW_ASK_H

#include <coeval/view.h>

#include "calls/config.h"

struct view_ask {
	struct calls_options calls;
	const char *check, *flow, *power, *line, *points;
	double unit;

	/* what they name */
	struct cvl_calls_config *config;
	struct cvl_check_rules *rules;
	struct cvl_flow_map map;
	bool has_map;
	struct cvl_selector select[2];
	struct cvl_power_opts energy;
};

/** @member: of struct @of, of this type. */
#define VIEW_ASK_OPTIONS(of, member)                                                               \
	{ .kind = OPTION_HEADING, .what = "What is looked for, besides losses, calls and tasks" }, \
		{ "check",                                                                         \
		  0,                                                                               \
		  "RULES",                                                                         \
		  OPTION_FILE,                                                                     \
		  offsetof(of, member.check),                                                      \
		  "violations of these rules (YAML, as for `coeval check`)" },                     \
		{ "flow",                                                                          \
		  0,                                                                               \
		  "MAP",                                                                           \
		  OPTION_FILE,                                                                     \
		  offsetof(of, member.flow),                                                       \
		  "paths, by this map (YAML, as for `coeval flow`)" },                             \
		{ "power",                                                                         \
		  0,                                                                               \
		  "CHANNEL",                                                                       \
		  OPTION_SELECTOR,                                                                 \
		  offsetof(of, member.power),                                                      \
		  "energy by this channel of watts: of --line, of --between, or of all" },         \
		{ "unit",                                                                          \
		  0,                                                                               \
		  "X",                                                                             \
		  OPTION_REAL,                                                                     \
		  offsetof(of, member.unit),                                                       \
		  "what one of the channel's units is: 0.001 for mW" },                            \
		{ "line",                                                                          \
		  0,                                                                               \
		  "LINE",                                                                          \
		  OPTION_LINE,                                                                     \
		  offsetof(of, member.line),                                                       \
		  "energy while that line is high, and while it is low" },                         \
		{ "between",                                                                       \
		  0,                                                                               \
		  "A..B",                                                                          \
		  OPTION_SELECTOR,                                                                 \
		  offsetof(of, member.points),                                                     \
		  "energy from each A to the next B on the same node" },                           \
		CALLS_OPTIONS(of, member.calls)

/** Returns an exit status, or -1 to go on. */
int view_ask_check(const struct verb *verb, const struct view_ask *a);
/** Read what they name into @to, which uses @a. To be freed even after a failure. */
int view_ask_load(struct view_ask *a, struct cvl_view_studies *to, const struct cvl_report *report,
		  struct cvl_error *err);
void view_ask_free(struct view_ask *a);

#endif
