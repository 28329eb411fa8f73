/* SPDX-License-Identifier: MIT */
#include "lab/config.h"

#include "core/files.h"
#include "lab/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (1u << 20)
#define MAX_HZ 1e12
#define MAX_BAUD 1e8
#define DAY_S 86400.0

#define AT(owner, member) .offset = offsetof(struct owner, member)
#define TEXT(owner, key, member, needed)                                                        \
	{                                                                                       \
		.name = key, .type = KEY_TEXT, AT(owner, member), .must = needed, .min = needed \
	}
#define NUMBER(owner, key, member, low, high)                                               \
	{                                                                                   \
		.name = key, .type = KEY_NUMBER, AT(owner, member), .min = low, .max = high \
	}

static const struct key command_keys[] = {
	TEXT(lab_commands, "set", set, false),
	TEXT(lab_commands, "trace", trace, false),
	TEXT(lab_commands, "ranges", ranges, false),
	TEXT(lab_commands, "energy", energy, false),
	TEXT(lab_commands, "delay", delay, false),
	TEXT(lab_commands, "reboot", reboot, false),
	{ 0 },
};
static const struct key_shape command_shape = { command_keys, sizeof(struct lab_commands), NULL };

static const struct key target_keys[] = {
	TEXT(lab_target, "port", port, true),
	NUMBER(lab_target, "baud", baud, 50, MAX_BAUD),
	{ .name = "prompt", .type = KEY_TEXT, AT(lab_target, prompt), .min = 1 },
	TEXT(lab_target, "boot_text", boot_text, false),
	NUMBER(lab_target, "boot_timeout_s", boot_timeout_s, 0.01, DAY_S),
	NUMBER(lab_target, "answer_timeout_s", answer_timeout_s, 0.01, DAY_S),
	{ .name = "commands", .type = KEY_MAP, AT(lab_target, commands), .shape = &command_shape },
	{ 0 },
};
static const struct key_shape target_shape = { target_keys, sizeof(struct lab_target), NULL };

#define TEXTS(owner, key, member)                                           \
	{                                                                   \
		.name = key, .type = KEY_TEXTS, AT(owner, member), .min = 1 \
	}

static const struct key instrument_keys[] = {
	TEXT(lab_instrument, "address", address, true),
	NUMBER(lab_instrument, "baud", baud, 50, MAX_BAUD),
	TEXT(lab_instrument, "identity", identity, false),
	TEXT(lab_instrument, "error_query", error_query, false),
	NUMBER(lab_instrument, "timeout_s", timeout_s, 0.01, DAY_S),
	TEXT(lab_instrument, "result", result_name, true),
	TEXT(lab_instrument, "format", format_name, false),
	NUMBER(lab_instrument, "sample_hz", sample_hz, 1e-3, MAX_HZ),
	NUMBER(lab_instrument, "window_tolerance", window_tolerance, 0, 1),
	NUMBER(lab_instrument, "chunk", chunk, 1, 1e6),
	TEXTS(lab_instrument, "setup", setup),
	TEXTS(lab_instrument, "arm", arm),
	TEXTS(lab_instrument, "stop", stop),
	TEXT(lab_instrument, "done_query", done_query, false),
	TEXT(lab_instrument, "done_is", done_is, false),
	NUMBER(lab_instrument, "done_timeout_s", done_timeout_s, 0.01, DAY_S),
	TEXT(lab_instrument, "count_query", count_query, false),
	TEXT(lab_instrument, "fetch_query", fetch_query, true),
	TEXT(lab_instrument, "increment_query", increment_query, false),
	{ 0 },
};
static const struct lab_instrument instrument_defaults = {
	.address = "",
	.identity = "",
	.error_query = "SYST:ERR?",
	.baud = 115200,
	.timeout_s = 5,
	.result_name = "",
	.format_name = "text",
	.window_tolerance = 0.05,
	.chunk = 10000,
	.done_timeout_s = 10,
	.done_query = "",
	.done_is = "",
	.count_query = "",
	.fetch_query = "",
	.increment_query = "",
};
static const struct key_shape instrument_shape = { instrument_keys, sizeof(struct lab_instrument),
						   &instrument_defaults };

