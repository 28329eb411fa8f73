/* SPDX-License-Identifier: MIT */
/*
 * FlockLab's gpiotracing.csv: `timestamp,observer_id,node_id,pin_name,value`, with "# " before the
 * header in version 1. Timestamps are UTC seconds with six or seven decimals; rows are grouped by
 * observer and nearly, but not entirely, in order of time.
 *
 * Each observer becomes a clock. Its rows pass through a window that sorts them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include "flocklab_clock.h"
#include "importers.h"
#include "core/text.h"

#define WINDOW 4096

static const char *const pins[] = {
	"LED1", "LED2", "LED3", "INT1", "INT2", "SIG1", "SIG2", "nRST", "PPS",
};
#define PINS (sizeof(pins) / sizeof(*pins))
/* In place of a pin: unreadable rows. */
#define NO_PIN PINS

enum { TIMESTAMP, OBSERVER, NODE, PIN, VALUE, CELLS };

/* A row pending in the window, or a gap. */
struct row {
	uint64_t tick;
	uint64_t to;     /* last tick of a gap */
	uint64_t lost;   /* rows in it */
	uint64_t offset; /* in the file: decides among equal ticks */
	uint32_t pin;
	enum cvl_gap why;
	bool value;
};

struct observer {
	char id[FLOCKLAB_NAME_BYTES];
	char node[FLOCKLAB_NAME_BYTES];
	struct cvl_writer *w;
	struct row *heap; /* the earliest first */
	size_t n, max;
	bool begun; /* the initial levels are stored */
	uint64_t levels;
	uint64_t stored; /* last tick that left the window */
	uint64_t last;   /* tick of the last row read */
	uint64_t end;
	struct cvl_tally bad; /* unreadable rows since then */
};

struct flocklab {
	struct cvl_input *in;
	const struct cvl_import_opts *opts;
	struct cvl_session *s;
	struct observer *observer[FLOCKLAB_OBSERVERS_MAX];
	size_t n_observers;
	struct observer *current; /* of the last good row */
	struct flocklab_start start;
	struct cvl_tally bad; /* rows before any observer is known */
	struct cvl_tally late, other_node;
};

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

static int wrong(const struct flocklab *f, enum cvl_code code, uint64_t offset, const char *what,
		 struct cvl_error *err)
{
	return cvl_fail(err, code, offset, "%s: %s", cvl_input_name(f->in), what);
}

/* ---- the window ---- */

static bool before(const struct row *a, const struct row *b)
{
	return a->tick != b->tick ? a->tick < b->tick : a->offset < b->offset;
}

