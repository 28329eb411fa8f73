/* SPDX-License-Identifier: MIT */
/**
 * Which frequency a task should run at, from its counters: the rules of the thesis on
 * task characterization (chapter 10), and one learned from several counters at once.
 *
 * The same code runs on the target and on the host: C99, integer arithmetic, no memory of its own,
 * no I/O. Counts are those of the unit, not edges of the trace line: src/analysis/plan/edges.h
 * tells how edges become counts.
 */
#ifndef COEVAL_SWOTRACE_RULES_H
#define COEVAL_SWOTRACE_RULES_H

#include <stdint.h>

#define SWO_UNKNOWN UINT64_MAX

/** Measurements of a task at one frequency; SWO_UNKNOWN where not measured. */
struct swo_task {
	uint64_t cycles;
	uint64_t cpi, exc, sleep, lsu,
		fold;                    /* of the profiling counters: cycles, fold: instructions */
	uint64_t ram, flash, peripheral; /* data accesses */
};

/** One setting of the device. */
struct swo_point {
	uint32_t hz;          /* of the processor, at least 1 */
	uint32_t millivolt;   /* of the core, up to 65535 */
	uint32_t wait_states; /* of the flash memory */
	uint32_t static_uw;   /* power without a clock, uW */
};

struct swo_device {
	const struct swo_point *point; /* highest frequency first: [0] is the default setting */
	uint32_t n;
	uint32_t alpha_c_ff; /* mean alpha * C of tasks, 1e-15 F, up to 2^28 */
};

enum swo_rule {
	SWO_RULE_CPI, /* many cycles an instruction: cpi_hz; else the highest (10.4.6) */
	/* CPI and LSU counters both low: the highest; else nothing is said (10.4.6) */
	SWO_RULE_LOW,
	SWO_RULE_CPI_LSU,    /* CPI counter high and LSU low: the highest; else nothing (10.4.6) */
	SWO_RULE_SLEEP,      /* mostly asleep: the lowest; else nothing (10.3) */
	SWO_RULE_PERIPHERAL, /* many accesses of peripherals: the lowest; else nothing (10.2) */
	SWO_RULE_SAVED, /* fewer cycles at another frequency: saved_hz; else the highest (10.4.7) */
	SWO_RULE_ENERGY,  /* least energy by estimate: equations 10.2 to 10.4 */
	SWO_RULE_LEARNED, /* least energy by the model in the thresholds; nothing without one */
	SWO_RULES
};

/** Shares are thousandths of all cycles. */
struct swo_thresholds {
	uint32_t cpi_milli; /* at least this many thousandths of a cycle an instruction */
	uint32_t cpi_hz;    /* ask for this frequency: the point nearest to it is taken */
	uint32_t low_cpi;   /* SWO_RULE_LOW: counters below these */
	uint32_t low_lsu;
	uint32_t high_cpi; /* SWO_RULE_CPI_LSU: CPI above the one, LSU below the other */
	uint32_t high_lsu;
	uint32_t sleep;          /* at least */
	uint32_t peripheral_ppm; /* at least this many accesses in a million cycles */
	uint32_t saved; /* at least this share of the cycles of the higher frequency is saved */
	uint32_t saved_hz;
	const struct swo_model *model; /* of SWO_RULE_LEARNED, or NULL */
};

/** The thesis's, where it gives one; sleep, peripheral_ppm and saved are ours. No model. */
extern const struct swo_thresholds swo_thresholds_default;

/** Inputs of a model: each in units of 2^-16. */
enum swo_feature {
	SWO_F_CPI, /* share of cycles */
	SWO_F_EXC,
	SWO_F_SLEEP,
	SWO_F_LSU,
	SWO_F_FOLD,
	SWO_F_RAM, /* accesses a cycle */
	SWO_F_FLASH,
	SWO_F_PERIPHERAL,
	/*
	 * share of cycles that one wait state less saves (equation 10.2), by a task at another
	 * frequency
	 */
	SWO_F_SAVED,
	SWO_FEATURES
};

#define SWO_MODEL_FEATURES 6
#define SWO_MODEL_POINTS 8

/**
 * Energy at each point over that at point 0, as a linear function of features. @weight[p][0] is the
 * constant, 2^-16; weight [p][1 + i] that of feature[i], 2^-16. Point 0 has none: its ratio is 1.
 */
struct swo_model {
	uint8_t n_features, n_points;
	uint8_t feature[SWO_MODEL_FEATURES]; /* enum swo_feature */
	int32_t weight[SWO_MODEL_POINTS][1 + SWO_MODEL_FEATURES];
};

/**
 * The inputs of a rule: a bit for each field of struct swo_task, from cycles on, and
 * SWO_NEED_OTHER.
 */
#define SWO_NEED_CYCLES 0x001u
#define SWO_NEED_CPI 0x002u
#define SWO_NEED_EXC 0x004u
#define SWO_NEED_SLEEP 0x008u
#define SWO_NEED_LSU 0x010u
#define SWO_NEED_FOLD 0x020u
#define SWO_NEED_RAM 0x040u
#define SWO_NEED_FLASH 0x080u
#define SWO_NEED_PERIPHERAL 0x100u
#define SWO_NEED_OTHER 0x200u /* the cycles at another frequency too */

uint32_t swo_rule_needs(enum swo_rule rule, const struct swo_thresholds *t);

/**
 * Thousandths of a cycle an instruction (equation 4.1); SWO_UNKNOWN if a counter is missing, or the
 * counters exceed the cycles.
 */
uint64_t swo_cpi_milli(const struct swo_task *task);

/** The point whose frequency is nearest to @hz; of two as near, the higher one. @d has a point. */
uint32_t swo_point_near(const struct swo_device *d, uint32_t hz);

/**
 * Cycles of a task at point @p from those at point 0 and at @other_point: a straight line over wait
 * states (equations 10.2, 10.3), through what was measured where the wait states are those of a
 * measured point. SWO_UNKNOWN if something is missing, or if both points have the same wait states
 * and @p has others.
 */
uint64_t swo_cycles_at(const struct swo_device *d, const struct swo_task *task,
		       const struct swo_task *other, uint32_t other_point, uint32_t p);

/** Energy of a cycle at point @p, in 1e-15 J: alpha C V^2 + P / f (equation 2.6). Never 0. */
uint64_t swo_cycle_fj(const struct swo_device *d, uint32_t p);

/**
 * Feature @f of a task measured at point 0, 2^-16; INT32_MIN if it was not measured. @other may be
 * NULL.
 */
int32_t swo_feature_of(enum swo_feature f, const struct swo_device *d, const struct swo_task *task,
		       const struct swo_task *other, uint32_t other_point);

/**
 * The point of @d that @rule chooses for a task.
 *
 * @task   measured at point 0
 * @other  measured at point @other_point, or NULL; only its cycles are looked at
 *
 * Returns the index of a point, or -1 if the rule does not apply to such a task, or one of its
 * inputs was not measured.
 */
int swo_rule_choose(enum swo_rule rule, const struct swo_thresholds *t, const struct swo_device *d,
		    const struct swo_task *task, const struct swo_task *other,
		    uint32_t other_point);

#endif
