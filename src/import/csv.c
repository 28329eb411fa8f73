/* SPDX-License-Identifier: MIT */
/*
 * CSV as logic analyzers export it: a header `Time [s],name,...`, then rows of a time and a value
 * for each channel. Columns of 0 and 1 (or x and z: unknown) become lines, columns of other numbers
 * analog channels.
 *
 * Also reads the output of `sigrok-cli -O csv`: names and rate are in comments, and a row is a
 * sample, with or without a time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv_sigrok.h"
#include "importers.h"
#include "input.h"
#include "core/text.h"
#include "store/samples.h"

#define DEFAULT_RATE_HZ 1000000000u
/* So many rows one after the other that are so many seconds back, or more, show that the clock stepped. */
#define STEP_ROWS 8
#define STEP_S 10

enum column_kind { COLUMN_LINE, COLUMN_CHANNEL, COLUMN_LEFT_OUT };

struct column {
	char *name;
	enum column_kind kind;
	unsigned at; /* number of the line or channel */
};

/* A row, parsed before any of it is stored. */
struct row {
	struct cvl_text_ticks time;
	uint64_t tick, levels, unknown;
};

struct kept_row {
	struct row row;
	double *real;
	uint64_t offset;
};

struct csv {
	struct cvl_input *in;
	const struct cvl_import_opts *opts;
	struct cvl_session *s;
	struct cvl_writer *w; /* NULL until the first good row shows what the columns are */

	struct column *column;
	char **cell;  /* of the current row: the time first, if any */
	char **value; /* after the time */
	double *real; /* of the current row, by channel */
	size_t n_columns, n_lines, n_channels;
	int exp10; /* unit of the times, 10^exp10 s */
	uint64_t rate_hz;

	uint64_t shift; /* added to the times, so that the first is at least 0 */
	uint64_t tick, end, levels, unknown;

	struct csv_sigrok sigrok;
	char *pending; /* first row, if there is no header */
	uint64_t pending_at;
	bool pending_ended;

	char clock[256];                 /* name of the clock; "" before it is made */
	struct kept_row kept[STEP_ROWS]; /* far back: wrong times, or a step */
	size_t n_kept;
	double *spare; /* as real, while other rows are stored */

	bool begun;   /* a row has been stored */
	uint64_t bad; /* rows since the last good one */
	struct cvl_tally backwards;
};

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

static int wrong(const struct csv *c, enum cvl_code code, uint64_t offset, const char *what,
		 struct cvl_error *err)
{
	return cvl_fail(err, code, offset, "%s: %s", cvl_input_name(c->in), what);
}

/* ---- header ---- */

/* Whether @cell is the header of a time column, and its unit. */
static bool is_time(const char *cell, int *exp10)
{
	static const struct {
		const char *name;
		int exp10;
	} units[] = {
		{ "", 0 },    { "s", 0 },   { "sec", 0 },  { "seconds", 0 },    { "ms", -3 },
		{ "us", -6 }, { "ns", -9 }, { "ps", -12 }, { "\xc2\xb5s", -6 }, /* micro sign */
	};
	char unit[16];
	size_t n = 0;

	if (strncasecmp(cell, "time", 4))
		return false;
	for (cell += 4; *cell; cell++) {
		if (strchr(" []()", *cell))
			continue;
		if (n == sizeof(unit) - 1)
			return false;
		unit[n++] = *cell;
	}
	unit[n] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcasecmp(unit, units[i].name))
			continue;
		*exp10 = units[i].exp10;
		return true;
	}
	return false;
}

static const char *skip_bom(const char *line)
{
	return strncmp(line, "\xef\xbb\xbf", 3) ? line : line + 3;
}

static bool is_comment(const char *line)
{
	line += strspn(line, " \t");
	return !*line || *line == ';' || *line == '#';
}

/* Get the first line that is not a comment. Returns 1 or a negative code. */
static int first_line(struct csv *c, char **line, uint64_t *offset, bool *ended,
		      struct cvl_error *err)
{
	size_t len;
	int rc;

