/* SPDX-License-Identifier: MIT */
#include "task/plan_ranges.h"
#include "cli.h"

#include <stdlib.h>

#include "analysis/plan/plan.h"

#define BLOCKS_TOLD 64

static uint64_t blocks_of(const struct plan_ranges *r)
{
	return swo_cover_count(r->range, r->n, r->mask);
}

void plan_ranges_print(struct cvl_out *o, const struct plan_ranges *r)
{
	static const char *const heads[] = { "to measure", "passes", "comparators", NULL };
	uint64_t blocks = blocks_of(r);
	struct table t;

	table_init(&t, 3);
	table_heads(&t, heads);
	table_cell(&t, "cycles (read, not traced)");
	table_cell(&t, "0");
	table_cell(&t, "-");
	table_cell(&t, "a profiling counter");
	table_cell(&t, "1");
	table_cell(&t, "-");
	table_cell(&t, "cycles an instruction");
	table_cell(&t, "%d", PLAN_CPI_PASSES);
	table_cell(&t, "-");
	if (r->n) {
		table_cell(&t, "accesses of the ranges");
		table_cell(&t, "%llu",
			   (unsigned long long)swo_cover_passes(blocks, r->comparators));
		table_cell(&t, "%llu", (unsigned long long)blocks);
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "lrr", "");
	for (uint64_t i = 0; r->n && i < blocks && i < BLOCKS_TOLD; i++) {
		struct swo_block b = swo_cover_block(r->range, r->n, r->mask, i);

		cvl_out_printf(o, "%s0x%08x mask %u",
			       i % 4 ? "   " :
			       i     ? "\n  " :
				       "  ",
			       b.address, b.mask);
	}
	if (blocks > BLOCKS_TOLD)
		cvl_out_printf(o, "\n  and %llu more", (unsigned long long)(blocks - BLOCKS_TOLD));
	if (r->n)
		cvl_out_char(o, '\n');
}

json_t *plan_ranges_json(const struct plan_ranges *r)
{
	uint64_t blocks = blocks_of(r);
	json_t *list = json_array();

	for (uint64_t i = 0; r->n && i < blocks && i < BLOCKS_TOLD; i++) {
		struct swo_block b = swo_cover_block(r->range, r->n, r->mask, i);

		json_array_append_new(list, json_pack("{s:I, s:i}", "address",
						      (json_int_t)b.address, "mask", (int)b.mask));
	}
	return json_pack("{s:I, s:I, s:b, s:o}", "comparators", (json_int_t)blocks, "passes",
			 (json_int_t)swo_cover_passes(blocks, r->comparators), "blocks_cut",
			 blocks > BLOCKS_TOLD, "blocks", list);
}

bool plan_range_parse(const char *text, struct swo_range *out)
{
	unsigned long long from, to;
	char *end;

	if (*text == '-')
		return false;
	from = strtoull(text, &end, 0);
	if (end == text || *end != '-' || end[1] == '-' || !end[1])
		return false;
	text = end + 1;
	to = strtoull(text, &end, 0);
	*out = (struct swo_range){ (uint32_t)from, (uint32_t)to };
	return end != text && !*end && from <= to && to <= UINT32_MAX;
}
