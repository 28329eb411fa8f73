/* SPDX-License-Identifier: MIT */
/**
 * Traced message queues in shared memory, for both ends. A message is stamped before it can be seen
 * and after it was seen, so that the two stamps are in order on the true time. To be included after
 * tracer/points.h.
 */
#ifndef HETEROGENEOUS_QUEUE_H
#define HETEROGENEOUS_QUEUE_H

#include "shared.h"

/** Returns 0 if the queue is full. */
static inline int queue_send(struct tracer *t, struct queue *q, uint16_t number,
			     const struct message *m)
{
	uint32_t sent = q->sent;
	struct message *slot = &q->slot[sent % QUEUE_SLOTS];

	if (sent - tracersync_load(&q->received) >= QUEUE_SLOTS)
		return 0;
	tracersync_fence();
	*slot = *m;
	slot->seq = sent + 1u;
	trace_message_send(t, number, sent + 1u, sizeof(*m));
	tracersync_fence();
	tracersync_store(&q->sent, sent + 1u);
	return 1;
}

static inline int queue_waits(const struct queue *q)
{
	return tracersync_load(&q->sent) != q->received;
}

/** Returns 0 if there is no message. */
static inline int queue_receive(struct tracer *t, struct queue *q, uint16_t number,
				struct message *m)
{
	if (!queue_waits(q))
		return 0;
	tracersync_fence();
	*m = q->slot[q->received % QUEUE_SLOTS];
	trace_message_receive(t, number, m->seq, sizeof(*m));
	tracersync_fence();
	tracersync_store(&q->received, q->received + 1u);
	return 1;
}

#endif
