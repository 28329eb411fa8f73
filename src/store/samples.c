/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

#define BATCH 4096

struct cvl_samples {
	struct cvl_session *session;
	struct cvl_writer *writer;
	cvl_scan_fn *scan;
	unsigned unit;  /* of the bytes fed */
	unsigned width; /* unit rounded up to a power of two */
	uint64_t mask;
	uint64_t count;
	bool fresh;       /* the next sample states levels, not a change */
	uint64_t last;    /* levels of the last sample */
	uint64_t written; /* tick of the last record */
	unsigned char part[8];
	size_t n_part;
	struct cvl_side sides[CVL_SIDES_MAX];
	size_t n_sides;
	struct cvl_watch watch;
	bool watched_up; /* last level of its line */
	struct cvl_tick tick[BATCH];
	uint64_t level[BATCH];
	unsigned char wide[BATCH * 8];
};

static int new_samples(struct cvl_samples **out, struct cvl_session *session,
		       const struct cvl_store_desc *desc, unsigned unit, struct cvl_error *err)
{
	struct cvl_samples *s;

	assert(unit >= 1 && unit <= 8 && desc->n_lines <= 8 * unit);
	*out = s = calloc(1, sizeof(*s));
	if (!s)
		return cvl_no_memory(err);
	s->session = session;
	s->fresh = true;
	s->scan = cvl_scan_best(NULL);
	s->unit = unit;
	for (s->width = 1; s->width < unit; s->width *= 2)
		;
	s->mask = desc->n_lines ? ~0ull >> (64 - desc->n_lines) : 0;
	return 0;
}

/* If opening failed, free *@s. */
static int opened(struct cvl_samples **s, int rc)
{
	if (rc) {
		free(*s);
		*s = NULL;
	}
	return rc;
}

int cvl_samples_open(struct cvl_samples **s, struct cvl_session *session,
		     const struct cvl_store_desc *desc, const struct cvl_origin *origin,
		     unsigned unit, struct cvl_error *err)
{
	int rc = new_samples(s, session, desc, unit, err);

	return rc ? rc : opened(s, cvl_session_add(session, desc, origin, &(*s)->writer, err));
}

int cvl_samples_resume(struct cvl_samples **s, struct cvl_session *session, size_t i,
		       const struct cvl_store_desc *desc, unsigned unit, struct cvl_tick *last,
		       struct cvl_error *err)
{
	int rc = new_samples(s, session, desc, unit, err);

	if (!rc)
		rc = opened(s, cvl_session_resume(session, i, desc, &(*s)->writer, last, err));
	if (!rc)
		(*s)->count = last->count == CVL_TICK_UNKNOWN ? 0 : last->count + 1;
	return rc;
}

void cvl_samples_watch(struct cvl_samples *s, const struct cvl_watch *watch)
{
	s->watch = *watch;
}

struct cvl_writer *cvl_samples_writer(struct cvl_samples *s)
{
	return s->writer;
}

void cvl_samples_side(struct cvl_samples *s, struct cvl_side side)
{
	assert(s->n_sides < CVL_SIDES_MAX);
	s->sides[s->n_sides++] = side;
}

uint64_t cvl_samples_count(const struct cvl_samples *s)
{
	return s->count;
}

/* Find the side whose record is due first. Returns 1, 0 if all have ended, or a negative code. */
static int first_side(struct cvl_samples *s, struct cvl_side **side, struct cvl_tick *tick,
		      struct cvl_error *err)
{
	*side = NULL;
	for (size_t i = 0; i < s->n_sides; i++) {
		struct cvl_tick t;
		int rc = s->sides[i].next(s->sides[i].ctx, &t, err);

		if (rc < 0)
			return rc;
		if (rc && (!*side || t.count < tick->count)) {
			*side = &s->sides[i];
			*tick = t;
		}
	}
	return *side != NULL;
}

