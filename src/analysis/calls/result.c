/* SPDX-License-Identifier: MIT */
/* The results, as plain structs. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/pairs.h"
#include "analysis/calls/study.h"

/* ---- lanes ---- */

static int list_lanes(struct study *s)
{
	struct cvl_calls_result *r = &s->result;

	r->n_nodes = calls_read_nodes(s->read);
	r->n_cores = calls_cores(s->calls);
	r->n_threads = calls_threads(s->calls);
	s->node = calloc(r->n_nodes + 1, sizeof(*s->node));
	s->core = calloc(r->n_cores + 1, sizeof(*s->core));
	s->thread = calloc(r->n_threads + 1, sizeof(*s->thread));
	if (!s->node || !s->core || !s->thread)
		return -1;
	for (uint32_t i = 0; i < r->n_nodes; i++)
		s->node[i] = calls_read_node(s->read, i);
	for (uint32_t i = 0; i < r->n_cores; i++) {
		s->core[i] = *calls_core(s->calls, i);
		s->core[i].label = calls_read_core(s->read, i);
	}
	for (uint32_t i = 0; i < r->n_threads; i++) {
		s->thread[i] = *calls_thread(s->calls, i);
		s->thread[i].label = calls_read_thread(s->read, i);
		s->thread[i].task = calls_read_task(s->read, i);
	}
	r->node = s->node;
	r->core = s->core;
	r->thread = s->thread;
	return 0;
}

static int by_wait(const void *va, const void *vb)
{
	const struct cvl_calls_wait *a = va, *b = vb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->by > b->by) - (a->by < b->by);
}

static int list_waits(struct study *s)
{
	struct cvl_calls_result *r = &s->result;

	r->n_waits = calls_waits(s->calls);
	s->wait = calloc(r->n_waits + 1, sizeof(*s->wait));
	if (!s->wait)
		return -1;
	for (size_t i = 0; i < r->n_waits; i++)
		s->wait[i] = calls_wait(s->calls)[i];
	qsort(s->wait, r->n_waits, sizeof(*s->wait), by_wait);
	r->wait = s->wait;
	return 0;
}

static int list_chains(struct study *s)
{
	struct cvl_calls_result *r = &s->result;

	r->n_chains = calls_chains(s->calls);
	s->chain = calloc(r->n_chains + 1, sizeof(*s->chain));
	if (!s->chain)
		return -1;
	for (size_t i = 0; i < r->n_chains; i++) {
		s->chain[i] = *calls_chain_at(s->calls, i);
		s->chain[i].median = calls_chain_quantile(s->calls, i, 0.5);
		s->chain[i].p99 = calls_chain_quantile(s->calls, i, 0.99);
	}
	r->chain = s->chain;
	return 0;
}

static uint64_t core_number(const struct cvl_calls_result *r, const struct cvl_calls_thread *t)
{
	return t->core == CVL_CALLS_NONE ? UINT64_MAX : r->core[t->core].number;
}

static int by_place(const void *va, const void *vb, void *result)
{
	const struct cvl_calls_result *r = result;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct cvl_calls_thread *ta = &r->thread[a], *tb = &r->thread[b];

	if (ta->node != tb->node)
		return ta->node < tb->node ? -1 : 1;
	if (ta->core != tb->core)
		return core_number(r, ta) < core_number(r, tb) ? -1 : 1;
	return (a > b) - (a < b);
}

static int order_lanes(struct study *s)
{
	struct cvl_calls_result *r = &s->result;

	s->order = calloc(r->n_threads + 1, sizeof(*s->order));
	if (!s->order)
		return -1;
	for (uint32_t i = 0; i < r->n_threads; i++)
		s->order[i] = i;
	qsort_r(s->order, r->n_threads, sizeof(*s->order), by_place, r);
	r->order = s->order;
	return 0;
}

/* ---- functions ---- */

/* Each span may be off by two stamps and by the clock's rate. */
static int64_t total_bound(const struct study *s, const struct cvl_calls_cost *k)
{
	const struct cvl_calls_time at = { .clock = s->result.thread[k->thread].clock };
	const struct cvl_bound b = calls_read_bound(s->read, at);
	int64_t bound;

	if (__builtin_mul_overflow(b.capture, (int64_t)(2 * k->calls), &bound))
		return CVL_BOUND_UNKNOWN;
	/* the rate's limit, of the clock and of its map */
	return cvl_add_sat(bound, (int64_t)((double)k->total * 2 * b.drift_ppm * 1e-6) +
					  (int64_t)k->calls);
}

