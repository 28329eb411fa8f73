/* SPDX-License-Identifier: MIT */
#include "analysis/flow/study.h"

#include <stdlib.h>
#include <string.h>

static int emit(void *ctx, const struct flow_item *item)
{
	struct flow_node *node = ctx;
	struct flow_study *s = node->study;
	int rc = flow_stats_add(&node->stats, item, s->times, s->pairs);

	return rc || !s->item ? rc : s->item(s->ctx, node, item);
}

/* The map's pins in the streams. */
static int look_up(struct flow_study *s, struct cvl_timeline *tl, const struct cvl_slice *sl,
		   struct cvl_error *err)
{
	const struct flow_map *map = s->map;
	const struct cvl_trace *trace = cvl_timeline_trace(tl, sl->stream);
	struct flow_node *node = &s->node[sl->stream];
	size_t found = 0, missing = 0;
	int rc;

	for (size_t p = 0; p < map->n_pins; p++) {
		int bit = cvl_trace_line(trace, map->pin[p]);

		node->bit[p] = (uint8_t)(bit < 0 ? 0 : bit);
		found += bit >= 0;
		missing = bit < 0 ? p : missing;
	}
	node->study = s;
	node->name = cvl_session_clock(cvl_timeline_session(tl), sl->clock)->name;
	node->has = found == map->n_pins;
	if (!found)
		return 0;
	if (!node->has)
		return cvl_fail(
			err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"%s:%u:%u: %s has some of the pins, but no line %s; `coeval info` lists the lines, --node leaves others out",
			map->file, map->pins_line, map->pins_column, node->name, map->pin[missing]);
	rc = flow_stats_init(&node->stats, map, s->pairs);
	node->decoder = rc ? NULL : flow_decoder_new(map, s->from_start, emit, node);
	return node->decoder ? 0 : CVL_E_NOMEM;
}

static uint16_t levels_of(const struct flow_map *map, const struct flow_node *node, uint64_t all)
{
	unsigned levels = 0;

	for (size_t p = 0; p < map->n_pins; p++)
		levels |= (unsigned)(all >> node->bit[p] & 1) << p;
	return (uint16_t)levels;
}

/* While the level of a pin is unknown, nothing is known of the path. */
static int edge(struct flow_study *s, struct flow_node *node, const struct cvl_batch *b, size_t i,
		const struct flow_stamp *at)
{
	bool was = node->dark;

	node->dark = levels_of(s->map, node, b->aux[i]) != 0;
	if (node->dark)
		return was ? 0 : flow_decoder_gap(node->decoder, at, CVL_GAP_UNKNOWN);
	return flow_decoder_levels(node->decoder, at, levels_of(s->map, node, b->value[i]),
				   b->flags[i] & CVL_STATE);
}

static int slice(struct flow_study *s, struct cvl_timeline *tl, const struct cvl_slice *sl)
{
	struct flow_node *node = &s->node[sl->stream];
	const struct cvl_batch *b = sl->batch;
	int rc = 0;

	for (size_t i = sl->begin; node->has && i < sl->end && !rc; i++) {
		struct flow_stamp at;
		bool slip = b->kind[i] == CVL_SLIP || b->flags[i] & CVL_LATE;

		if (b->kind[i] != CVL_EDGE && b->kind[i] != CVL_GAP && !slip)
			continue;
		at.time = sl->time[i];
		at.bound = cvl_timeline_bound_parts(tl, sl, i);
		if (b->kind[i] == CVL_GAP || slip)
			rc = flow_decoder_gap(node->decoder, &at,
					      b->kind[i] == CVL_GAP ? (enum cvl_gap)b->cls[i] :
								      CVL_GAP_UNKNOWN);
		if (!rc && b->kind[i] == CVL_EDGE)
			rc = edge(s, node, b, i, &at);
	}
	return rc;
}

static int explain(const struct flow_study *s, int rc, struct cvl_error *err)
{
	if (rc == CVL_E_NOMEM)
		return cvl_no_memory(err);
	if (rc == CVL_E_LIMIT)
		return cvl_fail(
			err, CVL_E_LIMIT, CVL_NO_OFFSET,
			"%s: more times between two points than memory is spent on: look at a part by --from and --to",
			s->map->file);
	return rc;
}

int flow_study_run(struct flow_study *s, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct cvl_slice sl;
	bool any = false, read = false;
	int rc = 0;

	s->n = cvl_timeline_streams(tl);
	s->node = calloc(s->n + 1, sizeof(*s->node));
	if (!s->node)
		return explain(s, CVL_E_NOMEM, err);
	/* A stream's clock, and whether it is left out, is known once something of it was read. */
	while ((rc = cvl_timeline_next(tl, &sl, err)) > 0) {
		rc = s->node[sl.stream].study ? 0 : explain(s, look_up(s, tl, &sl, err), err);
		any = any || s->node[sl.stream].has;
		read = true;
		if (!rc)
			rc = explain(s, slice(s, tl, &sl), err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < s->n && !rc; i++)
		if (s->node[i].has)
			rc = explain(s, flow_decoder_end(s->node[i].decoder), err);
	if (!rc && !read)
		rc = cvl_fail(
			err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"there is no record where you ask for the path of %s (--node, --from, --to): `coeval info` tells what there is",
			s->map->file);
	else if (!rc && !any)
		rc = cvl_fail(
			err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"%s:%u:%u: no clock has edges of the lines that `pins` names, the first of them %s; `coeval info` lists the lines",
			s->map->file, s->map->pins_line, s->map->pins_column, s->map->pin[0]);
	return rc;
}

void flow_study_free(struct flow_study *s)
{
	for (size_t i = 0; s->node && i < s->n; i++) {
		flow_decoder_free(s->node[i].decoder);
		flow_stats_free(&s->node[i].stats);
	}
	free(s->node);
	s->node = NULL;
}
