/* SPDX-License-Identifier: MIT */
/** --follow: what a verb does with a session while it still grows. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <coeval/follow.h>

#include "cli.h"

struct follow_options {
	bool on;
	int64_t silent_ns; /* 0: not given */
};

/** The rows of a table of options; @at: offset of the struct. */
#define FOLLOW_OPTIONS(at, text)                                                                                  \
	{ "follow", 0, NULL, OPTION_FLAG, (at) + offsetof(struct follow_options, on), (text) },                   \
	{                                                                                                         \
		"silent-after", 0, "TIME", OPTION_DURATION,                                                       \
			(at) + offsetof(struct follow_options, silent_ns),                                        \
			"with --follow: a clock that stores nothing for so long is not waited for (default 10s)", \
			1, INT64_MAX                                                                              \
	}

/**
 * The exit status of a usage error if options do not go together, else 0. @range: of the verb, or
 * NULL.
 */
int follow_check(const struct verb *verb, const struct follow_options *o,
		 const struct cvl_timeline_opts *range);

/**
 * What a verb does as the session grows. Functions may be NULL, and return 0, 1 to end as if the
 * session did, or a negative code.
 */
struct follow_view {
	bool estimated; /* show also what is not final yet */
	int every_ms;   /* flush at least so often; 0: when there is more */
	/** Nothing is opened yet. */
	int (*prepare)(void *ctx, struct cvl_error *err);
	/** The clocks are tied: records come, or there are none. */
	int (*begin)(void *ctx, struct cvl_timeline *tl, struct cvl_error *err);
	int (*slice)(void *ctx, const struct cvl_slice *slice, struct cvl_error *err);
	/** All there is by now was given; @last: no more will be. */
	int (*flush)(void *ctx, const struct cvl_follow *f, bool last, struct cvl_error *err);
	/**
	 * The session, the timeline or the user ended it; another begin follows if the timeline
	 * was replaced. All up to @last was given; CVL_TIME_MAX: all there is.
	 */
	int (*end)(void *ctx, struct cvl_time last, struct cvl_error *err);
};

/**
 * Until the session at @path is closed by its writer, or SIGINT or SIGTERM. CVL_E_NO if that came
 * before its clocks were tied.
 */
int follow_session(const char *path, const struct cvl_follow_opts *opts,
		   const struct follow_view *view, void *ctx, struct cvl_error *err);

/**
 * The same with the rules of sync.json, which stays as it is; @timeline: strict and report.
 */
int follow_recalled(const char *path, const struct follow_options *o,
		    const struct cvl_timeline_opts *timeline, const struct follow_view *view,
		    void *ctx, struct cvl_error *err);

/**
 * The same, like cli_study(): problems are printed. Returns the exit status.
 */
int follow_study(const char *path, const struct follow_options *o,
		 struct cvl_timeline_opts *timeline, const struct follow_view *view, void *ctx);

/** Whether a signal ended it, not its session. */
bool follow_interrupted(void);

/** For struct cvl_follow_opts. */
int follow_silent_ms(const struct follow_options *o);

#endif
