/* SPDX-License-Identifier: MIT */
#include "calls/view.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/pairs.h"

int64_t calls_view_bound(const struct calls_view *v, struct calls_time at)
{
	return cvl_bound_total(calls_read_bound(v->r, at));
}

int64_t calls_view_total_bound(const struct calls_view *v, const struct calls_cost *k)
{
	const struct calls_time at = { .clock = calls_thread(v->c, k->thread)->clock };
	const struct cvl_bound b = calls_read_bound(v->r, at);
	int64_t bound;

	if (__builtin_mul_overflow(b.capture, (int64_t)(2 * k->calls), &bound))
		return CVL_BOUND_UNKNOWN;
	/* the rate's limit, of the clock and of its map */
	return cvl_add_sat(bound, (int64_t)((double)k->total * 2 * b.drift_ppm * 1e-6) +
					  (int64_t)k->calls);
}

static int by_place(const void *va, const void *vb, void *ctx)
{
	const struct calls_view *v = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct calls_thread *ta = calls_thread(v->c, a), *tb = calls_thread(v->c, b);

	if (ta->node != tb->node)
		return ta->node < tb->node ? -1 : 1;
	if (ta->core != tb->core) {
		uint64_t ca =
			ta->core == CALLS_NONE ? UINT64_MAX : calls_core(v->c, ta->core)->number;
		uint64_t cb =
			tb->core == CALLS_NONE ? UINT64_MAX : calls_core(v->c, tb->core)->number;

		return ca < cb ? -1 : 1;
	}
	return (a > b) - (a < b);
}

uint32_t *calls_view_order(const struct calls_view *v)
{
	size_t n = calls_threads(v->c);
	uint32_t *order = calloc(n + 1, sizeof(*order));

	for (size_t i = 0; order && i < n; i++)
		order[i] = (uint32_t)i;
	if (order)
		qsort_r(order, n, sizeof(*order), by_place, (void *)(uintptr_t)v);
	return order;
}

/* ---- findings ---- */

/* Where a finding was: a core, or a node whose tasks move. */
static const char *where(const struct calls_view *v, const struct calls_finding *f)
{
	const struct calls_thread *t = calls_thread(v->c, f->span.thread);

	return t->core == CALLS_NONE ? calls_read_node(v->r, t->node) :
				       calls_read_core(v->r, t->core);
}

/* Whoever ran instead by its name on its core; whoever was waited for with it. */
static const char *culprit(const struct calls_view *v, const struct calls_finding *f)
{
	return f->by == CALLS_NONE      ? "" :
	       f->cause == CALLS_WAITED ? calls_read_thread(v->r, f->by) :
					  calls_read_task(v->r, f->by);
}

/* A task by its name; cores of which none are known are alike. */
static const char *task(const struct calls_view *v, uint32_t thread)
{
	const char *name = calls_thread(v->c, thread)->name;

	return name ? name : "";
}

static bool same(const struct calls_view *v, const struct calls_finding *a,
		 const struct calls_finding *b)
{
	return a->span.function == b->span.function && a->cause == b->cause &&
	       !strcmp(culprit(v, a), culprit(v, b)) &&
	       !strcmp(task(v, a->span.thread), task(v, b->span.thread));
}

/* "a, b and c (3 times)" of those that are like @g's first. */
static char *places(const struct calls_view *v, const struct calls_finding *like)
{
	char *text = NULL, *longer;
	size_t n = 0, left;
	const char **name = calloc(v->n_findings + 1, sizeof(*name));
	size_t *times = calloc(v->n_findings + 1, sizeof(*times));

	for (size_t i = 0; name && times && i < v->n_findings; i++) {
		size_t k = 0;

		if (!same(v, like, &v->finding[i]))
			continue;
		while (k < n && strcmp(name[k], where(v, &v->finding[i])))
			k++;
		if (k == n)
			name[n++] = where(v, &v->finding[i]);
		times[k]++;
	}
	for (size_t i = 1; i < n; i++) /* in the order of their names */
		for (size_t k = i; k && strverscmp(name[k - 1], name[k]) > 0; k--) {
			const char *s = name[k];
			size_t t = times[k];

			name[k] = name[k - 1];
			name[k - 1] = s;
			times[k] = times[k - 1];
			times[k - 1] = t;
		}
	left = n;
	for (size_t i = 0; i < n; i++, left--) {
		char count[32] = "";

		if (times[i] > 1)
			snprintf(count, sizeof(count), " (%zu times)", times[i]);
		if (asprintf(&longer, "%s%s%s%s", text ? text : "",
			     !i       ? "" :
			     left > 1 ? ", " :
					" and ",
			     name[i], count) < 0)
			longer = NULL;
		free(text);
		text = longer;
	}
	free(name);
	free(times);
	return text;
}

