/* SPDX-License-Identifier: MIT */
/**
 * The memory that the master and all slaves share (hypothesis H2), 16 MiB: a station for each
 * slave, and memory for images that the leader, slave 0, gives away. Zero at first.
 */
#ifndef HETEROGENEOUS_SHARED_H
#define HETEROGENEOUS_SHARED_H

#include <stdint.h>

#include "tracersync/page.h"

#define SHARED_BYTES 0x1000000u
#define SLAVES_MAX 12u

/* From here on all is in bytes from the start of the memory. */
#define STATION(slave) (0x10000u + (slave)*0x40000u)
#define RING(slave) (STATION(slave) + 0x10000u)
#define RING_BYTES 0x20000u
#define POOL 0x800000u
#define POOL_END SHARED_BYTES

enum message_kind {
	MEMORY = 1, /* arg: bytes; the answer's: where */
	/* arg: where the image begins, where the result goes, width, height, first row, rows */
	FILTER,
	TALK,    /* arg: who talks to whom (1: begins), for how many ticks */
	WORD,    /* between two that talk; arg: 1 for the last one */
	COMPARE, /* clocks, by the struct of that name */
	RESET,   /* restart */
	DIE      /* in the middle of an event */
};

struct message {
	uint32_t seq;
	uint16_t kind, frame;
	uint32_t arg[6];
};

#define QUEUE_SLOTS 8u

/** One sends, one receives, neither waits. */
struct queue {
	uint32_t sent, received; /* how many ever; written by the one and the other */
	struct message slot[QUEUE_SLOTS];
};

/** Numbers of queues in the trace. */
#define QUEUE_IN(slave) ((uint16_t)(4u * (slave)))
#define QUEUE_URGENT(slave) ((uint16_t)(4u * (slave) + 1u))
#define QUEUE_OUT(slave) ((uint16_t)(4u * (slave) + 2u))
#define QUEUE_LINK(slave) ((uint16_t)(4u * (slave) + 3u)) /* to the slave that it talks with */

/** To know the truth: both look at nothing but this while they compare clocks. */
struct compare {
	uint32_t ask;    /* the master: a number, the next one, and so on; all ones: enough */
	uint32_t answer; /* the slave: the same, when time is there */
	uint32_t ticks[2];
};

struct station {
	struct tracersync_page sync;
	struct compare compare;
	uint32_t at_work; /* number of the image at which the slave is, from 1 on; 0: none */
	struct queue in, urgent, out, link;
};

#endif
