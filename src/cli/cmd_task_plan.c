/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "task/plan_ranges.h"
#include "clocks_print.h"

#include <coeval/time.h>

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/plan/edges.h"
#include "analysis/plan/plan.h"

struct request {
	uint64_t cpu_hz, timer_hz;
	uint64_t accesses; /* a second; 0: as many as there can be */
	bool fixed, json;
	uint32_t acpr; /* if fixed */
	struct plan_ranges ranges;
};

struct column {
	struct plan_line line;
	bool has_best;
	uint32_t best;
	double most; /* packets a second that can come */
	double edges, manchester;
	struct plan_delay delay;
};

/* The fastest clock, as in a device file. */
#define RATE_MAX INT64_C(4000000000)
/* A load or store takes two cycles at least. */
#define ACCESS_CYCLES 2

static void work_out(const struct request *r, struct column col[PLAN_PACKETS])
{
	struct edges_count nrz = { 0 }, manchester = { 0 };

	for (int k = 0; k < PLAN_PACKETS; k++) {
		struct column *c = &col[k];

		c->line = (struct plan_line){ r->cpu_hz, r->timer_hz, r->acpr };
		c->has_best = plan_best(&c->line, (enum plan_packet)k, &c->best);
		if (!r->fixed)
			c->line.acpr = c->has_best ? c->best : 0;
		c->delay = plan_delay(&c->line, (enum plan_packet)k);
	}
	col[PLAN_ECP].most = plan_counter_rate(&col[PLAN_ECP].line);
	col[PLAN_DTAOP].most =
		r->accesses ? (double)r->accesses : (double)r->cpu_hz / ACCESS_CYCLES;
	col[PLAN_ECP].edges = (double)edges_ecp(edges_nrz, 1);
	col[PLAN_ECP].manchester = (double)edges_ecp(edges_manchester, 1);
	edges_dtaops(&nrz, edges_nrz, 0, EDGES_COMPARATORS - 1, 1);
	edges_dtaops(&manchester, edges_manchester, 0, EDGES_COMPARATORS - 1, 1);
	col[PLAN_DTAOP].edges = (double)nrz.edges / (double)nrz.packets;
	col[PLAN_DTAOP].manchester = (double)manchester.edges / (double)manchester.packets;
}

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

static const char *range(char text[24], const struct plan_delay *d)
{
	snprintf(text, 24, "%.0f..%.0f", d->least, d->most);
	return text;
}

static const char *best(char text[24], const struct column *c)
{
	return c->has_best ? number(text, c->best) : "none";
}

static void row(struct table *t, const char *what, const char *counter, const char *access,
		const char *thesis)
{
	table_cell(t, "%s", what);
	table_cell(t, "%s", counter);
	table_cell(t, "%s", access);
	table_cell(t, "%s", thesis);
}

static void print_text(struct cvl_out *o, const struct column col[PLAN_PACKETS])
{
	const struct column *e = &col[PLAN_ECP], *d = &col[PLAN_DTAOP];
	char a[24], b[24];
	struct table t;

	table_init(&t, 4);
	row(&t, "", "counter", "access", "the thesis");
	row(&t, "prescaler", number(a, e->line.acpr), number(b, d->line.acpr), "1, 0");
	row(&t, "bits a second", si(a, plan_bit_rate(&e->line)), si(b, plan_bit_rate(&d->line)),
	    "26 M, 40 M: see below");
	row(&t, "  rising edges, at most", si(a, plan_edge_rate(&e->line)),
	    si(b, plan_edge_rate(&d->line)), "-");
	row(&t, "bits a packet", number(a, plan_bits(PLAN_ECP)), number(b, plan_bits(PLAN_DTAOP)),
	    "16, 24: without start and stop bits");
	row(&t, "edges a packet", number(a, e->edges), number(b, d->edges), "5, 8.254 measured");
	row(&t, "  in Manchester coding", number(a, e->manchester), number(b, d->manchester), "15");
	row(&t, "packets a second, carried", si(a, plan_carried(&e->line, PLAN_ECP)),
	    si(b, plan_carried(&d->line, PLAN_DTAOP)), "access: 1.6 M");
	row(&t, "  that come", si(a, e->most), si(b, d->most), "312.5 k, 40 M");
	row(&t, "  lost", percent(a, plan_lost(&e->line, PLAN_ECP, e->most)),
	    percent(b, plan_lost(&d->line, PLAN_DTAOP, d->most)), "-");
	row(&t, "bits a second they need", si(a, e->most * plan_bits(PLAN_ECP)),
	    si(b, d->most * plan_bits(PLAN_DTAOP)), "5 M, 960 M");
	row(&t, "counted after, ns", range(a, &e->delay), range(b, &d->delay),
	    "260..720, 160..570");
	row(&t, "best prescaler", best(a, e), best(b, d), "1, 0");
	table_print(&t, o, "lrrl", "");
}

