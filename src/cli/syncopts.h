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
	const char *
		calibration; /* session or file, "none", or NULL: the session's own if there is one */
	struct cvl_calibration *loaded;
};

/* Above whatever a verb calls its own. */
enum {
	SYNC_OPT_MATCH = 1000,
	SYNC_OPT_PULSE,
	SYNC_OPT_BEACON,
	SYNC_OPT_ALIGN,
	SYNC_OPT_START_BOUND,
	SYNC_OPT_ESTIMATOR,
	SYNC_OPT_REFERENCE,
	SYNC_OPT_DRIFT,
	SYNC_OPT_WANDER,
	SYNC_OPT_CALIBRATION,
	SYNC_OPT_STRICT
};

/* clang-format off */
/** Their entries in a verb's table of long options. */
#define SYNC_OPTIONS                                                     \
	{ "match", required_argument, NULL, SYNC_OPT_MATCH },            \
	{ "pulse", required_argument, NULL, SYNC_OPT_PULSE },            \
	{ "beacon", required_argument, NULL, SYNC_OPT_BEACON },          \
	{ "align", required_argument, NULL, SYNC_OPT_ALIGN },            \
	{ "start-bound", required_argument, NULL, SYNC_OPT_START_BOUND }, \
	{ "estimator", required_argument, NULL, SYNC_OPT_ESTIMATOR },    \
	{ "reference", required_argument, NULL, SYNC_OPT_REFERENCE },    \
	{ "max-drift", required_argument, NULL, SYNC_OPT_DRIFT },        \
	{ "wander", required_argument, NULL, SYNC_OPT_WANDER },          \
	{ "calibration", required_argument, NULL, SYNC_OPT_CALIBRATION }, \
	{ "strict", no_argument, NULL, SYNC_OPT_STRICT }
/* clang-format on */

/**
 * Take option @c, with @arg (which is cut up and kept), as getopt_long() gave it. Returns 0, the exit status of wrong
 * usage, or -1 if it is none of them.
 */
int sync_option(struct sync_options *o, int c, char *arg, const struct verb *verb);

/** Read the calibration that is to be used for the session at @path. */
int sync_options_calibrate(struct sync_options *o, const char *path, struct cvl_error *err);

/** Frees what it read. */
void sync_options_free(struct sync_options *o);

/** cvl_sync_recall(), and say on stderr what came of it. @sync must outlive @o. */
int sync_options_recall(struct sync_options *o, const struct cvl_sync *sync, struct cvl_error *err);

#endif