	for (;;) {
		rc = cvl_input_line(c->in, line, &len, offset, ended, err);
		if (rc < 0)
			return rc;
		if (!rc)
			return wrong(c, CVL_E_TRUNCATED, cvl_input_offset(c->in),
				     "the file ends before its header", err);
		*line += skip_bom(*line) - *line;
		if (!is_comment(*line) && !csv_sigrok_skips(&c->sigrok, *line))
			return 1;
		if (csv_sigrok_comment(&c->sigrok, *line))
			return cvl_no_memory(err);
	}
}

static int add_columns(struct csv *c, char *const *names, size_t n, struct cvl_error *err)
{
	c->column = calloc(n, sizeof(*c->column));
	c->cell = calloc(n + 2, sizeof(*c->cell));
	if (!c->column || !c->cell)
		return cvl_no_memory(err);
	for (; c->n_columns < n; c->n_columns++) {
		c->column[c->n_columns].name = strdup(names[c->n_columns]);
		if (!c->column[c->n_columns].name)
			return cvl_no_memory(err);
	}
	c->value = c->cell + 1;
	return 0;
}

/* The comments define the columns; a header repeats the names, gives the units, or is missing. */
static int sigrok_header(struct csv *c, char *line, uint64_t offset, bool ended,
			 struct cvl_error *err)
{
	struct csv_sigrok *k = &c->sigrok;

	c->rate_hz = c->opts->rate_hz ? c->opts->rate_hz : k->rate_hz;
	if (!c->rate_hz)
		return cvl_hint(err, CVL_HINT_RATE,
				wrong(c, CVL_E_MISSING, offset, "no `; Samplerate`", err));
	if (!csv_sigrok_header(k, line, c->rate_hz)) {
		c->pending = line;
		c->pending_at = offset;
		c->pending_ended = ended;
	}
	if (add_columns(c, k->name, k->n, err))
		return CVL_E_NOMEM;
	c->value = c->cell + k->has_time;
	return 0;
}

static int read_header(struct csv *c, struct cvl_error *err)
{
	char *line, **name;
	uint64_t offset;
	bool ended;
	size_t n;
	int rc = first_line(c, &line, &offset, &ended, err);

	if (rc < 0)
		return rc;
	if (c->sigrok.n)
		return sigrok_header(c, line, offset, ended, err);
	n = 1;
	for (const char *p = line; *p; p++)
		n += *p == ',';
	name = calloc(n, sizeof(*name));
	if (!name)
		return cvl_no_memory(err);
	n = cvl_text_split(line, name, n);
	if (!n || !is_time(name[0], &c->exp10))
		rc = wrong(c, CVL_E_MAGIC, offset, "the first column of the header is not a time",
			   err);
	else if (n == 1)
		rc = wrong(c, ended ? CVL_E_MISSING : CVL_E_TRUNCATED, offset,
			   "the header names no channel", err);
	else
		rc = add_columns(c, name + 1, n - 1, err);
	free(name);
	return rc;
}

/* ---- columns to lines and channels ---- */

static bool is_level(const char *cell)
{
	return *cell && strchr("01xXzZ", *cell) && !cell[1];
}

static bool chosen(const struct csv *c, const char *name)
{
	return !c->opts->lines || cvl_text_chosen(c->opts->lines, name);
}

static int tell_left_out(struct csv *c, size_t left_out, struct cvl_error *err)
{
	struct cvl_error e;

	cvl_fail(&e, CVL_E_LIMIT, 0,
		 "%s: %zu of %zu columns ignored: a clock holds at most %d channels",
		 cvl_input_name(c->in), left_out, c->n_columns, CVL_CHANNELS_MAX);
	if (!c->opts->strict) {
		cvl_tell(c->opts->report, &e);
		return 0;
	}
	if (err)
		*err = e;
	return e.code;
}

/*
 * Decide what each column is from the cells of the first good row; if there is none all are lines.
 */
