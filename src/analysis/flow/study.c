/* SPDX-License-Identifier: MIT */
/* Flow maps on a timeline: the path of each node that has the map's pins. */
#include <stdlib.h>
#include <string.h>

#include "analysis/flow/stats.h"

struct node {
	struct flow *flow;
	const char *clock; /* belongs to the session; NULL: nothing read yet */
	bool has;          /* the pins, and edges */
	uint8_t bit[CVL_FLOW_PINS_MAX];
	bool dark; /* the level of one of these is unknown */
	struct flow_decoder *decoder;
	struct flow_stats stats;
};

struct flow {
	struct cvl_analysis base;
	struct cvl_flow_opts opts;
	const struct cvl_flow_map *map;
	struct cvl_timeline *tl;
	bool read;         /* anything read */
	struct node *node; /* of each stream of the timeline */
	size_t n;
	struct cvl_flow_times times[CVL_FLOW_PAIRS_MAX];
	struct cvl_flow_misfit misfit[CVL_FLOW_MISFITS_MAX];
	struct flow_stats all;
	struct cvl_flow_node *found;
	struct cvl_flow_result result;
};

static void keep_misfit(struct flow *f, const struct node *node, const struct cvl_flow_item *item)
{
	struct cvl_flow_misfit *m = &f->misfit[f->result.n_misfits];

	f->result.misfits++;
	if (f->result.n_misfits == CVL_FLOW_MISFITS_MAX)
		return;
	f->result.n_misfits++;
	*m = (struct cvl_flow_misfit){ .clock = node->clock, .item = *item };
	if (item->n_symbols)
		memcpy(m->symbol, item->symbol, item->n_symbols * sizeof(*m->symbol));
	m->item.symbol = m->symbol;
}

static int emit(void *ctx, const struct cvl_flow_item *item)
{
	struct node *node = ctx;
	struct flow *f = node->flow;
	int rc = flow_stats_add(&node->stats, item, f->times, f->opts.n_pairs);

	if (item->what != CVL_FLOW_POINT)
		keep_misfit(f, node, item);
	return rc || !f->opts.item ? rc : f->opts.item(f->opts.ctx, node->clock, item);
}

/*
 * Bits of the map's pins in the lines of @trace; returns how many exist, and one that is missing.
 */
static size_t find_pins(const struct cvl_flow_map *map, const struct cvl_trace *trace,
			uint8_t bit[CVL_FLOW_PINS_MAX], size_t *missing)
{
	size_t found = 0;

	for (size_t p = 0; p < map->n_pins; p++) {
		int at = cvl_trace_line(trace, map->pin[p]);

		bit[p] = (uint8_t)(at < 0 ? 0 : at);
		found += at >= 0;
		*missing = at < 0 ? p : *missing;
	}
	return found;
}

/* A stream's clock, and whether to skip it, is known once something was read. */
static int look_up(struct flow *f, const struct cvl_slice *sl, struct cvl_error *err)
{
	const struct cvl_flow_map *map = f->map;
	struct node *node = &f->node[sl->stream];
	size_t missing = 0;
	size_t found = find_pins(map, cvl_timeline_trace(f->tl, sl->stream), node->bit, &missing);

	node->flow = f;
	node->clock = cvl_session_clock(cvl_timeline_session(f->tl), sl->clock)->name;
	node->has = found == map->n_pins;
	if (!found)
		return 0;
	if (!node->has)
		return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
				"%s:%u:%u: %s has some of the pins, but no line %s", map->file,
				map->pins_line, map->pins_column, node->clock, map->pin[missing]);
	if (flow_stats_init(&node->stats, map, f->opts.n_pairs))
		return CVL_E_NOMEM;
	node->decoder = flow_decoder_new(map, f->opts.from_start, emit, node);
	return node->decoder ? 0 : CVL_E_NOMEM;
}

