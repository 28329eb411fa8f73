/* SPDX-License-Identifier: MIT */
/** The clock maps of a session that grows, solved as it does, in a thread of its own. */
#ifndef VIEW_LIVE_H
#define VIEW_LIVE_H

#include <coeval/session.h>
#include <coeval/sync.h>

#define LIVE_CLOCKS 4096 /* of more it is not told which are silent */

struct live;

/** What is known by now. */
struct live_state {
	int64_t settled; /* ns: times before are final; INT64_MIN: none; INT64_MAX: all */
	int64_t stored; /* all clocks that are not silent have stored their records before; INT64_MIN */
	bool ended;     /* no more will come */
	char waits_for[200]; /* a clock that holds up others, or "" */
	char problem[CVL_ERROR_TEXT];
	bool silent[LIVE_CLOCKS]; /* of each clock: it stores nothing, and is not waited for */
};

/**
 * Follow @session, by the rules of its sync.json if there is one, until live_end(). The session stays
 * as it is. @changed is called, in that thread, when there is something to take.
 */
int live_begin(struct live **l, const struct cvl_session *session, void (*changed)(void *ctx),
	       void *ctx, struct cvl_error *err);
/** NULL is allowed. */
void live_end(struct live *l);

/**
 * Whether there is something newer than what was last taken: *@state, valid until the next call, and
 * *@sync, the caller's, or NULL if only the state is another.
 */
bool live_take(struct live *l, struct cvl_sync **sync, const struct live_state **state);

/** The rules by which it is followed, as sync.json has them; "": none were given. */
const char *live_rules(const struct live *l);

/** Maps as they are known now, the caller's, in any thread; NULL: there are none yet. */
struct cvl_sync *live_copy(struct live *l);

#endif
