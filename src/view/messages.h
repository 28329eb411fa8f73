/* SPDX-License-Identifier: MIT */
/** Messages of a session, by the rules that it was synchronised with. */
#ifndef VIEW_MESSAGES_H
#define VIEW_MESSAGES_H

#include <coeval/timeline.h>

/** An end: an event of a class of a stream, as the timeline numbers it. */
struct message_end {
	uint32_t stream, class, clock;
	uint64_t tick;
};

struct message {
	int64_t sent_ns;
	struct message_end from, to;
};

struct messages {
	struct message *list; /* by sent_ns */
	size_t n, room;
	bool more; /* than are kept */
};

/** Find all of @session's, up to a million; none without such rules. CVL_E_NOMEM, what is wrong with its streams. */
int messages_find(struct messages *m, struct cvl_session *session, struct cvl_error *err);
void messages_free(struct messages *m);

#endif
