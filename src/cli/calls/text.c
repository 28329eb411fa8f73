/* SPDX-License-Identifier: MIT */
#include "calls/view.h"

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

static void ns_cell(struct table *t, int64_t ns)
{
	char text[CVL_TIME_TEXT];

	if (ns == INT64_MAX || ns == INT64_MIN) {
		table_cell(t, "-");
		return;
	}
	cvl_bound_text(text, ns);
	table_cell(t, "%s", text);
}

static void time_cell(struct table *t, int64_t ns)
{
	char text[CVL_TIME_TEXT];

	cvl_time_text(text, (struct cvl_time){ ns });
	table_cell(t, "%s", text);
}

static void put_lanes(const struct calls_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "lane",      "spans",        "busy",
					     "preempted", "switched out", "blocked",
					     "waiting",   "hidden",       NULL };
	uint32_t *order = calls_view_order(v);
	struct table t;
	size_t left_out = 0, rows = 0;

	table_init(&t, 8);
	table_heads(&t, heads);
	for (size_t i = 0; order && i < calls_threads(v->c); i++) {
		const struct calls_thread *k = calls_thread(v->c, order[i]);

		if (k->idle && !k->spans)
			continue;
		if (rows == v->top) {
			left_out++;
			continue;
		}
		rows++;
		name_cell(&t, calls_read_thread(v->r, order[i]));
		table_cell(&t, "%" PRIu64, k->spans);
		ns_cell(&t, k->busy);
		ns_cell(&t, k->part.preempted);
		ns_cell(&t, k->part.switched);
		ns_cell(&t, k->part.blocked);
		ns_cell(&t, k->part.waiting);
		ns_cell(&t, k->part.hidden);
	}
	free(order);
	table_print(&t, o, "lrrrrrrr", "  ");
	if (left_out)
		cvl_out_printf(o, "  ... and %zu more (--top)\n", left_out);
}

static void put_functions(const struct calls_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "function", "calls", "total", "+-",     "self", "mean",
					     "min",      "max",   "lanes", "caller", NULL };
	size_t n;
	struct calls_row *row = calls_view_rows(v, &n);
	struct table t;

	if (!row || !n) {
		free(row);
		return;
	}
	cvl_out_char(o, '\n');
	table_init(&t, 10);
	table_heads(&t, heads);
	for (size_t i = 0; i < n && i < v->top; i++) {
		const struct calls_row *r = &row[i];

		name_cell(&t, calls_read_function(v->r, r->function));
		table_cell(&t, "%" PRIu64, r->calls);
		ns_cell(&t, r->total);
		ns_cell(&t, r->bound);
		ns_cell(&t, r->self);
		ns_cell(&t, r->whole ? r->sum / (int64_t)r->whole : INT64_MAX);
		ns_cell(&t, r->min);
		ns_cell(&t, r->max);
		table_cell(&t, "%zu", r->lanes);
		if (r->caller == CALLS_NONE) {
			table_cell(&t, "-");
		} else if (r->callers == 1) {
			name_cell(&t, calls_read_function(v->r, r->caller));
		} else {
			table_cell(&t, "%.60s +%zu", calls_read_function(v->r, r->caller),
				   r->callers - 1);
		}
	}
	table_print(&t, o, "lrrrrrrrrl", "  ");
	if (n > v->top)
		cvl_out_printf(o, "  ... and %zu more (--top)\n", n - v->top);
	free(row);
}

static void put_findings(const struct calls_view *v, struct cvl_out *o)
{
	if (!v->n_groups)
		return;
	cvl_out_text(o, "\nmuch longer than usual:\n");
	for (size_t i = 0; i < v->n_groups && i < v->top; i++) {
		char *text = calls_view_sentence(v, &v->group[i]);

		cvl_out_text(o, "  ");
		cvl_out_name(o, text ? text : "out of memory");
		cvl_out_char(o, '\n');
		free(text);
	}
}

/* Shares of the path, those of one lane and text together. */
struct share {
	uint32_t thread;
	char *text;
	int64_t ns;
};

static int by_ns(const void *va, const void *vb)
{
	const struct share *a = va, *b = vb;

	return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : 0;
}

static size_t add_share(struct share *share, size_t n, const struct calls_step *s, char *text)
{
	size_t k = 0;

	while (k < n && (share[k].thread != s->thread || strcmp(share[k].text, text)))
		k++;
	if (k == n)
		share[n++] = (struct share){ s->thread, strdup(text), 0 };
	share[k].ns += s->end.ns - s->begin.ns;
	return n;
}

static void put_shares(const struct calls_view *v, struct cvl_out *o, struct share *share, size_t n,
		       int64_t whole)
{
	struct table t;

	qsort(share, n, sizeof(*share), by_ns);
	cvl_out_text(o, "\nof which:\n");
	table_init(&t, 4);
	for (size_t i = 0; i < n && i < v->top; i++) {
		table_cell(&t, "%.1f %%",
			   whole ? 100.0 * (double)share[i].ns / (double)whole : 0.0);
		ns_cell(&t, share[i].ns);
		name_cell(&t, calls_read_thread(v->r, share[i].thread));
		name_cell(&t, share[i].text);
	}
	table_print(&t, o, "rrll", "  ");
}

