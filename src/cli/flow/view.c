/* SPDX-License-Identifier: MIT */
/* The summary of `coeval flow`: coverage, what did not fit, times. */
#include "flow/view.h"

#include <jansson.h>
#include <string.h>

#include "clocks_print.h"

static uint64_t points_passed(const struct flow_view *v, const struct flow_stats *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < v->map->n; i++)
		n += s->passed[i] > 0;
	return n;
}

static uint64_t branches_taken(const struct flow_view *v, const struct flow_stats *s)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < v->map->branches; i++)
		n += s->branch[i] > 0;
	return n;
}

static int add_up(struct flow_view *v)
{
	if (flow_stats_init(&v->all, v->map, 0))
		return CVL_E_NOMEM;
	for (size_t i = 0; i < v->study.n; i++) {
		const struct flow_stats *s = &v->study.node[i].stats;

		if (!v->study.node[i].has)
			continue;
		v->nodes++;
		for (size_t k = 0; k < v->map->n; k++)
			v->all.passed[k] += s->passed[k];
		for (size_t k = 0; k < v->map->branches; k++)
			v->all.branch[k] += s->branch[k];
	}
	return 0;
}

/* ---- text ---- */

/* Sections are apart by a line. */
static void begin(struct flow_view *v)
{
	cvl_out_text(v->out, v->begun ? "\n" : "");
	v->begun = true;
}

