/* SPDX-License-Identifier: MIT */
/* Spans: a begin and the end of the same id, as a row each; those that did not end come last. */
#include "table/internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"

enum {
	SPAN_BEGIN,
	SPAN_END,
	SPAN_BEGIN_BOUND,
	SPAN_END_BOUND,
	SPAN_DURATION_BOUND,
	SPAN_CLOCK,
	SPAN_NODE,
	SPAN_NAME,
	SPAN_ID,
};

static const struct cvl_column span_columns[] = {
	[SPAN_BEGIN] = { "begin_ns", CVL_COLUMN_INT, true, "NULL: before the first record" },
	[SPAN_END] = { "end_ns", CVL_COLUMN_INT, true, "NULL: no end was seen" },
	[SPAN_BEGIN_BOUND] = { "begin_bound_ns", CVL_COLUMN_INT, true, "half-width of begin_ns" },
	[SPAN_END_BOUND] = { "end_bound_ns", CVL_COLUMN_INT, true, "half-width of end_ns" },
	[SPAN_DURATION_BOUND] = { "duration_bound_ns", CVL_COLUMN_INT, true,
				  "half-width of end_ns - begin_ns" },
	[SPAN_CLOCK] = { "clock", CVL_COLUMN_NAME, false, "" },
	[SPAN_NODE] = { "node", CVL_COLUMN_NAME, false, "" },
	[SPAN_NAME] = { "name", CVL_COLUMN_NAME, false, "" },
	[SPAN_ID] = { "id", CVL_COLUMN_UINT, false, "" },
};

/* A span that has begun. */
struct open_span {
	size_t stream;
	int32_t clock, node, name;
	uint64_t id;
	int64_t begin;
	struct cvl_bound bound;
};

struct spans {
	struct open_span *open;
	size_t n, room;
};

static int spans_open(struct cvl_table *t, struct cvl_error *err)
{
	t->own = calloc(1, sizeof(struct spans));
	return t->own ? 0 : cvl_no_memory(err);
}

static void spans_free(struct cvl_table *t)
{
	struct spans *s = t->own;

	free(s->open);
	free(s);
}

static void put_names(struct cvl_table *t, const struct open_span *o)
{
	table_codes(t, SPAN_CLOCK)[t->n] = o->clock;
	table_codes(t, SPAN_NODE)[t->n] = o->node;
	table_codes(t, SPAN_NAME)[t->n] = o->name;
	table_uints(t, SPAN_ID)[t->n] = o->id;
}

/* Row of a span without an end, or without a begin, which is filled in then. */
static void put_half(struct cvl_table *t, const struct open_span *o)
{
	put_names(t, o);
	table_ints(t, SPAN_BEGIN)[t->n] = o->begin;
	table_ints(t, SPAN_BEGIN_BOUND)[t->n] = cvl_bound_total(o->bound);
	table_ints(t, SPAN_END)[t->n] = INT_NULL;
	table_ints(t, SPAN_END_BOUND)[t->n] = INT_NULL;
	table_ints(t, SPAN_DURATION_BOUND)[t->n] = INT_NULL;
	t->n++;
}

static int one(struct cvl_table *t, struct table_stream *s, const struct cvl_slice *sl, size_t i,
	       struct cvl_error *err)
{
	struct spans *all = t->own;
	const struct cvl_batch *b = sl->batch;
	struct open_span now = { .stream = sl->stream,
				 .clock = s->clock,
				 .node = s->node,
				 .id = b->value[i],
				 .begin = sl->time[i].ns,
				 .bound = cvl_timeline_bound_parts(t->tl, sl, i) };
	struct open_span *o = NULL;
	struct clocks_span name;

	if (!clocks_span_name(&name, cvl_timeline_stream(t->tl, sl->stream), b, i)) {
		const struct cvl_event_class *c =
			cvl_stream_class(cvl_timeline_stream(t->tl, sl->stream), b, i);

		snprintf(name.text, sizeof(name.text), "%s", c ? c->name : "");
	}
	now.name = table_name(t, SPAN_NAME, name.text);
	if (now.name < 0)
		return cvl_no_memory(err);
	if (b->kind[i] == CVL_BEGIN) {
		if (cvl_room(&all->open, all->n, &all->room, sizeof(*all->open)))
			return cvl_no_memory(err);
		all->open[all->n++] = now;
		return 0;
	}
	/* the innermost of that name and id */
	for (size_t k = all->n; k-- && !o;)
		if (all->open[k].stream == now.stream && all->open[k].id == now.id &&
		    all->open[k].name == now.name)
			o = &all->open[k];
	put_half(t, o ? o : &now);
	table_ints(t, SPAN_END)[t->n - 1] = now.begin;
	table_ints(t, SPAN_END_BOUND)[t->n - 1] = cvl_bound_total(now.bound);
	if (!o) {
		table_ints(t, SPAN_BEGIN)[t->n - 1] = INT_NULL;
		table_ints(t, SPAN_BEGIN_BOUND)[t->n - 1] = INT_NULL;
		return 0;
	}
	table_ints(t, SPAN_DURATION_BOUND)[t->n - 1] =
		clocks_duration(now.begin - o->begin, o->bound, now.bound);
	memmove(o, o + 1, (size_t)(all->open + all->n - (o + 1)) * sizeof(*o));
	all->n--;
	return 0;
}

static int spans_slice(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct table_stream *s = table_stream(t, sl, err);
	const struct cvl_batch *b = sl->batch;
	int rc = 0;

	if (!s || table_room(t, sl->end - sl->begin, err))
		return CVL_E_NOMEM;
	for (size_t i = sl->begin; i < sl->end && !rc; i++)
		if (b->kind[i] == CVL_BEGIN || b->kind[i] == CVL_END)
			rc = one(t, s, sl, i, err);
	return rc;
}

static int spans_end(struct cvl_table *t, struct cvl_error *err)
{
	struct spans *s = t->own;

	if (table_room(t, s->n, err))
		return CVL_E_NOMEM;
	for (size_t k = 0; k < s->n; k++)
		put_half(t, &s->open[k]);
	s->n = 0;
	return 0;
}

const struct table_kind table_spans = {
	.name = "spans",
	.what = "spans, from begin to end, with the bound of their length",
	.column = span_columns,
	.n_columns = sizeof(span_columns) / sizeof(*span_columns),
	.kinds = 1u << CVL_BEGIN | 1u << CVL_END,
	.open = spans_open,
	.slice = spans_slice,
	.end = spans_end,
	.free = spans_free,
};