static void put_path(const struct calls_view *v, struct cvl_out *o)
{
	static const char *const heads[] = { "from s", "for", "+-", "lane", "what", NULL };
	const struct calls_span *s = v->chosen;
	char from[CVL_TIME_TEXT], length[CVL_TIME_TEXT];
	struct share *share = calloc(v->critical.n + 1, sizeof(*share));
	size_t n = 0;
	struct table t;

	if (!s || !share || !v->critical.n) {
		free(share);
		return;
	}
	cvl_time_text(from, (struct cvl_time){ s->begin.ns });
	cvl_bound_text(length, s->end.ns - s->begin.ns);
	cvl_out_text(o, "\ncritical path of ");
	cvl_out_name(o, calls_read_function(v->r, s->function));
	cvl_out_text(o, " on ");
	cvl_out_name(o, calls_read_thread(v->r, s->thread));
	cvl_out_printf(o, ", from %s s for %s:\n", from, length);
	table_init(&t, 5);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->critical.n; i++) {
		const struct calls_step *k = &v->critical.step[i];
		char *text = calls_view_step(v, k);

		if (i < v->top) {
			time_cell(&t, k->begin.ns);
			ns_cell(&t, k->end.ns - k->begin.ns);
			ns_cell(&t, calls_read_apart(v->r, k->begin, k->end));
			name_cell(&t, calls_read_thread(v->r, k->thread));
			name_cell(&t, text ? text : "?");
		}
		if (n < 4096 && text)
			n = add_share(share, n, k, text);
		free(text);
	}
	table_print(&t, o, "rrrll", "  ");
	if (v->critical.n > v->top)
		cvl_out_printf(o, "  ... and %zu more steps (--top)\n", v->critical.n - v->top);
	if (v->critical.cut)
		cvl_out_text(o, "  (more messages than are followed: it begins later)\n");
	if (v->critical.n > 1)
		put_shares(v, o, share, n, s->end.ns - s->begin.ns);
	for (size_t i = 0; i < n; i++)
		free(share[i].text);
	free(share);
}

/* The first of them is set off by an empty line. */
static void put_counted(struct cvl_out *o, bool *any, const char *lead, uint64_t n, const char *one,
			const char *rest)
{
	if (!n)
		return;
	if (!*any)
		cvl_out_char(o, '\n');
	*any = true;
	cvl_out_text(o, lead);
	cli_count(o, n, one);
	cvl_out_text(o, rest);
	cvl_out_char(o, '\n');
}

/* What is in no total. */
static void put_made_up(const struct calls_view *v, struct cvl_out *o, bool *any)
{
	char length[CVL_TIME_TEXT], rest[CVL_TIME_TEXT + 80];
	uint64_t n = 0;
	int64_t ns = 0;

	for (size_t i = 0; i < calls_costs(v->c); i++) {
		n += calls_cost(v->c, i)->made_up;
		ns = cvl_add_sat(ns, calls_cost(v->c, i)->made_up_ns);
	}
	cvl_bound_text(length, ns);
	snprintf(rest, sizeof(rest), " of %s in all with an end that was not seen: in no total",
		 length);
	put_counted(o, any, "left out: ", n, "span", rest);
}

static void put_repairs(const struct calls_view *v, struct cvl_out *o)
{
	const struct calls_repairs *p = calls_repairs(v->c);
	struct calls_read_counts n = calls_read_counts(v->r);
	bool any = false;

	put_counted(o, &any, "", p->gaps, "gap",
		    " in what is called: a span with one in it is marked");
	put_counted(o, &any, "repaired: ", p->lost_entries, "exit",
		    " without entry: shown from where nothing else is known");
	put_counted(o, &any, "repaired: ", p->lost_exits, "span",
		    " without exit: ended by what is around it, or by a gap");
	put_counted(o, &any, "", p->open, "span", " still open at the end");
	put_counted(o, &any, "guessed: ", p->guessed, "exit",
		    " behind a gap that does not say of what");
	put_made_up(v, o, &any);
	put_counted(o, &any, "left out: ", p->too_deep, "span", " deeper than 65536");
	put_counted(o, &any, "summed up: ", p->paths, "call", " by more ways than are kept apart");
	put_counted(o, &any, "", p->backwards, "record",
		    " before an earlier one of its lane: taken as of the same time");
	put_counted(o, &any, "", p->strays, "return", " of an interrupt that never came");
	put_counted(o, &any, "", n.unnamed, "event", " without the field that its rule names");
	put_counted(o, &any, "", n.unmatched, "end", " of a message without the other one");
}

void calls_view_text(const struct calls_view *v, struct cvl_out *o)
{
	struct calls_read_counts n = calls_read_counts(v->r);
	struct calls_time first, last;
	char length[CVL_TIME_TEXT];
	uint64_t spans = 0;

	for (size_t i = 0; i < calls_threads(v->c); i++)
		spans += calls_thread(v->c, i)->spans;
	calls_read_range(v->r, &first, &last);
	cvl_bound_text(length, last.ns - first.ns);
	cvl_out_name(o, v->path);
	cvl_out_text(o, ": ");
	cli_count(o, spans, "span");
	cvl_out_text(o, " of ");
	cli_count(o, calls_read_functions(v->r), "function");
	cvl_out_text(o, " on ");
	cli_count(o, calls_threads(v->c), "lane");
	cvl_out_text(o, ", ");
	cli_count(o, n.messages, "message");
	cvl_out_printf(o, ", %s\n\n", length);
	put_lanes(v, o);
	put_functions(v, o);
	put_findings(v, o);
	put_path(v, o);
	put_repairs(v, o);
	if (!cvl_timeline_sync(v->tl))
		cvl_out_text(o,
			     "\nnot synchronised: times of different clocks cannot be compared\n");
}
