/* SPDX-License-Identifier: MIT */
#include "analysis/plan/plan.h"

#include "analysis/plan/edges.h"

double plan_bit_rate(const struct plan_line *line)
{
	return (double)line->cpu_hz / (line->acpr + 1.0);
}

double plan_edge_rate(const struct plan_line *line)
{
	return plan_bit_rate(line) / 2;
}

unsigned plan_bits(enum plan_packet kind)
{
	return EDGES_BITS_BYTE * (kind == PLAN_ECP ? EDGES_ECP_BYTES : EDGES_DTAOP_BYTES);
}

unsigned plan_thesis_bits(enum plan_packet kind)
{
	return 8 * (kind == PLAN_ECP ? EDGES_ECP_BYTES : EDGES_DTAOP_BYTES);
}

double plan_carried(const struct plan_line *line, enum plan_packet kind)
{
	return plan_bit_rate(line) / plan_bits(kind);
}

double plan_counter_rate(const struct plan_line *line)
{
	return (double)line->cpu_hz / EDGES_ECP_UNITS;
}

double plan_lost(const struct plan_line *line, enum plan_packet kind, double per_second)
{
	double carried = plan_carried(line, kind);

	return per_second > carried ? 1 - carried / per_second : 0;
}

struct plan_delay plan_delay(const struct plan_line *line, enum plan_packet kind)
{
	double cycle = 1e9 / (double)line->cpu_hz;
	/* the first edge falls at the start bit, the last rises at the last stop bit */
	double length = (plan_bits(kind) - 1) * cycle * (line->acpr + 1.0);

	return (struct plan_delay){ length, length + PLAN_FIRST_EDGE_CYCLES * cycle };
}

bool plan_best(const struct plan_line *line, enum plan_packet kind, uint32_t *acpr)
{
	struct plan_line l = *line;
	uint64_t half = 2 * line->timer_hz, steps;

	if (!half || !line->cpu_hz)
		return false;
	/* cpu / (acpr + 1) / 2: at most, or less than, the timer's limit */
	steps = kind == PLAN_ECP ? line->cpu_hz / half + 1 : (line->cpu_hz + half - 1) / half;
	if (steps > PLAN_ACPR_MAX + 1)
		return false;
	l.acpr = (uint32_t)(steps - 1);
	*acpr = l.acpr;
	return kind != PLAN_ECP || plan_counter_rate(&l) <= plan_carried(&l, kind);
}
