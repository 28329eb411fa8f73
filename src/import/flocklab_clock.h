/* SPDX-License-Identifier: MIT */
/**
 * Shared by FlockLab's result files: rows of `timestamp,observer_id,node_id,...`, timestamps in UTC
 * seconds, and a clock for each observer, whose ticks count from a day before the first row.
 *
 * All files of a test are timestamped by the observer's one clock, so a second file imported into
 * the same session becomes another trace of the clock from the first.
 */
#ifndef FLOCKLAB_CLOCK_H
#define FLOCKLAB_CLOCK_H

#include <coeval/format.h>

#include "input.h"

#define FLOCKLAB_RATE_HZ 10000000u
/* Seconds of ticks before the file's first timestamp: other observers may begin earlier. */
#define FLOCKLAB_LEAD_S 86400u
#define FLOCKLAB_NAME_BYTES 32
#define FLOCKLAB_OBSERVERS_MAX 256

/** Origin of ticks and resolution of timestamps. */
struct flocklab_start {
	bool known;
	uint64_t s; /* UTC second of tick 0 */
	uint64_t resolution;
};

/** Whether @s is an id that can be part of a name: letters, digits, '_' and '-'. */
bool flocklab_is_id(const char *s);

/**
 * Tick of a row's @timestamp. The first one sets @start, unless @s has FlockLab clocks to take it
 * from. Returns 0, CVL_E_SYNTAX, CVL_E_RANGE.
 */
int flocklab_tick(struct flocklab_start *start, const struct cvl_session *s, const char *name,
		  const char *timestamp, uint64_t offset, uint64_t *tick, struct cvl_error *err);

/**
 * Add the clock `observer-ID` of node `node-NODE`, with the lines or channels of @desc, whose other
 * fields are filled in. @format: of this file; opts->node is a prefix of the clock's name.
 */
int flocklab_clock(struct cvl_session *s, struct cvl_input *in, const struct cvl_import_opts *opts,
		   const struct flocklab_start *start, const char *format, const char *id,
		   const char *node, struct cvl_store_desc *desc, struct cvl_writer **w,
		   struct cvl_error *err);

/**
 * Take one row, which begins at byte @offset of the file. On failure @fatal tells whether it
 * concerns the store or the whole file, not just this row.
 */
typedef int flocklab_row_fn(void *ctx, char *line, uint64_t offset, bool *fatal,
			    struct cvl_error *err);

/**
 * Pass all rows after the header to @take. A run of bad rows is reported once; with opts->strict
 * the first one is fatal. @why: of the gap left if reading fails.
 */
int flocklab_rows(struct cvl_input *in, const struct cvl_import_opts *opts, flocklab_row_fn *take,
		  void *ctx, enum cvl_gap *why, struct cvl_error *err);

#endif
