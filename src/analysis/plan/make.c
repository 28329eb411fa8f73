/* SPDX-License-Identifier: MIT */
#include <coeval/plan.h>

#include "analysis/plan/edges.h"
#include "analysis/plan/plan.h"
#include "swotrace/cover.h"

#include <stdlib.h>

_Static_assert(CVL_PLAN_MASK_MAX == SWO_MASK_MAX && CVL_PLAN_COUNTS == EDGES_ECP_UNITS &&
		       CVL_PLAN_PRESCALER_MAX == PLAN_ACPR_MAX,
	       "as the target has it");

/* A load or store takes at least two cycles. */
#define ACCESS_CYCLES 2

static void make_line(struct cvl_plan_line *out, const struct cvl_plan_opts *o,
		      enum plan_packet kind)
{
	struct plan_line line = { o->cpu_hz, o->timer_hz, o->prescaler };
	struct plan_delay delay;

	out->has_best = plan_best(&line, kind, &out->best);
	if (!o->fixed)
		line.acpr = out->has_best ? out->best : 0;
	delay = plan_delay(&line, kind);
	out->prescaler = line.acpr;
	out->bits_per_s = plan_bit_rate(&line);
	out->edges_per_s = plan_edge_rate(&line);
	out->bits = plan_bits(kind);
	out->data_bits = plan_thesis_bits(kind);
	out->carried_per_s = plan_carried(&line, kind);
	out->come_per_s = kind == PLAN_ECP ? plan_counter_rate(&line) :
			  o->accesses      ? (double)o->accesses :
					     (double)o->cpu_hz / ACCESS_CYCLES;
	out->lost = plan_lost(&line, kind, out->come_per_s);
	out->delay_least = delay.least;
	out->delay_most = delay.most;
}

static double mean_edges(edges_fn *line)
{
	struct edges_count c = { 0 };

	edges_dtaops(&c, line, 0, EDGES_COMPARATORS - 1, 1);
	return (double)c.edges / (double)c.packets;
}

static int cover(struct cvl_plan *plan, const struct cvl_plan_opts *o, struct cvl_error *err)
{
	struct swo_range *range = calloc(o->n_ranges, sizeof(*range));

	if (!range)
		return cvl_no_memory(err);
	for (uint32_t i = 0; i < o->n_ranges; i++)
		range[i] = (struct swo_range){ o->range[i].from, o->range[i].to };
	if (!swo_cover_valid(range, o->n_ranges)) {
		free(range);
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "two ranges overlap");
	}
	plan->comparators = swo_cover_count(range, o->n_ranges, o->mask);
	plan->passes = swo_cover_passes(plan->comparators, o->comparators);
	for (; plan->n_blocks < CVL_PLAN_BLOCKS && plan->n_blocks < plan->comparators;
	     plan->n_blocks++) {
		struct swo_block b = swo_cover_block(range, o->n_ranges, o->mask, plan->n_blocks);

		plan->block[plan->n_blocks] = (struct cvl_plan_block){ b.address, b.mask };
	}
	free(range);
	return 0;
}

int cvl_plan_make(struct cvl_plan *plan, const struct cvl_plan_opts *opts, struct cvl_error *err)
{
	struct cvl_plan_line *counter = &plan->line[CVL_PLAN_COUNTER],
			     *access = &plan->line[CVL_PLAN_ACCESS];

	*plan = (struct cvl_plan){ 0 };
	make_line(counter, opts, PLAN_ECP);
	make_line(access, opts, PLAN_DTAOP);
	counter->edges = (double)edges_ecp(edges_nrz, 1);
	counter->edges_manchester = (double)edges_ecp(edges_manchester, 1);
	access->edges = mean_edges(edges_nrz);
	access->edges_manchester = mean_edges(edges_manchester);
	return opts->n_ranges ? cover(plan, opts, err) : 0;
}
