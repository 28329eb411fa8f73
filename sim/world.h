/* SPDX-License-Identifier: MIT */
/**
 * Simulated worlds: clocks, senders, receivers, pulses, messages and node programs, all drawn from
 * one seed, with the truth kept. world_keys.c reads a world from YAML (docs/sim.md); world.c makes
 * it happen.
 *
 * True time is in ns from the world's start. Every entity draws from a stream of its own, seeded by
 * the world's seed and its name, so that adding one does not change what happens to the others.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>
#include <coeval/sync.h>

#define WORLD_NAME 32
#define WORLD_LIST 16 /* groups of each kind, and faults */
#define WORLD_STEP_NS 1000000000
#define WORLD_CLOCKS_MAX 1024 /* in all groups */

/** Errors of an oscillator. Rates against nominal, positive: fast. */
struct world_oscillator {
	double offset_ppm;      /* the same for all of a group */
	double offset_sd_ppm;   /* gaussian, one draw a clock */
	double white_ppb;       /* white frequency noise: sd of the mean rate over 1 s */
	double walk_ppb;        /* random walk of the rate: sd of the change in 1 s */
	double ageing_ppb_day;  /* steady change */
	double sine_ppm;        /* temperature: amplitude, at a random phase */
	int64_t sine_period_ns; /* 0: none */
	unsigned rate_steps;    /* steps of the rate at random instants */
	double rate_step_ppm;   /* their size, of random sign */
};

/** Errors of a receiver's or an input's stamps. */
struct world_jitter {
	double normal_ns;   /* gaussian, sd */
	double uniform_ns;  /* uniform, 0 to this */
	double exp_ns;      /* exponential, mean: always late */
	double correlation; /* of successive gaussian draws (AR(1)), 0 to below 1 */
	double bias_sd_ns;  /* fixed delay of a receiver: gaussian, one draw each */
	double outliers;    /* share of marks that are off by outlier_min_ns to outlier_max_ns */
	double outlier_min_ns, outlier_max_ns;
	double outliers_late; /* share of the outliers that are late; the others are early */
};

/** Clocks of one kind: name1 ... nameN, or name alone if there is one. */
struct world_clocks {
	char name[WORLD_NAME];
	unsigned count;
	uint64_t rate_hz;
	uint64_t resolution; /* ticks from one sample to the next */
	unsigned bits;       /* width of the counter: what is stored was extended at every record */
	int64_t start_ns;    /* capture begins at a random time up to this */
	struct world_oscillator oscillator;
	double distance_m;   /* from any sender, uniform up to this */
	int64_t disorder_ns; /* a record is stored late by up to this, uniform */
};

/** A sender of beacons, heard by the clocks whose names match @heard_by (a glob). */
struct world_sender {
	uint32_t id;
	int64_t period_ns;
	uint64_t first_number;
	char heard_by[WORLD_NAME];
	struct world_oscillator oscillator;
	double jitter_ns; /* of sending, gaussian sd; the same for all that hear it */
	bool disciplined; /* sends at true multiples of the period, +- gps_ns */
	double gps_ns;    /* gaussian sd */
	struct world_jitter receiver;
	double missed, duplicated, late, misnumbered; /* shares of what a receiver hears */
	double late_min_ns, late_max_ns;              /* by how much late ones are late */
};

/** Slow error of a reference, the same for all that hear it. */
struct world_reference {
	double wander_ns;                  /* stationary, sd */
	int64_t wander_time_ns;            /* how long it lasts */
	bool rough;                        /* its slope is not continuous */
	int64_t kicks_every_ns;            /* on average; 0: none. Gone after some seconds */
	double kick_ns, kick_spread;       /* median size, and sd of its logarithm */
	int64_t bursts_every_ns, burst_ns; /* 0: none */
	double burst_factor;               /* of wander and jitter in them */
};

/**
 * Pulses at true multiples of the period plus their reference's error, on a line of the clocks that
 * match.
 */
struct world_pulse {
	char line[WORLD_NAME];
	char clocks[WORLD_NAME]; /* glob */
	int64_t period_ns, width_ns;
	struct world_jitter jitter;
	struct world_reference reference;
	double missed, extra; /* shares; extra ones at random times */
};

