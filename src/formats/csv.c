/* SPDX-License-Identifier: MIT */
/*
 * CSV as logic analyzers export it: a header `Time [s],name,...`, then rows of a time and a value
 * for each channel. Columns of 0 and 1 become lines, columns of other numbers analog channels.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "importers.h"
#include "input.h"
#include "text.h"

#define DEFAULT_RATE_HZ 1000000000u
#define PROGRESS_ROWS 1024

enum column_kind { COLUMN_LINE, COLUMN_CHANNEL, COLUMN_LEFT_OUT };

struct column {
	char *name;
	enum column_kind kind;
	unsigned at; /* number of the line or channel */
};

struct csv {
	struct cvl_input *in;
	const struct cvl_import_opts *opts;
	struct cvl_session *s;
	struct cvl_writer *w; /* NULL until the first good row has told what the columns are */

	struct column *column;
	char **cell;  /* of the current row: the time first */
	double *real; /* of the current row, by channel */
	size_t n_columns, n_lines, n_channels;
	int exp10; /* unit of the times, 10^exp10 s */
	uint64_t rate_hz;

	uint64_t shift; /* added to the times, so that the first one is no less than 0 */
	uint64_t tick, end, levels;

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

static int no_memory(const struct csv *c, struct cvl_error *err)
{
	return wrong(c, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory", err);
}

/* ---- header ---- */

/* Whether @cell heads a column of times, and in which unit. */
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

static int read_header(struct csv *c, struct cvl_error *err)
{
	uint64_t offset;
	size_t len, n;
	bool ended;
	char *line;
	int rc;

	do {
		rc = cvl_input_line(c->in, &line, &len, &offset, &ended, err);
		if (rc < 0)
			return rc;
		if (!rc)
			return wrong(c, CVL_E_TRUNCATED, cvl_input_offset(c->in),
				     "the file ends before its header", err);
		line += skip_bom(line) - line;
	} while (is_comment(line));
	n = 1;
	for (const char *p = line; *p; p++)
		n += *p == ',';
	c->cell = calloc(n, sizeof(*c->cell));
	if (!c->cell)
		return no_memory(c, err);
	n = cvl_text_split(line, c->cell, n);
	if (!n || !is_time(c->cell[0], &c->exp10))
		return wrong(c, CVL_E_MAGIC, offset, "the header does not begin with a time", err);
	if (n == 1)
		return wrong(c, ended ? CVL_E_MISSING : CVL_E_TRUNCATED, offset,
			     "the header names no channel", err);
	c->column = calloc(n - 1, sizeof(*c->column));
	if (!c->column)
		return no_memory(c, err);
	for (; c->n_columns < n - 1; c->n_columns++) {
		struct column *col = &c->column[c->n_columns];

		col->name = strdup(c->cell[c->n_columns + 1]);
		if (!col->name)
			return no_memory(c, err);
	}
	return 0;
}

/* ---- columns to lines and channels ---- */

static bool is_bit(const char *cell)
{
	return (cell[0] == '0' || cell[0] == '1') && !cell[1];
}

/* Decide what each column is from the cells of the first good row; without one all are lines. */
static int place_columns(struct csv *c, bool by_cells, struct cvl_error *err)
{
	size_t left_out = 0;
	struct cvl_error e;

	for (size_t i = 0; i < c->n_columns; i++) {
		struct column *col = &c->column[i];

		col->kind = !by_cells || is_bit(c->cell[i + 1]) ? COLUMN_LINE : COLUMN_CHANNEL;
		if (col->kind == COLUMN_LINE && c->n_lines < CVL_LINES_MAX) {
			col->at = (unsigned)c->n_lines++;
		} else if (col->kind == COLUMN_CHANNEL && c->n_channels < CVL_CHANNELS_MAX) {
			col->at = (unsigned)c->n_channels++;
		} else {
			col->kind = COLUMN_LEFT_OUT;
			left_out++;
		}
	}
	if (!left_out)
		return 0;
	cvl_fail(&e, CVL_E_LIMIT, 0,
		 "%s: %zu of %zu columns are left out: a clock holds %d lines and %d "
		 "channels",
		 cvl_input_name(c->in), left_out, c->n_columns, CVL_LINES_MAX, CVL_CHANNELS_MAX);
	if (!c->opts->strict) {
		cvl_tell(c->opts->report, &e);
		return 0;
	}
	if (err)
		*err = e;
	return e.code;
}

static int open_writer(struct csv *c, struct cvl_error *err)
{
	struct cvl_origin origin = { .format = "csv", .path = cvl_input_path(c->in) };
	char *line[CVL_LINES_MAX];
	const char *channel[CVL_CHANNELS_MAX];
	struct cvl_store_desc desc = {
		.rate_hz = c->rate_hz,
		.lines = (const char *const *)line,
		.n_lines = c->n_lines,
		.channels = channel,
		.n_channels = c->n_channels,
	};
	char clock[256];
	int rc;

	if (!origin.path)
		origin.path = cvl_input_name(c->in);
	cvl_input_clock_name(c->in, c->opts, clock, sizeof(clock));
	desc.clock = clock;
	for (size_t i = 0; i < c->n_columns; i++) {
		if (c->column[i].kind == COLUMN_LINE)
			line[c->column[i].at] = c->column[i].name;
		else if (c->column[i].kind == COLUMN_CHANNEL)
			channel[c->column[i].at] = c->column[i].name;
	}
	rc = cvl_text_rename(c->opts->names, line, c->n_lines);
	for (size_t i = 0; i < c->n_columns; i++)
		if (c->column[i].kind == COLUMN_LINE)
			c->column[i].name = line[c->column[i].at];
	if (rc == CVL_E_USAGE)
		return wrong(c, CVL_E_USAGE, CVL_NO_OFFSET, "has fewer lines than there are names",
			     err);
	if (rc)
		return no_memory(c, err);
	c->real = calloc(c->n_channels + 1, sizeof(*c->real));
	if (!c->real)
		return no_memory(c, err);
	return cvl_session_add(c->s, &desc, &origin, &c->w, err);
}

/* ---- rows ---- */

/* A row, read from its cells before any of it is stored. */
struct row {
	struct cvl_text_ticks time;
	uint64_t tick, levels;
};

static int bad_cell(const struct csv *c, size_t column, uint64_t offset, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: \"%.20s\" is no value for %s",
			cvl_input_name(c->in), c->cell[column + 1], c->column[column].name);
}

static int split_row(struct csv *c, char *line, uint64_t offset, struct row *row,
		     struct cvl_error *err)
{
	size_t n = cvl_text_split(line, c->cell, c->n_columns + 1);
	int rc;

