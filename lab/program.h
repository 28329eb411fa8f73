/* SPDX-License-Identifier: MIT */
/** A program on the host, such as one that resets a board by its debugger. */
#ifndef LAB_PROGRAM_H
#define LAB_PROGRAM_H

#include <stdint.h>

#include <coeval/error.h>

/**
 * Run @argv, which is ended by NULL, found by PATH, with nothing to read and its output thrown
 * away, for @timeout_ms at most; then it is killed. CVL_E_ENV if it cannot be run, fails or takes
 * too long, CVL_E_NO if stopped.
 */
int program_run(char *const *argv, int64_t timeout_ms, int stop_fd, struct cvl_error *err);

#endif