/* Write the sides' records at ticks up to @limit. */
static int put_sides(struct cvl_samples *s, uint64_t limit, struct cvl_error *err)
{
	struct cvl_side *side;
	struct cvl_tick tick;
	int rc;

	while ((rc = first_side(s, &side, &tick, err)) > 0 && tick.count <= limit) {
		rc = side->put(side->ctx, s->writer, err);
		if (rc)
			return rc;
		s->written = tick.count;
	}
	return rc < 0 ? rc : 0;
}

static int put_edges(struct cvl_samples *s, size_t from, size_t n, struct cvl_error *err)
{
	size_t to;

	while (from < n) {
		struct cvl_side *side;
		struct cvl_tick tick;
		int rc = first_side(s, &side, &tick, err);

		if (rc < 0)
			return rc;
		to = rc && tick.count <= s->tick[n - 1].count ? from : n;
		while (to < n && s->tick[to].count < tick.count)
			to++;
		if (to > from) {
			rc = cvl_writer_edges(s->writer, s->tick + from, s->level + from, to - from,
					      err);
			if (rc)
				return rc;
			s->written = s->tick[to - 1].count;
		}
		from = to;
		if (from < n) {
			rc = put_sides(s, s->tick[from].count, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* The same for all @n, stopping after each rise to call the watch. */
static int put_watched(struct cvl_samples *s, size_t n, struct cvl_error *err)
{
	size_t from = 0;
	int rc = 0;

	if (!s->watch.rise)
		return put_edges(s, 0, n, err);
	while (from < n && !rc) {
		size_t to = from;
		bool rose = false;

		while (to < n && !rose) {
			bool up = s->level[to++] >> s->watch.line & 1;

			rose = up && !s->watched_up;
			s->watched_up = up;
		}
		rc = put_edges(s, from, to, err);
		if (!rc && rose)
			rc = s->watch.rise(s->watch.ctx, s->tick[to - 1], s->writer, err);
		from = to;
	}
	return rc;
}

/* The first sample states levels, whether or not they differ from 0. */
static int put_levels(struct cvl_samples *s, const unsigned char *p, struct cvl_error *err)
{
	const struct cvl_scan_out one = { s->tick, s->level, 1 };
	size_t used;

	s->last = 0;
	if (!cvl_scan_plain(p, 1, s->width, s->mask, s->count, &s->last, one, &used))
		s->level[0] = 0;
	s->fresh = false;
	s->watched_up = s->level[0] >> s->watch.line & 1;
	return cvl_writer_levels(s->writer, (struct cvl_tick){ s->count }, s->level[0], err);
}

/* Take @n whole samples of the width that the scans read. */
static int take(struct cvl_samples *s, const unsigned char *p, size_t n, struct cvl_error *err)
{
	const struct cvl_scan_out out = { s->tick, s->level, BATCH };
	size_t used, edges;
	int rc = n && s->fresh ? put_levels(s, p, err) : 0;

	if (rc || !n)
		return rc;
	while (n) {
		edges = s->scan(p, n, s->width, s->mask, s->count, &s->last, out, &used);
		rc = put_watched(s, edges, err);
		if (rc)
			return rc;
		p += used * s->width;
		n -= used;
		s->count += used;
	}
	return put_sides(s, s->count - 1, err);
}

static int take_widened(struct cvl_samples *s, const unsigned char *p, size_t n,
			struct cvl_error *err)
{
	while (n) {
		size_t now = n < BATCH ? n : BATCH;
		int rc;

		memset(s->wide, 0, now * s->width);
		for (size_t i = 0; i < now; i++)
			memcpy(s->wide + i * s->width, p + i * s->unit, s->unit);
		rc = take(s, s->wide, now, err);
		if (rc)
			return rc;
		p += now * s->unit;
		n -= now;
	}
	return 0;
}

int cvl_samples_feed(struct cvl_samples *s, const void *bytes, size_t n, struct cvl_error *err)
{
	const unsigned char *p = bytes;
	size_t whole;
	int rc;

	if (s->n_part) {
		size_t rest = s->unit - s->n_part;

		if (rest > n)
			rest = n;
		memcpy(s->part + s->n_part, p, rest);
		s->n_part += rest;
		p += rest;
		n -= rest;
		if (s->n_part < s->unit)
			return 0;
		s->n_part = 0;
		rc = take_widened(s, s->part, 1, err);
		if (rc)
			return rc;
	}
	whole = n / s->unit;
	if (s->unit == s->width)
		rc = take(s, p, whole, err);
	else
		rc = take_widened(s, p, whole, err);
	if (rc)
		return rc;
	s->n_part = n - whole * s->unit;
	if (s->n_part)
		memcpy(s->part, p + whole * s->unit, s->n_part);
	return 0;
}

int cvl_samples_gap(struct cvl_samples *s, enum cvl_gap why, uint64_t lost, struct cvl_error *err)
{
	/* if a side failed, its records of later ticks may have been written already */
	const struct cvl_tick from = { s->count > s->written ? s->count : s->written };

	return cvl_writer_gap(s->writer, from, (struct cvl_tick){ CVL_TICK_UNKNOWN }, lost, why,
			      err);
}

void cvl_samples_advance(struct cvl_samples *s, uint64_t count)
{
	if (count > s->count)
		s->count = s->written = count;
}

int cvl_samples_skip(struct cvl_samples *s, enum cvl_gap why, uint64_t lost, uint64_t slack,
		     struct cvl_error *err)
{
	const struct cvl_tick from = { s->count }, next = { s->count + lost };
	int rc;

	assert(!lost || slack < lost);
	if (!lost)
		return 0;
	rc = cvl_writer_gap(s->writer, from, (struct cvl_tick){ next.count - 1 }, lost, why, err);
	cvl_writer_forget_levels(s->writer);
	if (!rc && slack)
		rc = cvl_writer_slip(s->writer,
				     (struct cvl_tick){ from.count ? from.count - 1 : 0 }, next,
				     slack, err);
	s->n_part = 0;
	s->count = s->written = next.count;
	s->fresh = true;
	return rc;
}

int cvl_samples_tail(struct cvl_samples *s, const char *name, uint64_t offset,
		     const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct cvl_error problem;
	int rc;

	if (!s->n_part)
		return 0;
	rc = cvl_fail(&problem, CVL_E_TRUNCATED, offset - s->n_part,
		      "%s: ends inside a sample, after %zu of its %u bytes", name, s->n_part,
		      s->unit);
	if (opts->strict) {
		if (err)
			*err = problem;
		return rc;
	}
	cvl_tell(opts->report, &problem);
	return cvl_samples_gap(s, CVL_GAP_TRUNCATED, CVL_LOST_UNKNOWN, err);
}

enum cvl_gap cvl_gap_after(int rc)
{
	switch (rc) {
	case CVL_E_TRUNCATED:
	case CVL_E_MISSING: return CVL_GAP_TRUNCATED;
	case CVL_E_IO:
	case CVL_E_NOMEM: return CVL_GAP_UNKNOWN;
	case CVL_E_FULL: return CVL_GAP_DISK_FULL;
	case CVL_E_CANCELLED: return CVL_GAP_UNFINISHED;
	default: return CVL_GAP_CORRUPT;
	}
}

int cvl_samples_close(struct cvl_samples *s, int rc, struct cvl_error *err)
{
	struct cvl_tick end;
	int closed;

	if (!s)
		return rc;
	if (!rc)
		rc = put_sides(s, UINT64_MAX, err);
	if (rc)
		cvl_samples_gap(s, cvl_gap_after(rc), CVL_LOST_UNKNOWN, NULL);
	end.count = s->count ? s->count - 1 : 0;
	closed = cvl_session_finish(s->session, s->writer, end, rc ? NULL : err);
	free(s);
	return rc ? rc : closed;
}
