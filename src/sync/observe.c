/* SPDX-License-Identifier: MIT */
#include "sync/observe.h"
#include "sync/found.h"
#include "sync/pairing.h"

#include <coeval/array.h>
#include "store/lines.h"
#include "timeline/live.h"

#include <coeval/timeline.h>

#include <stdlib.h>
#include <string.h>

#define SOURCES_MAX 4096
#define VAGUE 8 /* times the usual bound */
/* what was observed is kept if it takes no more than a part of what it was found in, or little */
#define KEPT_PART 3
#define KEPT_LEAST (1u << 20)

struct observer {
	struct sync_problem *p;
	struct cvl_timeline *tl;
	const struct cvl_sync_opts *opts;
	struct matcher *matcher;
	struct pairing *ends;
	struct {
		struct cvl_levels levels;
		int line[CVL_RULES_MAX]; /* bit of each pulse rule's line, or -1 */
		int align;               /* bit of the line to align by, or -1 */
		uint64_t step;           /* its resolution */
		/*
		 * ticks by which an edge's stamp is early on average, relative to a pulse record's
		 */
		uint64_t early;
	} * lines; /* [stream] */
	int source_of_pulse[CVL_RULES_MAX];
	struct cvl_error *err; /* of the call at work */
};

/* ---- messages ---- */

static int see_event(struct observer *w, const struct cvl_slice *sl, size_t i)
{
	struct match_loose end[MATCH_ROLES_MAX];
	int n = matcher_ends(w->matcher, sl, i, end), rc = 0;

	for (int k = 0; k < n && !rc; k++)
		rc = pairing_add(w->ends,
				 &(struct pairing_end){
					 .key = end[k].key,
					 .rule = end[k].rule,
					 .clock = (uint32_t)sl->clock,
					 .of = (uint32_t)w->p->clock[sl->clock].same_as,
					 .tick = end[k].tick,
					 .x = sync_x(w->p, sl->clock, end[k].tick),
					 .receive = end[k].receive,
				 },
				 w->err);
	return rc;
}

/* ---- marks ---- */

static int find_source(struct observer *w, const char *name, bool numbered, int64_t period)
{
	struct sync_problem *p = w->p;
	struct sync_source *new;

	for (size_t i = 0; i < p->n_sources; i++)
		if (!strcmp(p->source[i].name, name))
			return (int)i;
	if (p->n_sources == SOURCES_MAX)
		return cvl_fail(w->err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"beacons of more than %d senders were heard", SOURCES_MAX);
	if (cvl_room(&p->source, p->n_sources, &p->room_sources, sizeof(*p->source)))
		return cvl_no_memory(w->err);
	new = &p->source[p->n_sources];
	*new = (struct sync_source){ .numbered = numbered, .period_ns = period };
	snprintf(new->name, sizeof(new->name), "%s", name);
	return (int)p->n_sources++;
}

/* Half-width of the record's own bound in ticks; 0: none. */
static uint64_t half_of(const struct observer *w, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;

	return b->kind[i] == CVL_EDGE && b->bracket && b->bracket[i] > w->lines[sl->stream].step ?
		       b->bracket[i] :
		       0;
}

static int add_mark(struct observer *w, const struct cvl_slice *sl, size_t i, int source,
		    uint64_t index, bool exact)
{
	struct sync_problem *p = w->p;
	uint64_t tick = sl->batch->tick[i].count;

	if (source < 0)
		return source;
	if (sl->batch->flags[i] & CVL_LATE) {
		p->clock[p->clock[sl->clock].same_as].went_back++;
		return 0;
	}
	if (exact)
		tick = tick > w->lines[sl->stream].early ? tick - w->lines[sl->stream].early : 0;
	if (index > INT64_MAX / 1000000000) {
		p->unmatched++; /* no sender counts that far */
		return 0;
	}
	if (spill_room(&p->marks, (p->n_marks + 1) * sizeof(*p->mark)))
		return cvl_no_memory(w->err);
	p->mark = p->marks.at;
	sync_rest(p, p->n_marks);
	p->mark[p->n_marks++] = (struct sync_mark){
		.clock = (uint32_t)sl->clock,
		.source = (uint32_t)source,
		.tick = tick,
		.half = half_of(w, sl, i),
		.index = (int64_t)index,
		.exact = exact,
	};
	return 0;
}

