/* SPDX-License-Identifier: MIT */
/**
 * Shared by the parts of the engine.
 *
 * A *source* is what a phrase refers to on one node (or, with `any`, on several). A *monitor* is a
 * rule bound to sources, one for each of its phrases: a rule over a group has one monitor for each
 * node, or pair of nodes. Records reach sources by the tables of their stream, and sources notify
 * their monitors.
 */
#ifndef ANALYSIS_CHECK_INTERNAL_H
#define ANALYSIS_CHECK_INTERNAL_H

#include "analysis/check/check.h"

/** Time of an occurrence, and how to find its bound. */
struct occ {
	int64_t ns;
	uint64_t tick;
	uint64_t place;  /* number of its record in its stream */
	int64_t capture; /* ns */
	uint32_t stream, clock;
	uint32_t what; /* line or class */
};

/** Before anything. */
#define OCC_FIRST ((struct occ){ .ns = INT64_MIN })

enum tri { NO = -1, MAYBE = 0, YES = 1 };

struct interval {
	struct occ s, e;
	bool open;
	bool shadow; /* unknown: it may or may not have occurred */
	bool cut;    /* a shadow outside of the capture, not due to a loss */
	bool hit, unsure, lossy;
	struct occ at; /* hit: since when both hold */
};

struct pending {
	struct occ a, b; /* b: a possible match within its time, if `maybe` */
	bool maybe, lossy, cut;
};

/** An event of an order. */
struct ordered {
	struct occ o;
	int step;
	bool linked; /* the order of it, or one before it, and the next is uncertain */
};

/** A FIFO queue. */
struct queue {
	void *item;
	size_t size; /* of an item */
	size_t head, n, room;
};

struct monitor {
	const struct check_rule *rule;
	struct cvl_check_outcome *result;
	uint32_t *source;          /* of each phrase */
	bool same_clock;           /* all its sources are on one */
	bool has_last;             /* `last` is set */
	bool start_seen;           /* STATE: the start of the stay was observed */
	bool open;                 /* STATE: in the state */
	bool lost;                 /* `last_loss` is set */
	bool lost_by_start;        /* that loss was the start of the capture */
	bool ended;                /* the capture of one source ended: nothing more is judged */
	int step;                  /* ORDER: the last certain one; -1: none */
	const char *event, *after; /* ORDER: what the next case is about */
	int64_t reach;             /* monitor_reach() now */
	struct occ last, last_loss;
	struct queue a, b; /* pending, interval, occ or ordered */
};

struct listener {
	uint32_t monitor, role;
};

/** A phrase resolved on this timeline. */
struct meaning {
	const struct check_phrase *phrase;
	struct cvl_selector sel; /* resolved */
	bool of_lines;           /* else of events */
};

struct source {
	const struct meaning *meaning;
	const char *node; /* "any" of several */
	struct listener *listener;
	size_t n_listeners, room;
	uint32_t *stream; /* streams that feed it */
	size_t n_streams, room_streams;
	size_t whats;           /* number of its lines or classes */
	size_t blind;           /* how many of these are now unknown */
	bool began;             /* all were known at some time */
	bool level;             /* of states */
	bool seen;              /* it occurred, or was in the state */
	int64_t capture, reach; /* greatest; reach: with the map's part */
	struct occ end;         /* captured at least up to here */
	bool ended;             /* the capture of one of its streams ended before others did */
	bool one_clock;
	uint32_t root; /* the clock, if it is one */
};

/** From a line or class to a source. */
struct feed {
	uint32_t what, source;
	bool rise, fall, low; /* of lines */
	bool state;
	bool test; /* of events: their fields decide */
};

/** Occurrences delivered together, and news queued per rule. */
#define CHECK_ROUND 512
#define CHECK_INBOX 128

/** A notification for a monitor: something happened in this role. */
struct news {
	uint32_t monitor;
	uint16_t heard; /* index */
	uint8_t role;
	bool level;
};

struct inbox {
	enum check_kind kind;
	size_t n;
	struct news news[CHECK_INBOX];
};

/** Notification of one monitor for an edge of a line or an event. */
struct target {
	struct inbox *in; /* of its rule */
	struct news news; /* except for what was heard */
	uint32_t source;  /* if it has several streams; else NO_SOURCE */
};

#define NO_SOURCE UINT32_MAX

/** An occurrence with its source. */
struct heard {
	struct occ occ;
	const struct target *first, *end;
};

struct feeds {
	struct feed *feed; /* by what */
	size_t n, room;
	uint32_t *first; /* index in feed; one entry more than classes or lines */
	size_t n_whats;
};

struct stream_state {
	struct feeds line, class;
	uint64_t mask;        /* watched lines */
	struct cvl_pick pick; /* what it needs; owns its classes */
	struct target *target;
	uint32_t target_first[2 * CVL_LINES_MAX + 1]; /* by twice the line, and one if it rises */
	uint32_t *class_first; /* likewise of each feed of a class, and one more */
	struct cvl_levels levels;
	uint64_t place;
	bool dark;                      /* in a gap */
	bool begun;                     /* something was read */
	int32_t kind_source[CVL_KINDS]; /* of beacons and pulses: a class of its own, or -1 */
	uint32_t *source;               /* sources it feeds */
	uint64_t *source_lines;         /* which of its lines each of these is of; 0: of none */
	size_t n_sources;
	uint64_t tick_lo,
		tick_span; /* from the first on, for so many, the map's bound is within check.hi */
	int64_t capture;
};

/** Forget the bounds of all ticks. */
static inline void no_ticks(struct stream_state *st)
{
	st->tick_lo = CVL_TICK_UNKNOWN;
	st->tick_span = 0;
}

