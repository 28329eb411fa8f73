/* SPDX-License-Identifier: MIT */
/* Reads loop statistics of a session, and durations between two of its events. */
#include <stdlib.h>
#include <string.h>

#include "analysis/precision/internal.h"
#include "store/loop_events.h"

#define FACTS 256

/* ---- fields ---- */

static void take(void *ctx, const char *name, const struct cvl_value *v)
{
	struct precision_fields *f = ctx;

	if (!name || f->n == PRECISION_FIELDS)
		return;
	snprintf(f->f[f->n].name, sizeof(f->f[f->n].name), "%s", cvl_plain_name(name));
	f->f[f->n].u = 0;
	f->f[f->n].text = NULL;
	if (v->type->kind == CVL_TYPE_INT || v->type->kind == CVL_TYPE_ENUM)
		f->f[f->n].u = v->u;
	else if (v->type->kind == CVL_TYPE_STRING)
		f->f[f->n].text = strndup(v->s.text, v->s.len);
	f->n++;
}

static void begin(void *ctx, const char *name, const struct cvl_type *type, uint64_t n)
{
	(void)ctx, (void)name, (void)type, (void)n;
}

static void end(void *ctx, const struct cvl_type *type)
{
	(void)ctx, (void)type;
}

void precision_read_fields(const struct precision_reader *r, const struct cvl_slice *sl, size_t i,
			   struct precision_fields *f)
{
	const struct cvl_visitor visitor = { take, begin, end, NULL, f, NULL };

	f->n = 0;
	cvl_stream_visit(cvl_timeline_stream(r->tl, sl->stream), sl->batch, i, &visitor, NULL);
}

void precision_drop_fields(struct precision_fields *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->f[i].text);
	f->n = 0;
}

uint64_t precision_number_of(const struct precision_fields *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->f[i].name, name))
			return f->f[i].u;
	return 0;
}

static const char *text_of(const struct precision_fields *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->f[i].name, name) && f->f[i].text)
			return f->f[i].text;
	return "";
}

/* ---- reports of a loop ---- */

static struct cvl_precision_clock *clock_of(struct precision_reader *r, const struct cvl_slice *sl)
{
	const struct cvl_clock *clock;
	struct cvl_precision_clock *c;

	for (size_t i = 0; i < r->p.n; i++)
		if (r->p.clock[i].clock == sl->clock)
			return &r->p.clock[i];
	c = reallocarray(r->p.clock, r->p.n + 1, sizeof(*c));
	if (!c)
		return NULL;
	r->p.clock = c;
	c += r->p.n++;
	clock = cvl_session_clock(cvl_timeline_session(r->tl), sl->clock);
	*c = (struct cvl_precision_clock){ .clock = sl->clock,
					   .rate_hz = clock->rate_hz,
					   .resolution = clock->resolution ? clock->resolution : 1,
					   .half_least = UINT64_MAX };
	return c;
}

static void count_cause(struct cvl_precision_clock *c, const char *name, uint64_t ticks)
{
	size_t i = 0;

	while (i < c->n_causes && strcmp(c->cause[i].name, name) != 0)
		i++;
	/* more causes than expected: the last takes the rest */
	if (i == CVL_PRECISION_CAUSES)
		i--;
	else if (i == c->n_causes)
		snprintf(c->cause[c->n_causes++].name, sizeof(c->cause[i].name), "%s", name);
	c->cause[i].n++;
	c->cause[i].ticks += ticks;
}

static int by_length(const void *va, const void *vb)
{
	const struct cvl_precision_gap *a = va, *b = vb;

	return (a->ticks < b->ticks) - (a->ticks > b->ticks);
}

static int by_time(const void *va, const void *vb)
{
	const struct cvl_precision_gap *a = va, *b = vb;

	return a->clock != b->clock ? (a->clock > b->clock) - (a->clock < b->clock) :
				      (a->end > b->end) - (a->end < b->end);
}

