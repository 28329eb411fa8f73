/* SPDX-License-Identifier: MIT */
/** The options that say what ties the clocks, for every verb that reads observations. */
#ifndef CLI_SYNCOPTS_H
#define CLI_SYNCOPTS_H

#include <coeval/sync.h>

#include "cli.h"

/** What was given on the command line. It points into argv, and must not be moved. */
struct sync_options {
	struct cvl_sync_opts opts;
	const char *match[CVL_RULES_MAX];
	/* session or file, "none", or NULL: the session's own if there is one */
	const char *calibration;
	struct cvl_calibration *loaded;
};

/** Over struct sync_options, without the estimator. */
extern const struct cli_option sync_options_table[];

#define SYNC_OPTIONS(offset)                                                      \
	{                                                                         \
		.kind = OPTION_GROUP, .at = (offset), .group = sync_options_table \
	}

/** Of --estimator: names of all. */
const char *estimator_name(size_t i);
/** What each is. */
extern const struct verb_members estimator_members;

/** Read the calibration that is to be used for the session at @path. */
int sync_options_calibrate(struct sync_options *o, const char *path, struct cvl_error *err);

/** Frees what it read. */
void sync_options_free(struct sync_options *o);

/** cvl_sync_recall(), and say on stderr what came of it. @sync must outlive @o. */
int sync_options_recall(struct sync_options *o, const struct cvl_sync *sync, struct cvl_error *err);

#endif
