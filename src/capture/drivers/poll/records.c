/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/records.h"

#include <string.h>

#include "store/loop_events.h"

const struct driver_event poll_records_events[POLL_RECORD_CLASSES] = {
	[POLL_RECORD_LOOP] = { LOOP_LOOP,
			       { { "steps", CVL_STORE_U64 },
				 { "longest", CVL_STORE_U64 },
				 { "widest", CVL_STORE_U64 },
				 { "gap_ticks", CVL_STORE_U64 } },
			       4 },
	[POLL_RECORD_STEP] = { LOOP_STEP,
			       { { "low", CVL_STORE_U64 },
				 { "high", CVL_STORE_U64 },
				 { "count", CVL_STORE_U64 },
				 { "ticks", CVL_STORE_U64 } },
			       4 },
	[POLL_RECORD_SPAN] = { LOOP_SPAN,
			       { { "low", CVL_STORE_U64 },
				 { "high", CVL_STORE_U64 },
				 { "count", CVL_STORE_U64 },
				 { "ticks", CVL_STORE_U64 } },
			       4 },
	[POLL_RECORD_GAP] = { LOOP_GAP,
			      { { "ticks", CVL_STORE_U64 },
				{ "cause", CVL_STORE_STRING },
				{ "detail", CVL_STORE_STRING } },
			      3 },
	[POLL_RECORD_COUNTER] = { LOOP_COUNTER,
				  { { "cpu", CVL_STORE_U64 },
				    { "step", CVL_STORE_U64 },
				    { "apart", CVL_STORE_U64 },
				    { "limit", CVL_STORE_U64 } },
				  4 },
	[POLL_RECORD_FACT] = { LOOP_FACT,
			       { { "name", CVL_STORE_STRING },
				 { "value", CVL_STORE_STRING },
				 { "state", CVL_STORE_STRING } },
			       3 },
};

static int flush(struct poll_records *t, struct cvl_error *err)
{
	size_t n = t->n;

	t->n = 0;
	return n ? t->sink->records(t->sink->ctx, 0, t->record, n, err) : 0;
}

static int put(struct poll_records *t, const struct driver_record *r, struct cvl_error *err)
{
	t->record[t->n++] = *r;
	return t->n == POLL_RECORD_BATCH ? flush(t, err) : 0;
}

static bool has_text(const struct driver_record *r)
{
	return r->what == DRIVER_EVENT && r->cls == POLL_RECORD_GAP;
}

/* Pass on the first @n held records. Their texts are ours: those are passed at once. */
static int let_go(struct poll_records *t, size_t n, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct driver_record *r = &t->held[i].record;

		if (has_text(r))
			r->field[2].s = t->held[i].detail;
		rc = put(t, r, err);
		if (!rc && has_text(r))
			rc = flush(t, err);
	}
	t->n_held -= n;
	memmove(t->held, t->held + n, t->n_held * sizeof(*t->held));
	return rc;
}

/* Insert @r among the held records; its text, if any, is filled in by the caller. */
static int hold(struct poll_records *t, const struct driver_record *r, char **detail,
		struct cvl_error *err)
{
	int rc = t->n_held == POLL_RECORD_HELD ? let_go(t, POLL_RECORD_HELD / 2, err) : 0;
	size_t at = t->n_held;

	while (at && t->held[at - 1].record.tick > r->tick)
		at--;
	memmove(t->held + at + 1, t->held + at, (t->n_held - at) * sizeof(*t->held));
	t->n_held++;
	t->held[at].record = *r;
	if (detail)
		*detail = t->held[at].detail;
	return rc;
}

static int see_change(struct poll_records *t, const struct poll_seen *s, struct cvl_error *err)
{
	const uint64_t width = s->to - s->from + t->step;
	struct driver_record r = { .what = DRIVER_LEVELS };
	int rc = 0;

	r.tick = t->last = s->from - t->origin + width / 2;
	t->ones |= s->levels;
	t->zeros |= ~s->levels;
	r.levels = s->levels ^ s->changed;
	if (s->kind == POLL_LEVELS || t->unknown)
		rc = hold(t, &r, NULL, err);
	t->unknown = false;
	if (rc || s->kind == POLL_LEVELS)
		return rc;
	t->changes++;
	r.what = DRIVER_EDGE;
	r.levels = s->levels;
	r.half = width - width / 2;
	return hold(t, &r, NULL, err);
}

