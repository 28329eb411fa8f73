/* SPDX-License-Identifier: MIT */
/**
 * The two ends of messages, paired by rules while the records of a timeline go by. Memory is
 * bounded: ends that wait for their other end are kept up to about a million, then the oldest half
 * of them give way.
 */
#ifndef SYNC_MATCH_H
#define SYNC_MATCH_H

#include <coeval/timeline.h>

#include "sync/rules.h"

/** What tells one message from another: two independent mixings of its key fields. */
struct match_key {
	uint64_t a, b;
};

/** As many rules as one event may be an end for. */
#define MATCH_ROLES_MAX 4

/** An end of a message. */
struct match_end {
	/* of the message: its two ends have the same one, no other message has it. From 1 */
	uint64_t number;
	uint32_t rule;     /* index in the rules */
	bool receive;      /* received here; else sent */
	bool complete;     /* the other end went by before: what follows is known */
	uint32_t from, to; /* clocks of the session */
	uint64_t sent,
		/*
		 * ticks; of records with bounds of their own the first and the last one possible:
		 * no message came before it went
		 */
		received;
	int64_t sent_ns, received_ns;
	uint32_t sender, receiver; /* as matcher_see() was told */
};

struct match_counts {
	uint64_t unmatched;  /* ends without their other end, so far */
	uint64_t duplicates; /* more sends or receives of one message: the first of each counts */
};

struct matcher;

/**
 * @tl and @rules must outlive it. CVL_E_SYNTAX: an event's name is no selector; CVL_E_USAGE: it may
 * mean two things; CVL_E_NOMEM.
 */
int matcher_new(struct matcher **m, struct cvl_timeline *tl, const struct rule_set *rules,
		struct cvl_error *err);
void matcher_free(struct matcher *m);

/** Whether events of class @cls of @stream are ends by any rule. */
bool matcher_wants(const struct matcher *m, size_t stream, uint32_t cls);

/**
 * Look at record @i of @sl, an event, of whomever @who stands for to the caller. Returns of how
 * many messages it is an end and fills as many of @out; a negative code if memory ran out.
 */
int matcher_see(struct matcher *m, const struct cvl_slice *sl, size_t i, uint32_t who,
		struct match_end out[MATCH_ROLES_MAX], struct cvl_error *err);

/** An end by itself, not paired. */
struct match_loose {
	struct match_key key;
	uint32_t rule;
	bool receive;
	uint64_t tick; /* as sent and received of struct match_end */
};

/**
 * The same look at a record, without pairing: fills as many of @out as messages it is an end of.
 */
int matcher_ends(struct matcher *m, const struct cvl_slice *sl, size_t i,
		 struct match_loose out[MATCH_ROLES_MAX]);

struct match_counts matcher_counts(const struct matcher *m);

#endif
