/* SPDX-License-Identifier: MIT */
/**
 * Storing the packets of a CTF trace that somebody else writes, as they arrive: a tracer on another
 * processor. They are kept byte for byte; what they lost they say themselves (events_discarded,
 * packet_seq_num), and readers show it.
 *
 * A packet is complete or absent: it is written with one call, and taken back if that fails.
 *
 * A store of packets belongs to one thread at a time.
 */
#ifndef COEVAL_PACKETS_H
#define COEVAL_PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>

CVL_BEGIN_DECLS

struct cvl_packets;

/**
 * Make the directory @path (its parent must exist): @metadata, TSDL of @n bytes, and one stream
 * without packets. Fails with CVL_E_IO, CVL_E_NOMEM, CVL_E_LIMIT.
 */
CVL_API int cvl_packets_open(struct cvl_packets **p, const char *path, const char *metadata,
			     size_t n, struct cvl_error *err);

/**
 * Go on with the directory @path that a writer left, which was killed: what is behind the first
 * @keep bytes of its stream is cut off.
 */
CVL_API int cvl_packets_resume(struct cvl_packets **p, const char *path, uint64_t keep,
			       struct cvl_error *err);

/** Append a whole packet of @n bytes. CVL_E_IO: nothing of it is there. */
CVL_API int cvl_packets_add(struct cvl_packets *p, const void *packet, size_t n,
			    struct cvl_error *err);

/** Bring to disk what is there. */
CVL_API int cvl_packets_flush(struct cvl_packets *p, struct cvl_error *err);

/** Flush and free. @p is gone in any case; NULL is allowed. */
CVL_API int cvl_packets_close(struct cvl_packets *p, struct cvl_error *err);

CVL_END_DECLS

#endif
