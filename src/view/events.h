/* SPDX-License-Identifier: MIT */
/** Streams of news: answers that go on, of which each event is what is new (news.h). */
#ifndef VIEW_EVENTS_H
#define VIEW_EVENTS_H

#include <microhttpd.h>

#include "view/places.h"

struct events;

/** Of sessions of @places, which must outlive it. CVL_E_ENV, CVL_E_NOMEM. */
int events_open(struct events **e, struct places *places, struct cvl_error *err);
/** All streams end soon; their daemon can be stopped then. */
void events_end(struct events *e);
/** After the daemon was stopped. NULL is allowed. */
void events_close(struct events *e);

/** Something may be new; from any thread. @events as a callback's context. */
void events_wake(void *events);

/** An answer, in the thread of the daemon, that tells what is new of session @place. NULL: no memory. */
struct MHD_Response *events_stream(struct events *e, struct MHD_Connection *c, size_t place);

#endif
