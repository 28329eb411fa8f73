/* SPDX-License-Identifier: MIT */
/**
 * Power over the timeline: mean, energy and peak of each channel, of the states of a line, and of
 * intervals between two edges, events or spans, each within a bound.
 *
 * The timeline is read once, in constant memory: readings are added to the intervals that are open,
 * and forgotten. An interval is delivered once no later reading can change it, nearly in the order
 * of their ends.
 *
 * Intervals that a node marks are measured by the power of that node; if it has none, by all there
 * is.
 *
 * Energy is the sum of the trapezoids between readings, cut at the ends of an interval. Its error
 * has four parts. The power may step at an end, anywhere between the two readings around it: at
 * most their difference times the part of that time that lies in the interval. The end's own time
 * is known to within a bound: the power there times that bound. Within the interval readings are
 * noisy, and power between two of them is not known: if two successive readings differ by noise
 * alone, of variance v each, (p1 - p0)^2 estimates 2 v, and the time dt between two adds v dt^2.
 * Readings are rounded: half the rounding step, for as long as they cover. A power that changes and
 * changes back between two readings goes unnoticed.
 */
#ifndef COEVAL_POWER_H
#define COEVAL_POWER_H

#include <coeval/analysis.h>
#include <coeval/api.h>
#include <coeval/select.h>

CVL_BEGIN_DECLS

/** Watts, and volts: no meter reads more. */
#define CVL_POWER_MOST 1e15

/** Energy of one interval. */
struct cvl_energy {
	double joule;
	uint32_t samples;      /* within the interval; 0: its energy is not known */
	double covered_ns;     /* of the interval, between samples */
	double bound;          /* J, from steps at the ends */
	double variance;       /* J^2, of the readings within */
	double begin_w, end_w; /* greatest readings around the ends */
	int64_t apart;         /* half-width of an end against the samples, ns */
};

/** Of several. */
struct cvl_energy_sum {
	double joule, covered_ns;
	double bound, variance; /* J, J^2 */
};

/** What intervals are made of. */
enum cvl_power_of {
	CVL_POWER_ALL,     /* one interval: all readings of a source */
	CVL_POWER_STATES,  /* while a line is high, and while it is low */
	CVL_POWER_BETWEEN, /* from each A to the next B */
};

/** Where power is read: a channel of a clock. */
struct cvl_power_source {
	size_t stream, clock;
	uint64_t samples;      /* readings of power */
	uint64_t gaps;         /* losses in its stream */
	uint64_t unpaired;     /* readings of current without volts, or vice versa */
	uint64_t out_of_range; /* readings beyond CVL_POWER_MOST or not finite: left out */
	struct cvl_time first, last;
	double rounded_w; /* rounding step of power, W; 0: unknown */
};

/** One interval, by one source. */
struct cvl_power_interval {
	size_t source;
	size_t clock; /* that marks it */
	bool high;    /* CVL_POWER_STATES */
	bool whole;   /* CVL_POWER_ALL: from the first reading to the last */
	struct cvl_time begin, end;
	int64_t bound; /* half-width of its duration, ns; CVL_BOUND_UNKNOWN */
	uint32_t gaps; /* of the readings, overlapping it */
	struct cvl_energy energy;
	double stretch_j; /* error from the rate of the readings' clock */
	double peak_w;    /* greatest reading within; only with samples */
	struct cvl_time peak_at;
};

/** A sum of intervals; begin with all zeros. */
struct cvl_power_sum {
	uint64_t n, gaps; /* gaps: intervals that have one */
	double ns;
	uint64_t sampled; /* with a reading within, at a known time; the rest is of these */
	double sampled_ns, bound_ns, stretch_j;
	struct cvl_energy_sum energy;
	double peak_w;
	struct cvl_time peak_at;
};

/** Figures of a sum. Half-widths hold 99.9 % of the time with respect to noise. */
struct cvl_power_figures {
	double joule, joule_half;
	double watt, watt_half; /* the mean, while covered by readings */
	double covered;         /* part of the time, 0 to 1, that lies between readings */
};

/** Intervals of one kind, marked on one clock, by one source. */
struct cvl_power_row {
	size_t source, clock;
	bool high; /* CVL_POWER_STATES */
	struct cvl_power_sum sum;
	struct cvl_power_sum least, most; /* of the one with the least energy, and the most */
};

/** Intervals that were left out, and why. */
struct cvl_power_left {
	uint64_t unfinished; /* began; no end was seen */
	uint64_t unbegun;    /* ended; no begin was seen */
	uint64_t again;      /* began again while open: the first begin counts */
	uint64_t cut;        /* marks were lost within */
};

struct cvl_power_result {
	enum cvl_power_of of;
	struct cvl_power_source *source;
	size_t n_sources;
	struct cvl_power_row *row;
	size_t n_rows;
	struct cvl_power_interval *interval; /* with keep */
	size_t n_intervals;
	struct cvl_power_left left;
};

struct cvl_power_opts {
	const char *watts;   /* channel of power; or */
	const char *amperes; /* channel of current, times */
	const char *volts;   /* channel of volts read together with it; NULL: */
	double fixed_volts;
	double unit;    /* W or A per unit of `watts` or `amperes` */
	double rounded; /* rounding step of readings, in their own units; 0: unknown */
	/**
	 * What to measure: a line's states, or between a pair, of any node unless they name one;
	 * both NULL: CVL_POWER_ALL. A line's name alone means its rise. They are resolved here and
	 * must outlive the analysis.
	 */
	struct cvl_selector *line;
	struct cvl_selector *between; /* two */
	/**
	 * Called with each finished interval; a nonzero return is returned by push or end. May be
	 * NULL.
	 */
	int (*put)(void *ctx, const struct cvl_power_interval *interval,
		   const struct cvl_power_result *so_far);
	void *ctx;
	bool keep; /* keep intervals in the result; memory grows with them */
};

/**
 * @opts is copied, its strings and selectors are not. CVL_E_UNKNOWN_ID: no such channel, line or
 * event; CVL_E_USAGE. Later CVL_E_NO: nothing ties the clocks of marks and readings, or volts are
 * never read with the current, or all readings are out of range; CVL_E_UNKNOWN_ID: no such span;
 * CVL_E_LIMIT: too many intervals at once.
 */
CVL_API int cvl_power_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			   const struct cvl_power_opts *opts, struct cvl_error *err);

/** Of an analysis that cvl_power_open() made; complete once it has ended. */
CVL_API const struct cvl_power_result *cvl_power_result(const struct cvl_analysis *a);

/** Add an interval. */
CVL_API void cvl_power_sum_add(struct cvl_power_sum *sum,
			       const struct cvl_power_interval *interval);

/** @rounded_w: of the source. */
CVL_API struct cvl_power_figures cvl_power_figures(const struct cvl_power_sum *sum,
						   double rounded_w);

CVL_END_DECLS

#endif
