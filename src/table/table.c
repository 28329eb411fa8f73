/* SPDX-License-Identifier: MIT */
/* What all tables have in common: columns that are filled, and handed on some rows at a time. */
#include "table/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

#define ROWS 65536
#define ROWS_FIRST 1024
#define BYTES_MAX (16u << 20) /* of text, at a time */

/* In the order of docs/tables.md; "event_" stands for all of its classes. */
static const struct table_kind *const kinds[] = {
	&table_edges, &table_samples, &table_events, &table_event,      &table_spans,
	&table_marks, &table_gaps,    &table_clocks, &table_violations, &table_calls,
	&table_waits, &table_tasks,   &table_power,
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static size_t cell_size(enum cvl_column_type type)
{
	switch (type) {
	case CVL_COLUMN_BOOL: return 1;
	case CVL_COLUMN_NAME:
	case CVL_COLUMN_TEXT:
	case CVL_COLUMN_BYTES: return 4;
	default: return 8;
	}
}

static bool is_text(const struct cvl_column *c)
{
	return c->type == CVL_COLUMN_TEXT || c->type == CVL_COLUMN_BYTES;
}

/* ---- filling ---- */

int table_room(struct cvl_table *t, size_t more, struct cvl_error *err)
{
	size_t room = t->room ? t->room : ROWS_FIRST;

	if (t->n + more <= t->room)
		return 0;
	while (room < t->n + more)
		room *= 2;
	for (size_t c = 0; c < t->n_columns; c++) {
		struct filling *f = &t->fill[c];
		/* of text: where the one after the last begins */
		void *grown = realloc(f->cells.values, (room + 1) * cell_size(t->column[c].type));

		if (!grown)
			return cvl_no_memory(err);
		if (!f->cells.values)
			memset(grown, 0, cell_size(t->column[c].type));
		f->cells.values = grown;
		if (f->cells.valid) {
			uint8_t *valid = realloc(f->cells.valid, room / 8 + 1);

			if (!valid)
				return cvl_no_memory(err);
			memset(valid + t->room / 8 + 1, 0xff, (room - t->room) / 8);
			f->cells.valid = valid;
		}
	}
	t->room = room;
	return 0;
}

int32_t table_name(struct cvl_table *t, size_t column, const char *text)
{
	return names_put(t->names[column], text, strlen(text));
}

int table_put_names(struct cvl_table *t, const size_t *column, const char *const *text, size_t n,
		    struct cvl_error *err)
{
	for (size_t k = 0; k < n; k++) {
		int32_t *at = &table_codes(t, column[k])[t->n];

		*at = text[k] ? table_name(t, column[k], text[k]) : NAME_NULL;
		if (text[k] && *at < 0)
			return cvl_no_memory(err);
	}
	return 0;
}

static bool mark_null(struct cvl_cells *c, size_t n, size_t i)
{
	if (!c->valid) {
		c->valid = malloc(n / 8 + 1);
		if (!c->valid)
			return false;
		memset(c->valid, 0xff, n / 8 + 1);
	}
	c->valid[i / 8] &= (uint8_t) ~(1u << (i & 7));
	c->nulls++;
	return true;
}

int table_null(struct cvl_table *t, size_t column, struct cvl_error *err)
{
	struct cvl_cells *c = &t->fill[column].cells;
	const size_t size = cell_size(t->column[column].type);

	memset((char *)c->values + t->n * size, 0, size);
	return mark_null(c, t->room, t->n) ? 0 : cvl_no_memory(err);
}

int table_text(struct cvl_table *t, size_t column, const char *text, size_t n,
	       struct cvl_error *err)
{
	struct filling *f = &t->fill[column];
	int32_t *offset = f->cells.values;

	if (text && f->bytes_room - f->bytes < 3 * n + 1) {
		const size_t room = 2 * f->bytes_room + 3 * n + 1;
		char *grown = room < INT32_MAX ? realloc(f->cells.bytes, room) : NULL;

		if (!grown)
			return cvl_no_memory(err);
		f->cells.bytes = grown;
		f->bytes_room = room;
	}
	if (text && t->column[column].type == CVL_COLUMN_BYTES) {
		memcpy(f->cells.bytes + f->bytes, text, n);
		f->bytes += n;
	} else if (text) {
		f->bytes += table_utf8(f->cells.bytes + f->bytes, text, n);
	} else if (!mark_null(&f->cells, t->room, t->n)) {
		return cvl_no_memory(err);
	}
	offset[t->n + 1] = (int32_t)f->bytes;
	return 0;
}

static bool is_null(const struct cvl_column *c, const struct cvl_cells *cells, size_t i)
{
	switch (c->type) {
	case CVL_COLUMN_INT: return ((int64_t *)cells->values)[i] == INT_NULL;
	case CVL_COLUMN_UINT: return ((uint64_t *)cells->values)[i] == UINT_NULL;
	case CVL_COLUMN_DOUBLE: return isnan(((double *)cells->values)[i]);
	case CVL_COLUMN_BOOL: return ((uint8_t *)cells->values)[i] == BOOL_NULL;
	case CVL_COLUMN_NAME: return ((int32_t *)cells->values)[i] < 0;
	default: return false; /* marked already */
	}
}

/* Cells that hold the value which stands for NULL become NULL, and zero. */
static bool find_nulls(const struct cvl_column *c, struct cvl_cells *cells, size_t n)
{
	const size_t size = cell_size(c->type);

	if (!c->nullable || is_text(c))
		return true;
	for (size_t i = 0; i < n; i++) {
		if (!is_null(c, cells, i))
			continue;
		if (!mark_null(cells, n, i))
			return false;
		memset((char *)cells->values + i * size, 0, size);
	}
	return true;
}

struct cvl_rows *cvl_table_take(struct cvl_table *t)
{
	struct cvl_rows *rows = calloc(1, sizeof(*rows));

	if (!rows || table_room(t, 1, NULL)) {
		free(rows);
		return NULL;
	}
	rows->column = calloc(t->n_columns + 1, sizeof(*rows->column));
	if (!rows->column) {
		free(rows);
		return NULL;
	}
	rows->n = t->n;
	rows->n_columns = t->n_columns;
	for (size_t c = 0; c < t->n_columns; c++) {
		rows->column[c] = t->fill[c].cells;
		rows->column[c].names = t->names[c];
		t->fill[c] = (struct filling){ 0 };
		if (!table_wants(t, c) && !is_text(&t->column[c]))
			memset(rows->column[c].values, 0, t->n * cell_size(t->column[c].type));
		else if (!(t->kind->marked && c >= t->kind->marked) &&
			 !find_nulls(&t->column[c], &rows->column[c], t->n)) {
			cvl_rows_free(rows);
			rows = NULL;
			break;
		}
	}
	t->n = t->room = 0;
	return rows;
}

void cvl_rows_free(struct cvl_rows *rows)
{
	if (!rows)
		return;
	for (size_t c = 0; c < rows->n_columns; c++) {
		free(rows->column[c].values);
		free(rows->column[c].bytes);
		free(rows->column[c].valid);
	}
	free(rows->column);
	free(rows);
}

/* ---- streams ---- */

/* Which of the stream's lines or channels are wanted, and what they are called in column @column. */
static int name_lines(struct cvl_table *t, size_t stream, size_t column, struct cvl_error *err)
{
	struct table_stream *s = &t->stream[stream];
	const bool samples = t->kind == &table_samples;
	char buf[24];

	s->n = samples ? cvl_timeline_channels(t->tl, stream) : cvl_timeline_lines(t->tl, stream);
	s->name = calloc(s->n + 1, sizeof(*s->name));
	if (!s->name)
		return cvl_no_memory(err);
	for (size_t i = 0; i < s->n; i++) {
		const char *name = samples ? cvl_timeline_channel(t->tl, stream, i, buf) :
					     cvl_timeline_line(t->tl, stream, i, buf);

		s->name[i] = NAME_NULL;
		if (t->lines && !cvl_text_chosen(t->lines, name)) {
			s->left_out++;
			continue;
		}
		s->name[i] = table_name(t, column, name);
		if (s->name[i] < 0)
			return cvl_no_memory(err);
		s->lines |= i < 64 ? (uint64_t)1 << i : 0;
	}
	return 0;
}

/* Which classes of events are wanted, and what they are called in column @column. */
static int name_classes(struct cvl_table *t, size_t stream, size_t column, struct cvl_error *err)
{
	struct table_stream *s = &t->stream[stream];
	const struct cvl_trace *trace = cvl_timeline_trace(t->tl, stream);

	s->n = cvl_trace_events(trace);
	s->name = calloc(s->n + 1, sizeof(*s->name));
	s->classes = calloc(s->n + 1, sizeof(*s->classes));
	if (!s->name || !s->classes)
		return cvl_no_memory(err);
	for (size_t i = 0; i < s->n; i++) {
		const char *name = cvl_trace_event(trace, i)->name;

		if (t->kind->event && strcmp(name, t->name + strlen(t->kind->name)) != 0)
			continue;
		s->classes[i] = true;
		if (t->names[column])
			s->name[i] = table_name(t, column, name);
		if (s->name[i] < 0)
			return cvl_no_memory(err);
	}
	return 0;
}

/* The column called @name, which is not a field of an event; t->n_columns: there is none. */
static size_t find_column(const struct cvl_table *t, const char *name)
{
	const size_t n =
		t->kind->event && t->n_columns > t->kind->marked ? t->kind->marked : t->n_columns;

	for (size_t c = 0; c < n; c++)
		if (!strcmp(t->column[c].name, name))
			return c;
	return t->n_columns;
}

/* What can be known of a stream before it is read. */
static int prepare_stream(struct cvl_table *t, size_t stream, struct cvl_error *err)
{
	struct table_stream *s = &t->stream[stream];
	size_t c;
	int rc = 0;

	s->clock = s->node = s->kind = s->stream = NAME_NULL;
	s->pick = (struct cvl_pick){ .kinds = t->kind->kinds };
	if ((c = find_column(t, "line")) < t->n_columns ||
	    (c = find_column(t, "channel")) < t->n_columns)
		rc = name_lines(t, stream, c, err);
	else if (t->kind->kinds & 1u << CVL_EVENT)
		rc = name_classes(t, stream, find_column(t, "event") % t->n_columns, err);
	if ((c = find_column(t, "stream")) < t->n_columns && !rc) {
		s->stream = table_name(t, c, cvl_timeline_stream_name(t->tl, stream));
		rc = s->stream < 0 ? cvl_no_memory(err) : 0;
	}
	s->pick.lines = s->lines;
	s->pick.classes = s->classes;
	s->pick.n_classes = s->classes ? s->n : 0;
	if (t->kind->kinds & (1u << CVL_BEGIN | 1u << CVL_END) && !s->classes) {
		s->classes = malloc(cvl_trace_events(cvl_timeline_trace(t->tl, stream)) + 1);
		if (!s->classes)
			return cvl_no_memory(err);
		s->pick.n_classes = cvl_trace_events(cvl_timeline_trace(t->tl, stream));
		memset(s->classes, 1, s->pick.n_classes + 1);
		s->pick.classes = s->classes;
	}
	if (!t->attached && t->kind->kinds)
		cvl_timeline_pick(t->tl, stream, &s->pick);
	return rc;
}

struct table_stream *table_stream(struct cvl_table *t, const struct cvl_slice *sl,
				  struct cvl_error *err)
{
	struct table_stream *s = &t->stream[sl->stream];
	const struct cvl_clock *clock;
	size_t c;

	if (s->known)
		return s;
	clock = cvl_session_clock(t->session, sl->clock);
	if ((c = find_column(t, "clock")) < t->n_columns)
		s->clock = table_name(t, c, clock->name);
	if ((c = find_column(t, "node")) < t->n_columns)
		s->node = table_name(t, c, clock->node);
	if ((c = find_column(t, "bound_kind")) < t->n_columns)
		s->kind = table_name(
			t, c, cvl_bound_kind_name(cvl_timeline_bound_kind(t->tl, sl->clock)));
	if (s->clock < 0) {
		cvl_no_memory(err);
		return NULL;
	}
	s->known = true;
	return s;
}

/* ---- opening ---- */

static int no_such_table(struct cvl_session *session, const char *name, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET, "%s: no table '%s'",
			cvl_session_path(session), name);
}

