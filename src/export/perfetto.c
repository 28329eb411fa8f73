/* SPDX-License-Identifier: MIT */
/*
 * A Perfetto trace: a track for each node, and under it those of its lines (slices called high),
 * tasks and cores (slices and instants), what tasks cores run (slices), spans, channels (counters),
 * marks and gaps (slices). Arrows are messages, paired by the rules that the session was
 * synchronised with. Every event has a note bound_ns, and ends of slices one called end.bound_ns.
 */
#include "export/brackets.h"
#include "export/exporters.h"
#include "export/lanes.h"
#include "export/notes.h"
#include "export/open_spans.h"
#include "export/perfetto_packets.h"
#include "timeline/survey.h"

#include "sync/match.h"
#include "sync/rules_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Overlapping gaps of one stream get tracks of their own, up to this many. */
#define GAPS_MAX 64

struct stream {
	struct bracket *bracket; /* one per class of its trace */
	struct cvl_levels levels;
	struct open_spans spans;
	uint64_t runs; /* track of the core that switched last; 0: none runs a known task */
	int64_t gap_until[GAPS_MAX];
};

struct exporter {
	struct lanes lanes;
	struct perfetto *p;
	struct cvl_timeline *tl;
	struct survey survey;
	struct stream *stream;
	struct rule_set rules;
	struct matcher *matcher;
	uint64_t base; /* of time stamps */
	struct cvl_error *err;
};

static uint64_t stamp(const struct exporter *x, int64_t t)
{
	return (uint64_t)t + x->base;
}

/* ---- records ---- */

static void note(struct exporter *x, const char *name, const char *text)
{
	perfetto_note_text(x->p, name, text, strlen(text));
}

static void note_bound(struct exporter *x, const struct cvl_slice *sl, size_t i, const char *name)
{
	int64_t bound = cvl_timeline_bound(x->tl, sl, i);

	if (bound == CVL_BOUND_UNKNOWN)
		note(x, name, "unknown");
	else
		perfetto_note_i64(x->p, name, bound);
}

static void put_line(struct exporter *x, const struct cvl_slice *sl, size_t i, unsigned line,
		     bool high)
{
	const struct perfetto_event e = { .type = high ? PERFETTO_BEGIN : PERFETTO_END,
					  .timestamp = stamp(x, sl->time[i].ns),
					  .track = lanes_line(&x->lanes, sl, line),
					  .name = "high" };

	perfetto_begin(x->p);
	note_bound(x, sl, i, high ? "bound_ns" : "end.bound_ns");
	perfetto_end(x->p, &e);
}

static void put_edge(struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	struct stream *s = &x->stream[sl->stream];
	size_t lines = x->survey.stream[sl->stream].lines;
	uint64_t high = s->levels.now & s->levels.known, changed;

	for (unsigned l = 0; !s->levels.known && l < lines; l++)
		lanes_line(&x->lanes, sl, l); /* also of those that stay low */
	cvl_levels_take(&s->levels, sl->batch, i);
	changed = high ^
		  s->levels.now; /* a level that becomes unknown is no longer known to be high */
	if (lines < 64)
		changed &= ((uint64_t)1 << lines) - 1;
	for (; changed; changed &= changed - 1) {
		unsigned l = (unsigned)__builtin_ctzll(changed);

		put_line(x, sl, i, l, s->levels.now >> l & 1);
	}
}

/* The task on @track stops running. */
static void end_run(struct exporter *x, const struct cvl_slice *sl, size_t i, uint64_t track)
{
	const struct perfetto_event e = { .type = PERFETTO_END,
					  .timestamp = stamp(x, sl->time[i].ns),
					  .track = track };

	perfetto_begin(x->p);
	note_bound(x, sl, i, "end.bound_ns");
	perfetto_end(x->p, &e);
}

static int64_t gap_end(const struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	uint64_t tick = sl->batch->aux[i];
	int64_t until = INT64_MAX;

	if (tick != CVL_TICK_UNKNOWN)
		until = cvl_map_time(cvl_timeline_map(x->tl, sl->clock), (struct cvl_tick){ tick },
				     NULL)
				.ns;
	return until < sl->time[i].ns ? sl->time[i].ns : until;
}

