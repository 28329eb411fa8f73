/* SPDX-License-Identifier: MIT */
/**
 * How much memory a stream takes, most of it its mapped file. It frees what it has read by itself;
 * whoever reads many streams at a time also limits what they hold together.
 */
#ifndef CTF_PAGES_H
#define CTF_PAGES_H

#include <coeval/ctf.h>

/** Bytes of the file that may be in memory for this stream, at most; never 0. */
uint64_t stream_held(const struct cvl_stream *s);
/**
 * The stream is one of many: keep at most so many bytes that were read, beside the packet that is
 * being read, and begin with a batch of @first records (0: of any number).
 */
void stream_share(struct cvl_stream *s, uint64_t keep, size_t first);
/** Free them. They are read again when they are needed: nothing becomes invalid. */
void stream_let_go(struct cvl_stream *s);

#endif
