/* SPDX-License-Identifier: MIT */
#include "lab/config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "lab/fill.h"

#define MAX_HZ 1e12
#define MAX_BAUD 1e8
#define DAY_S 86400.0

#define AT(owner, member) .offset = offsetof(struct owner, member)
#define TEXT(owner, key, member)                                    \
	{                                                           \
		key, CONFIG_TEXT, AT(owner, member), .string = true \
	}
#define MUST(owner, key, member)                                                            \
	{                                                                                   \
		key, CONFIG_TEXT, AT(owner, member), .string = true, .min = 1, .must = true \
	}
#define NUMBER(owner, key, member, low, high)                                \
	{                                                                    \
		key, CONFIG_REAL, AT(owner, member), .min = low, .max = high \
	}
#define ITEMS(owner, member)                                                \
	AT(owner, member.item), .length = offsetof(struct owner, member.n), \
				.many = CONFIG_ONE_OR_LIST
#define TEXTS(owner, key, member)                                                \
	{                                                                        \
		key, CONFIG_TEXT, ITEMS(owner, member), .string = true, .min = 1 \
	}

/* Commands hold no names that nothing fills, so that this is not found out after an hour. */
static int check_fill(const struct config *c, const char *const *text, const char *const *names)
{
	struct fill fill[12];
	struct cvl_error e;
	char out[1024];
	size_t n = 0;

	for (; names[n]; n++)
		fill[n] = (struct fill){ names[n], "0" };
	return fill_text(out, sizeof(out), *text, fill, n, &e) ?
		       config_fail(c, text, e.code, "%s", e.text) :
		       0;
}

/* ---- the target ---- */

static int end_commands(struct config *c, void *to)
{
	static const char *const set[] = { "hz", "policy", "adaption", "cache", NULL };
	static const char *const run[] = { "workload", "iterations", "counter", "arg", NULL };
	static const char *const ranges[] = { "workload", "iterations", "ranges",
					      "pass",     "arg",        NULL };
	static const char *const none[] = { NULL };
	const struct lab_commands *k = to;
	int rc = check_fill(c, &k->set, set);

	rc = rc ? rc : check_fill(c, &k->trace, run);
	rc = rc ? rc : check_fill(c, &k->ranges, ranges);
	rc = rc ? rc : check_fill(c, &k->energy, run);
	rc = rc ? rc : check_fill(c, &k->delay, run);
	return rc ? rc : check_fill(c, &k->reboot, none);
}

static const struct config_key command_keys[] = {
	TEXT(lab_commands, "set", set),
	TEXT(lab_commands, "trace", trace),
	TEXT(lab_commands, "ranges", ranges),
	TEXT(lab_commands, "energy", energy),
	TEXT(lab_commands, "delay", delay),
	TEXT(lab_commands, "reboot", reboot),
	{ 0 },
};
static const struct config_shape command_shape = { .what = "commands",
						   .key = command_keys,
						   .size = sizeof(struct lab_commands),
						   .end = end_commands };

static const struct config_key target_keys[] = {
	MUST(lab_target, "port", port),
	NUMBER(lab_target, "baud", baud, 50, MAX_BAUD),
	{ "prompt", CONFIG_TEXT, AT(lab_target, prompt), .string = true, .min = 1 },
	TEXT(lab_target, "boot_text", boot_text),
	NUMBER(lab_target, "boot_timeout_s", boot_timeout_s, 0.01, DAY_S),
	NUMBER(lab_target, "answer_timeout_s", answer_timeout_s, 0.01, DAY_S),
	TEXTS(lab_target, "reset_program", reset_program),
	{ "commands", CONFIG_MAP, AT(lab_target, commands), .shape = &command_shape },
	{ 0 },
};
static const struct config_shape target_shape = { .what = "a target",
						  .key = target_keys,
						  .size = sizeof(struct lab_target) };

/* ---- instruments ---- */

static int check_lines(const struct config *c, const struct lab_texts *list)
{
	static const char *const names[] = { "sample_hz", NULL };
	int rc = 0;

	for (size_t i = 0; !rc && i < list->n; i++)
		rc = check_fill(c, &list->item[i], names);
	return rc;
}