static int add_align(struct observer *w, const struct cvl_slice *sl, size_t i)
{
	struct sync_problem *p = w->p;

	if (cvl_room(&p->align, p->n_align, &p->cap_align, sizeof(*p->align)))
		return cvl_no_memory(w->err);
	p->align[p->n_align++] =
		(struct sync_edge){ (uint32_t)sl->clock, sl->batch->tick[i].count };
	return 0;
}

static int see_edge(struct observer *w, const struct cvl_slice *sl, size_t i)
{
	uint64_t levels = sl->batch->value[i];
	uint64_t changed = cvl_levels_take(&w->lines[sl->stream].levels, sl->batch, i);
	int rc = 0;

	for (size_t r = 0; r < w->opts->n_pulse && changed && !rc; r++) {
		int line = w->lines[sl->stream].line[r];

		if (line >= 0 && changed >> line & 1 &&
		    (levels >> line & 1) == w->opts->pulse[r].rising)
			rc = add_mark(w, sl, i, w->source_of_pulse[r], 0, false);
	}
	if (!rc && w->lines[sl->stream].align >= 0 && changed >> w->lines[sl->stream].align & 1)
		rc = add_align(w, sl, i);
	return rc;
}

/*
 * A pulse record is a rising edge at its own tick, whatever the resolution. Plain edges are stamped
 * at the start of their resolution step. The map must run through the average stamp of an edge:
 * half a step from the map then covers every other edge.
 */
static int see_pulse(struct observer *w, const struct cvl_slice *sl, size_t i)
{
	int rc = 0;

	if (sl->batch->flags[i] & CVL_LATE)
		/* its driver got no tick and stamped it at the edge */
		return 0;
	for (size_t r = 0; r < w->opts->n_pulse && !rc; r++) {
		int line = w->lines[sl->stream].line[r];

		if (line >= 0 && (uint32_t)line == sl->batch->cls[i] && w->opts->pulse[r].rising)
			rc = add_mark(w, sl, i, w->source_of_pulse[r], 0, true);
	}
	return rc;
}

static int see_beacon(struct observer *w, const struct cvl_slice *sl, size_t i)
{
	int64_t period = w->opts->beacon_period_ns ? w->opts->beacon_period_ns : 1000000000;
	char name[40];

	snprintf(name, sizeof(name), "beacon %u", sl->batch->cls[i]);
	return add_mark(w, sl, i, find_source(w, name, true, period), sl->batch->value[i], false);
}

static int see_slip(struct observer *w, const struct cvl_slice *sl, size_t i)
{
	size_t clock = w->p->clock[sl->clock].same_as;
	struct sync_clock *c = &w->p->clock[clock];
	struct track_slip slip = {
		.from = sync_x(w->p, clock, sl->batch->aux[i]),
		.to = sync_x(w->p, clock, sl->batch->tick[i].count),
		.half_ns = (double)sl->batch->value[i] * 1e9 / (double)c->rate_hz,
	};

	if (slip.from > slip.to || (c->n_slips && slip.from < c->slip[c->n_slips - 1].to))
		slip.from = slip.to; /* invalid in the file */
	if (c->n_slips && slip.to < c->slip[c->n_slips - 1].to)
		return 0;
	if (cvl_room(&c->slip, c->n_slips, &c->cap_slips, sizeof(*c->slip)))
		return cvl_no_memory(w->err);
	c->slip[c->n_slips++] = slip;
	return 0;
}

/* ---- all records ---- */

