/* SPDX-License-Identifier: MIT */
/**
 * Clocks whose traces come from other sessions packet by packet, as a collector keeps them: described
 * as there, stored unchanged.
 */
#ifndef STORE_MIRROR_H
#define STORE_MIRROR_H

#include <jansson.h>

#include <coeval/packets.h>
#include <coeval/session.h>

/** What session.json says of clock @i; the caller's. NULL when out of memory. */
json_t *mirror_describe(const struct cvl_session *s, size_t i);

/** How a clock of somebody else's is added. */
struct mirror_desc {
	const json_t
		*description; /* as of mirror_describe(); believed in what concerns only itself */
	const char *name, *node;       /* here; @name may get "-2", "-3", ... appended */
	const struct cvl_trace *trace; /* its metadata, of one clock class, */
	const char *metadata;          /* and its text */
	size_t n;
	int epoch_of; /* index of a clock here whose next epoch it is, or -1 */
};

/**
 * Add a clock, unfinished. session.json is not written before mirror_save(). CVL_E_LIMIT,
 * CVL_E_IO, CVL_E_NOMEM.
 */
int mirror_add(struct cvl_session *s, const struct mirror_desc *d, struct cvl_packets **p,
	       struct cvl_error *err);

/** Go on with clock @i after @keep bytes of its stream. */
int mirror_resume(struct cvl_session *s, size_t i, uint64_t keep, struct cvl_packets **p,
		  struct cvl_error *err);

/**
 * Clock @i got all of its packets: if @finished as @description says, else its own writer did not end
 * it. Closes its packets; readers learn of it by mirror_save().
 */
int mirror_end(struct cvl_session *s, size_t i, const json_t *description, bool finished,
	       struct cvl_error *err);

/** Remove traces that were begun, and not listed when the process died. */
int mirror_clean(struct cvl_session *s, struct cvl_error *err);

/** Write session.json with all that changed. */
int mirror_save(struct cvl_session *s, struct cvl_error *err);

#endif
