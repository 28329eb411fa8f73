/* SPDX-License-Identifier: MIT */
#include "uplink/run.h"

#include <poll.h>
#include <time.h>

#include "uplink/protocol.h"

int64_t run_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool cvl_uplink_is_name(const char *name)
{
	return uplink_is_name(name);
}

int run_settings(struct nats_opts *nats, const struct cvl_uplink_opts *opts, const char *node,
		 struct cvl_error *err)
{
	*nats = (struct nats_opts){
		.url = opts->url,
		.testbed = opts->testbed ? opts->testbed : RUN_TESTBED,
		.node = node,
		.key = opts->key,
		.ca = opts->ca,
	};
	if (!opts->url || !*opts->url)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "no server is named");
	if (!uplink_is_name(nats->testbed))
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"'%.80s' cannot name a testbed: up to %d letters, digits, '-' and '_'",
			nats->testbed, UPLINK_NAME_MAX);
	if (node && !uplink_is_name(node))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"'%.80s' cannot name a node: up to %d letters, digits, '-' and '_'",
				node, UPLINK_NAME_MAX);
	return 0;
}

bool run_wait(int stop_fd, int a, int b, int ms)
{
	struct pollfd fds[] = { { .fd = stop_fd, .events = POLLIN },
				{ .fd = a, .events = POLLIN },
				{ .fd = b, .events = POLLIN } };

	return poll(fds, 3, ms) > 0 && fds[0].revents;
}

static void pass_on(void *ctx, const struct cvl_error *problem)
{
	const struct cvl_uplink_opts *opts = ctx;

	if (opts->tell)
		opts->tell(opts->ctx, true, problem->text);
}

struct cvl_report run_report(const struct cvl_uplink_opts *opts)
{
	return (struct cvl_report){ pass_on, (void *)(uintptr_t)opts };
}
