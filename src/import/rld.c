/* SPDX-License-Identifier: MIT */
/*
 * RocketLogger data files: readings of volts and amperes, and digital lines, in blocks. See
 * rld_header.h for the bytes, rld_stamps.h for the clock, rld_store.h for what is stored.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "importers.h"
#include <coeval/files.h>
#include "input.h"
#include "rld_store.h"
#include "core/text.h"
#include "store/samples.h"

/* Difference between wall clock and monotonic clock that counts as a step. */
#define WALL_STEP_NS 1000000000

struct rld {
	struct cvl_input *in;
	const struct cvl_import_opts *opts;
	const char *name;
	struct rld_header h;
	struct rld_stamps stamps;
	struct rld_store store;
	size_t row;     /* bytes per sample */
	uint64_t done;  /* samples of the file processed */
	bool unstamped; /* no block with a valid time yet */
	uint64_t end;
	int64_t wall_ns; /* wall clock minus monotonic clock, at the first block */
	struct cvl_tally bad_stamps, back, wall;
};

static struct cvl_tick tick(uint64_t count)
{
	return (struct cvl_tick){ count };
}

/* ---- blocks ---- */

/* Count an anomaly in @tally; the first is reported, or is an error if strict. */
static int odd(const struct rld *r, struct cvl_tally *tally, enum cvl_code code, const char *what,
	       struct cvl_error *err)
{
	cvl_tally_add(tally, cvl_input_offset(r->in));
	if (!r->opts->strict)
		return 0;
	return cvl_fail(err, code, tally->offset, "%s: %s", r->name, what);
}

static const char bad_stamp[] = "block with an invalid time; its samples are dropped";
static const char back_stamp[] = "block timestamped before the samples ahead of it";
static const char wall_stamp[] = "the wall clock was set before this block";

/* Take the timestamp of the next block at @p. *@bad: it is invalid. */
static int take_stamp(struct rld *r, const unsigned char *p, bool *bad, struct cvl_error *err)
{
	int64_t wall, mono, back;
	uint64_t lost, before = r->stamps.position;
	enum rld_jump jump;
	int rc = 0;

	*bad = !rld_stamp(p, &wall) || !rld_stamp(p + 16, &mono);
	if (*bad)
		return odd(r, &r->bad_stamps, CVL_E_RANGE, bad_stamp, err);
	if (r->unstamped)
		r->wall_ns = wall - mono;
	else if (wall - mono - r->wall_ns > WALL_STEP_NS ||
		 wall - mono - r->wall_ns < -WALL_STEP_NS)
		rc = odd(r, &r->wall, CVL_E_MISMATCH, wall_stamp, err);
	r->unstamped = false;
	if (rc)
		return rc;
	jump = rld_stamps_block(&r->stamps, mono, &lost, &back);
	if (jump == RLD_FAR) {
		*bad = true;
		return odd(r, &r->bad_stamps, CVL_E_RANGE, bad_stamp, err);
	}
	if (jump == RLD_LOST) {
		uint64_t from = rld_tick(&r->stamps, before);

		rc = rld_store_gap(&r->store, from, r->stamps.position, lost, CVL_GAP_OVERFLOW,
				   err);
		if (!rc)
			rc = cvl_writer_slip(r->store.w, tick(r->store.last),
					     tick(rld_tick(&r->stamps, r->stamps.position)),
					     rld_slack(&r->stamps), err);
	} else if (jump == RLD_BACK) {
		rc = odd(r, &r->back, CVL_E_ORDER, back_stamp, err);
		if (!rc)
			rc = cvl_writer_slip(r->store.w, tick(r->store.last),
					     tick(rld_tick(&r->stamps, before)),
					     (uint64_t)back / 10 + rld_slack(&r->stamps), err);
	}
	if (rc)
		return rc;
	return rld_store_block(&r->store, wall, mono, err);
}

/*
 * Take @n samples of a block; @bad: drop them. Returns 0 or a code; *@ended: the file ended before
 * them.
 */
static int take_rows(struct rld *r, uint64_t n, bool bad, bool *ended, struct cvl_error *err)
{
	uint64_t first = r->stamps.position, from = rld_tick(&r->stamps, first);
	const unsigned char *p;
	int rc = 0;

	while (n && !rc) {
		ssize_t have = cvl_input_peek(r->in, r->row, &p, err);
		uint64_t rows;

		if (have < 0)
			return (int)have;
		rows = (uint64_t)have / r->row;
		if (!rows) {
			*ended = true;
			break;
		}
		rows = rows < n ? rows : n;
		for (uint64_t i = 0; i < rows && !rc; i++) {
			if (bad)
				r->stamps.position++;
			else
				rc = rld_store_row(&r->store, p + i * r->row,
						   cvl_input_offset(r->in), err);
		}
		cvl_input_skip(r->in, rows * r->row);
		r->done += rows;
		n -= rows;
	}
	if (bad && !rc && r->stamps.position > first)
		rc = rld_store_gap(&r->store, from, r->stamps.position, r->stamps.position - first,
				   CVL_GAP_CORRUPT, err);
	return rc;
}

