/* SPDX-License-Identifier: MIT */
#include "lod/lod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lod/blocks.h"
#include "lod/build.h"
#include "store/derived.h"
#include "store/stored.h"

/* Records that a leaf holds on average. */
#define LEAF_RECORDS 128

struct cvl_lod {
	const struct cvl_session *s;
	size_t clock, number;
	struct cvl_trace *trace;
	struct cvl_stream *stream; /* NULL once it was read to its end */
	struct cvl_stream_opts opts;
	bool begun;   /* the leaf is known */
	uint64_t end; /* of its packets */
	struct lod_build build;
	struct lod_blocks blocks, tail; /* complete cells; and those of now */
	bool tail_good;
};

static int out_of_memory(int rc, struct cvl_error *err)
{
	return rc == CVL_E_NOMEM ? cvl_no_memory(err) : rc;
}

/* ---- kept ---- */

static bool path_of(const struct cvl_lod *l, bool make, char path[CVL_PATH_MAX],
		    char stamp[DERIVED_STAMP])
{
	const char *trace = cvl_session_clock(l->s, l->clock)->trace;
	const char *stream = cvl_trace_stream_name(l->trace, l->number);
	char base[200], name[500];

	cvl_path_base(base, sizeof(base), trace);
	return (size_t)snprintf(name, sizeof(name), "%s.%s.levels", base, stream) < 256 &&
	       derived_path(l->s, name, make, path) && derived_stamp(trace, stream, stamp);
}

static bool load(struct cvl_lod *l)
{
	char path[CVL_PATH_MAX], stamp[DERIVED_STAMP];
	uint64_t facts[4];

	if (!path_of(l, false, path, stamp) ||
	    lod_blocks_load(&l->blocks, path, stamp, facts, NULL))
		return false;
	l->build.leaf = (unsigned)(facts[0] & 31);
	l->build.tracks = (size_t)facts[1];
	l->build.channels = l->blocks.channels;
	l->build.first = facts[2];
	l->build.last = l->end = facts[3];
	l->build.any = facts[2] <= facts[3];
	return true;
}

/* What cannot be kept is made again the next time. */
static void save(struct cvl_lod *l, const char *stamp)
{
	struct cvl_tick first = { 1 }, last = { 0 };
	const bool any = cvl_lod_range(l, &first, &last);
	const uint64_t facts[4] = { l->build.leaf, l->build.tracks, any ? first.count : 1,
				    any ? last.count : 0 };
	char path[CVL_PATH_MAX], now[DERIVED_STAMP];

	if (path_of(l, true, path, now) && !strcmp(now, stamp))
		lod_blocks_save(&l->blocks, path, stamp, facts, NULL);
}

/* What is kept is read from there from now on: in memory it would be for as long as it is looked at. */
static void use_kept(struct cvl_lod *l)
{
	struct lod_blocks made = l->blocks;

	l->blocks = (struct lod_blocks){ 0 };
	if (!load(l)) {
		l->blocks = made;
		return;
	}
	lod_blocks_free(&made);
	lod_build_free(&l->build);
	l->begun = false;
}

/* ---- made ---- */

static int put_cell(void *ctx, unsigned level, const struct cvl_lod_cell *cell)
{
	return lod_blocks_put(ctx, level, cell);
}

/* The level whose buckets hold about LEAF_RECORDS of @batch: half as many to twice as many. */
static unsigned leaf_of(const struct cvl_batch *b)
{
	const uint64_t ticks = b->tick[b->n - 1].count - b->tick[0].count;
	const double each = (double)ticks / (double)b->n * LEAF_RECORDS;
	unsigned leaf = 1;

	while (leaf < 24 && (double)(UINT64_C(1) << 2 * (leaf + 1)) <= 2 * each)
		leaf++;
	return b->n > 1 && ticks < UINT64_C(1) << 60 ? leaf : 8;
}

static int begin(struct cvl_lod *l, const struct cvl_batch *first)
{
	const uint64_t channels =
		cvl_trace_ours(l->trace) ? cvl_trace_env_number(l->trace, "channels") : 0;

	l->build.emit = put_cell;
	l->build.ctx = &l->blocks;
	l->blocks.channels = channels <= UINT16_MAX ? (size_t)channels : 0;
	l->begun = true;
	l->build.leaf = leaf_of(first);
	l->build.top = CVL_LOD_LEVELS - 1;
	l->build.channels = l->blocks.channels;
	l->build.tracks = LOD_CHANNELS + l->build.channels + cvl_trace_events(l->trace);
	return lod_build_begin(&l->build);
}

/* Read on. 1: there was something. */
static int read_on(struct cvl_lod *l, const struct cvl_progress *progress, struct cvl_error *err)
{
	struct cvl_stream_stats stats;
	struct cvl_batch batch;
	int rc, any = 0;

	while ((rc = cvl_stream_next(l->stream, &batch, err)) > 0) {
		any = 1;
		rc = l->begun ? 0 : begin(l, &batch);
		rc = rc ? rc : lod_build_push(&l->build, &batch);
		if (rc)
			return out_of_memory(rc, err);
		if (progress) {
			cvl_stream_stats(l->stream, &stats);
			rc = cvl_progress_tell(progress, stats.position, stats.bytes, err);
		}
		if (rc)
			return rc;
	}
	cvl_stream_stats(l->stream, &stats);
	l->end = stats.end.count;
	l->tail_good &= !any;
	return rc ? rc : any;
}

