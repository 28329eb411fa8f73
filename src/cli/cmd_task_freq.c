/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "task/freq_report.h"
#include "clocks_print.h"

#include <coeval/time.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/taskset.h"

#define TASKS_MAX 1000
#define SEEDS_MAX 1000

struct request {
	const char *device, *table, *write, *model;
	struct freq_slice slice;
	bool synthetic, list, json;
	uint64_t seed, other_hz; /* other_hz 0: the lowest */
	unsigned seeds, tasks;
	unsigned kind; /* enum taskset_kind */
};

static const char *kind_name(size_t i)
{
	return i < TASKSET_KINDS ? taskset_kinds[i] : NULL;
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "device", 'd', "FILE", OPTION_FILE, AT(device),
	  "its frequencies, voltages, wait states and what a cycle costs (YAML)", .must = true },
	{ "policy", 0, "NAME", OPTION_TEXT, AT(slice.policy),
	  "of voltage scaling (default: the device's first)" },
	{ "adaption", 0, "on|off", OPTION_SWITCH, AT(slice.adaption),
	  "of wait states to the frequency (default: on)" },
	{ "cache", 0, "on|off", OPTION_SWITCH, AT(slice.cache),
	  "of the flash memory (default: on)" },
	{ "other", 0, "RATE", OPTION_RATE, AT(other_hz),
	  "second frequency at which rules know the cycles (default: the lowest)" },
	{ "list", 0, NULL, OPTION_FLAG, AT(list),
	  "also each task's best frequency, and what the learned rule chooses" },
	{ "model", 0, "FILE", OPTION_FILE, AT(model),
	  "write the learned rule, fitted to all tasks, as C for the target" },
	JSON_OPTION(AT(json)),
	{ .kind = OPTION_HEADING, .what = "Simulated tasks instead of a table" },
	{ "synthetic", 0, "SEED", OPTION_WHOLE, AT(seed), "the same seed gives the same tasks",
	  OPTION_GIVEN(struct request, synthetic) },
	{ "kind", 0, "KIND", OPTION_CHOICE, AT(kind),
	  "mixed (default), computing (none waits), constant (alpha does not change)",
	  .word = kind_name },
	{ "tasks", 0, "N", OPTION_NUMBER, AT(tasks), "how many (default: 69)", 1, TASKS_MAX },
	{ "seeds", 0, "N", OPTION_NUMBER, AT(seeds), "this seed and the next ones, all together", 1,
	  SEEDS_MAX },
	{ "write", 0, "FILE", OPTION_FILE, AT(write),
	  "write the table of the first seed (- for standard output)" },
	{ 0 },
};

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, const struct verb *verb, struct request *r)
{
	struct operands operands;
	int rc = options_read(verb, r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (operands.n == r->synthetic)
		return cli_usage(verb, "name one table of measurements, or --synthetic SEED");
	if (r->seeds > 1 && (r->list || r->model))
		return cli_usage(verb,
				 "--list and --model are of one set of tasks, without --seeds");
	if (!r->synthetic && (r->write || r->seeds > 1))
		return cli_usage(verb, "--write and --seeds go with --synthetic");
	r->table = r->synthetic ? NULL : operands.v[0];
	return -1;
}

static int choose_other(struct freq_set *set, uint64_t hz, struct cvl_error *err)
{
	struct swo_device d = freq_device(set);
	uint32_t p = hz > UINT32_MAX ? 0 : swo_point_near(&d, (uint32_t)hz);

	if (!hz)
		return 0;
	if (!p)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"--other: no frequency of the device below its highest is near %llu Hz",
			(unsigned long long)hz);
	set->other = p;
	return 0;
}

/* Tasks from the file, or those of seed number @k. */
static int get(const struct request *r, const struct device *d, unsigned k, struct task_table *t,
	       struct freq_set *set, struct problems *problems, struct cvl_error *err)
{
	int rc;

	*set = (struct freq_set){ 0 };
	if (r->synthetic) {
		*t = (struct task_table){ .name = "simulated tasks" };
		rc = taskset_make(t, d, (enum taskset_kind)r->kind, r->seed + k, r->tasks, err);
	} else {
		rc = table_load(t, r->table, err);
	}
	if (!rc)
		rc = freq_set_make(set, t, d, &r->slice, &problems->report, err);
	if (!rc)
		rc = choose_other(set, r->other_hz, err);
	if (!rc && set->n > TASKS_MAX)
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
			      "%s: more than %d tasks; rules are fitted once for each of them",
			      t->name, TASKS_MAX);
	return rc;
}

