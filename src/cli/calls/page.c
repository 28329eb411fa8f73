/* SPDX-License-Identifier: MIT */
/* The page: page.html, with what is to be seen as JSON in it. Names are data there, in a script of their own, and never markup. */
#include "calls/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calls/view.h"

static const char marker[] = "/*DATA*/";

/* Entries of a list by the lane that they are of: those of lane i are entry[first[i]] to entry[first[i + 1]], without the latter. */
struct by_lane {
	size_t *first, *entry;
};

struct page {
	const struct calls_view *v;
	struct by_lane spans, aways, slices;
	struct cvl_out *o;
	struct cvl_out *scratch;
	int64_t zero;
};

static uint32_t lane_of_span(const struct calls_kept *k, size_t i)
{
	return k->span[i].thread;
}

static uint32_t lane_of_away(const struct calls_kept *k, size_t i)
{
	return k->away[i].thread;
}

static uint32_t lane_of_slice(const struct calls_kept *k, size_t i)
{
	return k->slice[i].core;
}

static int group(struct by_lane *g, const struct calls_kept *kept, size_t n, size_t lanes,
		 uint32_t (*lane_of)(const struct calls_kept *, size_t))
{
	g->first = calloc(lanes + 2, sizeof(*g->first));
	g->entry = calloc(n + 1, sizeof(*g->entry));
	if (!g->first || !g->entry)
		return -1;
	for (size_t i = 0; i < n; i++)
		g->first[lane_of(kept, i) + 2]++;
	for (size_t l = 2; l <= lanes; l++)
		g->first[l] += g->first[l - 1];
	for (size_t i = 0; i < n; i++)
		g->entry[g->first[lane_of(kept, i) + 1]++] = i;
	return 0;
}

static void ungroup(struct by_lane *g)
{
	free(g->first);
	free(g->entry);
}

/* JSON that may stand in a script: nothing in it can end that. */
static void put_string(const struct page *p, const char *s)
{
	size_t n = strnlen(s, 4000);

	p->scratch->n = 0;
	cvl_out_json(p->scratch, s, n);
	for (size_t i = 0; i < p->scratch->n; i++)
		if (strchr("<>&", p->scratch->buf[i]) && p->scratch->buf[i])
			cvl_out_printf(p->o, "\\u%04x", p->scratch->buf[i]);
		else
			cvl_out_char(p->o, p->scratch->buf[i]);
}

static void put_number(const struct page *p, int64_t n, bool *first)
{
	if (!*first)
		cvl_out_char(p->o, ',');
	*first = false;
	cvl_out_i64(p->o, n);
}

static void put_key(const struct page *p, const char *key, const char *value)
{
	cvl_out_text(p->o, key);
	put_string(p, value);
}

static int64_t bound(const struct page *p, struct calls_time at)
{
	int64_t b = calls_view_bound(p->v, at);

	return b == CVL_BOUND_UNKNOWN ? -1 : b;
}

static void put_spans(const struct page *p, uint32_t thread)
{
	bool first = true;

	for (size_t i = p->spans.first[thread]; i < p->spans.first[thread + 1]; i++) {
		const struct calls_span *s = &p->v->kept.span[p->spans.entry[i]];
		const int64_t cell[] = {
			s->begin.ns - p->zero,
			s->end.ns - p->zero,
			s->depth,
			s->function == CALLS_NONE ? 0 : (int64_t)s->function + 1,
			s->marks,
			s->self,
			s->part.preempted,
			s->part.blocked,
			s->part.waiting,
			s->part.hidden,
			bound(p, s->begin),
			bound(p, s->end),
			s->part.switched,
		};

		for (size_t k = 0; k < sizeof(cell) / sizeof(*cell); k++)
			put_number(p, cell[k], &first);
	}
}

static void put_slices(const struct page *p, uint32_t core)
{
	bool first = true;

	for (size_t i = p->slices.first[core]; i < p->slices.first[core + 1]; i++) {
		const struct calls_slice *s = &p->v->kept.slice[p->slices.entry[i]];

		put_number(p, s->begin.ns - p->zero, &first);
		put_number(p, s->end.ns - p->zero, &first);
		put_number(p, s->thread, &first);
	}
}

/* Times that a thread did not run: begin, end, who ran for the longest (-1: none), the reason. */
static void put_aways(const struct page *p, uint32_t thread)
{
	bool first = true;

	for (size_t i = p->aways.first[thread]; i < p->aways.first[thread + 1]; i++) {
		const struct calls_away *a = &p->v->kept.away[p->aways.entry[i]];

		put_number(p, a->begin.ns - p->zero, &first);
		put_number(p, a->end.ns - p->zero, &first);
		put_number(p, a->by == CALLS_NONE ? -1 : (int64_t)a->by, &first);
		put_number(p, a->reason, &first);
	}
}

