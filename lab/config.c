/* SPDX-License-Identifier: MIT */
#include "lab/config.h"

#include <coeval/files.h>

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
#define TEXTS(owner, key, member)                                           \
	{                                                                   \
		.name = key, .type = KEY_TEXTS, AT(owner, member), .min = 1 \
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
	TEXTS(lab_target, "reset_program", reset_program),
	{ .name = "commands", .type = KEY_MAP, AT(lab_target, commands), .shape = &command_shape },
	{ 0 },
};
static const struct key_shape target_shape = { target_keys, sizeof(struct lab_target), NULL };

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
	return rc ? rc : lab_config_check(c, err);
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
