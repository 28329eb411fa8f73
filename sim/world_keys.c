/* SPDX-License-Identifier: MIT */
#include "sim/world_keys.h"

#include <ctype.h>
#include <string.h>

#define S 1e9             /* ns */
#define DAYS_31 2678400e9 /* ns */

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

/* Keys named like their fields, but for the unit. AT() is the offset in the struct at hand. */
#define NUMBER(kind, field, low, high, ...)                                                 \
	{                                                                                   \
		.name = #field, .type = kind, .offset = AT(field), .min = low, .max = high, \
		__VA_ARGS__                                                                 \
	}
#define REAL(...) NUMBER(CONFIG_REAL, __VA_ARGS__)
#define SHARE(field) REAL(field, 0, 1)
#define UNSIGNED(...) NUMBER(CONFIG_UNSIGNED, __VA_ARGS__)
#define TIME(field, low, high, ...)                                                        \
	{                                                                                  \
		.name = #field, .type = CONFIG_TIME, .offset = AT(field##_ns), .min = low, \
		.max = high, __VA_ARGS__                                                   \
	}
#define PART(field, of)                                                               \
	{                                                                             \
		.name = #field, .type = CONFIG_MAP, .offset = AT(field), .shape = &of \
	}
#define LIST(key, field, count, ...)                                                       \
	{                                                                                  \
		.name = key, .type = CONFIG_MAP, .offset = AT(field), .length = AT(count), \
		.many = CONFIG_LIST, .most = WORLD_LIST, .inside = true, .shape = &field,  \
		__VA_ARGS__                                                                \
	}
#define SHAPE(called, keys, ...)                         \
	{                                                \
		.what = called, .key = keys, __VA_ARGS__ \
	}

/* ---- parts ---- */

#define AT(field) offsetof(struct world_oscillator, field)

static const struct config_key oscillator_keys[] = {
	REAL(offset_ppm, -100000, 100000),
	REAL(offset_sd_ppm, 0, 20000),
	REAL(white_ppb, 0, 1000000),
	REAL(walk_ppb, 0, 10000),
	REAL(ageing_ppb_day, -1000000, 1000000),
	REAL(sine_ppm, 0, 10000),
	TIME(sine_period, S, DAYS_31, .or_zero = true),
	UNSIGNED(rate_steps, 0, 1000),
	REAL(rate_step_ppm, 0, 10000),
	{ 0 },
};

static const struct config_shape oscillator =
	SHAPE("an oscillator", oscillator_keys, .size = sizeof(struct world_oscillator));

#undef AT
#define AT(field) offsetof(struct world_jitter, field)

static const struct config_key jitter_keys[] = {
	REAL(normal_ns, 0, 1e8),      REAL(uniform_ns, 0, 1e8),
	REAL(exp_ns, 0, 1e8),         REAL(correlation, 0, 0.9999),
	REAL(bias_sd_ns, 0, 1e8),     SHARE(outliers),
	REAL(outlier_min_ns, 0, 1e9), REAL(outlier_max_ns, 0, 1e9),
	SHARE(outliers_late),         { 0 },
};

static const struct config_shape jitter =
	SHAPE("jitter", jitter_keys, .size = sizeof(struct world_jitter));

#undef AT
#define AT(field) offsetof(struct world_reference, field)

static const struct config_key reference_keys[] = {
	REAL(wander_ns, 0, 1e8),
	TIME(wander_time, 1e8, DAYS_31, .or_zero = true),
	{ "rough", CONFIG_BOOL, .offset = AT(rough) },
	TIME(kicks_every, 1e8, DAYS_31, .or_zero = true),
	REAL(kick_ns, 0, 1e6),
	REAL(kick_spread, 0, 2),
	TIME(bursts_every, 1e8, DAYS_31, .or_zero = true),
	TIME(burst, 0, DAYS_31),
	REAL(burst_factor, 0, 100),
	{ 0 },
};

static const struct config_shape reference =
	SHAPE("a reference", reference_keys, .size = sizeof(struct world_reference));

/* ---- entries of the lists ---- */

#undef AT
#define AT(field) offsetof(struct world_clocks, field)

static const struct config_key clocks_keys[] = {
	{ "name", CONFIG_CHARS, .offset = AT(name), IDENT, .must = true },
	UNSIGNED(count, 1, WORLD_CLOCKS_MAX),
	{ "rate", CONFIG_RATE, .offset = AT(rate_hz), .min = 1, .max = 1e10 },
	{ "resolution", CONFIG_U64, .offset = AT(resolution), .min = 1, .max = 1e10 },
	UNSIGNED(bits, 8, 64),
	TIME(start, 0, DAYS_31),
	PART(oscillator, oscillator),
	REAL(distance_m, 0, 100000),
	TIME(disorder, 0, 10 * S),
	{ 0 },
};

static const struct world_clocks clocks_defaults = {
	.count = 1,
	.rate_hz = 8000000,
	.resolution = 1,
	.bits = 64,
};

static const struct config_shape clocks =
	SHAPE("a group of clocks", clocks_keys, .size = sizeof(clocks_defaults),
	      .defaults = &clocks_defaults);