struct check {
	struct cvl_analysis base;
	struct cvl_check_result pub;
	const struct cvl_check_rules *rules;
	struct cvl_check_opts opts;
	struct cvl_timeline *tl;
	struct cvl_check_outcome *result; /* of each rule */
	struct monitor *monitor;
	size_t n_monitors, room_monitors;
	struct meaning *meaning; /* of each phrase of each rule */
	size_t n_meanings;
	struct source *source;
	size_t n_sources, room_sources;
	struct stream_state *stream;
	size_t n_streams;
	int64_t *hi;    /* per clock: greatest bound of its map so far */
	double *drift;  /* of each clock: limit of its rate error, ns per ns */
	uint32_t *root; /* of each clock: the clock it is the same as */
	size_t n_clocks;
	int64_t last; /* what was captured after it does not count; INT64_MAX until the end */
	struct inbox *inbox; /* of each rule */
	struct heard heard[CHECK_ROUND];
	size_t n_heard;
	int nomem;     /* a queue could not grow */
	bool violated; /* some case was */
};

/* ---- time.c ---- */

/** Half-width of b - a. */
int64_t occ_bound(const struct check *c, const struct occ *a, const struct occ *b);
/** Half-width of a's time. */
int64_t occ_own_bound(const struct check *c, const struct occ *a);
enum tri occ_before(const struct check *c, const struct occ *a, const struct occ *b);
/** Whether lo <= b - a <= hi. */
enum tri occ_within(const struct check *c, const struct occ *a, const struct occ *b, int64_t lo,
		    int64_t hi);
/**
 * The largest error of a distance that @m judges, as far as known now; CVL_BOUND_UNKNOWN.
 */
int64_t monitor_reach(const struct check *c, const struct monitor *m);
/** The greatest bound of @clock from tick @lo to @hi, or at its map's knots if @all. */
int64_t clock_bound_max(const struct check *c, size_t clock, uint64_t lo, uint64_t hi, bool all);

/**
 * Whether @s was captured up to @ns: a stream that ended before is no evidence. Sets s->end.
 */
bool source_reaches(const struct check *c, struct source *s, int64_t ns);

/* ---- case.c ---- */

/** Result of a case. Distances: from a to b, or of a alone. */
void case_held(struct monitor *m);
void case_violated(struct check *c, struct monitor *m, enum cvl_check_reason why,
		   const struct occ *a, const struct occ *b);
void case_unknown(struct check *c, struct monitor *m, enum cvl_check_reason why,
		  const struct occ *a, const struct occ *b);

/** Make more room; false if there are CHECK_PENDING_MAX, or no memory is left. */
bool queue_grow(struct check *c, struct queue *q);

static inline void *queue_at(const struct queue *q, size_t i)
{
	return (char *)q->item + ((q->head + i) & (q->room - 1)) * q->size;
}

static inline void *queue_first(const struct queue *q)
{
	return (char *)q->item + q->head * q->size;
}

/** Room for one more, to be filled; NULL if there is none. */
static inline void *queue_push(struct check *c, struct queue *q)
{
	if (q->n == q->room && !queue_grow(c, q))
		return NULL;
	return queue_at(q, q->n++);
}

static inline void queue_pop(struct queue *q)
{
	q->head = (q->head + 1) & (q->room - 1);
	q->n--;
}

/* ---- after.c, never.c, row.c: one per kind ---- */

/** Something happened in role @role; for states, @level is the new state. */
void after_event(struct check *c, struct monitor *m, size_t role, const struct occ *o);
void after_dark(struct check *c, struct monitor *m, size_t role, const struct occ *from);
void after_light(struct check *c, struct monitor *m, size_t role, const struct occ *at, bool first);
void after_end(struct check *c, struct monitor *m);

void never_event(struct check *c, struct monitor *m, size_t role, const struct occ *o, bool level);
void never_dark(struct check *c, struct monitor *m, size_t role, const struct occ *from);
void never_light(struct check *c, struct monitor *m, size_t role, const struct occ *at, bool level,
		 bool first);
void never_end(struct check *c, struct monitor *m);

void row_event(struct check *c, struct monitor *m, enum check_kind kind, size_t role,
	       const struct occ *o, bool level);
void row_dark(struct check *c, struct monitor *m, size_t role, const struct occ *from);
void row_light(struct check *c, struct monitor *m, const struct occ *at, bool level);
void row_end(struct check *c, struct monitor *m);

/* ---- tell.c ---- */

/** Deliver queued news to the monitors: before anything that they judge by changes. */
void tell_all(struct check *c);
/** One of its streams is unknown from @from on. */
void tell_dark(struct check *c, struct source *s, const struct occ *from);
/** One of its streams is known again, or for the first time. */
void tell_light(struct check *c, struct source *s, const struct occ *at, bool level);

/* ---- check.c ---- */

int check_push(struct cvl_analysis *a, const struct cvl_slice *slice, struct cvl_error *err);

/* ---- bind.c, names.c ---- */

int check_bind(struct check *c, struct cvl_error *err);

/** Resolve @p on the timeline. */
int find_meaning(const struct check *c, const struct check_phrase *p, struct meaning *m,
		 struct cvl_error *err);
/** Whether clock @clock has anything that @m matches, ignoring the node. */
bool clock_has(const struct check *c, size_t clock, const struct meaning *m);
int check_fail(const struct check *c, const struct check_phrase *p, struct cvl_error *err,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/**
 * Add all matching lines or events of @clock to the tables of stream @s, for source @source.
 * Returns their number, or CVL_E_NOMEM.
 */
int feed_stream(struct check *c, size_t s, size_t clock, const struct meaning *m, uint32_t source);

/* ---- same.c ---- */

/** CVL_E_UNKNOWN_ID: one record would be two sides of a rule. Call when all is bound. */
int check_same(const struct check *c, struct cvl_error *err);

#endif
