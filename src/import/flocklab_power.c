/* SPDX-License-Identifier: MIT */
/*
 * FlockLab's powerprofiling.csv: `timestamp,observer_id,node_id,current_mA,voltage_V`, or in
 * version 1 of the testbed `# timestamp,observer_id,node_id,value_mA`. Rows are grouped by
 * observer, those of an observer in order of time.
 *
 * Each observer becomes a clock with the channels `current` (amperes) and, if present, `voltage`
 * (volts). It is the same clock as that of the test's gpiotracing.csv: see flocklab_clock.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flocklab_clock.h"
#include "importers.h"
#include "core/text.h"

#define MILLI 1000.0

enum { TIMESTAMP, OBSERVER, NODE, CURRENT, VOLTAGE, CELLS };

static const char *const channels[] = { "current", "voltage" };
#define CHANNELS_MAX (sizeof(channels) / sizeof(*channels))

struct observer {
	char id[FLOCKLAB_NAME_BYTES];
	struct cvl_writer *w;
	uint64_t last;        /* tick of the last row */
	uint64_t end;         /* greatest */
	struct cvl_tally bad; /* unreadable rows since then */
};

struct power_file {
	struct cvl_input *in;
	const char *name;
	const struct cvl_import_opts *opts;
	struct cvl_session *s;
	size_t n_channels;
	struct flocklab_start start;
	struct observer observer[FLOCKLAB_OBSERVERS_MAX];
	size_t n_observers;
	struct observer *current; /* of the last good row */
	struct cvl_tally bad;     /* rows before any observer is known */
	struct cvl_tally late;
};

struct row {
	uint64_t tick;
	double value[CHANNELS_MAX];
};

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

static int wrong(const struct power_file *f, enum cvl_code code, uint64_t offset, const char *what,
		 struct cvl_error *err)
{
	return cvl_fail(err, code, offset, "%s: %s", f->name, what);
}

/* Number of analog channels in the header @line; 0: not a header. */
static size_t header_channels(char *line)
{
	char *cell[CELLS];
	size_t n;

	line += strspn(line, "# ");
	n = cvl_text_split(line, cell, CELLS);
	if (n <= CURRENT || strcmp(cell[TIMESTAMP], "timestamp") ||
	    strcmp(cell[OBSERVER], "observer_id") || strcmp(cell[NODE], "node_id"))
		return 0;
	if (n == CURRENT + 1 &&
	    (!strcmp(cell[CURRENT], "value_mA") || !strcmp(cell[CURRENT], "current_mA")))
		return 1;
	return n == CELLS && !strcmp(cell[CURRENT], "current_mA") &&
			       !strcmp(cell[VOLTAGE], "voltage_V") ?
		       2 :
		       0;
}

static int check_header(struct power_file *f, struct cvl_error *err)
{
	uint64_t offset;
	size_t len;
	bool ended;
	char *line;
	int rc = cvl_input_line(f->in, &line, &len, &offset, &ended, err);

	if (rc < 0)
		return rc;
	if (!rc)
		return wrong(f, CVL_E_TRUNCATED, 0, "empty file", err);
	f->n_channels = header_channels(line);
	if (f->n_channels)
		return 0;
	return wrong(f, ended ? CVL_E_MAGIC : CVL_E_TRUNCATED, offset,
		     "not the header of a powerprofiling.csv", err);
}

static int parse_row(struct power_file *f, char **cell, size_t n, uint64_t offset, struct row *row,
		     struct cvl_error *err)
{
	if (n != CURRENT + f->n_channels)
		return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: %zu cells, expected %zu", f->name,
				n, CURRENT + f->n_channels);
	if (!flocklab_is_id(cell[OBSERVER]) || !flocklab_is_id(cell[NODE]))
		return wrong(f, CVL_E_SYNTAX, offset, "invalid observer or node id", err);
	for (size_t i = 0; i < f->n_channels; i++)
		if (cvl_text_real(cell[CURRENT + i], &row->value[i]))
			return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: \"%.20s\" is not a reading",
					f->name, cell[CURRENT + i]);
	row->value[0] /= MILLI;
	return flocklab_tick(&f->start, f->s, f->name, cell[TIMESTAMP], offset, &row->tick, err);
}

static struct observer *find(struct power_file *f, const char *id)
{
	if (f->current && !strcmp(f->current->id, id))
		return f->current;
	for (size_t i = 0; i < f->n_observers; i++)
		if (!strcmp(f->observer[i].id, id))
			return &f->observer[i];
	return NULL;
}

static int add(struct power_file *f, char **cell, const struct row *row, uint64_t offset,
	       struct observer **out, struct cvl_error *err)
{
	struct cvl_store_desc desc = { .channels = channels, .n_channels = f->n_channels };
	struct observer *o = &f->observer[f->n_observers];
	int rc;