static void put_lane(const struct page *p, const char *name, int64_t node, int64_t core,
		     int64_t thread, int32_t base)
{
	put_key(p, "{\"name\":", name);
	cvl_out_printf(p->o,
		       ",\"node\":%" PRId64 ",\"core\":%" PRId64 ",\"thread\":%" PRId64
		       ",\"base\":%d,\"spans\":[",
		       node, core, thread, base);
	if (thread >= 0)
		put_spans(p, (uint32_t)thread);
	cvl_out_text(p->o, "],\"aways\":[");
	if (thread >= 0)
		put_aways(p, (uint32_t)thread);
	cvl_out_text(p->o, "],\"slices\":[");
	if (thread < 0)
		put_slices(p, (uint32_t)core);
	cvl_out_text(p->o, "]}");
}

static void comma(const struct page *p, bool *first)
{
	if (!*first)
		cvl_out_text(p->o, ",\n");
	*first = false;
}

/* A core whose threads are known, then those that have spans. */
static int put_lanes(const struct page *p)
{
	const struct calls *c = p->v->c;
	uint32_t *order = calls_view_order(p->v), before = CALLS_NONE;
	bool first = true;

	if (!order)
		return -1;
	cvl_out_text(p->o, "\"lanes\":[");
	for (size_t k = 0; k < calls_threads(c); k++) {
		uint32_t i = order[k];
		const struct calls_thread *t = calls_thread(c, i);

		if (t->core != before && t->core != CALLS_NONE &&
		    calls_core(c, t->core)->switches) {
			comma(p, &first);
			put_lane(p, calls_read_core(p->v->r, t->core), t->node, t->core, -1, 0);
		}
		before = t->core;
		if (!t->spans)
			continue;
		comma(p, &first);
		put_lane(p, calls_read_thread(p->v->r, i), t->node,
			 t->core == CALLS_NONE ? -1 : (int64_t)t->core, i, t->depth_min);
	}
	free(order);
	cvl_out_text(p->o, "],\n\"threads\":[");
	for (size_t i = 0; i < calls_threads(c); i++) {
		put_key(p,
			i ? ",{\"name\":" : "{\"name\":", calls_read_thread(p->v->r, (uint32_t)i));
		put_key(p, ",\"task\":", calls_read_task(p->v->r, (uint32_t)i));
		cvl_out_printf(p->o, ",\"core\":%d",
			       calls_thread(c, i)->core == CALLS_NONE ?
				       -1 :
				       (int)calls_thread(c, i)->core);
		cvl_out_text(p->o,
			     calls_thread(c, i)->idle ? ",\"idle\":true}" : ",\"idle\":false}");
	}
	cvl_out_text(p->o, "],\n\"names\":[\"?\"");
	for (size_t i = 0; i < calls_read_functions(p->v->r); i++)
		put_key(p, ",", calls_read_function(p->v->r, (uint32_t)i));
	cvl_out_text(p->o, "],\n");
	return 0;
}

static void put_messages(const struct page *p)
{
	cvl_out_text(p->o, "\"messages\":[");
	for (size_t i = 0; i < p->v->kept.messages.n; i++) {
		const struct calls_message *m = &p->v->kept.message[i];

		cvl_out_printf(p->o, "%s[%u,%u,%" PRId64 ",%" PRId64 ",%" PRId64 "]", i ? "," : "",
			       m->from, m->to, m->sent.ns - p->zero, m->received.ns - p->zero,
			       m->wait_from.ns - p->zero);
	}
	cvl_out_text(p->o, "],\n\"gaps\":[");
	for (size_t i = 0; i < p->v->kept.gaps.n; i++) {
		const struct calls_gap *g = &p->v->kept.gap[i];

		cvl_out_printf(
			p->o, "%s[%" PRId64 ",%" PRId64 ",%d,%u,%" PRId64 "]", i ? "," : "",
			g->begin.ns - p->zero, g->end.ns - p->zero,
			g->core == CALLS_NONE ? -1 : (int)g->core, g->node,
			g->lost == CVL_LOST_UNKNOWN || g->lost > INT64_MAX ? -1 : (int64_t)g->lost);
	}
	cvl_out_text(p->o, "],\n\"path\":[");
	for (size_t i = 0; i < p->v->critical.n; i++) {
		const struct calls_step *s = &p->v->critical.step[i];

		cvl_out_printf(p->o, "%s[%u,%" PRId64 ",%" PRId64 ",%d]", i ? "," : "", s->thread,
			       s->begin.ns - p->zero, s->end.ns - p->zero, (int)s->kind);
	}
	cvl_out_text(p->o, "],\n");
}

