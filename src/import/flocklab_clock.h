/* SPDX-License-Identifier: MIT */
/**
 * What FlockLab's result files share: rows of `timestamp,observer_id,node_id,...`, timestamps in
 * UTC seconds, and a clock for each observer, whose ticks count from a day before the first row.
 *
 * One test's files are all stamped by the same clock of an observer. So a second file brought into
 * the same session becomes another trace of the clock that the first one made.
 */
#ifndef FLOCKLAB_CLOCK_H
#define FLOCKLAB_CLOCK_H

#include <coeval/format.h>

#include "input.h"

#define FLOCKLAB_RATE_HZ 10000000u
/* Ticks that lie before the file's first timestamp: other observers may begin earlier. */
#define FLOCKLAB_LEAD_S 86400u
#define FLOCKLAB_NAME_BYTES 32
#define FLOCKLAB_OBSERVERS_MAX 256

/** Where ticks count from, and how fine timestamps are. */
struct flocklab_start {
	bool known;
	uint64_t s; /* UTC second of tick 0 */
	uint64_t resolution;
};

/** Ids become parts of names: letters, digits, '_' and '-'. */
bool flocklab_is_id(const char *s);

/**
 * Tick of a row's @timestamp. The first one sets @start, unless @s has clocks of FlockLab from
 * which it is taken. Returns 0, CVL_E_SYNTAX, CVL_E_RANGE.
 */
int flocklab_tick(struct flocklab_start *start, const struct cvl_session *s, const char *name,
		  const char *timestamp, uint64_t offset, uint64_t *tick, struct cvl_error *err);

/**
 * Add the clock `observer-ID` of node `node-NODE`, with the lines or channels of @desc, whose other
 * fields are filled in.
 * @format: of this file; opts->node goes in front of the clock's name.
 */
int flocklab_clock(struct cvl_session *s, struct cvl_input *in, const struct cvl_import_opts *opts,
		   const struct flocklab_start *start, const char *format, const char *id,
		   const char *node, struct cvl_store_desc *desc, struct cvl_writer **w,
		   struct cvl_error *err);

/**
 * Take one row, which begins at byte @offset of the file. @fatal, when it fails: whether that is of
 * the store or of the file as a whole, not of this row alone.
 */
typedef int flocklab_row_fn(void *ctx, char *line, uint64_t offset, bool *fatal,
			    struct cvl_error *err);

/**
 * Give all rows behind the header to @take. A run of bad rows is told of once; with opts->strict
 * the first one ends it. @why: of the gap that is left if it ends in trouble.
 */
int flocklab_rows(struct cvl_input *in, const struct cvl_import_opts *opts, flocklab_row_fn *take,
		  void *ctx, enum cvl_gap *why, struct cvl_error *err);

#endif
