/* SPDX-License-Identifier: MIT */
#include "analysis/flow/search.h"

#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>

/* Predecessors of an entry. */
#define NOTHING UINT32_MAX      /* the search began with it */
#define MERGED (UINT32_MAX - 1) /* several paths lead to it */

int flow_search_init(struct flow_search *d, const struct cvl_flow_map *map, bool from_start,
		     int (*emit)(void *ctx, const struct cvl_flow_item *item), void *ctx)
{
	size_t states = map->n * (CVL_FLOW_CODE_MAX + 1);

	*d = (struct flow_search){ .map = map,
				   .emit = emit,
				   .ctx = ctx,
				   .locked = CVL_FLOW_NONE,
				   .last = CVL_FLOW_NONE,
				   .at_start = from_start,
				   .joined = from_start };
	d->place = calloc(states, sizeof(*d->place));
	d->made = calloc(states, sizeof(*d->made));
	return d->place && d->made ? 0 : CVL_E_NOMEM;
}

void flow_search_free(struct flow_search *d)
{
	free(d->step);
	free(d->entry);
	free(d->place);
	free(d->made);
}

/* ---- output ---- */

static size_t step_end(const struct flow_search *d, size_t step)
{
	return step + 1 < d->steps ? d->step[step + 1].first : d->entries;
}

static int tell_steps(struct flow_search *d, enum cvl_flow_what what, size_t from, size_t to)
{
	uint16_t symbol[CVL_FLOW_SYMBOLS_TOLD];
	struct cvl_flow_item item = { .what = what, .point = d->last, .symbol = symbol };

	if (from >= to)
		return 0;
	item.begin = d->step[from].stamp;
	item.end = d->step[to - 1].stamp;
	item.n = to - from;
	item.n_symbols = item.n < CVL_FLOW_SYMBOLS_TOLD ? (size_t)item.n : CVL_FLOW_SYMBOLS_TOLD;
	for (size_t i = 0; i < item.n_symbols; i++)
		symbol[i] = d->step[from + i].symbol;
	d->joined = false;
	return d->emit(d->ctx, &item);
}

/*
 * The latest entry common to all hypotheses, and its step: that of the last step if it is the only
 * one. Returns false if they have none in common.
 */
static bool common(const struct flow_search *d, size_t *step, uint32_t *entry, uint32_t *scratch)
{
	size_t n = 0, at = d->steps - 1;

	for (size_t i = d->step[at].first; i < d->entries; i++)
		scratch[n++] = (uint32_t)i;
	while (n > 1) {
		size_t kept = 0;

		if (!at)
			return false;
		for (size_t i = 0; i < n; i++) {
			uint32_t back = d->entry[scratch[i]].back;

			if (back >= MERGED)
				return false;
			/* Entries are in the order of their predecessors. */
			if (!kept || scratch[kept - 1] != back)
				scratch[kept++] = back;
		}
		n = kept;
		at--;
	}
	*step = at;
	*entry = scratch[0];
	return n == 1;
}

/*
 * Emit the points of the path that ends with @entry at @step whose codes are complete, and whatever
 * was seen before the path begins. Sets @next to the first step that is not emitted.
 */
static int tell_path(struct flow_search *d, size_t step, uint32_t entry, size_t *next)
{
	enum cvl_flow_what before = CVL_FLOW_UNDECIDED;
	size_t first = step;
	uint32_t *path = calloc(step + 1, sizeof(*path));
	int rc = 0;

	if (!path)
		return CVL_E_NOMEM;
	for (uint32_t e = entry;; first--) {
		path[first] = e;
		e = d->entry[e].back;
		if (e >= MERGED)
			break;
	}
	if (!first) /* the search may have begun within a code */
		before = CVL_FLOW_CUT;
	while (first <= step && d->entry[path[first]].offset != 1)
		first++;
	*next = 0;
	if (first > step) {
		free(path);
		return 0;
	}
	rc = tell_steps(d, before, 0, first);
	*next = first;
	for (size_t i = first, begin = first; i <= step && !rc; i++) {
		const struct flow_entry *e = &d->entry[path[i]];
		struct cvl_flow_item item = { .what = CVL_FLOW_POINT, .point = e->point };

		if (e->offset == 1)
			begin = i;
		if (e->offset != d->map->point[e->point].n_code)
			continue;
		item.begin = d->step[begin].stamp;
		item.end = d->step[i].stamp;
		item.follows = d->joined;
		item.before = d->last;
		*next = i + 1;
		d->joined = true;
		d->last = e->point;
		rc = d->emit(d->ctx, &item);
	}
	free(path);
	return rc;
}

