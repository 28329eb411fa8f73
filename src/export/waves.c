/* SPDX-License-Identifier: MIT */
#include "export/waves.h"
#include "timeline/survey.h"

#include <math.h>
#include <stdlib.h>

struct stream {
	unsigned line, channel, gap; /* first variable of each kind */
	unsigned *event;             /* by class */
	unsigned mark[CVL_KINDS];
	struct cvl_levels levels;
	bool in_gap;
	int64_t gap_until;
};

/* The bound of a clock that was written last: it holds for @span ticks from @from on. */
struct bound {
	unsigned id;
	int64_t ns; /* -1: none yet */
	uint64_t from, span, bracket;
};

struct waves {
	const struct waves_format *format;
	void *ctx;
	struct cvl_timeline *tl;
	struct survey survey;
	struct stream *stream;
	struct bound *bound;
	unsigned next_id;
	unsigned gaps_open; /* with a known end */
	int64_t zero, now;
	struct cvl_error *err;
};

static void put_var(struct waves *w, enum waves_type type, const char *name)
{
	w->format->var(w->ctx, type, w->next_id++, name);
}

static void put_stream_vars(struct waves *w, size_t i)
{
	const struct survey_stream *st = &w->survey.stream[i];
	const struct cvl_trace *trace = cvl_timeline_trace(w->tl, i);
	struct stream *s = &w->stream[i];
	char buf[24];

	s->line = w->next_id;
	for (size_t l = 0; l < st->lines; l++)
		put_var(w, WAVES_BIT, cvl_timeline_line(w->tl, i, l, buf));
	s->channel = w->next_id;
	for (size_t c = 0; c < st->channels; c++)
		put_var(w, WAVES_REAL, cvl_timeline_channel(w->tl, i, c, buf));
	for (size_t c = 0; c < cvl_trace_events(trace); c++) {
		s->event[c] = w->next_id;
		if (st->used[c])
			put_var(w, WAVES_EVENT, cvl_trace_event(trace, c)->name);
	}
	for (unsigned k = 0; k < CVL_KINDS; k++) {
		s->mark[k] = w->next_id;
		if (w->format->kinds >> k & 1 && st->has_kind[k])
			put_var(w, WAVES_EVENT, cvl_kind_name((enum cvl_kind)k));
	}
	s->gap = w->next_id;
	if (st->has_kind[CVL_GAP])
		put_var(w, WAVES_BIT, "gap");
}

static void put_vars(struct waves *w)
{
	struct cvl_session *session = cvl_timeline_session(w->tl);

	for (size_t c = 0; c < cvl_session_clocks(session); c++) {
		bool open = false;

		for (size_t i = 0; i < w->survey.n; i++) {
			if (w->survey.stream[i].clock != (int)c)
				continue;
			if (!open)
				w->format->scope(w->ctx, cvl_session_clock(session, c)->name);
			open = true;
			put_stream_vars(w, i);
		}
		w->bound[c] = (struct bound){ .id = w->next_id, .ns = -1 };
		if (open && w->format->bounds)
			put_var(w, WAVES_REAL, "bound_ns");
		if (open)
			w->format->scope(w->ctx, NULL);
	}
}

static char level_of(const struct cvl_levels *l, unsigned line)
{
	if (!(l->known >> line & 1))
		return 'x';
	return l->now >> line & 1 ? '1' : '0';
}

static void put_initial(struct waves *w)
{
	w->format->initial(w->ctx, false);
	for (size_t i = 0; i < w->survey.n; i++) {
		const struct survey_stream *st = &w->survey.stream[i];
		struct stream *s = &w->stream[i];

		if (st->clock < 0)
			continue;
		s->levels = (struct cvl_levels){ st->levels, st->has_levels ? ~st->unknown : 0 };
		for (unsigned l = 0; l < st->lines; l++)
			w->format->bit(w->ctx, s->line + l, level_of(&s->levels, l));
		if (st->has_kind[CVL_GAP])
			w->format->bit(w->ctx, s->gap, '0');
	}
	w->format->initial(w->ctx, true);
}

static void put_time(struct waves *w, int64_t t)
{
	if (t <= w->now)
		return;
	w->now = t;
	w->format->time(w->ctx, t);
}

/* End gaps whose known end has been reached. */
static void end_gaps(struct waves *w, int64_t t)
{
	for (;;) {
		struct stream *first = NULL;

		for (size_t i = 0; i < w->survey.n; i++)
			if (w->stream[i].in_gap && w->stream[i].gap_until <= t &&
			    (!first || w->stream[i].gap_until < first->gap_until))
				first = &w->stream[i];
		if (!first)
			return;
		put_time(w, first->gap_until);
		w->format->bit(w->ctx, first->gap, '0');
		first->in_gap = false;
		w->gaps_open--;
	}
}

static void put_edge(struct waves *w, const struct cvl_slice *sl, size_t i, int64_t t)
{
	struct stream *s = &w->stream[sl->stream];
	uint64_t known = s->levels.known, changed = cvl_levels_take(&s->levels, sl->batch, i);
	size_t lines = w->survey.stream[sl->stream].lines;

	changed |= known ^ s->levels.known;
	if (lines < 64)
		changed &= ((uint64_t)1 << lines) - 1;
	if (changed)
		put_time(w, t);
	for (; changed; changed &= changed - 1) {
		unsigned l = (unsigned)__builtin_ctzll(changed);

		w->format->bit(w->ctx, s->line + l, level_of(&s->levels, l));
	}
}

/* Saturates where a timeline spans more than 292 years. */
static int64_t since_zero(const struct waves *w, struct cvl_time t)
{
	int64_t ns;

	return __builtin_sub_overflow(t.ns, w->zero, &ns) ? INT64_MAX : ns;
}

