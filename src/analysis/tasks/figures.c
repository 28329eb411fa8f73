/* SPDX-License-Identifier: MIT */
#include <coeval/tasks.h>

#include "analysis/energy.h"

#include <math.h>
#include <string.h>

#define COUNTS_PER_PACKET 256.0
/* Rising edges of a packet on a UART line: the mean over all possible packets. */
#define EDGES_PER_COUNTER 5.0
#define EDGES_PER_ACCESS 8.25
/*
 * Means over evenly spread offsets, of comparator 3 with aligned words, and of the others with any.
 */
#define EDGES_PER_ACCESS_MIN 7.0
#define EDGES_PER_ACCESS_MAX 8.5
/*
 * sqrt(ln(2 / 0.001) / 2): Hoeffding 1963, theorem 2, of the mean of independent values in an
 * interval of length 1.
 */
#define HOEFFDING_999 1.9494747

void cvl_task_sum_add(struct cvl_task_sum *sum, const struct cvl_task_run *r)
{
	double ns = (double)(r->end.time.ns - r->begin.time.ns);

	sum->runs++;
	sum->lost += r->gaps > 0;
	for (unsigned i = 0; i < CVL_TASK_WHATS; i++) {
		sum->sure[i] += r->count[i].sure;
		sum->maybe[i] += r->count[i].maybe;
	}
	if (r->bound == CVL_BOUND_UNKNOWN)
		return;
	sum->least_ns = sum->timed && sum->least_ns < ns ? sum->least_ns : ns;
	sum->most_ns = sum->most_ns > ns ? sum->most_ns : ns;
	sum->timed++;
	sum->ns += ns;
	sum->self_ns += ns - (double)r->within;
	sum->bound_ns += (double)r->bound;
	if (!r->energy.samples)
		return;
	sum->sampled++;
	sum->sampled_ns += ns;
	sum->sampled_bound_ns += (double)r->bound;
	energy_sum_add(&sum->energy, &r->energy);
}

double cvl_task_half(const struct cvl_task_figure *f)
{
	return 0.5 * (f->high - f->low);
}

static struct cvl_task_figure about(double value, double half, bool at_least)
{
	return (struct cvl_task_figure){ true, at_least, value, fmax(0, value - half),
					 value + half };
}

/* ---- counts ---- */

static double per_packet(const struct cvl_tasks_opts *scale, unsigned what)
{
	return what == CVL_TASK_CYC  ? (double)scale->cycles_per_packet :
	       what <= CVL_TASK_FOLD ? COUNTS_PER_PACKET :
				       1;
}

/* Whole packets, or accesses, hidden by the remainders at both ends of all runs. */
static double hidden(const struct cvl_task_sum *sum, unsigned what, bool *statistical)
{
	double n = (double)sum->runs, likely = HOEFFDING_999 * sqrt(n);

	if (what > CVL_TASK_FOLD || likely >= n)
		return n;
	*statistical = true;
	return likely;
}

static struct cvl_task_figure counted(const struct cvl_task_sum *sum,
				      const struct cvl_tasks_opts *scale, unsigned what,
				      bool *statistical)
{
	double unit = per_packet(scale, what), least = (double)sum->sure[what];
	double most = least + (double)sum->maybe[what], middle = 0.5 * (least + most);
	double slack = hidden(sum, what, statistical);

	if (!scale->edges || scale->counting != what)
		return about(unit * middle, unit * (slack + 0.5 * (most - least)), sum->lost);
	if (what <= CVL_TASK_FOLD) {
		unit /= EDGES_PER_COUNTER;
		slack = EDGES_PER_COUNTER * slack + 0.5 * (most - least);
		return about(unit * middle, unit * slack, sum->lost);
	}
	return (struct cvl_task_figure){ true, sum->lost, middle / EDGES_PER_ACCESS,
					 fmax(0, least / EDGES_PER_ACCESS_MAX - slack),
					 most / EDGES_PER_ACCESS_MIN + slack };
}

/* ---- intervals: unknown where losses could make them greater or smaller ---- */

static struct cvl_task_figure ratio(struct cvl_task_figure a, struct cvl_task_figure b)
{
	if (!a.known || !b.known || b.at_least || b.low <= 0)
		return (struct cvl_task_figure){ 0 };
	return (struct cvl_task_figure){ true, a.at_least, a.value / b.value,
					 a.low / (a.low < 0 ? b.low : b.high),
					 a.high / (a.high < 0 ? b.high : b.low) };
}

