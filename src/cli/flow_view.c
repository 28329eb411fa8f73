/* SPDX-License-Identifier: MIT */
/* The summary of `coeval flow`: coverage, what did not fit, times. */
#include "cli/flow_view.h"

#include <jansson.h>
#include <string.h>

#include "cli/report.h"

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
	out_text(v->out, v->begun ? "\n" : "");
	v->begun = true;
}

static void put_missed(struct flow_view *v, const struct flow_stats *s)
{
	const struct flow_map *map = v->map;
	struct out *o = v->out;
	unsigned n = 0;

	for (size_t i = 0; i < map->n; i++)
		if (!s->passed[i])
			out_printf(o, "%s%s", n++ ? ", " : "  not passed: ", map->point[i].name);
	out_text(o, n ? "\n" : "");
	n = 0;
	for (size_t i = 0; i < map->n; i++)
		for (size_t k = 0; k < map->point[i].n_next; k++)
			if (!s->branch[map->point[i].first_branch + k])
				out_printf(o, "%s%s -> %s",
					   n++ ? ", " : "  not taken: ", map->point[i].name,
					   map->point[map->point[i].next[k]].name);
	out_text(o, n ? "\n" : "");
}

static void put_coverage(struct flow_view *v, const struct flow_stats *s)
{
	const struct flow_map *map = v->map;
	struct out *o = v->out;

	out_printf(o, "%llu of %zu points passed", (unsigned long long)points_passed(v, s), map->n);
	if (map->graph)
		out_printf(o, ", %llu of %llu branches taken",
			   (unsigned long long)branches_taken(v, s),
			   (unsigned long long)map->branches);
	out_char(o, '\n');
}

static void put_node(struct flow_view *v, const struct flow_node *node)
{
	const struct flow_stats *s = &node->stats;
	const struct flow_map *map = v->map;
	struct out *o = v->out;
	struct table t;

	begin(v);
	out_printf(o, "%s: ", node->name);
	cli_count(o, s->told[FLOW_POINT], "marker");
	out_text(o, ", ");
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
		out_text(o, "  between ");
		cli_count(o, s->unresolved, "pair");
		out_text(o,
			 " of markers several ways lead: what they passed there is not counted\n");
	}
	for (unsigned w = FLOW_JUMP; w < FLOW_WHATS; w++)
		if (s->told[w])
			out_printf(o, "  %s: %llu\n", flow_what_name((enum flow_what)w),
				   (unsigned long long)s->told[w]);
}

static void put_misfits(struct flow_view *v)
{
	if (!v->misfits)
		return;
	begin(v);
	out_text(v->out, "what did not fit:\n");
	for (size_t i = 0; i < v->n_misfits; i++)
		flow_view_item(v, v->misfit[i].node, &v->misfit[i].item);
	if (v->misfits > v->n_misfits)
		out_printf(v->out, "  and %llu more: --path shows them all\n",
			   (unsigned long long)(v->misfits - v->n_misfits));
}

static void put_figure(struct table *t, const char *name, const struct flow_figure *f)
{
	char bound[CVL_TIME_TEXT];
	int64_t below = f->value - f->low, above = f->high - f->value;

	cvl_bound_text(bound, below > above ? below : above);
	table_cell(t, "%s", name);
	table_cell(t, "%lld.%03lld us", (long long)(f->value / 1000), (long long)(f->value % 1000));
	table_cell(t, "+-%s", bound);
}

static void percentile_name(unsigned permille, char name[16])
{
	if (permille % 10)
		snprintf(name, 16, "%u.%u %%", permille / 10, permille % 10);
	else
		snprintf(name, 16, "%u %%", permille / 10);
}

static void put_bins(struct out *o, const struct flow_times *times)
{
	struct flow_bins b;
	struct table t;

	flow_bins_fill(&b, times);
	table_init(&t, 3);
	table_heads(&t, (const char *[]){ "from us", "", "times", NULL });
	for (size_t i = 0; i < b.n; i++) {
		int64_t from = b.first + b.width * (int64_t)i;
		int len = (int)((b.count[i] * 40 + b.most - 1) / b.most);

		table_cell(&t, "%s%lld.%03lld", from < 0 ? "-" : "",
			   (long long)(llabs(from) / 1000), (long long)(llabs(from) % 1000));
		table_cell(&t, "%.*s", len, "########################################");
		table_cell(&t, "%llu", (unsigned long long)b.count[i]);
	}
	table_print(&t, o, "rlr", "  ");
}