	if (!n)
		return wrong(c, CVL_E_SYNTAX, offset, "quotes that do not match", err);
	if (n != c->n_columns + 1)
		return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: %zu cells where the header has %zu",
				cvl_input_name(c->in), n, c->n_columns + 1);
	rc = cvl_text_ticks(c->cell[0], c->exp10, c->rate_hz, &row->time);
	if (rc == CVL_E_RANGE)
		return wrong(c, CVL_E_RANGE, offset, "a time out of range", err);
	return rc ? wrong(c, CVL_E_SYNTAX, offset, "not a time", err) : 0;
}

static int read_cells(struct csv *c, uint64_t offset, struct row *row, struct cvl_error *err)
{
	row->levels = 0;
	for (size_t i = 0; i < c->n_columns; i++) {
		const struct column *col = &c->column[i];
		const char *cell = c->cell[i + 1];

		if (col->kind == COLUMN_LINE) {
			if (!is_bit(cell))
				return bad_cell(c, i, offset, err);
			row->levels |= (uint64_t)(cell[0] == '1') << col->at;
		} else if (col->kind == COLUMN_CHANNEL && cvl_text_real(cell, &c->real[col->at])) {
			return bad_cell(c, i, offset, err);
		}
	}
	return 0;
}

/* Ticks count from the first row if that is before the time's zero. */
static int place_row(struct csv *c, uint64_t offset, struct row *row, struct cvl_error *err)
{
	if (row->time.negative ? row->time.count > c->shift :
				 __builtin_add_overflow(row->time.count, c->shift, &row->tick))
		return wrong(c, CVL_E_RANGE, offset, "a time out of range", err);
	if (row->time.negative)
		row->tick = c->shift - row->time.count;
	if (row->tick == CVL_TICK_UNKNOWN)
		return wrong(c, CVL_E_RANGE, offset, "a time out of range", err);
	if (row->tick < c->tick && c->opts->strict)
		return wrong(c, CVL_E_ORDER, offset, "time goes back", err);
	return 0;
}

/* The first good row tells what the columns are, and may be before the time's zero. */
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
		if (c->n_lines)
			rc = cvl_writer_levels(c->w, t, row->levels, err);
	}
	if (!rc && c->bad)
		rc = end_gap(c, row->tick, err);
	if (!rc && row->levels != c->levels)
		rc = cvl_writer_edges(c->w, &t, &row->levels, 1, err);
	for (size_t i = 0; i < c->n_channels && !rc; i++)
		rc = cvl_writer_sample(c->w, t, (uint32_t)i, c->real[i], err);
	c->levels = row->levels;
	c->tick = row->tick;
	if (c->end < row->tick)
		c->end = row->tick;
	return rc;
}

/*
 * Read one row and store it. @fatal: whether a failure is of the store or of the file as a whole,
 * not of this row alone.
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
			if (cvl_text_real(c->cell[i + 1], &unused))
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
	return store_row(c, &row, offset, err);
}

/* Store that rows were lost from the last good one on, for ever. */
static int open_gap(struct csv *c, enum cvl_gap why, struct cvl_error *err)
{
	return cvl_writer_gap(c->w, tick(c->tick), tick(CVL_TICK_UNKNOWN),
			      c->bad ? c->bad : CVL_LOST_UNKNOWN, why, err);
}

static int read_rows(struct csv *c, enum cvl_gap *why, struct cvl_error *err)
{
	uint64_t offset, rows = 0;
	bool ended, fatal;
	size_t len;
	char *line;
	int rc;

	*why = CVL_GAP_CORRUPT;
	while ((rc = cvl_input_line(c->in, &line, &len, &offset, &ended, err)) > 0) {
		if (!(rows++ % PROGRESS_ROWS))
			cvl_input_progress(c->in, c->opts);
		if (is_comment(line))
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
	return rc;
}

static int finish(struct csv *c, enum cvl_gap why, int trouble, struct cvl_error *err)
{
	int rc = 0, rc2;

	if (!c->w) {
		/* no good row: a clock that saw nothing, rather than no clock */
		rc = place_columns(c, false, err);
		if (!rc)
			rc = open_writer(c, err);
		if (rc)
			return rc;
	}
	if (c->bad || trouble)
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
				       "times that go back; stored late");
		}
	}
	for (size_t i = 0; i < c.n_columns; i++)
		free(c.column[i].name);
	free(c.column);
	free(c.cell);
	free(c.real);
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
	/* the byte behind tells "time" from "timestamp" */
	if (len < 5 || strncasecmp(p, "time", 4) || !memchr(" ,[(\"", p[4], 5))
		return 0;
	return memchr(p, ',', len) ? 70 : 0;
}

const struct cvl_importer cvl_import_csv = {
	.name = "csv",
	.what = "CSV of a logic analyzer: Time [s],channel,...",
	.probe = csv_probe,
	.import = csv_import,
};