static const struct table_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->event ? !strncmp(name, kinds[i]->name, strlen(kinds[i]->name)) :
				      !strcmp(name, kinds[i]->name))
			return kinds[i];
	return NULL;
}

/* Everything but the timeline. */
static int make(struct cvl_table *t, const char *name, const struct cvl_table_opts *opts,
		struct cvl_error *err)
{
	t->kind = find_kind(name);
	if (!t->kind)
		return no_such_table(t->session, name, err);
	if (opts)
		t->opts = *opts;
	t->name = strdup(name);
	t->node = t->opts.timeline.node ? strdup(t->opts.timeline.node) : NULL;
	t->lines = t->opts.lines ? strdup(t->opts.lines) : NULL;
	if (!t->name || (t->opts.timeline.node && !t->node) || (t->opts.lines && !t->lines))
		return cvl_no_memory(err);
	t->opts.timeline.node = t->node;
	t->opts.lines = t->lines;
	t->opts.rows = t->opts.rows ? t->opts.rows : ROWS;
	t->column = t->kind->column;
	t->n_columns = t->kind->n_columns;
	return 0;
}

static int prepare_columns(struct cvl_table *t, struct cvl_error *err)
{
	t->fill = calloc(t->n_columns + 1, sizeof(*t->fill));
	t->names = calloc(t->n_columns + 1, sizeof(*t->names));
	if (!t->fill || !t->names)
		return cvl_no_memory(err);
	for (size_t c = 0; c < t->n_columns; c++) {
		if (t->column[c].type != CVL_COLUMN_NAME)
			continue;
		t->names[c] = names_new();
		if (!t->names[c])
			return cvl_no_memory(err);
	}
	return 0;
}