static const struct key workload_keys[] = {
	TEXT(lab_workload, "name", name, true),
	TEXT(lab_workload, "label", label, false),
	NUMBER(lab_workload, "iterations", iterations, 1, UINT32_MAX),
	NUMBER(lab_workload, "arg", arg, 0, UINT32_MAX),
	{ 0 },
};
static const struct lab_workload workload_defaults = { .arg = -1 };
static const struct key_shape workload_shape = { workload_keys, sizeof(struct lab_workload),
						 &workload_defaults };

static const struct key counter_keys[] = {
	TEXT(lab_counter, "name", name, true),
	TEXTS(lab_counter, "ranges", ranges),
	{ 0 },
};
static const struct key_shape counter_shape = { counter_keys, sizeof(struct lab_counter), NULL };

static const struct key experiment_keys[] = {
	TEXT(lab_experiment, "kind", kind_name, true),
	{ .name = "workloads",
	  .type = KEY_LIST,
	  AT(lab_experiment, workloads),
	  .must = true,
	  .min = 1,
	  .shape = &workload_shape,
	  .short_form = "name" },
	{ .name = "hz",
	  .type = KEY_NUMBERS,
	  AT(lab_experiment, hz),
	  .must = true,
	  .min = 1,
	  .max = MAX_HZ },
	{ .name = "policies", .type = KEY_TEXTS, AT(lab_experiment, policies), .min = 1 },
	{ .name = "adaption", .type = KEY_BOOLS, AT(lab_experiment, adaption) },
	{ .name = "cache", .type = KEY_BOOLS, AT(lab_experiment, cache) },
	{ .name = "counters",
	  .type = KEY_LIST,
	  AT(lab_experiment, counters),
	  .min = 1,
	  .shape = &counter_shape,
	  .short_form = "name" },
	NUMBER(lab_experiment, "repetitions", repetitions, 1, 100000),
	NUMBER(lab_experiment, "min_seconds", min_seconds, 0, DAY_S),
	NUMBER(lab_experiment, "supply_volts", supply_volts, 0.1, 1000),
	{ .name = "reboot", .type = KEY_BOOL, AT(lab_experiment, reboot) },
	TEXT(lab_experiment, "instrument", instrument_name, false),
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
static const struct key_shape experiment_shape = { experiment_keys, sizeof(struct lab_experiment),
						   &experiment_defaults };

static const struct key config_keys[] = {
	{ .name = "target",
	  .type = KEY_MAP,
	  AT(lab_config, target),
	  .must = true,
	  .shape = &target_shape },
	{ .name = "instruments",
	  .type = KEY_MAPS,
	  AT(lab_config, instruments),
	  .shape = &instrument_shape },
	{ .name = "experiments",
	  .type = KEY_LIST,
	  AT(lab_config, experiments),
	  .must = true,
	  .shape = &experiment_shape },
	NUMBER(lab_config, "retries", retries, 0, 100),
	NUMBER(lab_config, "give_up_after", give_up_after, 1, 1e6),
	{ 0 },
};
static const struct key_shape config_shape = { config_keys, sizeof(struct lab_config), NULL };

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

/* ---- what the tables cannot say ---- */

static int cannot(const struct lab_config *c, const char *place, size_t i, const char *what,
		  const char *value, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "%s: %s[%zu].%s '%.80s'", c->file, place,
			i, what, value);
}

