/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"
#include "uplinkopts.h"

#include <coeval/uplink.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct collect {
	struct cvl_collect_opts opts;
	struct progress progress;
	const char *session;
	int64_t patience_ns;
	bool json;
};

#define AT(member) offsetof(struct collect, member)

static int take_shard(const struct verb *verb, void *to, char *text)
{
	struct cvl_collect_opts *o = to;
	unsigned k, n;
	char rest;

	if (sscanf(text, "%u/%u%c", &k, &n, &rest) != 2 || !k || k > n || n > 1000)
		return cli_usage(verb, "--shard takes one of how many, such as 1/3, not '%s'",
				 text);
	o->shard = k - 1;
	o->shards = n;
	return 0;
}

static const struct cli_option options[] = {
	UPLINK_OPTIONS(AT(opts.uplink)),
	{ "local-server", 0, NULL, OPTION_FLAG, AT(opts.local_server),
	  "start Debian's nats-server here, instead of --server" },
	{ "listen", 0, "HOST:PORT", OPTION_TEXT, AT(opts.listen),
	  "where that listens (default: 127.0.0.1:4222); others than the loopback take --keys" },
	{ "keys", 0, "DIR", OPTION_DIR, AT(opts.keys), "folder made by `coeval collect keys`" },
	{ "until-ended", 0, NULL, OPTION_FLAG, AT(opts.until_ended),
	  "end when every node that was heard has ended and all of it is stored" },
	{ "patience", 0, "TIME", OPTION_DURATION, AT(patience_ns),
	  "a node that was not heard for so long is silent (default: 3s)" },
	{ "quota", 0, "SIZE", OPTION_TEXT, AT(opts.quota_bytes), "of each node (default: none)",
	  .take = take_size },
	{ "stream-size", 0, "SIZE", OPTION_TEXT, AT(opts.stream_bytes),
	  "that the server keeps at most for a collector that is away (default: 10GiB)",
	  .take = take_size },
	{ "replicas", 0, "N", OPTION_NUMBER, AT(opts.replicas),
	  "servers that keep each message: 1, 3 or 5 (default: 1)", 1, 5 },
	{ "shard", 0, "K/N", OPTION_TEXT, AT(opts),
	  "the Kth of N collectors of the testbed, each with a session of its own",
	  .take = take_shard },
	{ "metrics", 0, "FILE", OPTION_FILE, AT(opts.metrics),
	  "keep figures there for Prometheus' text collector" },
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int print_result(const struct collect *k, const struct cvl_collect_result *r)
{
	struct cvl_out out;

	cvl_out_init(&out, STDOUT_FILENO, "standard output");
	if (k->json) {
		struct js j = js_begin(&out);

		js_text(&j, "session", k->session);
		js_counts(&j, "nodes clocks packets bytes again conflicts refused", r->nodes,
			  r->clocks, r->packets, r->bytes, r->again, r->conflicts, r->refused);
		js_end(&j);
	} else {
		cvl_out_printf(&out, "%s: ", k->session);
		cli_count(&out, "", r->nodes, "node", ", ");
		cli_count(&out, "", r->clocks, "clock", ", ");
		cli_count(&out, "", r->packets, "packet", "");
		if (r->conflicts)
			cli_count(&out, ", ", r->conflicts, "conflict", "");
		if (r->refused)
			cli_count(&out, ", ", r->refused, "message", " refused");
		cvl_out_char(&out, '\n');
	}
	return cvl_out_close(&out, NULL) ? 4 : 0;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct collect k = { .opts.uplink = { .tell = uplink_tell,
					      .ctx = &k.progress,
					      .progress = { progress_show, &k.progress } } };
	struct cvl_collect_result result;
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &k, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	k.session = operands.v[0];
	if (!k.opts.uplink.url == !k.opts.local_server)
		return cli_usage(verb, "either --server or --local-server is needed");
	if (k.opts.listen && !k.opts.local_server)
		return cli_usage(verb, "--listen is for --local-server");
	if (k.opts.replicas == 2 || k.opts.replicas == 4)
		return cli_usage(verb, "--replicas takes 1, 3 or 5");
	k.opts.patience_ms = k.patience_ns / 1000000;
	progress_init(&k.progress, k.session);
	rc = cvl_collect_run(k.session, &k.opts, cli_stop_fd(), &result, &err);
	progress_clear(&k.progress);
	if (rc)
		return cli_fail(&err);
	return print_result(&k, &result);
}

/* ---- keys ---- */

struct keys {
	const char *add[1024], *revoke[1024], *testbed, *host;
	size_t n_add, n_revoke;
};

#define IN_KEYS(member) offsetof(struct keys, member)

static const struct cli_option keys_options[] = {
	{ "add", 0, "NODE", OPTION_TEXT, .what = "a node that may send; may be repeated",
	  OPTION_MANY(struct keys, add, n_add) },
	{ "revoke", 0, "NODE", OPTION_TEXT, .what = "a node that may no longer; may be repeated",
	  OPTION_MANY(struct keys, revoke, n_revoke) },
	{ "testbed", 0, "NAME", OPTION_TEXT, IN_KEYS(testbed), "theirs (default: coeval)" },
	{ "host", 0, "NAME", OPTION_TEXT, IN_KEYS(host),
	  "by which nodes reach the server, for its certificate (default: this host's, and localhost)" },
	{ 0 },
};

static int run_keys(int argc, char **argv, const struct verb *verb)
{
	struct keys k = { 0 };
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &k, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = cvl_collect_keys(operands.v[0],
			      &(struct cvl_collect_keys_opts){ k.testbed, k.add, k.revoke, k.n_add,
							       k.n_revoke, k.host },
			      &err);
	return rc ? cli_fail(&err) : 0;
}

static const struct verb verb_keys = {
	.name = "collect keys",
	.what = "make and revoke the keys of a collector and its nodes",
	.operands = "DIR",
	.options = keys_options,
	.notes =
		"DIR gets a secret key for each node (NODE.nk) and the collector, a certificate (ca.pem) by which they know the server, and nats-server.conf, which the server includes: each node may send only in its own name, and hear only what is meant for it. Copy NODE.nk and ca.pem to the node, and keep the rest here. After a change let the server read its settings again: `nats-server --signal reload`.\n",
	.examples = "  coeval collect keys keys/ --add n01 --add n02 --host collector.lan\n"
		    "  coeval collect keys keys/ --revoke n02\n",
	.run = run_keys,
};

static const struct verb *const parts[] = { &verb_keys, NULL };

const struct verb verb_collect = {
	.name = "collect",
	.group = VERB_GET,
	.what = "collect the sessions of many nodes into one, while they grow",
	.operands = "SESSION",
	.options = options,
	.parts = parts,
	.notes =
		"It runs until it is stopped. SESSION is like any other: look at it meanwhile by `coeval view`, or `coeval show --follow`. What nodes send is stored as it comes; what comes again is not stored twice, and packets that contradict stored ones are kept apart as a clock NAME-2. Nodes are told what is on this disk; until then they send it again.\n",
	.examples = "  coeval collect all/ --local-server\n"
		    "  coeval collect all/ --server nats://carrier:4222 --until-ended\n",
	.run = run,
};