static void add_cost(struct cvl_calls_function *f, const struct cvl_calls_cost *k)
{
	if (!f->threads) {
		f->min = INT64_MAX;
		f->max = INT64_MIN;
	}
	f->threads++;
	f->calls += k->calls;
	f->repaired += k->repaired;
	f->whole += k->whole;
	f->total += k->total;
	f->self += k->self;
	f->sum += k->sum;
	f->min = k->min < f->min ? k->min : f->min;
	f->max = k->max > f->max ? k->max : f->max;
	f->total_bound = cvl_add_sat(f->total_bound, k->total_bound);
	f->part.preempted += k->part.preempted;
	f->part.ready += k->part.ready;
	f->part.switched += k->part.switched;
	f->part.blocked += k->part.blocked;
	f->part.waiting += k->part.waiting;
	f->part.hidden += k->part.hidden;
}

/* Who calls whom, and how often. */
static int add_callers(struct study *s)
{
	const struct cvl_calls_result *r = &s->result;
	struct calls_pairs pairs = { 0 };
	uint64_t *calls = calloc(r->n_ways + 1, sizeof(*calls));
	uint64_t *most = calloc(r->n_functions + 1, sizeof(*most));
	int rc = calls && most ? 0 : -1;

	for (size_t i = 0; i < r->n_ways && !rc; i++) {
		const struct cvl_calls_way *w = &r->way[i];
		uint32_t caller, *at;
		uint64_t key;

		if (w->function == CVL_CALLS_NONE || w->parent == CVL_CALLS_NONE)
			continue;
		caller = r->way[w->parent].function;
		if (caller == CVL_CALLS_NONE)
			continue;
		key = (uint64_t)w->function << 32 | caller;
		if (!calls_pairs_find(&pairs, key)) {
			rc = calls_pairs_add(&pairs, key, (uint32_t)pairs.n);
			s->function[w->function].callers++;
		}
		at = rc ? NULL : calls_pairs_find(&pairs, key);
		if (!at)
			continue;
		calls[*at] += w->calls;
		if (calls[*at] >= most[w->function]) {
			most[w->function] = calls[*at];
			s->function[w->function].caller = caller;
		}
	}
	free(pairs.slot);
	free(calls);
	free(most);
	return rc;
}

static int by_self(const void *va, const void *vb, void *functions)
{
	const struct cvl_calls_function *f = functions;
	uint32_t ia = *(const uint32_t *)va, ib = *(const uint32_t *)vb;
	const struct cvl_calls_function *a = &f[ia], *b = &f[ib];

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return (ia > ib) - (ia < ib);
}

static int list_functions(struct study *s)
{
	struct cvl_calls_result *r = &s->result;

	r->n_functions = calls_read_functions(s->read);
	r->n_ways = calls_nodes(s->calls);
	r->n_costs = calls_costs(s->calls);
	r->way = r->n_ways ? calls_node(s->calls, 0) : NULL;
	r->cost = r->n_costs ? calls_cost(s->calls, 0) : NULL;
	s->function = calloc(r->n_functions + 1, sizeof(*s->function));
	s->hot = calloc(r->n_functions + 1, sizeof(*s->hot));
	if (!s->function || !s->hot)
		return -1;
	for (uint32_t i = 0; i < r->n_functions; i++)
		s->function[i] =
			(struct cvl_calls_function){ .name = calls_read_function(s->read, i),
						     .caller = CVL_CALLS_NONE };
	for (size_t i = 0; i < r->n_costs; i++) {
		struct cvl_calls_cost *k = calls_cost(s->calls, i);

		k->total_bound = total_bound(s, k);
		r->made_up += k->made_up;
		r->made_up_ns = cvl_add_sat(r->made_up_ns, k->made_up_ns);
		if (k->calls && k->function != CVL_CALLS_NONE)
			add_cost(&s->function[k->function], k);
	}
	r->function = s->function;
	if (add_callers(s))
		return -1;
	for (uint32_t i = 0; i < r->n_functions; i++)
		if (s->function[i].calls)
			s->hot[r->n_hot++] = i;
	qsort_r(s->hot, r->n_hot, sizeof(*s->hot), by_self, s->function);
	r->hot = s->hot;
	return 0;
}

/* ---- the critical path ---- */

/* By the name of its function, or by "node/name". */
static bool is_called(const struct study *s, const struct cvl_calls_span *span)
{
	const struct cvl_calls_result *r = &s->result;
	const char *function = cvl_calls_function_name(r, span->function);
	const char *node = r->node[r->thread[span->thread].node];
	size_t n = strlen(node);

	return !fnmatch(s->glob, function, 0) || (!strncmp(s->glob, node, n) && s->glob[n] == '.' &&
						  !fnmatch(s->glob + n + 1, function, 0));
}

