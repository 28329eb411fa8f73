/* SPDX-License-Identifier: MIT */
/*
 * The page: calls_page.html with its data inserted as JSON. Names are only data, in a script
 * element of their own, and never markup.
 */
#include "report/calls_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/calls.h>

static const char marker[] = "/*DATA*/";

/*
 * Entries of a list grouped by lane: those of lane i are entry[first[i]] up to, but not including,
 * entry[first[i + 1]].
 */
struct by_lane {
	size_t *first, *entry;
};

struct page {
	const struct cvl_analysis *a;
	const struct cvl_calls_result *r;
	size_t findings;
	struct by_lane spans, aways, slices;
	struct cvl_out *o;
	struct cvl_out *scratch;
	int64_t zero;
};

static uint32_t lane_of_span(const struct cvl_calls_kept *k, size_t i)
{
	return k->span[i].thread;
}

static uint32_t lane_of_away(const struct cvl_calls_kept *k, size_t i)
{
	return k->away[i].thread;
}

static uint32_t lane_of_slice(const struct cvl_calls_kept *k, size_t i)
{
	return k->slice[i].core;
}

static int group(struct by_lane *g, const struct cvl_calls_kept *kept, size_t n, size_t lanes,
		 uint32_t (*lane_of)(const struct cvl_calls_kept *, size_t))
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

/* JSON that is safe inside a script element: nothing in it can end that. */
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

static int64_t bound(const struct page *p, struct cvl_calls_time at)
{
	int64_t b = cvl_calls_bound(p->a, at);

	return b == CVL_BOUND_UNKNOWN ? -1 : b;
}

