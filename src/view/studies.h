/* SPDX-License-Identifier: MIT */
/**
 * The analyses of a session, run in a thread of their own, as intervals and places worth a look.
 * Each makes its own pass with only what it needs, so that what is wrong with one is told beside
 * the results of the others.
 */
#ifndef VIEW_STUDIES_H
#define VIEW_STUDIES_H

#include <coeval/view.h>

#include "view/intervals.h"
#include "view/live.h"
#include "view/messages.h"

/** A problem of an analysis. */
struct study_problem {
	const char *of;
	char text[CVL_ERROR_TEXT];
};

#define STUDIES 8

struct study_result {
	uint32_t version; /* 0: there is none yet */
	struct intervals all;
	struct messages messages;
	struct study_problem problem[STUDIES];
	size_t n_problems;
};

struct studies;

/**
 * Begin on the session @path, with the maps of @live if it is not NULL; @ask and @live must outlive
 * them. @changed is called, in their thread, when there is something new. CVL_E_NOMEM.
 */
int studies_begin(struct studies **s, const char *path, const struct cvl_view_studies *ask,
		  struct live *live, void (*changed)(void *ctx), void *ctx, struct cvl_error *err);
/** NULL is allowed. */
void studies_end(struct studies *s);

/** The session changed: they are made again, but for no more than a fifth of the time. */
void studies_again(struct studies *s);

/** Wait for the first, but no longer than so many seconds. */
void studies_wait(struct studies *s, int seconds);

/** The newest, valid until the next call. @done: how far they are, 0 to 1; 1: nothing is under way. */
const struct study_result *studies_result(struct studies *s, double *done);

#endif