/* All that is known of the thread requested; of several, of the one that lived longest. */
static const struct cvl_calls_span *choose_life(struct study *s)
{
	const struct cvl_calls_result *r = &s->result;
	struct cvl_calls_span *best = &s->life;

	*best = (struct cvl_calls_span){ .thread = CVL_CALLS_NONE, .function = CVL_CALLS_NONE };
	for (uint32_t i = 0; s->glob && i < r->n_threads; i++) {
		const struct cvl_calls_thread *t = &r->thread[i];
		struct cvl_calls_time begin = t->born, end = t->died;

		if (fnmatch(s->glob, t->task, 0) && fnmatch(s->glob, t->label, 0))
			continue;
		if (begin.clock == CVL_CALLS_NONE)
			begin = calls_first(s->calls, i);
		if (end.clock == CVL_CALLS_NONE)
			end = r->last;
		if (best->thread != CVL_CALLS_NONE &&
		    end.ns - begin.ns <= best->end.ns - best->begin.ns)
			continue;
		best->thread = i;
		best->begin = begin;
		best->end = end;
	}
	return best->thread == CVL_CALLS_NONE ? NULL : best;
}

/*
 * The longest of those requested; if none is, the longest outermost one. Of equal ones the first to
 * end.
 */
static const struct cvl_calls_span *choose(struct study *s)
{
	const struct cvl_calls_span *best = NULL;
	bool best_whole = false;

	for (size_t i = 0; i < s->kept.spans.n; i++) {
		const struct cvl_calls_span *span = &s->kept.span[i];
		bool whole = !span->marks;

		if (s->glob ? !is_called(s, span) :
			      span->depth > s->result.thread[span->thread].depth_min)
			continue;
		if (best && (whole != best_whole ? !whole :
						   span->end.ns - span->begin.ns <=
							   best->end.ns - best->begin.ns))
			continue;
		best = span;
		best_whole = whole;
	}
	return best ? best : choose_life(s);
}

/* Whether something of @least ns or more was left out that a path may go through. */
static bool lacks(const struct cvl_calls_kept *k, int64_t least)
{
	const struct cvl_calls_list *const lists[] = { &k->spans, &k->aways, &k->messages };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (lists[i]->left_out && lists[i]->shortest >= least)
			return true;
	return false;
}

static int find_path(struct study *s, struct cvl_error *err)
{
	struct cvl_calls_result *r = &s->result;
	const struct cvl_calls_kept *kept = &s->kept;
	struct cvl_calls_kept again = { 0 };
	struct cvl_calls_time from, to;
	int rc = 0;

	r->chosen = choose(s);
	if (!r->chosen)
		return 0;
	from = r->chosen->begin;
	to = r->chosen->end;
	/* a span that did nothing but run itself is its own path */
	if (r->chosen->self < to.ns - from.ns && lacks(&s->kept, (to.ns - from.ns) / 1000)) {
		rc = study_again(s, &again, from.ns, to.ns, err);
		kept = &again;
	}
	if (!rc && calls_path_find(&s->critical, kept, r->thread, r->chosen->thread, from, to))
		rc = cvl_no_memory(err);
	calls_kept_free(&again);
	if (rc)
		return rc;
	r->step = s->critical.step;
	r->n_steps = s->critical.n;
	r->cut = s->critical.cut;
	return study_steps(s) ? cvl_no_memory(err) : 0;
}

int study_conclude(struct study *s, struct cvl_error *err)
{
	struct cvl_calls_result *r = &s->result;

	r->other_program =
		s->config->symbols && !calls_read_known_addresses(s->read, &r->first_address);
	calls_read_range(s->read, &r->first, &r->last);
	r->synchronised = cvl_timeline_sync(s->tl) != NULL;
	r->kept = &s->kept;
	r->repairs = *calls_repairs(s->calls);
	r->counts = calls_read_counts(s->read);
	if (list_lanes(s) || list_waits(s) || list_chains(s) || order_lanes(s) || list_functions(s))
		return cvl_no_memory(err);
	s->finding = calls_find_all(s->find, r->last.ns - r->first.ns, &s->n_findings);
	if ((!s->finding && s->n_findings) || study_group(s))
		return cvl_no_memory(err);
	return find_path(s, err);
}

void study_forget(struct study *s)
{
	for (size_t i = 0; i < s->result.n_groups; i++) {
		free(s->group[i].where);
		free(s->group[i].text);
	}
	free(s->group);
	free(s->share);
	free(s->finding);
	free(s->node);
	free(s->core);
	free(s->thread);
	free(s->wait);
	free(s->chain);
	free(s->function);
	free(s->order);
	free(s->hot);
}
