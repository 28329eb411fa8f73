/* SPDX-License-Identifier: MIT */
/**
 * Measurements of tasks at each setting of a device, from CSV. The first line names the columns, in
 * any order:
 *
 *   task       name                                             must be there
 *   frequency  such as 80MHz                                    must be there
 *   policy     of voltage scaling, as the device file names it  without it: the device's first
 *   adaption   on, off: of wait states to the frequency         without it: on
 *   cache      on, off: of the flash memory                     without it: on
 *   cycles cpi exc sleep lsu fold ram flash peripheral          counts, whole numbers
 *   energy_uj energy_true_uj                                    of the task, microjoule; the latter
 *                                                               of simulated tasks
 *
 * An empty cell was not measured. Empty lines and lines beginning with '#' are skipped.
 */
#ifndef TASK_TABLE_H
#define TASK_TABLE_H

#include <coeval/error.h>

#include <stdbool.h>
#include <stddef.h>

#include <coeval/out.h>
#include "analysis/freq/device.h"

#define TABLE_NAME 64

struct table_row {
	char task[TABLE_NAME], policy[DEVICE_NAME]; /* policy "" if the column is missing */
	uint64_t hz;
	bool adaption, cache;
	struct swo_task count;
	double energy_j, true_j; /* negative if unknown */
	uint64_t offset;         /* of the line in the file */
};

struct task_table {
	const char *name; /* of the file: must outlive the table */
	struct table_row *row;
	size_t n, room;
};

/**
 * Parse @text of @len bytes (modified). Returns 0; CVL_E_SYNTAX, CVL_E_RANGE or CVL_E_LIMIT with
 * the offset of the bad line; CVL_E_MISSING: no column of tasks, frequencies or cycles, or no line;
 * CVL_E_NOMEM. Free it with table_free() in any case.
 */
int table_parse(struct task_table *t, char *text, size_t len, const char *name,
		struct cvl_error *err);
int table_load(struct task_table *t, const char *path, struct cvl_error *err);
void table_free(struct task_table *t);

/** Append an empty row: nothing measured, adaption and cache on. NULL if out of memory. */
struct table_row *table_add(struct task_table *t);

/** As CSV, so that table_parse() reads it back. */
void table_write(const struct task_table *t, struct cvl_out *o);

#endif
