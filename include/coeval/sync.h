/* SPDX-License-Identifier: MIT */
/**
 * Synchronisation: observations in, one clock map for each clock out.
 *
 * cvl_sync_run() reads the observations of a session (stored, or derived now by rules), hands them
 * to an estimator, and returns what sync.json holds. Nothing in the store changes, so it can be run
 * again with other settings for ever.
 */
#ifndef COEVAL_SYNC_H
#define COEVAL_SYNC_H

#include <coeval/api.h>
#include <coeval/clockmap.h>
#include <coeval/error.h>
#include <coeval/option.h>
#include <coeval/session.h>

CVL_BEGIN_DECLS

enum cvl_verdict {
	CVL_UNSYNCHRONISED, /* nothing ties it to the reference, or too little */
	/*
	 * tied, but for whole periods (of pulses, or of keys that come again): more than one answer
	 * fits
	 */
	CVL_AMBIGUOUS,
	/* tied, but observations contradict each other: the bound is not to be trusted */
	CVL_DEGRADED,
	CVL_GOOD,
};

/** "unsynchronised", "ambiguous", "degraded" or "good". */
CVL_API const char *cvl_verdict_name(enum cvl_verdict verdict);

#define CVL_REASON_TEXT 480
#define CVL_RULES_MAX 16

/** How edges or events become observations. Kept in sync.json. */
struct cvl_pulse_rule {
	char line[64]; /* name of the digital line, on every clock that has it */
	bool rising;
	int64_t period_ns;
	/*
	 * How far the line's source may be off true time, where each clock has a source of its own;
	 * its slow part is common to neighbouring pulses. 0: all clocks hear one source, or sources
	 * that agree exactly.
	 */
	int64_t error_ns;
	bool error_is_max; /* error_ns is never exceeded; else it holds 99.9 % of the time */
};

/**
 * Fixed delays of receivers, which no estimator can see: found from one edge that is wired to
 * several observers.
 */
struct cvl_calibration {
	char line[64]; /* that it was found from */
	size_t n;
	struct cvl_bias {
		char *clock;
		double late_ns, bound_ns; /* hears everything so much later than the mean of all */
		uint64_t edges;
	} * clock;
};

/** Everything that may be asked of a synchronisation. Zero means the default. */
struct cvl_sync_opts {
	const char *estimator; /* NULL: by the kind of observations */
	const char *reference; /* clock whose time becomes the timeline; NULL: see docs/sync.md */
	/* "pulse LINE" or "beacon N", whose time it becomes if no clock's; NULL: likewise */
	const char *sender;
	const char *const *match; /* names of built-in rules, or paths of YAML files */
	size_t n_match;
	/* settings of a struct cvl_sync, whose matching rules count with those; or NULL */
	const char *recalled;
	struct cvl_pulse_rule pulse[CVL_RULES_MAX];
	size_t n_pulse;
	int64_t beacon_period_ns; /* time from one sequence number to the next; 0: 1 s */
	char align[64]; /* a line: its first edge is the same one at all clocks; "": none */
	/*
	 * claimed starts are taken to be within this of UTC, where nothing is stated; 0: they say
	 * nothing
	 */
	int64_t start_bound_ns;
	double max_drift_ppm; /* how far a clock's rate may be off; 0: as stated of each clock */
	struct {
		const char *clock;
		double ppm;
	} drift[64]; /* clocks with limits of their own */
	size_t n_drift;
	double wander_ppb_s; /* how fast a rate may change; 0: not limited */
	bool has_wander;     /* so that 0 can be asked for: rates that never change */
	const struct cvl_calibration
		*calibration; /* or NULL; clocks that it does not name have no bias */
	bool strict;
	const struct cvl_report *report;
	/* Bytes while observations are read; while they are solved, and advised on, 0 of 0. */
	struct cvl_progress progress;
};

/** Spread of observations about the map, ns. For messages: the time they took on the timeline. */
struct cvl_residuals {
	uint64_t n;
	double mean, sd, min, max;
};