static void drop_short_gaps(struct cvl_precision_result *p)
{
	qsort(p->gap, p->n_gaps, sizeof(*p->gap), by_length);
	while (p->n_gaps > CVL_PRECISION_GAPS)
		free(p->gap[--p->n_gaps].detail);
}

static int add_gap(struct precision_reader *r, struct cvl_precision_clock *c, uint64_t tick,
		   const struct precision_fields *f)
{
	struct cvl_precision_result *p = &r->p;
	struct cvl_precision_gap g = { .clock = c->clock, .end = tick };

	g.ticks = precision_number_of(f, "ticks");
	snprintf(g.cause, sizeof(g.cause), "%s", text_of(f, "cause"));
	c->gaps++;
	c->gap_sum += g.ticks;
	count_cause(c, g.cause, g.ticks);
	if (p->n_gaps == 2 * CVL_PRECISION_GAPS)
		drop_short_gaps(p);
	if (!p->gap && !(p->gap = calloc(2 * CVL_PRECISION_GAPS, sizeof(*p->gap))))
		return cvl_no_memory(r->err);
	g.detail = strdup(text_of(f, "detail"));
	if (!g.detail)
		return cvl_no_memory(r->err);
	p->gap[p->n_gaps++] = g;
	return 0;
}

static int add_bin(struct precision_reader *r, struct cvl_precision_bins *bins,
		   const struct precision_fields *f)
{
	const struct cvl_precision_bin b = { precision_number_of(f, "low"),
					     precision_number_of(f, "high"),
					     precision_number_of(f, "count"),
					     precision_number_of(f, "ticks") };

	if (bins->n > 65536)
		return cvl_fail(r->err, CVL_E_LIMIT, CVL_NO_OFFSET, "too many bins of steps");
	return precision_bin_add(bins, &b) ? cvl_no_memory(r->err) : 0;
}

static int add_fact(struct precision_reader *r, struct cvl_precision_clock *c,
		    struct precision_fields *f)
{
	struct cvl_precision_fact *grown;

	/* a resumed capture reports them again */
	if (c->n_facts == FACTS)
		return 0;
	grown = reallocarray(c->fact, c->n_facts + 1, sizeof(*grown));
	if (!grown)
		return cvl_no_memory(r->err);
	c->fact = grown;
	grown += c->n_facts;
	grown->name = strdup(text_of(f, "name"));
	grown->value = strdup(text_of(f, "value"));
	grown->state = strdup(text_of(f, "state"));
	c->n_facts++;
	return grown->name && grown->value && grown->state ? 0 : cvl_no_memory(r->err);
}

static void add_loop(struct cvl_precision_clock *c, const struct precision_fields *f)
{
	const uint64_t longest = precision_number_of(f, "longest"),
		       widest = precision_number_of(f, "widest");
	const uint64_t gap = precision_number_of(f, "gap_ticks");

	c->looped = true;
	c->steps += precision_number_of(f, "steps");
	c->longest = longest > c->longest ? longest : c->longest;
	c->widest = widest > c->widest ? widest : c->widest;
	c->gap_ticks = gap > c->gap_ticks ? gap : c->gap_ticks;
}

static void add_counter(struct cvl_precision_clock *c, const struct precision_fields *f)
{
	const uint64_t step = precision_number_of(f, "step"),
		       apart = precision_number_of(f, "apart"),
		       limit = precision_number_of(f, "limit");
	struct cvl_precision_counter *k = &c->counter;

	c->resolution = step > c->resolution ? step : c->resolution;
	k->cpu = precision_number_of(f, "cpu");
	k->apart = apart > k->apart ? apart : k->apart;
	k->limit = limit; /* later ones include earlier measurements */
	k->told = true;
}

/* Bins not wider than 1/32 of their value. */
static int add_step(struct precision_reader *r, struct cvl_precision_bins *bins, uint64_t ticks)
{
	const unsigned drop = ticks < 64 ? 0 : 58u - (unsigned)__builtin_clzll(ticks);
	const struct cvl_precision_bin b = { ticks >> drop << drop,
					     (ticks >> drop << drop) + (UINT64_C(1) << drop) - 1, 1,
					     ticks };

	return precision_bin_add(bins, &b) ? cvl_no_memory(r->err) : 0;
}

