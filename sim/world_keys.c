/* SPDX-License-Identifier: MIT */
#include "sim/world_keys.h"

#include <ctype.h>
#include <string.h>

#define S 1e9             /* ns */
#define DAYS_31 2678400e9 /* ns */
#define SHARE .min = 0, .max = 1

/* Texts of up to WORLD_NAME - 1 bytes. */
#define LINE                                         \
	.max = WORLD_NAME - 1, .is = config_is_line, \
	.what = "text of up to 31 bytes without control characters"
#define IDENT                                            \
	.min = 1, .max = WORLD_NAME - 1, .is = is_ident, \
	.what = "1 to 31 letters, digits, '_', '-' or '.', and not begin with '-' or '.'"
#define GLOB                                                   \
	.min = 1, .max = WORLD_NAME - 1, .is = config_is_line, \
	.what = "a glob of 1 to 31 bytes, such as '*' or node1"
#define MANY .many = CONFIG_LIST, .most = WORLD_LIST, .inside = true

/* A name that a file may have. */
static bool is_ident(const char *s)
{
	if (*s == '.' || *s == '-')
		return false;
	while ((unsigned char)*s < 0x80 &&
	       (isalnum((unsigned char)*s) || (*s && strchr("_-.", *s))))
		s++;
	return !*s;
}

/* ---- parts ---- */

#define AT(field) offsetof(struct world_oscillator, field)

static const struct config_key oscillator_keys[] = {
	{ "offset_ppm", CONFIG_REAL, .offset = AT(offset_ppm), .min = -100000, .max = 100000 },
	{ "offset_sd_ppm", CONFIG_REAL, .offset = AT(offset_sd_ppm), .min = 0, .max = 20000 },
	{ "white_ppb", CONFIG_REAL, .offset = AT(white_ppb), .min = 0, .max = 1000000 },
	{ "walk_ppb", CONFIG_REAL, .offset = AT(walk_ppb), .min = 0, .max = 10000 },
	{ "ageing_ppb_day", CONFIG_REAL, .offset = AT(ageing_ppb_day), .min = -1000000,
	  .max = 1000000 },
	{ "sine_ppm", CONFIG_REAL, .offset = AT(sine_ppm), .min = 0, .max = 10000 },
	{ "sine_period", CONFIG_TIME, .offset = AT(sine_period_ns), .min = S, .max = DAYS_31,
	  .or_zero = true },
	{ "rate_steps", CONFIG_UNSIGNED, .offset = AT(rate_steps), .min = 0, .max = 1000 },
	{ "rate_step_ppm", CONFIG_REAL, .offset = AT(rate_step_ppm), .min = 0, .max = 10000 },
	{ 0 },
};

static const struct config_shape oscillator = { .what = "an oscillator",
						.key = oscillator_keys,
						.size = sizeof(struct world_oscillator) };

#undef AT
#define AT(field) offsetof(struct world_jitter, field)

static const struct config_key jitter_keys[] = {
	{ "normal_ns", CONFIG_REAL, .offset = AT(normal_ns), .min = 0, .max = 1e8 },
	{ "uniform_ns", CONFIG_REAL, .offset = AT(uniform_ns), .min = 0, .max = 1e8 },
	{ "exp_ns", CONFIG_REAL, .offset = AT(exp_ns), .min = 0, .max = 1e8 },
	{ "correlation", CONFIG_REAL, .offset = AT(correlation), .min = 0, .max = 0.9999 },
	{ "bias_sd_ns", CONFIG_REAL, .offset = AT(bias_sd_ns), .min = 0, .max = 1e8 },
	{ "outliers", CONFIG_REAL, .offset = AT(outliers), SHARE },
	{ "outlier_min_ns", CONFIG_REAL, .offset = AT(outlier_min_ns), .min = 0, .max = 1e9 },
	{ "outlier_max_ns", CONFIG_REAL, .offset = AT(outlier_max_ns), .min = 0, .max = 1e9 },
	{ "outliers_late", CONFIG_REAL, .offset = AT(outliers_late), SHARE },
	{ 0 },
};

static const struct config_shape jitter = { .what = "jitter",
					    .key = jitter_keys,
					    .size = sizeof(struct world_jitter) };