/** What was found out about one clock. */
struct cvl_clock_sync {
	char *clock; /* name */
	enum cvl_verdict verdict;
	char reason[CVL_REASON_TEXT]; /* why not good, or what ties it */
	struct cvl_map *map;          /* of epoch 0; NULL when unsynchronised */
	double rate_ppb; /* mean over the observations, against nominal. Positive: fast */
	double rate_bound_ppb;
	uint64_t used, rejected;
	struct cvl_residuals residuals;
	int64_t bound_min, bound_max; /* between its first and last record, ns */
	int64_t bound_median;         /* over the time between them */
	/*
	 * Clocks of one group are apart by what their maps say; those of different groups by
	 * unknown whole periods besides. 0: the timeline's group. Of another group turn_ns is the
	 * period.
	 */
	uint32_t group;
	int64_t turn_ns;
	/*
	 * How far the source of its pulses may be off, if it is its own: in every bound against
	 * clocks of another source. 0: none.
	 */
	int64_t reference_ns;
	bool reference_is_max;
	char decided_by[100]; /* what decided which pulses it heard, or "" */
};

struct cvl_sync {
	char session[40]; /* UUID of the session it belongs to */
	char *estimator;
	char *reference; /* a clock's name, or "pulse LINE", "beacon SENDER" */
	char *settings;  /* JSON text of the options and rules used */
	int64_t epoch_unix_ns;
	char note[CVL_REASON_TEXT]; /* what the bounds rest on besides, or "" */
	size_t n;
	struct cvl_clock_sync *clock; /* one for each clock of the session */
};

/**
 * Synchronise. Returns 0 with *@sync filled when it could be run at all; whether each clock is tied
 * is in its verdict. CVL_E_USAGE for options that make no sense, CVL_E_NO when there are no
 * observations.
 */
CVL_API int cvl_sync_run(struct cvl_sync **sync, struct cvl_session *session,
			 const struct cvl_sync_opts *opts, struct cvl_error *err);

/**
 * Ask for what @sync was made with: its rules, if @opts has none (match, pulses, the period of
 * beacons), and then its limits and its reference, as far as they were asked for and @opts has
 * none. Rules in @opts replace all. @sync must outlive @opts. CVL_E_SYNTAX, CVL_E_NOMEM.
 */
CVL_API int cvl_sync_recall(struct cvl_sync_opts *opts, const struct cvl_sync *sync,
			    struct cvl_error *err);

/**
 * Call @see with the name of each matching rule that cvl_sync_recall() put into @opts; rules of one
 * name in a row once.
 */
CVL_API void cvl_sync_recalled(const struct cvl_sync_opts *opts,
			       void (*see)(void *ctx, const char *name), void *ctx);

/** The observations of a session, read once, to be solved more than once. */
struct cvl_observations;

/** Read them. @session and what @opts points to must outlive them. */
CVL_API int cvl_observe(struct cvl_observations **obs, struct cvl_session *session,
			const struct cvl_sync_opts *opts, struct cvl_error *err);
CVL_API void cvl_observations_free(struct cvl_observations *obs);

/**
 * Tick of the mark before the last @back marks that clock @clock heard; false if it did not hear so
 * many.
 */
CVL_API bool cvl_observations_mark(const struct cvl_observations *obs, size_t clock, size_t back,
				   struct cvl_tick *tick);

/** Solve by @estimator (NULL: by the kind of observations); as cvl_sync_run(). */
CVL_API int cvl_sync_solve(struct cvl_sync **sync, const struct cvl_observations *obs,
			   const char *estimator, struct cvl_error *err);

/**
 * Call @see for every pulse and beacon that clock @clock heard, in no order between sources: when
 * by its map, and how far that is from when the mark was sent (sources the timeline is made of), or
 * from the mean of what all clocks say that heard it. Nothing is called for a clock without a map.
 * Returns 0 or CVL_E_NOMEM.
 */
CVL_API int cvl_sync_residuals(const struct cvl_sync *sync, const struct cvl_observations *obs,
			       size_t clock,
			       void (*see)(void *ctx, struct cvl_time t, double residual_ns),
			       void *ctx, struct cvl_error *err);

/** A bound at another rate of exchanges: messages there and back. */
struct cvl_advice_run {
	double times;               /* as many exchanges as there are */
	bool measured;              /* with exchanges left out; else predicted */
	double median_ns, worst_ns; /* bound, between the clock's first and last exchange */
};

#define CVL_ADVICE_RUNS 9
/**
 * So many times as many exchanges as there are is what the model is made for, and so many are not
 * asked of it.
 */
#define CVL_ADVICE_TRIED 4
#define CVL_ADVICE_FAR 64

