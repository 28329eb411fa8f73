/* SPDX-License-Identifier: MIT */
#include "table/pass.h"

#include <stdlib.h>
#include <string.h>

#include "table/internal.h"
#include "timeline/wanted.h"

#define BYTES_MAX (64u << 20)
#define CHECK_RECORDS 65536

/* Tables that are made when the first record of theirs comes. Gaps and slips concern all of them. */
static const struct table_kind *const kinds[] = {
	&table_edges, &table_samples, &table_events, &table_spans, &table_marks,
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))
#define ALWAYS (1u << CVL_GAP | 1u << CVL_SLIP)
#define NONE SIZE_MAX

struct entry {
	struct cvl_table *t;
	bool due;    /* rows are to be taken */
	bool always; /* even without */
};

struct pass {
	struct cvl_timeline *tl;
	struct cvl_block block;
	bool only, at_end, any_due;
	struct entry *entry;
	size_t n, room;
	size_t of_kind[KINDS]; /* number of the table, or NONE */
	size_t gaps;
	/* of each stream, unless NULL: tables of its classes of events, 1 + number; 0: not yet known */
	size_t **of_class;
	size_t unchecked; /* records since memory was looked at */
};

static int add(struct pass *p, const char *name, bool always, size_t *i, struct cvl_error *err)
{
	struct cvl_table *t;
	int rc = cvl_table_attach(&t, p->tl, name, NULL, err);

	if (rc)
		return rc;
	if (cvl_room(&p->entry, p->n, &p->room, sizeof(*p->entry))) {
		cvl_table_close(t);
		return cvl_no_memory(err);
	}
	*i = p->n;
	p->entry[p->n++] = (struct entry){ .t = t, .always = always };
	return 0;
}

int pass_open(struct pass **out, struct cvl_timeline *tl, const char *only, struct cvl_error *err)
{
	struct pass *p = calloc(1, sizeof(*p));
	size_t clocks, i;
	int rc = 0;

	*out = NULL;
	if (!p)
		return cvl_no_memory(err);
	p->tl = tl;
	p->only = only;
	timeline_want_bounds(tl);
	for (size_t k = 0; k < KINDS; k++)
		p->of_kind[k] = NONE;
	p->of_class = calloc(cvl_timeline_streams(tl) + 1, sizeof(*p->of_class));
	if (!p->of_class)
		rc = cvl_no_memory(err);
	else if (only)
		rc = add(p, only, true, &i, err);
	else
		rc = add(p, "gaps", true, &p->gaps, err);
	if (!rc && only && p->entry->t->kind->kinds)
		for (size_t s = 0; s < cvl_timeline_streams(tl); s++)
			cvl_timeline_pick(tl, s, &p->entry->t->stream[s].pick);
	if (!rc && !only)
		rc = add(p, "clocks", true, &clocks, err);
	if (rc)
		pass_close(p);
	else
		*out = p;
	return rc;
}

void pass_close(struct pass *p)
{
	if (!p)
		return;
	for (size_t s = 0; p->of_class && s < cvl_timeline_streams(p->tl); s++) {
		cvl_timeline_pick(p->tl, s, NULL);
		free(p->of_class[s]);
	}
	for (size_t i = 0; i < p->n; i++)
		cvl_table_close(p->entry[i].t);
	free(p->entry);
	free(p->of_class);
	free(p);
}

struct cvl_table *pass_table(const struct pass *p, size_t i)
{
	return i < p->n ? p->entry[i].t : NULL;
}

static int push(struct pass *p, size_t i, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct entry *e = &p->entry[i];
	const int rc = cvl_table_push(e->t, sl, err);

	e->due = e->due || table_full(e->t);
	p->any_due = p->any_due || e->due;
	return rc;
}

/* The table of events called as class @cls of the stream; NONE: it cannot be made, which is reported. */
static int find_event(struct pass *p, size_t stream, uint32_t cls, size_t *i, struct cvl_error *err)
{
	const struct cvl_trace *trace = cvl_timeline_trace(p->tl, stream);
	size_t *of_class = p->of_class[stream];
	const size_t prefix = strlen(table_event.name);
	char name[CVL_ERROR_TEXT];
	int rc;

	if (!of_class)
		of_class = calloc(cvl_trace_events(trace) + 1, sizeof(*of_class));
	p->of_class[stream] = of_class;
	if (!of_class)
		return cvl_no_memory(err);
	*i = of_class[cls] == NONE ? NONE : of_class[cls] - 1;
	if (of_class[cls])
		return 0;
	*i = NONE;
	of_class[cls] = NONE;
	if ((size_t)snprintf(name, sizeof(name), "%s%s", table_event.name,
			     cvl_trace_event(trace, cls)->name) >= sizeof(name))
		return 0; /* no such table, see cvl_table_each() */
	for (size_t k = 0; k < p->n && *i == NONE; k++)
		if (p->entry[k].t->kind == &table_event &&
		    !strcmp(p->entry[k].t->name + prefix, name + prefix))
			*i = k;
	if (*i == NONE) {
		rc = add(p, name, false, i, err);
		if (rc == CVL_E_LIMIT) {
			cvl_tell(cvl_timeline_report(p->tl), err);
			return 0;
		}
		if (rc)
			return rc;
	}
	of_class[cls] = *i + 1;
	return 0;
}