static int place_columns(struct csv *c, bool by_cells, struct cvl_error *err)
{
	size_t left_out = 0, lines = 0;

	for (size_t i = 0; i < c->n_columns; i++) {
		struct column *col = &c->column[i];

		col->kind = !chosen(c, col->name)              ? COLUMN_LEFT_OUT :
			    !by_cells || is_level(c->value[i]) ? COLUMN_LINE :
								 COLUMN_CHANNEL;
		if (col->kind == COLUMN_LINE && ++lines <= CVL_LINES_MAX) {
			col->at = (unsigned)c->n_lines++;
		} else if (col->kind == COLUMN_CHANNEL && c->n_channels < CVL_CHANNELS_MAX) {
			col->at = (unsigned)c->n_channels++;
		} else if (col->kind == COLUMN_CHANNEL) {
			col->kind = COLUMN_LEFT_OUT;
			left_out++;
		}
	}
	if (lines > CVL_LINES_MAX)
		return cvl_hint(
			err, CVL_HINT_LINES,
			cvl_fail(
				err, CVL_E_LIMIT, 0,
				"%s: has %zu digital lines, but a clock holds at most %d: select some of them",
				cvl_input_name(c->in), lines, CVL_LINES_MAX));
	if (c->opts->lines && !c->n_lines && !c->n_channels && !left_out)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: unknown column '%.100s'",
				cvl_input_name(c->in), c->opts->lines);
	return left_out ? tell_left_out(c, left_out, err) : 0;
}

static int open_writer(struct csv *c, struct cvl_error *err)
{
	const struct cvl_origin origin = { .format = "csv", .path = cvl_input_origin(c->in) };
	char *line[CVL_LINES_MAX];
	const char *channel[CVL_CHANNELS_MAX];
	struct cvl_store_desc desc = {
		.rate_hz = c->rate_hz,
		.lines = (const char *const *)line,
		.n_lines = c->n_lines,
		.channels = channel,
		.n_channels = c->n_channels,
		.lines_unknown = c->n_lines > 0,
		.disorder_ticks = CVL_DISORDER_MEASURED,
	};
	char clock[256];
	int rc;

	cvl_input_clock_name(c->in, c->opts, clock, sizeof(clock));
	desc.clock = clock;
	for (size_t i = 0; i < c->n_columns; i++) {
		if (c->column[i].kind == COLUMN_LINE)
			line[c->column[i].at] = c->column[i].name;
		else if (c->column[i].kind == COLUMN_CHANNEL)
			channel[c->column[i].at] = c->column[i].name;
	}
	rc = *c->clock ? 0 : cvl_names_fill(line, c->n_lines, c->opts->names, err);
	for (size_t i = 0; i < c->n_columns; i++)
		if (c->column[i].kind == COLUMN_LINE)
			c->column[i].name = line[c->column[i].at];
	if (rc)
		return rc;
	if (!c->real)
		c->real = calloc(c->n_channels + 1, sizeof(*c->real));
	if (!c->spare)
		c->spare = calloc(c->n_channels + 1, sizeof(*c->spare));
	if (!c->real || !c->spare)
		return cvl_no_memory(err);
	if (*c->clock) {
		desc.epoch_of = c->clock;
		desc.after = tick(c->end);
		desc.base_tick = c->kept[0].row.tick;
	}
	rc = cvl_session_add(c->s, &desc, &origin, &c->w, err);
	if (!rc)
		snprintf(c->clock, sizeof(c->clock), "%s",
			 cvl_session_clock(c->s, cvl_session_clocks(c->s) - 1)->clock);
	return rc;
}

/* ---- rows ---- */

static int bad_cell(const struct csv *c, size_t column, uint64_t offset, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: \"%.20s\" is not a value for %s",
			cvl_input_name(c->in), c->value[column], c->column[column].name);
}

static int split_row(struct csv *c, char *line, uint64_t offset, struct row *row,
		     struct cvl_error *err)
{
	size_t before = (size_t)(c->value - c->cell), want = before + c->n_columns;
	size_t n = cvl_text_split(line, c->cell, want + 1);
	int rc;

	c->sigrok.row++;
	if (!n)
		return wrong(c, CVL_E_SYNTAX, offset, "unbalanced quotes", err);
	if (n != want + c->sigrok.has_trigger)
		return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: %zu cells, but the header has %zu",
				cvl_input_name(c->in), n, want + c->sigrok.has_trigger);
	if (c->sigrok.n)
		rc = csv_sigrok_tick(&c->sigrok, before ? c->cell[0] : NULL, &row->time);
	else
		rc = cvl_text_ticks(c->cell[0], c->exp10, c->rate_hz, &row->time);
	if (rc == CVL_E_RANGE)
		return wrong(c, CVL_E_RANGE, offset, "time out of range", err);
	return rc ? wrong(c, CVL_E_SYNTAX, offset, "not a time", err) : 0;
}

