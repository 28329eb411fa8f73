/* SPDX-License-Identifier: MIT */
#include "calls/view.h"

#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH 80

static void name_cell(struct table *t, const char *name)
{
	size_t n = strnlen(name, NAME_LENGTH + 1);

	if (n <= NAME_LENGTH) {
		table_cell(t, "%s", name);
		return;
	}
	for (n = NAME_LENGTH - 3; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
		n--; /* within a character */
	table_cell(t, "%.*s...", (int)n, name);
}

static void ns_cells(struct table *t, size_t n, const int64_t *ns)
{
	for (; n; n--, ns++)
		table_bound(t, *ns != INT64_MAX && *ns != INT64_MIN, *ns);
}

/* @left_out: rows of a table that --top leaves out. */
static void put_left_out(struct cvl_out *o, size_t left_out, const char *what)
{
	if (left_out)
		cvl_out_printf(o, "  ... and %zu more%s (--top)\n", left_out, what);
}

/* The table under its head, if it has rows. */
static void put_table(struct table *t, struct cvl_out *o, const char *head, size_t rows,
		      size_t left_out, const char *align)
{
	if (!rows) {
		table_drop(t);
		return;
	}
	cvl_out_text(o, head);
	table_print(t, o, align, "  ");
	put_left_out(o, left_out, "");
}

static void put_lanes(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	struct table t;
	size_t left_out = 0, rows = 0;

	table_heads(&t, "lane|spans|busy|preempted|ready|switched out|blocked|waiting|hidden");
	for (size_t i = 0; i < r->n_threads; i++) {
		const struct cvl_calls_thread *k = &r->thread[r->order[i]];

		/* one that only its name is known of */
		if (!k->spans && (k->idle || (!k->busy && !k->wakes)))
			continue;
		if (rows == v->top) {
			left_out++;
			continue;
		}
		rows++;
		name_cell(&t, k->label);
		table_counts(&t, k->spans);
		ns_cells(&t, 7,
			 (const int64_t[]){ k->busy, k->part.preempted, k->part.ready,
					    k->part.switched, k->part.blocked, k->part.waiting,
					    k->part.hidden });
	}
	table_print(&t, o, "lrrrrrrrr", "  ");
	put_left_out(o, left_out, "");
}

static void put_functions(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	struct table t;

	if (!r->n_hot)
		return;
	cvl_out_char(o, '\n');
	table_heads(&t, "function|calls|total|+-|self|mean|min|max|lanes|caller");
	for (size_t i = 0; i < r->n_hot && i < v->top; i++) {
		const struct cvl_calls_function *f = &r->function[r->hot[i]];

		name_cell(&t, f->name);
		table_counts(&t, f->calls);
		ns_cells(&t, 6,
			 (const int64_t[]){ f->total, f->total_bound, f->self,
					    f->whole ? f->sum / (int64_t)f->whole : INT64_MAX,
					    f->min, f->max });
		table_counts(&t, f->threads);
		if (f->caller == CVL_CALLS_NONE)
			table_cell(&t, "-");
		else if (f->callers == 1)
			name_cell(&t, r->function[f->caller].name);
		else
			table_cell(&t, "%.60s +%zu", r->function[f->caller].name, f->callers - 1);
	}
	table_print(&t, o, "lrrrrrrrrl", "  ");
	put_left_out(o, r->n_hot > v->top ? r->n_hot - v->top : 0, "");
}

/* Times from being woken to running. */
static void put_latencies(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	struct table t;
	size_t rows = 0, left_out = 0;

	table_heads(&t, "lane|woken|mean|longest|at s");
	for (size_t i = 0; i < r->n_threads; i++) {
		const struct cvl_calls_thread *k = &r->thread[r->order[i]];

		if (!k->wakes)
			continue;
		if (rows == v->top) {
			left_out++;
			continue;
		}
		rows++;
		name_cell(&t, k->label);
		table_counts(&t, k->wakes);
		ns_cells(&t, 2,
			 (const int64_t[]){ k->latency / (int64_t)k->wakes, k->latency_max });
		table_time(&t, k->latency_max > 0, (struct cvl_time){ k->slowest.ns });
	}
	put_table(&t, o, "\nfrom being woken to running:\n", rows, left_out, "lrrrr");
}

static int by_time(const void *va, const void *vb)
{
	const struct cvl_calls_wait *a = *(const struct cvl_calls_wait *const *)va;
	const struct cvl_calls_wait *b = *(const struct cvl_calls_wait *const *)vb;

	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : (a > b) - (a < b);
}

/* Who was blocked until whom, as far as it is known. */
static void put_waits(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	const struct cvl_calls_wait **wait = calloc(r->n_waits + 1, sizeof(*wait));
	struct table t;
	size_t n = 0;

	for (size_t i = 0; wait && i < r->n_waits; i++)
		if (r->wait[i].by != CVL_CALLS_NONE)
			wait[n++] = &r->wait[i];
	if (n)
		qsort(wait, n, sizeof(*wait), by_time);
	table_heads(&t, "lane|woken by|times|total|longest");
	for (size_t i = 0; i < n && i < v->top; i++) {
		const struct cvl_calls_wait *w = wait[i];

		name_cell(&t, r->thread[w->thread].label);
		table_cell(&t, "%.80s%s", r->thread[w->by].label, w->unsure ? " (perhaps)" : "");
		table_counts(&t, w->n);
		ns_cells(&t, 2, (const int64_t[]){ w->ns, w->max });
	}
	put_table(&t, o, "\nblocked until woken:\n", n, n > v->top ? n - v->top : 0, "llrrr");
	free(wait);
}

/* "/a timer 5 ms -> /b /topic" */
static void chain_cell(struct table *t, const struct cvl_calls_result *r, uint32_t i)
{
	uint32_t part[16];
	size_t n = 0, at = 0;
	char text[600];

	for (; i != CVL_CALLS_NONE && n < 16; i = r->chain[i].before)
		part[n++] = r->chain[i].function;
	text[0] = '\0';
	if (i != CVL_CALLS_NONE)
		at = (size_t)snprintf(text, sizeof(text), "... -> ");
	for (; n && at < sizeof(text) - 100; n--)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%.80s%s",
				       cvl_calls_function_name(r, part[n - 1]),
				       n > 1 ? " -> " : "");
	table_cell(t, "%s", text);
}

