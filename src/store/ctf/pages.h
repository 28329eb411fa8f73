/* SPDX-License-Identifier: MIT */
/**
 * How much memory the mapped file of a stream takes. One stream frees what it has read by itself;
 * whoever reads many at a time also limits what they hold together.
 */
#ifndef CTF_PAGES_H
#define CTF_PAGES_H

#include <coeval/ctf.h>

/** Bytes of the file that may be in memory for this stream, at most; never 0. */
uint64_t stream_held(const struct cvl_stream *s);
/** Free them. They are read again when they are needed: nothing becomes invalid. */
void stream_let_go(struct cvl_stream *s);

#endif
