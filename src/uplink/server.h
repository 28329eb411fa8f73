/* SPDX-License-Identifier: MIT */
/** Debian's nats-server as a child process, for whoever has one machine. */
#ifndef UPLINK_SERVER_H
#define UPLINK_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/error.h>

struct server;

struct server_opts {
	const char *folder; /* of its settings and its store; made */
	const char *listen; /* "HOST:PORT"; NULL: 127.0.0.1:4222 */
	const char *keys;   /* folder of keys and certificates, or NULL: only for the loopback */
	uint64_t store_bytes;
};

/** CVL_E_ENV: it is not installed, or did not start; CVL_E_USAGE: it would be open to everybody. */
int server_start(struct server **s, const struct server_opts *opts, struct cvl_error *err);

/** Where it listens, for clients on this machine. */
const char *server_url(const struct server *s);

/** Start it again if it ended. False: it was to be started, and is. */
bool server_runs(struct server *s);

/** End it. NULL is allowed. */
void server_stop(struct server *s);

#endif