static int put_times(struct flow_view *v, const struct flow_times *times)
{
	const struct flow_map *map = v->map;
	struct flow_sum sum;
	struct out *o = v->out;
	struct table t;

	begin(v);
	out_printf(o, "%s to %s: ", map->point[times->pair.from].name,
		   map->point[times->pair.to].name);
	cli_count(o, times->n, "time");
	if (times->broken) {
		out_printf(
			o,
			", and %llu not counted, as something was lost or did not fit in between",
			(unsigned long long)times->broken);
	}
	out_char(o, '\n');
	if (!times->n)
		return 0;
	if (flow_times_sum(times, &sum))
		return CVL_E_NOMEM;
	table_init(&t, 3);
	put_figure(&t, "best", &sum.best);
	put_figure(&t, "mean", &sum.mean);
	for (unsigned i = 0; i < FLOW_PERCENTILES; i++) {
		char name[16];

		percentile_name(flow_permille[i], name);
		put_figure(&t, name, &sum.percentile[i]);
	}
	put_figure(&t, "worst", &sum.worst);
	table_print(&t, o, "lrr", "  ");
	out_char(o, '\n');
	put_bins(o, times);
	return 0;
}

static int no_memory(struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

int flow_view_text(struct flow_view *v, struct cvl_error *err)
{
	int rc = add_up(v);

	for (size_t i = 0; !rc && i < v->study.n; i++)
		if (v->study.node[i].has)
			put_node(v, &v->study.node[i]);
	if (!rc && v->nodes > 1) {
		begin(v);
		out_printf(v->out, "all %zu nodes: ", v->nodes);
		put_coverage(v, &v->all);
		put_missed(v, &v->all);
	}
	if (!rc)
		put_misfits(v);
	for (size_t i = 0; i < v->study.pairs && !rc; i++)
		rc = put_times(v, &v->study.times[i]);
	flow_stats_free(&v->all);
	return rc ? no_memory(err) : 0;
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

static json_t *figure_json(const struct flow_figure *f)
{
	return json_pack("{s:I, s:I, s:I}", "ns", (json_int_t)f->value, "low_ns",
			 (json_int_t)f->low, "high_ns", (json_int_t)f->high);
}

static json_t *times_json(const struct flow_view *v, const struct flow_times *t)
{
	json_t *bins = json_array(), *percentiles = json_array(), *j;
	struct flow_sum sum;
	struct flow_bins b;

	j = json_pack("{s:s, s:s, s:I, s:I}", "from", v->map->point[t->pair.from].name, "to",
		      v->map->point[t->pair.to].name, "times", (json_int_t)t->n, "not_counted",
		      (json_int_t)t->broken);
	if (t->n && !flow_times_sum(t, &sum)) {
		for (unsigned i = 0; i < FLOW_PERCENTILES; i++) {
			json_t *one = figure_json(&sum.percentile[i]);

			json_object_set_new(one, "permille",
					    json_integer((json_int_t)flow_permille[i]));
			json_array_append_new(percentiles, one);
		}
		flow_bins_fill(&b, t);
		for (size_t i = 0; i < b.n; i++)
			json_array_append_new(
				bins, json_pack("{s:I, s:I}", "from_ns",
						(json_int_t)(b.first + b.width * (int64_t)i),
						"times", (json_int_t)b.count[i]));
		json_object_set_new(j, "best", figure_json(&sum.best));
		json_object_set_new(j, "mean", figure_json(&sum.mean));
		json_object_set_new(j, "worst", figure_json(&sum.worst));
	}
	json_object_set_new(j, "percentiles", percentiles);
	json_object_set_new(j, "histogram", bins);
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
		return no_memory(err);
	}
	for (size_t i = 0; i < v->study.n; i++)
		if (v->study.node[i].has)
			json_array_append_new(nodes, node_json(v, &v->study.node[i]));
	for (size_t i = 0; i < v->study.pairs; i++)
		json_array_append_new(between, times_json(v, &v->study.times[i]));
	all = json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "session", report_text(v->path),
			"program", v->map->program, "points", (json_int_t)v->map->n, "branches",
			(json_int_t)v->map->branches, "points_passed",
			(json_int_t)points_passed(v, &v->all), "branches_taken",
			(json_int_t)branches_taken(v, &v->all), "nodes", nodes, "between", between);
	text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	flow_stats_free(&v->all);
	if (!text)
		return no_memory(err);
	out_bytes(v->out, text, strlen(text));
	out_char(v->out, '\n');
	free(text);
	return 0;
}
