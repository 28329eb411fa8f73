/* SPDX-License-Identifier: MIT */
/* The path of a program, item by item. */
#include "flow/view.h"

#include <coeval/record.h>

#include <string.h>

static void put_bound(struct cvl_out *o, struct cvl_bound b)
{
	char text[CVL_TIME_TEXT];
	int64_t all = cvl_bound_total(b);

	if (all == CVL_BOUND_UNKNOWN) {
		cvl_out_text(o, " +-?");
		return;
	}
	cvl_bound_text(text, all);
	cvl_out_text(o, " +-");
	cvl_out_text(o, text);
}

/* What is wrong with an item that is no point. */
static void put_what(struct cvl_out *o, const struct flow_map *map, const struct flow_item *item)
{
	char symbols[FLOW_SYMBOLS_TEXT];
	const char *after = item->point == FLOW_NONE ? NULL : map->point[item->point].name;

	if (item->what == FLOW_GAP) {
		cvl_out_printf(o, "gap: %s", cvl_gap_name(item->why));
		return;
	}
	if (item->what == FLOW_GLITCH) {
		cvl_out_text(o, "glitch: pins changed and were back within the settle time");
		return;
	}
	flow_symbols_text(map, item->symbol, item->n_symbols, symbols);
	cvl_out_printf(o, "%s: %s%s", flow_what_name(item->what), symbols,
		       item->n > item->n_symbols ? " ..." : "");
	if (item->n > 1)
		cvl_out_printf(o, " (%llu changes)", (unsigned long long)item->n);
	cvl_out_text(o, item->what == FLOW_JUMP       ? ", to which no path leads" :
			item->what == FLOW_UNEXPECTED ? ", which fits no path" :
			item->what == FLOW_UNDECIDED  ? ", which fits several paths" :
							", a part of a code");
	if (after)
		cvl_out_printf(o, ", after %s", after);
}

static void put_via(struct flow_view *v, const struct flow_item *item)
{
	uint32_t path[FLOW_POINTS_MAX];
	int n;

	if (!item->follows)
		return;
	n = flow_map_between(v->map, item->before, item->point, path);
	if (v->json) {
		cvl_out_text(v->out, ",\"via\":");
		cvl_out_text(v->out, n < 0 ? "null" : "[");
		for (int i = 0; i < n; i++)
			cvl_out_printf(v->out, "%s\"%s\"", i ? "," : "",
				       v->map->point[path[i]].name);
		cvl_out_text(v->out, n < 0 ? "" : "]");
		return;
	}
	if (n < 0)
		cvl_out_text(v->out, "  by one of several ways");
	for (int i = 0; i < n; i++)
		cvl_out_printf(v->out, "%s%s", i ? ", " : "  by ", v->map->point[path[i]].name);
}

static void put_json(struct flow_view *v, const struct flow_node *node,
		     const struct flow_item *item)
{
	struct cvl_out *o = v->out;
	int64_t bound = cvl_bound_total(item->begin.bound);

	cvl_out_text(o, "{\"t_ns\":");
	cvl_out_i64(o, item->begin.time.ns);
	cvl_out_text(o, ",\"bound_ns\":");
	if (bound == CVL_BOUND_UNKNOWN)
		cvl_out_text(o, "null");
	else
		cvl_out_i64(o, bound);
	cvl_out_text(o, ",\"end_ns\":");
	cvl_out_i64(o, item->end.time.ns);
	cvl_out_text(o, ",\"clock\":");
	cvl_out_json(o, node->name, strlen(node->name));
	cvl_out_printf(o, ",\"what\":\"%s\"", flow_what_name(item->what));
	if (item->what == FLOW_POINT) {
		cvl_out_printf(o, ",\"point\":\"%s\",\"follows\":%s",
			       v->map->point[item->point].name, item->follows ? "true" : "false");
		put_via(v, item);
	} else {
		char symbols[FLOW_SYMBOLS_TEXT];

		flow_symbols_text(v->map, item->symbol, item->n_symbols, symbols);
		if (item->point != FLOW_NONE)
			cvl_out_printf(o, ",\"after\":\"%s\"", v->map->point[item->point].name);
		if (item->n) {
			cvl_out_printf(o, ",\"n\":%llu,\"changes\":", (unsigned long long)item->n);
			cvl_out_json(o, symbols, strlen(symbols));
		}
		if (item->what == FLOW_GAP)
			cvl_out_printf(o, ",\"why\":\"%s\"", cvl_gap_name(item->why));
	}
	cvl_out_text(o, "}\n");
}

void flow_view_item(struct flow_view *v, const struct flow_node *node, const struct flow_item *item)
{
	struct cvl_out *o = v->out;

	if (v->json) {
		put_json(v, node, item);
		return;
	}
	cvl_out_time(o, item->begin.time, 14);
	put_bound(o, item->begin.bound);
	cvl_out_text(o, "  ");
	cvl_out_name(o, node->name);
	cvl_out_text(o, "  ");
	if (item->what != FLOW_POINT) {
		cvl_out_text(o, "-- ");
		put_what(o, v->map, item);
	} else {
		cvl_out_text(o, v->map->point[item->point].name);
		if (v->map->point[item->point].at)
			cvl_out_printf(o, "  %s", v->map->point[item->point].at);
		put_via(v, item);
	}
	cvl_out_char(o, '\n');
}

void flow_view_keep(struct flow_view *v, const struct flow_node *node, const struct flow_item *item)
{
	struct flow_misfit *m = &v->misfit[v->n_misfits];

	if (item->what == FLOW_POINT)
		return;
	v->misfits++;
	if (v->n_misfits == FLOW_MISFITS_SHOWN)
		return;
	v->n_misfits++;
	*m = (struct flow_misfit){ .node = node, .item = *item };
	if (item->n_symbols)
		memcpy(m->symbol, item->symbol, item->n_symbols * sizeof(*m->symbol));
	m->item.symbol = m->symbol;
}
