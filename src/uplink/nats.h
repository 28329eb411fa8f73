/* SPDX-License-Identifier: MIT */
/**
 * A carrier made of a NATS server with JetStream (docs/collect.md has its subjects and settings). The
 * only user of libnats.
 */
#ifndef UPLINK_NATS_H
#define UPLINK_NATS_H

#include "uplink/carrier.h"

struct nats_opts {
	const char *url;     /* one or several, "nats://HOST:PORT,..." */
	const char *testbed; /* names the subjects */
	const char *node;    /* whose end it is; NULL: the collector's */
	unsigned shard;      /* of the collector */
	const char *key;     /* file with a user's nkey seed, or a creds file; NULL: none */
	const char *
		ca; /* file with certificates that the server's is checked by; NULL: no TLS, unless the url says tls:// */
	uint64_t stream_bytes; /* of the collector: what its stream holds at most */
	unsigned replicas;     /* of its stream: 1 to 5 */
};

/**
 * Connects later, and again, for as long as it is open. CVL_E_UNSUPPORTED: built without libnats;
 * CVL_E_USAGE, CVL_E_MISSING: @opts.
 */
int nats_carrier_open(struct carrier **c, const struct nats_opts *opts, struct cvl_error *err);

#endif
