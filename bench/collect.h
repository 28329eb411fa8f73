/* SPDX-License-Identifier: MIT */
/** A collector and its server, as processes, and packets for them. */
#ifndef BENCH_COLLECT_H
#define BENCH_COLLECT_H

#include "bench.h"

#include <coeval/store.h>

struct server;

struct collect_bed {
	const struct bench *b;
	struct server *server;
	const char *url;
	pid_t pid;                    /* of the collector; 0: none */
	char session[BENCH_PATH_MAX]; /* of the collector */
	char folder[BENCH_PATH_MAX];  /* of the server */
};

/** What the collector used, in seconds of CPU time. */
struct collect_used {
	double first; /* its first thread, which verifies, appends and syncs */
	double all;   /* and those of libnats, which receive */
};

/** Start both; @until_ended: the collector ends with its nodes. On failure nothing is left. */
int collect_start(struct collect_bed *bed, const struct bench *b, bool until_ended);

/** Wait for the end of the collector. */
int collect_wait(struct collect_bed *bed, struct collect_used *used);

/** End what runs, and remove the files. */
void collect_stop(struct collect_bed *bed);

/** The clock of collect_packet(), called @name. */
struct cvl_store_desc collect_clock(const char *name);

/** Write edges from *@tick on as a packet of @bytes bytes, or a little less. */
int collect_packet(struct cvl_writer *w, struct cvl_tick *tick, size_t bytes,
		   struct cvl_error *err);

/** Rows of many nodes that send as they capture. */
int collect_nodes(const struct bench *b);

#endif