#undef AT
#define AT(field) offsetof(struct world_reference, field)

static const struct config_key reference_keys[] = {
	{ "wander_ns", CONFIG_REAL, .offset = AT(wander_ns), .min = 0, .max = 1e8 },
	{ "wander_time", CONFIG_TIME, .offset = AT(wander_time_ns), .min = 1e8, .max = DAYS_31,
	  .or_zero = true },
	{ "rough", CONFIG_BOOL, .offset = AT(rough) },
	{ "kicks_every", CONFIG_TIME, .offset = AT(kicks_every_ns), .min = 1e8, .max = DAYS_31,
	  .or_zero = true },
	{ "kick_ns", CONFIG_REAL, .offset = AT(kick_ns), .min = 0, .max = 1e6 },
	{ "kick_spread", CONFIG_REAL, .offset = AT(kick_spread), .min = 0, .max = 2 },
	{ "bursts_every", CONFIG_TIME, .offset = AT(bursts_every_ns), .min = 1e8, .max = DAYS_31,
	  .or_zero = true },
	{ "burst", CONFIG_TIME, .offset = AT(burst_ns), .min = 0, .max = DAYS_31 },
	{ "burst_factor", CONFIG_REAL, .offset = AT(burst_factor), .min = 0, .max = 100 },
	{ 0 },
};

static const struct config_shape reference = { .what = "a reference",
					       .key = reference_keys,
					       .size = sizeof(struct world_reference) };

/* ---- entries of the lists ---- */

#undef AT
#define AT(field) offsetof(struct world_clocks, field)

static const struct config_key clocks_keys[] = {
	{ "name", CONFIG_CHARS, .offset = AT(name), IDENT, .must = true },
	{ "count", CONFIG_UNSIGNED, .offset = AT(count), .min = 1, .max = WORLD_CLOCKS_MAX },
	{ "rate", CONFIG_RATE, .offset = AT(rate_hz), .min = 1, .max = 1e10 },
	{ "resolution", CONFIG_U64, .offset = AT(resolution), .min = 1, .max = 1e10 },
	{ "bits", CONFIG_UNSIGNED, .offset = AT(bits), .min = 8, .max = 64 },
	{ "start", CONFIG_TIME, .offset = AT(start_ns), .min = 0, .max = DAYS_31 },
	{ "oscillator", CONFIG_MAP, .offset = AT(oscillator), .shape = &oscillator },
	{ "distance_m", CONFIG_REAL, .offset = AT(distance_m), .min = 0, .max = 100000 },
	{ 0 },
};

static const struct world_clocks clocks_defaults = {
	.count = 1,
	.rate_hz = 8000000,
	.resolution = 1,
	.bits = 64,
};

static const struct config_shape clocks = { .what = "a group of clocks",
					    .key = clocks_keys,
					    .size = sizeof(clocks_defaults),
					    .defaults = &clocks_defaults };

#undef AT
#define AT(field) offsetof(struct world_sender, field)

static const struct config_key sender_keys[] = {
	{ "id", CONFIG_UNSIGNED, .offset = AT(id), .min = 0, .max = UINT32_MAX },
	{ "period", CONFIG_TIME, .offset = AT(period_ns), .min = 1e6, .max = DAYS_31 },
	{ "first_number", CONFIG_U64, .offset = AT(first_number), .min = 0, .max = 0x1p62 },
	{ "heard_by", CONFIG_CHARS, .offset = AT(heard_by), GLOB },
	{ "oscillator", CONFIG_MAP, .offset = AT(oscillator), .shape = &oscillator },
	{ "jitter_ns", CONFIG_REAL, .offset = AT(jitter_ns), .min = 0, .max = 1e8 },
	{ "disciplined", CONFIG_BOOL, .offset = AT(disciplined) },
	{ "gps_ns", CONFIG_REAL, .offset = AT(gps_ns), .min = 0, .max = 1e8 },
	{ "receiver", CONFIG_MAP, .offset = AT(receiver), .shape = &jitter },
	{ "missed", CONFIG_REAL, .offset = AT(missed), SHARE },
	{ "duplicated", CONFIG_REAL, .offset = AT(duplicated), SHARE },
	{ "late", CONFIG_REAL, .offset = AT(late), SHARE },
	{ "misnumbered", CONFIG_REAL, .offset = AT(misnumbered), SHARE },
	{ "late_min_ns", CONFIG_REAL, .offset = AT(late_min_ns), .min = 0, .max = 60 * S },
	{ "late_max_ns", CONFIG_REAL, .offset = AT(late_max_ns), .min = 0, .max = 60 * S },
	{ 0 },
};

