/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <stddef.h>

const struct swo_thresholds swo_thresholds_default = {
	.cpi_milli = 2350,
	.cpi_hz = 26000000,
	.low_cpi = 200,
	.low_lsu = 200,
	.high_cpi = 300,
	.high_lsu = 50,
	.sleep = 500,
	.peripheral_ppm = 10000,
	.saved = 5,
	.saved_hz = 40000000,
	.model = NULL,
};

static const uint32_t feature_needs[SWO_FEATURES] = {
	SWO_NEED_CPI, SWO_NEED_EXC,   SWO_NEED_SLEEP,      SWO_NEED_LSU,   SWO_NEED_FOLD,
	SWO_NEED_RAM, SWO_NEED_FLASH, SWO_NEED_PERIPHERAL, SWO_NEED_OTHER,
};

uint32_t swo_rule_needs(enum swo_rule rule, const struct swo_thresholds *t)
{
	uint32_t needs = SWO_NEED_CYCLES;

	switch (rule) {
	case SWO_RULE_CPI:
		return needs | SWO_NEED_CPI | SWO_NEED_EXC | SWO_NEED_SLEEP | SWO_NEED_LSU |
		       SWO_NEED_FOLD;
	case SWO_RULE_LOW:
	case SWO_RULE_CPI_LSU: return needs | SWO_NEED_CPI | SWO_NEED_LSU;
	case SWO_RULE_SLEEP: return needs | SWO_NEED_SLEEP;
	case SWO_RULE_PERIPHERAL: return needs | SWO_NEED_PERIPHERAL;
	case SWO_RULE_SAVED:
	case SWO_RULE_ENERGY: return needs | SWO_NEED_OTHER;
	case SWO_RULE_LEARNED:
		for (unsigned i = 0; t->model && i < t->model->n_features && i < SWO_MODEL_FEATURES;
		     i++)
			if (t->model->feature[i] < SWO_FEATURES)
				needs |= feature_needs[t->model->feature[i]];
		return needs;
	case SWO_RULES: break;
	}
	return 0;
}

static uint64_t field(const struct swo_task *task, uint32_t need)
{
	switch (need) {
	case SWO_NEED_CYCLES: return task->cycles;
	case SWO_NEED_CPI: return task->cpi;
	case SWO_NEED_EXC: return task->exc;
	case SWO_NEED_SLEEP: return task->sleep;
	case SWO_NEED_LSU: return task->lsu;
	case SWO_NEED_FOLD: return task->fold;
	case SWO_NEED_RAM: return task->ram;
	case SWO_NEED_FLASH: return task->flash;
	case SWO_NEED_PERIPHERAL: return task->peripheral;
	default: return SWO_UNKNOWN;
	}
}

/*
 * @part * @scale / @whole, rounded down, without overflow; @scale up to 2^20, @part up to 16 times
 * @whole.
 */
static uint64_t share(uint64_t part, uint64_t whole, uint64_t scale)
{
	while (part >> 40 || whole >> 40) {
		part >>= 1;
		whole >>= 1;
	}
	return whole ? part * scale / whole : 0;
}

/* A count as a share of the cycles; SWO_UNKNOWN if it was not measured or cannot be. */
static uint64_t share_of(const struct swo_task *task, uint32_t need, uint64_t scale)
{
	uint64_t count = field(task, need);

	if (count == SWO_UNKNOWN || task->cycles == SWO_UNKNOWN || !task->cycles ||
	    count / 16 > task->cycles)
		return SWO_UNKNOWN;
	return share(count, task->cycles, scale);
}