static void print_notes(struct cvl_out *o, const struct request *r,
			const struct column col[PLAN_PACKETS])
{
	const double edges = plan_edge_rate(&col[PLAN_ECP].line);
	char text[24];

	cvl_out_printf(
		o,
		"\ncounter: a profiling counter that counts every cycle, read by a packet every %d.\n",
		EDGES_ECP_UNITS);
	cvl_out_printf(o, "access: of a comparator's addresses, %s.\n",
		       r->accesses ? "as often as you say" :
				     "every second cycle; --accesses tells how often");
	if (r->fixed && edges >= (double)r->timer_hz)
		cvl_out_printf(
			o,
			"At this prescaler edges come as fast as the timer can count (%sHz): counts are too low.\n",
			si(text, (double)r->timer_hz));
	if (!col[PLAN_ECP].has_best)
		cvl_out_text(
			o,
			"No prescaler both carries a counter's packets and has edges that the timer can count: use a faster timer input.\n");
	if (!col[PLAN_DTAOP].has_best)
		cvl_out_text(o, "No prescaler has edges that the timer can count.\n");
	cvl_out_text(
		o,
		"The thesis's figures are those at 80 MHz, prescaler 1 for counters and 0 for accesses. Its 40 MHz are rising edges\n"
		"of alternating bits, each of two bits; no prescaler gives its 26 MHz (docs/task.md).\n");
}

static json_t *column_json(const struct column *c, enum plan_packet kind)
{
	json_t *best = c->has_best ? json_integer(c->best) : json_null();

	return json_pack("{s:s, s:i, s:f, s:f, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:i}",
			 "packet", kind == PLAN_ECP ? "counter" : "access", "prescaler",
			 (int)c->line.acpr, "bits_per_second", plan_bit_rate(&c->line),
			 "rising_edges_per_second_max", plan_edge_rate(&c->line), "bits",
			 (int)plan_bits(kind), "edges", c->edges, "edges_manchester", c->manchester,
			 "carried_per_second", plan_carried(&c->line, kind), "come_per_second",
			 c->most, "lost_share", plan_lost(&c->line, kind, c->most), "delay_ns_min",
			 c->delay.least, "delay_ns_max", c->delay.most, "best_prescaler", best,
			 "thesis_bits", (int)plan_thesis_bits(kind));
}

static int take_range(const struct verb *verb, void *to, char *text)
{
	struct plan_ranges *r = to;

	if (r->n == PLAN_RANGES)
		return cli_usage(verb, "at most %d ranges", PLAN_RANGES);
	if (!plan_range_parse(text, &r->range[r->n++]))
		return cli_usage(
			verb, "--range takes FIRST-LAST, such as 0x08000000-0x080FFFFF, not '%s'",
			text);
	return 0;
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "cpu", 0, "RATE", OPTION_RATE, AT(cpu_hz),
	  "clock of the processor and of its trace port (default: 80MHz)", .most = RATE_MAX },
	{ "prescaler", 0, "N", OPTION_NUMBER, AT(acpr),
	  "of the trace port, TPIU_ACPR (default: the best for each kind of packet)", 0,
	  PLAN_ACPR_MAX, OPTION_GIVEN(struct request, fixed) },
	{ "timer", 0, "RATE", OPTION_RATE, AT(timer_hz),
	  "fastest edges that the counting timer takes (default: 40MHz)", .most = RATE_MAX },
	{ "accesses", 0, "RATE", OPTION_RATE, AT(accesses),
	  "accesses a second (default: one every second cycle)" },
	{ "range", 0, "FIRST-LAST", OPTION_TEXT, AT(ranges),
	  "addresses to be counted by comparators; may be repeated", .take = take_range },
	{ "comparators", 0, "N", OPTION_NUMBER, AT(ranges.comparators),
	  "that the chip has (default: 4)", 1, 16 },
	{ "mask", 0, "BITS", OPTION_NUMBER, AT(ranges.mask),
	  "of an address that a comparator can leave out, at most (default: 15)", 1, SWO_MASK_MAX },
	JSON_OPTION(AT(json)),
	{ 0 },
};

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, const struct verb *verb, struct request *r)
{
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (r->ranges.n && !swo_cover_valid(r->ranges.range, r->ranges.n))
		return cli_usage(verb, "two --range have addresses in common");
	return -1;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .cpu_hz = 80000000,
			     .timer_hz = 40000000,
			     .ranges = { .comparators = 4, .mask = 15 } };
	struct column col[PLAN_PACKETS] = { 0 };
	struct cvl_error err;
	static struct cvl_out o;
	int rc = parse(argc, argv, verb, &r);

	if (rc >= 0)
		return rc;
	work_out(&r, col);
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (r.json) {
		json_t *root = json_pack(
			"{s:I, s:I, s:[o,o], s:i}", "cpu_hz", (json_int_t)r.cpu_hz, "timer_hz",
			(json_int_t)r.timer_hz, "packets", column_json(&col[PLAN_ECP], PLAN_ECP),
			column_json(&col[PLAN_DTAOP], PLAN_DTAOP), "cpi_passes", PLAN_CPI_PASSES);

		if (r.ranges.n)
			json_object_set_new(root, "ranges", plan_ranges_json(&r.ranges));
		report_json(&o, root);
	} else {
		print_text(&o, col);
		print_notes(&o, &r, col);
		plan_ranges_print(&o, &r.ranges);
	}
	rc = cvl_out_flush(&o, &err);
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
