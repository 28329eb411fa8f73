/* SPDX-License-Identifier: MIT */
/**
 * The timeline: all streams of a session merged through their clock maps, in time order.
 *
 * It is read in blocks: runs of records of one stream each, in the order of time. Memory is one
 * batch per stream, however long the session. One thread at a time.
 *
 * In each stream whose levels are known at the begin of a range, the range begins with a CVL_STATE
 * edge that restates them.
 */
#ifndef COEVAL_TIMELINE_H
#define COEVAL_TIMELINE_H

#include <coeval/api.h>
#include <coeval/session.h>
#include <coeval/sync.h>

CVL_BEGIN_DECLS

struct cvl_timeline;

struct cvl_timeline_opts {
	bool has_from, has_until;
	struct cvl_time from,
		until; /* records at from <= t <= until; CVL_E_USAGE if until < from */
	const char
		*node; /* glob over clock and node names; NULL: all; CVL_E_USAGE if none matches */
	bool nominal;  /* ignore sync.json */
	bool strict;
	bool bounds; /* give the bound of each record, too: part and slice have bound[] */
	const struct cvl_report *report;
	struct cvl_progress progress; /* in bytes; it cancels cvl_timeline_next() */
};

/** Records [begin, end) of the batch of stream number @stream in this timeline. */
struct cvl_run {
	uint32_t stream;
	uint16_t begin, end;
};

/** What a stream has at hand; time[i] and bound[i] belong to record i of the batch. */
struct cvl_part {
	size_t clock; /* index in the session */
	const struct cvl_batch *batch;
	const struct cvl_time *time;
	const int64_t *bound; /* as cvl_timeline_bound(); NULL: not asked for */
};

/** Runs in the order of time. All of it is valid until the next call of cvl_timeline_next(). */
struct cvl_block {
	const struct cvl_run *run;
	size_t n;                    /* runs */
	size_t records;              /* of all of them, as they came */
	const struct cvl_part *part; /* by stream, of those with a run */
};

/** A run with what it belongs to: records [begin, end) of @batch. */
struct cvl_slice {
	size_t clock, stream;
	const struct cvl_batch *batch;
	const struct cvl_time *time;
	size_t begin, end;
	const int64_t *bound; /* or NULL */
};

/** Take the first run off @block, as a slice. False: there is none. */
static inline bool cvl_block_take(struct cvl_block *block, struct cvl_slice *slice)
{
	const struct cvl_run *r = block->run;
	const struct cvl_part *p;

	if (!block->n)
		return false;
	p = &block->part[r->stream];
	*slice = (struct cvl_slice){ p->clock, r->stream, p->batch, p->time,
				     r->begin, r->end,    p->bound };
	block->run++;
	block->n--;
	return true;
}

/**
 * Open @session, which must outlive it, at its beginning; @opts may be NULL. CVL_E_IO, CVL_E_NOMEM,
 * and what is wrong with the streams.
 */
CVL_API int cvl_timeline_open(struct cvl_timeline **tl, struct cvl_session *session,
			      const struct cvl_timeline_opts *opts, struct cvl_error *err);
CVL_API void cvl_timeline_close(struct cvl_timeline *tl);

/**
 * Next block: 1 and @block filled, 0 at the end, or a negative code. Times do not decrease except at
 * CVL_LATE.
 */
CVL_API int cvl_timeline_next(struct cvl_timeline *tl, struct cvl_block *block,
			      struct cvl_error *err);

/** What is wanted of a stream. */
struct cvl_pick {
	uint32_t kinds; /* of records: bits 1 << enum cvl_kind */
	uint64_t lines; /* CVL_EDGE: those that change one of these lines */
	/* CVL_EVENT, CVL_BEGIN and CVL_END: those of class k with classes[k] */
	const bool *classes;
	size_t n_classes;
};

/**
 * Deliver of stream @stream only what @pick selects; the rest is left out before streams are
 * merged. Call it before the first block. Gaps, slips, late records and edges by which levels
 * become known come all the same, as do the first and last record of each batch, which show how far
 * the stream reaches. @pick must outlive the last block; NULL: everything.
 */
CVL_API void cvl_timeline_pick(struct cvl_timeline *tl, size_t stream, const struct cvl_pick *pick);

/** End of the requested range; CVL_TIME_MAX: none was given. */
CVL_API struct cvl_time cvl_timeline_until(const struct cvl_timeline *tl);

