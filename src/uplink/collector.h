/* SPDX-License-Identifier: MIT */
/**
 * A collector's end: what comes goes into a spool, and nodes are told what is durable there. It keeps
 * no place in the carrier: that is looked through from its first message on, whenever it begins anew.
 *
 * It has no clock of its own: collector_work() is told the time.
 */
#ifndef UPLINK_COLLECTOR_H
#define UPLINK_COLLECTOR_H

#include "uplink/carrier.h"
#include "uplink/protocol.h"
#include "uplink/spool.h"

struct collector;

struct collector_opts {
	unsigned shard, shards; /* which of how many; the nodes of others are left to them */
	const struct cvl_report *report;
};

/** @spool and @carrier stay the caller's, and must outlive it. */
int collector_open(struct collector **c, struct spool *spool, struct carrier *carrier,
		   const struct collector_opts *opts, struct cvl_error *err);
/** Nodes are told what is stored, as far as they can be reached. */
void collector_close(struct collector *c);

/** What a crash leaves of it: nothing is synced or told any more. */
void collector_abandon(struct collector *c);

/** As sender_work(). */
int collector_work(struct collector *c, int64_t now_ms, int *wait_ms, struct cvl_error *err);

/** A node, as it is known. */
struct collector_node {
	const char *name;
	struct uplink_live live; /* what it said last */
	bool lives;              /* it has said so since the collector began */
	int64_t heard_ms;        /* when anything of it was heard last, or INT64_MIN */
	uint64_t refused;        /* messages that were not taken */
	char why[200];           /* the last reason */
};

size_t collector_nodes(const struct collector *c);
const struct collector_node *collector_node(const struct collector *c, size_t i);

struct collector_state {
	bool connected;
	uint64_t messages, bytes;  /* received */
	uint64_t again, conflicts; /* packets */
	uint64_t refused;          /* messages */
	uint64_t holes;            /* messages that came before what is missing */
	bool ended;                /* some node was heard, and all that were have ended */
};

void collector_state(const struct collector *c, struct collector_state *state);

#endif
