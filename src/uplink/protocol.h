/* SPDX-License-Identifier: MIT */
/**
 * What a node and its collector say to each other (docs/collect.md).
 *
 * A trace is told by its id: the UUID that each packet of ours carries; of a tracer's, one made of
 * the session's UUID and the clock's name. A place in it is a byte of its stream: numbers of packets
 * may leave some out, bytes do not. All that a collector acknowledges is such a place.
 */
#ifndef UPLINK_PROTOCOL_H
#define UPLINK_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "core/uuid.h"

/** The version spoken, and the oldest one still understood. */
#define UPLINK_VERSION 1
#define UPLINK_LEAST 1

#define UPLINK_NAME_MAX 64             /* letters of a node's or clock's name */
#define UPLINK_MESSAGE_MAX (256 << 10) /* bytes of packets in a message, but for a larger packet */
#define UPLINK_METADATA_MAX (512 << 10)
#define UPLINK_CLOCKS_MAX 1024              /* of one node */
#define UPLINK_SPAN_MAX ((uint64_t)1 << 44) /* bytes: places, and spans */

enum uplink_kind {
	UPLINK_DESCRIPTION = 1, /* JSON of `place` bytes, then the metadata */
	UPLINK_PACKETS = 2,     /* whole packets, as in the stream from byte `place` on */
};

#define UPLINK_MAGIC 0x4c565543u /* "CUVL", little-endian */

/** Before each message; little-endian. */
struct uplink_head {
	uint32_t magic;
	uint16_t version, kind;
	uint8_t id[16];
	uint64_t place;
	/*
	 * Bytes of the stream that they stand for: as many as they are, or of a gap's packet more,
	 * which pads the place of packets that are no longer there.
	 */
	uint64_t span;
	uint32_t bytes; /* that follow */
	uint32_t crc;   /* CRC-32C of all before it, and of those */
} __attribute__((packed));

/** Which of @shards collectors a node belongs to: by its name. */
unsigned uplink_shard(const char *node, unsigned shards);

/** Whether @name can name a node. */
bool uplink_is_name(const char *name);

/** Fill @head for the @n bytes of @body, of at most 4 GiB. */
void uplink_seal(struct uplink_head *head, enum uplink_kind kind, const uint8_t id[16],
		 uint64_t place, uint64_t span, const void *body, size_t n);

/** Read the head of a message of @n bytes. NULL, or what is wrong with it. */
const char *uplink_open(struct uplink_head *head, const void *message, size_t n);

/**
 * Whether both can speak with whom has @version, and understands @least. If not, what to do is
 * written to @text: @who is the other side.
 */
bool uplink_agrees(unsigned version, unsigned least, const char *who, char *text, size_t size);

/** Id of a trace that carries none. */
void uplink_make_id(uint8_t id[16], const char *session_uuid, const char *clock);

/** What a collector has of a trace. */
struct uplink_have {
	char clock[UPLINK_NAME_MAX * 3 + 1]; /* as its node names it */
	uint8_t id[16];
	uint64_t place; /* all before is stored, and synced; */
	uint32_t tail,
		crc; /* so many bytes before it have this CRC-32C, so that both mean the same */
	uint32_t description; /* CRC-32C of the description it knows; 0: none */
	bool hole;            /* something before what came last is missing: send from `place` on */
	bool wait;            /* there is no room, or no right to any: send nothing */
	bool refused;         /* nothing more of it is wanted */
	char why[200];        /* of wait and refused */
};

/** Text of a told body, from malloc(), *@n bytes; NULL when out of memory. */
char *uplink_put_have(unsigned shard, const struct uplink_have *have, size_t count, size_t *n);
char *uplink_put_ask(const struct uplink_have *clock, size_t count, size_t *n);

/** A node's state, for display only. */
struct uplink_live {
	uint64_t backlog;   /* bytes not known to be stored by the collector */
	uint64_t disk_free; /* bytes; UINT64_MAX: unknown */
	uint64_t dropped;   /* bytes given up for want of room */
	bool ended;         /* nothing more will come, and all was sent */
	char version[32];   /* of the program */
};

char *uplink_put_live(const struct uplink_live *live, size_t *n);

/**
 * The inverse; false if @body says no such thing. *@list is the caller's. If versions do not agree,
 * @problem says what to do (else it is ""), and nothing else is read.
 */
bool uplink_take_have(const void *body, size_t n, unsigned *shard, struct uplink_have **list,
		      size_t *count, char *problem, size_t size);
bool uplink_take_ask(const void *body, size_t n, const char *node, struct uplink_have **list,
		     size_t *count, char *problem, size_t size);
bool uplink_take_live(const void *body, size_t n, struct uplink_live *live);

#endif