/** Start over from the beginning. */
CVL_API int cvl_timeline_rewind(struct cvl_timeline *tl, struct cvl_error *err);

/**
 * Half-width of record @i's time in ns: the map's, and what the capture cannot resolve (a tick of
 * resolution where the bound is proven, half of it where the map runs through readings that were
 * rounded alike). CVL_BOUND_UNKNOWN if the clock is not synchronised.
 */
CVL_API int64_t cvl_timeline_bound(const struct cvl_timeline *tl, const struct cvl_slice *slice,
				   size_t i);
/** The same for all records of @slice: bound[0] of its first. */
CVL_API void cvl_timeline_bounds(const struct cvl_timeline *tl, const struct cvl_slice *slice,
				 int64_t *bound);

/** The parts of a half-width, ns. */
struct cvl_bound {
	int64_t map;     /* of the clock map; CVL_BOUND_UNKNOWN: nothing is known */
	int64_t capture; /* what the capture cannot resolve */
	enum cvl_bound_kind kind;
	/* how far the source of its clock's pulses may be off true time; 0: all share one source */
	int64_t reference;
	bool reference_is_max;
	uint32_t group;   /* of clocks whose distance in periods is known; 0: the timeline's */
	double drift_ppm; /* how far its clock's rate can be off; 0: unknown */
};

/**
 * Half-width of a time against the timeline; CVL_BOUND_UNKNOWN if nothing ties it, or only up to
 * whole periods.
 */
CVL_API int64_t cvl_bound_total(struct cvl_bound b);

/**
 * The parts of cvl_timeline_bound() that depend only on the clock: all but capture, at @tick of
 * clock @clock.
 */
CVL_API struct cvl_bound cvl_timeline_clock_bound(const struct cvl_timeline *tl, size_t clock,
						  struct cvl_tick tick);

/** The parts of cvl_timeline_bound(), which is their sum. */
CVL_API struct cvl_bound cvl_timeline_bound_parts(const struct cvl_timeline *tl,
						  const struct cvl_slice *slice, size_t i);

/**
 * Half-width of the difference of two times, of different clocks.
 *
 * Proven bounds add, and so do a proven one and a statistical one. The maps' parts of two
 * statistical ones make sqrt(a^2 + b^2): the clocks' errors are independent, or have a common part,
 * which only makes the difference smaller. What the captures cannot resolve is uniformly
 * distributed, where that rule fails: it always adds. So do the errors of separate pulse sources,
 * which may be all bias: if both hold 99.9 % of the time the root of their squares, else their sum.
 * Clocks of two groups are an unknown number of periods apart: CVL_BOUND_UNKNOWN.
 */
CVL_API int64_t cvl_bound_pair(struct cvl_bound a, struct cvl_bound b);

enum cvl_order { CVL_BEFORE = -1, CVL_CANNOT_TELL = 0, CVL_AFTER = 1 };

/**
 * Whether a comes before b, given the bound of the pair. Two records of one stream are in their
 * order there.
 */
CVL_API enum cvl_order cvl_timeline_order(struct cvl_time a, struct cvl_time b, int64_t bound);

/** The session that it was opened on. */
CVL_API struct cvl_session *cvl_timeline_session(const struct cvl_timeline *tl);
/** NULL if the session is not synchronised, or the options said nominal. */
CVL_API const struct cvl_sync *cvl_timeline_sync(const struct cvl_timeline *tl);
/** Where problems are reported, as given in the options; may be NULL. */
CVL_API const struct cvl_report *cvl_timeline_report(const struct cvl_timeline *tl);
CVL_API const struct cvl_map *cvl_timeline_map(const struct cvl_timeline *tl, size_t clock);
CVL_API enum cvl_bound_kind cvl_timeline_bound_kind(const struct cvl_timeline *tl, size_t clock);

/** Streams of all clocks. */
CVL_API size_t cvl_timeline_streams(const struct cvl_timeline *tl);
/** Stream @i, for its statistics and for cvl_stream_visit() with a slice's batch. */
CVL_API struct cvl_stream *cvl_timeline_stream(const struct cvl_timeline *tl, size_t i);
CVL_API const struct cvl_trace *cvl_timeline_trace(const struct cvl_timeline *tl, size_t stream);
CVL_API const char *cvl_timeline_stream_name(const struct cvl_timeline *tl, size_t i);
/** Clock of a stream, or -1 before anything of it was read. */
CVL_API int cvl_timeline_stream_clock(const struct cvl_timeline *tl, size_t i);

CVL_END_DECLS

#endif