/* The kernel of firmware/apps/ett reports its loop by events of its own: 1 if this is one. */
static int told_by_kernel(struct precision_reader *r, const struct cvl_slice *sl, size_t i,
			  const char *name)
{
	const bool run = !strcmp(name, "run");
	struct cvl_precision_clock *c;
	struct precision_fields f;
	uint64_t longest;
	int rc = 0;

	if (!run && strcmp(name, "step") != 0)
		return 0;
	if (strcmp(cvl_session_clock(cvl_timeline_session(r->tl), sl->clock)->format, "ett") != 0)
		return 0;
	c = clock_of(r, sl);
	if (!c)
		return cvl_no_memory(r->err);
	precision_read_fields(r, sl, i, &f);
	if (run) {
		longest = precision_number_of(&f, "step_most");
		c->looped = true;
		c->steps += precision_number_of(&f, "steps");
		c->longest = longest > c->longest ? longest : c->longest;
		c->widest = c->longest > UINT64_MAX / 2 ? UINT64_MAX : 2 * c->longest;
		c->gap_ticks = c->widest;
	} else {
		rc = add_step(r, &c->step, precision_number_of(&f, "ticks"));
	}
	precision_drop_fields(&f);
	return rc ? rc : 1;
}

/* 1: it is a report of the loop. */
static int told(struct precision_reader *r, const struct cvl_slice *sl, size_t i, const char *name)
{
	struct cvl_precision_clock *c;
	struct precision_fields f;
	int rc = 0;

	if (strncmp(name, "poll_", 5) != 0)
		return told_by_kernel(r, sl, i, name);
	c = clock_of(r, sl);
	if (!c)
		return cvl_no_memory(r->err);
	precision_read_fields(r, sl, i, &f);
	if (!strcmp(name, LOOP_LOOP))
		add_loop(c, &f);
	else if (!strcmp(name, LOOP_STEP))
		rc = add_bin(r, &c->step, &f);
	else if (!strcmp(name, LOOP_SPAN))
		rc = add_bin(r, &c->span, &f);
	else if (!strcmp(name, LOOP_GAP))
		rc = add_gap(r, c, sl->batch->tick[i].count, &f);
	else if (!strcmp(name, LOOP_COUNTER))
		add_counter(c, &f);
	else if (!strcmp(name, LOOP_FACT))
		rc = add_fact(r, c, &f);
	precision_drop_fields(&f);
	return rc ? rc : 1;
}

/* Its half-width is in its first field: the batch has it. */
static int bracketed(struct precision_reader *r, const struct cvl_slice *sl, size_t i)
{
	struct cvl_precision_clock *c = clock_of(r, sl);
	const uint64_t half = sl->batch->bracket[i];

	if (!c)
		return cvl_no_memory(r->err);
	c->events++;
	c->half_sum += (double)half;
	c->half_least = half < c->half_least ? half : c->half_least;
	c->half_most = half > c->half_most ? half : c->half_most;
	return 0;
}

/* An event that begins with a half-width, or an edge that has more than its clock's. */
static bool has_bracket(const struct precision_reader *r, const struct cvl_slice *sl, size_t i,
			const struct cvl_event_class *class)
{
	const struct cvl_type *fields = class ? class->type[CVL_SCOPE_FIELDS] : NULL;

	if (sl->batch->kind[i] == CVL_EDGE)
		return sl->batch->bracket[i] >
		       cvl_session_clock(cvl_timeline_session(r->tl), sl->clock)->resolution;
	return fields && fields->n &&
	       !strcmp(cvl_plain_name(fields->member[0].name), CVL_HALF_WIDTH);
}

/* ---- all of it ---- */

