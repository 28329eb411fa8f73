/* SPDX-License-Identifier: MIT */
/** The master: what its parts share. */
#ifndef HETEROGENEOUS_MASTER_H
#define HETEROGENEOUS_MASTER_H

#define TRACER_POINTS "master_points.h"
#include "tracer/points.h"

#include "queue.h"
#include "tracersync/master.h"

#include <stdio.h>

struct slave {
	struct station *station;
	int bell;
	int is_lost;
};

struct master {
	uint8_t *shared;
	struct slave slave[SLAVES_MAX];
	struct tracersync_peer peer[SLAVES_MAX];
	unsigned slaves;
	struct tracer tracer;
	struct tracersync_master sync;
	volatile int done;
};

/** Send slave number @to a message by the queue in its station. */
void master_send(struct master *m, unsigned to, struct message *message);
/** And one for its urgent task. */
void master_interrupt(struct master *m, unsigned to, struct message *message);

/**
 * The next answer of this kind of any slave, whose number comes back; -1 after @patience_ns.
 * Answers of other kinds come too late for whoever waited for them.
 */
int master_wait(struct master *m, enum message_kind kind, struct message *answer,
		uint64_t patience_ns);

/**
 * One image, cut and filtered by all slaves that are there, and compared with what the master makes
 * of it alone. @talk_ns: two of them have something urgent to do for so long. Returns how long it
 * took in ns, 0 if the result is wrong or an answer is missing.
 */
uint64_t master_frame(struct master *m, uint16_t frame, uint64_t talk_ns);

/**
 * What is known of how a slave's timer stands to the master's clock: it showed @ticks between the
 * two times. Both sides look at the same word of memory, so that is a microsecond or so. Not
 * traced.
 */
struct compared {
	uint64_t ticks, early_ns, late_ns;
};

/**
 * Compare with a slave until it is known to a microsecond, or for a tenth of a second. Returns 0 if
 * it does not answer.
 */
int master_compare(struct master *m, unsigned slave, struct compared *c);

#endif
