/* SPDX-License-Identifier: MIT */
/* The merge: windows of all sources, up to where the first of them runs out of records. */
#include "timeline/internal.h"

#include <string.h>

static int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool any_late(const uint8_t *flags, size_t n)
{
	uint8_t any = 0;

	for (size_t i = 0; i < n; i++)
		any |= flags[i];
	return any & CVL_LATE;
}

/* Source @i has records at hand. */
static void set_lead(const struct cvl_timeline *tl, struct lead *lead, size_t i)
{
	struct source *s = tl->source[i];
	int64_t first = s->time[s->pos].ns, last = first;

	s->ordered = first >= s->reached && !any_late(s->batch.flags + s->pos, s->end - s->pos);
	if (s->ordered)
		last = s->time[s->end - 1].ns;
	for (size_t k = s->pos; k < s->end && !s->ordered; k++)
		last = latest(last, s->time[k].ns);
	*lead = (struct lead){ .first = latest(first, s->reached),
			       .last = latest(last, s->reached),
			       .source = (uint32_t)i };
	s->payloads = s->payloads || source_has_fields(s->batch.kind[s->end - 1]);
	tl->part[i] = (struct cvl_part){ (size_t)s->clock, &s->batch, s->time, s->bound };
}

/* Pending records get the times of the new maps. */
static int refresh(struct cvl_timeline *tl, struct cvl_error *err)
{
	tl->n_leads = 0;
	for (size_t i = 0; i < tl->n_sources; i++) {
		struct source *s = tl->source[i];
		int rc = 1;

		s->reached = INT64_MIN;
		if (s->pos >= s->end)
			rc = source_refill(tl, i, err);
		else if (s->batch.tick != s->state.tick)
			source_time(tl, s);
		if (rc < 0)
			return rc;
		if (rc) {
			source_mark_late(tl, s);
			set_lead(tl, &tl->lead[tl->n_leads++], i);
		}
	}
	return 0;
}

int timeline_tie(struct cvl_timeline *tl, struct cvl_sync *sync, struct cvl_error *err)
{
	cvl_sync_free(tl->sync);
	tl->sync = sync;
	return timeline_make_maps(tl, err);
}

int timeline_grow(struct cvl_timeline *tl, const struct cvl_session *now, struct cvl_sync *sync,
		  int64_t limit, struct cvl_error *err)
{
	int rc;

	/* the nominal timeline promises nothing: it is read to be synchronised */
	tl->passed = tl->opts.nominal ? INT64_MIN : tl->limit;
	tl->limit = limit;
	rc = timeline_tie(tl, sync, err);
	for (size_t i = 0; i < tl->n_traces; i++) {
		const struct cvl_clock *c = cvl_session_clock(now, tl->trace[i].first);

		tl->trace[i].growing = c->growing;
		tl->trace[i].unfinished = c->unfinished;
	}
	for (size_t i = 0; i < tl->n_sources && !rc; i++)
		rc = source_grow(tl, tl->source[i], now, err);
	tl->started = true;
	rc = rc ? rc : refresh(tl, err);
	tl->filled = !rc;
	return rc;
}

bool timeline_ended(const struct cvl_timeline *tl)
{
	return tl->started && !tl->n_leads;
}

uint64_t timeline_seen(const struct cvl_timeline *tl, size_t clock)
{
	uint64_t seen = UINT64_MAX;

	for (size_t i = 0; i < tl->n_sources; i++) {
		const struct source *s = tl->source[i];
		struct cvl_stream_stats stats;
		uint64_t here;

		if (s->clock != (int)clock)
			continue;
		cvl_stream_stats(s->stream, &stats);
		here = s->pos < s->end ? s->batch.tick[s->pos].count : stats.end.count;
		seen = here < seen ? here : seen;
	}
	return seen < UINT64_MAX ? seen : 0;
}

/* ---- merging ---- */

static int tell_progress(const struct cvl_timeline *tl, struct cvl_error *err)
{
	return cvl_progress_tell(&tl->opts.progress, tl->done, tl->total, err);
}

