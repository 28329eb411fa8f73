/* SPDX-License-Identifier: MIT */
/**
 * The task bench: a shell on the target that runs workloads and measures them, for `coeval task
 * bench` or for a person at a terminal.
 *
 * Lines in, ended by CR or LF; commands are a word, then key=value in any order:
 *
 *     list
 *     get
 *     set hz=26000000 policy=fast-flash|low-voltage adaption=0|1 cache=0|1     what is left out
 *                                                                              stays
 *     trace  workload=NAME iterations=N counter=cycles|cpi|exc|sleep|lsu|fold|ranges
 *            [ranges=HEX-HEX,...] [pass=N] [arg=N]
 *     energy workload=NAME iterations=N [arg=N]     line 0 is high while it works
 *     delay  workload=NAME iterations=N [arg=N]     line 0 rises before, line 1 after
 *     reboot
 *
 * Answers are lines of key=value behind one word: `item` for each entry of a list, then `ok` or
 * `error`, then the prompt "> " at the start of a line. An error has why=WORD. Values have no
 * blanks. After a reset the shell says BENCH_BANNER.
 */
#ifndef COEVAL_TASKBENCH_SHELL_H
#define COEVAL_TASKBENCH_SHELL_H

#include "taskbench/hal.h"

#define BENCH_BANNER "coeval task bench"
#define BENCH_PROMPT "> "
#define BENCH_LINE 160 /* longer lines are refused */

struct bench_shell {
	const struct bench_hal *hal;
	struct bench_setting setting;
	char line[BENCH_LINE + 1];
	unsigned n;
	int too_long;
	int was_cr; /* the byte before was a CR: a LF behind it ends nothing */
};

/** Set the processor to @setting, say who is there, and prompt. */
void bench_begin(struct bench_shell *s, const struct bench_hal *hal, struct bench_setting setting);

/** Take in what has been received; obey at the end of a line. Call it again and again. */
void bench_work(struct bench_shell *s);

#endif
