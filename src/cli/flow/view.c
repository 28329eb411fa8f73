/* SPDX-License-Identifier: MIT */
/* The summary of `coeval flow`: coverage, what did not fit, times. */
#include "flow/view.h"

#include "cli.h"
#include "durations.h"

static void put_missed(const struct cvl_flow_map *map, const struct cvl_flow_node *s,
		       struct cvl_out *o)
{
	unsigned n = 0;

	for (size_t i = 0; i < map->n; i++)
		if (!s->passed[i])
			cvl_out_printf(o, "%s%s",
				       n++ ? ", " : "  not passed: ", map->point[i].name);
	cvl_out_text(o, n ? "\n" : "");
	n = 0;
	for (size_t i = 0; i < map->n; i++)
		for (size_t k = 0; k < map->point[i].n_next; k++)
			if (!s->branch[map->point[i].first_branch + k])
				cvl_out_printf(o, "%s%s -> %s",
					       n++ ? ", " : "  not taken: ", map->point[i].name,
					       map->point[map->point[i].next[k]].name);
	cvl_out_text(o, n ? "\n" : "");
}

static void put_coverage(const struct cvl_flow_map *map, const struct cvl_flow_node *s,
			 struct cvl_out *o)
{
	cvl_out_printf(o, "%llu of %zu points passed", (unsigned long long)s->points_passed,
		       map->n);
	if (map->graph)
		cvl_out_printf(o, ", %llu of %llu branches taken",
			       (unsigned long long)s->branches_taken,
			       (unsigned long long)map->branches);
	cvl_out_char(o, '\n');
}

static void put_node(const struct cvl_flow_map *map, const struct cvl_flow_node *s,
		     struct cvl_out *o)
{
	struct table t;

	cvl_out_name(o, s->clock);
	cli_count(o, ": ", s->items[CVL_FLOW_POINT], "marker", ", ");
	put_coverage(map, s, o);
	table_heads(&t, "point|passed|at");
	for (size_t i = 0; i < map->n; i++) {
		const struct cvl_flow_point *p = &map->point[i];

		table_cell(&t, "%s", p->name);
		table_counts(&t, s->passed[i]);
		table_cell(&t, "%s%s", p->at ? p->at : "",
			   p->n_code ? "" :
			   p->at     ? " (no marker)" :
				       "(no marker)");
	}
	table_print(&t, o, "lrl", "  ");
	put_missed(map, s, o);
	if (s->unresolved) {
		cli_count(o, "  between ", s->unresolved, "pair", "");
		cvl_out_text(
			o,
			" of markers several ways lead: what they passed there is not counted\n");
	}
	for (unsigned w = CVL_FLOW_JUMP; w < CVL_FLOW_WHATS; w++)
		if (s->items[w])
			cvl_out_printf(o, "  %s: %llu\n", cvl_flow_what_name((enum cvl_flow_what)w),
				       (unsigned long long)s->items[w]);
}

static void put_misfits(const struct cvl_flow_result *r, struct cvl_out *o)
{
	cvl_out_text(o, "what did not fit:\n");
	for (size_t i = 0; i < r->n_misfits; i++)
		flow_view_item(r->map, r->misfit[i].clock, &r->misfit[i].item, false, o);
	if (r->misfits > r->n_misfits)
		cvl_out_printf(o, "  and %llu more: --path shows them all\n",
			       (unsigned long long)(r->misfits - r->n_misfits));
}

static void put_times(const struct cvl_flow_map *map, const struct cvl_flow_times *t,
		      struct cvl_out *o)
{
	cvl_out_printf(o, "%s to %s: ", map->point[t->pair.from].name, map->point[t->pair.to].name);
	cli_count(o, "", t->times.n, "time", "");
	if (t->times.broken)
		cvl_out_printf(
			o,
			", and %llu not counted, as something was lost or did not fit in between",
			(unsigned long long)t->times.broken);
	cvl_out_char(o, '\n');
	durations_text(o, &t->times);
}

/* Separate sections by an empty line. */
void flow_view_text(const struct cvl_flow_result *r, struct cvl_out *o)
{
	for (size_t i = 0; i < r->n_nodes; i++) {
		cvl_out_text(o, i ? "\n" : "");
		put_node(r->map, &r->node[i], o);
	}
	if (r->n_nodes > 1) {
		cvl_out_printf(o, "\nall %zu nodes: ", r->n_nodes);
		put_coverage(r->map, &r->all, o);
		put_missed(r->map, &r->all, o);
	}
	if (r->misfits) {
		cvl_out_char(o, '\n');
		put_misfits(r, o);
	}
	for (size_t i = 0; i < r->n_times; i++) {
		cvl_out_char(o, '\n');
		put_times(r->map, &r->times[i], o);
	}
}

/* ---- JSON ---- */

static void node_json(struct js *j, const struct cvl_flow_map *map, const struct cvl_flow_node *s)
{
	js_open(j, NULL, '{');
	js_text(j, "clock", s->clock);
	js_counts(j, "markers points_passed branches_taken", s->items[CVL_FLOW_POINT],
		  s->points_passed, s->branches_taken);
	js_open(j, "points", '[');
	for (size_t i = 0; i < map->n; i++) {
		js_open(j, NULL, '{');
		js_text(j, "point", map->point[i].name);
		js_bool(j, "marked", map->point[i].n_code > 0);
		js_count(j, "passed", s->passed[i]);
		js_close(j, '}');
	}
	js_close(j, ']');
	js_open(j, "branches", '[');
	for (size_t i = 0; i < map->n; i++)
		for (size_t k = 0; k < map->point[i].n_next; k++) {
			const struct cvl_flow_point *p = &map->point[i];

			js_open(j, NULL, '{');
			js_texts(j, "from to", p->name, map->point[p->next[k]].name);
			js_count(j, "taken", s->branch[p->first_branch + k]);
			js_close(j, '}');
		}
	js_close(j, ']');
	js_count(j, "unresolved", s->unresolved);
	for (unsigned w = CVL_FLOW_JUMP; w < CVL_FLOW_WHATS; w++)
		js_count(j, cvl_flow_what_name((enum cvl_flow_what)w), s->items[w]);
	js_close(j, '}');
}

void flow_view_json(const struct cvl_flow_result *r, const char *session, struct cvl_out *o)
{
	const struct cvl_flow_map *map = r->map;
	struct js j = js_begin(o);

	js_texts(&j, "session program", session, map->program);
	js_counts(&j, "points branches points_passed branches_taken", map->n, map->branches,
		  r->all.points_passed, r->all.branches_taken);
	js_open(&j, "nodes", '[');
	for (size_t i = 0; i < r->n_nodes; i++)
		node_json(&j, map, &r->node[i]);
	js_close(&j, ']');
	js_open(&j, "between", '[');
	for (size_t i = 0; i < r->n_times; i++) {
		js_open(&j, NULL, '{');
		js_texts(&j, "from to", map->point[r->times[i].pair.from].name,
			 map->point[r->times[i].pair.to].name);
		durations_json(&j, &r->times[i].times);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	js_end(&j);
}
