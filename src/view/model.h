/* SPDX-License-Identifier: MIT */
/** What a view shows: the streams of a session with their levels of detail, and their clocks' maps. */
#ifndef VIEW_MODEL_H
#define VIEW_MODEL_H

#include <coeval/lod.h>
#include <coeval/timeline.h>
#include <coeval/view.h>

#include "view/messages.h"
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

struct model {
	struct cvl_session *session;
	struct cvl_session *own;    /* the same, opened again since its files changed; or NULL */
	struct timespec changed[2]; /* session.json and sync.json, when it was opened */
	unsigned version;           /* how often it was opened */
	bool read_only;             /* no notes are made */
	struct cvl_timeline *tl;    /* for maps and bounds */
	uint32_t *root;             /* clock -> the first one that is the same */
	struct messages messages;   /* once they are asked for */
	bool has_messages;
	struct studies *studies; /* lives on when it is opened again */
	struct model_stream *stream;
	size_t n, room;
	struct cvl_trace **trace;
	size_t n_traces, room_traces;
};

int model_open(struct model *m, struct cvl_session *session, const struct cvl_view_opts *opts,
	       struct cvl_error *err);
void model_close(struct model *m);

/**
 * Look what is new: streams that grow are read on, and if clocks came, ended or were tied anew, all
 * is opened again, with another version; indexes then mean others.
 */
int model_refresh(struct model *m, struct cvl_error *err);

/** The stream of @m that @tl, a timeline of its session, calls @number; @m->n: none. */
uint32_t model_stream(const struct model *m, const struct cvl_timeline *tl, size_t number);

/** Find its messages, unless that was done; their streams are those of @m. */
int model_messages(struct model *m, struct cvl_error *err);

/**
 * Ticks are told as distances from here, so that they are exact as doubles: a multiple of 2^52, the
 * last one up to the clock's first record.
 */
uint64_t model_base(const struct model *m, size_t clock);

#endif