/**
 * Messages between every ordered pair of a clock that matches @from and another that matches @to.
 */
struct world_message {
	char from[WORLD_NAME], to[WORLD_NAME];
	double per_second;                     /* of one pair, at random times */
	double latency_min_ns, latency_exp_ns; /* minimum, and mean of what is added */
	double back_factor; /* latency of pairs whose sender comes later in the world: times this */
	double tail, tail_ns; /* share that takes longer, by a Pareto (shape 1.5) of this scale */
	double lost;
};

enum world_program_kind { WORLD_TDMA, WORLD_GLOSSY, WORLD_IDLE };

/** What the observed nodes do on their pins. */
struct world_program {
	enum world_program_kind kind;
	char clocks[WORLD_NAME]; /* glob */
	int64_t period_ns;       /* of a TDMA frame, or from flood to flood */
};

enum world_fault_kind {
	WORLD_OUTAGE, /* who hears no beacons and pulses from at for a time */
	WORLD_LOSS,   /* who misses @amount (share) of them, from at for a time */
	/* clock who: its counter jumps by @amount ns at at (back: its ticks go back) */
	WORLD_PHASE_STEP,
	WORLD_RATE_STEP,   /* clock or sender who: its rate changes by @amount ppm */
	WORLD_BIAS,        /* clock who hears everything @amount ns late from at on */
	WORLD_NUMBER_JUMP, /* sender who: its numbers jump by @amount (a whole number) */
	WORLD_SENDER_STEP, /* sender who: sends @amount ns later from at on */
	WORLD_FREEZE,      /* clock who: its counter stands still for a time */
	WORLD_NO_RECORDS,  /* clock who: nothing is recorded for a time (the counter runs on) */
	WORLD_SLIP, /* the same, and it is known only to @amount ns how far the counter ran on */
	/* clock who: the same, and then its counter begins anew, at @amount ns: another epoch */
	WORLD_RESET,
	WORLD_FAULTS
};

struct world_fault {
	enum world_fault_kind kind;
	char who[WORLD_NAME];  /* glob over clocks' names, and "beacon ID" for senders */
	int64_t at_ns, for_ns; /* for_ns 0: to the end */
	double amount;
};

struct world {
	char name[WORLD_NAME];
	uint64_t seed;
	int64_t duration_ns;
	int64_t step_ns; /* within one step an oscillator's rate holds still; 0: WORLD_STEP_NS */
	struct world_clocks clocks[WORLD_LIST];
	struct world_sender sender[WORLD_LIST];
	struct world_pulse pulse[WORLD_LIST];
	struct world_message message[WORLD_LIST];
	struct world_program program[WORLD_LIST];
	struct world_fault fault[WORLD_LIST];
	size_t n_clocks, n_senders, n_pulses, n_messages, n_programs, n_faults;
};

/**
 * Read a world from YAML text; @name is used in errors. CVL_E_SYNTAX with the byte offset for an
 * invalid world: unknown keys, impossible numbers (negative jitter, shares above 1, rate 0, NaN,
 * more than WORLD_CLOCKS_MAX clocks, a duration above 31 days or more than 2^31 marks in all).
 * Omitted keys mean 0, or the default in docs/sim.md.
 */
int world_parse(struct world *w, const char *text, size_t len, const char *name,
		struct cvl_error *err);

/** The same from a file of at most 1 MiB. */
int world_load(struct world *w, const char *path, struct cvl_error *err);

/** Check the numbers of a world made in memory, as world_parse() does. CVL_E_RANGE. */
int world_check(const struct world *w, struct cvl_error *err);

/**
 * Simulate @w and store what captures would have stored as the session @path (must not exist),
 * with truth.json beside it: the true clock maps, in the form of sync.json with bound 0. A clock
 * whose ticks go back has a true map up to there. @progress may be NULL.
 */
int world_run(const struct world *w, const char *path, const struct cvl_progress *progress,
	      struct cvl_error *err);

/**
 * Write clock @clock's lines (the beacons' line of each sender, then pulses, then programs' pins)
 * as raw samples, one byte each, at its rate.
 */
int world_samples(const struct world *w, const char *clock, const char *path,
		  struct cvl_error *err);

#endif
