/* SPDX-License-Identifier: MIT */
/**
 * The socket by which the scripts of a test bed steer an observer: a Unix stream socket; each line
 * is a command, each answer one line of JSON: see cvl_capture_ask().
 */
#ifndef OBSERVER_CONTROL_H
#define OBSERVER_CONTROL_H

#include <poll.h>
#include <stddef.h>

#include <coeval/error.h>

struct control;

/**
 * Listen at @path, which must not be in use; a socket that a dead observer left there is replaced.
 * @command is called for each line and returns the answer without its newline, from malloc(), or
 * NULL when out of memory.
 */
int control_open(struct control **c, const char *path, char *(*command)(void *ctx, char *line),
		 void *ctx, struct cvl_error *err);
size_t control_wait_for(const struct control *c, struct pollfd *fds, size_t max);
/**
 * Serve clients that have written or connect; never waits. There is always room for one more: the
 * client that was idle longest goes.
 */
void control_work(struct control *c);
/** Closes and removes the socket. NULL is allowed. */
void control_close(struct control *c);

#endif
