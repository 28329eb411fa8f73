/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"
#include "output.h"

#include <coeval/plan.h>
#include <coeval/time.h>

#include <stdlib.h>

#define RANGES 16

struct request {
	struct cvl_plan_opts opts;
	struct cvl_plan_range range[RANGES];
	struct cvl_plan plan;
	bool json;
};

/* The fastest clock, as in a device file. */
#define RATE_MAX INT64_C(4000000000)

/* "312.5 k" */
static const char *si(char text[24], double v)
{
	static const char *const prefix[] = { "", "k", "M", "G" };
	int i = 0;

	while (v >= 1000 && i < 3) {
		v /= 1000;
		i++;
	}
	snprintf(text, 24, "%.4g %s", v, prefix[i]);
	return text;
}

static const char *number(char text[24], double v)
{
	snprintf(text, 24, "%g", v);
	return text;
}

static const char *percent(char text[24], double share)
{
	snprintf(text, 24, "%.1f %%", 100 * share);
	return text;
}

static const char *range(char text[24], const struct cvl_plan_line *l)
{
	snprintf(text, 24, "%.0f..%.0f", l->delay_least, l->delay_most);
	return text;
}

static const char *best(char text[24], const struct cvl_plan_line *l)
{
	return l->has_best ? number(text, l->best) : "none";
}

/* A number of both kinds of packets. */
static void put(struct table *t, const char *what, const char *(*text)(char text[24], double v),
		double counter, double access, const char *thesis)
{
	char a[24], b[24];

	table_row(t, what, text(a, counter), text(b, access), thesis);
}

static void print_text(struct cvl_out *o, const struct cvl_plan *plan)
{
	const struct cvl_plan_line *e = &plan->line[CVL_PLAN_COUNTER],
				   *d = &plan->line[CVL_PLAN_ACCESS];
	char a[24], b[24];
	struct table t;

	table_init(&t, 4);
	table_row(&t, "", "counter", "access", "the thesis");
	put(&t, "prescaler", number, e->prescaler, d->prescaler, "1, 0");
	put(&t, "bits a second", si, e->bits_per_s, d->bits_per_s, "26 M, 40 M: see below");
	put(&t, "  rising edges, at most", si, e->edges_per_s, d->edges_per_s, "-");
	put(&t, "bits a packet", number, e->bits, d->bits, "16, 24: without start and stop bits");
	put(&t, "edges a packet", number, e->edges, d->edges, "5, 8.254 measured");
	put(&t, "  in Manchester coding", number, e->edges_manchester, d->edges_manchester, "15");
	put(&t, "packets a second, carried", si, e->carried_per_s, d->carried_per_s,
	    "access: 1.6 M");
	put(&t, "  that come", si, e->come_per_s, d->come_per_s, "312.5 k, 40 M");
	put(&t, "  lost", percent, e->lost, d->lost, "-");
	put(&t, "bits a second they need", si, e->come_per_s * e->bits, d->come_per_s * d->bits,
	    "5 M, 960 M");
	table_row(&t, "counted after, ns", range(a, e), range(b, d), "260..720, 160..570");
	table_row(&t, "best prescaler", best(a, e), best(b, d), "1, 0");
	table_print(&t, o, "lrrl", "");
}

static void print_notes(struct cvl_out *o, const struct cvl_plan_opts *opts,
			const struct cvl_plan *plan)
{
	const struct cvl_plan_line *e = &plan->line[CVL_PLAN_COUNTER];
	char text[24];

	cvl_out_printf(
		o,
		"\ncounter: a profiling counter that counts every cycle, read by a packet every %d.\n",
		CVL_PLAN_COUNTS);
	cvl_out_printf(o, "access: of a comparator's addresses, %s.\n",
		       opts->accesses ? "as often as you say" :
					"every second cycle; --accesses tells how often");
	if (opts->fixed && e->edges_per_s >= (double)opts->timer_hz)
		cvl_out_printf(
			o,
			"At this prescaler edges come as fast as the timer can count (%sHz): counts are too low.\n",
			si(text, (double)opts->timer_hz));
	if (!e->has_best)
		cvl_out_text(
			o,
			"No prescaler both carries a counter's packets and has edges that the timer can count: use a faster timer input.\n");
	if (!plan->line[CVL_PLAN_ACCESS].has_best)
		cvl_out_text(o, "No prescaler has edges that the timer can count.\n");
	cvl_out_text(
		o,
		"The thesis's figures are those at 80 MHz, prescaler 1 for counters and 0 for accesses. Its 40 MHz are rising edges\n"
		"of alternating bits, each of two bits; no prescaler gives its 26 MHz (docs/task.md).\n");
}

static void print_passes(struct cvl_out *o, const struct cvl_plan_opts *opts,
			 const struct cvl_plan *plan)
{
	struct table t;

	table_heads(&t, "to measure|passes|comparators");
	table_row(&t, "cycles (read, not traced)", "0", "-", "a profiling counter", "1", "-");
	table_row(&t, "cycles an instruction");
	table_counts(&t, CVL_PLAN_CPI_PASSES);
	table_row(&t, "-");
	if (opts->n_ranges) {
		table_row(&t, "accesses of the ranges");
		table_counts(&t, plan->passes, plan->comparators);
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "lrr", "");
	for (size_t i = 0; i < plan->n_blocks; i++)
		cvl_out_printf(o, "%s0x%08x mask %u",
			       i % 4 ? "   " :
			       i     ? "\n  " :
				       "  ",
			       plan->block[i].address, plan->block[i].mask);
	if (plan->comparators > plan->n_blocks)
		cvl_out_printf(o, "\n  and %llu more",
			       (unsigned long long)(plan->comparators - plan->n_blocks));
	if (opts->n_ranges)
		cvl_out_char(o, '\n');
}

