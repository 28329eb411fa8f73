/* SPDX-License-Identifier: MIT */
/**
 * Runs a task at the frequency and voltage that suit it (thesis, section 3.1): measures it at the
 * default setting, one counter a run, lets a rule choose, changes the setting if that pays, and
 * measures again after a while. In between the trace units are off, to save energy.
 *
 * 	swo_choose_init(&c, &config);
 * 	for (;;) {
 * 		wait_for_work();
 * 		swo_choose_begin(&c);
 * 		task();
 * 		swo_choose_end(&c);
 * 	}
 *
 * The runs of a task are assumed to be alike: the counts of each are scaled to the cycles of the
 * first.
 */
#ifndef COEVAL_SWOTRACE_CHOOSE_H
#define COEVAL_SWOTRACE_CHOOSE_H

#include "swotrace.h"

/** Memories whose accesses some rules need. */
enum swo_memory { SWO_RAM, SWO_FLASH, SWO_PERIPHERAL, SWO_MEMORIES };

struct swo_choose_config {
	struct swo *swo; /* ready */
	enum swo_rule rule;
	const struct swo_thresholds *thresholds;
	struct {
		const struct swo_range *range;
		uint32_t n; /* 0: not measured */
	} memory[SWO_MEMORIES];
	/* where a rule that compares settings has the task measured a second time */
	uint32_t other_point;
	uint32_t runs;      /* between two measurements; 0: never again */
	uint32_t switch_us; /* a change of the setting takes */
	/* thousandths of energy that a measured run takes more: 63 to 80 in the thesis */
	uint32_t measure_milli;
	uint32_t mark; /* number of the task in the trace; 0: none */
};

struct swo_choose {
	struct swo_choose_config config;
	struct swo_task task, other;
	uint32_t need; /* still to be measured, as SWO_NEED_* */
	uint32_t now;  /* what is being measured; 0: nothing */
	uint8_t undecided;
	uint32_t pass;     /* of its comparators */
	uint32_t point;    /* the setting that is on */
	uint32_t left;     /* runs before the next measurement */
	uint32_t measured; /* runs that it took */
	enum swo_why why;  /* the last refusal */
	/* statistics */
	uint32_t decisions, silent, unpaid, changes, failures;
};

/** The device is at its setting 0. Returns 0, or -1: it has no settings, or no such other one. */
int swo_choose_init(struct swo_choose *c, const struct swo_choose_config *config);

void swo_choose_begin(struct swo_choose *c);
void swo_choose_end(struct swo_choose *c);

/**
 * Does running at @point until the next measurement save more than two changes of the setting and
 * the measurement cost? By the energy of equations 2.6 and 10.2, with the same number of cycles if
 * it is not known how many the setting saves. Where the device's constants are unknown (alpha_c_ff
 * 0): is there a hundred times more work than changing?
 */
int swo_choose_pays(const struct swo_choose *c, uint32_t point);

#endif