static int see_slice(struct observer *w, const struct cvl_slice *sl)
{
	struct sync_clock *c = &w->p->clock[w->p->clock[sl->clock].same_as];
	const struct cvl_batch *b = sl->batch;
	int rc = 0;

	for (size_t i = sl->begin; i < sl->end && !rc; i++) {
		uint64_t tick = b->tick[i].count;
		bool restated = b->kind[i] == CVL_EDGE && b->flags[i] & CVL_STATE;

		if (restated) {
			rc = see_edge(w, sl, i);
			continue;
		}
		if (!c->seen || tick < c->first)
			c->first = tick;
		if (!c->seen || tick > c->last)
			c->last = tick;
		c->seen = true;
		if (b->kind[i] == CVL_EVENT)
			rc = see_event(w, sl, i);
		else if (b->kind[i] == CVL_EDGE)
			rc = see_edge(w, sl, i);
		else if (b->kind[i] == CVL_PULSE)
			rc = see_pulse(w, sl, i);
		else if (b->kind[i] == CVL_BEACON)
			rc = see_beacon(w, sl, i);
		else if (b->kind[i] == CVL_SLIP)
			rc = see_slip(w, sl, i);
		else if (b->kind[i] == CVL_GAP)
			w->lines[sl->stream].levels.known = 0;
	}
	return rc;
}

static int64_t ticks_ns(const struct sync_clock *c, uint64_t ticks)
{
	unsigned __int128 ns =
		((unsigned __int128)ticks * 1000000000 + c->rate_hz - 1) / c->rate_hz;

	return ns > INT32_MAX ? INT32_MAX : (int64_t)ns;
}

/* Index of a clock and sender. */
static size_t pair_of(const struct sync_problem *p, const struct sync_mark *m)
{
	return p->clock[m->clock].same_as * p->n_sources + m->source;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Bounds of a clock's own that its edges have. */
struct vague {
	uint64_t *half, most;
	size_t n, room;
};

static int take_half(struct vague *v, uint64_t half)
{
	if (cvl_room(&v->half, v->n, &v->room, sizeof(*v->half)))
		return CVL_E_NOMEM;
	v->half[v->n++] = half;
	return 0;
}

/*
 * All marks of a clock count as no better than the worst of them, so edges whose bounds are much
 * wider than usual there are dropped: the observer was busy elsewhere.
 */
static int leave_out_vague(struct sync_problem *p, struct cvl_error *err)
{
	struct vague *v = calloc(p->n_clocks + 1, sizeof(*v));
	size_t kept = 0;
	int rc = v ? 0 : CVL_E_NOMEM;

	for (size_t i = 0; i < p->n_marks && !rc; i++) {
		sync_rest(p, i);
		if (p->mark[i].half)
			rc = take_half(&v[p->mark[i].clock], p->mark[i].half);
	}
	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		if (!v[c].n)
			continue;
		qsort(v[c].half, v[c].n, sizeof(*v[c].half), by_size);
		v[c].most = v[c].half[v[c].n / 2];
		v[c].most = v[c].most > UINT64_MAX / VAGUE ? UINT64_MAX : v[c].most * VAGUE;
	}
	for (size_t i = 0; i < p->n_marks && !rc; i++) {
		const struct sync_mark m = p->mark[i];

		sync_rest(p, i);
		if (m.half > v[m.clock].most)
			p->clock[p->clock[m.clock].same_as].vague++;
		else
			p->mark[kept++] = m;
	}
	p->n_marks = kept;
	for (size_t c = 0; v && c < p->n_clocks; c++)
		free(v[c].half);
	free(v);
	return rc ? cvl_no_memory(err) : 0;
}

/*
 * Where a clock has pulse records of a sender, plain edges of it are less precise and are dropped.
 * The rest is counted.
 */