static int read_cells(struct csv *c, uint64_t offset, struct row *row, struct cvl_error *err)
{
	row->levels = row->unknown = 0;
	for (size_t i = 0; i < c->n_columns; i++) {
		const struct column *col = &c->column[i];
		const char *cell = c->value[i];

		if (col->kind == COLUMN_LINE) {
			if (!is_level(cell))
				return bad_cell(c, i, offset, err);
			row->levels |= (uint64_t)(cell[0] == '1') << col->at;
			row->unknown |= (uint64_t)(cell[0] > '1') << col->at;
		} else if (col->kind == COLUMN_CHANNEL && cvl_text_real(cell, &c->real[col->at])) {
			return bad_cell(c, i, offset, err);
		}
	}
	return 0;
}

/* Ticks count from the first row if its time is negative. */
static int place_row(struct csv *c, uint64_t offset, struct row *row, struct cvl_error *err)
{
	if (row->time.negative ? row->time.count > c->shift :
				 __builtin_add_overflow(row->time.count, c->shift, &row->tick))
		return wrong(c, CVL_E_RANGE, offset, "time out of range", err);
	if (row->time.negative)
		row->tick = c->shift - row->time.count;
	if (row->tick == CVL_TICK_UNKNOWN)
		return wrong(c, CVL_E_RANGE, offset, "time out of range", err);
	if (row->tick < c->tick && c->opts->strict)
		return wrong(c, CVL_E_ORDER, offset, "time goes back", err);
	return 0;
}

/* The first good row shows what the columns are, and may have a negative time. */
static int begin(struct csv *c, uint64_t offset, const struct row *first, struct cvl_error *err)
{
	int rc = place_columns(c, true, err);

	if (!rc)
		rc = open_writer(c, err);
	if (rc || !first->time.negative)
		return rc;
	c->shift = first->time.count;
	if (c->opts->report) {
		struct cvl_error e;

		cvl_fail(&e, CVL_E_RANGE, offset,
			 "%s: begins %" PRIu64 " ticks before time 0; "
			 "tick 0 is its first row",
			 cvl_input_name(c->in), c->shift);
		cvl_tell(c->opts->report, &e);
	}
	return 0;
}

static int end_gap(struct csv *c, uint64_t to, struct cvl_error *err)
{
	uint64_t lost = c->bad;

	c->bad = 0;
	return cvl_writer_gap(c->w, tick(c->tick), tick(to > c->tick ? to : c->tick), lost,
			      CVL_GAP_CORRUPT, err);
}

static int put_lines(struct csv *c, const struct row *row, struct cvl_error *err)
{
	struct cvl_tick t = tick(row->tick);

	if (row->unknown)
		return cvl_writer_edge_unknown(c->w, t, row->levels, row->unknown, err);
	return cvl_writer_edges(c->w, &t, &row->levels, 1, err);
}

static int store_row(struct csv *c, const struct row *row, uint64_t offset, struct cvl_error *err)
{
	struct cvl_tick t = tick(row->tick);
	int rc = 0;

	if (row->tick < c->tick)
		cvl_tally_add(&c->backwards, offset);
	if (!c->begun) {
		c->begun = true;
		c->tick = row->tick;
		c->levels = row->levels;
		c->unknown = row->unknown;
		if (c->n_lines)
			rc = put_lines(c, row, err);
	}
	if (!rc && c->bad)
		rc = end_gap(c, row->tick, err);
	if (!rc && (row->levels != c->levels || row->unknown != c->unknown))
		rc = put_lines(c, row, err);
	for (size_t i = 0; i < c->n_channels && !rc; i++)
		rc = cvl_writer_sample(c->w, t, (uint32_t)i, c->real[i], err);
	c->levels = row->levels;
	c->unknown = row->unknown;
	c->tick = row->tick;
	if (c->end < row->tick)
		c->end = row->tick;
	return rc;
}

/* ---- steps back ---- */

static bool steps_back(const struct csv *c, const struct row *row)
{
	return c->begun && c->end > row->tick && (c->end - row->tick) / c->rate_hz >= STEP_S;
}

