/* SPDX-License-Identifier: MIT */
/** Synchronise and show a session while it still grows. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include <stdbool.h>

#include <coeval/sync.h>

/**
 * Until no clock of the session at @path grows any more: solve with the estimator kalman, which only looks back, write
 * sync.json, and print the records up to where no mark can change a time any more. What was printed is never
 * taken back. Returns 0 or a negative code.
 */
int follow_session(const char *path, struct cvl_sync_opts *opts, bool json, struct cvl_error *err);

#endif