static int see_gap(struct poll_records *t, const struct poll_seen *s, struct cvl_error *err)
{
	struct driver_record r = { .what = DRIVER_GAP, .tick = s->from - t->origin };
	struct driver_record why = { .what = DRIVER_EVENT, .cls = POLL_RECORD_GAP };
	char text[POLL_DETAIL], *detail;
	int rc;

	r.gap.to = why.tick = s->to - t->origin;
	r.gap.lost = CVL_LOST_UNKNOWN;
	r.gap.why = CVL_GAP_UNKNOWN;
	r.gap.lines_known = true;
	if (s->kind == POLL_FULL) {
		r.tick = r.tick > t->last ? r.tick : t->last;
		r.gap.lost = s->lost;
		r.gap.why = CVL_GAP_OVERFLOW;
		r.gap.lines_known = false;
		t->unknown = true;
		t->full += s->lost;
		return hold(t, &r, NULL, err);
	}
	t->gaps++;
	rc = hold(t, &r, NULL, err);
	why.field[0].u = s->to - s->from;
	why.field[1].s = poll_cause(t->watch, s, text);
	if (!rc)
		rc = hold(t, &why, &detail, err);
	if (!rc)
		memcpy(detail, text, sizeof(text));
	return rc;
}

int poll_records_seen(struct poll_records *t, const struct poll_seen *s, struct cvl_error *err)
{
	if (!t->origin)
		t->origin = s->from;
	return s->kind == POLL_GAP || s->kind == POLL_FULL ? see_gap(t, s, err) :
							     see_change(t, s, err);
}

int poll_records_until(struct poll_records *t, uint64_t now, struct cvl_error *err)
{
	struct driver_record r = { .what = DRIVER_NOTHING, .tick = now - t->origin };
	int rc;
	size_t n = 0;

	if (now < t->origin)
		return flush(t, err);
	while (n < t->n_held && t->held[n].record.tick <= r.tick)
		n++;
	rc = let_go(t, n, err);
	if (!rc)
		rc = put(t, &r, err);
	return rc ? rc : flush(t, err);
}

int poll_records_about(struct poll_records *t, unsigned cls, const union cvl_store_value *values,
		       struct cvl_error *err)
{
	struct driver_record r = { .what = DRIVER_SUMMARY, .cls = cls };
	int rc;

	for (size_t i = 0; i < poll_records_events[cls].n; i++)
		r.field[i] = values[i];
	rc = put(t, &r, err);
	return rc ? rc : flush(t, err);
}

int poll_records_rest(struct poll_records *t, struct cvl_error *err)
{
	int rc = let_go(t, t->n_held, err);

	return rc ? rc : flush(t, err);
}

static int put_bins(struct poll_records *t, unsigned cls, const struct poll_bin *bins,
		    struct cvl_error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < POLL_BINS && !rc; i++) {
		const union cvl_store_value v[] = { { .u = poll_bin_low(i) },
						    { .u = poll_bin_low(i + 1) - 1 },
						    { .u = bins[i].count },
						    { .u = bins[i].ticks } };

		if (bins[i].count)
			rc = poll_records_about(t, cls, v, err);
	}
	return rc;
}

int poll_records_stats(struct poll_records *t, const struct poll_loop *l, struct cvl_error *err)
{
	union cvl_store_value v[] = { { .u = 0 },
				      { .u = l->stats.longest },
				      { .u = l->stats.widest },
				      { .u = l->gap_ticks } };
	int rc;

	for (unsigned i = 0; i < POLL_BINS; i++)
		v[0].u += l->stats.step[i].count;
	rc = poll_records_about(t, POLL_RECORD_LOOP, v, err);
	if (!rc)
		rc = put_bins(t, POLL_RECORD_STEP, l->stats.step, err);
	return rc ? rc : put_bins(t, POLL_RECORD_SPAN, l->stats.span, err);
}
