/* SPDX-License-Identifier: MIT */
/**
 * How precise the stamps of a loop are: from what it recorded about itself
 * (src/store/loop_events.h), and from the brackets of its events.
 *
 * After Martins and Casimiro, "Event Timestamping Tool", DI/FCUL TR-00-4, 2000, section 4: with
 * tau_max the longest step of the loop and epsilon the clock's resolution, a stamp is precise to pi
 * = tau_max + epsilon, so is a duration, and events further apart than tau_max are distinguished.
 * For a smaller tau the paper gives the share of steps that are not longer. But an event is more
 * likely to fall into a long step than into a short one, so the share of the time that such steps
 * take is given as well.
 *
 * What is proven of each event is its bracket, two steps long, since the clock is read once between
 * readings of the lines: see src/capture/drivers/poll/loop.h. A pulse at least as long as the
 * longest bracket is not missed.
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

/** Sorted by low; no two have the same range. */
struct cvl_precision_bins {
	struct cvl_precision_bin *bin;
	size_t n, room;
	uint64_t count, ticks; /* of all bins */
};

struct cvl_precision_gap {
	size_t clock;
	uint64_t end, ticks; /* ends at this tick, of this length */
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

/** The clock's counter against that of another processor, ticks: the worst reported. */
struct cvl_precision_counter {
	bool told;
	uint64_t cpu, apart, limit; /* measured difference; limit of the difference */
};

/** A clock with a loop that stamps, or with brackets. */
struct cvl_precision_clock {
	size_t clock;
	uint64_t rate_hz,
		/* resolution: epsilon, ticks; at least the step in which the counter advances */
		resolution;
	struct cvl_precision_counter counter;
	bool looped; /* its loop was recorded */
	uint64_t steps, longest, widest, gap_ticks;
	struct cvl_precision_bins step, span;
	struct cvl_precision_cause cause[CVL_PRECISION_CAUSES];
	size_t n_causes;
	uint64_t gaps, gap_sum;   /* and their ticks */
	uint64_t overflows, lost; /* losses by full buffers; records, as far as known */
	uint64_t events, half_least, half_most; /* with a bracket, and their half-widths, ticks */
	double half_sum;
	struct cvl_precision_fact *fact;
	size_t n_facts;
};

struct cvl_precision_opts {
	/**
	 * Two selectors for durations on one clock, or NULL; resolved here, must outlive the
	 * analysis. A line's name alone means its rise.
	 */
	struct cvl_selector *between;
	bool across; /* also durations with a pause in the observation */
};

struct cvl_precision_result {
	struct cvl_precision_clock *clock; /* those with a loop or brackets */
	size_t n;
	struct cvl_precision_gap *gap; /* the longest, by clock, then time */
	size_t n_gaps;
	struct cvl_durations times; /* between the two; broken: with a loss within */
	uint64_t open;              /* began, and no end came before the next begin */
};

/** Max. gaps kept one by one: the longest. All are counted. */
#define CVL_PRECISION_GAPS 100000

/**
 * @opts is copied. CVL_E_UNKNOWN_ID, CVL_E_USAGE: of the selectors. Later CVL_E_LIMIT: too many
 * durations or bins.
 */
CVL_API int cvl_precision_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			       const struct cvl_precision_opts *opts, struct cvl_error *err);

/** Of an analysis that cvl_precision_open() made, once it has ended. */
CVL_API const struct cvl_precision_result *cvl_precision_result(const struct cvl_analysis *a);

/** @ticks of @c in ns, rounded up so that bounds hold. */
CVL_API int64_t cvl_precision_ns(const struct cvl_precision_clock *c, uint64_t ticks);

/** At one level of assurance, ticks. */
struct cvl_precision_level {
	double share;       /* of the time, as requested */
	uint64_t tau;       /* steps up to this length take at least that share of the time */
	double time, steps; /* their shares of the time and of all steps */
	uint64_t bracket;   /* the same for brackets; such pulses are not missed */
};

/** @c->looped must be set. @share 1: all steps. */
CVL_API struct cvl_precision_level cvl_precision_at(const struct cvl_precision_clock *c,
						    double share);

/** The levels shown: those of the paper's table, and some more. */
#define CVL_PRECISION_LEVELS 7
CVL_API extern const double cvl_precision_levels[CVL_PRECISION_LEVELS];

CVL_END_DECLS

#endif
