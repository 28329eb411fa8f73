/* SPDX-License-Identifier: MIT */
/**
 * Simulated worlds whose truth is known: libcoeval-sim, a library apart from libcoeval, so that
 * simulated data cannot end up in measurements.
 *
 * A world is clocks, what ties them (senders of beacons, pulses, messages), programs on observed
 * nodes, and faults; it is read from YAML (docs/sim.md) and drawn from one seed. Simulating it
 * gives the session that capturing it would have given, and truth.json: the true clock maps, for
 * cvl_score().
 *
 * True time is in ns from the world's start. Nothing is shared between worlds: each may be used by
 * a thread of its own, and a world that does not change by several.
 */
#ifndef COEVAL_SIM_H
#define COEVAL_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/freq.h>
#include <coeval/session.h>

CVL_BEGIN_DECLS

/** A world. */
struct cvl_sim;

/**
 * Read a world from @len bytes of YAML, called @name in messages. CVL_E_SYNTAX with the byte
 * offset, CVL_E_RANGE, CVL_E_LIMIT, CVL_E_NOMEM. Free it by cvl_sim_free().
 */
CVL_API int cvl_sim_parse(struct cvl_sim **sim, const char *text, size_t len, const char *name,
			  struct cvl_error *err);

/** The same from a file of at most 1 MiB; also CVL_E_IO. */
CVL_API int cvl_sim_load(struct cvl_sim **sim, const char *path, struct cvl_error *err);

/** NULL is allowed. */
CVL_API void cvl_sim_free(struct cvl_sim *sim);

/** Redraw it: another seed gives other clocks, noise and times of random events. */
CVL_API void cvl_sim_seed(struct cvl_sim *sim, uint64_t seed);

/**
 * Change its duration to @ns, up to 31 days. Faults that would begin later are dropped; @dropped,
 * which may be NULL, gets their number. CVL_E_USAGE if the world cannot last that long; it is then
 * unchanged.
 */
CVL_API int cvl_sim_duration(struct cvl_sim *sim, int64_t ns, size_t *dropped,
			     struct cvl_error *err);

/** Contents of a world. Texts belong to the world. */
struct cvl_sim_info {
	const char *name;
	uint64_t seed;
	int64_t duration_ns;
	size_t clocks;
	size_t senders;           /* of beacons */
	int64_t beacon_period_ns; /* of the first of them; 0: none */
	size_t pulses;            /* lines of pulses */
	const char *pulse_line;   /* the one that most clocks have; NULL: none */
	int64_t pulse_period_ns;
	size_t messages; /* kinds of messages */
};

/** Describe the contents of @sim. */
CVL_API void cvl_sim_info(const struct cvl_sim *sim, struct cvl_sim_info *info);

/** Longest name of a clock, with its NUL. */
#define CVL_SIM_NAME 44

/** Name of clock @i, counted from 0; false if there are fewer. */
CVL_API bool cvl_sim_clock(const struct cvl_sim *sim, size_t i, char name[CVL_SIM_NAME]);

/**
 * Simulate the world, and store what captures would have stored as the new session @path, with
 * truth.json in it: like sync.json, with bounds of 0. The true map of a clock whose ticks go back
 * ends there. @progress counts clocks, and may be NULL. The same world gives the same session.
 * CVL_E_USAGE: @path exists. CVL_E_CANCELLED leaves what was written.
 */
CVL_API int cvl_sim_run(const struct cvl_sim *sim, const char *path,
			const struct cvl_progress *progress, struct cvl_error *err);

/**
 * Write the lines of @clock (each sender's beacons, then pulses, then programs' pins) to the file
 * @path as raw samples, a byte each, at the clock's rate. CVL_E_USAGE: no such clock.
 */
CVL_API int cvl_sim_samples(const struct cvl_sim *sim, const char *clock, const char *path,
			    struct cvl_error *err);

/**
 * The world of a demonstration: observers that sample 8 lines at 8 MHz on inaccurate clocks and all
 * hear one beacon a second.
 */
struct cvl_sim_demo;

#define CVL_SIM_DEMO_OBSERVERS 4
/** Of samples, in Hz. */
#define CVL_SIM_DEMO_RATE 8000000

/** Make a world of @seconds (8 to 600) from @seed. Free it by cvl_sim_demo_free(). CVL_E_NOMEM. */
CVL_API int cvl_sim_demo_make(struct cvl_sim_demo **demo, uint64_t seed, unsigned seconds,
			      struct cvl_error *err);

/** NULL is allowed. */
CVL_API void cvl_sim_demo_free(struct cvl_sim_demo *demo);

/** Rate error of the clock of observer @i, ppm; positive: it runs fast. */
CVL_API double cvl_sim_demo_rate_off_ppm(const struct cvl_sim_demo *demo, unsigned i);

/**
 * Write what the observers sampled and which beacons they heard to files in the directory @dir, and
 * import them into the new session @path. The sample files are removed afterwards; the beacons stay
 * as observerN-beacons.csv.
 */
CVL_API int cvl_sim_demo_capture(const struct cvl_sim_demo *demo, const char *dir, const char *path,
				 struct cvl_error *err);

/** How a timeline's edges compare with those that happened. */
struct cvl_sim_demo_score {
	uint64_t edges;
	uint64_t covered;   /* their bound holds the true time */
	uint64_t unmatched; /* lost or invented */
	double mean_ns;     /* of absolute errors */
	double worst_ns;
	double apart_ns; /* between the two that are off most in opposite directions */
};

/**
 * Compare each edge of @session, which cvl_sim_demo_capture() made of @demo, with the truth;
 * @nominal: by nominal clocks, not by its clock maps. The timeline begins where the first observer
 * did, a whole number of seconds from the sender's time, which is subtracted.
 */
CVL_API int cvl_sim_demo_compare(const struct cvl_sim_demo *demo, struct cvl_session *session,
				 bool nominal, struct cvl_sim_demo_score *score,
				 struct cvl_error *err);

/*
 * ---- tasks of a simulated processor, to evaluate rules that choose a frequency: see coeval/freq.h
 * ----
 */

/** As many as the thesis on task characterization measured. */
#define CVL_SIM_TASKS 69

enum cvl_sim_tasks_kind {
	CVL_SIM_TASKS_MIXED, /* some miss in the flash cache, some wait for a fixed time */
	/* none waits for a fixed time, as in the benchmark suite of the thesis */
	CVL_SIM_TASKS_COMPUTING,
	/* and waiting cycles switch as much as others: energy is exactly equation 2.6 */
	CVL_SIM_TASKS_CONSTANT,
	CVL_SIM_TASKS_KINDS
};

/** "mixed", ...; NULL past the last. */
CVL_API const char *cvl_sim_tasks_kind_name(size_t kind);

/**
 * @n tasks, each under every policy of @device, with and without wait-state adaption and cache, at
 *    every frequency, with their true energies. The same @seed gives the same ones. CVL_E_NOMEM.
 */
CVL_API int cvl_sim_tasks_make(struct cvl_freq_table **table, const struct cvl_freq_device *device,
			       enum cvl_sim_tasks_kind kind, uint64_t seed, size_t n,
			       struct cvl_error *err);

CVL_END_DECLS

#endif