static void free_streams(struct table_stream *stream, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(stream[i].name);
		free(stream[i].classes);
	}
	free(stream);
}

static int prepare_streams(struct cvl_table *t, struct cvl_error *err)
{
	const size_t n = cvl_timeline_streams(t->tl);
	bool chosen = false;
	int rc = 0;

	t->n_streams = 0;
	t->stream = calloc(n + 1, sizeof(*t->stream));
	if (!t->stream)
		return cvl_no_memory(err);
	t->n_streams = n;
	for (size_t i = 0; i < n && !rc && t->kind->slice; i++) {
		rc = prepare_stream(t, i, err);
		chosen = chosen || t->stream[i].n > t->stream[i].left_out;
	}
	if (!rc && t->lines && !chosen)
		return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
				"%s: no name in table '%s' matches '%s'",
				cvl_session_path(t->session), t->name, t->lines);
	return rc;
}

static int prepare(struct cvl_table *t, struct cvl_error *err)
{
	int rc = t->kind->open ? t->kind->open(t, err) : 0;

	rc = rc ? rc : prepare_columns(t, err);
	return rc ? rc : prepare_streams(t, err);
}

int cvl_table_open(struct cvl_table **out, struct cvl_session *session, const char *name,
		   const struct cvl_table_opts *opts, struct cvl_error *err)
{
	struct cvl_table *t = calloc(1, sizeof(*t));
	int rc;

	*out = NULL;
	if (!t)
		return cvl_no_memory(err);
	t->session = session;
	rc = make(t, name, opts, err);
	if (!rc) {
		const size_t c = (t->kind->result ? 0 : find_column(t, "bound_ns"));

		t->opts.timeline.bounds = t->kind->slice && c < t->n_columns && table_wants(t, c);
		rc = cvl_timeline_open(&t->tl, session, &t->opts.timeline, err);
	}
	rc = rc ? rc : prepare(t, err);
	if (rc)
		cvl_table_close(t);
	else
		*out = t;
	return rc;
}

