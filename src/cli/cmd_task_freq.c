/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "task/freq_view.h"

#include <coeval/sim.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS_MAX 1000
#define SEEDS_MAX 1000

struct request {
	const char *device, *table, *write, *model;
	struct cvl_freq_opts opts;
	bool synthetic, json;
	uint64_t seed;
	unsigned seeds, tasks;
	unsigned kind; /* enum cvl_sim_tasks_kind */
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "device", 'd', "FILE", OPTION_FILE, AT(device),
	  "its frequencies, voltages, wait states and what a cycle costs (YAML)", .must = true },
	{ "policy", 0, "NAME", OPTION_TEXT, AT(opts.policy),
	  "of voltage scaling (default: the device's first)" },
	{ "adaption", 0, "on|off", OPTION_SWITCH, AT(opts.adaption),
	  "of wait states to the frequency (default: on)" },
	{ "cache", 0, "on|off", OPTION_SWITCH, AT(opts.cache),
	  "of the flash memory (default: on)" },
	{ "other", 0, "RATE", OPTION_RATE, AT(opts.other_hz),
	  "second frequency at which rules know the cycles (default: the lowest)" },
	{ "list", 0, NULL, OPTION_FLAG, AT(opts.choices),
	  "also each task's best frequency, and what the learned rule chooses" },
	{ "model", 0, "FILE", OPTION_FILE, AT(model),
	  "write the learned rule, fitted to all tasks, as C for the target" },
	JSON_OPTION(AT(json)),
	{ .kind = OPTION_HEADING, .what = "Simulated tasks instead of a table" },
	{ "synthetic", 0, "SEED", OPTION_WHOLE, AT(seed), "the same seed gives the same tasks",
	  OPTION_GIVEN(struct request, synthetic) },
	{ "kind", 0, "KIND", OPTION_CHOICE, AT(kind),
	  "mixed (default), computing (none waits), constant (alpha does not change)",
	  .word = cvl_sim_tasks_kind_name },
	{ "tasks", 0, "N", OPTION_NUMBER, AT(tasks), "how many (default: 69)", 1, TASKS_MAX },
	{ "seeds", 0, "N", OPTION_NUMBER, AT(seeds), "this seed and the next ones, all together", 1,
	  SEEDS_MAX },
	{ "write", 0, "FILE", OPTION_FILE, AT(write),
	  "write the table of the first seed (- for standard output)" },
	{ 0 },
};

/* Returns an exit status, or -1 to continue. */
static int parse(int argc, char **argv, const struct verb *verb, struct request *r)
{
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (operands.n == r->synthetic)
		return cli_usage(verb, "name one table of measurements, or --synthetic SEED");
	if (r->seeds > 1 && (r->opts.choices || r->model))
		return cli_usage(verb,
				 "--list and --model are of one set of tasks, without --seeds");
	if (!r->synthetic && (r->write || r->seeds > 1))
		return cli_usage(verb, "--write and --seeds go with --synthetic");
	r->table = r->synthetic ? NULL : operands.v[0];
	return -1;
}

/* The table of measurements, or the learned rule, to a separate file. */
static int write_file(const char *path, const struct cvl_freq_table *table,
		      const struct cvl_freq *freq, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc;

	if (!o)
		return cvl_no_memory(err);
	/* a failed write leaves the file unchanged */
	if (!table && cvl_freq_result(freq)->learned_from < 2)
		rc = cvl_freq_write_model(freq, o, err);
	else
		rc = cvl_out_open(o, path, err);
	if (!rc) {
		if (table)
			cvl_freq_table_write(table, o);
		else
			cvl_freq_write_model(freq, o, err);
		rc = cvl_out_close(o, err);
	}
	free(o);
	return rc;
}

