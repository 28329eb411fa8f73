/* SPDX-License-Identifier: MIT */
#include "sim/world_keys.h"

#include <stdio.h>
#include <string.h>

#define S 1e9             /* ns */
#define DAYS_31 2678400e9 /* ns */
#define SHARE .min = 0, .max = 1

/* ---- parts ---- */

#define AT(field) offsetof(struct world_oscillator, field)

static const struct world_key oscillator_keys[] = {
	{ "offset_ppm", WORLD_KEY_REAL, .offset = AT(offset_ppm), .min = -100000, .max = 100000 },
	{ "offset_sd_ppm", WORLD_KEY_REAL, .offset = AT(offset_sd_ppm), .min = 0, .max = 20000 },
	{ "white_ppb", WORLD_KEY_REAL, .offset = AT(white_ppb), .min = 0, .max = 1000000 },
	{ "walk_ppb", WORLD_KEY_REAL, .offset = AT(walk_ppb), .min = 0, .max = 10000 },
	{ "ageing_ppb_day", WORLD_KEY_REAL, .offset = AT(ageing_ppb_day), .min = -1000000,
	  .max = 1000000 },
	{ "sine_ppm", WORLD_KEY_REAL, .offset = AT(sine_ppm), .min = 0, .max = 10000 },
	{ "sine_period", WORLD_KEY_TIME, .offset = AT(sine_period_ns), .min = S, .max = DAYS_31,
	  .or_zero = true },
	{ "rate_steps", WORLD_KEY_UNSIGNED, .offset = AT(rate_steps), .min = 0, .max = 1000 },
	{ "rate_step_ppm", WORLD_KEY_REAL, .offset = AT(rate_step_ppm), .min = 0, .max = 10000 },
	{ 0 },
};

static const struct world_shape oscillator = { "an oscillator", oscillator_keys, NULL, 0 };

#undef AT
#define AT(field) offsetof(struct world_jitter, field)

static const struct world_key jitter_keys[] = {
	{ "normal_ns", WORLD_KEY_REAL, .offset = AT(normal_ns), .min = 0, .max = 1e8 },
	{ "uniform_ns", WORLD_KEY_REAL, .offset = AT(uniform_ns), .min = 0, .max = 1e8 },
	{ "exp_ns", WORLD_KEY_REAL, .offset = AT(exp_ns), .min = 0, .max = 1e8 },
	{ "correlation", WORLD_KEY_REAL, .offset = AT(correlation), .min = 0, .max = 0.9999 },
	{ "bias_sd_ns", WORLD_KEY_REAL, .offset = AT(bias_sd_ns), .min = 0, .max = 1e8 },
	{ "outliers", WORLD_KEY_REAL, .offset = AT(outliers), SHARE },
	{ "outlier_min_ns", WORLD_KEY_REAL, .offset = AT(outlier_min_ns), .min = 0, .max = 1e9 },
	{ "outlier_max_ns", WORLD_KEY_REAL, .offset = AT(outlier_max_ns), .min = 0, .max = 1e9 },
	{ "outliers_late", WORLD_KEY_REAL, .offset = AT(outliers_late), SHARE },
	{ 0 },
};

static const struct world_shape jitter = { "jitter", jitter_keys, NULL, 0 };

#undef AT
#define AT(field) offsetof(struct world_reference, field)

static const struct world_key reference_keys[] = {
	{ "wander_ns", WORLD_KEY_REAL, .offset = AT(wander_ns), .min = 0, .max = 1e8 },
	{ "wander_time", WORLD_KEY_TIME, .offset = AT(wander_time_ns), .min = 1e8, .max = DAYS_31,
	  .or_zero = true },
	{ "rough", WORLD_KEY_BOOL, .offset = AT(rough) },
	{ "kicks_every", WORLD_KEY_TIME, .offset = AT(kicks_every_ns), .min = 1e8, .max = DAYS_31,
	  .or_zero = true },
	{ "kick_ns", WORLD_KEY_REAL, .offset = AT(kick_ns), .min = 0, .max = 1e6 },
	{ "kick_spread", WORLD_KEY_REAL, .offset = AT(kick_spread), .min = 0, .max = 2 },
	{ "bursts_every", WORLD_KEY_TIME, .offset = AT(bursts_every_ns), .min = 1e8, .max = DAYS_31,
	  .or_zero = true },
	{ "burst", WORLD_KEY_TIME, .offset = AT(burst_ns), .min = 0, .max = DAYS_31 },
	{ "burst_factor", WORLD_KEY_REAL, .offset = AT(burst_factor), .min = 0, .max = 100 },
	{ 0 },
};

