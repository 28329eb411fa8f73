/* SPDX-License-Identifier: MIT */
/**
 * Doorbells: a traced core rings when a packet is complete, so that the reader of its memory may
 * sleep. A doorbell is a write to a FIFO, a socket, a serial port or a POSIX message queue; the
 * contents are ignored.
 */
#ifndef DRIVERS_RING_BELL_H
#define DRIVERS_RING_BELL_H

#include <poll.h>
#include <stddef.h>

#include <coeval/error.h>

#define BELLS_MAX 16

struct bell_list {
	struct {
		int fd;       /* -1: broken, never rings again */
		long message; /* longest message of a queue, bytes; 0: not a queue */
	} bell[BELLS_MAX];
	size_t n;
};

/**
 * Open "PATH[:BAUD],mq:/NAME,...". CVL_E_USAGE: too many, or a file that cannot ring. CVL_E_ENV:
 * one does not exist or may not be opened. @list is empty then.
 */
int bell_open(struct bell_list *list, const char *text, struct cvl_error *err);

/** Doorbells that may still ring, at most @max. */
size_t bell_wait_for(const struct bell_list *list, struct pollfd *fds, size_t max);

/** Consume what rang, without blocking. Returns whether one broke: its other end was closed. */
int bell_hush(struct bell_list *list);

void bell_close(struct bell_list *list);

#endif