static void widen(struct calls_group *g, const struct calls_finding *f)
{
	int64_t took = f->span.end.ns - f->span.begin.ns;

	g->n++;
	g->least = f->ns < g->least ? f->ns : g->least;
	g->most = f->ns > g->most ? f->ns : g->most;
	g->took_least = took < g->took_least ? took : g->took_least;
	g->took_most = took > g->took_most ? took : g->took_most;
}

int calls_view_group(struct calls_view *v)
{
	v->group = calloc(v->n_findings + 1, sizeof(*v->group));
	if (!v->group)
		return -1;
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct calls_finding *f = &v->finding[i];
		size_t g = 0;

		while (g < v->n_groups && !same(v, v->group[g].first, f))
			g++;
		if (g == v->n_groups) {
			v->group[g] = (struct calls_group){ .first = f,
							    .least = INT64_MAX,
							    .took_least = INT64_MAX };
			v->group[g].where = places(v, f);
			v->n_groups++;
			if (!v->group[g].where)
				return -1;
		}
		widen(&v->group[g], f);
	}
	return 0;
}

void calls_view_free_groups(struct calls_view *v)
{
	for (size_t i = 0; i < v->n_groups; i++)
		free(v->group[i].where);
	free(v->group);
	v->group = NULL;
	v->n_groups = 0;
}

/* "204 ms", or "203 ms to 207 ms". */
static void range_text(char out[2 * CVL_TIME_TEXT + 8], int64_t least, int64_t most)
{
	char a[CVL_TIME_TEXT], b[CVL_TIME_TEXT];

	cvl_bound_text(a, least);
	cvl_bound_text(b, most);
	if (strcmp(a, b))
		snprintf(out, 2 * CVL_TIME_TEXT + 8, "%s to %s", a, b);
	else
		snprintf(out, 2 * CVL_TIME_TEXT + 8, "%s", a);
}

/* "task X", or the name alone where it says what it is. */
static void who_text(const struct calls_view *v, char *out, size_t size, uint32_t thread)
{
	const char *name = calls_read_task(v->r, thread);
	bool plain = !calls_thread(v->c, thread)->name || !strncmp(name, "task", 4) ||
		     calls_thread(v->c, thread)->interrupt;

	snprintf(out, size, "%s%s", plain ? "" : "task ", name);
}

static char *cause_text(const struct calls_view *v, const struct calls_group *g)
{
	const struct calls_finding *f = g->first;
	char ns[2 * CVL_TIME_TEXT + 8], who[200] = "", *text;
	int n = -1;

	range_text(ns, g->least, g->most);
	if (f->by != CALLS_NONE)
		who_text(v, who, sizeof(who), f->by);
	switch (f->cause) {
	case CALLS_PREEMPTED:
		n = f->by == CALLS_NONE ?
			    asprintf(&text, "preempted for %s", ns) :
		    f->by_ns < f->ns - f->ns / 3 ?
			    asprintf(&text, "preempted for %s, most of it by %s", ns, who) :
			    asprintf(&text, "preempted by %s for %s", who, ns);
		break;
	case CALLS_SWITCHED:
		n = f->by == CALLS_NONE ?
			    asprintf(&text, "switched out for %s", ns) :
			    asprintf(&text, "switched out for %s%s while %s ran", ns,
				     f->by_ns < f->ns - f->ns / 3 ? ", most of it" : "", who);
		break;
	case CALLS_BLOCKED: n = asprintf(&text, "blocked for %s", ns); break;
	case CALLS_WAITED:
		n = f->by == CALLS_NONE ? asprintf(&text, "waited for %s", ns) :
		    f->by_ns < f->ns - f->ns / 3 ?
					  asprintf(&text, "waited for %s, most of it for %s", ns,
						   calls_read_thread(v->r, f->by)) :
					  asprintf(&text, "waited for %s for %s",
						   calls_read_thread(v->r, f->by), ns);
		break;
	case CALLS_HIDDEN:
		n = asprintf(&text, "has %s in it of which records were lost", ns);
		break;
	default: n = asprintf(&text, "computed %s longer than usual", ns); break;
	}
	return n < 0 ? NULL : text;
}

/* Whether other tasks of its core run this function too, so that it has to be told which one is meant. */
static bool ambiguous(const struct calls_view *v, const struct calls_finding *f)
{
	const struct calls_thread *t = calls_thread(v->c, f->span.thread);

	for (size_t i = 0; i < calls_costs(v->c); i++) {
		const struct calls_cost *k = calls_cost(v->c, i);
		const struct calls_thread *o = calls_thread(v->c, k->thread);

		if (k->function == f->span.function && k->thread != f->span.thread &&
		    o->node == t->node && o->core == t->core)
			return true;
	}
	return false;
}

