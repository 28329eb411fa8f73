/* SPDX-License-Identifier: MIT */
/**
 * A stream is locked by its writer as long as that lives: by this readers know a stream that grows
 * from one that was left unfinished.
 */
#ifndef CTF_LOCK_H
#define CTF_LOCK_H

#include <stdbool.h>

#include <coeval/packets.h>
#include <coeval/store.h>

/** Lock the stream open as @fd. False if another writer has it. */
bool stream_lock(int fd);

/** Whether a writer holds the lock of the stream of @trace. */
bool stream_locked(const char *trace);

/**
 * A descriptor that holds the lock until it is closed, even after @fd is: what the stream's end
 * means is written first. -1 if there is none.
 */
int stream_keep_lock(int fd);

/** The same of a writer, which is about to be closed. */
int writer_keep_lock(const struct cvl_writer *w);
int packets_keep_lock(const struct cvl_packets *p);

#endif