static const struct world_shape reference = { "a reference", reference_keys, NULL, 0 };

/* ---- entries of the lists ---- */

#undef AT
#define AT(field) offsetof(struct world_clocks, field)

static const struct world_key clocks_keys[] = {
	{ "name", WORLD_KEY_IDENT, .offset = AT(name), .must = true },
	{ "count", WORLD_KEY_UNSIGNED, .offset = AT(count), .min = 1, .max = WORLD_CLOCKS_MAX },
	{ "rate", WORLD_KEY_RATE, .offset = AT(rate_hz), .min = 1, .max = 1e10 },
	{ "resolution", WORLD_KEY_U64, .offset = AT(resolution), .min = 1, .max = 1e10 },
	{ "bits", WORLD_KEY_UNSIGNED, .offset = AT(bits), .min = 8, .max = 64 },
	{ "start", WORLD_KEY_TIME, .offset = AT(start_ns), .min = 0, .max = DAYS_31 },
	{ "oscillator", WORLD_KEY_MAP, .offset = AT(oscillator), .shape = &oscillator },
	{ "distance_m", WORLD_KEY_REAL, .offset = AT(distance_m), .min = 0, .max = 100000 },
	{ 0 },
};

static const struct world_clocks clocks_defaults = {
	.count = 1,
	.rate_hz = 8000000,
	.resolution = 1,
	.bits = 64,
};

static const struct world_shape clocks = { "a group of clocks", clocks_keys, &clocks_defaults,
					   sizeof(clocks_defaults) };

#undef AT
#define AT(field) offsetof(struct world_sender, field)

static const struct world_key sender_keys[] = {
	{ "id", WORLD_KEY_UNSIGNED, .offset = AT(id), .min = 0, .max = UINT32_MAX },
	{ "period", WORLD_KEY_TIME, .offset = AT(period_ns), .min = 1e6, .max = DAYS_31 },
	{ "first_number", WORLD_KEY_U64, .offset = AT(first_number), .min = 0, .max = 0x1p62 },
	{ "heard_by", WORLD_KEY_GLOB, .offset = AT(heard_by) },
	{ "oscillator", WORLD_KEY_MAP, .offset = AT(oscillator), .shape = &oscillator },
	{ "jitter_ns", WORLD_KEY_REAL, .offset = AT(jitter_ns), .min = 0, .max = 1e8 },
	{ "disciplined", WORLD_KEY_BOOL, .offset = AT(disciplined) },
	{ "gps_ns", WORLD_KEY_REAL, .offset = AT(gps_ns), .min = 0, .max = 1e8 },
	{ "receiver", WORLD_KEY_MAP, .offset = AT(receiver), .shape = &jitter },
	{ "missed", WORLD_KEY_REAL, .offset = AT(missed), SHARE },
	{ "duplicated", WORLD_KEY_REAL, .offset = AT(duplicated), SHARE },
	{ "late", WORLD_KEY_REAL, .offset = AT(late), SHARE },
	{ "misnumbered", WORLD_KEY_REAL, .offset = AT(misnumbered), SHARE },
	{ "late_min_ns", WORLD_KEY_REAL, .offset = AT(late_min_ns), .min = 0, .max = 60 * S },
	{ "late_max_ns", WORLD_KEY_REAL, .offset = AT(late_max_ns), .min = 0, .max = 60 * S },
	{ 0 },
};

static const struct world_sender sender_defaults = {
	.id = 1,
	.period_ns = 1000000000,
	.first_number = 1,
	.heard_by = "*",
};

static const struct world_shape sender = { "a sender of beacons", sender_keys, &sender_defaults,
					   sizeof(sender_defaults) };

#undef AT
#define AT(field) offsetof(struct world_pulse, field)

static const struct world_key pulse_keys[] = {
	{ "line", WORLD_KEY_IDENT, .offset = AT(line), .must = true },
	{ "clocks", WORLD_KEY_GLOB, .offset = AT(clocks) },
	{ "period", WORLD_KEY_TIME, .offset = AT(period_ns), .min = 1e6, .max = DAYS_31 },
	{ "width", WORLD_KEY_TIME, .offset = AT(width_ns), .min = 1, .max = DAYS_31 },
	{ "jitter", WORLD_KEY_MAP, .offset = AT(jitter), .shape = &jitter },
	{ "reference", WORLD_KEY_MAP, .offset = AT(reference), .shape = &reference },
	{ "missed", WORLD_KEY_REAL, .offset = AT(missed), SHARE },
	{ "extra", WORLD_KEY_REAL, .offset = AT(extra), SHARE },
	{ 0 },
};