static int start(struct cvl_timeline *tl, struct cvl_error *err)
{
	int rc = tell_progress(tl, err);

	if (rc)
		return rc;
	tl->started = true;
	for (size_t i = 0; i < tl->n_sources; i++) {
		rc = source_refill(tl, i, err);

		if (rc < 0)
			return rc;
		source_count_memory(tl, tl->source[i]);
		if (rc > 0)
			set_lead(tl, &tl->lead[tl->n_leads++], i);
	}
	tl->filled = true;
	return 0;
}

/* Sources that took part in the last block, whose arrays were in use until now, go on. */
static int go_on(struct cvl_timeline *tl, struct cvl_error *err)
{
	const size_t all = tl->n_leads;
	size_t n = 0, i;
	int rc = tell_progress(tl, err);

	for (i = 0; i < all && rc >= 0; i++) {
		struct lead lead = tl->lead[i];
		struct source *s = tl->source[lead.source];

		rc = 1;
		if (lead.took && s->pos < s->end) {
			lead.first = latest(s->time[s->pos].ns, s->reached);
			lead.took = false;
		} else if (lead.took) {
			rc = source_refill(tl, lead.source, err);
			if (rc > 0)
				set_lead(tl, &lead, lead.source);
		}
		if (rc)
			tl->lead[n++] = lead; /* also if it failed: it will again */
	}
	memmove(&tl->lead[n], &tl->lead[i], (all - i) * sizeof(*tl->lead));
	tl->n_leads = n + all - i;
	return rc < 0 ? rc : 0;
}

/* How far the first lead of (time, source) that runs out of records reaches. */
static const struct lead *first_to_end(const struct cvl_timeline *tl)
{
	const struct lead *least = tl->lead;

	for (size_t i = 1; i < tl->n_leads; i++)
		if (tl->lead[i].last < least->last)
			least = &tl->lead[i];
	return least;
}

/*
 * Records in order up to where the first source runs out of them, so that whatever follows is
 * later.
 */
static int fill_window(struct cvl_timeline *tl, struct cvl_error *err)
{
	const struct lead *end = first_to_end(tl);
	struct window *w = &tl->window;
	int64_t first = tl->lead[0].first, last = end->last, most;
	size_t sources = 0, begin = 0;
	uint32_t one = 0;

	for (size_t i = 1; i < tl->n_leads; i++)
		first = tl->lead[i].first < first ? tl->lead[i].first : first;
	most = window_begin(w, first);
	if (tl->live && tl->limit <= first)
		return 0;
	if (tl->live && most >= tl->limit)
		most = tl->limit - 1;
	if (last > most) {
		last = most;
		end = &tl->lead[tl->n_leads - 1];
	}
	for (struct lead *lead = tl->lead; lead < tl->lead + tl->n_leads; lead++) {
		/* equal times: the stream with the smaller number first */
		const int64_t limit = lead <= end ? last : cvl_add_sat(last, -1);
		struct source *s;

		lead->took = lead->first <= limit;
		if (!lead->took)
			continue;
		s = tl->source[lead->source];
		if (window_reserve(w, s->end - s->pos))
			return cvl_no_memory(err);
		if (!s->in_memory && s->payloads)
			source_use(tl, lead->source);
		begin = s->pos;
		s->pos = window_add(w, lead->source, s->time, s->pos, s->end, s->ordered,
				    &s->reached, limit);
		one = lead->source;
		sources++;
	}
	if (sources == 1)
		window_one(w, one, begin, begin + w->n);
	else
		window_sort(w);
	tl->records += w->n;
	return 0;
}

/* All records at hand of the only source that has any. */
static void take_all(struct cvl_timeline *tl)
{
	struct lead *lead = tl->lead;
	struct source *s = tl->source[lead->source];

	window_one(&tl->window, lead->source, s->pos, s->end);
	s->pos = s->end;
	lead->took = true;
}

int cvl_timeline_next(struct cvl_timeline *tl, struct cvl_block *block, struct cvl_error *err)
{
	int rc = tl->started ? go_on(tl, err) : start(tl, err);

	if (!rc && tl->n_leads == 1 && !tl->live)
		take_all(tl);
	else if (!rc && tl->n_leads)
		rc = fill_window(tl, err);
	if (rc)
		return rc;
	*block = (struct cvl_block){ .part = tl->part };
	if (tl->n_leads) {
		block->run = tl->window.run;
		block->n = tl->window.n_runs;
		block->records = tl->window.n;
	}
	return block->n > 0;
}