static void heap_push(struct row *heap, size_t n, const struct row *row)
{
	size_t at = n;

	for (; at && before(row, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = *row;
}

/* Take the earliest of @n rows out. */
static struct row heap_pop(struct row *heap, size_t n)
{
	struct row top = heap[0], last = heap[n - 1];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < n - 1) {
		if (child + 1 < n - 1 && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return top;
}

/*
 * A pin's first row is a change, so a pin that goes low was high before it. Pins without a row in
 * the window are assumed low.
 */
static int begin(struct observer *o, struct cvl_error *err)
{
	const struct row *first[PINS] = { NULL };

	for (size_t i = 0; i < o->n; i++) {
		const struct row *row = &o->heap[i];

		if (row->pin != NO_PIN && (!first[row->pin] || before(row, first[row->pin])))
			first[row->pin] = row;
	}
	for (size_t pin = 0; pin < PINS; pin++)
		if (first[pin] && !first[pin]->value)
			o->levels |= (uint64_t)1 << pin;
	o->begun = true;
	o->stored = o->n ? o->heap[0].tick : o->last;
	return cvl_writer_levels(o->w, tick(o->stored), o->levels, err);
}

static int store_first(struct flocklab *f, struct observer *o, struct cvl_error *err)
{
	struct row row;
	struct cvl_tick t;
	uint64_t bit, levels;
	int rc;

	if (!o->begun) {
		rc = begin(o, err);
		if (rc)
			return rc;
	}
	row = heap_pop(o->heap, o->n--);
	if (row.tick < o->stored)
		cvl_tally_add(&f->late, row.offset);
	o->stored = row.tick;
	t = tick(row.tick);
	if (row.pin == NO_PIN)
		return cvl_writer_gap(o->w, t, tick(row.to), row.lost, row.why, err);
	bit = (uint64_t)1 << row.pin;
	levels = row.value ? o->levels | bit : o->levels & ~bit;
	if (levels == o->levels)
		return 0;
	o->levels = levels;
	return cvl_writer_edges(o->w, &t, &levels, 1, err);
}

static int push(struct flocklab *f, struct observer *o, const struct row *row,
		struct cvl_error *err)
{
	if (cvl_room(&o->heap, o->n, &o->max, sizeof(*o->heap)))
		return cvl_no_memory(err);
	heap_push(o->heap, o->n++, row);
	return o->n < WINDOW ? 0 : store_first(f, o, err);
}

/* ---- rows ---- */

static struct observer *find(struct flocklab *f, const char *id)
{
	if (f->current && !strcmp(f->current->id, id))
		return f->current;
	for (size_t i = 0; i < f->n_observers; i++)
		if (!strcmp(f->observer[i]->id, id))
			return f->observer[i];
	return NULL;
}

static int add(struct flocklab *f, const char *id, const char *node, uint64_t offset,
	       struct observer **out, struct cvl_error *err)
{
	struct cvl_store_desc desc = { .lines = pins, .n_lines = PINS };
	struct observer *o;
	int rc;

	if (f->n_observers == FLOCKLAB_OBSERVERS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, offset, "%s: more than %d observers",
				cvl_input_name(f->in), FLOCKLAB_OBSERVERS_MAX);
	o = calloc(1, sizeof(*o));
	if (!o)
		return cvl_no_memory(err);
	strcpy(o->id, id);
	strcpy(o->node, node);
	rc = flocklab_clock(f->s, f->in, f->opts, &f->start, "flocklab", id, node, &desc, &o->w,
			    err);
	if (rc) {
		free(o);
		return rc;
	}
	f->observer[f->n_observers++] = o;
	*out = o;
	return 0;
}

static int parse_row(struct flocklab *f, char **cell, size_t n, uint64_t offset, struct row *row,
		     struct cvl_error *err)
{
	if (n != CELLS)
		return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: %zu cells, expected %d",
				cvl_input_name(f->in), n, CELLS);
	if (!flocklab_is_id(cell[OBSERVER]) || !flocklab_is_id(cell[NODE]))
		return wrong(f, CVL_E_SYNTAX, offset, "invalid observer or node id", err);
	if (strcmp(cell[VALUE], "0") && strcmp(cell[VALUE], "1"))
		return wrong(f, CVL_E_SYNTAX, offset, "a value other than 0 and 1", err);
	row->value = cell[VALUE][0] == '1';
	for (row->pin = 0; row->pin < PINS && strcmp(cell[PIN], pins[row->pin]); row->pin++)
		;
	if (row->pin == PINS)
		return cvl_fail(err, CVL_E_UNKNOWN_ID, offset, "%s: unknown pin \"%.20s\"",
				cvl_input_name(f->in), cell[PIN]);
	return flocklab_tick(&f->start, f->s, cvl_input_name(f->in), cell[TIMESTAMP], offset,
			     &row->tick, err);
}

/* Store a gap for the rows lost after the last good one, up to @to. */
static int put_gap(struct flocklab *f, struct observer *o, uint64_t to, enum cvl_gap why,
		   struct cvl_error *err)
{
	struct row gap = {
		.tick = o->last,
		.to = to,
		.lost = o->bad.n,
		.offset = o->bad.offset,
		.pin = NO_PIN,
		.why = why,
	};

	/* the file need not be in order of time */
	if (to < gap.tick) {
		gap.tick = to;
		gap.to = o->last;
	}
	o->bad.n = 0;
	return push(f, o, &gap, err);
}

/*
 * Read one row into its observer's window. @fatal: whether a failure concerns the store or the
 * whole file, not just this row.
 */
static int take_row(void *ctx, char *line, uint64_t offset, bool *fatal, struct cvl_error *err)
{
	struct flocklab *f = ctx;
	char *cell[CELLS];
	size_t n = cvl_text_split(line, cell, CELLS);
	struct observer *o = NULL;
	struct row row = { .offset = offset };
	int rc;

	*fatal = false;
	rc = parse_row(f, cell, n, offset, &row, err);
	if (n > OBSERVER)
		o = find(f, cell[OBSERVER]);
	if (rc) {
		/* a row without a readable observer most likely belongs to the group it is in */
		if (!o)
			o = f->current;
		cvl_tally_add(o ? &o->bad : &f->bad, offset);
		return rc;
	}
	*fatal = true;
	if (!o) {
		rc = add(f, cell[OBSERVER], cell[NODE], offset, &o, err);
		if (rc)
			return rc;
		o->last = row.tick;
		o->bad = f->bad;
		f->bad.n = 0;
	}
	if (f->opts->strict && o->begun && row.tick < o->stored)
		return wrong(f, CVL_E_ORDER, offset, "row too far out of order", err);
	if (strcmp(o->node, cell[NODE]))
		cvl_tally_add(&f->other_node, offset);
	if (o->bad.n) {
		rc = put_gap(f, o, row.tick, CVL_GAP_CORRUPT, err);
		if (rc)
			return rc;
	}
	f->current = o;
	o->last = row.tick;
	if (o->end < row.tick)
		o->end = row.tick;
	return push(f, o, &row, err);
}

static int check_header(struct flocklab *f, struct cvl_error *err)
{
	static const char *const names[CELLS] = {
		"timestamp", "observer_id", "node_id", "pin_name", "value",
	};
	char *cell[CELLS], *line;
	uint64_t offset;
	size_t len, n;
	bool ended;
	int rc;

	rc = cvl_input_line(f->in, &line, &len, &offset, &ended, err);
	if (rc < 0)
		return rc;
	if (!rc)
		return wrong(f, CVL_E_TRUNCATED, 0, "empty file", err);
	line += strspn(line, "# ");
	n = cvl_text_split(line, cell, CELLS);
	for (size_t i = 0; i < CELLS && i < n; i++)
		if (strcmp(cell[i], names[i]))
			n = 0;
	if (n == CELLS)
		return 0;
	return wrong(f, ended ? CVL_E_MAGIC : CVL_E_TRUNCATED, offset,
		     "not the header of a gpiotracing.csv", err);
}

/* Store the rest of an observer's rows and close its clock. */
static int finish(struct flocklab *f, struct observer *o, enum cvl_gap why, bool trouble,
		  struct cvl_error *err)
{
	int rc = 0, rc2;

	if (trouble && !o->bad.n && o == f->current)
		o->bad = (struct cvl_tally){ CVL_LOST_UNKNOWN, cvl_input_offset(f->in) };
	if (o->bad.n) {
		rc = put_gap(f, o, CVL_TICK_UNKNOWN, why, err);
	}
	while (!rc && o->n)
		rc = store_first(f, o, err);
	rc2 = cvl_session_finish(f->s, o->w, tick(o->end), rc ? NULL : err);
	free(o->heap);
	free(o);
	return rc ? rc : rc2;
}

static int flocklab_import(struct cvl_input *in, struct cvl_session *s,
			   const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct flocklab f = { .in = in, .opts = opts, .s = s };
	const char *name = cvl_input_name(in);
	struct cvl_error trouble;
	enum cvl_gap why;
	int rc, failed = 0;

	rc = check_header(&f, err);
	if (rc)
		return rc;
	rc = flocklab_rows(in, opts, take_row, &f, &why, &trouble);
	for (size_t i = 0; i < f.n_observers; i++) {
		int one = finish(&f, f.observer[i], why, rc != 0, failed ? NULL : err);

		if (!failed)
			failed = one;
	}
	cvl_tally_tell(&f.late, opts, CVL_E_ORDER, name, "rows too far out of order; stored late");
	cvl_tally_tell(&f.other_node, opts, CVL_E_UNSUPPORTED, name,
		       "rows with a different node than their observer's first");
	if (failed)
		return failed;
	if (rc) {
		if (err)
			*err = trouble;
		return rc;
	}
	if (!f.n_observers)
		return wrong(&f, CVL_E_MISSING, cvl_input_offset(in), "no row could be read", err);
	return 0;
}

static int flocklab_probe(const uint8_t *head, size_t n, const char *path)
{
	static const char header[] = "timestamp,observer_id,node_id,pin_name,value";
	size_t at = 0;

	(void)path;
	while (at < n && (head[at] == '#' || head[at] == ' '))
		at++;
	return n - at >= strlen(header) && !memcmp(head + at, header, strlen(header)) ? 90 : 0;
}

static const struct cvl_option flocklab_options[] = {
	{ "node", "NAME", "prefix for the names of the test's nodes" },
	{ 0 },
};

const struct cvl_importer cvl_import_flocklab = {
	.name = "flocklab",
	.what = "FlockLab's gpiotracing.csv, version 1 or 2",
	.options = flocklab_options,
	.probe = flocklab_probe,
	.import = flocklab_import,
	.in_turn = true,
};
