/* SPDX-License-Identifier: MIT */
/**
 * Synchronisation: observations in, one clock map for each clock out.
 *
 * cvl_sync_run() reads the observations of a session (stored, or derived now by rules), hands them
 * to an estimator, and returns what sync.json holds. Nothing in the store changes, so it can be
 * repeated with other settings at any time.
 */
#ifndef COEVAL_SYNC_H
#define COEVAL_SYNC_H

#include <coeval/api.h>
#include <coeval/clockmap.h>
#include <coeval/error.h>
#include <coeval/files.h>
#include <coeval/option.h>
#include <coeval/session.h>

CVL_BEGIN_DECLS

enum cvl_verdict {
	CVL_UNSYNCHRONISED, /* nothing ties it to the reference, or too little */
	/* tied up to whole periods (of pulses, or of recurring keys): several solutions fit */
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
 * Read `LINE:rise|fall:PERIOD[:+-ERROR[:max]]`, such as "PPS:rise:1s:+-300ns"; the line's own name
 * may hold colons. CVL_E_USAGE.
 */
CVL_API int cvl_pulse_parse(struct cvl_pulse_rule *rule, const char *text, struct cvl_error *err);

/**
 * Fixed delays of receivers, which no estimator can see: determined from one edge that is wired to
 * several observers.
 */
struct cvl_calibration {
	char line[64]; /* it was determined from */
	size_t n;
	struct cvl_bias {
		char *clock;
		double late_ns, bound_ns; /* delay relative to the mean of all */
		uint64_t edges;
	} * clock;
};

/** Options of a synchronisation. Zero means the default. */
struct cvl_sync_opts {
	const char *estimator; /* NULL: by the kind of observations */
	const char *reference; /* clock whose time becomes the timeline; NULL: see docs/sync.md */
	/*
	 * "pulse LINE" or "beacon N", whose time becomes the timeline if no clock's does; NULL:
	 * likewise
	 */
	const char *sender;
	const char *const *match; /* names of built-in rules, or paths of YAML files */
	size_t n_match;
	/* settings of a struct cvl_sync, whose matching rules are added to those; or NULL */
	const char *recalled;
	struct cvl_pulse_rule pulse[CVL_RULES_MAX];
	size_t n_pulse;
	int64_t beacon_period_ns; /* time from one sequence number to the next; 0: 1 s */
	char align[64]; /* a line: its first edge is the same one at all clocks; "": none */
	/* claimed starts are within this of UTC unless stated otherwise; 0: they are not used */
	int64_t start_bound_ns;
	double max_drift_ppm; /* how far a clock's rate may be off; 0: as stated for each clock */
	struct {
		const char *clock;
		double ppm;
	} drift[64]; /* clocks with limits of their own */
	size_t n_drift;
	double wander_ppb_s; /* how fast a rate may change; 0: not limited */
	bool has_wander;     /* so that 0 can be requested: rates that never change */
	const struct cvl_calibration *calibration; /* or NULL; clocks not listed have no bias */
	unsigned jobs; /* threads that track clocks, each by itself; 0: one for each processor */
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

/** The result for one clock. */
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
	 * Clocks of one group differ by what their maps say; those of different groups by unknown
	 * whole periods in addition. 0: the timeline's group. In another group turn_ns is the
	 * period.
	 */
	uint32_t group;
	int64_t turn_ns;
	/*
	 * Error of the source of its pulses, if it is its own: part of every bound against clocks
	 * of another source. 0: none.
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
	char note[CVL_REASON_TEXT]; /* further assumptions of the bounds, or "" */
	size_t n;
	struct cvl_clock_sync *clock; /* one for each clock of the session */
};

/**
 * Synchronise. Returns 0 with *@sync filled if it could run at all; whether each clock is tied is
 * in its verdict. CVL_E_USAGE for invalid options, CVL_E_NO when there are no observations.
 */
CVL_API int cvl_sync_run(struct cvl_sync **sync, struct cvl_session *session,
			 const struct cvl_sync_opts *opts, struct cvl_error *err);

/**
 * Request the options that @sync was made with: its rules, if @opts has none (match, pulses, beacon
 * period), then its limits and its reference, if it had any and @opts has none. Rules in @opts
 * replace all. @sync must outlive @opts. CVL_E_SYNTAX, CVL_E_NOMEM.
 */
CVL_API int cvl_sync_recall(struct cvl_sync_opts *opts, const struct cvl_sync *sync,
			    struct cvl_error *err);

/**
 * Call @see with the name of each matching rule that cvl_sync_recall() put into @opts; consecutive
 * rules of one name once.
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
 * Tick of the mark before the last @back marks heard by clock @clock; false if it heard too few.
 */
CVL_API bool cvl_observations_mark(const struct cvl_observations *obs, size_t clock, size_t back,
				   struct cvl_tick *tick);

/** Solve by @estimator (NULL: by the kind of observations); as cvl_sync_run(). */
CVL_API int cvl_sync_solve(struct cvl_sync **sync, const struct cvl_observations *obs,
			   const char *estimator, struct cvl_error *err);

/**
 * Call @see for every pulse and beacon heard by clock @clock, unordered between sources: its time
 * by the clock's map, and its distance from the time of sending (sources that define the timeline),
 * or from the mean of all clocks that heard it. Not called for a clock without a map. Returns 0 or
 * CVL_E_NOMEM.
 */
CVL_API int cvl_sync_residuals(const struct cvl_sync *sync, const struct cvl_observations *obs,
			       size_t clock,
			       void (*see)(void *ctx, struct cvl_time t, double residual_ns),
			       void *ctx, struct cvl_error *err);

/** A bound at another rate of exchanges: round trips. */
struct cvl_advice_run {
	double times;               /* as many exchanges as there are */
	bool measured;              /* with exchanges left out; else predicted */
	double median_ns, worst_ns; /* bound, between the clock's first and last exchange */
};

#define CVL_ADVICE_RUNS 9
/**
 * Factors on the number of exchanges: up to CVL_ADVICE_TRIED the model was tested, beyond
 * CVL_ADVICE_FAR it is not used.
 */
#define CVL_ADVICE_TRIED 4
#define CVL_ADVICE_FAR 64

/** Advice for a clock that is not the reference. */
struct cvl_clock_advice {
	char *clock;
	char reason[CVL_REASON_TEXT]; /* why there is no advice, or "" */
	uint64_t exchanges;           /* with any other clock */
	double per_second;
	double floor_ns;  /* half the shortest round trip to the reference: the limit */
	double drift_ppm; /* limits of the clock and the reference together */
	double gap_ns;    /* from one exchange to the next, on average */
	double drift_ns;  /* what the drift limit adds in half of that */
	size_t n;
	struct cvl_advice_run
		run[CVL_ADVICE_RUNS]; /* fewest exchanges first; none without advice */
	/**
	 * Factor on the exchanges that brings the median or worst bound to the wanted one.
	 * INFINITY: none does; NAN: no bound was wanted.
	 */
	double times_median, times_worst;
};

struct cvl_advice {
	char *reference;
	/*
	 * every clock with advice can bring its median bound to the wanted one, if one was given,
	 * at some rate
	 */
	bool reached;
	size_t n;
	struct cvl_clock_advice *clock;
};

/**
 * How bounds from messages would change with fewer or more of them. For fewer, every second,
 * fourth, ... exchange is kept, and all is solved again. For more, a model fitted to these results
 * is used (docs/sync.md). @estimator: NULL or one that works on messages. @wanted_ns: a bound to
 * find a rate for, or 0. CVL_E_NO if there is no advice.
 */
CVL_API int cvl_sync_advise(struct cvl_advice **advice, const struct cvl_observations *obs,
			    const char *estimator, double wanted_ns, struct cvl_error *err);
CVL_API void cvl_advice_free(struct cvl_advice *advice);

/** NULL is allowed. */
CVL_API void cvl_sync_free(struct cvl_sync *sync);

/**
 * The folder of @session's sync.json and clock maps: its own, or if that cannot be written one in
 * the user's cache (XDG_CACHE_HOME, ~/.cache), which @make creates. Returns 1 if it is in the cache,
 * 0 if not, or a negative code.
 */
CVL_API int cvl_sync_folder(char folder[CVL_PATH_MAX], const struct cvl_session *session, bool make,
			    struct cvl_error *err);

/**
 * Write @sync as the session's sync.json, atomically replacing the old one; in the folder that
 * cvl_sync_folder() tells, as all that is saved of it.
 */
CVL_API int cvl_sync_save(const struct cvl_sync *sync, const struct cvl_session *session,
			  struct cvl_error *err);

/** Read sync.json. Returns 1 if there is one, 0 if not, or a negative code. */
CVL_API int cvl_sync_load(struct cvl_sync **sync, const struct cvl_session *session,
			  struct cvl_error *err);

/**
 * The same without the maps, for cvl_sync_recall(): how the session was synchronised is known even
 * if a map was lost.
 */
CVL_API int cvl_sync_load_settings(struct cvl_sync **sync, const struct cvl_session *session,
				   struct cvl_error *err);

/**
 * Find how late each clock's receiver hears relative to others: from rising edges of @line, a wire
 * shared by all clocks that have a line of that name, on the timeline of @session's sync.json
 * (solved without a calibration). CVL_E_NO if no edge was seen by two clocks within 1 ms.
 * @progress, in bytes, may be NULL.
 */
CVL_API int cvl_calibrate(struct cvl_calibration **calibration, struct cvl_session *session,
			  const char *line, const struct cvl_progress *progress,
			  struct cvl_error *err);
CVL_API void cvl_calibration_free(struct cvl_calibration *calibration);

/** Write it as @session's calibration.json, atomically. */
CVL_API int cvl_calibration_save(const struct cvl_calibration *calibration,
				 const struct cvl_session *session, struct cvl_error *err);

/**
 * Read a calibration.json, or the one in a directory. CVL_E_SYNTAX; CVL_E_ENV if there is none.
 */
CVL_API int cvl_calibration_load(struct cvl_calibration **calibration, const char *path,
				 struct cvl_error *err);

/**
 * The true maps of a simulated session, stored beside it as truth.json in the format of sync.json.
 * Their times are true time from the world's start.
 */
CVL_API int cvl_truth_save(const struct cvl_sync *truth, const struct cvl_session *session,
			   struct cvl_error *err);
CVL_API int cvl_truth_load(struct cvl_sync **truth, const struct cvl_session *session,
			   struct cvl_error *err);

/** The entry of clock @name, or NULL. */
CVL_API const struct cvl_clock_sync *cvl_sync_find(const struct cvl_sync *sync, const char *name);

/**
 * The entry for clock @i of @session, or NULL. A trace added after the synchronisation whose clock
 * is tied (decoded from one of its lines) is tied with it.
 */
CVL_API const struct cvl_clock_sync *cvl_sync_of(const struct cvl_sync *sync,
						 const struct cvl_session *session, size_t i);

struct cvl_estimator_info {
	const char *name, *what;
	bool messages; /* works on messages; else on pulses and beacons */
	const struct cvl_option
		*options; /* those of struct cvl_sync_opts that change how it works; or NULL */
	/* its output at a time depends only on earlier marks: see coeval/follow.h */
	bool follows;
};

/** Names of the built-in matching rules; NULL: no more. */
CVL_API const char *cvl_match_builtin_name(size_t i);
/** The YAML text of those called @name, of *@n bytes, not ended by NUL; NULL: there are none. */
CVL_API const char *cvl_match_builtin_rules(const char *name, size_t *n);

/** Estimator @i, or NULL past the last. The first of each kind is its default. */
CVL_API const struct cvl_estimator_info *cvl_sync_estimator(size_t i);

CVL_END_DECLS

#endif