/* Store the rows that were kept back. */
static int store_kept(struct csv *c, struct cvl_error *err)
{
	const size_t n = c->n_kept;
	int rc = 0;

	c->n_kept = 0;
	for (size_t i = 0; i < n && !rc; i++) {
		memcpy(c->real, c->kept[i].real, c->n_channels * sizeof(*c->real));
		rc = store_row(c, &c->kept[i].row, c->kept[i].offset, err);
	}
	return rc;
}

static int begin_epoch(struct csv *c, struct cvl_error *err)
{
	struct cvl_error e;
	int rc = cvl_session_finish(c->s, c->w, tick(c->end), err);

	c->w = NULL;
	if (rc)
		return rc;
	rc = open_writer(c, err);
	if (rc)
		return rc;
	cvl_fail(&e, CVL_E_ORDER, c->kept[0].offset,
		 "%s:%" PRIu64 ": time goes back by %" PRIu64
		 " s and goes on from there: a new epoch of the clock",
		 cvl_input_name(c->in), c->kept[0].offset,
		 (c->end - c->kept[0].row.tick) / c->rate_hz);
	cvl_tell(c->opts->report, &e);
	c->begun = false;
	c->end = 0;
	return store_kept(c, err);
}

static int keep_back(struct csv *c, const struct row *row, uint64_t offset, struct cvl_error *err)
{
	struct kept_row *k = &c->kept[c->n_kept];

	free(k->real);
	k->real = calloc(c->n_channels + 1, sizeof(*k->real));
	if (!k->real)
		return cvl_no_memory(err);
	memcpy(k->real, c->real, c->n_channels * sizeof(*k->real));
	k->row = *row;
	k->offset = offset;
	return ++c->n_kept == STEP_ROWS ? begin_epoch(c, err) : 0;
}

/*
 * A few rows far back are rows with wrong times, stored late. More, one after the other, are a clock
 * that stepped back, or was reset.
 */
static int place_in_epoch(struct csv *c, const struct row *row, uint64_t offset,
			  struct cvl_error *err)
{
	int rc;

	if (steps_back(c, row) && (!c->n_kept || row->tick >= c->kept[c->n_kept - 1].row.tick))
		return keep_back(c, row, offset, err);
	if (c->n_kept) {
		double *now = c->real;

		c->real = c->spare; /* that of the row at hand stays */
		rc = store_kept(c, err);
		c->spare = c->real;
		c->real = now;
		if (rc)
			return rc;
	}
	return store_row(c, row, offset, err);
}

/*
 * Read one row and store it. @fatal: whether a failure concerns the store or the whole file, not
 * just this row.
 */
static int take_row(struct csv *c, char *line, uint64_t offset, bool *fatal, struct cvl_error *err)
{
	struct row row = { 0 };
	double unused;
	int rc;

	*fatal = false;
	rc = split_row(c, line, offset, &row, err);
	if (rc)
		return rc;
	if (!c->w) {
		for (size_t i = 0; i < c->n_columns; i++)
			if (!is_level(c->value[i]) && cvl_text_real(c->value[i], &unused))
				return bad_cell(c, i, offset, err);
		*fatal = true;
		rc = begin(c, offset, &row, err);
		if (rc)
			return rc;
		*fatal = false;
	}
	rc = read_cells(c, offset, &row, err);
	if (!rc)
		rc = place_row(c, offset, &row, err);
	if (rc)
		return rc;
	*fatal = true;
	return place_in_epoch(c, &row, offset, err);
}

/* Store a gap from the last good row on, without an end. */
static int open_gap(struct csv *c, enum cvl_gap why, struct cvl_error *err)
{
	return cvl_writer_gap(c->w, tick(c->tick), tick(CVL_TICK_UNKNOWN),
			      c->bad ? c->bad : CVL_LOST_UNKNOWN, why, err);
}

/* The row found in place of a header, or the next line. As cvl_input_line(). */
static int next_line(struct csv *c, char **line, uint64_t *offset, bool *ended,
		     struct cvl_error *err)
{
	size_t len;

	if (!c->pending)
		return cvl_input_line(c->in, line, &len, offset, ended, err);
	*line = c->pending;
	*offset = c->pending_at;
	*ended = c->pending_ended;
	c->pending = NULL;
	return 1;
}