/* Lines are no longer known to be high. A gap of unknown end has no end here either. */
static void put_gap(struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	struct stream *s = &x->stream[sl->stream];
	int64_t until = gap_end(x, sl, i);
	struct perfetto_event e = { .type = PERFETTO_BEGIN,
				    .timestamp = stamp(x, sl->time[i].ns),
				    .name = cvl_gap_name((enum cvl_gap)b->cls[i]) };
	size_t slot = 0;

	for (unsigned l = 0; s->levels.known && l < x->survey.stream[sl->stream].lines; l++)
		if (s->levels.now >> l & 1)
			put_line(x, sl, i, l, false);
	s->levels.known = 0;
	if (s->runs)
		end_run(x, sl, i, s->runs);
	s->runs = 0;
	while (slot < GAPS_MAX && s->gap_until[slot] > sl->time[i].ns)
		slot++;
	if (slot < GAPS_MAX)
		s->gap_until[slot] = until;
	else
		e.type = PERFETTO_INSTANT;
	e.track = lanes_stream(&x->lanes, sl, LANE_GAPS, slot % GAPS_MAX, "gaps");
	perfetto_begin(x->p);
	if (b->value[i] != CVL_LOST_UNKNOWN)
		perfetto_note_u64(x->p, "lost", b->value[i]);
	else
		note(x, "lost", "unknown");
	if (until == INT64_MAX)
		note(x, "until", "unknown");
	note_bound(x, sl, i, "bound_ns");
	perfetto_end(x->p, &e);
	if (e.type != PERFETTO_BEGIN || until == INT64_MAX)
		return;
	e.type = PERFETTO_END;
	e.timestamp = stamp(x, until);
	e.ahead = true;
	perfetto_begin(x->p);
	perfetto_end(x->p, &e);
}

static void put_sample(struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	uint32_t channel = sl->batch->cls[i];
	struct perfetto_event e = { .type = PERFETTO_COUNTER,
				    .timestamp = stamp(x, sl->time[i].ns),
				    .track = lanes_channel(&x->lanes, sl, channel),
				    .is_sample = true,
				    .sample = cvl_sample(sl->batch->value[i]) };

	perfetto_begin(x->p);
	note_bound(x, sl, i, "bound_ns");
	perfetto_end(x->p, &e);
}

/* Beacons, pulses, stored messages and slips. */
static void put_mark(struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	enum cvl_kind kind = (enum cvl_kind)b->kind[i];
	const struct perfetto_event e = { .type = PERFETTO_INSTANT,
					  .timestamp = stamp(x, sl->time[i].ns),
					  .track = lanes_stream(&x->lanes, sl, LANE_MARKS, 0,
								"marks"),
					  .name = cvl_kind_name(kind) };

	perfetto_begin(x->p);
	switch (kind) {
	case CVL_BEACON:
		perfetto_note_u64(x->p, "sender", b->cls[i]);
		perfetto_note_u64(x->p, "seq", b->value[i]);
		break;
	case CVL_PULSE: perfetto_note_u64(x->p, "channel", b->cls[i]); break;
	case CVL_MESSAGE:
		note(x, "direction", b->cls[i] ? "received" : "sent");
		perfetto_note_u64(x->p, "key", b->value[i]);
		break;
	default:
		perfetto_note_u64(x->p, "from_tick", b->aux[i]);
		perfetto_note_u64(x->p, "half_width", b->value[i]);
	}
	note_bound(x, sl, i, "bound_ns");
	perfetto_end(x->p, &e);
}

/* ---- events ---- */

