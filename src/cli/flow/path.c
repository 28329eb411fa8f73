/* SPDX-License-Identifier: MIT */
/* The path of a program, item by item. */
#include "flow/view.h"

#include <coeval/record.h>

#include "json.h"

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

/* Description of an item that is not a point. */
static void put_what(struct cvl_out *o, const struct cvl_flow_map *map,
		     const struct cvl_flow_item *item)
{
	char symbols[CVL_FLOW_SYMBOLS_TEXT];
	const char *after = item->point == CVL_FLOW_NONE ? NULL : map->point[item->point].name;

	if (item->what == CVL_FLOW_GAP) {
		cvl_out_printf(o, "gap: %s", cvl_gap_name(item->why));
		return;
	}
	if (item->what == CVL_FLOW_GLITCH) {
		cvl_out_text(o, "glitch: pins changed and were back within the settle time");
		return;
	}
	cvl_flow_symbols_text(map, item->symbol, item->n_symbols, symbols);
	cvl_out_printf(o, "%s: %s%s", cvl_flow_what_name(item->what), symbols,
		       item->n > item->n_symbols ? " ..." : "");
	if (item->n > 1)
		cvl_out_printf(o, " (%llu changes)", (unsigned long long)item->n);
	cvl_out_text(o, item->what == CVL_FLOW_JUMP       ? ", to which no path leads" :
			item->what == CVL_FLOW_UNEXPECTED ? ", which fits no path" :
			item->what == CVL_FLOW_UNDECIDED  ? ", which fits several paths" :
							    ", a part of a code");
	if (after)
		cvl_out_printf(o, ", after %s", after);
}

static void put_point(struct cvl_out *o, const struct cvl_flow_map *map,
		      const struct cvl_flow_item *item)
{
	uint32_t path[CVL_FLOW_POINTS_MAX];
	int n = 0;

	cvl_out_text(o, map->point[item->point].name);
	if (map->point[item->point].at)
		cvl_out_printf(o, "  %s", map->point[item->point].at);
	if (item->follows)
		n = cvl_flow_map_between(map, item->before, item->point, path);
	if (n < 0)
		cvl_out_text(o, "  by one of several ways");
	for (int i = 0; i < n; i++)
		cvl_out_printf(o, "%s%s", i ? ", " : "  by ", map->point[path[i]].name);
}

static void put_via(struct js *j, const struct cvl_flow_map *map, const struct cvl_flow_item *item)
{
	uint32_t path[CVL_FLOW_POINTS_MAX];
	int n = cvl_flow_map_between(map, item->before, item->point, path);

	if (n < 0) {
		js_text(j, "via", NULL);
		return;
	}
	js_open(j, "via", '[');
	for (int i = 0; i < n; i++)
		js_text(j, NULL, map->point[path[i]].name);
	js_close(j, ']');
}

static void put_json(struct cvl_out *o, const struct cvl_flow_map *map, const char *clock,
		     const struct cvl_flow_item *item)
{
	char symbols[CVL_FLOW_SYMBOLS_TEXT];
	struct js line = js_begin(o), *j = &line;

	js_int(j, "t_ns", item->begin.time.ns);
	js_bound(j, "bound_ns", cvl_bound_total(item->begin.bound));
	js_int(j, "end_ns", item->end.time.ns);
	js_texts(j, "clock what", clock, cvl_flow_what_name(item->what));
	if (item->what == CVL_FLOW_POINT) {
		js_text(j, "point", map->point[item->point].name);
		js_bool(j, "follows", item->follows);
		if (item->follows)
			put_via(j, map, item);
	} else if (item->point != CVL_FLOW_NONE) {
		js_text(j, "after", map->point[item->point].name);
	}
	if (item->what != CVL_FLOW_POINT && item->n) {
		cvl_flow_symbols_text(map, item->symbol, item->n_symbols, symbols);
		js_count(j, "n", item->n);
		js_text(j, "changes", symbols);
	}
	if (item->what == CVL_FLOW_GAP)
		js_text(j, "why", cvl_gap_name(item->why));
	js_end(j);
}

void flow_view_item(const struct cvl_flow_map *map, const char *clock,
		    const struct cvl_flow_item *item, bool json, struct cvl_out *o)
{
	if (json) {
		put_json(o, map, clock, item);
		return;
	}
	cvl_out_time(o, item->begin.time, 14);
	put_bound(o, item->begin.bound);
	cvl_out_text(o, "  ");
	cvl_out_name(o, clock);
	cvl_out_text(o, "  ");
	if (item->what == CVL_FLOW_POINT) {
		put_point(o, map, item);
	} else {
		cvl_out_text(o, "-- ");
		put_what(o, map, item);
	}
	cvl_out_char(o, '\n');
}
