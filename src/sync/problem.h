/* SPDX-License-Identifier: MIT */
/**
 * Input and output of an estimator.
 *
 * Clocks are seen in nominal time: ns that the clock itself would claim, from the session's epoch
 * (x). An estimator finds for each clock the time T(x) on the timeline.
 */
#ifndef SYNC_PROBLEM_H
#define SYNC_PROBLEM_H

#include <coeval/sync.h>

#include "core/spill.h"
#include "sync/track.h"

/** A clock as estimators see it. */
struct sync_clock {
	const char *name;
	struct cvl_map *nominal; /* tick -> x */
	uint64_t rate_hz;
	int64_t resolution_ns; /* of its stamps, rounded up */
	int64_t mark_ns;       /* the coarsest of its marks' stamps, likewise */
	double drift_ppm, wander_ppb_s;
	bool has_wander;
	size_t same_as;       /* itself, or the clock it is an alias of */
	uint64_t first, last; /* ticks of its first and last record */
	bool seen;
	int64_t bias_ns, bias_bound_ns; /* how late it hears everything, as calibrated */
	uint64_t went_back;             /* marks with ticks before those of earlier ones */
	uint64_t vague;                 /* marks left out, since others are much more precise */
	bool settable;                  /* may have been set */
	/* its message keys recur after this, and several shifts by it fit; 0: no */
	int64_t again_ns;
	/* start of its records, where its claimed wall-clock time was true */
	int64_t start_x;
	int64_t start_bound_ns; /* error of that against UTC; 0: not stated */
	/*
	 * its map as it was found before, of the timeline that is looked for, or NULL; it outlives
	 * the problem
	 */
	const struct cvl_map *before;
	const char *host;         /* host whose clock the claim is based on, "": none */
	int64_t host_bound_ns;    /* error against that host; 0: not stated */
	struct track_noise noise; /* learned before, if known */
	struct track_slip *slip;  /* in nominal time; in order */
	size_t n_slips, cap_slips;
};

/** Sent on one clock and later received on another. */
struct sync_message {
	uint32_t from, to;
	uint64_t sent, received; /* ticks */
};

/** A pulse or beacon heard by one clock. */
struct sync_mark {
	uint32_t clock, source;
	uint64_t tick;
	uint64_t half; /* ticks to either side, for an edge with its own bound; else 0 */
	int64_t index; /* sequence number; of pulses unknown, 0 */
	/* from a pulse record: known to a tick, placed at an edge's average stamp */
	bool exact;
};

/** An edge stated to be seen by all clocks. */
struct sync_edge {
	uint32_t clock;
	uint64_t tick;
};

/**
 * A sender of pulses or beacons: a clock without records, on whose time mark k is at k * period.
 */
struct sync_source {
	char name[80];
	bool numbered;
	int64_t period_ns;
	/* each clock has its own source, off by at most this; 0: one common source */
	int64_t error_ns;
	bool error_is_max;
	uint64_t marks;
};

struct sync_problem {
	struct sync_clock *clock;
	size_t n_clocks;
	struct sync_message *message;
	size_t n_messages, cap_messages;
	struct sync_mark *mark; /* in @marks */
	size_t n_marks;
	struct spill marks;
	struct sync_source *source; /* of pulses first */
	size_t n_sources, room_sources;
	struct sync_edge *align; /* of the line to align by, unsorted */
	size_t n_align, cap_align;
	int reference;         /* requested clock, or -1 */
	const char *sender;    /* requested as root, or NULL */
	int64_t epoch_unix_ns; /* wall-clock time at x = 0, or 0 */
	uint64_t unmatched;    /* sends and receives without a partner */
	uint64_t duplicates;
	uint64_t ambiguous;       /* receives that more than one send fits */
	bool unique_keys;         /* messages are paired by keys assumed unique */
	int64_t arrive_within_ns; /* messages are assumed to arrive within this; 0: not needed */
	struct cvl_progress progress;
	unsigned jobs; /* threads that may be used; 0: one for each processor */
};

