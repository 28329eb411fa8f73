/* SPDX-License-Identifier: MIT */
#include "choose.h"

#define WORTH 100u /* times as much work as changing the setting, when no energy is known */

static const struct swo_device *device(const struct swo_choose *c)
{
	return &c->config.swo->config.port->device;
}

static uint64_t *field(struct swo_task *t, uint32_t need)
{
	switch (need) {
	case SWO_NEED_CPI: return &t->cpi;
	case SWO_NEED_EXC: return &t->exc;
	case SWO_NEED_SLEEP: return &t->sleep;
	case SWO_NEED_LSU: return &t->lsu;
	case SWO_NEED_FOLD: return &t->fold;
	case SWO_NEED_RAM: return &t->ram;
	case SWO_NEED_FLASH: return &t->flash;
	case SWO_NEED_PERIPHERAL: return &t->peripheral;
	default: return &t->cycles;
	}
}

static enum swo_memory memory_of(uint32_t need)
{
	return need == SWO_NEED_RAM ? SWO_RAM : need == SWO_NEED_FLASH ? SWO_FLASH : SWO_PERIPHERAL;
}

/* The lowest bit of what is needed yet. */
static uint32_t next_need(uint32_t need)
{
	return need & (0 - need);
}

static void go_to(struct swo_choose *c, uint32_t point)
{
	const struct swo *s = c->config.swo;

	if (point == c->point)
		return;
	if (s->config.port->set(s->config.port, s->config.bus, point)) {
		c->failures++;
		return;
	}
	c->point = point;
	c->changes++;
}

/* The units were off in between; the debug port stays as it was switched. */
static void units_on(struct swo_choose *c)
{
	struct swo_config config = c->config.swo->config;
	enum swo_why why;

	if (c->config.swo->ready)
		return;
	config.switch_to_swd = 0;
	why = swo_init(c->config.swo, &config);
	if (why)
		c->why = why;
}

static void measure_anew(struct swo_choose *c)
{
	uint32_t need = swo_rule_needs(c->config.rule, c->config.thresholds);

	go_to(c, 0);
	units_on(c);
	for (uint32_t bit = SWO_NEED_CYCLES; bit <= SWO_NEED_PERIPHERAL; bit <<= 1)
		*field(&c->task, bit) = *field(&c->other, bit) = SWO_UNKNOWN;
	/* the cycles come with whatever else is measured */
	c->need = need & ~SWO_NEED_CYCLES & ~SWO_NEED_OTHER ? need & ~SWO_NEED_CYCLES : need;
	c->pass = 0;
	c->measured = 0;
	c->undecided = 1;
}

int swo_choose_init(struct swo_choose *c, const struct swo_choose_config *config)
{
	*c = (struct swo_choose){ .config = *config };
	if (!device(c)->n || config->other_point >= device(c)->n)
		return -1;
	measure_anew(c);
	return 0;
}

/* ---- measuring ---- */

static enum swo_why start(struct swo_choose *c)
{
	struct swo *s = c->config.swo;
	uint32_t counter = 0;
	enum swo_memory memory;

	if (c->now == SWO_NEED_CYCLES || c->now == SWO_NEED_OTHER)
		return swo_start(s, SWO_CYC, c->config.mark);
	if (c->now < SWO_NEED_RAM) {
		while (c->now > SWO_NEED_CPI << counter)
			counter++;
		return swo_start(s, (enum swo_counter)counter, c->config.mark);
	}
	memory = memory_of(c->now);
	return swo_start_pass(s, c->config.memory[memory].range, c->config.memory[memory].n,
			      c->pass, c->config.mark);
}

/* @count of a run of @cycles, had it taken as many as the first. */
static uint64_t scaled(const struct swo_choose *c, uint64_t count, uint32_t cycles)
{
	if (!cycles || c->task.cycles == cycles)
		return count;
	return (count * c->task.cycles + cycles / 2) / cycles; /* counts up to 2^32 or so */
}

/* Takes in what a run gave. Returns whether it is complete: more passes may follow. */
static int take(struct swo_choose *c, const struct swo_data *data)
{
	struct swo *s = c->config.swo;
	uint64_t *to = field(&c->task, c->now), count;
	enum swo_memory memory = memory_of(c->now);

	if (c->now == SWO_NEED_OTHER) {
		c->other.cycles = data->cycles;
		return 1;
	}
	if (c->task.cycles == SWO_UNKNOWN)
		c->task.cycles = data->cycles;
	if (c->now == SWO_NEED_CYCLES)
		return 1;
	count = scaled(c, swo_data_exact(data), data->cycles);
	*to = c->pass ? *to + count : count;
	if (c->now < SWO_NEED_RAM)
		return 1;
	return ++c->pass >=
	       swo_passes(s, c->config.memory[memory].range, c->config.memory[memory].n);
}

/* ---- deciding ---- */

int swo_choose_pays(const struct swo_choose *c, uint32_t point)
{
	const struct swo_device *d = device(c);
	uint64_t mhz = d->point[0].hz / 1000000u;
	uint64_t cycles = c->task.cycles, there, before, after, saved, runs, change, measure;

	if (cycles == SWO_UNKNOWN)
		return 0;
	runs = c->config.runs ? c->config.runs : UINT32_MAX;
	if (!d->alpha_c_ff)
		return cycles / WORTH * runs >= 2ull * c->config.switch_us * mhz;
	there = swo_cycles_at(d, &c->task, &c->other, c->config.other_point, point);
	if (there == SWO_UNKNOWN)
		there = cycles;
	before = swo_cycle_fj(d, 0) * cycles / 1000000u; /* nJ */
	after = swo_cycle_fj(d, point) * there / 1000000u;
	if (after >= before)
		return 0;
	saved = (before - after) * runs;
	change = 2ull * c->config.switch_us * mhz * swo_cycle_fj(d, 0) / 1000000u;
	measure = before * c->measured * c->config.measure_milli / 1000u;
	return saved > change + measure;
}

static void decide(struct swo_choose *c)
{
	int point;

	go_to(c, 0);
	point = swo_rule_choose(c->config.rule, c->config.thresholds, device(c), &c->task,
				&c->other, c->config.other_point);
	swo_deinit(c->config.swo);
	c->decisions++;
	c->undecided = 0;
	c->left = c->config.runs;
	if (point < 0)
		c->silent++;
	else if (point && !swo_choose_pays(c, (uint32_t)point))
		c->unpaid++;
	else
		go_to(c, (uint32_t)point);
}

void swo_choose_begin(struct swo_choose *c)
{
	enum swo_why why;

	while (c->need) {
		c->now = next_need(c->need);
		if (c->now == SWO_NEED_OTHER)
			go_to(c, c->config.other_point);
		why = start(c);
		if (!why)
			return;
		/* stays unknown; the rule will see that */
		c->why = why;
		c->need &= ~c->now;
		c->pass = 0;
	}
	c->now = 0;
	if (c->undecided)
		decide(c);
}

void swo_choose_end(struct swo_choose *c)
{
	struct swo_data data;

	if (c->now) {
		swo_stop(c->config.swo, &data);
		c->measured++;
		if (take(c, &data)) {
			c->need &= ~c->now;
			c->pass = 0;
		}
		c->now = 0;
	} else if (c->left && !--c->left) {
		measure_anew(c);
	}
}