/* The stream will not grow any more: all cells are complete. */
static int end(struct cvl_lod *l)
{
	int rc = l->begun ? lod_build_tail(&l->build, put_cell, &l->blocks) : 0;

	cvl_stream_close(l->stream);
	l->stream = NULL;
	lod_blocks_free(&l->tail);
	l->tail_good = true;
	return rc;
}

static struct cvl_stream_opts options_of(const struct cvl_lod *l)
{
	return session_stream_opts(l->s, l->clock, cvl_trace_stream_name(l->trace, l->number));
}

/* Read what there is, and if there will be no more, complete and keep it. 1: there was something. */
static int read_all(struct cvl_lod *l, const struct cvl_progress *progress, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], stamp[DERIVED_STAMP];
	const bool keep = !l->opts.growing && path_of(l, false, path, stamp);
	int any = read_on(l, progress, err), rc = any;

	if (rc < 0 || l->opts.growing)
		return rc;
	rc = end(l);
	if (!rc && keep) {
		save(l, stamp);
		use_kept(l);
	}
	return rc ? out_of_memory(rc, err) : any;
}

static int make(struct cvl_lod *l, const struct cvl_progress *progress, struct cvl_error *err)
{
	int rc;

	l->opts = options_of(l);
	rc = cvl_stream_open(&l->stream, l->trace, l->number, &l->opts, err);
	rc = rc ? rc : read_all(l, progress, err);
	return rc < 0 ? rc : 0;
}

void lod_move(struct cvl_lod *l, const struct cvl_session *s, size_t clock)
{
	l->s = s;
	l->clock = clock;
	l->opts = options_of(l);
}

int cvl_lod_open(struct cvl_lod **out, const struct cvl_session *s, size_t clock, size_t stream,
		 const struct cvl_progress *progress, struct cvl_error *err)
{
	struct cvl_lod *l = calloc(1, sizeof(*l));
	int rc;

	*out = NULL;
	if (!l)
		return cvl_no_memory(err);
	l->s = s;
	l->clock = clock;
	l->number = stream;
	rc = session_open_trace(s, clock, &l->trace, NULL, err);
	if (!rc && stream >= cvl_trace_streams(l->trace))
		rc = cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "%s: no stream %zu",
			      cvl_session_clock(s, clock)->name, stream);
	if (!rc && (cvl_session_clock(s, clock)->growing || !load(l)))
		rc = make(l, progress, err);
	if (rc)
		cvl_lod_close(l);
	else
		*out = l;
	return rc;
}

void cvl_lod_close(struct cvl_lod *l)
{
	if (!l)
		return;
	cvl_stream_close(l->stream);
	cvl_trace_close(l->trace);
	lod_build_free(&l->build);
	lod_blocks_free(&l->blocks);
	lod_blocks_free(&l->tail);
	free(l);
}

int cvl_lod_update(struct cvl_lod *l, struct cvl_error *err)
{
	int rc = l->stream ? cvl_stream_grow(l->stream, &l->opts, err) : 0;

	return rc || !l->stream ? rc : read_all(l, NULL, err);
}

/* ---- asked for ---- */

unsigned cvl_lod_leaf(const struct cvl_lod *l)
{
	return l->build.leaf;
}

bool cvl_lod_range(const struct cvl_lod *l, struct cvl_tick *first, struct cvl_tick *last)
{
	first->count = l->build.first;
	last->count = l->build.last > l->end ? l->build.last : l->end;
	return l->build.any;
}

size_t cvl_lod_tracks(const struct cvl_lod *l)
{
	return l->build.tracks;
}

struct cvl_lod_track cvl_lod_track(const struct cvl_lod *l, uint32_t i)
{
	if (i < LOD_KINDS)
		return (struct cvl_lod_track){ CVL_LOD_LINE, i };
	if (i < LOD_CHANNELS)
		return (struct cvl_lod_track){ CVL_LOD_KIND, i - LOD_KINDS };
	i -= LOD_CHANNELS;
	if (i < l->build.channels)
		return (struct cvl_lod_track){ CVL_LOD_CHANNEL, i };
	return (struct cvl_lod_track){ CVL_LOD_CLASS, i - (uint32_t)l->build.channels };
}

/* ---- reading ---- */

static int read_kept(struct cvl_lod *l, unsigned level, struct lod_reading *r,
		     struct cvl_error *err)
{
	int rc = 0;

