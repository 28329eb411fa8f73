/* SPDX-License-Identifier: MIT */
/**
 * How precise the stamps of a loop are: from what it told of itself (src/store/loop_events.h), and
 * from the brackets of its events.
 *
 * After Martins and Casimiro, "Event Timestamping Tool", DI/FCUL TR-00-4, 2000, section 4: with
 * tau_max the longest step of the loop and epsilon the clock's resolution, a stamp is precise to pi
 * = tau_max + epsilon, a duration too, and events further apart than tau_max are told apart. For a
 * lesser tau the paper gives the share of steps that are not longer. An event does not fall into
 * each step alike: more likely into a long one. So the share of the time that such steps take
 * stands beside it.
 *
 * What is proven of each event is its bracket, two steps long, since the clock is read once between
 * readings of the lines: see drivers/poll/loop.h. A pulse as long as a bracket may be is not
 * missed.
 */
#ifndef COEVAL_PRECISION_H
#define COEVAL_PRECISION_H

#include <coeval/analysis.h>
#include <coeval/api.h>
#include <coeval/durations.h>
#include <coeval/select.h>

CVL_BEGIN_DECLS

/** Steps, or spans of two, of low to high ticks. */
struct cvl_precision_bin {
	uint64_t low, high, count, ticks;
};

/** Sorted by low; those of one range are one. */
struct cvl_precision_bins {
	struct cvl_precision_bin *bin;
	size_t n, room;
	uint64_t count, ticks; /* of all */
};

struct cvl_precision_gap {
	size_t clock;
	uint64_t end, ticks; /* up to this tick, for so long */
	char cause[24];
	char *detail;
};

struct cvl_precision_fact {
	char *name, *value, *state;
};

struct cvl_precision_cause {
	char name[24];
	uint64_t n, ticks;
};
#define CVL_PRECISION_CAUSES 12

/** The clock's counter beside that of another processor, ticks: the worst that was told. */
struct cvl_precision_counter {
	bool told;
	uint64_t cpu, apart, limit; /* shown to differ by; may differ by at most */
};

/** A clock with a loop that stamps, or with brackets. */
struct cvl_precision_clock {
	size_t clock;
	uint64_t rate_hz,
		/* resolution: epsilon, ticks; not below the step in which the counter advances */
		resolution;
	struct cvl_precision_counter counter;
	bool looped; /* it tells of a loop */
	uint64_t steps, longest, widest, gap_ticks;
	struct cvl_precision_bins step, span;
	struct cvl_precision_cause cause[CVL_PRECISION_CAUSES];
	size_t n_causes;
	uint64_t gaps, gap_sum;   /* and ticks in them */
	uint64_t overflows, lost; /* losses because something was full; records, as far as known */
	uint64_t events, half_least, half_most; /* with a bracket, and their half-widths, ticks */
	double half_sum;
	struct cvl_precision_fact *fact;
	size_t n_facts;
};

struct cvl_precision_opts {
	/**
	 * Of durations, on one clock: two, settled here, that outlive the analysis; or NULL. A
	 * line's name alone means its rise.
	 */
	struct cvl_selector *between;
	bool across; /* also durations with a pause in the observation */
};

struct cvl_precision_result {
	struct cvl_precision_clock *clock; /* of those that have something to tell */
	size_t n;
	struct cvl_precision_gap *gap; /* the longest, in order of time, of each clock */
	size_t n_gaps;
	struct cvl_durations times; /* between the two; broken: a loss lies within */
	uint64_t open;              /* began, and did not end before another did */
};

/** Gaps that are kept one by one: the longest. All of them are counted. */
#define CVL_PRECISION_GAPS 100000

/**
 * @opts is copied. CVL_E_UNKNOWN_ID, CVL_E_USAGE: of the selectors. Later CVL_E_LIMIT: more than
 * memory is spent on.
 */
CVL_API int cvl_precision_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			       const struct cvl_precision_opts *opts, struct cvl_error *err);

/** Of an analysis that cvl_precision_open() made, when it has ended. */
CVL_API const struct cvl_precision_result *cvl_precision_result(const struct cvl_analysis *a);

/** @ticks of @c in ns, rounded up: bounds hold. */
CVL_API int64_t cvl_precision_ns(const struct cvl_precision_clock *c, uint64_t ticks);

/** At one level of assurance, ticks. */
struct cvl_precision_level {
	double share;       /* of the time, that is asked for */
	uint64_t tau;       /* steps up to this take at least that share of the time */
	double time, steps; /* shares that they take, and that they are */
	uint64_t
		bracket; /* the same of spans: brackets of events, and pulses that are not missed */
};

/** @c->looped. A @share of 1 is all there was. */
CVL_API struct cvl_precision_level cvl_precision_at(const struct cvl_precision_clock *c,
						    double share);

/** The levels shown: those of the paper's table, and some around. */
#define CVL_PRECISION_LEVELS 7
CVL_API extern const double cvl_precision_levels[CVL_PRECISION_LEVELS];

CVL_END_DECLS

#endif
