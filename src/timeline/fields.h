/* SPDX-License-Identifier: MIT */
/** Internal to src/timeline: the fields of many events of one stream. */
#ifndef TIMELINE_FIELDS_H
#define TIMELINE_FIELDS_H

#include <coeval/fields.h>

#define FIELDS_PREFIXES 256
#define FIELDS_PREFIX_MAX 32

/** Text before a value: " name = ". */
struct fields_prefix {
	const char *name; /* by its address: names live as long as their trace */
	size_t n;
	char text[48];
};

/**
 * Cached for the events of a stream: the context of its current packet as text, and the text before
 * values. Begin with {0}, and prefixes that are {0}, which streams may share, of any traces.
 */
struct fields_cache {
	uint64_t packet;
	size_t n;
	char text[512 + CVL_OUT_SLACK];
	struct fields_prefix *prefix; /* FIELDS_PREFIXES of them */
};

/** cvl_fields_text(). @cache: of this stream, or NULL. */
int fields_text(struct cvl_out *o, struct cvl_stream *stream, const struct cvl_batch *batch,
		size_t i, struct fields_cache *cache, struct cvl_error *err);

#endif
