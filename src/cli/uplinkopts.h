/* SPDX-License-Identifier: MIT */
/** Options of the verbs that carry packets between machines. */
#ifndef CLI_UPLINKOPTS_H
#define CLI_UPLINKOPTS_H

#include <coeval/uplink.h>

#include "cli.h"

/** Over struct cvl_uplink_opts: --server, --testbed, --key, --ca. */
extern const struct cli_option uplink_options[];

#define UPLINK_OPTIONS(offset)                                                \
	{                                                                     \
		.kind = OPTION_GROUP, .at = (offset), .group = uplink_options \
	}

/** Into a uint64_t: --keep of what sends. */
#define KEEP_OPTION(offset)                                                                                     \
	{                                                                                                       \
		"keep", 0, "SIZE", OPTION_TEXT, (offset),                                                       \
			"keep so much of the session here: what the collector has stored is freed; and if "     \
			"that is not enough the oldest of the rest, which leaves a gap (default: all is kept)", \
			.take = take_size                                                                       \
	}

/** For an option's row: a size ("64KiB", "2G", "500 MB") into a uint64_t of bytes. */
int take_size(const struct verb *verb, void *to, char *text);

/** What an uplink tells; its context is a struct progress. */
void uplink_tell(void *progress, bool problem, const char *text);

/** End the process at once: exit() would take away what threads of libnats may still use. */
_Noreturn void uplink_exit(int status);

/** Take SIGINT, SIGTERM and SIGHUP by a descriptor that they make readable. */
int cli_stop_fd(void);

#endif