static int prefer_exact(struct sync_problem *p, struct cvl_error *err)
{
	bool *exact = calloc(p->n_clocks * p->n_sources + 1, sizeof(*exact));
	size_t kept = 0;

	if (!exact)
		return cvl_no_memory(err);
	for (size_t i = 0; i < p->n_marks; i++) {
		sync_rest(p, i);
		if (p->mark[i].exact)
			exact[pair_of(p, &p->mark[i])] = true;
	}
	for (size_t i = 0; i < p->n_marks; i++) {
		const struct sync_mark *m = &p->mark[i];
		struct sync_clock *c = &p->clock[p->clock[m->clock].same_as];
		int64_t ns = m->half  ? ticks_ns(c, 2 * m->half) :
			     m->exact ? ticks_ns(c, 1) :
					c->resolution_ns;

		sync_rest(p, i);
		if (!m->exact && exact[pair_of(p, m)])
			continue;
		if (ns > c->mark_ns)
			c->mark_ns = ns;
		p->source[m->source].marks++;
		p->mark[kept++] = *m;
	}
	p->n_marks = kept;
	spill_rest(&p->marks);
	free(exact);
	return 0;
}

/* Find a stream's bit for each pulse rule, and for the edge to align by. */
static int prepare_lines(struct observer *w, size_t stream, bool *found)
{
	const struct cvl_trace *trace = cvl_timeline_trace(w->tl, stream);
	bool ours = cvl_trace_ours(trace);
	uint64_t step = ours ? cvl_trace_env_number(trace, "resolution") : 0;

	w->lines[stream].early = step ? (step - 1) / 2 : 0;
	w->lines[stream].step = step;
	for (size_t r = 0; r < w->opts->n_pulse; r++) {
		int line = cvl_trace_line(trace, w->opts->pulse[r].line);

		if (line == CVL_LINE_AMBIGUOUS)
			return lines_none(w->tl, w->opts->pulse[r].line, w->err);
		w->lines[stream].line[r] = line;
		found[r] = found[r] || line >= 0;
	}
	w->lines[stream].align = *w->opts->align ? cvl_trace_line(trace, w->opts->align) : -1;
	if (w->lines[stream].align == CVL_LINE_AMBIGUOUS)
		return lines_none(w->tl, w->opts->align, w->err);
	found[CVL_RULES_MAX] = found[CVL_RULES_MAX] || w->lines[stream].align >= 0;
	return 0;
}

static int prepare(struct observer *w)
{
	size_t n = cvl_timeline_streams(w->tl);
	bool found[CVL_RULES_MAX + 1] = { false };

	w->lines = calloc(n + 1, sizeof(*w->lines));
	if (!w->lines)
		return cvl_no_memory(w->err);
	for (size_t s = 0; s < n; s++) {
		int rc = prepare_lines(w, s, found);

		if (rc)
			return rc;
	}
	for (size_t r = 0; r < w->opts->n_pulse; r++) {
		const struct cvl_pulse_rule *rule = &w->opts->pulse[r];
		char name[100];

		if (!found[r])
			return lines_none(w->tl, rule->line, w->err);
		snprintf(name, sizeof(name), "pulse %s", rule->line);
		w->source_of_pulse[r] = find_source(w, name, false, rule->period_ns);
		if (w->source_of_pulse[r] < 0)
			return w->source_of_pulse[r];
		w->p->source[w->source_of_pulse[r]].error_ns = rule->error_ns;
		w->p->source[w->source_of_pulse[r]].error_is_max = rule->error_is_max;
	}
	if (*w->opts->align && !found[CVL_RULES_MAX])
		return lines_none(w->tl, w->opts->align, w->err);
	return 0;
}

static int begin(struct observer **out, struct sync_problem *p, struct pairing *ends,
		 struct cvl_session *session, const struct cvl_sync_opts *opts,
		 const struct rule_set *rules, bool live, struct cvl_error *err)
{
	const struct cvl_timeline_opts topts = {
		.nominal = true,
		.strict = opts->strict,
		.report = opts->report,
		.progress = opts->progress,
	};
	struct observer *w = calloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	if (!w)
		return cvl_no_memory(err);
	*w = (struct observer){ .p = p, .opts = opts, .ends = ends, .err = err };
	rc = live ? timeline_open_live(&w->tl, session, &topts, err) :
		    cvl_timeline_open(&w->tl, session, &topts, err);
	rc = rc ? rc : prepare(w);
	rc = rc ? rc : matcher_new(&w->matcher, w->tl, rules, err);
	if (rc)
		observer_free(w);
	else
		*out = w;
	return rc;
}