static const struct world_sender sender_defaults = {
	.id = 1,
	.period_ns = 1000000000,
	.first_number = 1,
	.heard_by = "*",
};

static const struct config_shape sender = { .what = "a sender of beacons",
					    .key = sender_keys,
					    .size = sizeof(sender_defaults),
					    .defaults = &sender_defaults };

#undef AT
#define AT(field) offsetof(struct world_pulse, field)

static const struct config_key pulse_keys[] = {
	{ "line", CONFIG_CHARS, .offset = AT(line), IDENT, .must = true },
	{ "clocks", CONFIG_CHARS, .offset = AT(clocks), GLOB },
	{ "period", CONFIG_TIME, .offset = AT(period_ns), .min = 1e6, .max = DAYS_31 },
	{ "width", CONFIG_TIME, .offset = AT(width_ns), .min = 1, .max = DAYS_31 },
	{ "jitter", CONFIG_MAP, .offset = AT(jitter), .shape = &jitter },
	{ "reference", CONFIG_MAP, .offset = AT(reference), .shape = &reference },
	{ "missed", CONFIG_REAL, .offset = AT(missed), SHARE },
	{ "extra", CONFIG_REAL, .offset = AT(extra), SHARE },
	{ 0 },
};

static const struct world_pulse pulse_defaults = {
	.clocks = "*",
	.period_ns = 1000000000,
	.width_ns = 100000000,
	.reference.burst_factor = 1,
};

static const struct config_shape pulse = { .what = "pulses",
					   .key = pulse_keys,
					   .size = sizeof(pulse_defaults),
					   .defaults = &pulse_defaults };

#undef AT
#define AT(field) offsetof(struct world_message, field)

static const struct config_key message_keys[] = {
	{ "from", CONFIG_CHARS, .offset = AT(from), GLOB },
	{ "to", CONFIG_CHARS, .offset = AT(to), GLOB },
	{ "per_second", CONFIG_REAL, .offset = AT(per_second), .min = 1e-6, .max = 1e6,
	  .must = true },
	{ "latency_min_ns", CONFIG_REAL, .offset = AT(latency_min_ns), .min = 0, .max = 60 * S },
	{ "latency_exp_ns", CONFIG_REAL, .offset = AT(latency_exp_ns), .min = 0, .max = 60 * S },
	{ "back_factor", CONFIG_REAL, .offset = AT(back_factor), .min = 0, .max = 1000 },
	{ "tail", CONFIG_REAL, .offset = AT(tail), SHARE },
	{ "tail_ns", CONFIG_REAL, .offset = AT(tail_ns), .min = 0, .max = 60 * S },
	{ "lost", CONFIG_REAL, .offset = AT(lost), SHARE },
	{ 0 },
};

static const struct world_message message_defaults = { .from = "*", .to = "*", .back_factor = 1 };

static const struct config_shape message = { .what = "messages",
					     .key = message_keys,
					     .size = sizeof(message_defaults),
					     .defaults = &message_defaults };

#undef AT
#define AT(field) offsetof(struct world_program, field)

static const char *const program_kinds[] = { "tdma", "glossy", "idle", NULL };

static const struct config_key program_keys[] = {
	{ "kind", CONFIG_WORD, .offset = AT(kind), .words = program_kinds, .must = true },
	{ "clocks", CONFIG_CHARS, .offset = AT(clocks), GLOB },
	{ "period", CONFIG_TIME, .offset = AT(period_ns), .min = 1e6, .max = DAYS_31 },
	{ 0 },
};

static const struct world_program program_defaults = { .clocks = "*", .period_ns = 1000000000 };

static const struct config_shape program = { .what = "a program",
					     .key = program_keys,
					     .size = sizeof(program_defaults),
					     .defaults = &program_defaults };

#undef AT
#define AT(field) offsetof(struct world_fault, field)