uint64_t swo_cpi_milli(const struct swo_task *task)
{
	static const uint32_t spent[] = { SWO_NEED_CPI, SWO_NEED_EXC, SWO_NEED_SLEEP,
					  SWO_NEED_LSU };
	uint64_t left = task->cycles;

	if (task->cycles == SWO_UNKNOWN || task->fold > task->cycles)
		return SWO_UNKNOWN;
	for (unsigned i = 0; i < sizeof(spent) / sizeof(*spent); i++) {
		uint64_t count = field(task, spent[i]);

		/* this is so too when it was not measured */
		if (count > left)
			return SWO_UNKNOWN;
		left -= count;
	}
	left += task->fold;
	if (!left || task->cycles / left > 1000000)
		return SWO_UNKNOWN;
	/* whole cycles apart, so that nothing overflows */
	return task->cycles / left * 1000 + share(task->cycles % left, left, 1000);
}

uint32_t swo_point_near(const struct swo_device *d, uint32_t hz)
{
	uint32_t best = 0, least = UINT32_MAX;

	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t at = d->point[i].hz, apart = at > hz ? at - hz : hz - at;

		if (apart < least) {
			least = apart;
			best = i;
		}
	}
	return best;
}

uint64_t swo_cycles_at(const struct swo_device *d, const struct swo_task *task,
		       const struct swo_task *other, uint32_t other_point, uint32_t p)
{
	int64_t states, to, change;
	uint64_t a = task->cycles, b;
	int shift = 0;

	if (p >= d->n || other_point >= d->n || a == SWO_UNKNOWN)
		return SWO_UNKNOWN;
	if (p == 0)
		return a;
	if (!other || other->cycles == SWO_UNKNOWN)
		return SWO_UNKNOWN;
	b = other->cycles;
	if (p == other_point)
		return b;
	to = (int64_t)d->point[0].wait_states - (int64_t)d->point[p].wait_states;
	states = (int64_t)d->point[0].wait_states - (int64_t)d->point[other_point].wait_states;
	if (!to)
		return a;
	if (!states)
		return SWO_UNKNOWN;
	while (a >> 40 || b >> 40) {
		a >>= 1;
		b >>= 1;
		shift++;
	}
	change = (int64_t)a - ((int64_t)a - (int64_t)b) * to / states;
	/* a line that leaves the ground is no estimate */
	return change < 1 ? 1 : (uint64_t)change << shift;
}

uint64_t swo_cycle_fj(const struct swo_device *d, uint32_t p)
{
	const struct swo_point *at = &d->point[p];
	uint64_t volt2 = (uint64_t)at->millivolt * at->millivolt; /* 1e-6 V^2 */
	uint64_t fj = d->alpha_c_ff * volt2 / 1000000 +
		      (uint64_t)at->static_uw * 1000000000u / (at->hz ? at->hz : 1);

	return fj ? fj : 1;
}

/*
 * Energies are compared, so 24 bits of the cycles and a common factor 2^-shift are enough; 40 are
 * for the energy of one.
 */
static int least_energy(const struct swo_device *d, const struct swo_task *task,
			const struct swo_task *other, uint32_t other_point)
{
	uint64_t least = UINT64_MAX, most = 0;
	int best = -1, shift = 0;

	for (uint32_t p = 0; p < d->n; p++) {
		uint64_t cycles = swo_cycles_at(d, task, other, other_point, p);

		if (cycles == SWO_UNKNOWN)
			return -1;
		most = cycles > most ? cycles : most;
	}
	while (most >> shift >> 24)
		shift++;
	for (uint32_t p = 0; p < d->n; p++) {
		uint64_t cycles = swo_cycles_at(d, task, other, other_point, p) >> shift;
		uint64_t fj = swo_cycle_fj(d, p);
		uint64_t energy = fj > UINT64_MAX / (cycles + 1) ? UINT64_MAX : fj * cycles;

		if (energy < least) {
			least = energy;
			best = (int)p;
		}
	}
	return best;
}

