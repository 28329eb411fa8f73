/* SPDX-License-Identifier: MIT */
#include "calls/view.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void key_name(struct cvl_out *o, const char *key, const char *name)
{
	cvl_out_text(o, key);
	cvl_out_json(o, name, strlen(name));
}

static void key_number(struct cvl_out *o, const char *key, int64_t n)
{
	cvl_out_text(o, key);
	cvl_out_i64(o, n);
}

static void key_known(struct cvl_out *o, const char *key, int64_t n, bool known)
{
	cvl_out_text(o, key);
	if (known)
		cvl_out_i64(o, n);
	else
		cvl_out_text(o, "null");
}

static void key_bound(struct cvl_out *o, const char *key, int64_t bound)
{
	key_known(o, key, bound, bound != CVL_BOUND_UNKNOWN);
}

static void put_parts(struct cvl_out *o, const struct calls_parts *p)
{
	key_number(o, ",\"preempted_ns\":", p->preempted);
	key_number(o, ",\"switched_out_ns\":", p->switched);
	key_number(o, ",\"blocked_ns\":", p->blocked);
	key_number(o, ",\"waiting_ns\":", p->waiting);
	key_number(o, ",\"hidden_ns\":", p->hidden);
}

static void put_lanes(const struct calls_view *v, struct cvl_out *o)
{
	cvl_out_text(o, "\"lanes\":[");
	for (size_t i = 0; i < calls_threads(v->c); i++) {
		const struct calls_thread *t = calls_thread(v->c, i);

		key_name(o, i ? ",{\"lane\":" : "{\"lane\":", calls_read_thread(v->r, (uint32_t)i));
		key_name(o, ",\"node\":", calls_read_node(v->r, t->node));
		key_number(o, ",\"spans\":", (int64_t)t->spans);
		key_number(o, ",\"busy_ns\":", t->busy);
		put_parts(o, &t->part);
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "],\n\"functions\":[");
}

static void put_costs(const struct calls_view *v, struct cvl_out *o)
{
	bool first = true;

	for (size_t i = 0; i < calls_costs(v->c); i++) {
		const struct calls_cost *k = calls_cost(v->c, i);

		if (!k->calls)
			continue;
		key_name(o, first ? "{\"function\":" : ",\n{\"function\":",
			 calls_read_function(v->r, k->function));
		first = false;
		key_name(o, ",\"lane\":", calls_read_thread(v->r, k->thread));
		key_number(o, ",\"calls\":", (int64_t)k->calls);
		key_number(o, ",\"repaired\":", (int64_t)k->repaired);
		key_number(o, ",\"made_up\":", (int64_t)k->made_up);
		key_number(o, ",\"made_up_ns\":", k->made_up_ns);
		key_number(o, ",\"total_ns\":", k->total);
		key_bound(o, ",\"total_bound_ns\":", calls_view_total_bound(v, k));
		key_number(o, ",\"self_ns\":", k->self);
		key_known(o, ",\"mean_ns\":", k->whole ? k->sum / (int64_t)k->whole : 0, k->whole);
		key_known(o, ",\"min_ns\":", k->min, k->whole);
		key_known(o, ",\"max_ns\":", k->max, k->whole);
		put_parts(o, &k->part);
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "],\n\"callers\":[");
	first = true;
	for (size_t i = 0; i < calls_nodes(v->c); i++) {
		const struct calls_node *n = calls_node(v->c, i);
		const struct calls_node *by =
			n->parent == CALLS_NONE ? NULL : calls_node(v->c, n->parent);

		if (!by || by->function == CALLS_NONE || n->function == CALLS_NONE || !n->calls)
			continue;
		key_name(o,
			 first ? "{\"lane\":" : ",{\"lane\":", calls_read_thread(v->r, n->thread));
		first = false;
		key_name(o, ",\"function\":", calls_read_function(v->r, n->function));
		key_name(o, ",\"caller\":", calls_read_function(v->r, by->function));
		key_number(o, ",\"calls\":", (int64_t)n->calls);
		key_number(o, ",\"total_ns\":", n->total);
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "],\n\"findings\":[");
}