#undef AT
#define AT(field) offsetof(struct world_sender, field)

static const struct config_key sender_keys[] = {
	UNSIGNED(id, 0, UINT32_MAX),
	TIME(period, 1e6, DAYS_31),
	{ "first_number", CONFIG_U64, .offset = AT(first_number), .min = 0, .max = 0x1p62 },
	{ "heard_by", CONFIG_CHARS, .offset = AT(heard_by), GLOB },
	PART(oscillator, oscillator),
	REAL(jitter_ns, 0, 1e8),
	{ "disciplined", CONFIG_BOOL, .offset = AT(disciplined) },
	REAL(gps_ns, 0, 1e8),
	PART(receiver, jitter),
	SHARE(missed),
	SHARE(duplicated),
	SHARE(late),
	SHARE(misnumbered),
	REAL(late_min_ns, 0, 60 * S),
	REAL(late_max_ns, 0, 60 * S),
	{ 0 },
};

static const struct world_sender sender_defaults = {
	.id = 1,
	.period_ns = 1000000000,
	.first_number = 1,
	.heard_by = "*",
};

static const struct config_shape sender =
	SHAPE("a sender of beacons", sender_keys, .size = sizeof(sender_defaults),
	      .defaults = &sender_defaults);

#undef AT
#define AT(field) offsetof(struct world_pulse, field)

static const struct config_key pulse_keys[] = {
	{ "line", CONFIG_CHARS, .offset = AT(line), IDENT, .must = true },
	{ "clocks", CONFIG_CHARS, .offset = AT(clocks), GLOB },
	TIME(period, 1e6, DAYS_31),
	TIME(width, 1, DAYS_31),
	PART(jitter, jitter),
	PART(reference, reference),
	SHARE(missed),
	SHARE(extra),
	{ 0 },
};

static const struct world_pulse pulse_defaults = {
	.clocks = "*",
	.period_ns = 1000000000,
	.width_ns = 100000000,
	.reference.burst_factor = 1,
};

static const struct config_shape pulse =
	SHAPE("pulses", pulse_keys, .size = sizeof(pulse_defaults), .defaults = &pulse_defaults);

#undef AT
#define AT(field) offsetof(struct world_message, field)

static const struct config_key message_keys[] = {
	{ "from", CONFIG_CHARS, .offset = AT(from), GLOB },
	{ "to", CONFIG_CHARS, .offset = AT(to), GLOB },
	REAL(per_second, 1e-6, 1e6, .must = true),
	REAL(latency_min_ns, 0, 60 * S),
	REAL(latency_exp_ns, 0, 60 * S),
	REAL(back_factor, 0, 1000),
	SHARE(tail),
	REAL(tail_ns, 0, 60 * S),
	SHARE(lost),
	{ 0 },
};

static const struct world_message message_defaults = { .from = "*", .to = "*", .back_factor = 1 };

static const struct config_shape message = SHAPE(
	"messages", message_keys, .size = sizeof(message_defaults), .defaults = &message_defaults);

#undef AT
#define AT(field) offsetof(struct world_program, field)

static const char *const program_kinds[] = { "tdma", "glossy", "idle", NULL };

static const struct config_key program_keys[] = {
	{ "kind", CONFIG_WORD, .offset = AT(kind), .words = program_kinds, .must = true },
	{ "clocks", CONFIG_CHARS, .offset = AT(clocks), GLOB },
	TIME(period, 1e6, DAYS_31),
	{ 0 },
};

static const struct world_program program_defaults = { .clocks = "*", .period_ns = 1000000000 };

static const struct config_shape program = SHAPE(
	"a program", program_keys, .size = sizeof(program_defaults), .defaults = &program_defaults);

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
	[WORLD_RESET] = "reset",
	[WORLD_FAULTS] = NULL,
};

static const struct config_key fault_keys[] = {
	{ "kind", CONFIG_WORD, .offset = AT(kind), .words = fault_kinds, .must = true },
	{ "who", CONFIG_CHARS, .offset = AT(who), GLOB },
	TIME(at, 0, DAYS_31),
	TIME(for, 0, DAYS_31),
	REAL(amount, -1e12, 1e12),
	{ 0 },
};

static const struct world_fault fault_defaults = { .who = "*" };

static const struct config_shape fault =
	SHAPE("a fault", fault_keys, .size = sizeof(fault_defaults), .defaults = &fault_defaults);

/* ---- the world ---- */

#undef AT
#define AT(field) offsetof(struct world, field)

static const struct config_key world_keys[] = {
	{ "name", CONFIG_CHARS, .offset = AT(name), LINE },
	{ "seed", CONFIG_U64, .offset = AT(seed), .min = 0, .max = 0x1p64 },
	TIME(duration, 1e6, DAYS_31),
	/* 31 days in steps of 10 ms are 2^28 steps a clock: what can be waited for */
	TIME(step, 1e7, 3600 * S, .or_zero = true),
	LIST("clocks", clocks, n_clocks, .must = true),
	LIST("beacons", sender, n_senders),
	LIST("pulses", pulse, n_pulses),
	LIST("messages", message, n_messages),
	LIST("programs", program, n_programs),
	LIST("faults", fault, n_faults),
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
