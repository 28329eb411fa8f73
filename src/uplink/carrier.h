/* SPDX-License-Identifier: MIT */
/**
 * What carries messages between nodes and their collector: NATS JetStream (nats.h), or a simulation
 * in the process (loop.h). It may lose, repeat and reorder what it was given, also what it said it
 * has: durable are the node's session and the collector's.
 *
 * Both ends are used in the same way: poll the descriptor, take events until there are none. One
 * thread at a time.
 */
#ifndef UPLINK_CARRIER_H
#define UPLINK_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

/** What is said beside the packets: lost if nobody listens. */
enum carrier_topic {
	CARRIER_ASK,  /* node to collector: what do you have? */
	CARRIER_LIVE, /* node to collector, every second: how it is */
	CARRIER_HAVE, /* collector to node: what is stored */
	CARRIER_TOPICS
};

enum carrier_kind {
	CARRIER_READY,   /* connected; after a loss again */
	CARRIER_GONE,    /* the connection was lost: what was under way may be as well */
	CARRIER_TAKEN,   /* at a node: message `ticket` is in the carrier */
	CARRIER_REFUSED, /* at a node: it is not, for the reason `text`; `full`: there is no room */
	CARRIER_MESSAGE, /* at the collector: a message of `node`, from its `clock` */
	CARRIER_TOLD,    /* `topic` was told: at the collector by `node` */
	CARRIER_PROBLEM, /* `text` for the user */
	CARRIER_CLOSED,  /* it gave up, for the reason `text`; no other event follows */
};

struct carrier_event {
	enum carrier_kind kind;
	enum carrier_topic topic;
	uint64_t ticket; /* of a message: for carrier_forget() */
	bool full;
	const char *node, *clock, *text; /* or NULL */
	const void *body;
	size_t n;
};

struct carrier {
	const struct carrier_ops *ops;
};

struct carrier_ops {
	bool (*send)(struct carrier *c, const char *clock, const void *body, size_t n,
		     uint64_t ticket);
	bool (*tell)(struct carrier *c, const char *node, enum carrier_topic topic,
		     const void *body, size_t n);
	bool (*next)(struct carrier *c, struct carrier_event *e);
	void (*forget)(struct carrier *c, uint64_t ticket);
	void (*shard)(struct carrier *c, unsigned shard);
	size_t (*largest)(const struct carrier *c);
	int (*fd)(const struct carrier *c);
	void (*flush)(struct carrier *c, int timeout_ms);
	void (*close)(struct carrier *c);
};

/**
 * At a node: pass on a message of @clock. True: CARRIER_TAKEN or CARRIER_REFUSED with @ticket
 * follows. False: not connected.
 */
static inline bool carrier_send(struct carrier *c, const char *clock, const void *body, size_t n,
				uint64_t ticket)
{
	return c->ops->send(c, clock, body, n, ticket);
}

/** Tell @node (at a node: NULL, the collector) something. False: not connected. */
static inline bool carrier_tell(struct carrier *c, const char *node, enum carrier_topic topic,
				const void *body, size_t n)
{
	return c->ops->tell(c, node, topic, body, n);
}

/** The next event, valid until the next call; false: none now. */
static inline bool carrier_next(struct carrier *c, struct carrier_event *e)
{
	return c->ops->next(c, e);
}

/** At the collector: messages up to @ticket are dealt with, and need not be kept. */
static inline void carrier_forget(struct carrier *c, uint64_t ticket)
{
	c->ops->forget(c, ticket);
}

/** At a node: the collector that takes its messages. 0 until told. */
static inline void carrier_shard(struct carrier *c, unsigned shard)
{
	c->ops->shard(c, shard);
}

/** Bytes of the largest message; 0: not known yet. */
static inline size_t carrier_largest(const struct carrier *c)
{
	return c->ops->largest(c);
}

/** Readable when there may be an event; -1: none is needed. */
static inline int carrier_fd(const struct carrier *c)
{
	return c->ops->fd(c);
}

/** Wait until what was told has left, before the end. */
static inline void carrier_flush(struct carrier *c, int timeout_ms)
{
	c->ops->flush(c, timeout_ms);
}

static inline void carrier_close(struct carrier *c)
{
	if (c)
		c->ops->close(c);
}

#endif