static void put_findings(const struct calls_view *v, struct cvl_out *o)
{
	static const char *const causes[CALLS_CAUSES] = { "preempted", "switched out", "blocked",
							  "waited",    "hidden",       "itself" };

	for (size_t i = 0; i < v->n_groups; i++) {
		char *text = calls_view_sentence(v, &v->group[i]);

		key_name(o, i ? ",\n{\"text\":" : "{\"text\":", text ? text : "");
		free(text);
		key_name(o, ",\"cause\":", causes[v->group[i].first->cause]);
		key_name(o, ",\"where\":", v->group[i].where);
		key_number(o, ",\"spans\":", (int64_t)v->group[i].n);
		key_number(o, ",\"least_ns\":", v->group[i].least);
		key_number(o, ",\"most_ns\":", v->group[i].most);
		key_number(o, ",\"median_ns\":", v->group[i].first->median);
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "],\n\"path\":");
}

static void put_path(const struct calls_view *v, struct cvl_out *o)
{
	static const char *const kinds[] = { "run", "preempted", "switched out", "blocked",
					     "message" };

	if (!v->chosen) {
		cvl_out_text(o, "null");
		return;
	}
	key_name(o, "{\"lane\":", calls_read_thread(v->r, v->chosen->thread));
	key_name(o, ",\"function\":", calls_read_function(v->r, v->chosen->function));
	key_number(o, ",\"from_ns\":", v->chosen->begin.ns);
	key_number(o, ",\"to_ns\":", v->chosen->end.ns);
	cvl_out_text(o,
		     v->critical.cut ? ",\"cut\":true,\"steps\":[" : ",\"cut\":false,\"steps\":[");
	for (size_t i = 0; i < v->critical.n; i++) {
		const struct calls_step *s = &v->critical.step[i];

		key_name(o, i ? ",\n{\"lane\":" : "{\"lane\":", calls_read_thread(v->r, s->thread));
		key_name(o, ",\"kind\":", kinds[s->kind]);
		if (s->function != CALLS_NONE)
			key_name(o, ",\"function\":", calls_read_function(v->r, s->function));
		if (s->by != CALLS_NONE)
			key_name(o, ",\"by\":", calls_read_thread(v->r, s->by));
		key_number(o, ",\"from_ns\":", s->begin.ns);
		key_number(o, ",\"to_ns\":", s->end.ns);
		key_bound(o, ",\"bound_ns\":", calls_read_apart(v->r, s->begin, s->end));
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "]}");
}

static void put_repairs(const struct calls_view *v, struct cvl_out *o)
{
	const struct calls_repairs *p = calls_repairs(v->c);
	struct calls_read_counts n = calls_read_counts(v->r);

	key_number(o, "\"gaps\":", (int64_t)p->gaps);
	key_number(o, ",\"lost_entries\":", (int64_t)p->lost_entries);
	key_number(o, ",\"lost_exits\":", (int64_t)p->lost_exits);
	key_number(o, ",\"open\":", (int64_t)p->open);
	key_number(o, ",\"guessed\":", (int64_t)p->guessed);
	key_number(o, ",\"too_deep\":", (int64_t)p->too_deep);
	key_number(o, ",\"paths\":", (int64_t)p->paths);
	key_number(o, ",\"backwards\":", (int64_t)p->backwards);
	key_number(o, ",\"strays\":", (int64_t)p->strays);
	key_number(o, ",\"unnamed\":", (int64_t)n.unnamed);
	key_number(o, ",\"unmatched\":", (int64_t)n.unmatched);
	key_number(o, ",\"duplicates\":", (int64_t)n.duplicates);
}

void calls_view_json(const struct calls_view *v, struct cvl_out *o)
{
	struct calls_time first, last;

	calls_read_range(v->r, &first, &last);
	key_name(o, "{\"session\":", v->path);
	cvl_out_text(o, cvl_timeline_sync(v->tl) ? ",\"synchronised\":true" :
						   ",\"synchronised\":false");
	key_number(o, ",\"from_ns\":", first.ns);
	key_number(o, ",\"to_ns\":", last.ns);
	key_number(o, ",\"messages\":", (int64_t)calls_read_counts(v->r).messages);
	cvl_out_text(o, ",\n\"repairs\":{");
	put_repairs(v, o);
	cvl_out_text(o, "},\n");
	put_lanes(v, o);
	put_costs(v, o);
	put_findings(v, o);
	put_path(v, o);
	cvl_out_text(o, "}\n");
}
