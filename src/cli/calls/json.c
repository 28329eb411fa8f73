/* SPDX-License-Identifier: MIT */
#include "calls/view.h"

#include "json.h"

static void put_parts(struct js *j, const struct cvl_calls_parts *p)
{
	js_ints(j, "preempted_ns ready_ns switched_out_ns blocked_ns waiting_ns hidden_ns",
		p->preempted, p->ready, p->switched, p->blocked, p->waiting, p->hidden);
}

static void put_lanes(struct js *j, const struct cvl_calls_result *r)
{
	js_open(j, "lanes", '[');
	for (size_t i = 0; i < r->n_threads; i++) {
		const struct cvl_calls_thread *t = &r->thread[i];

		js_open(j, NULL, '{');
		js_texts(j, "lane node", t->label, r->node[t->node]);
		js_ints(j, "spans busy_ns wakes latency_max_ns", (int64_t)t->spans, t->busy,
			(int64_t)t->wakes, t->latency_max);
		put_parts(j, &t->part);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_waits(struct js *j, const struct cvl_calls_result *r)
{
	js_open(j, "waits", '[');
	for (size_t i = 0; i < r->n_waits; i++) {
		const struct cvl_calls_wait *w = &r->wait[i];

		js_open(j, NULL, '{');
		js_text(j, "lane", r->thread[w->thread].label);
		js_text(j, "woken_by", w->by == CVL_CALLS_NONE ? NULL : r->thread[w->by].label);
		js_text(j, "context", cvl_calls_context_name(w->context));
		js_ints(j, "times unsure total_ns max_ns", (int64_t)w->n, (int64_t)w->unsure, w->ns,
			w->max);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_chains(struct js *j, const struct calls_view *v)
{
	const struct cvl_calls_result *r = v->r;

	js_open(j, "chains", '[');
	for (size_t i = 0; i < r->n_chains; i++) {
		const struct cvl_calls_chain *k = &r->chain[i];

		js_open(j, NULL, '{');
		js_text(j, "function", cvl_calls_function_name(r, k->function));
		js_known(j, "before", k->before, k->before != CVL_CALLS_NONE);
		js_ints(j, "spans times", k->length, (int64_t)k->n);
		js_known(j, "min_ns", k->min, k->n);
		js_known(j, "median_ns", k->median, k->n);
		js_known(j, "p99_ns", k->p99, k->n);
		js_known(j, "max_ns", k->max, k->n);
		js_known(j, "mean_ns", k->n ? k->sum / (int64_t)k->n : 0, k->n);
		if (k->n)
			js_bound(j, "max_bound_ns", cvl_calls_apart(v->a, k->begin, k->end));
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_costs(struct js *j, const struct cvl_calls_result *r)
{
	js_open(j, "functions", '[');
	for (size_t i = 0; i < r->n_costs; i++) {
		const struct cvl_calls_cost *k = &r->cost[i];

		if (!k->calls)
			continue;
		js_open(j, NULL, '{');
		js_texts(j, "function lane", cvl_calls_function_name(r, k->function),
			 r->thread[k->thread].label);
		js_ints(j, "calls repaired made_up made_up_ns total_ns", (int64_t)k->calls,
			(int64_t)k->repaired, (int64_t)k->made_up, k->made_up_ns, k->total);
		js_bound(j, "total_bound_ns", k->total_bound);
		js_int(j, "self_ns", k->self);
		js_known(j, "mean_ns", k->whole ? k->sum / (int64_t)k->whole : 0, k->whole);
		js_known(j, "min_ns", k->min, k->whole);
		js_known(j, "max_ns", k->max, k->whole);
		put_parts(j, &k->part);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_callers(struct js *j, const struct cvl_calls_result *r)
{
	js_open(j, "callers", '[');
	for (size_t i = 0; i < r->n_ways; i++) {
		const struct cvl_calls_way *w = &r->way[i];
		const struct cvl_calls_way *by =
			w->parent == CVL_CALLS_NONE ? NULL : &r->way[w->parent];

		if (!by || by->function == CVL_CALLS_NONE || w->function == CVL_CALLS_NONE ||
		    !w->calls)
			continue;
		js_open(j, NULL, '{');
		js_texts(j, "lane function caller", r->thread[w->thread].label,
			 cvl_calls_function_name(r, w->function),
			 cvl_calls_function_name(r, by->function));
		js_ints(j, "calls total_ns", (int64_t)w->calls, w->total);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_findings(struct js *j, const struct cvl_calls_result *r)
{
	static const char *const causes[CVL_CALLS_CAUSES] = { "preempted", "ready",  "switched out",
							      "blocked",   "waited", "hidden",
							      "itself" };

	js_open(j, "findings", '[');
	for (size_t i = 0; i < r->n_groups; i++) {
		const struct cvl_calls_group *g = &r->group[i];

		js_open(j, NULL, '{');
		js_texts(j, "text cause where", g->text, causes[g->first->cause], g->where);
		js_ints(j, "spans least_ns most_ns median_ns", (int64_t)g->n, g->least, g->most,
			g->first->median);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_step(struct js *j, const struct calls_view *v, const struct cvl_calls_step *s)
{
	static const char *const kinds[] = { "run",          "preempted", "ready",
					     "switched out", "blocked",   "message" };

	js_open(j, NULL, '{');
	js_texts(j, "lane kind", v->r->thread[s->thread].label, kinds[s->kind]);
	if (s->function != CVL_CALLS_NONE)
		js_text(j, "function", cvl_calls_function_name(v->r, s->function));
	if (s->by != CVL_CALLS_NONE)
		js_text(j, "by", v->r->thread[s->by].label);
	if (s->unsure)
		js_bool(j, "unsure", true);
	js_ints(j, "from_ns to_ns", s->begin.ns, s->end.ns);
	js_bound(j, "bound_ns", cvl_calls_apart(v->a, s->begin, s->end));
	js_close(j, '}');
}

static void put_path(struct js *j, const struct calls_view *v)
{
	const struct cvl_calls_span *s = v->r->chosen;

	if (!s) {
		js_text(j, "path", NULL);
		return;
	}
	js_open(j, "path", '{');
	js_text(j, "lane", v->r->thread[s->thread].label);
	js_text(j, "function",
		s->function == CVL_CALLS_NONE ? NULL : cvl_calls_function_name(v->r, s->function));
	js_ints(j, "from_ns to_ns", s->begin.ns, s->end.ns);
	js_bool(j, "cut", v->r->cut);
	js_open(j, "steps", '[');
	for (size_t i = 0; i < v->r->n_steps; i++)
		put_step(j, v, &v->r->step[i]);
	js_close(j, ']');
	js_close(j, '}');
}

static void put_repairs(struct js *j, const struct cvl_calls_result *r)
{
	const struct cvl_calls_repairs *f = &r->repairs;

	js_open(j, "repairs", '{');
	js_counts(
		j,
		"gaps lost_entries lost_exits open guessed too_deep paths backwards strays switches returns mixed",
		f->gaps, f->lost_entries, f->lost_exits, f->open, f->guessed, f->too_deep, f->paths,
		f->backwards, f->strays, f->switches, f->returns, f->mixed);
	js_counts(j, "unnamed unmatched duplicates apart", r->counts.unnamed, r->counts.unmatched,
		  r->counts.duplicates, r->counts.apart);
	js_close(j, '}');
}

void calls_view_json(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	struct js j = js_begin(o);

	js_text(&j, "session", v->session);
	js_bool(&j, "synchronised", r->synchronised);
	js_ints(&j, "from_ns to_ns messages", r->first.ns, r->last.ns, (int64_t)r->counts.messages);
	put_repairs(&j, r);
	put_lanes(&j, r);
	put_waits(&j, r);
	put_costs(&j, r);
	put_callers(&j, r);
	put_chains(&j, v);
	put_findings(&j, r);
	put_path(&j, v);
	js_end(&j);
}
