/* SPDX-License-Identifier: MIT */
/**
 * Pairs the two ends of messages by rules while the records of a timeline pass. Memory is bounded:
 * about a million unpaired ends are kept, then the oldest half is dropped.
 */
#ifndef SYNC_MATCH_H
#define SYNC_MATCH_H

#include <coeval/timeline.h>

#include "sync/rules.h"

/** Identity of a message: two independent hashes of its key fields. */
struct match_key {
	uint64_t a, b;
};

/** Most rules that one event may be an end for. */
#define MATCH_ROLES_MAX 4

/** An end of a message. */
struct match_end {
	/* number of the message, from 1: shared by its two ends, otherwise unique */
	uint64_t number;
	uint32_t rule;     /* index in the rules */
	bool receive;      /* received here; else sent */
	bool complete;     /* the other end came before: the following fields are set */
	uint32_t from, to; /* clocks of the session */
	uint64_t sent,
		/*
		 * ticks; for records with bounds of their own the first and the last possible one:
		 * a message is received after it is sent
		 */
		received;
	int64_t sent_ns, received_ns;
	uint32_t sender, receiver; /* as given to matcher_see() */
};

struct match_counts {
	uint64_t unmatched;  /* ends without their other end, so far */
	uint64_t duplicates; /* repeated sends or receives of one message, ignored */
};

struct matcher;

/**
 * @tl and @rules must outlive it. CVL_E_SYNTAX: an event is not a valid selector; CVL_E_USAGE: it
 * is ambiguous; CVL_E_NOMEM.
 */
int matcher_new(struct matcher **m, struct cvl_timeline *tl, const struct rule_set *rules,
		struct cvl_error *err);
void matcher_free(struct matcher *m);

/** Whether events of class @cls of @stream are ends by any rule. */
bool matcher_wants(const struct matcher *m, size_t stream, uint32_t cls);

/**
 * Process record @i of @sl, an event; @who identifies its source to the caller. Returns the number
 * of messages it is an end of and fills as many of @out; a negative code if out of memory.
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

/** As matcher_see() without pairing: fills @out for each message the record is an end of. */
int matcher_ends(struct matcher *m, const struct cvl_slice *sl, size_t i,
		 struct match_loose out[MATCH_ROLES_MAX]);

struct match_counts matcher_counts(const struct matcher *m);

#endif
