/* SPDX-License-Identifier: MIT */
/**
 * The socket through which the scripts of a test bed control an observer: a Unix stream socket,
 * with a command a line, each answered with one line of JSON: see cvl_capture_ask().
 */
#ifndef OBSERVER_CONTROL_H
#define OBSERVER_CONTROL_H

#include <poll.h>
#include <stddef.h>

#include <coeval/error.h>

struct control;

/**
 * Listen at @path, which must not be in use; a socket left by a dead observer is replaced. @command
 * is called for each line and returns the answer without its newline, from malloc(), or NULL when
 * out of memory.
 */
int control_open(struct control **c, const char *path, char *(*command)(void *ctx, char *line),
		 void *ctx, struct cvl_error *err);
size_t control_wait_for(const struct control *c, struct pollfd *fds, size_t max);
/**
 * Accept clients and serve those that have written; never blocks. There is always room for one
 * more: the client idle for longest is dropped.
 */
void control_work(struct control *c);
/** Close and remove the socket. NULL is allowed. */
void control_close(struct control *c);

#endif
