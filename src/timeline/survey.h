/* SPDX-License-Identifier: MIT */
/**
 * Contents of a timeline, found by reading it once: for exporters whose files begin with
 * declarations.
 */
#ifndef SURVEY_H
#define SURVEY_H

#include <coeval/fields.h>

struct survey_stream {
	int clock; /* in the session; -1: nothing was read of it */
	uint64_t records;
	uint8_t *used; /* for each class of the stream's trace: whether it occurs */
	bool has_kind[CVL_KINDS];
	bool has_levels;
	uint64_t levels, unknown; /* before the first change */
	bool any_unknown;         /* the level of a line is unknown at times */
	size_t lines, channels;
};

struct survey {
	size_t n; /* streams */
	struct survey_stream *stream;
	bool any;
	struct cvl_time first, last;
	uint64_t late;
};

/** Reads @tl to its end and rewinds it. */
int survey_run(struct survey *s, struct cvl_timeline *tl, struct cvl_error *err);
void survey_free(struct survey *s);

#endif
