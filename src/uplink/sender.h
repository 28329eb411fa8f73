/* SPDX-License-Identifier: MIT */
/**
 * A node's end: sends what a source has until the collector says that it is stored. What the carrier
 * says only opens the window; what it loses is sent again, from the place that the collector has.
 *
 * It has no clock of its own: sender_work() is told the time, so that tests can run it at any speed.
 */
#ifndef UPLINK_SENDER_H
#define UPLINK_SENDER_H

#include "uplink/carrier.h"
#include "uplink/protocol.h"
#include "uplink/outgoing.h"

struct sender;

struct sender_opts {
	const char *path;                /* of the session, for what is told */
	uint64_t seed;                   /* of the times between attempts */
	uint64_t keep;                   /* bytes of packets that are kept here; 0: all */
	const struct cvl_report *report; /* what the server or collector refuse */
};

/** @source and @carrier stay the caller's, and must outlive it. */
int sender_open(struct sender **s, struct outgoing *source, struct carrier *carrier,
		const struct sender_opts *opts, struct cvl_error *err);
void sender_close(struct sender *s);

/**
 * Take what came, and send what may be sent. @now_ms: of a clock that never goes back. *@wait_ms gets how
 * long nothing is due, unless something comes.
 */
int sender_work(struct sender *s, int64_t now_ms, int *wait_ms, struct cvl_error *err);

/** Tell the collector how this node is: so it knows at the end that it ended. */
void sender_tell_live(struct sender *s);

/** What it did, and how far it is. */
struct sender_state {
	bool connected;
	uint64_t bytes, stored;   /* durable here; of these, stored at the collector */
	uint64_t messages, again; /* sent; of these, not for the first time, in bytes */
	uint64_t refused;         /* by the carrier */
	uint64_t freed, lost; /* bytes that are no longer here; that went before they were stored */
	size_t clocks, given_up; /* clocks; those that the collector refused */
	bool done;               /* no writer is at work, and the collector has all */
	bool heard;              /* a collector answered */
};

void sender_state(const struct sender *s, struct sender_state *state);

#endif