static int read_blocks(struct rld *r, bool *cut, struct cvl_error *err)
{
	const unsigned char *p;
	bool ended = false, bad;
	int rc = 0;

	while (!rc && !ended && (!r->h.samples || r->done < r->h.samples)) {
		uint64_t rows = r->h.block;
		ssize_t have = cvl_input_peek(r->in, RLD_STAMP_BYTES, &p, err);

		if (have < 0)
			return (int)have;
		if (have < RLD_STAMP_BYTES) {
			*cut = have || r->h.samples;
			return 0;
		}
		rc = take_stamp(r, p, &bad, err);
		if (rc)
			return rc;
		cvl_input_skip(r->in, RLD_STAMP_BYTES);
		if (r->h.samples && r->h.samples - r->done < rows)
			rows = r->h.samples - r->done;
		rc = take_rows(r, rows, bad, &ended, err);
	}
	*cut = ended;
	return rc;
}

/* ---- the file ---- */

/*
 * RocketLogger 2.0.0 and 2.0.1 wrote an empty word of binary channels into each sample even if
 * there are none (the project's issue 57). The file size shows this, or if unknown the second
 * block's timestamp.
 */
static bool is_stuffed(const struct rld *r, const unsigned char *head, size_t n)
{
	const uint64_t word = 4, stamps = (uint64_t)RLD_STAMP_BYTES * r->h.blocks;
	const uint64_t size = cvl_input_size(r->in), plain = r->h.bytes + stamps;
	size_t at = r->h.bytes + RLD_STAMP_BYTES;
	int64_t first, a, b;
	uint64_t block;

	if (r->h.n_lines || r->h.version < 4 || r->h.samples > UINT64_MAX / 16384)
		return false;
	if (size && size == plain + r->h.samples * r->row)
		return false;
	if (size && r->h.samples && size == plain + r->h.samples * (r->row + word))
		return true;
	block = (uint64_t)r->h.block * r->row;
	if (at + block + (uint64_t)r->h.block * word + RLD_STAMP_BYTES > n ||
	    !rld_stamp(head + r->h.bytes, &first))
		return false;
	if (rld_stamp(head + at + block, &a) && a > first)
		return false;
	return rld_stamp(head + at + block + (size_t)r->h.block * word, &b) && b > first;
}

static int read_header(struct rld *r, struct cvl_session *s, struct cvl_error *err)
{
	const unsigned char *p;
	ssize_t n = cvl_input_peek(r->in, RLD_LEAD_BYTES, &p, err);
	int64_t start;
	size_t bytes;
	int rc;

	if (n < 0)
		return (int)n;
	if (n < RLD_LEAD_BYTES)
		return cvl_fail(err,
				n >= 4 && memcmp(p, RLD_MAGIC, 4) ? CVL_E_MAGIC : CVL_E_TRUNCATED,
				(uint64_t)n, "%s: the file ends inside its header", r->name);
	bytes = rld_header_bytes(p);
	if (!bytes)
		return cvl_fail(err, CVL_E_MAGIC, 0, "%s: not a RocketLogger data file", r->name);
	n = cvl_input_peek(r->in, CVL_INPUT_WINDOW, &p, err);
	if (n < 0)
		return (int)n;
	if ((size_t)n < bytes)
		return cvl_fail(err, CVL_E_TRUNCATED, (uint64_t)n,
				"%s: the file ends inside its header", r->name);
	rc = rld_header_parse(&r->h, p, bytes, r->name, err);
	if (rc)
		return rc;
	r->stamps.rate = r->h.rate;
	r->stamps.block = r->h.block;
	r->row = rld_row_bytes(&r->h);
	r->store.line_bytes = rld_line_bytes(&r->h);
	if (is_stuffed(r, p, (size_t)n)) {
		r->store.line_bytes = 4;
		r->row += 4;
	}
	r->store.h = &r->h;
	r->store.stamps = &r->stamps;
	r->store.name = r->name;
	if ((size_t)n < bytes + RLD_STAMP_BYTES || !rld_stamp(p + bytes, &start))
		start = 0;
	rc = rld_store_open(&r->store, r->in, s, r->opts, start, err);
	cvl_input_skip(r->in, bytes);
	return rc;
}