static int read_rows(struct csv *c, enum cvl_gap *why, struct cvl_error *err)
{
	uint64_t offset;
	bool ended, fatal;
	char *line;
	int rc;

	*why = CVL_GAP_CORRUPT;
	while ((rc = next_line(c, &line, &offset, &ended, err)) > 0) {
		if (is_comment(line) || csv_sigrok_skips(&c->sigrok, line))
			continue;
		rc = take_row(c, line, offset, &fatal, err);
		if (!rc)
			continue;
		if (fatal)
			return rc;
		if (!ended && rc == CVL_E_SYNTAX) {
			rc = wrong(c, CVL_E_TRUNCATED, offset, "the file ends inside a row", err);
			*why = CVL_GAP_TRUNCATED;
		}
		if (!c->bad++ || *why == CVL_GAP_TRUNCATED) {
			if (c->opts->strict)
				return rc;
			cvl_tell(c->opts->report, err);
		}
	}
	if (rc)
		*why = cvl_gap_after(rc);
	return rc;
}

static int finish(struct csv *c, enum cvl_gap why, int trouble, struct cvl_error *err)
{
	int rc = 0, rc2;

	if (!c->w) {
		/* no good row: an empty clock rather than none */
		rc = place_columns(c, false, err);
		if (!rc)
			rc = open_writer(c, err);
		if (rc)
			return rc;
	}
	rc = store_kept(c, err);
	if (!rc && (c->bad || trouble))
		rc = open_gap(c, why, err);
	rc2 = cvl_session_finish(c->s, c->w, tick(c->end), rc ? NULL : err);
	return rc ? rc : rc2;
}

static int csv_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct csv c = {
		.in = in,
		.opts = opts,
		.s = s,
		.rate_hz = opts->rate_hz ? opts->rate_hz : DEFAULT_RATE_HZ,
	};
	struct cvl_error trouble;
	enum cvl_gap why;
	int rc, stored;

	rc = read_header(&c, err);
	if (!rc) {
		rc = read_rows(&c, &why, &trouble);
		if (rc && !c.w) {
			if (err)
				*err = trouble;
		} else {
			stored = finish(&c, why, rc, err);
			if (rc && !stored && err)
				*err = trouble;
			if (stored)
				rc = stored;
			cvl_tally_tell(&c.backwards, opts, CVL_E_ORDER, cvl_input_name(in),
				       "times out of order; shown in order if within 10 s");
		}
	}
	for (size_t i = 0; i < c.n_columns; i++)
		free(c.column[i].name);
	csv_sigrok_free(&c.sigrok);
	free(c.column);
	free(c.cell);
	free(c.real);
	free(c.spare);
	for (size_t i = 0; i < STEP_ROWS; i++)
		free(c.kept[i].real);
	return rc;
}

/* Bytes up to the end of the line that starts at @p. */
static size_t line_length(const char *p, size_t n)
{
	const char *end = n ? memchr(p, '\n', n) : NULL;

	return end ? (size_t)(end - p) : n;
}

static int csv_probe(const uint8_t *head, size_t n, const char *path)
{
	const char *p = (const char *)head;
	size_t len;

	(void)path;
	if (csv_sigrok_probe(p, n))
		return 80;
	if (n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) {
		p += 3;
		n -= 3;
	}
	while (n && *p == ';') {
		len = line_length(p, n);
		len += len < n;
		p += len;
		n -= len;
	}
	len = line_length(p, n);
	if (len && *p == '"') {
		p++;
		len--;
	}
	/* the next byte tells "time" from "timestamp" */
	if (len < 5 || strncasecmp(p, "time", 4) || !memchr(" ,[(\"", p[4], 5))
		return 0;
	return memchr(p, ',', len) ? 70 : 0;
}

static const struct cvl_option csv_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ "rate", "HZ", "resolution of the times (default: chosen to fit)" },
	{ "names", "A,B,...", "names of the lines" },
	{ "lines", "GLOB,...", "only these columns, by name or its last part" },
	{ 0 },
};

const struct cvl_importer cvl_import_csv = {
	.name = "csv",
	.what = "CSV of a logic analyzer (Time [s],channel,...), or of sigrok-cli",
	.options = csv_options,
	.probe = csv_probe,
	.import = csv_import,
	.selects = true,
};
