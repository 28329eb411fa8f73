/* SPDX-License-Identifier: MIT */
/** Messages of a session, by the rules that it was synchronised with. */
#ifndef VIEW_MESSAGES_H
#define VIEW_MESSAGES_H

#include <coeval/timeline.h>

#include "core/spill.h"

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
	struct spill block; /* where it lies, once all are found */
};

/**
 * Find those of @tl, from its begin, in the order in which they were sent; none without such rules.
 * CVL_E_LIMIT: there are more than a million, and those that were received first are there; what is
 * wrong with its streams; CVL_E_CANCELLED.
 */
int messages_find(struct messages *m, struct cvl_timeline *tl, struct cvl_error *err);
/** Nobody looks for now: give memory back. */
void messages_rest(const struct messages *m);
void messages_free(struct messages *m);

#endif
