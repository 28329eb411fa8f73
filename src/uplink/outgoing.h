/* SPDX-License-Identifier: MIT */
/**
 * A session as what is to be sent: the whole packets of its clocks, in the order of their bytes.
 * Nothing is handed out that is not durable on this machine, lest it be sent and then forgotten here.
 */
#ifndef UPLINK_OUTGOING_H
#define UPLINK_OUTGOING_H

#include <coeval/session.h>

#include "uplink/protocol.h"

/** A clock of it. */
struct outgoing_clock {
	const char *name;
	uint8_t id[16];
	/* JSON as of mirror_describe(), then the TSDL; NULL: it has no metadata yet */
	const char *description;
	size_t n_json, n_text;
	uint32_t crc;   /* of the JSON */
	uint64_t end;   /* whole packets that are durable take so many bytes */
	bool ended;     /* its writer is gone, and this is all */
	bool frees;     /* outgoing_free() can free some */
	uint64_t freed; /* bytes at its beginning, that are no longer here */
};

struct outgoing;

/** Some packets: in the stream from @place on, standing for @span bytes; more than @n: all of them were freed. */
struct outgoing_chunk {
	uint64_t place, span;
	const void *bytes;
	size_t n;
};

/** Nothing is opened before outgoing_look(). @report: clocks that cannot be sent. */
int outgoing_open(struct outgoing **s, const char *path, const struct cvl_report *report,
		  struct cvl_error *err);
void outgoing_close(struct outgoing *s);

/**
 * See what is new. @session: the list of clocks may have changed, too. A failure to read the session is
 * one; of a clock it is reported.
 */
int outgoing_look(struct outgoing *s, bool session, struct cvl_error *err);

size_t outgoing_clocks(const struct outgoing *s);
const struct outgoing_clock *outgoing_clock(const struct outgoing *s, size_t i);
/** Whether a writer is at work on one of them. */
bool outgoing_grows(const struct outgoing *s);

/**
 * Whole packets of clock @i from @place on, which is where one begins, at most @max bytes unless the
 * first is larger. 1; 0: there are none; or a negative code. Valid until the next call.
 */
int outgoing_read(struct outgoing *s, size_t i, uint64_t place, size_t max,
		  struct outgoing_chunk *chunk, struct cvl_error *err);

/**
 * Free whole packets of clock @i from the oldest on, of those that end at @place or before, until @bytes
 * are. The last packet stays. Returns the bytes that were freed, or a negative code.
 */
int64_t outgoing_free(struct outgoing *s, size_t i, uint64_t place, uint64_t bytes,
		      struct cvl_error *err);

/**
 * Whether the @n bytes of clock @i before @place are durable here, and have the CRC-32C @crc; of what
 * was freed nobody can tell.
 */
bool outgoing_has(struct outgoing *s, size_t i, uint64_t place, uint32_t n, uint32_t crc);

#endif
