/* SPDX-License-Identifier: MIT */
/** Runs of a task that it takes to measure things, and the comparators that ranges of addresses take. */
#ifndef CLI_TASK_PLAN_RANGES_H
#define CLI_TASK_PLAN_RANGES_H

#include <jansson.h>
#include <stdbool.h>

#include <coeval/out.h>
#include "swotrace/cover.h"

#define PLAN_RANGES 16

struct plan_ranges {
	struct swo_range range[PLAN_RANGES]; /* valid by swo_cover_valid() */
	uint32_t n, comparators, mask;
};

/** "0x08000000-0x080FFFFF" */
bool plan_range_parse(const char *text, struct swo_range *out);

void plan_ranges_print(struct cvl_out *o, const struct plan_ranges *r);
json_t *plan_ranges_json(const struct plan_ranges *r);

#endif
