/* SPDX-License-Identifier: MIT */
/**
 * A collector's session, as the traces of nodes in it: appended to, compared with what comes again, and
 * found again after a crash. Of what comes nothing is trusted: it is checked by the packets alone, and a
 * node's names, sizes and metadata concern nobody but itself.
 */
#ifndef UPLINK_SPOOL_H
#define UPLINK_SPOOL_H

#include <coeval/session.h>

#include "uplink/protocol.h"

struct spool;

struct spool_opts {
	const char *path;     /* of the session; made if it is not there */
	uint64_t quota_bytes; /* of a node; 0: none */
	const struct cvl_report *report;
};

/** A trace of a node's clock. */
struct spool_trace {
	const char *node, *clock; /* as it names it */
	const char *name;         /* here */
	uint8_t id[16];
	uint64_t end;            /* bytes stored */
	uint64_t synced;         /* and durable */
	uint32_t description;    /* checksum of its description */
	bool open;               /* its writer at the node is at work, as far as is known */
	bool ended;              /* all of it is here */
	struct cvl_tick last;    /* end of its last packet, */
	uint32_t tail, tail_crc; /* its bytes, and their CRC-32C */
	uint64_t packets, again,
		conflicts; /* stored; that came again; that contradict what is stored */
};

/** What became of some packets, or a description. */
enum spool_verdict {
	SPOOL_STORED,
	SPOOL_AGAIN,    /* they are here already */
	SPOOL_HOLE,     /* what comes before them is not here */
	SPOOL_CONFLICT, /* others are here in their place: these go to a clock of their own */
	SPOOL_UNKNOWN,  /* their trace was not described */
	SPOOL_FULL,     /* no room: try again later */
	SPOOL_REFUSED,  /* they will never be taken: `why` */
};

/** Opens the session, and looks through what is there. CVL_E_ENV: another collector has it. */
int spool_open(struct spool **s, const struct spool_opts *opts, struct cvl_error *err);
/** Ends nothing: what was open is found unfinished, and goes on when its node says so. */
void spool_close(struct spool *s);

/** What a crash leaves of it: nothing is synced any more. */
void spool_abandon(struct spool *s);

/** Index of the trace of @clock of @node with @id, or -1. */
int spool_find(const struct spool *s, const char *node, const char *clock, const uint8_t id[16]);
/** Whether there is something at all places of the packets @h already: to store them once more takes no room. */
bool spool_holds(const struct spool *s, const char *node, const char *clock,
		 const struct uplink_head *h);
size_t spool_traces(const struct spool *s);
const struct spool_trace *spool_trace(const struct spool *s, size_t i);

/**
 * A description: @n_json bytes of JSON, and TSDL after it, of @n bytes together. @why has room for 200
 * bytes.
 */
enum spool_verdict spool_describe(struct spool *s, const char *node, const char *clock,
				  const uint8_t id[16], const char *text, size_t n_json, size_t n,
				  int *trace, char *why);

/** Whole packets, from byte @place of the stream on. */
enum spool_verdict spool_packets(struct spool *s, const char *node, const char *clock,
				 const struct uplink_head *head, const void *bytes, int *trace,
				 char *why);

/** What was stored is durable when this returns, and session.json is in step. */
int spool_sync(struct spool *s, struct cvl_error *err);

/** Path of the session. */
const char *spool_path(const struct spool *s);

#endif