static const char *const fault_kinds[] = {
	[WORLD_OUTAGE] = "outage",
	[WORLD_LOSS] = "loss",
	[WORLD_PHASE_STEP] = "phase_step",
	[WORLD_RATE_STEP] = "rate_step",
	[WORLD_BIAS] = "bias",
	[WORLD_NUMBER_JUMP] = "number_jump",
	[WORLD_SENDER_STEP] = "sender_step",
	[WORLD_FREEZE] = "freeze",
	[WORLD_NO_RECORDS] = "no_records",
	[WORLD_SLIP] = "slip",
	[WORLD_FAULTS] = NULL,
};

static const struct config_key fault_keys[] = {
	{ "kind", CONFIG_WORD, .offset = AT(kind), .words = fault_kinds, .must = true },
	{ "who", CONFIG_CHARS, .offset = AT(who), GLOB },
	{ "at", CONFIG_TIME, .offset = AT(at_ns), .min = 0, .max = DAYS_31 },
	{ "for", CONFIG_TIME, .offset = AT(for_ns), .min = 0, .max = DAYS_31 },
	{ "amount", CONFIG_REAL, .offset = AT(amount), .min = -1e12, .max = 1e12 },
	{ 0 },
};

static const struct world_fault fault_defaults = { .who = "*" };

static const struct config_shape fault = { .what = "a fault",
					   .key = fault_keys,
					   .size = sizeof(fault_defaults),
					   .defaults = &fault_defaults };

/* ---- the world ---- */

#undef AT
#define AT(field) offsetof(struct world, field)

static const struct config_key world_keys[] = {
	{ "name", CONFIG_CHARS, .offset = AT(name), LINE },
	{ "seed", CONFIG_U64, .offset = AT(seed), .min = 0, .max = 0x1p64 },
	{ "duration", CONFIG_TIME, .offset = AT(duration_ns), .min = 1e6, .max = DAYS_31 },
	/* 31 days in steps of 10 ms are 2^28 steps a clock: what can be waited for */
	{ "step", CONFIG_TIME, .offset = AT(step_ns), .min = 1e7, .max = 3600 * S,
	  .or_zero = true },
	{ "clocks", CONFIG_MAP, .offset = AT(clocks), MANY, .must = true, .shape = &clocks,
	  .length = AT(n_clocks) },
	{ "beacons", CONFIG_MAP, .offset = AT(sender), MANY, .shape = &sender,
	  .length = AT(n_senders) },
	{ "pulses", CONFIG_MAP, .offset = AT(pulse), MANY, .shape = &pulse,
	  .length = AT(n_pulses) },
	{ "messages", CONFIG_MAP, .offset = AT(message), MANY, .shape = &message,
	  .length = AT(n_messages) },
	{ "programs", CONFIG_MAP, .offset = AT(program), MANY, .shape = &program,
	  .length = AT(n_programs) },
	{ "faults", CONFIG_MAP, .offset = AT(fault), MANY, .shape = &fault,
	  .length = AT(n_faults) },
	{ 0 },
};

static int check_read(struct config *c, void *to)
{
	struct config_flaw flaw;

	if (!world_find_flaw(to, &flaw))
		return 0;
	return flaw.field ? config_fail(c, flaw.field, CVL_E_SYNTAX, "%s", flaw.text) :
			    config_fail_in(c, flaw.entry, CVL_E_SYNTAX, "%s", flaw.text);
}

static const struct world world_defaults = {
	.name = "world",
	.seed = 1,
	.duration_ns = 3600000000000,
	.step_ns = 1000000000,
};

const struct config_shape world_shape = {
	.what = "a world",
	.key = world_keys,
	.size = sizeof(world_defaults),
	.defaults = &world_defaults,
	.end = check_read,
};

static const struct config_key root = { .type = CONFIG_MAP, .shape = &world_shape };

int world_parse(struct world *w, const char *text, size_t len, const char *name,
		struct cvl_error *err)
{
	const struct config_source source = { .file = name, .root = &root, .to = w };

	return config_parse(&source, text, len, err);
}

int world_load(struct world *w, const char *path, struct cvl_error *err)
{
	const struct config_source source = { .file = path, .root = &root, .to = w };

	return config_load(&source, err);
}
