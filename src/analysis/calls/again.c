/* SPDX-License-Identifier: MIT */
/* A second pass, for what the first one could not keep. */
#include "analysis/calls/study.h"

/* Enough for a path; what is shorter than those is left out once more. */
#define KEPT (1u << 20)

struct again {
	struct cvl_calls_kept *kept;
	int64_t from, to, shortest;
	size_t threads; /* of the first pass: a session that grows may have more now */
};

static bool wanted(const struct again *g, uint32_t thread, struct cvl_calls_time begin,
		   struct cvl_calls_time end)
{
	return thread < g->threads && end.ns > g->from && begin.ns < g->to &&
	       end.ns - begin.ns >= g->shortest;
}

static void see_span(void *ctx, const struct cvl_calls_span *s)
{
	const struct again *g = ctx;

	if (wanted(g, s->thread, s->begin, s->end))
		calls_kept_span(g->kept, s);
}

static void see_away(void *ctx, const struct cvl_calls_away *a)
{
	const struct again *g = ctx;
	struct cvl_calls_away away = *a;

	if (!wanted(g, a->thread, a->begin, a->end))
		return;
	if (away.by >= g->threads)
		away.by = CVL_CALLS_NONE;
	if (away.waker.by >= g->threads)
		away.waker.by = CVL_CALLS_NONE;
	if (away.waker.sender >= g->threads)
		away.waker.sender = CVL_CALLS_NONE;
	calls_kept_away(g->kept, &away);
}

static bool needs_by(void *ctx, const struct cvl_calls_away *a)
{
	return wanted(ctx, a->thread, a->begin, a->end);
}

static void see_message(void *ctx, const struct cvl_calls_message *m)
{
	const struct again *g = ctx;

	if (m->received.ns > g->from && m->received.ns <= g->to && m->from < g->threads &&
	    m->to < g->threads)
		calls_kept_message(g->kept, m);
}

/* Up to @to: what ends later is not on the way to there. */
static int pass(struct study *s, struct calls_read *read, int64_t to, struct cvl_error *err)
{
	bool over = false;
	struct cvl_block block;
	int rc = cvl_timeline_rewind(s->tl, err);

	while (!rc && !over && (rc = cvl_timeline_next(s->tl, &block, err)) > 0) {
		struct cvl_slice slice;

		for (rc = 0; !rc && cvl_block_take(&block, &slice);) {
			over = slice.time[slice.begin].ns > to;
			rc = calls_read_push(read, &slice, err);
		}
	}
	return rc < 0 ? rc : calls_read_end(read, err);
}

int study_again(struct study *s, struct cvl_calls_kept *k, int64_t from, int64_t to,
		struct cvl_error *err)
{
	struct again g = { k, from, to, (to - from) / 1000, calls_threads(s->calls) };
	const struct calls_sink sink = {
		.span = see_span,
		.away = see_away,
		.away_by = needs_by,
		.message = see_message,
		.ctx = &g,
	};
	struct calls_read *read = NULL;
	int rc;

	calls_kept_init(k, KEPT);
	rc = calls_read_open(&read, s->tl, &s->read_opts, &sink, err);
	if (!rc)
		rc = pass(s, read, to, err);
	calls_read_close(read);
	return rc || !k->no_memory ? rc : cvl_no_memory(err);
}
