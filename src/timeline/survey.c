/* SPDX-License-Identifier: MIT */
#include "timeline/survey.h"

#include <stdlib.h>
#include <string.h>

void survey_free(struct survey *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->stream[i].used);
	free(s->stream);
	*s = (struct survey){ 0 };
}

static int prepare(struct survey *s, const struct cvl_timeline *tl, struct cvl_error *err)
{
	*s = (struct survey){ .n = cvl_timeline_streams(tl) };
	s->stream = calloc(s->n + 1, sizeof(*s->stream));
	for (size_t i = 0; s->stream && i < s->n; i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(tl, i);
		struct survey_stream *st = &s->stream[i];

		st->clock = -1;
		st->lines = cvl_timeline_lines(tl, i);
		st->channels = cvl_timeline_channels(tl, i);
		st->used = calloc(cvl_trace_events(trace) + 1, 1);
		if (!st->used) {
			s->n = i;
			goto fail;
		}
	}
	if (s->stream)
		return 0;
fail:
	survey_free(s);
	return cvl_no_memory(err);
}

static void look_at(struct survey *s, const struct cvl_slice *sl)
{
	struct survey_stream *st = &s->stream[sl->stream];
	const struct cvl_batch *b = sl->batch;

	st->clock = (int)sl->clock;
	st->records += sl->end - sl->begin;
	for (size_t i = sl->begin; i < sl->end; i++) {
		st->has_kind[b->kind[i]] = true;
		if (b->kind[i] == CVL_EVENT || b->kind[i] == CVL_BEGIN || b->kind[i] == CVL_END)
			st->used[b->cls[i]] = 1;
		if (b->kind[i] == CVL_EDGE && !st->has_levels) {
			st->has_levels = true;
			st->levels = b->value[i];
			st->unknown = b->aux[i];
		}
		if (b->kind[i] == CVL_EDGE)
			st->any_unknown = st->any_unknown || b->aux[i];
		if (b->flags[i] & CVL_LATE)
			s->late++;
		if (!s->any || sl->time[i].ns < s->first.ns)
			s->first = sl->time[i];
		if (!s->any || sl->time[i].ns > s->last.ns)
			s->last = sl->time[i];
		s->any = true;
	}
}

int survey_run(struct survey *s, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct cvl_block block;
	struct cvl_slice slice;
	int rc = prepare(s, tl, err);

	if (rc)
		return rc;
	while ((rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (cvl_block_take(&block, &slice))
			look_at(s, &slice);
	if (!rc)
		rc = cvl_timeline_rewind(tl, err);
	if (rc)
		survey_free(s);
	return rc;
}