static void drop(struct flow_search *d, uint32_t locked)
{
	d->steps = d->entries = 0;
	d->locked = locked;
}

int flow_search_flush(struct flow_search *d, enum cvl_flow_what rest)
{
	uint32_t *scratch, entry;
	size_t step, told = 0;
	/* A search from anywhere that never settled fitted more than one path. */
	enum cvl_flow_what before = d->locked == CVL_FLOW_NONE ? CVL_FLOW_UNDECIDED : rest;
	bool one;
	int rc = 0;

	if (!d->steps) {
		drop(d, CVL_FLOW_NONE);
		return 0;
	}
	if (d->doubt) {
		rc = tell_steps(d, rest == CVL_FLOW_CUT ? CVL_FLOW_UNDECIDED : rest, 0, d->steps);
		drop(d, CVL_FLOW_NONE);
		return rc;
	}
	scratch = calloc(d->entries - d->step[d->steps - 1].first + 1, sizeof(*scratch));
	if (!scratch)
		return CVL_E_NOMEM;
	one = d->entries > d->step[d->steps - 1].first && common(d, &step, &entry, scratch);
	free(scratch);
	if (one)
		rc = tell_path(d, step, entry, &told);
	if (!rc)
		rc = tell_steps(d, one || d->steps == 1 ? rest : before, told, d->steps);
	drop(d, CVL_FLOW_NONE);
	return rc;
}

/* ---- symbols ---- */

static int add(struct flow_search *d, uint32_t point, size_t offset, uint32_t back)
{
	size_t state = point * (CVL_FLOW_CODE_MAX + 1) + offset;

	if (d->made[state] == d->round) {
		d->entry[d->place[state]].back = MERGED;
		return 0;
	}
	if (cvl_room(&d->entry, d->entries, &d->room_entries, sizeof(*d->entry)))
		return CVL_E_NOMEM;
	d->made[state] = d->round;
	d->place[state] = (uint32_t)d->entries;
	d->entry[d->entries++] = (struct flow_entry){ point, back, (uint16_t)offset };
	return 0;
}

/* Add the points after @point (CVL_FLOW_NONE: the first) whose code begins with @symbol. */
static int add_following(struct flow_search *d, uint32_t point, uint16_t symbol, uint32_t back)
{
	size_t n, low = 0, high;
	const uint32_t *next = flow_map_follow(d->map, point, &n);
	int rc = 0;

	high = n;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->map->point[next[middle]].code[0] < symbol)
			low = middle + 1;
		else
			high = middle;
	}
	for (; !rc && low < n && d->map->point[next[low]].code[0] == symbol; low++)
		rc = add(d, next[low], 1, back);
	return rc;
}

static int add_anywhere(struct flow_search *d, uint16_t symbol)
{
	int rc = 0;

	for (uint32_t p = 0; p < d->map->n; p++)
		for (size_t k = 0; !rc && k < d->map->point[p].n_code; k++)
			if (d->map->point[p].code[k] == symbol)
				rc = add(d, p, k + 1, NOTHING);
	return rc;
}

static int advance(struct flow_search *d, size_t step, uint16_t symbol)
{
	size_t end = step_end(d, step);
	int rc = 0;

	for (size_t i = d->step[step].first; !rc && i < end; i++) {
		const struct flow_entry e = d->entry[i];
		const struct cvl_flow_point *p = &d->map->point[e.point];

		if (e.offset == p->n_code)
			rc = add_following(d, e.point, symbol, (uint32_t)i);
		else if (p->code[e.offset] == symbol)
			rc = add(d, e.point, e.offset + 1u, (uint32_t)i);
	}
	return rc;
}

/* Number of whole codes on the way to an entry that ends one. */
static unsigned whole_codes(const struct flow_search *d, uint32_t entry)
{
	unsigned n = 0;

	for (; entry < MERGED; entry = d->entry[entry].back)
		n += d->entry[entry].offset == 1;
	return n;
}

