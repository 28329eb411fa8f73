/* SPDX-License-Identifier: MIT */
#include "precision_view.h"

#include <errno.h>
#include <stdlib.h>

#include "durations.h"
#include "output.h"

static const char *clock_name(const struct precision_view *v, size_t clock)
{
	return cvl_session_clock(v->session, clock)->name;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* So many nines as there are. */
static void share_cell(struct table *t, double share)
{
	table_cell(t, share >= 1 ? "%.0f %%" : "%.9g %%", 100 * share);
}

static int by_length(const void *va, const void *vb)
{
	const struct cvl_precision_gap *const *a = va, *const *b = vb;

	return ((*a)->ticks < (*b)->ticks) - ((*a)->ticks > (*b)->ticks);
}

/* The longest gaps of @c, up to v->gaps; free() them. */
static struct cvl_precision_gap **longest(const struct precision_view *v,
					  const struct cvl_precision_clock *c, size_t *n)
{
	const struct cvl_precision_result *p = v->study;
	struct cvl_precision_gap **g = calloc(p->n_gaps + 1, sizeof(*g));

	*n = 0;
	for (size_t i = 0; g && i < p->n_gaps; i++)
		if (p->gap[i].clock == c->clock)
			g[(*n)++] = &p->gap[i];
	if (g)
		qsort(g, *n, sizeof(*g), by_length);
	*n = *n < v->gaps ? *n : v->gaps;
	return g;
}

/* ---- as text ---- */

static void put_levels(struct cvl_out *o, const struct cvl_precision_clock *c)
{
	const int64_t epsilon = cvl_precision_ns(c, c->resolution);
	struct table t;

	table_heads(&t, "assurance|tau|of time|of steps|epsilon|tau + epsilon|bracket");
	/* without each step there is the longest alone */
	for (size_t i = c->step.n ? 0 : CVL_PRECISION_LEVELS - 1; i < CVL_PRECISION_LEVELS; i++) {
		struct cvl_precision_level l = cvl_precision_at(c, cvl_precision_levels[i]);

		table_cell(&t, "%g", l.share);
		table_bound(&t, true, cvl_precision_ns(c, l.tau));
		share_cell(&t, l.time);
		share_cell(&t, l.steps);
		table_bound(&t, true, epsilon);
		table_bound(&t, true, cvl_precision_ns(c, l.tau + c->resolution));
		table_bound(&t, true, cvl_precision_ns(c, l.bracket));
	}
	table_print(&t, o, "lrrrrrr", "  ");
}

static void put_claims(struct cvl_out *o, const struct cvl_precision_clock *c)
{
	char widest[CVL_TIME_TEXT], gap[CVL_TIME_TEXT];

	cvl_bound_text(widest, cvl_precision_ns(c, c->widest));
	cvl_bound_text(gap, cvl_precision_ns(c, c->gap_ticks));
	cvl_out_text(
		o,
		"\ntau + epsilon is the precision of an event, and of a duration of two of them\n");
	cvl_out_printf(o, "no pulse of %s or more is missed", widest);
	if (c->widest > c->gap_ticks)
		cvl_out_printf(o, "; outside of the gaps, none longer than %s", gap);
	cvl_out_text(o, "\n");
}

/*
 * What stamps of this clock are worth beside stamps that another processor of the machine took
 * itself.
 */
static void put_counter(struct cvl_out *o, const struct cvl_precision_clock *c)
{
	char slack[CVL_TIME_TEXT], limit[CVL_TIME_TEXT];

	if (!c->counter.told)
		return;
	cvl_bound_text(slack, cvl_precision_ns(c, plus(c->counter.apart, c->resolution)));
	cvl_bound_text(limit, cvl_precision_ns(c, plus(c->counter.limit, c->resolution)));
	cvl_out_printf(
		o,
		"beside stamps of processor %llu: +-%s by what the counters were shown to differ, +-%s at most\n",
		(unsigned long long)c->counter.cpu, slack, limit);
}

static void put_gaps(const struct precision_view *v, struct cvl_out *o,
		     const struct cvl_precision_clock *c)
{
	struct cvl_precision_gap **g;
	struct table t;
	size_t n;

	if (!c->gaps)
		return;
	cli_count(o, "\ngaps: ", c->gaps, "time", " unobserved");
	if (c->step.ticks)
		cvl_out_printf(o, ", %.4g %% of all",
			       100 * (double)c->gap_sum / (double)c->step.ticks);
	cvl_out_text(o, "; the longest:\n");
	g = longest(v, c, &n);
	if (!g)
		o->error = ENOMEM;
	table_heads(&t, "up to s|for|cause|");
	for (size_t i = 0; i < n; i++) {
		table_cell(&t, "%.9f", (double)g[i]->end / (double)c->rate_hz);
		table_bound(&t, true, cvl_precision_ns(c, g[i]->ticks));
		table_row(&t, g[i]->cause, g[i]->detail);
	}
	free(g);
	table_print(&t, o, "rrll", "  ");
	cvl_out_text(o, "\n");
	table_heads(&t, "cause|gaps|in all");
	for (size_t i = 0; i < c->n_causes; i++) {
		table_cell(&t, "%s", c->cause[i].name);
		table_counts(&t, c->cause[i].n);
		table_bound(&t, true, cvl_precision_ns(c, c->cause[i].ticks));
	}
	table_print(&t, o, "lrr", "  ");
}

static void put_facts(struct cvl_out *o, const struct cvl_precision_clock *c)
{
	struct table t;

	if (!c->n_facts)
		return;
	cvl_out_text(o, "\nthe machine:\n");
	table_init(&t, 3);
	for (size_t i = 0; i < c->n_facts; i++)
		table_row(&t, c->fact[i].name, c->fact[i].state, c->fact[i].value);
	table_print(&t, o, "lll", "  ");
}

static void put_clock(const struct precision_view *v, struct cvl_out *o,
		      const struct cvl_precision_clock *c)
{
	char least[CVL_TIME_TEXT], most[CVL_TIME_TEXT];

	cvl_out_printf(o, "%s: ", clock_name(v, c->clock));
	if (c->looped) {
		cli_count(o, "", c->steps, "step", " of a loop");
		if (c->step.ticks)
			cvl_out_printf(o, " in %.3f s", (double)c->step.ticks / (double)c->rate_hz);
	} else {
		cvl_out_text(
			o, "it tells of no loop (a capture that was cut off, or stamps by others)");
	}
	if (c->events) {
		cvl_bound_text(least, cvl_precision_ns(c, 2 * c->half_least));
		cvl_bound_text(most, cvl_precision_ns(c, 2 * c->half_most));
		cli_count(o, "; ", c->events, "event", "");
		cvl_out_printf(o, " with brackets of %s to %s", least, most);
	}
	cvl_out_char(o, '\n');
	if (c->looped) {
		cvl_out_char(o, '\n');
		put_levels(o, c);
		put_claims(o, c);
		put_counter(o, c);
	}
	put_gaps(v, o, c);
	if (c->overflows)
		cvl_out_printf(o, "\n%llu times something was full: %llu records are lost\n",
			       (unsigned long long)c->overflows, (unsigned long long)c->lost);
	put_facts(o, c);
}

static void put_text(const struct precision_view *v, struct cvl_out *o)
{
	const struct cvl_durations *times = &v->study->times;

	for (size_t i = 0; i < v->study->n && !v->between; i++) {
		if (i)
			cvl_out_char(o, '\n');
		put_clock(v, o, &v->study->clock[i]);
	}
	if (!v->between)
		return;
	cvl_out_printf(o, "%s: ", v->between);
	cli_count(o, "", times->n, "duration", "");
	if (times->broken)
		cvl_out_printf(o, "; %llu contain a pause, in which a pulse may be missing",
			       (unsigned long long)times->broken);
	if (v->study->open)
		cvl_out_printf(o, "; %llu began and did not end",
			       (unsigned long long)v->study->open);
	cvl_out_char(o, '\n');
	durations_text(o, times);
}

/* ---- as JSON ---- */

static void put_bins(struct js *j, const char *key, const struct cvl_precision_bins *b)
{
	js_open(j, key, '[');
	for (size_t i = 0; i < b->n; i++) {
		js_open(j, NULL, '[');
		js_counts(j, NULL, b->bin[i].low, b->bin[i].high, b->bin[i].count, b->bin[i].ticks);
		js_close(j, ']');
	}
	js_close(j, ']');
}

static void levels_json(struct js *j, const struct cvl_precision_clock *c)
{
	js_open(j, "levels", '[');
	for (size_t i = c->step.n ? 0 : CVL_PRECISION_LEVELS - 1;
	     i < CVL_PRECISION_LEVELS && c->looped; i++) {
		struct cvl_precision_level l = cvl_precision_at(c, cvl_precision_levels[i]);

		js_open(j, NULL, '{');
		js_real(j, "assurance", l.share);
		js_int(j, "tau_ns", cvl_precision_ns(c, l.tau));
		js_reals(j, "of_time of_steps", l.time, l.steps);
		js_ints(j, "precision_ns bracket_ns", cvl_precision_ns(c, l.tau + c->resolution),
			cvl_precision_ns(c, l.bracket));
		js_real(j, "duration_assurance", l.share > 0.5 ? 2 * l.share - 1 : 0);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void gaps_json(struct js *j, const struct precision_view *v,
		      const struct cvl_precision_clock *c)
{
	js_open(j, "gap_list", '[');
	for (size_t i = 0; i < v->study->n_gaps; i++) {
		const struct cvl_precision_gap *g = &v->study->gap[i];

		if (g->clock != c->clock)
			continue;
		js_open(j, NULL, '{');
		js_count(j, "end_tick", g->end);
		js_int(j, "ns", cvl_precision_ns(c, g->ticks));
		js_texts(j, "cause detail", g->cause, g->detail);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void clock_json(struct js *j, const struct precision_view *v,
		       const struct cvl_precision_clock *c)
{
	js_open(j, NULL, '{');
	js_text(j, "clock", clock_name(v, c->clock));
	js_count(j, "rate_hz", c->rate_hz);
	js_bool(j, "loop", c->looped);
	js_counts(j, "steps ticks", c->steps, c->step.ticks);
	js_ints(j, "epsilon_ns tau_max_ns bracket_max_ns gap_ns",
		cvl_precision_ns(c, c->resolution), cvl_precision_ns(c, c->longest),
		cvl_precision_ns(c, c->widest), cvl_precision_ns(c, c->gap_ticks));
	js_counts(j, "gaps lost events", c->gaps, c->lost, c->events);
	levels_json(j, c);
	if (c->counter.told) {
		js_open(j, "counter", '{');
		js_ints(j, "cpu apart_ns limit_ns", (int64_t)c->counter.cpu,
			cvl_precision_ns(c, c->counter.apart),
			cvl_precision_ns(c, c->counter.limit));
		js_close(j, '}');
	}
	put_bins(j, "step_bins", &c->step);
	put_bins(j, "span_bins", &c->span);
	gaps_json(j, v, c);
	js_open(j, "facts", '[');
	for (size_t i = 0; i < c->n_facts; i++) {
		js_open(j, NULL, '{');
		js_texts(j, "name state value", c->fact[i].name, c->fact[i].state,
			 c->fact[i].value);
		js_close(j, '}');
	}
	js_close(j, ']');
	js_close(j, '}');
}

static void put_json(const struct precision_view *v, struct cvl_out *o)
{
	struct js j = js_begin(o);

	js_text(&j, "session", cvl_session_path(v->session));
	js_open(&j, "clocks", '[');
	for (size_t i = 0; i < v->study->n; i++)
		clock_json(&j, v, &v->study->clock[i]);
	js_close(&j, ']');
	if (v->between) {
		js_open(&j, "durations", '{');
		durations_json(&j, &v->study->times);
		js_text(&j, "between", v->between);
		js_count(&j, "open", v->study->open);
		js_close(&j, '}');
	}
	js_end(&j);
}

static void put_view(struct cvl_out *o, const void *view)
{
	const struct precision_view *v = view;

	(v->json ? put_json : put_text)(v, o);
}

int precision_view_put(const struct precision_view *v, struct cvl_error *err)
{
	return output_print(put_view, v, err);
}

static void put_svg(struct cvl_out *o, const void *view)
{
	const struct precision_view *v = view;
	const struct cvl_durations *times = &v->study->times;
	char title[300];
	const char *name = title;

	snprintf(title, sizeof(title), "%.240s: %zu durations", v->between, times->n);
	cvl_durations_svg(title, &name, &times, 1, o);
}

int precision_view_svg(const struct precision_view *v, struct cvl_error *err)
{
	return output_write(v->svg, put_svg, v, err);
}
