/* SPDX-License-Identifier: MIT */
#include "sim/taskset.h"

#include <coeval/sim.h>

#include "analysis/freq/freq.h"

#include "core/random.h"

#include <math.h>
#include <stdio.h>

/* What a task is, apart from the setting it runs at. Shares are of its own working cycles. */
struct nature {
	double cycles; /* without wait states */
	double cpi, exc, lsu, fold, ram, flash;
	double fetch_misses, load_misses; /* for each working cycle, with the cache */
	double wait_s;                    /* time spent waiting, s */
	bool asleep;                      /* in it; else it reads a status */
	double alpha_c;                   /* F, of a working cycle */
	double idle;                      /* share of that which a waiting cycle switches */
};

const char *const taskset_kinds[TASKSET_KINDS] = { "mixed", "computing", "constant" };

static double between(struct sim_random *r, double low, double high)
{
	return low + (high - low) * sim_uniform(r);
}

static struct nature draw(struct sim_random *r, const struct device *d, enum taskset_kind kind)
{
	struct nature t = {
		.cycles = exp(between(r, log(1e6), log(1e8))),
		.cpi = between(r, 0.04, 0.4),
		.lsu = between(r, 0.02, 0.4),
		.fold = 0.08 * pow(sim_uniform(r), 2),
		.exc = sim_uniform(r) < 0.1 ? between(r, 0, 0.02) : 0,
		.alpha_c = d->alpha_c * (1 + 0.07 * sim_normal(r)),
		.idle = between(r, 0.5, 0.95),
	};
	/* every additional cycle of a load is of one that was counted */
	double loads = t.lsu * between(r, 0.5, 1), waits = sim_uniform(r), misses, fetches;
	double wait_s = t.cycles / 80e6 * between(r, 0.3, 4);

	t.flash = loads * pow(sim_uniform(r), 2);
	t.ram = loads - t.flash;
	misses = sim_uniform(r) < 0.35 ? between(r, 0.01, 0.12) : 0.004 * pow(sim_uniform(r), 3);
	fetches = sim_uniform(r);
	t.fetch_misses = misses * fetches;
	t.load_misses = fmin(misses * (1 - fetches), t.flash);
	/* drawn all the same, so that kinds differ in nothing else */
	if (kind == TASKSET_MIXED && waits < 0.08) {
		t.asleep = waits < 0.04;
		t.wait_s = wait_s;
	}
	if (kind == TASKSET_CONSTANT)
		t.idle = 1;
	return t;
}

/* What happens at a setting: counts that no one has measured yet. */
struct course {
	double cycles, stalled, waited;
	double cpi, sleep, lsu, ram, flash, peripheral;
	double energy_j, time_s;
};

/*
 * Without the cache a fetch of 64 bits for some four instructions waits, and every load from flash.
 */
#define FETCHES_PER_CYCLE 0.25
#define WAIT_LSU 0.4        /* of a loop that reads a status (10.2) */
#define WAIT_PERIPHERAL 0.1 /* reads in a cycle of it */
#define SLEEP_IDLE 0.41     /* 21.18 mW asleep at 80 MHz (9.3), less the static power, over 44.7 */

static struct course happen(const struct nature *t, const struct swo_point *p, unsigned wait_states,
			    bool cache)
{
	double fetches = cache ? t->fetch_misses : FETCHES_PER_CYCLE;
	double loads = cache ? t->load_misses : t->flash, wait = t->wait_s * p->hz;
	double volt = p->millivolt * 1e-3;
	struct course c = { .waited = wait };

	c.stalled = t->cycles * wait_states * (fetches + loads);
	c.cycles = t->cycles + c.stalled + wait;
	c.cpi = t->cycles * (t->cpi + wait_states * fetches);
	c.lsu = t->cycles * (t->lsu + wait_states * loads) + (t->asleep ? 0 : WAIT_LSU * wait);
	c.sleep = t->asleep ? wait : 0;
	c.ram = t->cycles * t->ram;
	c.flash = t->cycles * t->flash;
	c.peripheral = t->asleep ? 0 : WAIT_PERIPHERAL * wait;
	c.time_s = c.cycles / p->hz;
	c.energy_j = volt * volt * t->alpha_c *
			     (t->cycles + t->idle * c.stalled +
			      (t->asleep ? SLEEP_IDLE : t->idle) * wait) +
		     c.time_s * p->static_uw * 1e-6;
	return c;
}