int cvl_table_attach(struct cvl_table **out, struct cvl_timeline *tl, const char *name,
		     const struct cvl_table_opts *opts, struct cvl_error *err)
{
	struct cvl_table *t = calloc(1, sizeof(*t));
	int rc;

	*out = NULL;
	if (!t)
		return cvl_no_memory(err);
	t->session = cvl_timeline_session(tl);
	t->tl = tl;
	t->attached = true;
	rc = make(t, name, opts, err);
	if (!rc && t->kind->result)
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "table '%s' is the result of an analysis, which needs its options",
			      name);
	rc = rc ? rc : prepare(t, err);
	if (rc)
		cvl_table_close(t);
	else
		*out = t;
	return rc;
}

int cvl_table_begin(struct cvl_table *t, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct table_stream *old = t->stream;
	const size_t n = t->n_streams;
	int rc;

	t->tl = tl;
	t->session = cvl_timeline_session(tl);
	rc = prepare_streams(t, err);
	for (size_t i = 0; !rc && i < n && i < t->n_streams; i++) {
		t->stream[i].levels = old[i].levels;
		t->stream[i].seq = old[i].seq;
	}
	free_streams(old, n);
	return rc;
}

void cvl_table_close(struct cvl_table *t)
{
	if (!t)
		return;
	if (t->kind && t->kind->free && t->own)
		t->kind->free(t);
	free_streams(t->stream, t->n_streams);
	for (size_t c = 0; c < t->n_columns; c++) {
		if (t->fill) {
			free(t->fill[c].cells.values);
			free(t->fill[c].cells.bytes);
			free(t->fill[c].cells.valid);
		}
		if (t->names)
			names_free(t->names[c]);
	}
	free(t->fill);
	free(t->names);
	free(t->facts);
	free(t->made);
	if (!t->attached)
		cvl_timeline_close(t->tl);
	free(t->name);
	free(t->node);
	free(t->lines);
	free(t);
}