int observer_new(struct observer **o, struct sync_problem *p, struct pairing *ends,
		 struct cvl_session *session, const struct cvl_sync_opts *opts,
		 const struct rule_set *rules, struct cvl_error *err)
{
	return begin(o, p, ends, session, opts, rules, true, err);
}

void observer_free(struct observer *o)
{
	if (!o)
		return;
	matcher_free(o->matcher);
	free(o->lines);
	cvl_timeline_close(o->tl);
	free(o);
}

/* @enough, if not NULL, says after each block whether to go on later. */
static int read_on(struct observer *w, bool (*enough)(void *ctx), void *ctx, struct cvl_error *err)
{
	struct cvl_block block;
	struct cvl_slice slice;
	int rc;

	w->err = err;
	while ((rc = cvl_timeline_next(w->tl, &block, err)) > 0) {
		rc = 0;
		while (!rc && cvl_block_take(&block, &slice))
			rc = see_slice(w, &slice);
		if (rc || (enough && enough(ctx)))
			break;
	}
	return rc;
}

int observer_grow(struct observer *o, const struct cvl_session *now, struct cvl_sync *maps,
		  int64_t limit, bool (*enough)(void *ctx), void *ctx, struct cvl_error *err)
{
	int rc = timeline_grow(o->tl, now, maps, limit, err);

	return rc ? rc : read_on(o, enough, ctx, err);
}

bool observer_ended(const struct observer *o)
{
	return timeline_ended(o->tl);
}

uint64_t observer_seen(const struct observer *o, size_t clock)
{
	return timeline_seen(o->tl, clock);
}

int observed(struct sync_problem *p, struct pairing *ends, const struct rule_set *rules,
	     struct cvl_error *err)
{
	int rc = leave_out_vague(p, err);

	rc = rc ? rc : prefer_exact(p, err);
	return rc ? rc : pairing_solve(ends, p, rules, err);
}

/* What is told of damage is to be told again next time. */
struct told {
	const struct cvl_report *to;
	size_t n;
};

static void tell_on(void *ctx, const struct cvl_error *problem)
{
	struct told *t = ctx;

	t->n++;
	cvl_tell(t->to, problem);
}

static uint64_t bytes_of(const struct cvl_timeline *tl)
{
	struct cvl_stream_stats stats;
	uint64_t sum = 0;

	for (size_t i = 0; i < cvl_timeline_streams(tl); i++) {
		cvl_stream_stats(cvl_timeline_stream(tl, i), &stats);
		sum += stats.bytes;
	}
	return sum;
}

int observe(struct sync_problem *p, struct cvl_session *session, const struct cvl_sync_opts *opts,
	    const struct rule_set *rules, struct cvl_error *err)
{
	struct cvl_sync_opts o = *opts;
	struct told told = { .to = opts->report };
	const struct cvl_report report = { tell_on, &told };
	struct pairing ends = { 0 };
	struct observer *w;
	char key[FOUND_KEY];
	uint64_t unmatched = 0;
	bool keep;
	int rc;

	o.report = &report;
	rc = begin(&w, p, &ends, session, &o, rules, false, err);
	keep = !rc && !opts->strict && found_key(key, w->tl, opts, rules);
	if (!rc && !(keep && found_load(p, &ends, rules->n, &unmatched, session, key))) {
		rc = read_on(w, NULL, NULL, err);
		unmatched = rc ? 0 : matcher_counts(w->matcher).unmatched;
		if (!rc && keep && !told.n)
			found_save(p, &ends, unmatched, session, key,
				   KEPT_LEAST + bytes_of(w->tl) / KEPT_PART);
	}
	rc = rc ? rc : observed(p, &ends, rules, err);
	p->unmatched += unmatched;
	observer_free(w);
	pairing_free(&ends);
	return rc;
}
