/* SPDX-License-Identifier: MIT */
/**
 * One clock against the times of the marks it heard.
 *
 * A tracker is pushed the marks of one clock in tick order, each with its time of sending, and
 * emits knots: the offset T - x of the timeline at some of the clock's nominal times x, with its
 * half-width. Offsets are relative to a base of whole ns, so that doubles keep all digits whatever
 * the clock's epoch.
 */
#ifndef SYNC_TRACK_H
#define SYNC_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/clockmap.h>
#include <coeval/error.h>
#include <coeval/sync.h>

#include "core/spill.h"

/** Half-width of 99.9 % of a normal distribution, in standard deviations. */
#define TRACK_999 3.2905

/** Something heard at x, sent at x + base + offset. */
struct track_mark {
	int64_t x;
	double offset; /* ns */
	double var;    /* ns^2: of the time of sending, in addition to the receiver's jitter */
	uint32_t source;
};

struct track_knot {
	int64_t x;
	double offset, bound; /* ns */
};

/**
 * From @to on the clock may be off by @half_ns relative to before @from. There are no marks in
 * between.
 */
struct track_slip {
	int64_t from, to; /* x */
	double half_ns;
};

/** The noise of a clock as a tracker learned it, for that tracker to use again. */
struct track_noise {
	bool known;
	/* places in its grid: the likeliest, and the likeliest without wander of the reference */
	struct track_noise_at {
		int at[5];
		double jitter2;
	} likeliest, calm;
};

/** A tracker's input about its clock. */
struct track_setup {
	uint64_t rate_hz;
	double period_ns;              /* from mark to mark, nominal */
	double resolution_ns;          /* of x */
	int64_t base;                  /* of the offsets */
	const struct track_slip *slip; /* in order; outlive the tracker */
	size_t n_slips;
	/* from a reference: slow wander in them is attributed to the reference's own time */
	bool pulses;
	struct track_noise noise; /* if known, it is not learned anew */
};

/**
 * A tracker's results. Its knots go to emit(), by track_emit(); a non-zero return stops the tracker
 * with that code.
 */
struct track_report {
	int (*emit)(void *ctx, const struct track_knot *k);
	void *ctx;
	uint64_t knots; /* emitted, the last at last_x */
	int64_t last_x;
	uint64_t used, rejected;
	struct cvl_residuals residuals;
	double correlation;         /* of successive innovations or residuals */
	double jitter_ns;           /* sd of a mark, as estimated */
	double wander_ns, wander_s; /* sd and time of the reference's wander; 0: none found */
	unsigned steps;             /* sudden changes of rate or phase found */
	struct cvl_map_edge before, after; /* beyond the knots; rates against nominal */
	double rate_ppb, rate_bound_ppb;
	/* so long before the last mark, later ones change offsets by less than 1 % of the bound */
	double horizon_ns;
	struct track_noise noise; /* unknown: there is none to use again */
};

struct tracker {
	/* Start; NULL when out of memory. @r outlives the state. */
	void *(*open)(const struct track_setup *s, struct track_report *r);
	int (*feed)(void *state, const struct track_mark *m);
	/*
	 * Emit the rest and free @state; if @rc is not 0, only free it. Returns @rc or the error;
	 * CVL_E_NO if there were too few marks.
	 */
	int (*close)(void *state, int rc);
	bool whole_periods; /* works only on times that are multiples of the period */
	bool slips;         /* handles slips */
};

extern const struct tracker tracker_smooth;

/** Fewest marks that tie a clock. */
#define TRACK_MARKS_MIN 4

/** Knots in memory, and the report that goes with them. */
struct track {
	int64_t base;
	struct track_knot *knot; /* x strictly rises; in @knots */
	size_t n;
	struct spill knots;
	struct track_report report;
};

/**
 * Extend @t over the slips before its first knot and after its last one: by its edges, and with a
 * half-width that grows by the slip's. CVL_E_NOMEM.
 */
int track_carry(struct track *t, const struct track_slip *slip, size_t n);

/** A report's emit() whose ctx is a struct track. */
int track_keep(void *track, const struct track_knot *k);
void track_free(struct track *t);

/** The first slip of @setup that begins at @x or later, or setup->n_slips. */
static inline size_t track_slip_from(const struct track_setup *setup, int64_t x)
{
	size_t low = 0, high = setup->n_slips;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (setup->slip[mid].from < x)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/** a - b as a double, without overflow. */
static inline double track_span(int64_t a, int64_t b)
{
	int64_t d;

	return __builtin_sub_overflow(a, b, &d) ? (double)a - (double)b : (double)d;
}

/**
 * Rate against nominal of a clock whose offset changes by @slope ns per ns; clamped to what maps
 * accept.
 */
static inline double track_rate_ppb(double slope)
{
	return slope > -0.5 && slope < 1 ? (1 / (1 + slope) - 1) * 1e9 : slope > 0 ? -5e8 : 5e8;
}

/** Offset (without base) and half-width at @x; beyond the ends by the edges. @t has knots. */
double track_at(const struct track *t, int64_t x, double *bound);

/** The nominal time x whose time is @time. */
int64_t track_inverse(const struct track *t, int64_t time);

/* ---- for trackers ---- */

/** Emit a knot. CVL_E_RANGE if it is not finite; one whose x does not rise is dropped. */
int track_emit(struct track_report *r, const struct track_knot *k);

/**
 * Emits only those knots that are needed for chords within a tolerance. Bounds are raised, never
 * lowered.
 */
#define THINNER_PENDING 32

struct knot_thinner {
	struct track_report *r;
	double tolerance; /* ns, or 4 % of a knot's bound if that is more */
	struct track_knot pending[THINNER_PENDING];
	size_t n;
	struct track_knot last;
	bool begun;
};

int thinner_put(struct knot_thinner *t, const struct track_knot *k);
int thinner_end(struct knot_thinner *t);

/** Forecast of a clock from x on, from past marks only. Distances in s. */
struct forecast {
	int64_t x;
	double offset, slope, curve; /* ns, ns/s, ns/s^2: offset + slope d + curve d^2 / 2 */
	double bound, bound_rate, bound_acceleration; /* likewise */
};

/** Emit @f from its x up to just before @until, where what was known changes. */
int forecast_emit(struct track_report *r, const struct forecast *f, int64_t until);
/** Continue @f by @r's after-edge. */
void forecast_last(struct track_report *r, const struct forecast *f);

/** Half-width from the squared errors of the last few hundred forecasts. */
struct forecast_errors {
	double mean2;
	uint64_t n;
};

/** @error of a forecast, ns, clipped at 5 times the usual. Returns true if it is 10 times that. */
bool forecast_error(struct forecast_errors *e, double error);
double forecast_bound(const struct forecast_errors *e);

/** Longest step between points of a curve, and most points in a gap. */
#define TRACK_FILL_NS 2e9
#define TRACK_FILL_MAX 64

/** Running mean, sd, extremes and lag-1 correlation of residuals. */
struct residual_sums {
	double sum, sum2, product, before;
	uint64_t n, pairs;
	double min, max;
};

void residual_add(struct residual_sums *s, double v);
/** Products are counted only up to @clip, so that single outliers do not dominate. */
void residual_end(const struct residual_sums *s, struct track_report *r);

double median_of(double *v, size_t n); /* reorders @v */

#endif