static void put_spans(const struct page *p, uint32_t thread)
{
	bool first = true;

	for (size_t i = p->spans.first[thread]; i < p->spans.first[thread + 1]; i++) {
		const struct cvl_calls_span *s = &p->r->kept->span[p->spans.entry[i]];
		const int64_t cell[] = {
			s->begin.ns - p->zero,
			s->end.ns - p->zero,
			s->depth,
			s->function == CVL_CALLS_NONE ? 0 : (int64_t)s->function + 1,
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
		const struct cvl_calls_slice *s = &p->r->kept->slice[p->slices.entry[i]];

		put_number(p, s->begin.ns - p->zero, &first);
		put_number(p, s->end.ns - p->zero, &first);
		put_number(p, s->thread, &first);
	}
}

/* Times when a thread did not run: begin, end, who ran for the longest (-1: none), the reason. */
static void put_aways(const struct page *p, uint32_t thread)
{
	bool first = true;

	for (size_t i = p->aways.first[thread]; i < p->aways.first[thread + 1]; i++) {
		const struct cvl_calls_away *a = &p->r->kept->away[p->aways.entry[i]];

		put_number(p, a->begin.ns - p->zero, &first);
		put_number(p, a->end.ns - p->zero, &first);
		put_number(p, a->by == CVL_CALLS_NONE ? -1 : (int64_t)a->by, &first);
		put_number(p, a->reason, &first);
	}
}

static int64_t core_of(const struct cvl_calls_thread *t)
{
	return t->core == CVL_CALLS_NONE ? -1 : (int64_t)t->core;
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

/* A core if its threads are known, then its threads with spans. */
static void put_lanes(const struct page *p)
{
	const struct cvl_calls_result *r = p->r;
	uint32_t before = CVL_CALLS_NONE;
	bool first = true;

	cvl_out_text(p->o, "\"lanes\":[");
	for (size_t k = 0; k < r->n_threads; k++) {
		const struct cvl_calls_thread *t = &r->thread[r->order[k]];

		if (t->core != before && t->core != CVL_CALLS_NONE && r->core[t->core].switches) {
			comma(p, &first);
			put_lane(p, r->core[t->core].label, t->node, t->core, -1, 0);
		}
		before = t->core;
		if (!t->spans)
			continue;
		comma(p, &first);
		put_lane(p, t->label, t->node, core_of(t), r->order[k], t->depth_min);
	}
	cvl_out_text(p->o, "],\n\"threads\":[");
	for (size_t i = 0; i < r->n_threads; i++) {
		put_key(p, i ? ",{\"name\":" : "{\"name\":", r->thread[i].label);
		put_key(p, ",\"task\":", r->thread[i].task);
		cvl_out_printf(p->o, ",\"core\":%" PRId64 ",\"idle\":%s}", core_of(&r->thread[i]),
			       r->thread[i].idle ? "true" : "false");
	}
	cvl_out_text(p->o, "],\n\"names\":[\"?\"");
	for (size_t i = 0; i < r->n_functions; i++)
		put_key(p, ",", r->function[i].name);
	cvl_out_text(p->o, "],\n");
}

static void put_messages(const struct page *p)
{
	cvl_out_text(p->o, "\"messages\":[");
	for (size_t i = 0; i < p->r->kept->messages.n; i++) {
		const struct cvl_calls_message *m = &p->r->kept->message[i];

		cvl_out_printf(p->o, "%s[%u,%u,%" PRId64 ",%" PRId64 ",%" PRId64 "]", i ? "," : "",
			       m->from, m->to, m->sent.ns - p->zero, m->received.ns - p->zero,
			       m->wait_from.ns - p->zero);
	}
	cvl_out_text(p->o, "],\n\"gaps\":[");
	for (size_t i = 0; i < p->r->kept->gaps.n; i++) {
		const struct cvl_calls_gap *g = &p->r->kept->gap[i];

		cvl_out_printf(
			p->o, "%s[%" PRId64 ",%" PRId64 ",%d,%u,%" PRId64 "]", i ? "," : "",
			g->begin.ns - p->zero, g->end.ns - p->zero,
			g->core == CVL_CALLS_NONE ? -1 : (int)g->core, g->node,
			g->lost == CVL_LOST_UNKNOWN || g->lost > INT64_MAX ? -1 : (int64_t)g->lost);
	}
	cvl_out_text(p->o, "],\n\"path\":[");
	for (size_t i = 0; i < p->r->n_steps; i++) {
		const struct cvl_calls_step *s = &p->r->step[i];

		cvl_out_printf(p->o, "%s[%u,%" PRId64 ",%" PRId64 ",%d]", i ? "," : "", s->thread,
			       s->begin.ns - p->zero, s->end.ns - p->zero, (int)s->kind);
	}
	cvl_out_text(p->o, "],\n");
}

static void put_findings(const struct page *p)
{
	cvl_out_text(p->o, "\"findings\":[");
	for (size_t i = 0; i < p->r->n_groups && i < p->findings; i++) {
		const struct cvl_calls_finding *f = p->r->group[i].first;

		put_key(p, i ? ",{\"text\":" : "{\"text\":", p->r->group[i].text);
		cvl_out_printf(p->o, ",\"thread\":%u,\"begin\":%" PRId64 ",\"end\":%" PRId64 "}",
			       f->span.thread, f->span.begin.ns - p->zero,
			       f->span.end.ns - p->zero);
	}
	cvl_out_text(p->o, "],\n");
}

static void put_note(const struct page *p, bool *first, const struct cvl_calls_list *l,
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
	const struct cvl_calls_kept *k = p->r->kept;
	const struct cvl_calls_repairs *r = &p->r->repairs;
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
	if (!p->r->synchronised) {
		comma(p, &first);
		put_string(p, "not synchronised: times of different clocks cannot be compared");
	}
	cvl_out_text(p->o, "]");
}

static int put_data(struct page *p, const char *title)
{
	const struct cvl_calls_result *r = p->r;
	const struct cvl_calls_kept *kept = r->kept;

	if (group(&p->spans, kept, kept->spans.n, r->n_threads, lane_of_span) ||
	    group(&p->aways, kept, kept->aways.n, r->n_threads, lane_of_away) ||
	    group(&p->slices, kept, kept->slices.n, r->n_cores, lane_of_slice))
		return -1;
	p->zero = r->first.ns;
	put_key(p, "{\"title\":", title);
	cvl_out_printf(p->o, ",\"from\":%" PRId64 ",\"length\":%" PRId64 ",\n", r->first.ns,
		       r->last.ns - r->first.ns);
	put_lanes(p);
	put_messages(p);
	put_findings(p);
	put_notes(p);
	cvl_out_char(p->o, '}');
	return 0;
}

int cvl_calls_page(const struct cvl_analysis *a, const char *title, size_t findings,
		   struct cvl_out *out, struct cvl_error *err)
{
	const char *text = (const char *)calls_page;
	const char *at = memmem(text, calls_page_bytes, marker, sizeof(marker) - 1);
	struct page p = { .a = a, .r = cvl_calls_result(a), .findings = findings, .o = out };
	int rc = -1;

	p.scratch = malloc(sizeof(*p.scratch));
	if (p.scratch) {
		cvl_out_init(p.scratch, -1, "memory");
		cvl_out_long(out, text, (size_t)(at - text));
		rc = put_data(&p, title);
		at += sizeof(marker) - 1;
		cvl_out_long(out, at, calls_page_bytes - (size_t)(at - text));
	}
	ungroup(&p.spans);
	ungroup(&p.aways);
	ungroup(&p.slices);
	free(p.scratch);
	return rc ? cvl_no_memory(err) : 0;
}