/* a + factor * b */
static struct cvl_task_figure plus(struct cvl_task_figure a, double factor,
				   struct cvl_task_figure b)
{
	a.known = a.known && b.known && !(b.at_least && factor < 0);
	a.at_least = a.at_least || b.at_least;
	a.value += factor * b.value;
	a.low += factor * (factor > 0 ? b.low : b.high);
	a.high += factor * (factor > 0 ? b.high : b.low);
	return a;
}

/*
 * Thesis, equation 4.1. Anything not counted is taken as none, except for the two that nearly every
 * program has.
 */
static struct cvl_task_figure instructions(const struct cvl_task_figures *f)
{
	struct cvl_task_figure sum = f->cycles;

	if (!f->count[CVL_TASK_CPI].known || !f->count[CVL_TASK_LSU].known)
		return (struct cvl_task_figure){ 0 };
	for (unsigned i = CVL_TASK_CPI; i <= CVL_TASK_FOLD; i++)
		if (f->count[i].known)
			sum = plus(sum, i == CVL_TASK_FOLD ? 1 : -1, f->count[i]);
	sum.low = fmax(0, sum.low);
	return sum.known ? sum : (struct cvl_task_figure){ 0 };
}

static void energy(const struct cvl_task_sum *sum, const struct cvl_tasks_opts *scale,
		   struct cvl_task_figures *out)
{
	double joule = sum->energy.joule - scale->tracing_w * sum->sampled_ns * 1e-9, half;

	if (!sum->sampled)
		return;
	half = energy_half(&sum->energy) + scale->tracing_w * sum->sampled_bound_ns * 1e-9;
	out->joule = (struct cvl_task_figure){ true, sum->energy.covered_ns < sum->sampled_ns - 1,
					       joule, joule - half, joule + half };
	out->watt = ratio(out->joule,
			  about(sum->sampled_ns * 1e-9, sum->sampled_bound_ns * 1e-9, false));
}

void cvl_task_figures(const struct cvl_tasks_result *r, const struct cvl_task_sum *sum,
		      struct cvl_task_figures *out)
{
	const struct cvl_tasks_opts *scale = &r->opts;
	memset(out, 0, sizeof(*out));
	if (sum->timed)
		out->seconds = about(sum->ns * 1e-9, sum->bound_ns * 1e-9, false);
	for (unsigned i = 0; i < CVL_TASK_WHATS; i++)
		if (r->measured >> i & 1)
			out->count[i] = counted(sum, scale, i, &out->statistical);
	out->cycles = out->count[CVL_TASK_CYC];
	if (scale->cpu_hz > 0)
		out->cycles = (struct cvl_task_figure){ sum->timed, false,
							out->seconds.value * scale->cpu_hz,
							out->seconds.low * scale->cpu_hz,
							out->seconds.high * scale->cpu_hz };
	out->instructions = instructions(out);
	out->cycles_per_instruction = ratio(out->cycles, out->instructions);
	for (unsigned i = CVL_TASK_CPI; i < CVL_TASK_WHATS; i++)
		out->share[i] = ratio(out->count[i], out->cycles);
	if (out->count[CVL_TASK_LSU].known && out->count[CVL_TASK_RAM].known)
		out->combined = ratio(plus(out->count[CVL_TASK_LSU], -scale->cycles_per_access,
					   out->count[CVL_TASK_RAM]),
				      out->cycles);
	energy(sum, scale, out);
}

void cvl_task_run_figures(const struct cvl_tasks_result *r, const struct cvl_task_run *run,
			  struct cvl_task_figures *out)
{
	struct cvl_task_sum sum = { 0 };

	cvl_task_sum_add(&sum, run);
	cvl_task_figures(r, &sum, out);
}

static void divide(struct cvl_task_figure *f, uint64_t by)
{
	double n = by ? (double)by : 1;

	f->value /= n;
	f->low /= n;
	f->high /= n;
}

bool cvl_task_mean(const struct cvl_tasks_result *r, size_t task, struct cvl_task_figures *out)
{
	const struct cvl_task_sum *sum = &r->task[task].sum, *whole = &r->task[task].whole;
	const struct cvl_task_sum *counted = whole->runs ? whole : sum;
	struct cvl_task_figures all;

	if (!sum->runs)
		return false;
	cvl_task_figures(r, sum, &all);
	cvl_task_figures(r, counted, out);
	out->seconds = all.seconds;
	out->joule = all.joule;
	out->watt = all.watt;
	divide(&out->seconds, sum->timed);
	divide(&out->joule, sum->sampled);
	divide(&out->cycles, counted->runs);
	divide(&out->instructions, counted->runs);
	for (unsigned i = 0; i < CVL_TASK_WHATS; i++)
		divide(&out->count[i], counted->runs);
	return true;
}
