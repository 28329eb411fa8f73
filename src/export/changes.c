/* SPDX-License-Identifier: MIT */
#include "export/changes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct stream {
	struct cvl_levels levels;
	bool begun;
	unsigned lines;
};

struct walk {
	const struct changes *c;
	struct stream *stream;
	uint64_t gaps, lost, gaps_uncounted, unknown, others;
};

void changes_tell(struct cvl_timeline *tl, const char *fmt, ...)
{
	struct cvl_error problem = { .code = CVL_E_UNSUPPORTED, .offset = CVL_NO_OFFSET };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(problem.text, sizeof(problem.text), fmt, ap);
	va_end(ap);
	cvl_tell(cvl_timeline_report(tl), &problem);
}

static bool put_edge(struct walk *w, const struct cvl_slice *sl, size_t i)
{
	struct stream *s = &w->stream[sl->stream];
	uint64_t known = s->levels.known, changed = cvl_levels_take(&s->levels, sl->batch, i);
	uint64_t restated = s->levels.known & ~known, vanished = known & ~s->levels.known;
	struct change change = {
		.stream = sl->stream,
		.clock = sl->clock,
		.time = sl->time[i],
		.first = !s->begun,
	};
	bool more = true;

	for (unsigned l = 0; l < s->lines && more; l++) {
		w->unknown += vanished >> l & 1;
		if (!((changed | restated) >> l & 1))
			continue;
		change.line = l;
		change.level = s->levels.now >> l & 1;
		change.restated = s->begun && restated >> l & 1;
		more = w->c->put(w->c->ctx, &change);
	}
	s->begun = true;
	return more;
}

static bool put_record(struct walk *w, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;

	if (b->kind[i] == CVL_EDGE)
		return put_edge(w, sl, i);
	if (b->kind[i] != CVL_GAP) {
		w->others++;
		return true;
	}
	w->stream[sl->stream].levels.known = 0;
	w->gaps++;
	if (b->value[i] == CVL_LOST_UNKNOWN)
		w->gaps_uncounted++;
	else
		w->lost += b->value[i];
	return true;
}

static void tell(const struct walk *w, struct cvl_timeline *tl)
{
	char unknown[48] = "";

	if (w->gaps_uncounted)
		snprintf(unknown, sizeof(unknown), " (%" PRIu64 " of unknown size)",
			 w->gaps_uncounted);
	if (w->gaps)
		changes_tell(
			tl,
			"%s has no gaps: %" PRIu64 " of them%s, %" PRIu64
			" records known to be lost, are not in the file; the lines are restated after each",
			w->c->format, w->gaps, unknown, w->lost);
	if (w->unknown)
		changes_tell(
			tl,
			"%s has no unknown levels: %" PRIu64
			" of them are not in the file; a line is restated when its level is known again",
			w->c->format, w->unknown);
	if (w->others)
		changes_tell(tl,
			     "%s holds edges only: %" PRIu64
			     " other records (samples, events, marks) are not in the file",
			     w->c->format, w->others);
}

int changes_read(const struct changes *c, struct cvl_timeline *tl, struct cvl_error *err)
{
	size_t n = cvl_timeline_streams(tl);
	struct walk w = { .c = c, .stream = calloc(n + 1, sizeof(*w.stream)) };
	struct cvl_block block;
	struct cvl_slice slice;
	bool more = true;
	int rc = 0;

	if (!w.stream)
		return cvl_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(tl, i);
		uint64_t lines = cvl_trace_env_number(trace, "lines");

		if (cvl_trace_ours(trace))
			w.stream[i].lines = lines > CVL_LINES_MAX ? CVL_LINES_MAX : (unsigned)lines;
	}
	while (more && (rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (more && cvl_block_take(&block, &slice))
			for (size_t i = slice.begin; i < slice.end && more; i++)
				more = put_record(&w, &slice, i);
	if (rc >= 0)
		tell(&w, tl);
	free(w.stream);
	return rc < 0 ? rc : 0;
}
