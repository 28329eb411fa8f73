/* SPDX-License-Identifier: MIT */
/**
 * A collector beside the nodes of a test bed, with a server of its own and a sender a node: real processes,
 * any of which is killed now and then. What it has in the end is judged instead of the nodes' sessions.
 */
#ifndef SIMBED_BED_COLLECT_H
#define SIMBED_BED_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <coeval/error.h>

struct bed_collect;

struct bed_collect_opts {
	const char *coeval, *folder; /* the program; of the test bed */
	uint64_t seed;
	bool kills;
};

/** CVL_E_ENV: nats-server is missing. */
int bed_collect_start(struct bed_collect **c, const struct bed_collect_opts *opts,
		      struct cvl_error *err);

/** Node @name has begun to capture, or goes on. */
int bed_collect_node(struct bed_collect *c, const char *name, struct cvl_error *err);

/** Process @pid, a child, ended. False: it is none of these. */
bool bed_collect_ended(struct bed_collect *c, pid_t pid, int status);

/** Start what was killed, kill something else. */
int bed_collect_work(struct bed_collect *c, struct cvl_error *err);

/** Wait until all is sent and stored, and end. How many processes were killed: *@killed. */
int bed_collect_end(struct bed_collect *c, unsigned *killed, struct cvl_error *err);

void bed_collect_free(struct bed_collect *c);

#endif
