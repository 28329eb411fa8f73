/* SPDX-License-Identifier: MIT */
/**
 * Power over the timeline: mean, energy and peak of each channel, of the states of a line, and of intervals between two
 * edges or events, each within a bound. See energy.h for what the bound of an energy is made of.
 *
 * The timeline is read once, in constant memory: readings are added to the intervals that are open, and forgotten. An
 * interval goes to the consumer once no later reading can change it.
 *
 * Intervals that a node marks are held against the power of that node; where the node has none, against all there is.
 */
#ifndef ANALYSIS_POWER_H
#define ANALYSIS_POWER_H

#include <coeval/timeline.h>

#include "analysis/energy.h"

#define POWER_NAME_MAX 128

enum power_when {
	POWER_PLAIN, /* a line: it rises; an event; an end of a span, as it stands: the begin first, then the end */
	POWER_RISE,
	POWER_FALL,
	POWER_BEGIN,
	POWER_END,
};

/** An edge of a line, an event, or an end of a span. */
struct power_point {
	char node[POWER_NAME_MAX]; /* clock or node; "": any */
	char name[POWER_NAME_MAX]; /* line, event class or span */
	enum power_when when;
};

enum power_how {
	POWER_WHOLE,   /* all readings */
	POWER_STATES,  /* while a line is high, and while it is low */
	POWER_BETWEEN, /* from each `from` to the next `to` */
};

struct power_opts {
	const char *watts;   /* channel of power; or */
	const char *amperes; /* channel of current, times */
	const char *volts;   /* channel of volts read together with it, or NULL: */
	double fixed_volts;
	double unit; /* what 1 of `watts` or `amperes` is, in watts or amperes */
	double rounded; /* to what readings of `watts` or `amperes` are rounded, in its own units; 0: not known */
	enum power_how how;
	struct power_point from, to; /* POWER_STATES: `from` is the line */
};

/**
 * Read `[NODE.]NAME[:rise|:fall|:begin|:end]`; NODE is taken for one if a clock or node of @session is called so. CVL_E_USAGE
 * says what is wrong.
 */
int power_point_parse(struct power_point *point, const char *text,
		      const struct cvl_session *session, struct cvl_error *err);

/** Where power is read: a channel of a clock. */
struct power_source {
	size_t stream, clock;
	uint64_t samples;   /* readings of power */
	uint64_t gaps;      /* losses in its stream */
	uint64_t unlike;    /* readings of current without one of volts, or the other way round */
	uint64_t senseless; /* readings that are beyond POWER_MOST, or no number */
	struct cvl_time first, last;
	double most_volts; /* by which a current was multiplied; 1 where power itself is read */
};

/** Watts, and volts: what no meter reads. */
#define POWER_MOST 1e15

/** One interval, by one source. */
struct power_span {
	size_t source;
	size_t clock; /* that marks it */
	bool high;    /* POWER_STATES */
	bool whole;   /* from the first reading to the last */
	struct cvl_time begin, end;
	int64_t bound; /* half-width of its duration, ns; CVL_BOUND_UNKNOWN */
	uint32_t gaps; /* of the readings, that overlap it */
	struct energy energy;
	double stretch_j; /* what the rate of the readings' clock may err by */
	double peak_w;    /* greatest reading within; only with samples */
	struct cvl_time peak_at;
};

/** Intervals that were left out, and why. */
struct power_left {
	uint64_t unfinished; /* began, and no end was seen */
	uint64_t unbegun;    /* ended, and no begin was seen */
	uint64_t again;      /* began once more while open: the first holds */
	uint64_t cut;        /* a loss of marks lies within */
};

struct power_result {
	struct power_source *source;
	size_t n_sources;
	struct power_left left;
};

/**
 * Read @tl from its start; @put is given each interval as it is done, nearly in the order of their ends. CVL_E_UNKNOWN_ID: a
 * channel or line that nobody has; CVL_E_NO: clocks that nothing ties, or volts that are never read with the current;
 * CVL_E_LIMIT: too many intervals at once. What @put returns other than 0 ends it. Free @r whatever is returned.
 */
int power_study(struct power_result *r, struct cvl_timeline *tl, const struct power_opts *opts,
		int (*put)(void *ctx, const struct power_span *span), void *ctx,
		struct cvl_error *err);
void power_free(struct power_result *r);

/** A sum of intervals; begin with {0}. */
struct power_sum {
	uint64_t n, gaps;
	double ns;
	uint64_t sampled; /* those with a reading within, of which is the rest */
	double sampled_ns, bound_ns, stretch_j;
	struct energy_sum energy;
	double peak_w;
	struct cvl_time peak_at;
};

void power_sum_add(struct power_sum *sum, const struct power_span *span);

struct power_figures {
	double joule, joule_half;
	double watt, watt_half; /* the mean, while there are readings */
	double covered;         /* part of the time, 0 to 1, that lies between readings */
};

/** @rounded_w: to what readings are rounded, watts. */
struct power_figures power_figures(const struct power_sum *sum, double rounded_w);

#endif