static int see(struct precision_reader *r, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	struct precision_mark *m = &r->mark[sl->stream];
	const struct cvl_event_class *class;
	struct cvl_precision_clock *c;
	int rc = 0;

	if (b->kind[i] == CVL_GAP) {
		precision_mark_gap(m, b->tick[i].count, b->aux[i]);
		if (r->selection)
			precision_mark(r, sl, i);
		if (b->cls[i] != CVL_GAP_OVERFLOW)
			return 0;
		c = clock_of(r, sl);
		if (!c)
			return cvl_no_memory(r->err);
		c->overflows++;
		c->lost += b->value[i] == CVL_LOST_UNKNOWN ? 0 : b->value[i];
		return 0;
	}
	class = b->kind[i] == CVL_EVENT ?
			cvl_stream_class(cvl_timeline_stream(r->tl, sl->stream), b, i) :
			NULL;
	if (class)
		rc = told(r, sl, i, class->name);
	if (rc < 0)
		return rc;
	if (!rc && b->bracket && has_bracket(r, sl, i, class))
		rc = bracketed(r, sl, i);
	if (rc < 0 || !r->selection)
		return rc < 0 ? rc : 0;
	return precision_mark(r, sl, i);
}

static int push(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct precision_reader *r = (struct precision_reader *)a;
	int rc = 0;

	r->err = err;
	for (size_t i = sl->begin; i < sl->end && !rc; i++)
		rc = see(r, sl, i);
	return rc;
}

static int end_all(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	struct precision_reader *r = (struct precision_reader *)a;
	struct cvl_precision_result *p = &r->p;

	(void)last;
	r->err = err;
	for (size_t i = 0; i < r->n_streams; i++)
		p->open += r->mark[i].open;
	if (p->n_gaps > CVL_PRECISION_GAPS)
		drop_short_gaps(p);
	if (p->n_gaps)
		qsort(p->gap, p->n_gaps, sizeof(*p->gap), by_time);
	return durations_conclude(&p->times) ? cvl_no_memory(r->err) : 0;
}

static void free_all(struct cvl_analysis *a)
{
	struct precision_reader *r = (struct precision_reader *)a;
	struct cvl_precision_result *p = &r->p;

	for (size_t i = 0; i < p->n; i++) {
		struct cvl_precision_clock *c = &p->clock[i];

		for (size_t k = 0; k < c->n_facts; k++) {
			free(c->fact[k].name);
			free(c->fact[k].value);
			free(c->fact[k].state);
		}
		free(c->fact);
		free(c->step.bin);
		free(c->span.bin);
	}
	for (size_t i = 0; i < p->n_gaps; i++)
		free(p->gap[i].detail);
	free(p->clock);
	free(p->gap);
	durations_free(&p->times);
	cvl_select_close(r->selection);
	free(r->mark);
	free(r);
}

static const struct cvl_analysis_kind precision_kind = {
	.name = "precision",
	.push = push,
	.end = end_all,
	.free = free_all,
};

int cvl_precision_open(struct cvl_analysis **a, struct cvl_timeline *tl,
		       const struct cvl_precision_opts *opts, struct cvl_error *err)
{
	static const struct cvl_select_opts how = {
		.line = CVL_WHEN_RISE,
		.kinds = 1u << CVL_EDGE | 1u << CVL_BEACON | 1u << CVL_PULSE | 1u << CVL_MESSAGE,
	};
	struct precision_reader *r = calloc(1, sizeof(*r));
	int rc = 0;

	*a = NULL;
	if (!r)
		return cvl_no_memory(err);
	r->analysis.kind = &precision_kind;
	r->tl = tl;
	r->opts = *opts;
	r->n_streams = cvl_timeline_streams(tl);
	r->mark = calloc(r->n_streams + 1, sizeof(*r->mark));
	if (!r->mark)
		rc = cvl_no_memory(err);
	if (!rc && opts->between) {
		r->selector[0] = &opts->between[0];
		r->selector[1] = &opts->between[1];
		rc = cvl_select_open(&r->selection, r->selector, 2, tl, &how, err);
	}
	if (rc)
		free_all(&r->analysis);
	else
		*a = &r->analysis;
	return rc;
}

const struct cvl_precision_result *cvl_precision_result(const struct cvl_analysis *a)
{
	return &((const struct precision_reader *)a)->p;
}