/*
 * Settle if only one way is left and ends with a whole code. After a change that did not fit, two
 * consecutive whole codes are required: a spurious change makes a code with its neighbours.
 */
static int settle(struct flow_search *d)
{
	const struct flow_entry *e = &d->entry[d->entries - 1];
	uint32_t point = e->point;
	size_t told;
	int rc;

	if (d->entries - d->step[d->steps - 1].first != 1 ||
	    e->offset != d->map->point[point].n_code ||
	    (d->doubt && whole_codes(d, (uint32_t)(d->entries - 1)) < 2))
		return 0;
	d->doubt = false;
	rc = tell_path(d, d->steps - 1, (uint32_t)(d->entries - 1), &told);
	/*
		 * Nothing was emitted if the code began before the search: its rest is all there
		 * is.
	 */
	if (!rc && told < d->steps)
		rc = tell_steps(d, CVL_FLOW_CUT, told, d->steps);
	drop(d, point);
	return rc;
}

static int symbol(struct flow_search *d, uint16_t symbol, const struct cvl_flow_stamp *stamp)
{
	bool fresh = !d->steps, anywhere = fresh && d->locked == CVL_FLOW_NONE && !d->at_start;
	int rc;

	if (cvl_room(&d->step, d->steps, &d->room_steps, sizeof(*d->step)))
		return CVL_E_NOMEM;
	if (++d->round == 0) {
		memset(d->made, 0, d->map->n * (CVL_FLOW_CODE_MAX + 1) * sizeof(*d->made));
		d->round = 1;
	}
	d->step[d->steps++] =
		(struct flow_step){ .stamp = *stamp, .first = d->entries, .symbol = symbol };
	if (anywhere)
		rc = add_anywhere(d, symbol);
	else if (fresh)
		rc = add_following(d, d->locked, symbol, NOTHING);
	else
		rc = advance(d, d->steps - 2, symbol);
	d->at_start = false;
	if (rc)
		return rc;
	if (d->entries > d->step[d->steps - 1].first)
		return d->entries > FLOW_HELD ? flow_search_flush(d, CVL_FLOW_UNDECIDED) :
						settle(d);
	if (anywhere) {
		d->doubt = d->map->graph;
		rc = tell_steps(d, CVL_FLOW_UNEXPECTED, d->steps - 1, d->steps);
		drop(d, CVL_FLOW_NONE);
		return rc;
	}
	/* It fits no path: the hypotheses end, and it may be part of any code. */
	d->steps--;
	rc = flow_search_flush(d, CVL_FLOW_UNEXPECTED);
	d->joined = false;
	d->doubt = d->map->graph;
	return rc;
}

static bool in_some_code(const struct cvl_flow_map *map, uint16_t symbol)
{
	for (size_t p = 0; p < map->n; p++)
		for (size_t k = 0; k < map->point[p].n_code; k++)
			if (map->point[p].code[k] == symbol)
				return true;
	return false;
}

/* A symbol that fits no hypothesis is tried again from anywhere. */
int flow_search_take(struct flow_search *d, uint16_t s, const struct cvl_flow_stamp *stamp)
{
	bool anywhere = !d->steps && d->locked == CVL_FLOW_NONE && !d->at_start;
	struct cvl_flow_item jump = { .what = CVL_FLOW_JUMP,
				      .begin = *stamp,
				      .end = *stamp,
				      .symbol = &s,
				      .n_symbols = 1,
				      .n = 1 };
	bool doubted = d->doubt;
	size_t held = d->entries;
	int rc = symbol(d, s, stamp);

	/* No hypotheses now: it did not fit, or there were too many. */
	if (rc || anywhere || d->steps || d->locked != CVL_FLOW_NONE || held > FLOW_HELD / 2)
		return rc;
	jump.point = d->last;
	if (!doubted && in_some_code(d->map, s))
		rc = d->emit(d->ctx, &jump);
	return rc ? rc : symbol(d, s, stamp);
}

void flow_search_forget(struct flow_search *d)
{
	d->joined = d->at_start = d->doubt = false;
	d->last = CVL_FLOW_NONE;
}
