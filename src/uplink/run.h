/* SPDX-License-Identifier: MIT */
/** What the two ends share while they run. */
#ifndef UPLINK_RUN_H
#define UPLINK_RUN_H

#include <coeval/uplink.h>

#include "uplink/nats.h"

#define RUN_TESTBED "coeval"

int64_t run_now_ms(void);

/** Check names and url, and fill @nats. */
int run_settings(struct nats_opts *nats, const struct cvl_uplink_opts *opts, const char *node,
		 struct cvl_error *err);

/** Wait for one of three descriptors (each may be -1), at most @ms. True: @stop_fd is readable. */
bool run_wait(int stop_fd, int a, int b, int ms);

/** A cvl_report for @opts, which is its context. */
struct cvl_report run_report(const struct cvl_uplink_opts *opts);

#endif
