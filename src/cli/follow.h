/* SPDX-License-Identifier: MIT */
/** Synchronise and show a session while it still grows. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <coeval/sync.h>

/**
 * Until the session at @path is closed by its writer: write sync.json, and print the records whose
 * times no later mark can change. Returns 0 or a negative code.
 */
int follow_session(const char *path, const struct cvl_sync_opts *opts, bool json,
		   struct cvl_error *err);

#endif