/* Each event goes to the table of its class only. */
static int push_events(struct pass *p, const struct cvl_slice *sl, struct cvl_error *err)
{
	const struct cvl_batch *b = sl->batch;
	struct cvl_slice part = *sl;
	int rc = 0;

	for (size_t i = sl->begin; i < sl->end && !rc; i = part.end) {
		size_t to;

		part.begin = i;
		part.end = i + 1;
		if (b->kind[i] != CVL_EVENT ||
		    b->cls[i] >= cvl_trace_events(cvl_timeline_trace(p->tl, sl->stream)))
			continue;
		while (part.end < sl->end && b->kind[part.end] == CVL_EVENT &&
		       b->cls[part.end] == b->cls[i])
			part.end++;
		rc = find_event(p, sl->stream, b->cls[i], &to, err);
		if (!rc && to != NONE)
			rc = push(p, to, &part, err);
	}
	return rc;
}

static int push_all(struct pass *p, const struct cvl_slice *sl, struct cvl_error *err)
{
	uint32_t has = 0;
	int rc = 0;

	for (size_t i = sl->begin; i < sl->end; i++)
		has |= 1u << sl->batch->kind[i];
	for (size_t k = 0; k < KINDS && !rc; k++) {
		if (has & kinds[k]->kinds && p->of_kind[k] == NONE)
			rc = add(p, kinds[k]->name, false, &p->of_kind[k], err);
		if (!rc && has & (kinds[k]->kinds | ALWAYS) && p->of_kind[k] != NONE)
			rc = push(p, p->of_kind[k], sl, err);
	}
	if (!rc && has & 1u << CVL_GAP)
		rc = push(p, p->gaps, sl, err);
	return !rc && has & 1u << CVL_EVENT ? push_events(p, sl, err) : rc;
}

/* Where all tables together hold much, those that hold the most are due. */
static void bound_memory(struct pass *p, size_t records)
{
	size_t all = 0;

	p->unchecked += records;
	if (p->unchecked < CHECK_RECORDS)
		return;
	p->unchecked = 0;
	for (size_t i = 0; i < p->n; i++)
		all += table_bytes(p->entry[i].t);
	p->any_due = p->any_due || all > BYTES_MAX;
	for (size_t i = 0; i < p->n && all > BYTES_MAX; i++)
		p->entry[i].due = p->entry[i].due || table_bytes(p->entry[i].t) >= all / p->n;
}

static int finish(struct pass *p, struct cvl_error *err)
{
	int rc = 0;

	p->at_end = p->any_due = true;
	for (size_t i = 0; i < p->n && !rc; i++) {
		struct entry *e = &p->entry[i];

		rc = cvl_table_finish(e->t, err);
		e->due = e->always || e->t->n;
	}
	return rc;
}

/* A step further in the timeline. */
static int advance(struct pass *p, struct cvl_error *err)
{
	struct cvl_slice slice;
	int rc;

	if (cvl_block_take(&p->block, &slice)) {
		bound_memory(p, slice.end - slice.begin);
		return p->only ? push(p, 0, &slice, err) : push_all(p, &slice, err);
	}
	if (p->only && !p->entry->t->kind->slice)
		return finish(p, err);
	rc = cvl_timeline_next(p->tl, &p->block, err);
	return rc > 0 ? 0 : rc ? rc : finish(p, err);
}

int pass_next(struct pass *p, size_t *out, struct cvl_rows **rows, struct cvl_error *err)
{
	int rc = 0;

	*rows = NULL;
	while (!rc) {
		for (size_t i = 0; i < p->n && p->any_due; i++) {
			if (!p->entry[i].due)
				continue;
			p->entry[i].due = p->entry[i].always = false;
			*out = i;
			*rows = cvl_table_take(p->entry[i].t);
			return *rows ? 1 : cvl_no_memory(err);
		}
		p->any_due = false;
		if (p->at_end)
			return 0;
		rc = advance(p, err);
	}
	return rc;
}