static int end_instrument(struct config *c, void *to)
{
	static const char *const fetch[] = { "first", "last", "count", NULL };
	const struct lab_instrument *t = to;
	const char *lacks = NULL;
	int rc;

	if (t->result == RESULT_CURRENT && !(t->sample_hz > 0))
		lacks = "missing key 'sample_hz': readings of a current need it";
	else if (t->result == RESULT_CURRENT && !*t->count_query)
		lacks = "missing key 'count_query': how many readings there are";
	else if (t->result == RESULT_WAVEFORM && !*t->increment_query)
		lacks = "missing key 'increment_query': a waveform needs it";
	if (lacks)
		return config_fail_in(c, t, CVL_E_MISSING, "%s", lacks);
	rc = check_lines(c, &t->setup);
	rc = rc ? rc : check_lines(c, &t->arm);
	rc = rc ? rc : check_lines(c, &t->stop);
	return rc ? rc : check_fill(c, &t->fetch_query, fetch);
}

static const char *const results[] = { "current", "seconds", "waveform", NULL };
static const char *const formats[] = { "text", "u8",          "f32", "f32-swapped",
				       "f64",  "f64-swapped", NULL };

static const struct config_key instrument_keys[] = {
	MUST(lab_instrument, "address", address),
	NUMBER(lab_instrument, "baud", baud, 50, MAX_BAUD),
	TEXT(lab_instrument, "identity", identity),
	TEXT(lab_instrument, "error_query", error_query),
	NUMBER(lab_instrument, "timeout_s", timeout_s, 0.01, DAY_S),
	{ "result", CONFIG_WORD, AT(lab_instrument, result), .words = results, .must = true },
	{ "format", CONFIG_WORD, AT(lab_instrument, format), .words = formats },
	NUMBER(lab_instrument, "sample_hz", sample_hz, 1e-3, MAX_HZ),
	NUMBER(lab_instrument, "window_tolerance", window_tolerance, 0, 1),
	NUMBER(lab_instrument, "chunk", chunk, 1, 1e6),
	TEXTS(lab_instrument, "setup", setup),
	TEXTS(lab_instrument, "arm", arm),
	TEXTS(lab_instrument, "stop", stop),
	TEXT(lab_instrument, "done_query", done_query),
	TEXT(lab_instrument, "done_is", done_is),
	NUMBER(lab_instrument, "done_timeout_s", done_timeout_s, 0.01, DAY_S),
	TEXT(lab_instrument, "count_query", count_query),
	MUST(lab_instrument, "fetch_query", fetch_query),
	TEXT(lab_instrument, "increment_query", increment_query),
	{ 0 },
};
static const struct lab_instrument instrument_defaults = {
	.address = "",
	.identity = "",
	.error_query = "SYST:ERR?",
	.baud = 115200,
	.timeout_s = 5,
	.window_tolerance = 0.05,
	.chunk = 10000,
	.done_timeout_s = 10,
	.done_query = "",
	.done_is = "",
	.count_query = "",
	.fetch_query = "",
	.increment_query = "",
};
static const struct config_shape instrument_shape = { .what = "an instrument",
						      .key = instrument_keys,
						      .size = sizeof(struct lab_instrument),
						      .defaults = &instrument_defaults,
						      .end = end_instrument };

/* ---- experiments ---- */

static int end_workload(struct config *c, void *to)
{
	struct lab_workload *w = to;

	if (!w->label)
		w->label = w->name;
	return w->iterations == (double)(uint64_t)w->iterations ?
		       0 :
		       config_fail(c, &w->iterations, CVL_E_RANGE, "`iterations` must be whole");
}

#define RESULTS_NAME_WHAT "a name of up to 63 letters, digits, '-', '_', '.', '@' or '+'"
#define RESULT_NAME(owner, key, member)                                          \
	key, CONFIG_TEXT, AT(owner, member), .string = true, .is = results_name, \
					     .what = RESULTS_NAME_WHAT

static const struct config_key workload_keys[] = {
	{ RESULT_NAME(lab_workload, "name", name), .must = true },
	{ RESULT_NAME(lab_workload, "label", label) },
	NUMBER(lab_workload, "iterations", iterations, 1, UINT32_MAX),
	NUMBER(lab_workload, "arg", arg, 0, UINT32_MAX),
	{ 0 },
};
static const struct lab_workload workload_defaults = { .arg = -1 };
static const struct config_shape workload_shape = { .what = "a workload",
						    .key = workload_keys,
						    .size = sizeof(struct lab_workload),
						    .defaults = &workload_defaults,
						    .short_form = "name",
						    .end = end_workload };