static void put_line(struct js *j, const struct cvl_plan_line *l, const char *packet)
{
	js_open(j, NULL, '{');
	js_text(j, "packet", packet);
	js_int(j, "prescaler", l->prescaler);
	js_reals(j, "bits_per_second rising_edges_per_second_max", l->bits_per_s, l->edges_per_s);
	js_int(j, "bits", l->bits);
	js_reals(
		j,
		"edges edges_manchester carried_per_second come_per_second lost_share delay_ns_min delay_ns_max",
		l->edges, l->edges_manchester, l->carried_per_s, l->come_per_s, l->lost,
		l->delay_least, l->delay_most);
	js_known(j, "best_prescaler", l->best, l->has_best);
	js_int(j, "thesis_bits", l->data_bits);
	js_close(j, '}');
}

static void put_ranges(struct js *j, const struct cvl_plan *plan)
{
	js_open(j, "ranges", '{');
	js_counts(j, "comparators passes", plan->comparators, plan->passes);
	js_bool(j, "blocks_cut", plan->comparators > plan->n_blocks);
	js_open(j, "blocks", '[');
	for (size_t i = 0; i < plan->n_blocks; i++) {
		js_open(j, NULL, '{');
		js_ints(j, "address mask", plan->block[i].address, plan->block[i].mask);
		js_close(j, '}');
	}
	js_close(j, ']');
	js_close(j, '}');
}

static void print_json(struct cvl_out *o, const struct cvl_plan_opts *opts,
		       const struct cvl_plan *plan)
{
	struct js j = js_begin(o);

	js_counts(&j, "cpu_hz timer_hz", opts->cpu_hz, opts->timer_hz);
	js_open(&j, "packets", '[');
	put_line(&j, &plan->line[CVL_PLAN_COUNTER], "counter");
	put_line(&j, &plan->line[CVL_PLAN_ACCESS], "access");
	js_close(&j, ']');
	js_int(&j, "cpi_passes", CVL_PLAN_CPI_PASSES);
	if (opts->n_ranges)
		put_ranges(&j, plan);
	js_end(&j);
}

/* "0x08000000-0x080FFFFF" */
static bool parse_range(const char *text, struct cvl_plan_range *out)
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
	*out = (struct cvl_plan_range){ (uint32_t)from, (uint32_t)to };
	return end != text && !*end && from <= to && to <= UINT32_MAX;
}

static int take_range(const struct verb *verb, void *to, char *text)
{
	struct request *r = to;

	if (r->opts.n_ranges == RANGES)
		return cli_usage(verb, "at most %d ranges", RANGES);
	if (!parse_range(text, &r->range[r->opts.n_ranges++]))
		return cli_usage(
			verb, "--range takes FIRST-LAST, such as 0x08000000-0x080FFFFF, not '%s'",
			text);
	return 0;
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "cpu", 0, "RATE", OPTION_RATE, AT(opts.cpu_hz),
	  "clock of the processor and of its trace port (default: 80MHz)", .most = RATE_MAX },
	{ "prescaler", 0, "N", OPTION_NUMBER, AT(opts.prescaler),
	  "of the trace port, TPIU_ACPR (default: the best for each kind of packet)", 0,
	  CVL_PLAN_PRESCALER_MAX, OPTION_GIVEN(struct request, opts.fixed) },
	{ "timer", 0, "RATE", OPTION_RATE, AT(opts.timer_hz),
	  "fastest edges that the counting timer takes (default: 40MHz)", .most = RATE_MAX },
	{ "accesses", 0, "RATE", OPTION_RATE, AT(opts.accesses),
	  "accesses a second (default: one every second cycle)" },
	{ "range", 0, "FIRST-LAST", OPTION_TEXT, 0,
	  "addresses to be counted by comparators; may be repeated", .take = take_range },
	{ "comparators", 0, "N", OPTION_NUMBER, AT(opts.comparators),
	  "that the chip has (default: 4)", 1, 16 },
	{ "mask", 0, "BITS", OPTION_NUMBER, AT(opts.mask),
	  "of an address that a comparator can leave out, at most (default: 15)", 1,
	  CVL_PLAN_MASK_MAX },
	JSON_OPTION(AT(json)),
	{ 0 },
};

static void print(struct cvl_out *o, const void *request)
{
	const struct request *r = request;

	if (r->json) {
		print_json(o, &r->opts, &r->plan);
		return;
	}
	print_text(o, &r->plan);
	print_notes(o, &r->opts, &r->plan);
	print_passes(o, &r->opts, &r->plan);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .opts = { .cpu_hz = 80000000,
				       .timer_hz = 40000000,
				       .range = r.range,
				       .comparators = 4,
				       .mask = 15 } };
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = cvl_plan_make(&r.plan, &r.opts, &err);
	if (rc)
		return rc == CVL_E_USAGE ? cli_usage(verb, "two --range have addresses in common") :
					   cli_fail(&err);
	rc = output_print(print, &r, &err);
	return rc ? cli_fail(&err) : 0;
}

const struct verb task_plan = {
	.name = "task plan",
	.what = "what a target can count of its own tasks by its SWO line",
	.options = options,
	.notes =
		"It tells what the line carries and loses, the best prescaler, and how many comparators and passes ranges of addresses take.\n",
	.examples = "  coeval task plan --cpu 80MHz --prescaler 1 --accesses 2M\n"
		    "  coeval task plan --range 0x08000000-0x080FFFFF --comparators 4 --mask 15\n",
	.run = run,
};