static const struct world_pulse pulse_defaults = {
	.clocks = "*",
	.period_ns = 1000000000,
	.width_ns = 100000000,
	.reference.burst_factor = 1,
};

static const struct world_shape pulse = { "pulses", pulse_keys, &pulse_defaults,
					  sizeof(pulse_defaults) };

#undef AT
#define AT(field) offsetof(struct world_message, field)

static const struct world_key message_keys[] = {
	{ "from", WORLD_KEY_GLOB, .offset = AT(from) },
	{ "to", WORLD_KEY_GLOB, .offset = AT(to) },
	{ "per_second", WORLD_KEY_REAL, .offset = AT(per_second), .min = 1e-6, .max = 1e6,
	  .must = true },
	{ "latency_min_ns", WORLD_KEY_REAL, .offset = AT(latency_min_ns), .min = 0, .max = 60 * S },
	{ "latency_exp_ns", WORLD_KEY_REAL, .offset = AT(latency_exp_ns), .min = 0, .max = 60 * S },
	{ "back_factor", WORLD_KEY_REAL, .offset = AT(back_factor), .min = 0, .max = 1000 },
	{ "tail", WORLD_KEY_REAL, .offset = AT(tail), SHARE },
	{ "tail_ns", WORLD_KEY_REAL, .offset = AT(tail_ns), .min = 0, .max = 60 * S },
	{ "lost", WORLD_KEY_REAL, .offset = AT(lost), SHARE },
	{ 0 },
};

static const struct world_message message_defaults = { .from = "*", .to = "*", .back_factor = 1 };

static const struct world_shape message = { "messages", message_keys, &message_defaults,
					    sizeof(message_defaults) };

#undef AT
#define AT(field) offsetof(struct world_program, field)

static const char *const program_kinds[] = { "tdma", "glossy", "idle", NULL };

static const struct world_key program_keys[] = {
	{ "kind", WORLD_KEY_WORD, .offset = AT(kind), .words = program_kinds, .must = true },
	{ "clocks", WORLD_KEY_GLOB, .offset = AT(clocks) },
	{ "period", WORLD_KEY_TIME, .offset = AT(period_ns), .min = 1e6, .max = DAYS_31 },
	{ 0 },
};

static const struct world_program program_defaults = { .clocks = "*", .period_ns = 1000000000 };

static const struct world_shape program = { "a program", program_keys, &program_defaults,
					    sizeof(program_defaults) };

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

static const struct world_key fault_keys[] = {
	{ "kind", WORLD_KEY_WORD, .offset = AT(kind), .words = fault_kinds, .must = true },
	{ "who", WORLD_KEY_GLOB, .offset = AT(who) },
	{ "at", WORLD_KEY_TIME, .offset = AT(at_ns), .min = 0, .max = DAYS_31 },
	{ "for", WORLD_KEY_TIME, .offset = AT(for_ns), .min = 0, .max = DAYS_31 },
	{ "amount", WORLD_KEY_REAL, .offset = AT(amount), .min = -1e12, .max = 1e12 },
	{ 0 },
};

static const struct world_fault fault_defaults = { .who = "*" };

static const struct world_shape fault = { "a fault", fault_keys, &fault_defaults,
					  sizeof(fault_defaults) };

/* ---- the world ---- */

#undef AT
#define AT(field) offsetof(struct world, field)

static const struct world_key world_keys[] = {
	{ "name", WORLD_KEY_TEXT, .offset = AT(name) },
	{ "seed", WORLD_KEY_U64, .offset = AT(seed), .min = 0, .max = 0x1p64 },
	{ "duration", WORLD_KEY_TIME, .offset = AT(duration_ns), .min = 1e6, .max = DAYS_31 },
	/* 31 days in steps of 10 ms are 2^28 steps a clock: what can be waited for */
	{ "step", WORLD_KEY_TIME, .offset = AT(step_ns), .min = 1e7, .max = 3600 * S,
	  .or_zero = true },
	{ "clocks", WORLD_KEY_LIST, .offset = AT(clocks), .must = true, .shape = &clocks,
	  .length = AT(n_clocks) },
	{ "beacons", WORLD_KEY_LIST, .offset = AT(sender), .shape = &sender,
	  .length = AT(n_senders) },
	{ "pulses", WORLD_KEY_LIST, .offset = AT(pulse), .shape = &pulse, .length = AT(n_pulses) },
	{ "messages", WORLD_KEY_LIST, .offset = AT(message), .shape = &message,
	  .length = AT(n_messages) },
	{ "programs", WORLD_KEY_LIST, .offset = AT(program), .shape = &program,
	  .length = AT(n_programs) },
	{ "faults", WORLD_KEY_LIST, .offset = AT(fault), .shape = &fault, .length = AT(n_faults) },
	{ 0 },
};