/* An end without a beginning is shown as an instant; so is a beginning if too many are open. */
static void place_span(struct exporter *x, const struct cvl_slice *sl, size_t i,
		       const struct notes_about *about, struct perfetto_event *e)
{
	bool begins = sl->batch->kind[i] == CVL_BEGIN;
	struct open_spans *open = &x->stream[sl->stream].spans;
	uint64_t id = sl->batch->value[i];
	int slot = begins ? open_spans_begin(open, about->name_hash, id) :
			    open_spans_end(open, about->name_hash, id);

	if (slot < 0)
		e->type = PERFETTO_INSTANT;
	e->name = about->name[0] ? about->name : "span";
	e->track = lanes_stream(&x->lanes, sl, LANE_SPAN,
				about->name_hash * OPEN_SPANS_MAX + (uint64_t)(slot < 0 ? 0 : slot),
				e->name);
}

static int put_flows(struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	struct match_end end[MATCH_ROLES_MAX];
	int n = matcher_see(x->matcher, sl, i, 0, end, x->err);

	for (int k = 0; k < n; k++)
		perfetto_flow(x->p, end[k].number, end[k].complete);
	return n < 0 ? n : 0;
}

/* A task switch, besides its instant. */
static void put_run(struct exporter *x, const struct cvl_slice *sl, size_t i,
		    const struct notes_about *about)
{
	struct perfetto_event e = { .type = PERFETTO_BEGIN, .timestamp = stamp(x, sl->time[i].ns) };
	struct stream *s = &x->stream[sl->stream];
	char name[NOTES_NAME + 32];
	bool is_new;

	if (about->next_name[0])
		snprintf(name, sizeof(name), "%s", about->next_name);
	else if (about->has_next)
		snprintf(name, sizeof(name), "task %" PRIu64, about->next);
	else if (about->task_name[0])
		snprintf(name, sizeof(name), "%s", about->task_name);
	else if (about->is_numbered)
		snprintf(name, sizeof(name), "task %" PRIu64, about->task);
	else
		return;
	e.name = name;
	e.track = lanes_runs(&x->lanes, sl, about, &is_new);
	if (!is_new && s->runs) /* else a gap has ended it */
		end_run(x, sl, i, e.track);
	s->runs = e.track;
	perfetto_begin(x->p);
	note_bound(x, sl, i, "bound_ns");
	perfetto_end(x->p, &e);
}

static int put_event(struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	static const enum perfetto_type types[] = { PERFETTO_INSTANT, PERFETTO_BEGIN,
						    PERFETTO_END };
	const struct cvl_batch *b = sl->batch;
	const struct stream *s = &x->stream[sl->stream];
	const struct bracket *bracket = &s->bracket[b->cls[i]];
	bool span = b->kind[i] == CVL_BEGIN || b->kind[i] == CVL_END;
	struct perfetto_event e = {
		.type = types[!span                   ? bracket->side :
			      b->kind[i] == CVL_BEGIN ? BRACKET_BEGIN :
							BRACKET_END],
		.timestamp = stamp(x, sl->time[i].ns),
		.name = bracket->name,
	};
	struct notes_about about;
	bool ends = e.type == PERFETTO_END;
	int rc;

	perfetto_begin(x->p);
	note_bound(x, sl, i, ends ? "end.bound_ns" : "bound_ns");
	rc = notes_fields(x->p, cvl_timeline_stream(x->tl, sl->stream), b, i, ends ? "end." : "",
			  &about, x->err);
	if (!rc && !span)
		rc = put_flows(x, sl, i);
	if (span)
		place_span(x, sl, i, &about, &e);
	else
		e.track = lanes_event(&x->lanes, sl, &about);
	if (bracket->is_function) /* an exit without a name ends what is open */
		e.name = about.name[0] ? about.name : ends ? NULL : bracket->name;
	perfetto_end(x->p, &e);
	if (!rc && bracket->is_switch)
		put_run(x, sl, i, &about);
	return rc;
}

