/* SPDX-License-Identifier: MIT */
/**
 * What a timeline holds, found out by reading it once: for exporters whose file begins with declarations.
 */
#ifndef SURVEY_H
#define SURVEY_H

#include <coeval/timeline.h>

struct survey_stream {
	int clock; /* of the session, -1 if nothing was seen */
	uint64_t records;
	uint8_t *used; /* one a class of the stream's trace: whether an event of it occurs */
	bool has_kind[CVL_KINDS];
	bool has_levels;
	uint64_t levels, unknown; /* before the first change */
	bool any_unknown;         /* lines are, now and then */
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

/** Name of a line or channel of a stream; made up into @buf where the trace gives none. */
const char *survey_line(const struct cvl_timeline *tl, size_t stream, size_t line, char buf[24]);
const char *survey_channel(const struct cvl_timeline *tl, size_t stream, size_t channel,
			   char buf[24]);

/** The double whose bits a SAMPLE carries. */
double survey_sample(uint64_t bits);

#endif
