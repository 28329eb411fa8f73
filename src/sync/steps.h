/* SPDX-License-Identifier: MIT */
/**
 * Solving a session in steps, as it grows or as if it did.
 *
 * Each step solves a stretch of the session by itself, with the estimator that would solve all of
 * it. In it the clocks start where the step before put them, which is a claimed start like any
 * other. So whatever ties clocks ties them here, a step costs the same at any length, and no more
 * than a stretch is in memory.
 *
 * A step's end follows from the observations before it alone, and what it makes final lies a
 * horizon before that end, so late that later observations would change it by less than 1 % of its
 * bound. Final times are never changed. They are the same whether the session was there at once or
 * grew, unless a clock was taken for silent.
 */
#ifndef SYNC_STEPS_H
#define SYNC_STEPS_H

#include <coeval/session.h>
#include <coeval/sync.h>

struct steps;

/** A final knot of a clock, in their order. Returns 0 or a code that ends the step. */
typedef int steps_told(void *ctx, size_t clock, const struct cvl_knot *knot, struct cvl_error *err);

struct steps_opts {
	struct cvl_sync_opts sync;
	int64_t silent_ms; /* a clock that stored nothing for so long is not waited for; -1: for ever */
	steps_told *told; /* or NULL */
	void *ctx;
};

int steps_open(struct steps **s, const char *path, const struct steps_opts *opts,
	       struct cvl_error *err);
void steps_free(struct steps *s);

/**
 * Read what was stored since, and take the next step if its observations are there. @now: the
 * session, opened again. Returns 1 if a step was taken, 0 if not, or a negative code.
 */
int steps_next(struct steps *s, const struct cvl_session *now, struct cvl_error *err);

/** Times before this are final; INT64_MIN: none; INT64_MAX: all of the session. */
int64_t steps_final(const struct steps *s);
/** All clocks that are not silent have stored their records up to here. */
int64_t steps_stored(const struct steps *s);

/** The clock that holds up others that are ready for the next step, or NULL. */
const char *steps_wait_for(const struct steps *s);
/** Whether a clock of the session was taken for silent, and is. */
bool steps_silent(const struct steps *s, size_t clock);

/** Solve what is stored now, beyond the last step, for steps_maps() with @estimated. */
int steps_estimate(struct steps *s, struct cvl_error *err);

/**
 * The final times of about the last stretch, and with @estimated beyond them the best that is known
 * by now. *@sync is NULL before the first step.
 */
int steps_maps(const struct steps *s, bool estimated, struct cvl_sync **sync,
	       struct cvl_error *err);

/** The same without maps. */
int steps_summary(const struct steps *s, struct cvl_sync **sync, struct cvl_error *err);
/** All of the final map of a clock that knots were told of, but the knots. */
void steps_spec(const struct steps *s, size_t clock, struct cvl_map_spec *spec);
/** The first and last record of a clock that was read; false: none. */
bool steps_records(const struct steps *s, size_t clock, struct cvl_tick *first,
		   struct cvl_tick *last);

#endif