/* What messages cause, from the begin of the first span to the end of the last. */
static void put_chains(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	struct table t;
	size_t rows = 0, left_out = 0;

	table_heads(&t, "chain|times|median|99 %|longest|+-");
	for (uint32_t i = 0; i < r->n_chains; i++) {
		const struct cvl_calls_chain *k = &r->chain[i];

		if (k->length < 2 || !k->n)
			continue;
		if (rows == v->top) {
			left_out++;
			continue;
		}
		rows++;
		chain_cell(&t, r, i);
		table_counts(&t, k->n);
		ns_cells(&t, 4,
			 (const int64_t[]){ k->median, k->p99, k->max,
					    cvl_calls_apart(v->a, k->begin, k->end) });
	}
	put_table(&t, o, "\nchains, from the begin of the first span to the end of the last:\n",
		  rows, left_out, "lrrrrr");
}

static void put_findings(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;

	if (r->n_groups)
		cvl_out_text(o, "\nmuch longer than usual:\n");
	for (size_t i = 0; i < r->n_groups && i < v->top; i++) {
		cvl_out_text(o, "  ");
		cvl_out_name(o, r->group[i].text);
		cvl_out_char(o, '\n');
	}
}

static void put_shares(const struct calls_view *v, struct cvl_out *o, int64_t whole)
{
	const struct cvl_calls_result *r = v->r;
	struct table t;

	cvl_out_text(o, "\nof which:\n");
	table_init(&t, 4);
	for (size_t i = 0; i < r->n_shares && i < v->top; i++) {
		const struct cvl_calls_share *s = &r->share[i];

		table_cell(&t, "%.1f %%", whole ? 100.0 * (double)s->ns / (double)whole : 0.0);
		ns_cells(&t, 1, (const int64_t[]){ s->ns });
		name_cell(&t, r->thread[s->thread].label);
		name_cell(&t, s->text);
	}
	table_print(&t, o, "rrll", "  ");
}