	if (f->n_observers == FLOCKLAB_OBSERVERS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, offset, "%s: more than %d observers", f->name,
				FLOCKLAB_OBSERVERS_MAX);
	strcpy(o->id, cell[OBSERVER]);
	rc = flocklab_clock(f->s, f->in, f->opts, &f->start, "flocklab-power", o->id, cell[NODE],
			    &desc, &o->w, err);
	if (rc)
		return rc;
	o->last = o->end = row->tick;
	o->bad = f->bad;
	f->bad.n = 0;
	f->n_observers++;
	*out = o;
	return 0;
}

static int put_gap(struct observer *o, uint64_t to, enum cvl_gap why, struct cvl_error *err)
{
	uint64_t from = to < o->last ? to : o->last, lost = o->bad.n;

	o->bad.n = 0;
	return cvl_writer_gap(o->w, tick(from), tick(to < o->last ? o->last : to), lost, why, err);
}

static int store_row(struct power_file *f, struct observer *o, const struct row *row,
		     uint64_t offset, struct cvl_error *err)
{
	int rc = 0;

	if (row->tick < o->last) {
		cvl_tally_add(&f->late, offset);
		if (f->opts->strict)
			return wrong(f, CVL_E_ORDER, offset, "time goes back", err);
	}
	if (o->bad.n)
		rc = put_gap(o, row->tick, CVL_GAP_CORRUPT, err);
	for (size_t i = 0; i < f->n_channels && !rc; i++)
		rc = cvl_writer_sample(o->w, tick(row->tick), (uint32_t)i, row->value[i], err);
	f->current = o;
	o->last = row->tick;
	o->end = o->end > row->tick ? o->end : row->tick;
	return rc;
}

/* @fatal: whether a failure concerns the store or the whole file, not just this row. */
static int take_row(void *ctx, char *line, uint64_t offset, bool *fatal, struct cvl_error *err)
{
	struct power_file *f = ctx;
	char *cell[CELLS];
	size_t n = cvl_text_split(line, cell, CELLS);
	struct observer *o = NULL;
	struct row row;
	int rc;

	*fatal = false;
	rc = parse_row(f, cell, n, offset, &row, err);
	if (n > OBSERVER)
		o = find(f, cell[OBSERVER]);
	if (rc) {
		/* most likely of the group it is in */
		o = o ? o : f->current;
		cvl_tally_add(o ? &o->bad : &f->bad, offset);
		return rc;
	}
	*fatal = true;
	if (!o)
		rc = add(f, cell, &row, offset, &o, err);
	return rc ? rc : store_row(f, o, &row, offset, err);
}

static int finish(struct power_file *f, struct observer *o, enum cvl_gap why, bool trouble,
		  struct cvl_error *err)
{
	int rc = 0, rc2;

	if (trouble && !o->bad.n && o == f->current)
		o->bad = (struct cvl_tally){ CVL_LOST_UNKNOWN, cvl_input_offset(f->in) };
	if (o->bad.n)
		rc = put_gap(o, CVL_TICK_UNKNOWN, why, err);
	rc2 = cvl_session_finish(f->s, o->w, tick(o->end), rc ? NULL : err);
	return rc ? rc : rc2;
}

static int power_import(struct cvl_input *in, struct cvl_session *s,
			const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct power_file *f = calloc(1, sizeof(*f));
	struct cvl_error trouble;
	enum cvl_gap why;
	int rc, failed = 0;

	if (!f)
		return cvl_no_memory(err);
	f->in = in;
	f->name = cvl_input_name(in);
	f->opts = opts;
	f->s = s;
	rc = check_header(f, err);
	if (rc) {
		free(f);
		return rc;
	}
	rc = flocklab_rows(in, opts, take_row, f, &why, &trouble);
	for (size_t i = 0; i < f->n_observers; i++) {
		int one = finish(f, &f->observer[i], why, rc != 0, failed ? NULL : err);

		failed = failed ? failed : one;
	}
	cvl_tally_tell(&f->late, opts, CVL_E_ORDER, f->name, "rows out of order; stored late");
	if (!failed && rc) {
		if (err)
			*err = trouble;
		failed = rc;
	}
	if (!failed && !f->n_observers)
		failed = wrong(f, CVL_E_MISSING, cvl_input_offset(in), "no row could be read", err);
	free(f);
	return failed;
}

static int power_probe(const uint8_t *head, size_t n, const char *path)
{
	static const char header[] = "timestamp,observer_id,node_id,";
	char line[128];
	size_t at = 0, len = 0;

	(void)path;
	while (at < n && (head[at] == '#' || head[at] == ' '))
		at++;
	while (at + len < n && len < sizeof(line) - 1 && head[at + len] != '\n' &&
	       head[at + len] != '\r')
		len++;
	if (len < strlen(header) || memcmp(head + at, header, strlen(header)))
		return 0;
	memcpy(line, head + at, len);
	line[len] = '\0';
	return header_channels(line) ? 90 : 0;
}

static const struct cvl_option power_options[] = {
	{ "node", "NAME", "prefix for the names of the test's nodes" },
	{ 0 },
};

const struct cvl_importer cvl_import_flocklab_power = {
	.name = "flocklab-power",
	.what = "FlockLab's powerprofiling.csv, version 1 or 2",
	.options = power_options,
	.probe = power_probe,
	.import = power_import,
	.in_turn = true,
};