/* The file ends early: leave a gap for the samples announced in its header. */
static int tell_cut(struct rld *r, struct cvl_error *problem, struct cvl_error *err)
{
	uint64_t lost = r->h.samples > r->done ? r->h.samples - r->done : CVL_LOST_UNKNOWN;
	uint64_t from = rld_tick(&r->stamps, r->stamps.position);
	uint64_t to = CVL_TICK_UNKNOWN;

	if (lost == CVL_LOST_UNKNOWN)
		cvl_fail(problem, CVL_E_TRUNCATED, cvl_input_offset(r->in),
			 "%s: the file ends inside a block", r->name);
	else
		cvl_fail(problem, CVL_E_TRUNCATED, cvl_input_offset(r->in),
			 "%s: the file ends %" PRIu64 " samples early, after %" PRIu64, r->name,
			 lost, r->done);
	if (lost < UINT64_MAX - r->stamps.position)
		to = rld_tick(&r->stamps, r->stamps.position + lost - 1);
	r->end = to == CVL_TICK_UNKNOWN ? r->end : to;
	return cvl_writer_gap(r->store.w, tick(from), tick(to), lost, CVL_GAP_TRUNCATED, err);
}

static void tell_rest(struct rld *r)
{
	const uint64_t part = r->h.samples % r->h.block;
	const unsigned char *p;
	struct cvl_error e;
	ssize_t n = cvl_input_peek(r->in, 1, &p, &e);

	/* the last block may still be as long as the others */
	if (n <= 0 || (part && cvl_input_size(r->in) ==
				       cvl_input_offset(r->in) + (r->h.block - part) * r->row))
		return;
	cvl_fail(&e, CVL_E_MISMATCH, cvl_input_offset(r->in),
		 "%s: data after the last sample is ignored", r->name);
	cvl_tell(r->opts->report, &e);
}

/* The logger begins a new file when one gets too large: x.rld, x_p1.rld, x_p2.rld. */
static void tell_next_part(const struct rld *r)
{
	const char *path = cvl_input_path(r->in), *end = path ? strrchr(path, '.') : NULL;
	const char *digits = end;
	unsigned long part = 0;
	struct cvl_error e;
	char next[CVL_PATH_MAX];

	if (!end || strcmp(end, ".rld") != 0)
		return;
	while (digits > path && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (digits < end && digits > path + 2 && !memcmp(digits - 2, "_p", 2)) {
		part = strtoul(digits, NULL, 10);
		end = digits - 2;
	}
	if (part == ULONG_MAX || snprintf(next, sizeof(next), "%.*s_p%lu.rld", (int)(end - path),
					  path, part + 1) >= (int)sizeof(next))
		return;
	if (access(next, F_OK))
		return;
	cvl_fail(&e, CVL_E_NO, cvl_input_offset(r->in),
		 "%s: the measurement continues in %s; import that as a clock of its own", r->name,
		 next);
	cvl_tell(r->opts->report, &e);
}

static int finish(struct rld *r, struct cvl_session *s, int rc, bool cut, struct cvl_error *err)
{
	struct cvl_error problem, e;
	int rc2;

	r->end = r->store.last;
	if (rc) {
		rc2 = cvl_writer_gap(r->store.w, tick(r->store.last), tick(CVL_TICK_UNKNOWN),
				     CVL_LOST_UNKNOWN, cvl_gap_after(rc), &e);
	} else if (cut) {
		rc = tell_cut(r, &problem, err);
		if (!rc && r->opts->strict) {
			if (err)
				*err = problem;
			rc = CVL_E_TRUNCATED;
		} else if (!rc) {
			cvl_tell(r->opts->report, &problem);
		}
	} else {
		tell_rest(r);
	}
	rc2 = cvl_session_finish(s, r->store.w, tick(r->end), rc ? NULL : err);
	return rc ? rc : rc2;
}

static int rld_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct rld *r = calloc(1, sizeof(*r));
	bool cut = false;
	int rc;

	if (!r)
		return cvl_no_memory(err);
	r->in = in;
	r->opts = opts;
	r->name = cvl_input_name(in);
	r->unstamped = true;
	rc = read_header(r, s, err);
	if (!rc)
		rc = read_blocks(r, &cut, err);
	if (r->store.w)
		rc = finish(r, s, rc, cut, err);
	if (!rc)
		tell_next_part(r);
	cvl_tally_tell(&r->bad_stamps, opts, CVL_E_RANGE, r->name,
		       "blocks with an invalid time; their samples are dropped");
	cvl_tally_tell(&r->back, opts, CVL_E_ORDER, r->name,
		       "blocks timestamped before the samples ahead of them");
	cvl_tally_tell(&r->wall, opts, CVL_E_MISMATCH, r->name,
		       "blocks whose wall clock was set since the first");
	rld_header_free(&r->h);
	rld_store_free(&r->store);
	free(r);
	return rc;
}

static int rld_probe(const uint8_t *head, size_t n, const char *path)
{
	(void)path;
	return n >= 8 && !memcmp(head, RLD_MAGIC, 4) ? 95 : 0;
}

static const struct cvl_option rld_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ "names", "A,B,...", "names of the lines" },
	{ 0 },
};

const struct cvl_importer cvl_import_rld = {
	.name = "rld",
	.what = "RocketLogger data file, versions 2 to 4",
	.options = rld_options,
	.probe = rld_probe,
	.import = rld_import,
};