static uint16_t levels_of(const struct cvl_flow_map *map, const struct node *node, uint64_t all)
{
	unsigned levels = 0;

	for (size_t p = 0; p < map->n_pins; p++)
		levels |= (unsigned)(all >> node->bit[p] & 1) << p;
	return (uint16_t)levels;
}

/* While the level of a pin is unknown, nothing is known of the path. */
static int edge(struct flow *f, struct node *node, const struct cvl_batch *b, size_t i,
		const struct cvl_flow_stamp *at)
{
	bool was = node->dark;

	node->dark = levels_of(f->map, node, b->aux[i]) != 0;
	if (node->dark)
		return was ? 0 : flow_decoder_gap(node->decoder, at, CVL_GAP_UNKNOWN);
	return flow_decoder_levels(node->decoder, at, levels_of(f->map, node, b->value[i]),
				   b->flags[i] & CVL_STATE);
}

static int slice(struct flow *f, const struct cvl_slice *sl)
{
	struct node *node = &f->node[sl->stream];
	const struct cvl_batch *b = sl->batch;
	int rc = 0;

	for (size_t i = sl->begin; node->has && i < sl->end && !rc; i++) {
		struct cvl_flow_stamp at;
		bool slip = b->kind[i] == CVL_SLIP || b->flags[i] & CVL_LATE;

		if (b->kind[i] != CVL_EDGE && b->kind[i] != CVL_GAP && !slip)
			continue;
		at.time = sl->time[i];
		at.bound = cvl_timeline_bound_parts(f->tl, sl, i);
		if (b->kind[i] == CVL_GAP || slip)
			rc = flow_decoder_gap(node->decoder, &at,
					      b->kind[i] == CVL_GAP ? (enum cvl_gap)b->cls[i] :
								      CVL_GAP_UNKNOWN);
		if (!rc && b->kind[i] == CVL_EDGE)
			rc = edge(f, node, b, i, &at);
	}
	return rc;
}

static int explain(const struct flow *f, int rc, struct cvl_error *err)
{
	if (rc == CVL_E_NOMEM)
		return cvl_no_memory(err);
	if (rc == CVL_E_LIMIT)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: too many times between two points: look at a part",
				f->map->file);
	return rc;
}

/* Any edge ends the settle time, so all are needed. */
static void want(struct cvl_analysis *a, size_t stream, struct cvl_pick *pick)
{
	const struct flow *f = (const struct flow *)a;
	uint8_t bit[CVL_FLOW_PINS_MAX];
	size_t missing;

	if (!find_pins(f->map, cvl_timeline_trace(f->tl, stream), bit, &missing))
		return;
	pick->kinds = 1u << CVL_EDGE;
	pick->lines = UINT64_MAX;
}

static int push(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct flow *f = (struct flow *)a;
	int rc = f->node[sl->stream].clock ? 0 : look_up(f, sl, err);

	f->read = true;
	return explain(f, rc ? rc : slice(f, sl), err);
}

/* ---- the result ---- */

static void sum_up(const struct cvl_flow_map *map, const struct flow_stats *s,
		   struct cvl_flow_node *out)
{
	out->passed = s->passed;
	out->branch = s->branch;
	out->unresolved = s->unresolved;
	memcpy(out->items, s->told, sizeof(out->items));
	for (size_t i = 0; i < map->n; i++)
		out->points_passed += s->passed[i] > 0;
	for (uint64_t i = 0; i < map->branches; i++)
		out->branches_taken += s->branch[i] > 0;
}

static int conclude(struct flow *f)
{
	struct cvl_flow_result *r = &f->result;

	f->found = calloc(f->n + 1, sizeof(*f->found));
	if (!f->found || flow_stats_init(&f->all, f->map, 0))
		return CVL_E_NOMEM;
	for (size_t i = 0; i < f->n; i++) {
		const struct flow_stats *s = &f->node[i].stats;

		if (!f->node[i].has)
			continue;
		f->found[r->n_nodes].clock = f->node[i].clock;
		sum_up(f->map, s, &f->found[r->n_nodes++]);
		f->all.unresolved += s->unresolved;
		for (size_t k = 0; k < f->map->n; k++)
			f->all.passed[k] += s->passed[k];
		for (size_t k = 0; k < f->map->branches; k++)
			f->all.branch[k] += s->branch[k];
		for (size_t k = 0; k < CVL_FLOW_WHATS; k++)
			f->all.told[k] += s->told[k];
	}
	r->node = f->found;
	sum_up(f->map, &f->all, &r->all);
	for (size_t i = 0; i < r->n_times; i++)
		if (durations_conclude(&f->times[i].times))
			return CVL_E_NOMEM;
	return 0;
}