static void put_gap(struct waves *w, const struct cvl_slice *sl, size_t i, int64_t t)
{
	struct stream *s = &w->stream[sl->stream];
	uint64_t to = sl->batch->aux[i];

	put_time(w, t);
	for (unsigned l = 0; l < w->survey.stream[sl->stream].lines; l++)
		w->format->bit(w->ctx, s->line + l, 'x');
	s->levels.known = 0;
	w->format->bit(w->ctx, s->gap, '1');
	w->gaps_open += !s->in_gap;
	s->in_gap = true;
	s->gap_until = INT64_MAX;
	if (to != CVL_TICK_UNKNOWN)
		s->gap_until = since_zero(w, cvl_map_time(cvl_timeline_map(w->tl, sl->clock),
							  (struct cvl_tick){ to }, NULL));
}

/* Whether the bound of the clock of record @i was written, and still holds. */
static bool bound_holds(const struct bound *k, const struct cvl_slice *sl, size_t i)
{
	const uint64_t *bracket = sl->batch->bracket;

	return k->ns >= 0 && sl->batch->tick[i].count - k->from < k->span &&
	       (!bracket || (bracket[i] <= k->bracket && bracket[i] >= k->bracket / 2));
}

/*
 * Write the greatest bound of a stretch of the clock's ticks, as long as it stays within 3 % there.
 * The first guess is twice the stretch before.
 */
static void put_bound(struct waves *w, const struct cvl_slice *sl, size_t i, int64_t t)
{
	const struct cvl_map *map = cvl_timeline_map(w->tl, sl->clock);
	struct cvl_bound b = cvl_timeline_bound_parts(w->tl, sl, i);
	struct bound *k = &w->bound[sl->clock];
	struct cvl_tick from = sl->batch->tick[i], to;
	int64_t most, least, total;

	for (k->span = k->span < UINT64_MAX / 4 ? 2 * k->span + 1 : UINT64_MAX / 2;; k->span /= 2) {
		to.count = from.count < UINT64_MAX - k->span ? from.count + k->span : UINT64_MAX;
		cvl_map_bound_range(map, from, to, &least, &most);
		if (most - least <= least / 32 + 1 || k->span <= 1)
			break;
	}
	b.map = most;
	total = cvl_bound_total(b);
	k->from = from.count;
	k->bracket = sl->batch->bracket ? sl->batch->bracket[i] : 0;
	if (total == k->ns)
		return;
	k->ns = total;
	put_time(w, t);
	w->format->real(w->ctx, k->id, total == CVL_BOUND_UNKNOWN ? NAN : (double)total);
}

static int put_record(struct waves *w, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	enum cvl_kind kind = (enum cvl_kind)b->kind[i];
	struct stream *s = &w->stream[sl->stream];
	int64_t t = since_zero(w, sl->time[i]);
	bool event = kind == CVL_EVENT || kind == CVL_BEGIN || kind == CVL_END;

	if (w->gaps_open)
		end_gaps(w, t);
	if (w->format->bounds && !bound_holds(&w->bound[sl->clock], sl, i))
		put_bound(w, sl, i, t);
	if (kind == CVL_EDGE) {
		put_edge(w, sl, i, t);
	} else if (kind == CVL_GAP) {
		put_gap(w, sl, i, t);
	} else if (kind == CVL_SAMPLE) {
		if (b->cls[i] >= w->survey.stream[sl->stream].channels)
			return 0;
		put_time(w, t);
		w->format->real(w->ctx, s->channel + b->cls[i], cvl_sample(b->value[i]));
	} else if (event || w->format->kinds >> kind & 1) {
		put_time(w, t);
		return w->format->event(w->ctx, event ? s->event[b->cls[i]] : s->mark[kind], sl, i,
					w->err);
	}
	return 0;
}

static int write_all(struct waves *w)
{
	struct cvl_block block;
	struct cvl_slice slice;
	int rc;

	w->zero = w->survey.any && w->survey.first.ns < 0 ? w->survey.first.ns : 0;
	rc = w->format->open(w->ctx, w->zero, w->err);
	if (rc)
		return rc;
	put_vars(w);
	put_initial(w);
	while (!w->format->stopped(w->ctx) && (rc = cvl_timeline_next(w->tl, &block, w->err)) > 0) {
		rc = 0;
		while (!rc && cvl_block_take(&block, &slice))
			for (size_t i = slice.begin; i < slice.end && !rc; i++)
				rc = put_record(w, &slice, i);
		if (rc)
			break;
	}
	if (w->gaps_open)
		end_gaps(w, INT64_MAX - 1);
	return rc;
}

int waves_write(const struct waves_format *format, void *ctx, struct cvl_timeline *tl,
		struct cvl_error *err)
{
	struct waves w = { .format = format, .ctx = ctx, .tl = tl, .err = err };
	int rc = survey_run(&w.survey, tl, err);

	if (rc)
		return rc;
	w.stream = calloc(w.survey.n + 1, sizeof(*w.stream));
	w.bound = calloc(cvl_session_clocks(cvl_timeline_session(tl)) + 1, sizeof(*w.bound));
	rc = w.stream && w.bound ? 0 : cvl_no_memory(err);
	for (size_t i = 0; i < w.survey.n && !rc; i++) {
		size_t classes = cvl_trace_events(cvl_timeline_trace(tl, i));

		w.stream[i].event = calloc(classes + 1, sizeof(*w.stream[i].event));
		rc = w.stream[i].event ? 0 : cvl_no_memory(err);
	}
	if (!rc)
		rc = write_all(&w);
	for (size_t i = 0; w.stream && i < w.survey.n; i++)
		free(w.stream[i].event);
	free(w.stream);
	free(w.bound);
	survey_free(&w.survey);
	return rc;
}
