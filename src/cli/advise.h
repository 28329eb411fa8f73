/* SPDX-License-Identifier: MIT */
/** How a session's bounds would change with fewer or more messages, as a table. */
#ifndef CLI_ADVISE_H
#define CLI_ADVISE_H

#include <stdbool.h>

#include <coeval/sync.h>

#include <coeval/out.h>

/**
 * Print it. @wanted_ns: a bound to find a rate for, or 0. Nothing is written to the session. Clears
 * @reached if no rate meets the wanted median bound for some clock.
 */
int advise_print(struct cvl_out *o, struct cvl_session *session, const struct cvl_sync_opts *opts,
		 int64_t wanted_ns, bool json, bool *reached, struct cvl_error *err);

#endif