static int end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	struct flow *f = (struct flow *)a;
	const struct cvl_flow_map *map = f->map;
	bool any = false;
	int rc = 0;

	(void)last;
	for (size_t i = 0; i < f->n && !rc; i++) {
		any = any || f->node[i].has;
		if (f->node[i].has)
			rc = flow_decoder_end(f->node[i].decoder);
	}
	if (!rc && !f->read)
		return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
				"no record of %s in the requested range", map->file);
	if (!rc && !any)
		return cvl_fail(
			err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"%s:%u:%u: no clock has edges of the lines that `pins` names, the first of them %s",
			map->file, map->pins_line, map->pins_column, map->pin[0]);
	return explain(f, rc ? rc : conclude(f), err);
}

static void release(struct cvl_analysis *a)
{
	struct flow *f = (struct flow *)a;

	for (size_t i = 0; i < f->n; i++) {
		flow_decoder_free(f->node[i].decoder);
		flow_stats_free(&f->node[i].stats);
	}
	for (size_t i = 0; i < f->opts.n_pairs; i++)
		durations_free(&f->times[i].times);
	flow_stats_free(&f->all);
	free(f->found);
	free(f->node);
	free(f);
}

static int check_point(const struct cvl_flow_map *map, uint32_t point, struct cvl_error *err)
{
	if (point >= map->n)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s has no such point", map->file);
	if (!map->point[point].n_code)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s has no marker (%s:%u:%u), so the time of passing it is unknown",
				map->point[point].name, map->file, map->point[point].line,
				map->point[point].column);
	return 0;
}

static int set_up(struct flow *f, const struct cvl_flow_opts *opts, struct cvl_error *err)
{
	int rc = 0;

	if (opts->n_pairs > CVL_FLOW_PAIRS_MAX)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "more than %d pairs of points",
				CVL_FLOW_PAIRS_MAX);
	f->opts = *opts;
	for (size_t i = 0; i < opts->n_pairs && !rc; i++) {
		f->times[i].pair = opts->pair[i];
		rc = check_point(f->map, opts->pair[i].from, err);
		if (!rc)
			rc = check_point(f->map, opts->pair[i].to, err);
	}
	f->node = calloc(cvl_timeline_streams(f->tl) + 1, sizeof(*f->node));
	if (!rc && !f->node)
		return cvl_no_memory(err);
	f->n = f->node ? cvl_timeline_streams(f->tl) : 0;
	return rc;
}

int cvl_flow_open(struct cvl_analysis **a, struct cvl_timeline *tl,
		  const struct cvl_flow_opts *opts, struct cvl_error *err)
{
	static const struct cvl_analysis_kind kind = {
		.name = "flow", .want = want, .push = push, .end = end, .free = release
	};
	struct flow *f = calloc(1, sizeof(*f));
	int rc;

	*a = NULL;
	if (!f)
		return cvl_no_memory(err);
	f->base.kind = &kind;
	f->tl = tl;
	f->map = opts->map;
	rc = set_up(f, opts, err);
	f->result.map = f->map;
	f->result.times = f->times;
	f->result.n_times = f->opts.n_pairs;
	f->result.misfit = f->misfit;
	if (rc)
		release(&f->base);
	else
		*a = &f->base;
	return rc;
}

const struct cvl_flow_result *cvl_flow_result(const struct cvl_analysis *a)
{
	const struct flow *f = (const struct flow *)a;

	return &f->result;
}