static const struct world world_defaults = {
	.name = "world",
	.seed = 1,
	.duration_ns = 3600000000000,
	.step_ns = 1000000000,
};

const struct world_shape world_shape = { "a world", world_keys, &world_defaults,
					 sizeof(world_defaults) };

/* ---- saying what is allowed ---- */

/* In the largest unit that makes it a whole number. */
static void time_text(char text[32], double ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = { { 3600000000000, "h" }, { 60000000000, "m" }, { 1000000000, "s" },
		      { 1000000, "ms" },      { 1000, "us" },       { 1, "ns" } };
	int64_t v = (int64_t)ns;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (v && v % units[i].ns == 0) {
			snprintf(text, 32, "%lld%s", (long long)(v / units[i].ns), units[i].name);
			return;
		}
	snprintf(text, 32, "0s");
}

/* "a, b, c" */
static void words_text(char *text, size_t size, const char *const *words, size_t stride)
{
	size_t n = 0;

	*text = '\0';
	for (const char *const *w = words; *w && n < size;
	     w = (const char *const *)(const void *)((const char *)w + stride))
		n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", *w);
}

void world_shape_says(const struct world_shape *shape, char text[WORLD_SAYS])
{
	int n = snprintf(text, WORLD_SAYS, "%s has ", shape->what);

	words_text(text + n, WORLD_SAYS - (size_t)n, &shape->key->name, sizeof(*shape->key));
}

void world_key_says(const struct world_key *key, char text[WORLD_SAYS])
{
	const char *zero = key->or_zero ? "0 or " : "";
	char from[32], to[32], words[200];

	switch (key->type) {
	case WORLD_KEY_TEXT:
		snprintf(text, WORLD_SAYS,
			 "`%s` must be text of up to %d bytes without control characters",
			 key->name, WORLD_NAME - 1);
		return;
	case WORLD_KEY_IDENT:
		snprintf(
			text, WORLD_SAYS,
			"`%s` must be 1 to %d letters, digits, '_', '-' or '.', and not begin with '-' or '.'",
			key->name, WORLD_NAME - 1);
		return;
	case WORLD_KEY_GLOB:
		snprintf(text, WORLD_SAYS,
			 "`%s` must be a glob of 1 to %d bytes, such as '*' or node1", key->name,
			 WORLD_NAME - 1);
		return;
	case WORLD_KEY_TIME:
		time_text(from, key->min);
		time_text(to, key->max);
		snprintf(text, WORLD_SAYS, "`%s` must be %sa time from %s to %s, such as 250ms",
			 key->name, zero, from, to);
		return;
	case WORLD_KEY_RATE:
		snprintf(text, WORLD_SAYS,
			 "`%s` must be a rate from %g Hz to %g GHz, such as 8 MHz", key->name,
			 key->min, key->max / 1e9);
		return;
	case WORLD_KEY_U64:
	case WORLD_KEY_UNSIGNED:
		if (key->max >= 0x1p64)
			snprintf(text, WORLD_SAYS, "`%s` must be a whole number below 2^64",
				 key->name);
		else
			snprintf(text, WORLD_SAYS, "`%s` must be a whole number from %.0f to %.0f",
				 key->name, key->min, key->max);
		return;
	case WORLD_KEY_REAL:
		snprintf(text, WORLD_SAYS, "`%s` must be a number from %.10g to %.10g", key->name,
			 key->min, key->max);
		return;
	case WORLD_KEY_BOOL:
		snprintf(text, WORLD_SAYS, "`%s` must be true or false", key->name);
		return;
	case WORLD_KEY_WORD:
		words_text(words, sizeof(words), key->words, sizeof(*key->words));
		snprintf(text, WORLD_SAYS, "`%s` must be one of %s", key->name, words);
		return;
	case WORLD_KEY_MAP:
		snprintf(text, WORLD_SAYS, "`%s` must be a mapping, such as { %s: 1 }", key->name,
			 key->shape->key->name);
		return;
	case WORLD_KEY_LIST:
		snprintf(text, WORLD_SAYS, "`%s` must be a list of up to %d entries", key->name,
			 WORLD_LIST);
		return;
	}
}

size_t world_member_name(const struct world_clocks *group, unsigned k, char text[WORLD_MEMBER])
{
	int n = group->count == 1 ? snprintf(text, WORLD_MEMBER, "%s", group->name) :
				    snprintf(text, WORLD_MEMBER, "%s%u", group->name, k);

	return (size_t)n;
}