static int put_record(struct exporter *x, const struct cvl_slice *sl, size_t i)
{
	switch ((enum cvl_kind)sl->batch->kind[i]) {
	case CVL_EDGE: put_edge(x, sl, i); return 0;
	case CVL_GAP: put_gap(x, sl, i); return 0;
	case CVL_SAMPLE: put_sample(x, sl, i); return 0;
	case CVL_BEACON:
	case CVL_PULSE:
	case CVL_MESSAGE:
	case CVL_SLIP: put_mark(x, sl, i); return 0;
	default: return put_event(x, sl, i);
	}
}

/* ---- the whole trace ---- */

static void tell(const struct exporter *x, enum cvl_code code, const char *text)
{
	struct cvl_error problem;

	cvl_fail(&problem, code, CVL_NO_OFFSET, "%s", text);
	cvl_tell(cvl_timeline_report(x->tl), &problem);
}

/* Timestamps are wall-clock time if a clock claims one, else timeline times; never below 0. */
static void set_base(struct exporter *x)
{
	int64_t first = x->survey.any ? x->survey.first.ns : 0,
		epoch = cvl_session_epoch(cvl_timeline_session(x->tl));
	char text[80 + CVL_TIME_TEXT] =
		"Perfetto knows no times below 0: 0 there is, in s of the timeline, ";

	x->base = (uint64_t)epoch;
	if (cvl_add_sat(first, epoch) < 0) {
		x->base = -(uint64_t)first;
		cvl_time_text(text + strlen(text), (struct cvl_time){ first });
		tell(x, CVL_E_RANGE, text);
		epoch = 0;
	}
	perfetto_clock(x->p, stamp(x, first), epoch);
}

static int prepare(struct exporter *x, const char *path)
{
	const struct cvl_sync *sync = cvl_timeline_sync(x->tl);
	int rc = survey_run(&x->survey, x->tl, x->err);

	if (!rc && sync)
		rc = rules_recall(&x->rules, sync->settings, x->err);
	if (!rc)
		rc = matcher_new(&x->matcher, x->tl, &x->rules, x->err);
	if (rc)
		return rc;
	x->stream = calloc(x->survey.n + 1, sizeof(*x->stream));
	for (size_t s = 0; x->stream && s < x->survey.n; s++) {
		const struct cvl_trace *trace = cvl_timeline_trace(x->tl, s);

		x->stream[s].bracket = brackets_of(trace);
		for (size_t k = 0; k < GAPS_MAX; k++)
			x->stream[s].gap_until[k] = INT64_MIN;
		if (!x->stream[s].bracket)
			goto no_memory;
	}
	if (!x->stream)
		goto no_memory;
	rc = perfetto_open(&x->p, path, x->err);
	if (rc)
		return rc;
	x->lanes = (struct lanes){ x->p, x->tl };
	set_base(x);
	return 0;
no_memory:
	return cvl_no_memory(x->err);
}

static int export_perfetto(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct exporter x = { .tl = tl, .err = err };
	struct cvl_block block;
	struct cvl_slice slice;
	int rc = prepare(&x, path), closed = 0;

	while (!rc && !x.p->out.error && !x.p->out.closed &&
	       (rc = cvl_timeline_next(tl, &block, err)) > 0) {
		rc = 0;
		while (!rc && cvl_block_take(&block, &slice))
			for (size_t i = slice.begin; i < slice.end && !rc; i++)
				rc = put_record(&x, &slice, i);
	}
	if (x.p) {
		if (x.p->crowded)
			tell(&x, CVL_E_UNSUPPORTED,
			     "too many tracks: some events are on that of their node");
		closed = perfetto_close(x.p, rc ? NULL : err);
	}
	for (size_t s = 0; x.stream && s < x.survey.n; s++)
		brackets_free(x.stream[s].bracket, cvl_trace_events(cvl_timeline_trace(tl, s)));
	free(x.stream);
	matcher_free(x.matcher);
	rules_free(&x.rules);
	survey_free(&x.survey);
	return rc ? rc : closed;
}

const struct cvl_exporter cvl_export_perfetto = {
	.name = "perfetto",
	.what = "a Perfetto trace, for ui.perfetto.dev and trace_processor",
	.suffix = ".pftrace",
	.write = export_perfetto,
};
