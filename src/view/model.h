/* SPDX-License-Identifier: MIT */
/** What a view shows: the streams of a session with their levels of detail, and their clocks' maps. */
#ifndef VIEW_MODEL_H
#define VIEW_MODEL_H

#include <coeval/lod.h>
#include <coeval/timeline.h>
#include <coeval/view.h>

#include "view/live.h"
#include "view/studies.h"

#include <time.h>

struct model_stream {
	size_t clock; /* of the session */
	size_t of;    /* clock in whose trace it is, and its number there */
	size_t number;
	struct cvl_trace *trace; /* shared by the streams of a trace */
	struct cvl_lod *lod;
	bool grows;
};

#define MODEL_HISTORY 64

struct model {
	struct cvl_session *session;
	struct cvl_session *opened; /* the same, opened again since its files changed; or NULL */
	struct timespec when[2];    /* of session.json and sync.json */
	unsigned version;           /* how often it was opened */
	bool read_only;             /* no notes are made */
	struct cvl_timeline *tl;    /* for maps and bounds */
	/* of a session that grows: its maps, which lives on when it is opened again; or NULL */
	struct live *live;
	struct live_state state;
	unsigned maps; /* how often they changed while it was open */
	struct {
		unsigned maps;
		int64_t settled;
	} history[MODEL_HISTORY]; /* the last ones, by their number */
	uint32_t *root;           /* clock -> the first one that is the same */
	uint32_t *own;            /* stream of a timeline -> of this */
	size_t n_own;
	struct studies *studies; /* lives on when it is opened again */
	const struct cvl_view_opts *opts;
	void (*changed)(void *ctx); /* something may be new; from any thread */
	void *ctx;
	struct model_stream *stream;
	size_t n, room;
	struct cvl_trace **trace;
	size_t n_traces, room_traces;
};

/**
 * Open @session; @opts must outlive it. @changed, from any thread, when something may be new, which
 * model_refresh() then looks for; NULL: nobody asks.
 */
int model_open(struct model *m, struct cvl_session *session, const struct cvl_view_opts *opts,
	       void (*changed)(void *ctx), void *ctx, struct cvl_error *err);
void model_close(struct model *m);

/**
 * Look what is new: streams that grow are read on, and if clocks came, ended or were tied anew, all
 * is opened again, with another version; indexes then mean others.
 */
int model_refresh(struct model *m, struct cvl_error *err);

/** The stream of @m that a timeline of its session calls @number; @m->n: none. */
uint32_t model_stream(const struct model *m, size_t number);

/** Times before this are as they were when it had maps number @maps. INT64_MIN: none are. */
int64_t model_same_until(const struct model *m, unsigned maps);

/**
 * Ticks are told as distances from here, so that they are exact as doubles: a multiple of 2^52, the
 * last one up to the clock's first record.
 */
uint64_t model_base(const struct model *m, size_t clock);

#endif
