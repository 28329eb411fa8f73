/* SPDX-License-Identifier: MIT */
/**
 * How precise the stamps of a loop are: from what it told of itself (formats/loop_events.h), and from the brackets of its events.
 *
 * After Martins and Casimiro, "Event Timestamping Tool", DI/FCUL TR-00-4, 2000, section 4: with tau_max the longest step of the
 * loop and epsilon the clock's resolution, a stamp is precise to pi = tau_max + epsilon, a duration too, and events
 * further apart than tau_max are told apart. For a lesser tau the paper gives the share of steps that are not longer. An event does
 * not fall into each step alike: more likely into a long one. So the share of the time that such steps take stands beside it.
 *
 * What is proven of each event is its bracket, two steps long, since the clock is read once between readings of the lines: see
 * drivers/poll/loop.h. A pulse as long as a bracket may be is not missed.
 */
#ifndef ANALYSIS_PRECISION_H
#define ANALYSIS_PRECISION_H

#include <coeval/timeline.h>

#include "analysis/durations.h"

/** Steps, or spans of two, of low to high ticks. */
struct precision_bin {
	uint64_t low, high, count, ticks;
};

/** Sorted by low; those of one range are one. */
struct precision_bins {
	struct precision_bin *bin;
	size_t n, room;
	uint64_t count, ticks; /* of all */
};

struct precision_gap {
	size_t clock;
	uint64_t end, ticks; /* up to this tick, for so long */
	char cause[24];
	char *detail;
};

struct precision_fact {
	char *name, *value, *state;
};

struct precision_cause {
	char name[24];
	uint64_t n, ticks;
};
#define PRECISION_CAUSES 12

/** The clock's counter beside that of another processor, ticks: the worst that was told. */
struct precision_counter {
	bool told;
	uint64_t cpu, apart, limit; /* shown to differ by; may differ by at most */
};

/** A clock with a loop that stamps, or with brackets. */
struct precision_clock {
	size_t clock;
	uint64_t rate_hz,
		resolution; /* resolution: epsilon, ticks; not below the step in which the counter advances */
	struct precision_counter counter;
	bool looped; /* it tells of a loop */
	uint64_t steps, longest, widest, gap_ticks;
	struct precision_bins step, span;
	struct precision_cause cause[PRECISION_CAUSES];
	size_t n_causes;
	uint64_t gaps, gap_sum;   /* and ticks in them */
	uint64_t overflows, lost; /* losses because something was full; records, as far as known */
	uint64_t events, half_least, half_most; /* with a bracket, and their half-widths, ticks */
	double half_sum;
	struct precision_fact *fact;
	size_t n_facts;
};

#define PRECISION_WITH 4

/** An edge of a line, or an event, or one with fields of given values. */
struct precision_point {
	char name[96]; /* LINE or EVENT */
	char side;     /* 'r', 'f', or 0: an event, or a line that rises */
	unsigned n;    /* fields: */
	struct {
		char field[48];
		uint64_t value;
	} with[PRECISION_WITH];
};

/** `LINE`, `LINE:rise`, `LINE:fall`, `EVENT`, `EVENT:FIELD=NUMBER,...`. CVL_E_USAGE. */
int precision_point_parse(struct precision_point *p, const char *text, size_t n,
			  struct cvl_error *err);

struct precision_opts {
	const struct precision_point *from, *to; /* of durations, or NULL */
	bool across; /* also durations within which nobody looked for a while */
};

struct precision {
	struct precision_clock *clock; /* of those that have something to tell */
	size_t n;
	struct precision_gap *gap; /* the longest, in order of time, of each clock */
	size_t n_gaps;
	struct cvl_durations times; /* broken: a loss lies within */
	uint64_t open;           /* began, and did not end before another did */
};

/** Gaps that are kept one by one: the longest. All of them are counted. */
#define PRECISION_GAPS 100000

/** Read @tl from its start. CVL_E_NOMEM, CVL_E_LIMIT. Free @p whatever is returned. */
int precision_study(struct precision *p, struct cvl_timeline *tl, const struct precision_opts *opts,
		    struct cvl_error *err);
void precision_free(struct precision *p);

/** At one level of assurance, ticks. */
struct precision_level {
	double share;       /* of the time, that is asked for */
	uint64_t tau;       /* steps up to this take at least that share of the time */
	double time, steps; /* shares that they take, and that they are */
	uint64_t
		bracket; /* the same of spans: brackets of events, and pulses that are not missed */
};

/** @c->looped. A @share of 1 is all there was. */
struct precision_level precision_at(const struct precision_clock *c, double share);

/** The levels shown: those of the paper's table, and some around. */
#define PRECISION_LEVELS 7
extern const double precision_levels[PRECISION_LEVELS];

/** Put @b in its place. CVL_E_NOMEM. */
int precision_bin_add(struct precision_bins *bins, const struct precision_bin *b);

#endif