static void put_path(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	const struct cvl_calls_span *s = r->chosen;
	char from[CVL_TIME_TEXT], length[CVL_TIME_TEXT];
	struct table t;

	if (!r->n_steps)
		return;
	cvl_time_text(from, (struct cvl_time){ s->begin.ns });
	cvl_bound_text(length, s->end.ns - s->begin.ns);
	cvl_out_text(o, "\ncritical path of ");
	if (s->function != CVL_CALLS_NONE) {
		cvl_out_name(o, cvl_calls_function_name(r, s->function));
		cvl_out_text(o, " on ");
	}
	cvl_out_name(o, r->thread[s->thread].label);
	cvl_out_printf(o, ", from %s s for %s:\n", from, length);
	table_heads(&t, "from s|for|+-|lane|what");
	for (size_t i = 0; i < r->n_steps && i < v->top; i++) {
		const struct cvl_calls_step *k = &r->step[i];

		table_time(&t, true, (struct cvl_time){ k->begin.ns });
		ns_cells(&t, 2,
			 (const int64_t[]){ k->end.ns - k->begin.ns,
					    cvl_calls_apart(v->a, k->begin, k->end) });
		name_cell(&t, r->thread[k->thread].label);
		name_cell(&t, k->text);
	}
	table_print(&t, o, "rrrll", "  ");
	put_left_out(o, r->n_steps > v->top ? r->n_steps - v->top : 0, " steps");
	if (r->cut)
		cvl_out_text(o, "  (too many threads to follow: earlier waits are not followed)\n");
	if (r->n_steps > 1)
		put_shares(v, o, s->end.ns - s->begin.ns);
}

/* The first is preceded by an empty line. */
static void put_counted(struct cvl_out *o, bool *any, const char *lead, uint64_t n, const char *one,
			const char *rest)
{
	if (!n)
		return;
	if (!*any)
		cvl_out_char(o, '\n');
	*any = true;
	cli_count(o, lead, n, one, rest);
	cvl_out_char(o, '\n');
}

static void put_repairs(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_repairs *p = &v->r->repairs;
	const struct cvl_calls_counts *n = &v->r->counts;
	char length[CVL_TIME_TEXT], made_up[CVL_TIME_TEXT + 80];
	bool any = false;

	cvl_bound_text(length, v->r->made_up_ns);
	snprintf(made_up, sizeof(made_up),
		 " of %s in all with an end that was not seen: in no total", length);
	put_counted(o, &any, "", p->gaps, "gap",
		    " in what is called: a span with one in it is marked");
	put_counted(o, &any, "repaired: ", p->lost_entries, "exit",
		    " without entry: shown from where nothing else is known");
	put_counted(o, &any, "repaired: ", p->lost_exits, "span",
		    " without exit: ended by what is around it, or by a gap");
	put_counted(o, &any, "", p->open, "span", " still open at the end");
	put_counted(o, &any, "guessed: ", p->guessed, "exit", " after a gap, of an unknown span");
	put_counted(o, &any, "left out: ", v->r->made_up, "span", made_up);
	put_counted(o, &any, "left out: ", p->too_deep, "span", " deeper than 65536");
	put_counted(o, &any, "summed up: ", p->paths, "call", " by more paths than are kept apart");
	put_counted(o, &any, "", p->backwards, "record",
		    " before an earlier one of its lane: taken as of the same time");
	put_counted(o, &any, "", p->strays, "return", " of an interrupt that never came");
	put_counted(o, &any, "", p->mixed ? 0 : p->switches, "stop",
		    " of a thread that did not run, as far as is known: switches are missing");
	put_counted(
		o, &any, "", p->mixed, "stop",
		" of a thread that did not run: several cores, which the trace does not tell apart. What ran, and who woke whom, is not known");
	put_counted(o, &any, "", p->returns, "interrupt", " without a return");
	put_counted(o, &any, "", n->unnamed, "event", " without the field that its rule names");
	put_counted(o, &any, "", n->unmatched, "end", " of a message without the other one");
	put_counted(
		o, &any, "", n->apart, "record",
		" of programs whose thread in the kernel is not surely known: add the contexts vpid, procname and pid_ns");
}

void calls_view_text(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	char length[CVL_TIME_TEXT];
	uint64_t spans = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		spans += r->thread[i].spans;
	cvl_bound_text(length, r->last.ns - r->first.ns);
	cvl_out_name(o, v->session);
	cli_count(o, ": ", spans, "span", " of ");
	cli_count(o, "", r->n_functions, "function", " on ");
	cli_count(o, "", r->n_threads, "lane", ", ");
	cli_count(o, "", r->counts.messages, "message", "");
	cvl_out_printf(o, ", %s\n\n", length);
	put_lanes(v, o);
	put_functions(v, o);
	put_chains(v, o);
	put_latencies(v, o);
	put_waits(v, o);
	put_findings(v, o);
	put_path(v, o);
	put_repairs(v, o);
	if (!r->synchronised)
		cvl_out_text(o,
			     "\nnot synchronised: times of different clocks cannot be compared\n");
}
