/* SPDX-License-Identifier: MIT */
/** What the library alone does with a session that is followed. */
#ifndef TIMELINE_FOLLOW_H
#define TIMELINE_FOLLOW_H

#include <coeval/follow.h>

/** As cvl_follow_open(), but what is final is kept in @folder, and the session stays as it is. */
int follow_open_apart(struct cvl_follow **f, const char *path, const char *folder,
		      const struct cvl_follow_opts *opts, struct cvl_error *err);

/**
 * The maps of all clocks from their begin: what is final, and beyond it the best that is known by
 * now. *@sync is NULL before the first step. The caller's.
 */
int follow_maps(const struct cvl_follow *f, struct cvl_sync **sync, struct cvl_error *err);

#endif
