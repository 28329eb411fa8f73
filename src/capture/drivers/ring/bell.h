/* SPDX-License-Identifier: MIT */
/**
 * Doorbells: what a traced core rings when a packet is complete, so that who drains its memory may
 * sleep. Something is written to a FIFO, a socket, a serial port or a POSIX message queue; what it
 * is does not matter.
 */
#ifndef DRIVERS_RING_BELL_H
#define DRIVERS_RING_BELL_H

#include <poll.h>
#include <stddef.h>

#include <coeval/error.h>

#define BELLS_MAX 16

struct bell_list {
	struct {
		int fd;       /* -1: it is broken, and does not ring again */
		long message; /* bytes of the longest message of a queue; 0: it is none */
	} bell[BELLS_MAX];
	size_t n;
};

/**
 * Open "PATH[:BAUD],mq:/NAME,...". CVL_E_USAGE: too many, or a file that cannot ring. CVL_E_ENV:
 * one is not there, or may not be opened. @list is empty then.
 */
int bell_open(struct bell_list *list, const char *text, struct cvl_error *err);

/** Those that may still ring, at most @max. */
size_t bell_wait_for(const struct bell_list *list, struct pollfd *fds, size_t max);

/**
 * Take what rang. Does not wait. Returns whether one broke: its other end was closed.
 */
int bell_hush(struct bell_list *list);

void bell_close(struct bell_list *list);

#endif
