/* SPDX-License-Identifier: MIT */
/** Internal to src/timeline: the fields of many events of one stream. */
#ifndef TIMELINE_FIELDS_H
#define TIMELINE_FIELDS_H

#include "timeline/template.h"

static inline uint64_t fields_cut(uint64_t v, unsigned bits)
{
	return bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v;
}

/** @v in hexadecimal at @w; negative numbers have exactly the digits of their size. */
static inline char *fields_hex(char *w, const struct cvl_type *t, uint64_t v)
{
	memcpy(w, "0x", 2);
	return cvl_text_hex(w + 2, fields_cut(v, (t->size + 3) / 4 * 4));
}

/** The context of a stream's current packet, as text or JSON. Begin with {0}. */
struct fields_cache {
	uint64_t packet; /* its number; UINT64_MAX: none */
	bool json;
	size_t n;
	char text[512 + CVL_OUT_SLACK];
};

/**
 * cvl_fields_text() or cvl_fields_json(). @cache: of this stream; @template: of the event's class,
 * or NULL.
 */
int fields_put(struct cvl_out *o, bool json, struct cvl_stream *stream,
	       const struct cvl_batch *batch, size_t i, struct fields_cache *cache,
	       const struct fields_template *template, struct cvl_error *err);

#endif