static void put_missed(struct flow_view *v, const struct flow_stats *s)
{
	const struct flow_map *map = v->map;
	struct cvl_out *o = v->out;
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

static void put_coverage(struct flow_view *v, const struct flow_stats *s)
{
	const struct flow_map *map = v->map;
	struct cvl_out *o = v->out;

	cvl_out_printf(o, "%llu of %zu points passed", (unsigned long long)points_passed(v, s),
		       map->n);
	if (map->graph)
		cvl_out_printf(o, ", %llu of %llu branches taken",
			       (unsigned long long)branches_taken(v, s),
			       (unsigned long long)map->branches);
	cvl_out_char(o, '\n');
}

static void put_node(struct flow_view *v, const struct flow_node *node)
{
	const struct flow_stats *s = &node->stats;
	const struct flow_map *map = v->map;
	struct cvl_out *o = v->out;
	struct table t;

	begin(v);
	cvl_out_name(o, node->name);
	cvl_out_text(o, ": ");
	cli_count(o, s->told[FLOW_POINT], "marker");
	cvl_out_text(o, ", ");
	put_coverage(v, s);
	table_init(&t, 3);
	table_heads(&t, (const char *[]){ "point", "passed", "at", NULL });
	for (size_t i = 0; i < map->n; i++) {
		const struct flow_point *p = &map->point[i];

		table_cell(&t, "%s", p->name);
		table_cell(&t, "%llu", (unsigned long long)s->passed[i]);
		table_cell(&t, "%s%s", p->at ? p->at : "",
			   p->n_code ? "" :
			   p->at     ? " (no marker)" :
				       "(no marker)");
	}
	table_print(&t, o, "lrl", "  ");
	put_missed(v, s);
	if (s->unresolved) {
		cvl_out_text(o, "  between ");
		cli_count(o, s->unresolved, "pair");
		cvl_out_text(
			o,
			" of markers several ways lead: what they passed there is not counted\n");
	}
	for (unsigned w = FLOW_JUMP; w < FLOW_WHATS; w++)
		if (s->told[w])
			cvl_out_printf(o, "  %s: %llu\n", flow_what_name((enum flow_what)w),
				       (unsigned long long)s->told[w]);
}

static void put_misfits(struct flow_view *v)
{
	if (!v->misfits)
		return;
	begin(v);
	cvl_out_text(v->out, "what did not fit:\n");
	for (size_t i = 0; i < v->n_misfits; i++)
		flow_view_item(v, v->misfit[i].node, &v->misfit[i].item);
	if (v->misfits > v->n_misfits)
		cvl_out_printf(v->out, "  and %llu more: --path shows them all\n",
			       (unsigned long long)(v->misfits - v->n_misfits));
}

static int put_times(struct flow_view *v, const struct flow_times *times)
{
	const struct flow_map *map = v->map;
	struct cvl_out *o = v->out;

	begin(v);
	cvl_out_printf(o, "%s to %s: ", map->point[times->pair.from].name,
		       map->point[times->pair.to].name);
	cli_count(o, times->n, "time");
	if (times->broken) {
		cvl_out_printf(
			o,
			", and %llu not counted, as something was lost or did not fit in between",
			(unsigned long long)times->broken);
	}
	cvl_out_char(o, '\n');
	return flow_times_text(o, times);
}

int flow_view_text(struct flow_view *v, struct cvl_error *err)
{
	int rc = add_up(v);

	for (size_t i = 0; !rc && i < v->study.n; i++)
		if (v->study.node[i].has)
			put_node(v, &v->study.node[i]);
	if (!rc && v->nodes > 1) {
		begin(v);
		cvl_out_printf(v->out, "all %zu nodes: ", v->nodes);
		put_coverage(v, &v->all);
		put_missed(v, &v->all);
	}
	if (!rc)
		put_misfits(v);
	for (size_t i = 0; i < v->study.pairs && !rc; i++)
		rc = put_times(v, &v->study.times[i]);
	flow_stats_free(&v->all);
	return rc ? cvl_no_memory(err) : 0;
}

/* ---- JSON ---- */

static json_t *node_json(const struct flow_view *v, const struct flow_node *node)
{
	const struct flow_stats *s = &node->stats;
	const struct flow_map *map = v->map;
	json_t *points = json_array(), *branches = json_array(), *j;

	for (size_t i = 0; i < map->n; i++) {
		const struct flow_point *p = &map->point[i];

		json_array_append_new(points,
				      json_pack("{s:s, s:b, s:I}", "point", p->name, "marked",
						p->n_code > 0, "passed", (json_int_t)s->passed[i]));
		for (size_t k = 0; k < p->n_next; k++)
			json_array_append_new(
				branches, json_pack("{s:s, s:s, s:I}", "from", p->name, "to",
						    map->point[p->next[k]].name, "taken",
						    (json_int_t)s->branch[p->first_branch + k]));
	}
	j = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:I}", "clock", node->name, "markers",
		      (json_int_t)s->told[FLOW_POINT], "points_passed",
		      (json_int_t)points_passed(v, s), "branches_taken",
		      (json_int_t)branches_taken(v, s), "points", points, "branches", branches,
		      "unresolved", (json_int_t)s->unresolved);
	for (unsigned w = FLOW_JUMP; w < FLOW_WHATS; w++)
		json_object_set_new(j, flow_what_name((enum flow_what)w),
				    json_integer((json_int_t)s->told[w]));
	return j;
}

int flow_view_json(struct flow_view *v, struct cvl_error *err)
{
	json_t *nodes = json_array(), *between = json_array(), *all;
	char *text;

	if (add_up(v)) {
		json_decref(nodes);
		json_decref(between);
		flow_stats_free(&v->all);
		return cvl_no_memory(err);
	}
	for (size_t i = 0; i < v->study.n; i++)
		if (v->study.node[i].has)
			json_array_append_new(nodes, node_json(v, &v->study.node[i]));
	for (size_t i = 0; i < v->study.pairs; i++)
		json_array_append_new(
			between, flow_times_json(&v->study.times[i],
						 v->map->point[v->study.times[i].pair.from].name,
						 v->map->point[v->study.times[i].pair.to].name));
	all = json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "session", report_text(v->path),
			"program", v->map->program, "points", (json_int_t)v->map->n, "branches",
			(json_int_t)v->map->branches, "points_passed",
			(json_int_t)points_passed(v, &v->all), "branches_taken",
			(json_int_t)branches_taken(v, &v->all), "nodes", nodes, "between", between);
	text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	flow_stats_free(&v->all);
	if (!text)
		return cvl_no_memory(err);
	cvl_out_bytes(v->out, text, strlen(text));
	cvl_out_char(v->out, '\n');
	free(text);
	return 0;
}