/* ---- reading ---- */

int cvl_table_push(struct cvl_table *t, const struct cvl_slice *slice, struct cvl_error *err)
{
	const struct cvl_batch *b = slice->batch;

	for (size_t i = slice->begin; i < slice->end; i++) {
		t->gaps += b->kind[i] == CVL_GAP;
		t->late += b->flags[i] & CVL_LATE;
	}
	return t->kind->slice ? t->kind->slice(t, slice, err) : 0;
}

int cvl_table_finish(struct cvl_table *t, struct cvl_error *err)
{
	const bool was_ended = t->ended;

	t->ended = true;
	return !was_ended && t->kind->end ? t->kind->end(t, err) : 0;
}

size_t table_bytes(const struct cvl_table *t)
{
	size_t n = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		n += t->n * cell_size(t->column[c].type) + t->fill[c].bytes;
	return n;
}

bool table_full(const struct cvl_table *t)
{
	if (t->n >= t->opts.rows)
		return true;
	for (size_t c = 0; c < t->n_columns; c++)
		if (t->fill[c].bytes > BYTES_MAX)
			return true;
	return false;
}

/* Slices, until there are enough rows. */
static int fill(struct cvl_table *t, struct cvl_error *err)
{
	struct cvl_slice slice;
	int rc = 0;

	while (!rc && !t->at_end && !table_full(t)) {
		if (cvl_block_take(&t->block, &slice)) {
			rc = cvl_table_push(t, &slice, err);
			continue;
		}
		rc = cvl_timeline_next(t->tl, &t->block, err);
		t->at_end = !rc;
		rc = rc > 0 ? 0 : rc;
	}
	return rc;
}

int cvl_table_next(struct cvl_table *t, struct cvl_rows **rows, struct cvl_error *err)
{
	int rc = 0;

	*rows = NULL;
	if (t->kind->slice)
		rc = fill(t, err);
	if (!rc && (t->at_end || !t->kind->slice))
		rc = cvl_table_finish(t, err);
	if (rc || !t->n)
		return rc;
	*rows = cvl_table_take(t);
	return *rows ? 1 : cvl_no_memory(err);
}

/* ---- about it ---- */

const char *cvl_table_name(const struct cvl_table *t)
{
	return t->name;
}

const struct cvl_column *cvl_table_columns(const struct cvl_table *t, size_t *n)
{
	*n = t->n_columns;
	return t->column;
}

uint64_t cvl_table_gaps(const struct cvl_table *t)
{
	return t->gaps;
}

uint64_t cvl_table_late(const struct cvl_table *t)
{
	return t->late;
}

int cvl_table_each(struct cvl_session *session,
		   void (*fn)(void *ctx, const struct cvl_table_info *info), void *ctx,
		   struct cvl_error *err)
{
	struct cvl_names *classes = names_new();
	struct cvl_timeline *tl;
	int rc = classes ? cvl_timeline_open(&tl, session, NULL, err) : cvl_no_memory(err);

	if (rc) {
		names_free(classes);
		return rc;
	}
	for (size_t i = 0; i < cvl_timeline_streams(tl) && !rc; i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(tl, i);

		for (size_t k = 0; k < cvl_trace_events(trace) && !rc; k++) {
			const struct cvl_event_class *c = cvl_trace_event(trace, k);
			char name[CVL_ERROR_TEXT];

			if (c->kind != CVL_EVENT || strlen(c->name) >= sizeof(name) - 8)
				continue;
			snprintf(name, sizeof(name), "event_%s", c->name);
			if (names_put(classes, name, strlen(name)) < 0)
				rc = cvl_no_memory(err);
		}
	}
	cvl_timeline_close(tl);
	for (size_t i = 0; i < KINDS && !rc; i++) {
		struct cvl_table_info info = { kinds[i]->name, kinds[i]->what, kinds[i]->result };

		if (!kinds[i]->event) {
			fn(ctx, &info);
			continue;
		}
		for (size_t k = 0; k < cvl_names_count(classes); k++) {
			info.name = cvl_names_at(classes, k);
			fn(ctx, &info);
		}
	}
	names_free(classes);
	return rc;
}