/* The table or the model, to a file of its own. */
static int write_file(const char *path, const struct task_table *t, const struct freq_set *set,
		      const struct fitted *learned, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc;

	if (!o)
		return cvl_no_memory(err);
	rc = cvl_out_open(o, path, err);
	if (!rc) {
		if (t)
			table_write(t, o);
		else
			freq_write_model(o, set, learned);
		rc = cvl_out_close(o, err);
	}
	free(o);
	return rc;
}

/* No energies to judge rules by: only what they choose. */
static void tell_choices(const struct request *r, const struct freq_set *set, struct cvl_out *o)
{
	if (r->json) {
		report_json(o, json_pack("{s:I, s:o}", "tasks", (json_int_t)set->n, "not_measured",
					 freq_more_json(set)));
		return;
	}
	cvl_out_text(
		o,
		"Fewer than two tasks have their energy at every frequency: rules cannot be judged.\n");
	freq_print_more(o, set);
}

static void tell_one(const struct request *r, const struct freq_set *set, const struct contest *c,
		     struct cvl_out *o)
{
	if (r->json) {
		json_t *root = freq_set_json(set);

		json_object_set_new(root, "rules", freq_contest_json(c));
		json_object_set_new(root, "not_known", freq_lacks_json(c));
		json_object_set_new(root, "learned_from",
				    json_integer((json_int_t)c->learned_from));
		if (r->list)
			json_object_set_new(root, "choices", freq_tasks_json(set));
		json_object_set_new(root, "not_measured", freq_more_json(set));
		report_json(o, root);
		return;
	}
	if (r->synthetic)
		cvl_out_printf(o, "Simulated (%s, seed %llu): ", taskset_kinds[r->kind],
			       (unsigned long long)r->seed);
	freq_print_set(o, set);
	freq_print_contest(o, c);
	if (r->list)
		freq_print_tasks(o, set);
	freq_print_more(o, set);
}

static void tell_all(const struct request *r, const struct freq_tally *tally,
		     const struct contest *c, struct cvl_out *o)
{
	if (r->json) {
		report_json(o, freq_tally_json(tally, c));
		return;
	}
	cvl_out_printf(o, "Simulated (%s): %u tasks of each of seeds %llu to %llu.\n\n",
		       taskset_kinds[r->kind], r->tasks, (unsigned long long)r->seed,
		       (unsigned long long)(r->seed + r->seeds - 1));
	freq_print_tally(o, tally, c);
}

static int work(const struct request *r, struct problems *problems, struct cvl_out *o,
		struct cvl_error *err)
{
	struct contest *c = malloc(sizeof(*c));
	struct freq_tally tally = { 0 };
	struct progress progress;
	struct device device;
	int rc = c ? device_load(&device, r->device, err) : cvl_no_memory(err);

	progress_init(&progress, "fitting rules");
	for (unsigned k = 0; k < r->seeds && !rc; k++) {
		struct task_table t;
		struct freq_set set;
		struct fitted learned;

		rc = get(r, &device, k, &t, &set, problems, err);
		if (!rc && r->write && !k)
			rc = write_file(r->write, &t, NULL, NULL, err);
		if (!rc && r->model && set.n < 2)
			rc = cvl_fail(
				err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: --model needs two tasks at least that have their energy at every frequency",
				t.name);
		if (!rc && r->model)
			rc = freq_learn(&learned, &set, err);
		if (!rc && r->model)
			rc = write_file(r->model, NULL, &set, &learned, err);
		if (!rc && set.n < 2) {
			tell_choices(r, &set, o);
		} else if (!rc) {
			contest_make(c, &set);
			freq_tally_add(&tally, c);
			if (r->seeds == 1)
				tell_one(r, &set, c, o);
			else
				progress_show(&progress, k + 1, r->seeds);
		}
		freq_set_free(&set);
		table_free(&t);
	}
	progress_clear(&progress);
	if (!rc && r->seeds > 1)
		tell_all(r, &tally, c, o);
	free(c);
	return rc ? rc : cvl_out_flush(o, err);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .slice = { NULL, true, true }, .seeds = 1, .tasks = TASKSET_TASKS };
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
