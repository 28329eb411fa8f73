/* SPDX-License-Identifier: MIT */
/* Tables of single records: edges, samples, marks and gaps. */
#include "table/internal.h"

/* ---- edges ---- */

enum { EDGE_TIME, EDGE_BOUND, EDGE_KIND, EDGE_CLOCK, EDGE_NODE, EDGE_LINE, EDGE_LEVEL, EDGE_LATE };

static const struct cvl_column edge_columns[] = {
	[EDGE_TIME] = { "time_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[EDGE_BOUND] = { "bound_ns", CVL_COLUMN_INT, true, "half-width of the time" },
	[EDGE_KIND] = { "bound_kind", CVL_COLUMN_NAME, false, "what the bound promises" },
	[EDGE_CLOCK] = { "clock", CVL_COLUMN_NAME, false, "" },
	[EDGE_NODE] = { "node", CVL_COLUMN_NAME, false, "" },
	[EDGE_LINE] = { "line", CVL_COLUMN_NAME, false, "" },
	[EDGE_LEVEL] = { "level", CVL_COLUMN_BOOL, false, "from here on" },
	[EDGE_LATE] = { "late", CVL_COLUMN_BOOL, false,
			"its time is before that of an earlier row of its stream" },
};

/* A row for each line that changed. Levels that become known, or are restated, are no edges. */
static int edges_slice(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct table_stream *s = table_stream(t, sl, err);
	const struct cvl_batch *b = sl->batch;
	const bool bounds = table_wants(t, EDGE_BOUND);
	struct cvl_levels levels;

	if (!s)
		return CVL_E_NOMEM;
	levels = s->levels;
	for (size_t i = sl->begin; i < sl->end; i++) {
		uint64_t changed;
		int64_t bound;

		if (b->kind[i] != CVL_EDGE) {
			if (b->kind[i] == CVL_GAP || b->kind[i] == CVL_SLIP)
				levels.known = 0;
			continue;
		}
		changed = cvl_levels_take(&levels, b, i) & s->lines;
		if (!changed)
			continue;
		if (t->room - t->n < CVL_LINES_MAX && table_room(t, CVL_LINES_MAX, err))
			return CVL_E_NOMEM;
		bound = bounds ? table_bound(t, sl, i) : 0;
		for (; changed; changed &= changed - 1) {
			const unsigned line = (unsigned)__builtin_ctzll(changed);
			const size_t r = t->n++;

			table_ints(t, EDGE_TIME)[r] = sl->time[i].ns;
			table_ints(t, EDGE_BOUND)[r] = bound;
			table_codes(t, EDGE_KIND)[r] = s->kind;
			table_codes(t, EDGE_CLOCK)[r] = s->clock;
			table_codes(t, EDGE_NODE)[r] = s->node;
			table_codes(t, EDGE_LINE)[r] = s->name[line];
			table_bools(t, EDGE_LEVEL)[r] = levels.now >> line & 1;
			table_bools(t, EDGE_LATE)[r] = b->flags[i] & CVL_LATE;
		}
	}
	s->levels = levels;
	return 0;
}

const struct table_kind table_edges = {
	.name = "edges",
	.what = "changes of digital lines",
	.column = edge_columns,
	.n_columns = sizeof(edge_columns) / sizeof(*edge_columns),
	.kinds = 1u << CVL_EDGE,
	.slice = edges_slice,
};

/* ---- samples ---- */

enum { SAMPLE_CHANNEL = RECORD_COLUMNS, SAMPLE_VALUE };

static const struct cvl_column sample_columns[] = {
	RECORD_COLUMN_LIST,
	[SAMPLE_CHANNEL] = { "channel", CVL_COLUMN_NAME, false, "" },
	[SAMPLE_VALUE] = { "value", CVL_COLUMN_DOUBLE, true, "NULL: there is no reading" },
};

static int samples_slice(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct table_stream *s = table_stream(t, sl, err);
	const struct cvl_batch *b = sl->batch;

	if (!s || table_room(t, sl->end - sl->begin, err))
		return CVL_E_NOMEM;
	for (size_t i = sl->begin; i < sl->end; i++) {
		const size_t r = t->n;

		if (b->kind[i] != CVL_SAMPLE || b->cls[i] >= s->n || s->name[b->cls[i]] < 0)
			continue;
		table_put_record(t, s, sl, i);
		table_codes(t, SAMPLE_CHANNEL)[r] = s->name[b->cls[i]];
		table_doubles(t, SAMPLE_VALUE)[r] = cvl_sample(b->value[i]);
		t->n++;
	}
	return 0;
}

const struct table_kind table_samples = {
	.name = "samples",
	.what = "analog readings",
	.column = sample_columns,
	.n_columns = sizeof(sample_columns) / sizeof(*sample_columns),
	.kinds = 1u << CVL_SAMPLE,
	.slice = samples_slice,
};

/* ---- marks ---- */

enum { MARK_KIND = RECORD_COLUMNS, MARK_SENDER, MARK_KEY };

static const struct cvl_column mark_columns[] = {
	RECORD_COLUMN_LIST,
	[MARK_KIND] = { "kind", CVL_COLUMN_NAME, false, "beacon, pulse, sent, received or slip" },
	[MARK_SENDER] = { "sender", CVL_COLUMN_UINT, true, "of a beacon; channel of a pulse" },
	[MARK_KEY] = { "key", CVL_COLUMN_UINT, true,
		       "number of a beacon, key of a message, half-width in ticks of a slip" },
};

static int marks_slice(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct table_stream *s = table_stream(t, sl, err);
	const struct cvl_batch *b = sl->batch;

	if (!s || table_room(t, sl->end - sl->begin, err))
		return CVL_E_NOMEM;
	for (size_t i = sl->begin; i < sl->end; i++) {
		const enum cvl_kind kind = (enum cvl_kind)b->kind[i];
		const size_t r = t->n;
		int32_t name;

		if (!(table_marks.kinds >> kind & 1))
			continue;
		name = table_name(t, MARK_KIND,
				  kind != CVL_MESSAGE ? cvl_kind_name(kind) :
				  b->cls[i]           ? "received" :
							"sent");
		if (name < 0)
			return cvl_no_memory(err);
		table_put_record(t, s, sl, i);
		table_codes(t, MARK_KIND)[r] = name;
		table_uints(t, MARK_SENDER)[r] = b->cls[i];
		table_uints(t, MARK_KEY)[r] = b->value[i];
		if ((kind == CVL_MESSAGE || kind == CVL_SLIP) && table_null(t, MARK_SENDER, err))
			return CVL_E_NOMEM;
		if (kind == CVL_PULSE && table_null(t, MARK_KEY, err))
			return CVL_E_NOMEM;
		t->n++;
	}
	return 0;
}

const struct table_kind table_marks = {
	.name = "marks",
	.what = "what ties clocks, as stored: beacons, pulses, messages; and slips",
	.column = mark_columns,
	.n_columns = sizeof(mark_columns) / sizeof(*mark_columns),
	.marked = MARK_SENDER,
	.kinds = 1u << CVL_BEACON | 1u << CVL_PULSE | 1u << CVL_MESSAGE | 1u << CVL_SLIP,
	.slice = marks_slice,
};

/* ---- gaps ---- */

enum { GAP_FROM, GAP_TO, GAP_BOUND, GAP_CLOCK, GAP_NODE, GAP_STREAM, GAP_WHY, GAP_LOST };

static const struct cvl_column gap_columns[] = {
	[GAP_FROM] = { "from_ns", CVL_COLUMN_INT, false, "on the timeline" },
	[GAP_TO] = { "to_ns", CVL_COLUMN_INT, true, "NULL: not known" },
	[GAP_BOUND] = { "bound_ns", CVL_COLUMN_INT, true, "half-width of from_ns" },
	[GAP_CLOCK] = { "clock", CVL_COLUMN_NAME, false, "" },
	[GAP_NODE] = { "node", CVL_COLUMN_NAME, false, "" },
	[GAP_STREAM] = { "stream", CVL_COLUMN_NAME, false, "" },
	[GAP_WHY] = { "why", CVL_COLUMN_NAME, false, "overflow, truncated, ..." },
	[GAP_LOST] = { "lost", CVL_COLUMN_UINT, true, "records, or packets; NULL: unknown" },
};

static int gaps_slice(struct cvl_table *t, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct table_stream *s = table_stream(t, sl, err);
	const struct cvl_batch *b = sl->batch;

	if (!s || table_room(t, sl->end - sl->begin, err))
		return CVL_E_NOMEM;
	for (size_t i = sl->begin; i < sl->end; i++) {
		const size_t r = t->n;
		int32_t why;

		if (b->kind[i] != CVL_GAP)
			continue;
		why = table_name(t, GAP_WHY, cvl_gap_name((enum cvl_gap)b->cls[i]));
		if (why < 0)
			return cvl_no_memory(err);
		table_ints(t, GAP_FROM)[r] = sl->time[i].ns;
		table_ints(t, GAP_TO)[r] =
			b->aux[i] == CVL_TICK_UNKNOWN ?
				INT_NULL :
				cvl_map_time(cvl_timeline_map(t->tl, sl->clock),
					     (struct cvl_tick){ b->aux[i] }, NULL)
					.ns;
		table_ints(t, GAP_BOUND)[r] = table_bound(t, sl, i);
		table_codes(t, GAP_CLOCK)[r] = s->clock;
		table_codes(t, GAP_NODE)[r] = s->node;
		table_codes(t, GAP_STREAM)[r] = s->stream;
		table_codes(t, GAP_WHY)[r] = why;
		table_uints(t, GAP_LOST)[r] = b->value[i];
		t->n++;
	}
	return 0;
}

const struct table_kind table_gaps = {
	.name = "gaps",
	.what = "losses: from when to when, why, and how many if known",
	.column = gap_columns,
	.n_columns = sizeof(gap_columns) / sizeof(*gap_columns),
	.kinds = 1u << CVL_GAP,
	.slice = gaps_slice,
};