int32_t swo_feature_of(enum swo_feature f, const struct swo_device *d, const struct swo_task *task,
		       const struct swo_task *other, uint32_t other_point)
{
	uint64_t a = task->cycles, b, saved;
	int64_t states;

	if (f >= SWO_FEATURES)
		return INT32_MIN;
	if (f != SWO_F_SAVED) {
		uint64_t value = share_of(task, feature_needs[f], 65536);

		return value == SWO_UNKNOWN ? INT32_MIN : (int32_t)value;
	}
	if (!other || other_point >= d->n || a == SWO_UNKNOWN || !a || other->cycles == SWO_UNKNOWN)
		return INT32_MIN;
	b = other->cycles;
	states = (int64_t)d->point[0].wait_states - (int64_t)d->point[other_point].wait_states;
	if (!states || b / 16 > a)
		return INT32_MIN;
	saved = share(b, a, 65536);
	return (int32_t)((65536 - (int64_t)saved) / states);
}

static int by_model(const struct swo_model *m, const struct swo_device *d,
		    const struct swo_task *task, const struct swo_task *other, uint32_t other_point)
{
	int64_t least = (int64_t)1 << 32; /* point 0: a ratio of 1 */
	int best = 0;

	if (!m || m->n_features > SWO_MODEL_FEATURES || m->n_points > SWO_MODEL_POINTS ||
	    m->n_points != d->n)
		return -1;
	for (uint32_t p = 1; p < m->n_points; p++) {
		int64_t ratio = (int64_t)m->weight[p][0] * 65536;

		for (unsigned i = 0; i < m->n_features; i++) {
			int32_t x = swo_feature_of((enum swo_feature)m->feature[i], d, task, other,
						   other_point);

			if (x == INT32_MIN)
				return -1;
			ratio += (int64_t)m->weight[p][1 + i] * x;
		}
		if (ratio < least) {
			least = ratio;
			best = (int)p;
		}
	}
	return best;
}

static int when(int yes, uint32_t point)
{
	return yes ? (int)point : -1;
}

int swo_rule_choose(enum swo_rule rule, const struct swo_thresholds *t, const struct swo_device *d,
		    const struct swo_task *task, const struct swo_task *other, uint32_t other_point)
{
	uint64_t cpi, lsu, value;
	int32_t saved;

	if (!d->n || !task->cycles || task->cycles == SWO_UNKNOWN)
		return -1;
	cpi = share_of(task, SWO_NEED_CPI, 1000);
	lsu = share_of(task, SWO_NEED_LSU, 1000);
	switch (rule) {
	case SWO_RULE_CPI:
		value = swo_cpi_milli(task);
		if (value == SWO_UNKNOWN)
			return -1;
		return value >= t->cpi_milli ? (int)swo_point_near(d, t->cpi_hz) : 0;
	/*
	 * what was not measured is no lower than any threshold, and excluded where high is asked
	 * for
	 */
	case SWO_RULE_LOW: return when(cpi < t->low_cpi && lsu < t->low_lsu, 0);
	case SWO_RULE_CPI_LSU:
		return when(cpi != SWO_UNKNOWN && cpi > t->high_cpi && lsu < t->high_lsu, 0);
	case SWO_RULE_SLEEP:
		value = share_of(task, SWO_NEED_SLEEP, 1000);
		return when(value != SWO_UNKNOWN && value >= t->sleep, d->n - 1);
	case SWO_RULE_PERIPHERAL:
		value = share_of(task, SWO_NEED_PERIPHERAL, 1000000);
		return when(value != SWO_UNKNOWN && value >= t->peripheral_ppm, d->n - 1);
	case SWO_RULE_SAVED:
		if (!other || other->cycles == SWO_UNKNOWN)
			return -1;
		saved = other->cycles < task->cycles ?
				(int32_t)share(task->cycles - other->cycles, task->cycles, 1000) :
				0;
		return saved && (uint32_t)saved >= t->saved ? (int)swo_point_near(d, t->saved_hz) :
							      0;
	case SWO_RULE_ENERGY: return least_energy(d, task, other, other_point);
	case SWO_RULE_LEARNED: return by_model(t->model, d, task, other, other_point);
	case SWO_RULES: break;
	}
	return -1;
}