/** Enough bytes for any clock name of a session. */
#define SYNC_NAME_BYTES 320

/** The result: one per clock, in the problem's order, prefilled with "unsynchronised". */
struct sync_solution {
	struct cvl_clock_sync *clock;
	char reference[SYNC_NAME_BYTES];
	char note[CVL_REASON_TEXT];
	/* so long before the last observations, later ones change times by less than 1 % */
	int64_t horizon_ns;
	struct track_noise *noise; /* [clock], or NULL */
};

#define SYNC_REST_MARKS (1 << 16)

/** Works on messages (solve), or on marks (tracker, see track.h). */
struct estimator {
	struct cvl_estimator_info info;
	int (*solve)(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err);
	const struct tracker *tracker;
};

extern const struct estimator estimator_hull, estimator_interval, estimator_line, estimator_grace,
	estimator_tracelab, estimator_regress, estimator_kalman, estimator_lag, estimator_smooth;

/**
 * Whether the caller wants to continue: 0, or CVL_E_CANCELLED. Checked between clocks, and every so
 * many marks or rounds. Memory of marks is given back then.
 */
static inline int sync_go_on(const struct sync_problem *p, struct cvl_error *err)
{
	spill_rest(&p->marks);
	return cvl_progress_tell(&p->progress, 0, 0, err);
}

/** Called for each mark of a loop over all of them: gives their memory back now and then. */
static inline void sync_rest(const struct sync_problem *p, size_t i)
{
	if (!(i % SYNC_REST_MARKS))
		spill_rest(&p->marks);
}

/** Nominal time of @tick on @clock. */
static inline int64_t sync_x(const struct sync_problem *p, size_t clock, uint64_t tick)
{
	return cvl_map_time(p->clock[clock].nominal, (struct cvl_tick){ tick }, NULL).ns;
}

/** First tick of @clock whose nominal time is not before @x. */
uint64_t sync_tick(const struct sync_problem *p, size_t clock, int64_t x);

/** Time of @x by the map that was found before, if there is one, and its half-width. */
static inline bool sync_before(const struct sync_problem *p, size_t clock, int64_t x, int64_t *time,
			       int64_t *bound)
{
	const struct cvl_map *before = p->clock[clock].before;

	if (before)
		*time = cvl_map_time(before, (struct cvl_tick){ sync_tick(p, clock, x) }, bound).ns;
	return before;
}

/**
 * Best, worst and median bound of @c's map: at the knots, and at the first and last record, to where
 * it is extrapolated.
 */
void sync_bounds(struct cvl_clock_sync *c, struct cvl_tick first, struct cvl_tick last);

void sync_reason(struct cvl_clock_sync *c, enum cvl_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * If keys of @clock's messages recur, report it as ambiguous by that time and return true.
 */
bool sync_again(const struct sync_problem *p, size_t clock, struct cvl_clock_sync *out);

/** Assumptions of the pairing of messages, as the end of a sentence; "": none. */
const char *sync_assumed(const struct sync_problem *p, char *out, size_t size);

/** "1 s", "99.97 ms": four digits. */
void sync_period_text(char out[CVL_TIME_TEXT], double ns);

/**
 * Combine marks and messages: clocks in @s that have maps from marks tie others by messages, and
 * where messages are tighter than a map's bound, the map is cut; where they contradict it, its
 * clock is degraded.
 */
int interval_join(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err);

int sync_residuals(const struct sync_problem *p, const struct cvl_sync *sync, size_t clock,
		   void (*see)(void *ctx, struct cvl_time t, double residual_ns), void *ctx,
		   struct cvl_error *err);

/** The map of the reference itself: its nominal time, bound 0. */
int sync_reference_map(const struct sync_problem *p, struct sync_solution *s, size_t ref,
		       struct cvl_error *err);

/**
 * Options of estimators: for messages, for messages with a drift limit, for beacons alone, and for
 * pulses and beacons.
 */
extern const struct cvl_option sync_message_options[], sync_interval_options[],
	sync_beacon_options[], sync_mark_options[];

#endif