/* ---- measuring ---- */

#define ECP_UNITS 256
#define LINE_CYCLES 30 /* a packet of an access on a line of one bit a cycle */
#define WORDS_EDGES (7.75 / 8.25)

static double noise(struct sim_random *r, double share)
{
	return 1 + share * sim_normal(r);
}

/* What is left in the counter at the end is not known. */
static uint64_t packets(double units)
{
	return (uint64_t)(units / ECP_UNITS) * ECP_UNITS;
}

static uint64_t accesses(struct sim_random *r, double made, double cycles)
{
	double sent = fmin(made, cycles / LINE_CYCLES);

	return (uint64_t)fmax(0, sent * WORDS_EDGES * noise(r, 0.002) + 0.5);
}

static void measure(struct table_row *row, struct sim_random *r, const struct nature *t,
		    const struct course *c)
{
	row->count.cycles = (uint64_t)(c->cycles * noise(r, 0.0002) + 0.5);
	row->count.cpi = packets(c->cpi);
	row->count.exc = packets(t->cycles * t->exc);
	row->count.sleep = packets(c->sleep);
	row->count.lsu = packets(c->lsu);
	row->count.fold = packets(t->cycles * t->fold);
	row->count.ram = accesses(r, c->ram, c->cycles);
	row->count.flash = accesses(r, c->flash, c->cycles);
	row->count.peripheral = accesses(r, c->peripheral, c->cycles);
	row->true_j = c->energy_j;
	row->energy_j = c->energy_j * fmax(0.5, noise(r, 0.005));
}

int taskset_make(struct task_table *t, const struct device *d, enum taskset_kind kind,
		 uint64_t seed, size_t n, struct cvl_error *err)
{
	struct sim_random r = { seed };

	for (size_t i = 0; i < n; i++) {
		struct nature task = draw(&r, d, kind);

		for (size_t k = 0; k < d->n * 4; k++) {
			const struct device_policy *policy = &d->policy[k / 4];
			bool adaption = !(k & 1), cache = !(k & 2);

			for (size_t p = 0; p < policy->n; p++) {
				const struct swo_point *point = &policy->point[p];
				unsigned states =
					adaption ? point->wait_states : d->fixed_wait_states;
				struct course c = happen(&task, point, states, cache);
				struct table_row *row = table_add(t);

				if (!row)
					return cvl_no_memory(err);
				snprintf(row->task, sizeof(row->task), "task%02zu", i + 1);
				snprintf(row->policy, sizeof(row->policy), "%s", policy->name);
				row->hz = point->hz;
				row->adaption = adaption;
				row->cache = cache;
				measure(row, &r, &task, &c);
			}
		}
	}
	return 0;
}

const char *cvl_sim_tasks_kind_name(size_t kind)
{
	return kind < TASKSET_KINDS ? taskset_kinds[kind] : NULL;
}

int cvl_sim_tasks_make(struct cvl_freq_table **out, const struct cvl_freq_device *device,
		       enum cvl_sim_tasks_kind kind, uint64_t seed, size_t n, struct cvl_error *err)
{
	struct cvl_freq_table *t = freq_table_new("simulated tasks");
	int rc = t ? taskset_make(freq_table_of(t), freq_device_of(device), (enum taskset_kind)kind,
				  seed, n, err) :
		     cvl_no_memory(err);

	*out = t;
	if (rc) {
		cvl_freq_table_free(t);
		*out = NULL;
	}
	return rc;
}
