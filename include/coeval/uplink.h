/* SPDX-License-Identifier: MIT */
/**
 * Many observers, one session: nodes send the packets of their sessions through a NATS server with
 * JetStream, and a collector stores them in a session of its own, which readers, followers and views
 * use like any other (docs/collect.md).
 *
 * The server only carries. A node sends what is durable on its disk, and again, until the collector says
 * that it is durable there; so whatever crashes, nothing is lost and nothing is stored twice. Packets
 * that contradict stored ones are kept apart.
 *
 * Each call runs until its work is done or it is stopped, in the thread that makes it; libnats has some
 * of its own. Calls for different sessions may run at the same time.
 */
#ifndef COEVAL_UPLINK_H
#define COEVAL_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>

CVL_BEGIN_DECLS

/** How a server is reached. Zero: default. */
struct cvl_uplink_opts {
	const char *url;     /* "nats://HOST:PORT", or several with commas between them */
	const char *testbed; /* whose it is, if a server carries several; NULL: "coeval" */
	const char *key;     /* file with an nkey seed, or a creds file; NULL: none */
	const char *
		ca; /* file with the certificates that the server's is checked by; NULL: the system's */
	/** Called with a message; @problem: it needs attention. May be NULL. */
	void (*tell)(void *ctx, bool problem, const char *text);
	void *ctx;
	struct cvl_progress progress; /* a few times a second: bytes stored, of those to store */
};

/** Whether @name can name a node or a testbed: up to 64 letters, digits, '-' and '_'. */
CVL_API bool cvl_uplink_is_name(const char *name);

/* ---- a node ---- */

struct cvl_send_opts {
	struct cvl_uplink_opts uplink;
	const char *node; /* its name; the server may permit only one */
	bool wait;        /* until there is a session of a capture that is at work */
	/*
	 * Of packets in the session, CVL_SEND_KEEP_LEAST or more; 0: all of them. Beyond it what the
	 * collector has stored is freed, and then the oldest of the rest. In either case a gap
	 * (CVL_GAP_FREED) is there instead, and stays there; of what was never stored the collector gets
	 * one, too.
	 */
	uint64_t keep_bytes;
};

#define CVL_SEND_KEEP_LEAST 1000000

struct cvl_send_result {
	size_t clocks;
	size_t refused;  /* of these: the collector does not want them */
	uint64_t bytes;  /* of packets in the session */
	uint64_t stored; /* of these: at the collector */
	uint64_t again;  /* sent more than once */
	uint64_t freed;  /* no longer here */
	uint64_t lost;   /* freed this time before the collector said that they were stored */
	bool done;       /* no writer is at work, and the collector has all */
};

/**
 * Send the session in @path, which may grow, until no writer is at work on it and all of it is stored,
 * or @stop_fd becomes readable (-1: never). @result is filled in any case. CVL_E_UNSUPPORTED: built
 * without libnats; CVL_E_ENV: the server does not let us in.
 */
CVL_API int cvl_send_run(const char *path, const struct cvl_send_opts *opts, int stop_fd,
			 struct cvl_send_result *result, struct cvl_error *err);

/* ---- the collector ---- */

struct cvl_collect_opts {
	struct cvl_uplink_opts uplink;
	unsigned shard,
		shards; /* which, from 0, of how many collectors of the testbed; 0 and 0: the only one */
	uint64_t quota_bytes; /* of a node; 0: none */
	uint64_t
		stream_bytes; /* that the server keeps at most; 0: 10 GiB, or half of what a local server's disk has free */
	unsigned replicas;   /* servers that keep each message: 1 (0), 3 or 5 */
	int64_t patience_ms; /* a node of which nothing is heard for so long is silent; 0: 3 s */
	const char *metrics; /* path of a file for Prometheus' text collector, or NULL */
	bool until_ended;    /* end when every node that was heard has ended */
	bool local_server;   /* start nats-server here; uplink.url is not used then */
	const char *listen;  /* its address, "HOST:PORT"; NULL: 127.0.0.1:4222 */
	const char *
		keys; /* folder made by cvl_collect_keys(), for a local server and uplink; NULL: none */
};

struct cvl_collect_result {
	size_t nodes, clocks;
	uint64_t bytes, packets; /* stored */
	uint64_t again;          /* packets that came again */
	uint64_t conflicts;      /* that contradicted stored ones, and were kept apart */
	uint64_t refused;        /* messages that were not taken */
};

/**
 * Collect into the session in @path, made if it is not there, until @stop_fd becomes readable (-1:
 * never), or opts->until_ended. The limit of open files of the process is raised as far as it may be: a
 * clock takes two. CVL_E_ENV: another process adds to the session, nats-server is missing, or the server
 * does not let us in.
 */
CVL_API int cvl_collect_run(const char *path, const struct cvl_collect_opts *opts, int stop_fd,
			    struct cvl_collect_result *result, struct cvl_error *err);

/* ---- keys ---- */

/** What is done with a folder of keys. */
struct cvl_collect_keys_opts {
	const char *testbed;                    /* NULL: "coeval" */
	const char *const *add, *const *revoke; /* names of nodes */
	size_t n_add, n_revoke;
	const char *
		host; /* name or address of the server, for its certificate; NULL: this host's name, and localhost */
};

/**
 * Make or change a folder of keys: collector.nk and one NODE.nk a node (secret), a certificate of the
 * server and its authority's (ca.pem), and nats-server.conf, in which each node may send and hear only
 * what is its own. CVL_E_ENV: the program openssl is missing.
 */
CVL_API int cvl_collect_keys(const char *folder, const struct cvl_collect_keys_opts *opts,
			     struct cvl_error *err);

CVL_END_DECLS

#endif
