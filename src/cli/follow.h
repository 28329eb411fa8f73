/* SPDX-License-Identifier: MIT */
/** Synchronise and show a session while it still grows. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <coeval/sync.h>

/**
 * Until the session at @path is no longer written to: write sync.json, and print the records up
 * to where no mark can change a time any more. Returns 0 or a negative code.
 */
int follow_session(const char *path, const struct cvl_sync_opts *opts, bool json,
		   struct cvl_error *err);

#endif
