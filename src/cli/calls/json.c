/* SPDX-License-Identifier: MIT */
#include "calls/view.h"

#include "json.h"

static void put_parts(struct js *j, const struct cvl_calls_parts *p)
{
	js_int(j, "preempted_ns", p->preempted);
	js_int(j, "switched_out_ns", p->switched);
	js_int(j, "blocked_ns", p->blocked);
	js_int(j, "waiting_ns", p->waiting);
	js_int(j, "hidden_ns", p->hidden);
}

static void put_lanes(struct js *j, const struct cvl_calls_result *r)
{
	js_open(j, "lanes", '[');
	for (size_t i = 0; i < r->n_threads; i++) {
		const struct cvl_calls_thread *t = &r->thread[i];

		js_open(j, NULL, '{');
		js_text(j, "lane", t->label);
		js_text(j, "node", r->node[t->node]);
		js_int(j, "spans", (int64_t)t->spans);
		js_int(j, "busy_ns", t->busy);
		put_parts(j, &t->part);
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
		js_text(j, "function", cvl_calls_function_name(r, k->function));
		js_text(j, "lane", r->thread[k->thread].label);
		js_int(j, "calls", (int64_t)k->calls);
		js_int(j, "repaired", (int64_t)k->repaired);
		js_int(j, "made_up", (int64_t)k->made_up);
		js_int(j, "made_up_ns", k->made_up_ns);
		js_int(j, "total_ns", k->total);
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
		js_text(j, "lane", r->thread[w->thread].label);
		js_text(j, "function", cvl_calls_function_name(r, w->function));
		js_text(j, "caller", cvl_calls_function_name(r, by->function));
		js_int(j, "calls", (int64_t)w->calls);
		js_int(j, "total_ns", w->total);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_findings(struct js *j, const struct cvl_calls_result *r)
{
	static const char *const causes[CVL_CALLS_CAUSES] = { "preempted", "switched out",
							      "blocked",   "waited",
							      "hidden",    "itself" };

	js_open(j, "findings", '[');
	for (size_t i = 0; i < r->n_groups; i++) {
		const struct cvl_calls_group *g = &r->group[i];

		js_open(j, NULL, '{');
		js_text(j, "text", g->text);
		js_text(j, "cause", causes[g->first->cause]);
		js_text(j, "where", g->where);
		js_int(j, "spans", (int64_t)g->n);
		js_int(j, "least_ns", g->least);
		js_int(j, "most_ns", g->most);
		js_int(j, "median_ns", g->first->median);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_step(struct js *j, const struct calls_view *v, const struct cvl_calls_step *s)
{
	static const char *const kinds[] = { "run", "preempted", "switched out", "blocked",
					     "message" };

	js_open(j, NULL, '{');
	js_text(j, "lane", v->r->thread[s->thread].label);
	js_text(j, "kind", kinds[s->kind]);
	if (s->function != CVL_CALLS_NONE)
		js_text(j, "function", cvl_calls_function_name(v->r, s->function));
	if (s->by != CVL_CALLS_NONE)
		js_text(j, "by", v->r->thread[s->by].label);
	js_int(j, "from_ns", s->begin.ns);
	js_int(j, "to_ns", s->end.ns);
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
	js_text(j, "function", cvl_calls_function_name(v->r, s->function));
	js_int(j, "from_ns", s->begin.ns);
	js_int(j, "to_ns", s->end.ns);
	js_bool(j, "cut", v->r->cut);
	js_open(j, "steps", '[');
	for (size_t i = 0; i < v->r->n_steps; i++)
		put_step(j, v, &v->r->step[i]);
	js_close(j, ']');
	js_close(j, '}');
}

static void put_repairs(struct js *j, const struct cvl_calls_result *r)
{
	const struct {
		const char *key;
		uint64_t n;
	} count[] = {
		{ "gaps", r->repairs.gaps },
		{ "lost_entries", r->repairs.lost_entries },
		{ "lost_exits", r->repairs.lost_exits },
		{ "open", r->repairs.open },
		{ "guessed", r->repairs.guessed },
		{ "too_deep", r->repairs.too_deep },
		{ "paths", r->repairs.paths },
		{ "backwards", r->repairs.backwards },
		{ "strays", r->repairs.strays },
		{ "unnamed", r->counts.unnamed },
		{ "unmatched", r->counts.unmatched },
		{ "duplicates", r->counts.duplicates },
	};

	js_open(j, "repairs", '{');
	for (size_t i = 0; i < sizeof(count) / sizeof(*count); i++)
		js_int(j, count[i].key, (int64_t)count[i].n);
	js_close(j, '}');
}

void calls_view_json(const struct calls_view *v, struct cvl_out *o)
{
	const struct cvl_calls_result *r = v->r;
	struct js j = { .o = o };

	js_open(&j, NULL, '{');
	js_text(&j, "session", v->session);
	js_bool(&j, "synchronised", r->synchronised);
	js_int(&j, "from_ns", r->first.ns);
	js_int(&j, "to_ns", r->last.ns);
	js_int(&j, "messages", (int64_t)r->counts.messages);
	put_repairs(&j, r);
	put_lanes(&j, r);
	put_costs(&j, r);
	put_callers(&j, r);
	put_findings(&j, r);
	put_path(&j, v);
	js_close(&j, '}');
	js_end(&j);
}
