/* SPDX-License-Identifier: MIT */
/**
 * What an estimator is given and what it gives back.
 *
 * Clocks are seen in nominal time: ns that the clock itself would claim, from the session's epoch
 * (x). An estimator finds for each clock the time T(x) on the timeline.
 */
#ifndef SYNC_PROBLEM_H
#define SYNC_PROBLEM_H

#include <coeval/sync.h>

#include "sync/track.h"

/** A clock as estimators see it. */
struct sync_clock {
	const char *name;
	struct cvl_map *nominal; /* tick -> x */
	uint64_t rate_hz;
	int64_t resolution_ns; /* of its stamps, rounded up */
	int64_t mark_ns;       /* of those of its marks, likewise: the coarsest of them */
	double drift_ppm, wander_ppb_s;
	bool has_wander;
	size_t same_as;       /* itself, or the clock that it is an alias of */
	uint64_t first, last; /* ticks between which it has records */
	bool seen;
	int64_t bias_ns, bias_bound_ns; /* by how much it hears all late, as calibrated */
	uint64_t went_back;             /* marks whose ticks were before those of earlier ones */
	uint64_t vague;                 /* marks left out, since others are known much better */
	bool settable;                  /* somebody may have set it */
	/* keys of its messages come again after that, and several shifts of it fit; 0: no */
	int64_t again_ns;
	/* where its records begin: what it claims of wall-clock time was true there */
	int64_t start_x;
	int64_t start_bound_ns;  /* how far that may be off UTC; 0: not stated */
	const char *host;        /* whose clock it claims that by, "": none */
	int64_t host_bound_ns;   /* how far it may be off that; 0: not stated */
	struct track_slip *slip; /* in nominal time; in order */
	size_t n_slips, cap_slips;
};

/** Sent on one clock, received on another: the sending came first. */
struct sync_message {
	uint32_t from, to;
	uint64_t sent, received; /* ticks */
};

/** One clock's hearing of a pulse or beacon. */
struct sync_mark {
	uint32_t clock, source;
	uint64_t tick;
	uint64_t half; /* ticks to either side, of an edge with a bound of its own; else 0 */
	int64_t index; /* sequence number; of pulses unknown, 0 */
	/* from a pulse record: known to a tick, put where an edge's stamp is on average */
	bool exact;
};

/** An edge that all are said to have seen. */
struct sync_edge {
	uint32_t clock;
	uint64_t tick;
};

/**
 * A sender of pulses or beacons: a clock without records, on whose time mark k stands at k *
 * period.
 */
struct sync_source {
	char name[80];
	bool numbered;
	int64_t period_ns;
	/* each clock has a source of its own, which may be off by that; 0: there is one source */
	int64_t error_ns;
	bool error_is_max;
	uint64_t marks;
};

struct sync_problem {
	struct sync_clock *clock;
	size_t n_clocks;
	struct sync_message *message;
	size_t n_messages, cap_messages;
	struct sync_mark *mark;
	size_t n_marks, cap_marks;
	struct sync_source *source; /* of pulses first */
	size_t n_sources, room_sources;
	struct sync_edge *align; /* of the line to align by, as they come */
	size_t n_align, cap_align;
	int reference;         /* clock asked for, or -1 */
	const char *sender;    /* asked for as root, or NULL */
	int64_t epoch_unix_ns; /* wall-clock time at x = 0, or 0 */
	uint64_t unmatched;    /* sends and receives without a partner */
	uint64_t duplicates;
	uint64_t ambiguous;       /* receives that more than one send fits */
	bool unique_keys;         /* messages are paired by keys that are taken not to come again */
	int64_t arrive_within_ns; /* messages are taken to arrive within that; 0: no need for it */
	struct cvl_progress progress;
};

/** Bytes of a clock's name, as long as a session may have them, and more. */
#define SYNC_NAME_BYTES 320

/** What is found out; one a clock, in the problem's order, prefilled with "unsynchronised". */
struct sync_solution {
	struct cvl_clock_sync *clock;
	char reference[SYNC_NAME_BYTES];
	char note[CVL_REASON_TEXT];
};

/** Works on messages (solve), or on marks (tracker, see track.h). */
struct estimator {
	struct cvl_estimator_info info;
	int (*solve)(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err);
	const struct tracker *tracker;
};

extern const struct estimator estimator_hull, estimator_interval, estimator_line, estimator_grace,
	estimator_tracelab, estimator_regress, estimator_kalman, estimator_lag, estimator_smooth;

/**
 * Whether the caller wants it to continue: 0, or CVL_E_CANCELLED. Asked between clocks, and each so
 * many marks or rounds.
 */
static inline int sync_go_on(const struct sync_problem *p, struct cvl_error *err)
{
	return cvl_progress_tell(&p->progress, 0, 0, err);
}

/** Nominal time of @tick on @clock. */
static inline int64_t sync_x(const struct sync_problem *p, size_t clock, uint64_t tick)
{
	return cvl_map_time(p->clock[clock].nominal, (struct cvl_tick){ tick }, NULL).ns;
}

/** First tick of @clock whose nominal time is not before @x. */
uint64_t sync_tick(const struct sync_problem *p, size_t clock, int64_t x);

void sync_reason(struct cvl_clock_sync *c, enum cvl_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * Say that @clock is ambiguous by the time after which keys of its messages come again, and return
 * true; false: they do not.
 */
bool sync_again(const struct sync_problem *p, size_t clock, struct cvl_clock_sync *out);

/** What the pairing of messages rests on, as the rest of a sentence; "": nothing. */
const char *sync_assumed(const struct sync_problem *p, char *out, size_t size);

/** "1 s", "99.97 ms": four digits. */
void sync_period_text(char out[CVL_TIME_TEXT], double ns);

/**
 * One solution of marks and messages: clocks in @s that have maps from marks tie others by
 * messages, and where messages allow less than a map's bound, the map is cut; where they contradict
 * it, its clock is degraded.
 */
int interval_join(const struct sync_problem *p, struct sync_solution *s, struct cvl_error *err);

int sync_residuals(const struct sync_problem *p, const struct cvl_sync *sync, size_t clock,
		   void (*see)(void *ctx, struct cvl_time t, double residual_ns), void *ctx,
		   struct cvl_error *err);

/** The map of the reference itself: its nominal time, bound 0. */
int sync_reference_map(const struct sync_problem *p, struct sync_solution *s, size_t ref,
		       struct cvl_error *err);

/**
 * What estimators heed: of messages, of those with a limit of drift, of beacons alone, and of
 * pulses and beacons.
 */
extern const struct cvl_option sync_message_options[], sync_interval_options[],
	sync_beacon_options[], sync_mark_options[];

#endif
