/* SPDX-License-Identifier: MIT */
/**
 * The master's side of tying clocks (page.h): what a synchronisation daemon does. C99, nothing is
 * allocated.
 *
 * tracersync_master_work(), called again after as long as it says, exchanges with each slave once a
 * period. It waits for the answer, and what it calls while it does decides between a short round
 * trip and an idle processor.
 */
#ifndef TRACERSYNC_MASTER_H
#define TRACERSYNC_MASTER_H

#include "../tracer/tracer.h"
#include "page.h"

/** What became of an exchange, or is known of a slave. */
enum tracersync_news {
	TRACERSYNC_DONE,
	TRACERSYNC_ABSENT,    /* it has not started yet */
	TRACERSYNC_TIMEOUT,   /* no answer came */
	TRACERSYNC_GIVEN_UP,  /* nor to those before: it is asked again when it begins again */
	TRACERSYNC_RESTARTED, /* it began again, and its clock with it */
	TRACERSYNC_TWINS,     /* two slaves take themselves for this one */
	TRACERSYNC_STRANGER,  /* who begins with this page takes himself for another */
	TRACERSYNC_REPEATED   /* it refused a number that had been there */
};

struct tracersync_peer {
	struct tracersync_page *page;
	uint16_t id;
	/* the rest is the master's own */
	uint32_t boot, refused, twins;
	uint32_t seq; /* of the last request */
	uint32_t missed;
	uint64_t due_ns;
	uint64_t done; /* exchanges */
	uint64_t shortest_ns;
	int given_up, is_stranger;
};

struct tracersync_master {
	struct tracersync_peer *peer;
	unsigned peers;
	struct tracer *tracer;
	tracersync_trace *send, *receive;
	uint64_t (*now_ns)(void *ctx);
	/** Raise the interrupt of peer number @peer, which may not be there. */
	void (*interrupt)(void *ctx, unsigned peer);
	/**
	 * Once for each look at the answer: @waited_ns since the interrupt. NULL: look again at
	 * once.
	 */
	void (*wait)(void *ctx, uint64_t waited_ns);
	/**
	 * Something besides TRACERSYNC_DONE and _ABSENT became of peer number @peer. May be NULL.
	 */
	void (*tell)(void *ctx, unsigned peer, enum tracersync_news news);
	void *ctx;
	uint64_t period_ns;  /* between two exchanges with one slave */
	uint64_t timeout_ns; /* for an answer */
	unsigned patience;   /* slave is given up after so many timeouts in a row; 0: never */
};

/**
 * Begin: the fields above are set. Slaves take their turns, a part of the period after one another.
 */
void tracersync_master_init(struct tracersync_master *m);

/** Exchange with peer number @peer, now. */
enum tracersync_news tracersync_master_exchange(struct tracersync_master *m, unsigned peer);

/**
 * Exchange with the slave whose turn has come, if one's has. Returns nanoseconds until the next
 * one's.
 */
uint64_t tracersync_master_work(struct tracersync_master *m);

/** In words. */
const char *tracersync_news_text(enum tracersync_news news);

#endif
