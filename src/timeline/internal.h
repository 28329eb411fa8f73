/* SPDX-License-Identifier: MIT */
/** Shared by the files that make the timeline: timeline.c, source.c, merge.c and bounds.c. */
#ifndef TIMELINE_INTERNAL_H
#define TIMELINE_INTERNAL_H

#include "store/stored.h"
#include "timeline/bound.h"
#include "timeline/live.h"
#include "timeline/wanted.h"
#include "timeline/window.h"

/** Bytes of the streams' files in memory, unless a few records for each of them need more. */
#define IN_MEMORY_MAX (12u << 20)
#define BATCH_LEAST 32 /* records of a stream at hand, however many streams there are */

/* A stream and its current batch. */
struct source {
	struct cvl_stream *stream;
	size_t number, trace, file;
	/* name of a stored stream whose file is missing; then there is no file */
	char *missing;
	int clock; /* of the session */
	struct cvl_batch batch;
	struct cvl_time *time; /* of the batch, room for so many */
	int64_t *bound;        /* the same, if they are wanted; else NULL */
	size_t room;
	uint64_t in_memory;          /* bytes of its file in memory; 0: it is not in use */
	bool payloads;               /* read again when the fields of its events are asked for */
	uint64_t done, total;        /* bytes of its file: read, and in all */
	size_t pos, end;             /* not yet delivered */
	int64_t reached;             /* latest time delivered */
	bool ordered;                /* what is to come is not before that, nor goes back */
	const struct cvl_pick *pick; /* or NULL: everything */
	uint64_t levels, unknown;    /* of its lines, if known */
	bool known;
	bool begun; /* the requested range was reached */
	struct seen {
		uint64_t levels, unknown;
	} seen, told;          /* of its lines: by all records so far; by those in the range */
	struct cvl_batch held; /* held back while levels are delivered */
	bool holds;
	struct state {
		struct cvl_tick tick[2];
		uint8_t kind[2], flags[2];
		uint32_t cls[2];
		uint64_t value[2], aux[2], bracket[2];
	} state;
};

/* What turns ticks of a clock into times with bounds. */
struct clock {
	const struct cvl_map *map;
	struct cvl_map *nominal; /* that is the map; NULL if sync has one */
	struct timeline_cursor cursor;
	bool told;              /* that the map is damaged */
	struct cvl_bound bound; /* what is the same for all of its ticks */
};

/* A source with records at hand: when the first and the last of them are due. */
struct lead {
	int64_t first, last;
	uint32_t source;
	bool took; /* part in the last block */
};

/* A trace is opened once, even if several of its clocks are in the session. */
struct opened {
	struct cvl_trace *trace;
	const char *path;
	int *clock; /* session clock of each clock class; -1: not wanted */
	int any;    /* for streams without a clock */
	bool unfinished, growing;
	size_t first; /* clock of the session */
};

struct cvl_timeline {
	struct cvl_session *session;
	struct cvl_timeline_opts opts;
	struct cvl_sync *sync;
	struct clock *clock; /* of the session, each */
	struct opened *trace;
	size_t n_traces;
	struct source **source;
	size_t n_sources;
	size_t batch;    /* records that each may have at hand */
	size_t expected; /* sources */
	size_t *in_use;  /* streams whose files take memory, and how much that is at most */
	size_t n_in_use;
	uint64_t in_memory;
	uint64_t records;     /* since they were last freed */
	uint64_t done, total; /* bytes of all streams */
	struct lead *lead;    /* sources that did not end, by number */
	size_t n_leads;
	struct window window;
	struct cvl_part *part; /* of each source */
	bool started, filled;  /* filled: each source has had its first batch */
	bool live;             /* see live.h: */
	int64_t limit;         /* only earlier records are delivered, ... */
	int64_t passed;        /* ... and those before this were, but for what comes late */
};

/* ---- source.c ---- */

/** Open the stream of @s, or open it again, at its beginning. */
int source_open(struct cvl_timeline *tl, struct source *s, struct cvl_error *err);
/** See what was stored since, of the session as it is @now. */
int source_grow(struct cvl_timeline *tl, struct source *s, const struct cvl_session *now,
		struct cvl_error *err);

/** Read until source @i has a record to deliver. 1, 0 at the end, or negative. */
int source_refill(struct cvl_timeline *tl, size_t i, struct cvl_error *err);

/** Times of the pending records by the map of their clock, and their bounds if they are wanted. */
void source_time(const struct cvl_timeline *tl, struct source *s);
void source_bound(const struct cvl_timeline *tl, struct source *s);

/** Of a growing session: what comes when later records were delivered is late. */
void source_mark_late(const struct cvl_timeline *tl, struct source *s);

/** The file of stream @i is about to be read; those of others make room. */
void source_use(struct cvl_timeline *tl, size_t i);
void source_count_memory(struct cvl_timeline *tl, struct source *s);

/** Whether events of that kind have fields, which are read from the file when they are asked for. */
static inline bool source_has_fields(uint8_t kind)
{
	return kind == CVL_EVENT || kind == CVL_BEGIN || kind == CVL_END;
}

/* ---- timeline.c ---- */

/** The maps of tl->sync, or nominal ones. */
int timeline_make_maps(struct cvl_timeline *tl, struct cvl_error *err);

#endif