	if (l->stream && !l->tail_good && l->begun) {
		lod_blocks_free(&l->tail);
		l->tail.channels = l->blocks.channels;
		rc = lod_build_tail(&l->build, put_cell, &l->tail);
		l->tail_good = !rc;
	}
	rc = rc ? rc : lod_blocks_read(&l->blocks, level, r);
	rc = rc ? rc : lod_blocks_read(&l->tail, level, r);
	return rc == CVL_E_CHECKSUM ?
		       cvl_fail(err, rc, CVL_NO_OFFSET, "%s: damaged levels of detail",
				cvl_session_clock(l->s, l->clock)->name) :
		       out_of_memory(rc, err);
}

static int pass_cell(void *ctx, unsigned level, const struct cvl_lod_cell *cell)
{
	struct lod_reading *r = ctx;

	const uint64_t gap = lod_cell_gap(cell, level);

	if (cell->bucket < r->from) {
		r->begin.levels = cell->after;
		if (gap > r->begin.gap_until)
			r->begin.gap_until = gap;
	}
	return cell->bucket < r->from || cell->bucket > r->to || !r->see ? 0 : r->see(r->ctx, cell);
}

/* The records of @batch from tick @from on. Late ones count where they come. */
static struct cvl_batch from_tick(struct cvl_batch b, uint64_t from)
{
	size_t i = 0;

	while (i < b.n && b.tick[i].count < from)
		i++;
	b.n -= i;
	b.tick += i;
	b.kind += i;
	b.flags += i;
	b.cls += i;
	b.value += i;
	b.aux += i;
	return b;
}

/* Below the leaves: from the records of the leaves in which the range is. */
static int read_records(struct cvl_lod *l, unsigned level, struct lod_reading *r,
			struct cvl_error *err)
{
	const unsigned down = 2 * (l->build.leaf - level);
	const uint64_t leaf = r->from >> down;
	struct lod_reading start = { .from = leaf, .to = leaf };
	struct cvl_stream_opts opts = options_of(l);
	struct lod_build b = { .leaf = level,
			       .top = level,
			       .channels = l->build.channels,
			       .tracks = l->build.tracks,
			       .emit = pass_cell,
			       .ctx = r };
	struct cvl_stream *stream;
	struct cvl_batch batch;
	bool begun = false;
	int rc = read_kept(l, l->build.leaf, &start, err);

	if (rc)
		return rc;
	r->begin = start.begin;
	b.levels = start.begin.levels;
	opts.from.count = leaf << 2 * l->build.leaf;
	opts.to.count = (r->to + 1) << 2 * level;
	rc = out_of_memory(lod_build_begin(&b), err);
	rc = rc ? rc : cvl_stream_open(&stream, l->trace, l->number, &opts, err);
	if (rc) {
		lod_build_free(&b);
		return rc;
	}
	while ((rc = cvl_stream_next(stream, &batch, err)) > 0) {
		const struct cvl_batch rest = begun ? batch : from_tick(batch, opts.from.count);

		begun = begun || rest.n;
		rc = lod_build_push(&b, &rest);
		if (rc || (b.any && b.last >> 2 * level > r->to))
			break;
	}
	rc = rc < 0 ? rc : lod_build_tail(&b, pass_cell, r);
	lod_build_free(&b);
	cvl_stream_close(stream);
	return out_of_memory(rc, err);
}

static int read_range(struct cvl_lod *l, unsigned level, struct lod_reading *r,
		      struct cvl_error *err)
{
	if (level >= CVL_LOD_LEVELS)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "level %u is above %d", level,
				CVL_LOD_LEVELS - 1);
	if (!l->build.any)
		return 0;
	return level < l->build.leaf ? read_records(l, level, r, err) : read_kept(l, level, r, err);
}

/* What was kept is damaged. */
static int make_again(struct cvl_lod *l, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], stamp[DERIVED_STAMP];

	if (path_of(l, false, path, stamp))
		unlink(path);
	lod_blocks_free(&l->blocks);
	l->build = (struct lod_build){ 0 };
	return make(l, NULL, err);
}

/*
 * Before anything of a file is passed on, what is needed of it is read to see that it is sound. Below
 * the leaves that is one cell.
 */
static int check_kept(struct cvl_lod *l, unsigned level, uint64_t from, uint64_t to,
		      struct cvl_error *err)
{
	const bool below = level < l->build.leaf;
	const unsigned down = below ? 2 * (l->build.leaf - level) : 0;
	struct lod_reading r = { .from = from >> down, .to = below ? from >> down : to };

	if (!l->blocks.mapped || !l->build.any || level >= CVL_LOD_LEVELS)
		return 0;
	return read_kept(l, below ? l->build.leaf : level, &r, err);
}

int cvl_lod_read(struct cvl_lod *l, unsigned level, uint64_t from, uint64_t to,
		 struct cvl_lod_begin *begin,
		 int (*see)(void *ctx, const struct cvl_lod_cell *cell), void *ctx,
		 struct cvl_error *err)
{
	struct lod_reading r = { .from = from, .to = to, .see = see, .ctx = ctx };
	int rc = check_kept(l, level, from, to, err);

	if (rc == CVL_E_CHECKSUM)
		rc = make_again(l, err);
	rc = rc ? rc : read_range(l, level, &r, err);
	*begin = r.begin;
	return rc;
}