/* The ranges as the target takes them. Returns -1 if they are none. */
static int join_ranges(struct lab_counter *counter)
{
	size_t n = 0;

	for (size_t i = 0; i < counter->ranges.n; i++) {
		const char *range = counter->ranges.item[i];
		unsigned from, to;
		char end;

		if (strspn(range, "0123456789abcdef-") != strlen(range) ||
		    sscanf(range, "%8x-%8x%c", &from, &to, &end) != 2 || to < from || i == 4)
			return -1;
		n += (size_t)snprintf(counter->text + n, sizeof(counter->text) - n, "%s%08x-%08x",
				      i ? "," : "", from, to);
	}
	return 0;
}

static int end_counter(struct config *c, void *to)
{
	struct lab_counter *counter = to;
	int q = quantity_find(counter->name);
	bool memory = q >= Q_RAM && q <= Q_PERIPHERAL;

	if (q < 0 || q > Q_PERIPHERAL)
		return config_fail(c, &counter->name, CVL_E_RANGE, "unknown counter '%.80s'",
				   counter->name);
	if (memory && !counter->ranges.n)
		return config_fail_in(c, counter, CVL_E_RANGE,
				      "missing key 'ranges': the addresses of %s", counter->name);
	if (!memory && counter->ranges.n)
		return config_fail(c, &counter->ranges.item, CVL_E_RANGE,
				   "no ranges are needed for %s", counter->name);
	counter->quantity = (enum quantity)q;
	if (memory && join_ranges(counter))
		return config_fail(
			c, &counter->ranges.item, CVL_E_RANGE,
			"`ranges` must be up to 4 of FIRST-LAST in small hexadecimal digits");
	return 0;
}

static const struct config_key counter_keys[] = {
	MUST(lab_counter, "name", name),
	TEXTS(lab_counter, "ranges", ranges),
	{ 0 },
};
static const struct config_shape counter_shape = { .what = "a counter",
						   .key = counter_keys,
						   .size = sizeof(struct lab_counter),
						   .short_form = "name",
						   .end = end_counter };

static int end_experiment(struct config *c, void *to)
{
	static const char *policy[] = { "fast-flash" };
	static bool on[] = { true };
	struct lab_experiment *e = to;

	if (!e->policies.n)
		e->policies = (struct lab_texts){ policy, 1 };
	if (!e->adaption.n)
		e->adaption = (struct lab_flags){ on, 1 };
	if (!e->cache.n)
		e->cache = (struct lab_flags){ on, 1 };
	if (e->kind == KIND_TRACE && !e->counters.n)
		return config_fail_in(c, e, CVL_E_MISSING, "missing key 'counters': what to trace");
	if (e->kind != KIND_TRACE && !*e->instrument_name)
		return config_fail_in(c, e, CVL_E_MISSING, "missing key 'instrument'");
	return 0;
}

static const char *const kinds[] = { "trace", "energy", "delay", NULL };

static const struct config_key experiment_keys[] = {
	{ "kind", CONFIG_WORD, AT(lab_experiment, kind), .words = kinds, .must = true },
	{ "workloads", CONFIG_MAP, ITEMS(lab_experiment, workloads), .must = true, .least = 1,
	  .shape = &workload_shape },
	{ "hz", CONFIG_REAL, ITEMS(lab_experiment, hz), .must = true, .least = 1, .min = 1,
	  .max = MAX_HZ },
	{ RESULT_NAME(lab_experiment, "policies", policies.item),
	  .length = offsetof(struct lab_experiment, policies.n), .many = CONFIG_ONE_OR_LIST },
	{ "adaption", CONFIG_BOOL, ITEMS(lab_experiment, adaption) },
	{ "cache", CONFIG_BOOL, ITEMS(lab_experiment, cache) },
	{ "counters", CONFIG_MAP, ITEMS(lab_experiment, counters), .shape = &counter_shape },
	NUMBER(lab_experiment, "repetitions", repetitions, 1, 100000),
	NUMBER(lab_experiment, "min_seconds", min_seconds, 0, DAY_S),
	NUMBER(lab_experiment, "supply_volts", supply_volts, 0.1, 1000),
	{ "reboot", CONFIG_BOOL, AT(lab_experiment, reboot) },
	TEXT(lab_experiment, "instrument", instrument_name),
	{ 0 },
};
/* Thesis sections 8.1.1, 8.1.2 and 8.2.4. */
static const struct lab_experiment experiment_defaults = {
	.repetitions = 10,
	.min_seconds = 1,
	.supply_volts = 3.3,
	.reboot = true,
	.instrument_name = "",
};
static const struct config_shape experiment_shape = { .what = "an experiment",
						      .key = experiment_keys,
						      .size = sizeof(struct lab_experiment),
						      .defaults = &experiment_defaults,
						      .end = end_experiment };