static int find_word(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

/* Commands hold no names that nothing fills, so that this is not found out after an hour. */
static int check_fill(const struct lab_config *c, const char *place, const char *text,
		      const char *const *names, struct cvl_error *err)
{
	struct fill fill[12];
	struct cvl_error e;
	char out[1024];
	size_t n = 0;

	for (; names[n]; n++)
		fill[n] = (struct fill){ names[n], "0" };
	if (!fill_text(out, sizeof(out), text, fill, n, &e))
		return 0;
	return cvl_fail(err, e.code, CVL_NO_OFFSET, "%s: %s: %s", c->file, place, e.text);
}

static int check_target(const struct lab_config *c, struct cvl_error *err)
{
	static const char *const set[] = { "hz", "policy", "adaption", "cache", NULL };
	static const char *const run[] = { "workload", "iterations", "counter", "arg", NULL };
	static const char *const ranges[] = { "workload", "iterations", "ranges",
					      "pass",     "arg",        NULL };
	static const char *const none[] = { NULL };
	const struct lab_commands *k = &c->target.commands;
	int rc = check_fill(c, "target.commands.set", k->set, set, err);

	rc = rc ? rc : check_fill(c, "target.commands.trace", k->trace, run, err);
	rc = rc ? rc : check_fill(c, "target.commands.ranges", k->ranges, ranges, err);
	rc = rc ? rc : check_fill(c, "target.commands.energy", k->energy, run, err);
	rc = rc ? rc : check_fill(c, "target.commands.delay", k->delay, run, err);
	return rc ? rc : check_fill(c, "target.commands.reboot", k->reboot, none, err);
}

static int check_commands(const struct lab_config *c, const struct lab_instrument *t,
			  const struct key_list *list, const char *what, struct cvl_error *err)
{
	static const char *const names[] = { "sample_hz", NULL };
	char place[200];

	for (size_t i = 0; i < list->n; i++) {
		int rc;

		snprintf(place, sizeof(place), "instruments.%.60s.%s[%zu]", t->name, what, i);
		rc = check_fill(c, place, ((const char *const *)list->item)[i], names, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_instrument(const struct lab_config *c, struct lab_instrument *t,
			    struct cvl_error *err)
{
	static const char *const results[] = { "current", "seconds", "waveform", NULL };
	static const char *const formats[] = { "text", "u8",          "f32", "f32-swapped",
					       "f64",  "f64-swapped", NULL };
	static const char *const fetch[] = { "first", "last", "count", NULL };
	int result = find_word(t->result_name, results), rc;
	int format = find_word(t->format_name, formats);
	char place[200];

	snprintf(place, sizeof(place), "instruments.%.60s", t->name);
	if (result < 0)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s: %s.result is current, seconds or waveform, not '%.60s'",
				c->file, place, t->result_name);
	if (format < 0)
		return cvl_fail(
			err, CVL_E_RANGE, CVL_NO_OFFSET,
			"%s: %s.format is text, u8, f32, f32-swapped, f64 or f64-swapped, not '%.60s'",
			c->file, place, t->format_name);
	t->result = (enum lab_result)result;
	t->format = (enum lab_format)format;
	if (t->result == RESULT_CURRENT && !(t->sample_hz > 0))
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: %s.sample_hz is missing: readings of a current need it",
				c->file, place);
	if (t->result == RESULT_CURRENT && !*t->count_query)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: %s.count_query is missing: how many readings there are",
				c->file, place);
	if (t->result == RESULT_WAVEFORM && !*t->increment_query)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: %s.increment_query is missing: a waveform needs it", c->file,
				place);
	rc = check_commands(c, t, &t->setup, "setup", err);
	rc = rc ? rc : check_commands(c, t, &t->arm, "arm", err);
	rc = rc ? rc : check_commands(c, t, &t->stop, "stop", err);
	snprintf(place, sizeof(place), "instruments.%.60s.fetch_query", t->name);
	return rc ? rc : check_fill(c, place, t->fetch_query, fetch, err);
}

