/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"
#include "uplinkopts.h"

#include <coeval/uplink.h>

#include <string.h>
#include <unistd.h>

struct send {
	struct cvl_send_opts opts;
	struct progress progress;
	const char *session;
	bool json;
	char host[256];
};

#define AT(member) offsetof(struct send, member)

static const struct cli_option options[] = {
	UPLINK_OPTIONS(AT(opts.uplink)),
	{ "name", 'n', "NAME", OPTION_TEXT, AT(opts.node),
	  "of this node (default: that of all its clocks, or else the host's)" },
	{ "wait", 0, NULL, OPTION_FLAG, AT(opts.wait),
	  "if there is no session yet, wait for one: a capture is about to begin" },
	KEEP_OPTION(AT(opts.keep_bytes)),
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int print_result(const struct send *k, const struct cvl_send_result *r)
{
	struct cvl_out out;

	cvl_out_init(&out, STDOUT_FILENO, "standard output");
	if (k->json) {
		struct js j = js_begin(&out);

		js_texts(&j, "session node", k->session, k->opts.node);
		js_counts(&j, "clocks refused bytes stored again freed lost", r->clocks, r->refused,
			  r->bytes, r->stored, r->again, r->freed, r->lost);
		js_bool(&j, "done", r->done);
		js_end(&j);
	} else {
		cvl_out_printf(&out, "%s: ", k->session);
		cli_count(&out, "", r->clocks, "clock", ", ");
		cli_count(&out, "", r->stored, "byte", " stored at the collector");
		if (r->stored < r->bytes)
			cli_count(&out, ", ", r->bytes - r->stored, "byte", " not yet");
		if (r->freed)
			cli_count(&out, ", ", r->freed, "byte", " freed here");
		if (r->lost)
			cli_count(&out, ", of these ", r->lost, "byte",
				  " before the collector confirmed them");
		cvl_out_char(&out, '\n');
	}
	return cvl_out_close(&out, NULL) ? 4 : 0;
}

/* A session of one node is that node's. */
static int name_node(struct send *k, struct cvl_error *err)
{
	struct cvl_session *s;
	const char *node = NULL;
	int rc = cvl_session_open(&s, k->session, NULL, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < cvl_session_clocks(s); i++) {
		const struct cvl_clock *c = cvl_session_clock(s, i);

		if (node && strcmp(node, c->node) != 0) {
			node = NULL;
			break;
		}
		node = c->node;
	}
	if (node && cvl_uplink_is_name(node))
		snprintf(k->host, sizeof(k->host), "%s", node);
	else
		gethostname(k->host, sizeof(k->host) - 1);
	cvl_session_close(s);
	k->host[strcspn(k->host, ".")] = '\0';
	k->opts.node = k->host;
	return 0;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct send k = { .opts.uplink = { .tell = uplink_tell,
					   .ctx = &k.progress,
					   .progress = { progress_show, &k.progress } } };
	struct cvl_send_result result;
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &k, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	k.session = operands.v[0];
	if (!k.opts.uplink.url)
		return cli_usage(verb, "--server is missing");
	rc = k.opts.node ? 0 : name_node(&k, &err);
	if (rc)
		return cli_fail(&err);
	progress_init(&k.progress, k.session);
	rc = cvl_send_run(k.session, &k.opts, cli_stop_fd(), &result, &err);
	progress_clear(&k.progress);
	if (rc)
		return cli_fail(&err);
	rc = print_result(&k, &result);
	uplink_exit(rc ? rc : result.done && !result.refused ? 0 : 1);
}

const struct verb verb_send = {
	.name = "send",
	.group = VERB_GET,
	.what = "send a session to a collector, also while it grows",
	.operands = "SESSION",
	.options = options,
	.notes =
		"It ends when no capture is at work on the session and the collector has stored all of it: exit status 0; 1 if it was stopped before, or the collector refused some. The server only carries: whatever crashes on the way, packets are sent again until the collector says that they are on its disk. Nothing is sent that is not on this disk.\n",
	.examples = "  coeval send s/ --server nats://collector:4222 --name n07\n"
		    "  coeval send s/ --server nats://collector:4222 --keep 2GB\n"
		    "  coeval send s/ --server tls://collector:4222 --key n07.nk --ca ca.pem\n",
	.run = run,
};