static void tell_one(const struct request *r, const struct cvl_freq_result *found,
		     struct cvl_out *o)
{
	if (r->json) {
		freq_json(o, found);
		return;
	}
	if (r->synthetic && found->n >= 2)
		cvl_out_printf(o, "Simulated (%s, seed %llu): ", cvl_sim_tasks_kind_name(r->kind),
			       (unsigned long long)r->seed);
	freq_text(o, found);
}

static void tell_all(const struct request *r, const struct cvl_freq_tally *tally,
		     const struct cvl_freq_result *found, struct cvl_out *o)
{
	if (r->json) {
		freq_tally_json(o, tally, found);
		return;
	}
	cvl_out_printf(o, "Simulated (%s): %u tasks of each of seeds %llu to %llu.\n\n",
		       cvl_sim_tasks_kind_name(r->kind), r->tasks, (unsigned long long)r->seed,
		       (unsigned long long)(r->seed + r->seeds - 1));
	freq_tally_text(o, tally, found);
}

/*
 * Tasks from the file, or those of seed number @k: results go into @tally, which is printed with
 * the last one.
 */
static int work_on(const struct request *r, const struct cvl_freq_device *device, unsigned k,
		   struct cvl_freq_tally *tally, struct problems *problems, struct cvl_out *o,
		   struct cvl_error *err)
{
	struct cvl_freq_table *table = NULL;
	struct cvl_freq *freq = NULL;
	int rc = r->synthetic ? cvl_sim_tasks_make(&table, device, (enum cvl_sim_tasks_kind)r->kind,
						   r->seed + k, r->tasks, err) :
				cvl_freq_table_load(&table, r->table, err);

	if (!rc)
		rc = cvl_freq_open(&freq, device, table, &r->opts, &problems->report, err);
	if (!rc && r->write && !k)
		rc = write_file(r->write, table, NULL, err);
	if (!rc && r->model)
		rc = write_file(r->model, NULL, freq, err);
	if (!rc) {
		const struct cvl_freq_result *found = cvl_freq_result(freq);

		if (r->seeds == 1) {
			tell_one(r, found, o);
		} else {
			cvl_freq_tally_add(tally, found);
			if (k + 1 == r->seeds)
				tell_all(r, tally, found, o);
		}
	}
	cvl_freq_close(freq);
	cvl_freq_table_free(table);
	return rc;
}

static int work(const struct request *r, struct problems *problems, struct cvl_out *o,
		struct cvl_error *err)
{
	struct cvl_freq_tally tally = { 0 };
	struct cvl_freq_device *device;
	struct progress progress;
	int rc = cvl_freq_device_load(&device, r->device, err);

	progress_init(&progress, "fitting rules");
	for (unsigned k = 0; k < r->seeds && !rc; k++) {
		rc = work_on(r, device, k, &tally, problems, o, err);
		if (r->seeds > 1)
			progress_show(&progress, k + 1, r->seeds);
	}
	progress_clear(&progress);
	cvl_freq_device_free(device);
	return rc ? rc : cvl_out_flush(o, err);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .opts = { .adaption = true, .cache = true },
			     .seeds = 1,
			     .tasks = CVL_SIM_TASKS };
	struct problems problems;
	struct cvl_error err;
	static struct cvl_out o;
	int rc = parse(argc, argv, verb, &r);

	if (rc >= 0)
		return rc;
	problems_init(&problems);
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	rc = work(&r, &problems, &o, &err);
	return cli_end(rc, &err, &problems);
}

const struct verb task_freq = {
	.name = "task freq",
	.what = "the frequency at which each task takes the least energy",
	.operands = "[TABLE.csv]",
	.options = options,
	.notes =
		"Either TABLE.csv or --synthetic has to be given. docs/task.md tells what the table holds and what the rules are.\n",
	.examples =
		"  coeval task freq -d examples/devices/stm32l476.yaml measured.csv --list\n"
		"  coeval task freq -d examples/devices/stm32l476.yaml --synthetic 1 --seeds 20\n",
	.run = run,
};