char *calls_view_sentence(const struct calls_view *v, const struct calls_group *g)
{
	const struct calls_finding *f = g->first;
	char took[2 * CVL_TIME_TEXT + 8], usual[CVL_TIME_TEXT], *cause = cause_text(v, g), *text;
	const char *function = calls_read_function(v->r, f->span.function);
	const char *of = task(v, f->span.thread);
	bool tells = *of && ambiguous(v, f);
	int n;

	if (!cause)
		return NULL;
	range_text(took, g->took_least, g->took_most);
	cvl_bound_text(usual, f->median);
	n = asprintf(&text, "%s: %s%s%s%s %s (took %s; the median of %llu is %s)", g->where,
		     function, tells ? " (" : "", tells ? of : "", tells ? ")" : "", cause, took,
		     (unsigned long long)f->of, usual);
	free(cause);
	return n < 0 ? NULL : text;
}

char *calls_view_step(const struct calls_view *v, const struct calls_step *s)
{
	const char *function =
		s->function == CALLS_NONE ? "(no span)" : calls_read_function(v->r, s->function);
	char who[200] = "others", *text;
	int n = -1;

	if (s->by != CALLS_NONE)
		who_text(v, who, sizeof(who), s->by);
	switch (s->kind) {
	case CALLS_STEP_RUN: n = asprintf(&text, "%s", function); break;
	case CALLS_STEP_PREEMPTED: n = asprintf(&text, "%s, preempted by %s", function, who); break;
	case CALLS_STEP_SWITCHED:
		n = asprintf(&text, "%s, switched out while %s ran", function, who);
		break;
	case CALLS_STEP_BLOCKED: n = asprintf(&text, "%s, blocked", function); break;
	case CALLS_STEP_MESSAGE:
		n = asprintf(&text, "message from %s", calls_read_thread(v->r, s->by));
		break;
	}
	return n < 0 ? NULL : text;
}

/* ---- functions ---- */

static int by_self(const void *va, const void *vb)
{
	const struct calls_row *a = va, *b = vb;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void add_cost(const struct calls_view *v, struct calls_row *r, const struct calls_cost *k)
{
	if (!r->lanes) {
		r->min = INT64_MAX;
		r->max = INT64_MIN;
	}
	r->lanes++;
	r->calls += k->calls;
	r->repaired += k->repaired;
	r->whole += k->whole;
	r->total += k->total;
	r->self += k->self;
	r->sum += k->sum;
	r->min = k->min < r->min ? k->min : r->min;
	r->max = k->max > r->max ? k->max : r->max;
	r->bound = cvl_add_sat(r->bound, calls_view_total_bound(v, k));
	r->part.preempted += k->part.preempted;
	r->part.switched += k->part.switched;
	r->part.blocked += k->part.blocked;
	r->part.waiting += k->part.waiting;
	r->part.hidden += k->part.hidden;
}

/* Who calls whom, and how often. */
static int add_callers(const struct calls_view *v, struct calls_row *row)
{
	struct calls_pairs pairs = { 0 };
	uint64_t *calls = calloc(calls_nodes(v->c) + 1, sizeof(*calls));
	uint64_t *most = calloc(calls_read_functions(v->r) + 1, sizeof(*most));
	int rc = calls && most ? 0 : -1;

	for (size_t i = 0; i < calls_nodes(v->c) && !rc; i++) {
		const struct calls_node *n = calls_node(v->c, i), *parent;
		uint32_t *known;
		uint64_t key;

		if (n->function == CALLS_NONE || n->parent == CALLS_NONE)
			continue;
		parent = calls_node(v->c, n->parent);
		if (parent->function == CALLS_NONE)
			continue;
		key = (uint64_t)n->function << 32 | parent->function;
		known = calls_pairs_find(&pairs, key);
		if (!known) {
			uint32_t at = (uint32_t)pairs.n;

			row[n->function].callers++;
			rc = calls_pairs_add(&pairs, key, at);
			calls[at] = n->calls;
		} else {
			calls[*known] += n->calls;
		}
		known = rc ? NULL : calls_pairs_find(&pairs, key);
		if (known && calls[*known] >= most[n->function]) {
			most[n->function] = calls[*known];
			row[n->function].caller = parent->function;
		}
	}
	free(pairs.slot);
	free(calls);
	free(most);
	return rc;
}

struct calls_row *calls_view_rows(const struct calls_view *v, size_t *n)
{
	struct calls_row *row = calloc(calls_read_functions(v->r) + 1, sizeof(*row));

	*n = calls_read_functions(v->r);
	if (!row)
		return NULL;
	for (size_t i = 0; i < *n; i++)
		row[i] = (struct calls_row){ .function = (uint32_t)i, .caller = CALLS_NONE };
	for (size_t i = 0; i < calls_costs(v->c); i++) {
		const struct calls_cost *k = calls_cost(v->c, i);

		if (k->calls && k->function != CALLS_NONE)
			add_cost(v, &row[k->function], k);
	}
	if (add_callers(v, row)) {
		free(row);
		return NULL;
	}
	qsort(row, *n, sizeof(*row), by_self);
	while (*n && !row[*n - 1].calls)
		--*n;
	return row;
}
