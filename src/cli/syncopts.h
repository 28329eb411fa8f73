/* SPDX-License-Identifier: MIT */
/** The options on what ties the clocks, for every verb that reads observations. */
#ifndef CLI_SYNCOPTS_H
#define CLI_SYNCOPTS_H

#include <coeval/sync.h>

#include "cli.h"

/** The command line's settings. Points into argv, and must not be moved. */
struct sync_options {
	struct cvl_sync_opts opts;
	const char *match[CVL_RULES_MAX];
	/* session or file, "none", or NULL: the session's own, if any */
	const char *calibration;
	struct cvl_calibration *loaded;
	struct cvl_sync *last; /* whose rules were recalled, or NULL */
};

/** Over struct sync_options, without the estimator. */
extern const struct cli_option sync_options_table[];

#define SYNC_OPTIONS(offset)                                                      \
	{                                                                         \
		.kind = OPTION_GROUP, .at = (offset), .group = sync_options_table \
	}

/** For --estimator: the names. */
const char *estimator_name(size_t i);
/** Their descriptions. */
extern const struct verb_members estimator_members;

/** Read the calibration to be used for the session at @path. */
int sync_options_calibrate(struct sync_options *o, const char *path, struct cvl_error *err);

/** Frees what was read. */
void sync_options_free(struct sync_options *o);

/** cvl_sync_recall(), and report on stderr. @sync must outlive @o. */
int sync_options_recall(struct sync_options *o, const struct cvl_sync *sync, struct cvl_error *err);

/**
 * The rules of @session's sync.json, unless some are given; rules that cannot be read are reported,
 * and not used. CVL_E_NOMEM.
 */
int sync_options_recall_of(struct sync_options *o, const struct cvl_session *session,
			   struct cvl_error *err);

/** The same of the session at @path, which need not exist yet. */
int sync_options_recall_from(struct sync_options *o, const char *path, struct cvl_error *err);

#endif