/* ---- the whole ---- */

/* An experiment's instrument must be there, and of the kind that it needs. */
static int find_instrument(const struct config *c, const struct lab_config *all,
			   struct lab_experiment *e)
{
	const struct lab_instrument *t = all->instruments.item;

	if (e->kind == KIND_TRACE)
		return 0;
	for (size_t k = 0; k < all->instruments.n; k++)
		if (!strcmp(t[k].name, e->instrument_name))
			e->instrument = &t[k];
	if (!e->instrument)
		return config_fail(c, &e->instrument_name, CVL_E_RANGE,
				   "unknown instrument '%.80s'", e->instrument_name);
	if ((e->kind == KIND_ENERGY) != (e->instrument->result == RESULT_CURRENT))
		return config_fail(c, &e->instrument_name, CVL_E_RANGE, "'%.80s' measures no %s",
				   e->instrument_name, e->kind == KIND_ENERGY ? "current" : "time");
	return 0;
}

static int end_config(struct config *c, void *to)
{
	const struct lab_config *all = to;
	int rc = 0;

	for (size_t i = 0; !rc && i < all->experiments.n; i++)
		rc = find_instrument(c, all, &all->experiments.item[i]);
	return rc;
}

static const struct config_key config_keys[] = {
	{ "target", CONFIG_MAP, AT(lab_config, target), .must = true, .shape = &target_shape },
	{ "instruments", CONFIG_MAP, AT(lab_config, instruments.item),
	  .length = offsetof(struct lab_config, instruments.n), .many = CONFIG_NAMED,
	  .shape = &instrument_shape },
	{ "experiments", CONFIG_MAP, ITEMS(lab_config, experiments), .must = true, .least = 1,
	  .shape = &experiment_shape },
	NUMBER(lab_config, "retries", retries, 0, 100),
	NUMBER(lab_config, "give_up_after", give_up_after, 1, 1e6),
	{ 0 },
};
static const struct config_shape config_shape = {
	.what = "a bench", .key = config_keys, .size = sizeof(struct lab_config), .end = end_config
};

static const struct config_key root = { .type = CONFIG_MAP, .shape = &config_shape };

static const struct lab_config config_defaults = {
	.target = { .prompt = "> ", .boot_text = "coeval task bench", .baud = 115200,
		    .boot_timeout_s = 10, .answer_timeout_s = 120,
		    .commands = {
			.set = "set hz={hz} policy={policy} adaption={adaption} cache={cache}",
			.trace = "trace workload={workload} iterations={iterations} counter={counter}{arg}",
			.ranges = "trace workload={workload} iterations={iterations} counter=ranges ranges={ranges} pass={pass}{arg}",
			.energy = "energy workload={workload} iterations={iterations}{arg}",
			.delay = "delay workload={workload} iterations={iterations}{arg}",
			.reboot = "reboot",
		    } },
	.retries = 2, .give_up_after = 5,
};

/* @text NULL: the file. */
static int read_config(struct lab_config *c, const char *text, size_t n, const char *file,
		       struct cvl_error *err)
{
	const struct config_source source = {
		.file = file, .root = &root, .to = c, .memory = &c->memory
	};

	*c = config_defaults;
	c->file = file;
	return text ? config_parse(&source, text, n, err) : config_load(&source, err);
}

int lab_config_parse(struct lab_config *c, const char *text, size_t n, const char *file,
		     struct cvl_error *err)
{
	return read_config(c, text, n, file, err);
}

int lab_config_load(struct lab_config *c, const char *file, struct cvl_error *err)
{
	return read_config(c, NULL, 0, file, err);
}

void lab_config_free(struct lab_config *c)
{
	config_free(&c->memory);
}
