/* SPDX-License-Identifier: MIT */
/** The sessions that a view shows: one, or those in a folder, of which a few are open at a time. */
#ifndef VIEW_PLACES_H
#define VIEW_PLACES_H

#include "view/model.h"

struct place {
	char *path;
	struct cvl_session *session; /* opened here; NULL: the caller's, or none */
	struct model model;
	bool open;
	unsigned used; /* when, in turns */
};

struct places {
	struct place *list; /* by path */
	size_t n, room;
	char *folder; /* or NULL: one session */
	struct cvl_view_opts opts;
	void (*changed)(void *ctx); /* as of model_open() */
	void *ctx;
	unsigned turn;
};

/** One session; @p is {0} but for changed and ctx. */
int places_open(struct places *p, struct cvl_session *session, const struct cvl_view_opts *opts,
		struct cvl_error *err);
/** Those in @folder, or in a folder in it. CVL_E_MISSING: there are none. */
int places_scan(struct places *p, const char *folder, const struct cvl_view_opts *opts,
		struct cvl_error *err);
void places_close(struct places *p);

/** What session @i shows; of many, the one that was not asked for for the longest time is closed. */
int places_model(struct places *p, size_t i, struct model **m, struct cvl_error *err);

/** The same, if it is open; else NULL. */
struct model *places_opened(struct places *p, size_t i);

#endif