static void put_findings(const struct page *p)
{
	cvl_out_text(p->o, "\"findings\":[");
	for (size_t i = 0; i < p->v->n_groups && i < p->v->top; i++) {
		const struct calls_finding *f = p->v->group[i].first;
		char *text = calls_view_sentence(p->v, &p->v->group[i]);

		put_key(p, i ? ",{\"text\":" : "{\"text\":", text ? text : "");
		free(text);
		cvl_out_printf(p->o, ",\"thread\":%u,\"begin\":%" PRId64 ",\"end\":%" PRId64 "}",
			       f->span.thread, f->span.begin.ns - p->zero,
			       f->span.end.ns - p->zero);
	}
	cvl_out_text(p->o, "],\n");
}

static void put_note(const struct page *p, bool *first, const struct calls_list *l,
		     const char *what)
{
	char shortest[CVL_TIME_TEXT], text[160];

	if (!l->left_out)
		return;
	cvl_bound_text(shortest, l->shortest);
	snprintf(text, sizeof(text), "%llu %s of %s and less are not on this page",
		 (unsigned long long)l->left_out, what, shortest);
	comma(p, first);
	put_string(p, text);
}

static void put_notes(const struct page *p)
{
	const struct calls_kept *k = &p->v->kept;
	const struct calls_repairs *r = calls_repairs(p->v->c);
	bool first = true;
	char text[160];

	cvl_out_text(p->o, "\"notes\":[");
	put_note(p, &first, &k->spans, "spans");
	put_note(p, &first, &k->slices, "runs of tasks");
	put_note(p, &first, &k->messages, "messages that were waited for");
	put_note(p, &first, &k->gaps, "gaps");
	if (r->lost_entries + r->lost_exits + r->open) {
		snprintf(
			text, sizeof(text),
			"dashed spans were repaired: %llu without entry, %llu without exit, %llu still open",
			(unsigned long long)r->lost_entries, (unsigned long long)r->lost_exits,
			(unsigned long long)r->open);
		comma(p, &first);
		put_string(p, text);
	}
	if (!cvl_timeline_sync(p->v->tl)) {
		comma(p, &first);
		put_string(p, "not synchronised: times of different clocks cannot be compared");
	}
	cvl_out_text(p->o, "]");
}

static int put_data(struct page *p)
{
	const struct calls_kept *kept = &p->v->kept;
	size_t threads = calls_threads(p->v->c);
	struct calls_time first, last;

	if (group(&p->spans, kept, kept->spans.n, threads, lane_of_span) ||
	    group(&p->aways, kept, kept->aways.n, threads, lane_of_away) ||
	    group(&p->slices, kept, kept->slices.n, calls_cores(p->v->c), lane_of_slice))
		return -1;
	calls_read_range(p->v->r, &first, &last);
	p->zero = first.ns;
	put_key(p, "{\"title\":", p->v->path);
	cvl_out_printf(p->o, ",\"from\":%" PRId64 ",\"length\":%" PRId64 ",\n", first.ns,
		       last.ns - first.ns);
	if (put_lanes(p))
		return -1;
	put_messages(p);
	put_findings(p);
	put_notes(p);
	cvl_out_char(p->o, '}');
	return 0;
}

int calls_view_page(const struct calls_view *v, const char *path, struct cvl_error *err)
{
	const char *text = (const char *)calls_page;
	const char *at = memmem(text, calls_page_bytes, marker, sizeof(marker) - 1);
	struct page p = { .v = v };
	int rc;

	p.o = malloc(sizeof(*p.o));
	p.scratch = malloc(sizeof(*p.scratch));
	rc = p.o && p.scratch ? cvl_out_open(p.o, path, err) : cvl_no_memory(err);
	if (!rc) {
		cvl_out_init(p.scratch, -1, "memory");
		cvl_out_long(p.o, text, (size_t)(at - text));
		if (put_data(&p))
			rc = cvl_no_memory(err);
		at += sizeof(marker) - 1;
		cvl_out_long(p.o, at, calls_page_bytes - (size_t)(at - text));
		if (cvl_out_close(p.o, rc ? NULL : err) && !rc)
			rc = CVL_E_IO;
	}
	ungroup(&p.spans);
	ungroup(&p.aways);
	ungroup(&p.slices);
	free(p.o);
	free(p.scratch);
	return rc;
}