/** What its messages tell of a clock that is not the reference. */
struct cvl_clock_advice {
	char *clock;
	char reason[CVL_REASON_TEXT]; /* why nothing can be said, or "" */
	uint64_t exchanges;           /* with any other clock */
	double per_second;
	double floor_ns;  /* half the shortest round trip to the reference: no rate betters that */
	double drift_ppm; /* limits of the clock and the reference together */
	double gap_ns;    /* from one exchange to the next, on average */
	double drift_ns;  /* what the drift limit adds in half of that */
	size_t n;
	struct cvl_advice_run
		run[CVL_ADVICE_RUNS]; /* fewest exchanges first; none if nothing can be said */
	/**
	 * As many times the exchanges keep the median or worst bound to what was wanted: INFINITY:
	 * no rate does; NAN: nothing was.
	 */
	double times_median, times_worst;
};

struct cvl_advice {
	char *reference;
	/*
	 * of every clock of which something can be said some rate keeps the median to what was
	 * wanted, if anything was
	 */
	bool reached;
	size_t n;
	struct cvl_clock_advice *clock;
};

/**
 * How bounds from messages would change with fewer or more of them. Fewer are measured: every
 * second, fourth, ... exchange is kept, and all is solved again. More are predicted by a model that
 * is fitted to that (docs/sync.md). @estimator: NULL or one that works on messages. @wanted_ns: a
 * bound to find a rate for, or 0. CVL_E_NO where nothing can be said.
 */
CVL_API int cvl_sync_advise(struct cvl_advice **advice, const struct cvl_observations *obs,
			    const char *estimator, double wanted_ns, struct cvl_error *err);
CVL_API void cvl_advice_free(struct cvl_advice *advice);

/** NULL is allowed. */
CVL_API void cvl_sync_free(struct cvl_sync *sync);

/** Write @sync as the session's sync.json, replacing the old one as a whole. */
CVL_API int cvl_sync_save(const struct cvl_sync *sync, const struct cvl_session *session,
			  struct cvl_error *err);

/** Read sync.json. Returns 1 if there is one, 0 if not, or a negative code. */
CVL_API int cvl_sync_load(struct cvl_sync **sync, const struct cvl_session *session,
			  struct cvl_error *err);

/**
 * Find how much later than others each clock's receiver hears: by rising edges of @line, which
 * stands at the same wire for all clocks that have a line of that name, on the timeline that
 * @session's sync.json makes (solved without a calibration). CVL_E_NO when no edge was seen by two
 * clocks within 1 ms. @progress, in bytes, may be NULL.
 */
CVL_API int cvl_calibrate(struct cvl_calibration **calibration, struct cvl_session *session,
			  const char *line, const struct cvl_progress *progress,
			  struct cvl_error *err);
CVL_API void cvl_calibration_free(struct cvl_calibration *calibration);

/** Write it as @session's calibration.json, as a whole. */
CVL_API int cvl_calibration_save(const struct cvl_calibration *calibration,
				 const struct cvl_session *session, struct cvl_error *err);

/**
 * Read a calibration.json; a directory stands for the one in it. CVL_E_SYNTAX, CVL_E_ENV if there
 * is none.
 */
CVL_API int cvl_calibration_load(struct cvl_calibration **calibration, const char *path,
				 struct cvl_error *err);

/**
 * The true maps of a simulated session, kept beside it as truth.json in the form of sync.json.
 * Their times are true time from the world's start.
 */
CVL_API int cvl_truth_save(const struct cvl_sync *truth, const struct cvl_session *session,
			   struct cvl_error *err);
CVL_API int cvl_truth_load(struct cvl_sync **truth, const struct cvl_session *session,
			   struct cvl_error *err);

/** The entry of clock @name, or NULL. */
CVL_API const struct cvl_clock_sync *cvl_sync_find(const struct cvl_sync *sync, const char *name);

/**
 * What is known of clock @i of @session; NULL: nothing. A trace that came after the synchronisation
 * and is of a clock that it tied (decoded from one of its lines) is tied with it.
 */
CVL_API const struct cvl_clock_sync *cvl_sync_of(const struct cvl_sync *sync,
						 const struct cvl_session *session, size_t i);

struct cvl_estimator_info {
	const char *name, *what;
	bool messages; /* works on messages; else on pulses and beacons */
	const struct cvl_option
		*options; /* those of struct cvl_sync_opts that change how it works; or NULL */
	/* what it says of a time depends on the marks before it alone: see coeval/follow.h */
	bool follows;
};

/** Estimator @i, or NULL past the last. The first of each kind is its default. */
CVL_API const struct cvl_estimator_info *cvl_sync_estimator(size_t i);

CVL_END_DECLS

#endif