/* The ranges as the target takes them. Returns -1 if they are none. */
static int join_ranges(struct lab_counter *counter)
{
	size_t n = 0;

	for (size_t i = 0; i < counter->ranges.n; i++) {
		const char *range = ((const char *const *)counter->ranges.item)[i];
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

static int check_counters(const struct lab_config *c, struct lab_experiment *e, size_t i,
			  struct cvl_error *err)
{
	if (!e->counters.n)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: experiments[%zu].counters is missing: what to trace", c->file,
				i);
	for (size_t k = 0; k < e->counters.n; k++) {
		struct lab_counter *counter = (struct lab_counter *)e->counters.item + k;
		int q = quantity_find(counter->name);
		bool memory = q >= Q_RAM && q <= Q_PERIPHERAL;

		if (q < 0 || q > Q_PERIPHERAL)
			return cannot(c, "experiments", i, "counters: there is no counter",
				      counter->name, err);
		if (memory && !counter->ranges.n)
			return cannot(c, "experiments", i,
				      "counters: ranges of addresses are missing for",
				      counter->name, err);
		if (!memory && counter->ranges.n)
			return cannot(c, "experiments", i, "counters: no ranges are needed for",
				      counter->name, err);
		counter->quantity = (enum quantity)q;
		if (memory && join_ranges(counter))
			return cannot(
				c, "experiments", i,
				"counters: ranges are up to 4 of FIRST-LAST in small hexadecimal digits, for",
				counter->name, err);
	}
	return 0;
}

static int check_workloads(const struct lab_config *c, struct lab_experiment *e, size_t i,
			   struct cvl_error *err)
{
	for (size_t k = 0; k < e->workloads.n; k++) {
		struct lab_workload *w = (struct lab_workload *)e->workloads.item + k;

		if (!w->label)
			w->label = w->name;
		if (!results_name(w->name) || !results_name(w->label))
			return cannot(c, "experiments", i, "workloads: no workload can be called",
				      results_name(w->name) ? w->label : w->name, err);
		if (w->iterations != (double)(uint64_t)w->iterations)
			return cannot(c, "experiments", i, "workloads: iterations are whole, of",
				      w->name, err);
	}
	for (size_t k = 0; k < e->policies.n; k++)
		if (!results_name(((const char *const *)e->policies.item)[k]))
			return cannot(c, "experiments", i, "policies: no policy can be called",
				      ((const char *const *)e->policies.item)[k], err);
	return 0;
}

/* An experiment's instrument must be there, and of the kind that it needs. */
static int find_instrument(const struct lab_config *c, struct lab_experiment *e, size_t i,
			   struct cvl_error *err)
{
	const struct lab_instrument *t = c->instruments.item;

	if (e->kind == KIND_TRACE)
		return 0;
	for (size_t k = 0; k < c->instruments.n; k++)
		if (!strcmp(t[k].name, e->instrument_name))
			e->instrument = &t[k];
	if (!*e->instrument_name)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: experiments[%zu].instrument is missing", c->file, i);
	if (!e->instrument)
		return cannot(c, "experiments", i, "instrument: there is none called",
			      e->instrument_name, err);
	if ((e->kind == KIND_ENERGY) != (e->instrument->result == RESULT_CURRENT))
		return cannot(c, "experiments", i,
			      e->kind == KIND_ENERGY ? "instrument: it measures no current:" :
						       "instrument: it measures no time:",
			      e->instrument_name, err);
	return 0;
}

/* A list that was left out has one entry. */
static int one_entry(struct key_list *list, const void *entry, size_t size, struct cvl_error *err)
{
	if (list->n)
		return 0;
	free(list->item);
	list->item = malloc(size);
	if (!list->item)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	memcpy(list->item, entry, size);
	list->n = 1;
	return 0;
}

static int check_experiment(const struct lab_config *c, struct lab_experiment *e, size_t i,
			    struct cvl_error *err)
{
	static const char *const kinds[] = { "trace", "energy", "delay", NULL };
	static const char *const policy = "fast-flash";
	static const bool on = true;
	int kind = find_word(e->kind_name, kinds), rc;

	if (kind < 0)
		return cannot(c, "experiments", i, "kind is trace, energy or delay, not",
			      e->kind_name, err);
	e->kind = (enum lab_kind)kind;
	rc = one_entry(&e->policies, &policy, sizeof(policy), err);
	rc = rc ? rc : one_entry(&e->adaption, &on, sizeof(on), err);
	rc = rc ? rc : one_entry(&e->cache, &on, sizeof(on), err);
	rc = rc ? rc : check_workloads(c, e, i, err);
	rc = rc ? rc : find_instrument(c, e, i, err);
	return rc || e->kind != KIND_TRACE ? rc : check_counters(c, e, i, err);
}

int lab_config_parse(struct lab_config *c, const char *text, size_t n, const char *file,
		     struct cvl_error *err)
{
	json_error_t where;
	int rc;

	*c = config_defaults;
	c->file = file;
	c->json = json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
	if (!c->json)
		return cvl_fail(
			err, CVL_E_SYNTAX, where.position < 0 ? 0 : (uint64_t)where.position,
			"%s: line %d, column %d: %s", file, where.line, where.column, where.text);
	rc = keys_read(&config_shape, c->json, file, "", c, err);
	rc = rc ? rc : check_target(c, err);
	for (size_t i = 0; !rc && i < c->instruments.n; i++)
		rc = check_instrument(c, (struct lab_instrument *)c->instruments.item + i, err);
	for (size_t i = 0; !rc && i < c->experiments.n; i++)
		rc = check_experiment(c, (struct lab_experiment *)c->experiments.item + i, i, err);
	return rc;
}

int lab_config_load(struct lab_config *c, const char *file, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(file, MAX_BYTES, &n, err);
	int rc;

	*c = config_defaults;
	if (!text)
		return (int)err->code;
	rc = lab_config_parse(c, text, n, file, err);
	free(text);
	return rc;
}

void lab_config_free(struct lab_config *c)
{
	keys_free(&config_shape, c);
	json_decref(c->json);
	c->json = NULL;
}
