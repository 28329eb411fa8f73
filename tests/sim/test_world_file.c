/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../sim/world.h"
#include "test_draw.h"

#define CLOCKS "clocks: [{ name: a }]\n"

static void parse(struct world *w, const char *text)
{
	struct cvl_error err;

	if (world_parse(w, text, strlen(text), "file", &err))
		fail_msg("%s", err.text);
}

static void what_is_left_out_has_its_default(void **state)
{
	struct world w;

	(void)state;
	parse(&w, "clocks: [{ name: a }]\nbeacons: [{}]\npulses: [{ line: PPS }]\n"
		  "messages: [{ per_second: 1 }]\nprograms: [{ kind: idle }]\n"
		  "faults: [{ kind: outage }]\n");
	assert_string_equal(w.name, "world");
	assert_true(w.seed == 1);
	assert_true(w.duration_ns == 3600000000000);
	assert_true(w.step_ns == 1000000000);
	assert_int_equal(w.n_clocks, 1);
	assert_int_equal(w.clocks[0].count, 1);
	assert_true(w.clocks[0].rate_hz == 8000000);
	assert_true(w.clocks[0].resolution == 1);
	assert_int_equal(w.clocks[0].bits, 64);
	assert_true(w.clocks[0].oscillator.offset_ppm == 0);
	assert_int_equal(w.n_senders, 1);
	assert_int_equal(w.sender[0].id, 1);
	assert_true(w.sender[0].period_ns == 1000000000);
	assert_true(w.sender[0].first_number == 1);
	assert_string_equal(w.sender[0].heard_by, "*");
	assert_false(w.sender[0].disciplined);
	assert_int_equal(w.n_pulses, 1);
	assert_string_equal(w.pulse[0].clocks, "*");
	assert_true(w.pulse[0].period_ns == 1000000000);
	assert_true(w.pulse[0].width_ns == 100000000);
	assert_int_equal(w.n_messages, 1);
	assert_string_equal(w.message[0].from, "*");
	assert_string_equal(w.message[0].to, "*");
	assert_true(w.message[0].back_factor == 1);
	assert_int_equal(w.n_programs, 1);
	assert_string_equal(w.program[0].clocks, "*");
	assert_int_equal(w.n_faults, 1);
	assert_string_equal(w.fault[0].who, "*");
	assert_true(w.fault[0].at_ns == 0 && w.fault[0].for_ns == 0);
}

static void every_key_is_read_in_its_unit(void **state)
{
	struct world w;

	(void)state;
	parse(&w,
	      "name: all of it\nseed: 18446744073709551615\nduration: 20m\nstep: 10ms\n"
	      "clocks:\n"
	      "  - name: n\n    count: 3\n    rate: 32768\n    resolution: 2\n    bits: 16\n    start: 1.5\n"
	      "    distance_m: 12.5\n"
	      "    disorder: 0s\n"
	      "    oscillator: { offset_ppm: -20, offset_sd_ppm: 1, white_ppb: 2, walk_ppb: 3,\n"
	      "      ageing_ppb_day: -4, sine_ppm: 0.5, sine_period: 20m, rate_steps: 6,\n"
	      "      rate_step_ppm: 7e-1 }\n"
	      "  - { name: g, rate: 1.5 GHz }\n"
	      "beacons:\n"
	      "  - { id: 4294967295, period: 250ms, first_number: 4611686018427387904, heard_by: n*,\n"
	      "      oscillator: { offset_ppm: 8 }, jitter_ns: 1, disciplined: true, gps_ns: 2,\n"
	      "      receiver: { normal_ns: 3, uniform_ns: 4, exp_ns: 5, correlation: 0.9,\n"
	      "        bias_sd_ns: 6, outliers: 0.01, outlier_min_ns: 7, outlier_max_ns: 8,\n"
	      "        outliers_late: 0.8 },\n"
	      "      missed: 0.02, duplicated: 0.03, late: 0.04, misnumbered: 0.05,\n"
	      "      late_min_ns: 9, late_max_ns: 10 }\n"
	      "pulses:\n"
	      "  - { line: PPS, clocks: g, period: 2s, width: 10us, jitter: { normal_ns: 30 },\n"
	      "      missed: 0.1, extra: 1 }\n"
	      "messages:\n"
	      "  - { from: n1, to: n2, per_second: 0.5, latency_min_ns: 1e3, latency_exp_ns: 2000,\n"
	      "      back_factor: 1.5, tail: 0.1, tail_ns: 3000, lost: 0.2 }\n"
	      "programs: [{ kind: tdma, clocks: n*, period: 100ms }, { kind: glossy, clocks: g }]\n"
	      "faults:\n"
	      "  - { kind: outage, who: n1, at: 1m, for: 60s }\n"
	      "  - { kind: loss, amount: 0.5, for: 1s }\n"
	      "  - { kind: phase_step, amount: -1e6 }\n"
	      "  - { kind: rate_step, who: beacon *, amount: -2.5 }\n"
	      "  - { kind: bias, amount: 900 }\n"
	      "  - { kind: number_jump, who: 'beacon 4294967295', amount: -10 }\n"
	      "  - { kind: sender_step, amount: 5000 }\n"
	      "  - { kind: freeze, for: 1ms }\n"
	      "  - { kind: no_records, at: 19m }\n"
	      "  - { kind: slip, at: 18m, for: 2s, amount: 20e6 }\n"
	      "  - { kind: reset, at: 17m, for: 1s, amount: 5 }\n");
	assert_string_equal(w.name, "all of it");
	assert_true(w.seed == UINT64_MAX);
	assert_true(w.duration_ns == 1200000000000 && w.step_ns == 10000000);
	assert_int_equal(w.n_clocks, 2);
	assert_string_equal(w.clocks[0].name, "n");
	assert_int_equal(w.clocks[0].count, 3);
	assert_true(w.clocks[0].rate_hz == 32768 && w.clocks[1].rate_hz == 1500000000);
	assert_true(w.clocks[0].resolution == 2 && w.clocks[0].bits == 16);
	assert_true(w.clocks[0].start_ns == 1500000000);
	assert_true(w.clocks[0].distance_m == 12.5);
	assert_true(w.clocks[0].oscillator.offset_ppm == -20);
	assert_true(w.clocks[0].oscillator.offset_sd_ppm == 1);
	assert_true(w.clocks[0].oscillator.white_ppb == 2);
	assert_true(w.clocks[0].oscillator.walk_ppb == 3);
	assert_true(w.clocks[0].oscillator.ageing_ppb_day == -4);
	assert_true(w.clocks[0].oscillator.sine_ppm == 0.5);
	assert_true(w.clocks[0].oscillator.sine_period_ns == 1200000000000);
	assert_int_equal(w.clocks[0].oscillator.rate_steps, 6);
	assert_true(w.clocks[0].oscillator.rate_step_ppm == 0.7);
	assert_true(w.sender[0].id == UINT32_MAX);
	assert_true(w.sender[0].period_ns == 250000000);
	assert_true(w.sender[0].first_number == (uint64_t)1 << 62);
	assert_string_equal(w.sender[0].heard_by, "n*");
	assert_true(w.sender[0].oscillator.offset_ppm == 8);
	assert_true(w.sender[0].jitter_ns == 1 && w.sender[0].gps_ns == 2);
	assert_true(w.sender[0].disciplined);
	assert_true(w.sender[0].receiver.normal_ns == 3 && w.sender[0].receiver.uniform_ns == 4);
	assert_true(w.sender[0].receiver.exp_ns == 5 && w.sender[0].receiver.correlation == 0.9);
	assert_true(w.sender[0].receiver.bias_sd_ns == 6 && w.sender[0].receiver.outliers == 0.01);
	assert_true(w.sender[0].receiver.outlier_min_ns == 7);
	assert_true(w.sender[0].receiver.outlier_max_ns == 8);
	assert_true(w.sender[0].receiver.outliers_late == 0.8);
	assert_true(w.sender[0].missed == 0.02 && w.sender[0].duplicated == 0.03);
	assert_true(w.sender[0].late == 0.04 && w.sender[0].misnumbered == 0.05);
	assert_true(w.sender[0].late_min_ns == 9 && w.sender[0].late_max_ns == 10);
	assert_string_equal(w.pulse[0].line, "PPS");
	assert_string_equal(w.pulse[0].clocks, "g");
	assert_true(w.pulse[0].period_ns == 2000000000 && w.pulse[0].width_ns == 10000);
	assert_true(w.pulse[0].jitter.normal_ns == 30);
	assert_true(w.pulse[0].missed == 0.1 && w.pulse[0].extra == 1);
	assert_string_equal(w.message[0].from, "n1");
	assert_string_equal(w.message[0].to, "n2");
	assert_true(w.message[0].per_second == 0.5 && w.message[0].back_factor == 1.5);
	assert_true(w.message[0].latency_min_ns == 1000 && w.message[0].latency_exp_ns == 2000);
	assert_true(w.message[0].tail == 0.1 && w.message[0].tail_ns == 3000);
	assert_true(w.message[0].lost == 0.2);
	assert_int_equal(w.program[0].kind, WORLD_TDMA);
	assert_true(w.program[0].period_ns == 100000000);
	assert_int_equal(w.program[1].kind, WORLD_GLOSSY);
	assert_int_equal(w.n_faults, WORLD_FAULTS);
	for (unsigned i = 0; i < WORLD_FAULTS; i++)
		assert_int_equal(w.fault[i].kind, i);
	assert_string_equal(w.fault[3].who, "beacon *");
	assert_true(w.fault[0].at_ns == 60000000000 && w.fault[0].for_ns == 60000000000);
	assert_true(w.fault[2].amount == -1e6);
}

static void every_example_is_a_world(void **state)
{
	glob_t found;
	size_t n;

	(void)state;
	assert_int_equal(glob(COEVAL_SOURCE_DIR "/examples/worlds/*.yaml", 0, NULL, &found), 0);
	n = found.gl_pathc;
	for (size_t i = 0; i < n; i++) {
		const char *base = strrchr(found.gl_pathv[i], '/') + 1;
		struct cvl_error err;
		struct world w;

		if (world_load(&w, found.gl_pathv[i], &err))
			fail_msg("%s", err.text);
		/* each tells its own name */
		assert_int_equal(strncmp(base, w.name, strlen(w.name)), 0);
		assert_string_equal(base + strlen(w.name), ".yaml");
		assert_int_equal(world_check(&w, &err), 0);
	}
	globfree(&found);
	assert_true(n >= 11);
}

static void an_anchor_stands_for_what_it_names(void **state)
{
	struct world w;

	(void)state;
	parse(&w, "clocks:\n  - { name: a, oscillator: &o { offset_ppm: 5 } }\n"
		  "  - { name: b, oscillator: *o }\n");
	assert_true(w.clocks[1].oscillator.offset_ppm == 5);
}

/* All of them are syntax errors; the offset is where @at begins in the text, or NULL: libyaml's. */
static void bad_worlds_are_refused_with_their_place(void **state)
{
	static const struct {
		const char *name, *text, *at, *says;
	} cases[] = {
		{ "nothing", "", "", "expected a world" },
		{ "a comment alone", "# later\n", "", "expected a world" },
		{ "a word", "world\n", "world", "mapping" },
		{ "a list", "- name: x\n", "- name", "mapping" },
		{ "a second document", CLOCKS "---\n" CLOCKS, "---", "one document" },
		{ "an open bracket", "clocks: [{ name: a\n", NULL, NULL },
		{ "a tab", "clocks:\n\t- name: a\n", NULL, NULL },
		{ "no UTF-8", "name: \xff\xfe\n", "\xff", "UTF-8" },
		{ "no UTF-8 after a letter of two bytes", "# \xc3\xa4\n\xff", "\xff", "UTF-8" },
		{ "an unknown alias", "clocks: *a\n", "*a", "alias" },
		{ "bytes before the place count", "# \xc3\xa4\xe2\x82\xac\nsede: 1\n" CLOCKS,
		  "sede", "unknown key" },
		{ "a byte order mark counts", "\xef\xbb\xbfsede: 1\n" CLOCKS, "sede",
		  "unknown key" },

		{ "unknown key", "sede: 1\n" CLOCKS, "sede",
		  "unknown key 'sede'; expected one of name, seed" },
		{ "unknown key of a clock", "clocks: [{ name: a, hz: 1 }]", "hz",
		  "unknown key 'hz'; expected one of name, count" },
		{ "unknown key of an oscillator", "clocks: [{ name: a, oscillator: { ppm: 1 } }]",
		  "ppm", "unknown key 'ppm'; expected one of offset_ppm" },
		{ "unknown key of a receiver", CLOCKS "beacons: [{ receiver: { sd: 1 } }]", "sd",
		  "unknown key 'sd'; expected one of normal_ns" },
		{ "unknown key of a fault", CLOCKS "faults: [{ kind: outage, to: 1s }]",
		  "to:", "unknown key 'to'; expected one of kind" },
		{ "a key that is a list", "[a]: 1\n" CLOCKS, "[a]", "unknown key" },
		{ "a key twice", "seed: 1\nseed : 2\n" CLOCKS, "seed :", "duplicate key 'seed'" },

		{ "no clocks", "seed: 1\n", "seed", "missing key 'clocks'" },
		{ "no clock", "clocks: []\n", "[]", "needs clocks" },
		{ "no name", "clocks: [{ count: 2 }]\n", "{ count", "missing key 'name'" },
		{ "no line", CLOCKS "pulses: [{ period: 1s }]\n", "{ period",
		  "missing key 'line'" },
		{ "a wander without a time",
		  CLOCKS "pulses: [{ line: P, reference: { wander_ns: 50 } }]\n", "50",
		  "needs a `wander_time`" },
		{ "a burst longer than from one to the next",
		  CLOCKS "pulses: [{ line: P, reference: { bursts_every: 5s, burst: 6s } }]\n",
		  "6s", "not be longer" },
		{ "a wander that is too quick",
		  CLOCKS "pulses: [{ line: P, reference: { wander_time: 1ms } }]\n", "1ms",
		  "`wander_time` must be" },
		{ "no per_second", CLOCKS "messages: [{ from: a }]\n", "{ from",
		  "missing key 'per_second'" },
		{ "no kind", CLOCKS "faults: [{ at: 1s }]\n", "{ at", "missing key 'kind'" },
		{ "no kind of program", CLOCKS "programs: [{ period: 1s }]\n", "{ period",
		  "missing key 'kind'" },

		{ "clocks that are a word", "clocks: a\n", "a\n", "a list of up to 16" },
		{ "clocks that are a mapping", "clocks: { name: a }\n", "{ name", "a list" },
		{ "a clock that is a word", "clocks: [a]\n", "a]", "a mapping" },
		{ "an oscillator that is a number", "clocks: [{ name: a, oscillator: 3 }]", "3",
		  "a mapping with offset_ppm" },
		{ "a world's name that is a list", "name: [a]\n" CLOCKS, "[a]", "text" },
		{ "a world's name with a control character", "name: \"a\\eb\"\n" CLOCKS, "\"a",
		  "control" },
		{ "a world's name with a zero byte", "name: \"a\\0b\"\n" CLOCKS, "\"a", "text" },
		{ "a name with a slash", "clocks: [{ name: a/b }]\n", "a/b", "letters" },
		{ "a name that hides", "clocks: [{ name: .. }]\n", "..", "letters" },
		{ "an empty name", "clocks: [{ name: '' }]\n", "''", "letters" },
		{ "a name of 32 bytes", "clocks: [{ name: abcdefghijklmnopqrstuvwxyz012345 }]\n",
		  "abcdef", "1 to 31" },
		{ "a name that gets too long",
		  "clocks: [{ name: abcdefghijklmnopqrstuvwxyz01234, count: 2 }]\n", "abcdef",
		  "longer than 31" },
		{ "a glob of 32 bytes",
		  CLOCKS "beacons: [{ heard_by: '*bcdefghijklmnopqrstuvwxyz012345' }]", "'*bc",
		  "glob of 1 to 31" },
		{ "an empty glob", CLOCKS "beacons: [{ heard_by: '' }]", "''", "glob" },

		{ "a seed below 0", "seed: -1\n" CLOCKS, "-1", "below 2^64" },
		{ "a seed of 2^64", "seed: 18446744073709551616\n" CLOCKS, "1844", "below 2^64" },
		{ "a seed with a point", "seed: 1.5\n" CLOCKS, "1.5", "whole number" },
		{ "a duration that is no time", "duration: soon\n" CLOCKS, "soon",
		  "such as 250ms" },
		{ "a duration of nothing", "duration: 0s\n" CLOCKS, "0s", "1ms to 744h" },
		{ "a duration back in time", "duration: -1h\n" CLOCKS, "-1h", "1ms to 744h" },
		{ "a duration above 31 days", "duration: 745h\n" CLOCKS, "745h", "1ms to 744h" },
		{ "a step too small", "step: 1ms\n" CLOCKS, "1ms", "0 or a time from 10ms" },
		{ "no count", "clocks: [{ name: a, count: 0 }]", "0", "from 1 to 1024" },
		{ "a count too large", "clocks: [{ name: a, count: 1025 }]", "1025",
		  "from 1 to 1024" },
		{ "a count beyond 32 bits", "clocks: [{ name: a, count: 4294967297 }]",
		  "4294967297", "from 1 to 1024" },
		{ "a count in words", "clocks: [{ name: a, count: two }]", "two", "whole number" },
		{ "rate 0", "clocks: [{ name: a, rate: 0 }]", "0", "a rate from 1 Hz to 10 GHz" },
		{ "rate below 1 Hz", "clocks: [{ name: a, rate: 0.5 }]", "0.5", "a rate" },
		{ "rate above", "clocks: [{ name: a, rate: 11 GHz }]", "11 GHz", "a rate" },
		{ "no bits", "clocks: [{ name: a, bits: 0 }]", "0 }", "8 to 64" },
		{ "65 bits", "clocks: [{ name: a, bits: 65 }]", "65", "8 to 64" },
		{ "resolution 0", "clocks: [{ name: a, resolution: 0 }]", "0 }", "from 1 to" },
		{ "a resolution above a second",
		  "clocks: [{ name: a, rate: 100, resolution: 101 }]", "101 }", "a second" },
		{ "a start after the end", "duration: 1s\nclocks: [{ name: a, start: 2s }]", "2s",
		  "less than the world's" },
		{ "an offset above", "clocks: [{ name: a, oscillator: { offset_ppm: 1e6 } }]",
		  "1e6", "-100000 to 100000" },
		{ "not a number", "clocks: [{ name: a, oscillator: { offset_ppm: .nan } }]", ".nan",
		  "a number from" },
		{ "nan", "clocks: [{ name: a, oscillator: { offset_ppm: nan } }]", "nan",
		  "a number from" },
		{ "infinity", "clocks: [{ name: a, oscillator: { offset_ppm: .inf } }]", ".inf",
		  "a number from" },
		{ "a number too large to be one",
		  "clocks: [{ name: a, oscillator: { offset_ppm: 1e999 } }]", "1e999",
		  "a number from" },
		{ "a hexadecimal number",
		  "clocks: [{ name: a, oscillator: { offset_ppm: 0x1p3 } }]", "0x1p3",
		  "a number from" },
		{ "no number", "clocks: [{ name: a, oscillator: { offset_ppm: }}]", "}}",
		  "a number from" },
		{ "a walk below 0", "clocks: [{ name: a, oscillator: { walk_ppb: -3 } }]", "-3",
		  "0 to" },
		{ "a sine without period", "clocks: [{ name: a, oscillator: { sine_ppm: 1 } }]",
		  "1 }", "sine_period" },
		{ "a rate that could run away",
		  "clocks: [{ name: a, oscillator: { offset_ppm: 90000, offset_sd_ppm: 20000,\n"
		  "walk_ppb: 9000, rate_steps: 1000, rate_step_ppm: 1000 } }]",
		  "{ offset_ppm", "half is too much" },

		{ "jitter below 0", CLOCKS "beacons: [{ receiver: { normal_ns: -1 } }]", "-1",
		  "from 0" },
		{ "correlation 1", CLOCKS "beacons: [{ receiver: { correlation: 1 } }]", "1 }",
		  "0.9999" },
		{ "a share above 1", CLOCKS "beacons: [{ missed: 1.01 }]", "1.01", "from 0 to 1" },
		{ "a share below 0", CLOCKS "beacons: [{ missed: -0.1 }]", "-0.1", "from 0 to 1" },
		{ "outliers of no size", CLOCKS "beacons: [{ receiver: { outliers: 0.1 } }]", "0.1",
		  "outlier_max_ns" },
		{ "outliers from more to less",
		  CLOCKS "pulses: [{ line: P, jitter: { outlier_min_ns: 2, outlier_max_ns: 1 } }]",
		  "1 }", "less than" },
		{ "late beacons by nothing", CLOCKS "beacons: [{ late: 0.1 }]", "0.1",
		  "late_max_ns" },
		{ "late from more to less",
		  CLOCKS "beacons: [{ late_min_ns: 20, late_max_ns: 10 }]", "10", "less than" },
		{ "a sender's period of nothing", CLOCKS "beacons: [{ period: 0 }]", "0", "1ms" },
		{ "an id beyond 32 bits", CLOCKS "beacons: [{ id: 4294967296 }]", "4294967296",
		  "whole number" },
		{ "perhaps", CLOCKS "beacons: [{ disciplined: perhaps }]", "perhaps",
		  "true or false" },
		{ "two senders of one id", CLOCKS "beacons: [{ id: 7 }, { id:  7 }]", "7 }]",
		  "the id 7" },
		{ "no receivers", CLOCKS "beacons: [{ heard_by: b* }]", "b* }", "no clock's name" },

		{ "a pulse wider than its period",
		  CLOCKS "pulses: [{ line: P, period: 1s, width: 1s }]", "1s }", "less than" },
		{ "a line with a colon", CLOCKS "pulses: [{ line: 'P:1' }]", "'P:1'", "letters" },
		{ "two lines of one name", CLOCKS "pulses: [{ line: P }, { line: P, clocks: a }]",
		  "P, ", "two lines called P" },
		{ "messages without sender", CLOCKS "messages: [{ per_second: 1, from: b }]", "b }",
		  "no clock's name" },
		{ "messages at no rate", CLOCKS "messages: [{ per_second: 0 }]", "0",
		  "from 1e-06" },
		{ "a tail of no length", CLOCKS "messages: [{ per_second: 1, tail: 0.1 }]", "0.1",
		  "tail_ns" },
		{ "an unknown program", CLOCKS "programs: [{ kind: csma }]", "csma",
		  "one of tdma, glossy, idle" },
		{ "two programs at once",
		  CLOCKS "programs: [{ kind: tdma }, { kind: idle, clocks: 'a' }]", "'a'",
		  "two programs" },

		{ "an unknown fault", CLOCKS "faults: [{ kind: fire }]", "fire",
		  "one of outage, loss, phase_step" },
		{ "a reset that takes no time", CLOCKS "faults: [{ kind: reset, for: 0s }]", "0s",
		  "`for` is missing" },
		{ "a fault without target", CLOCKS "faults: [{ kind: bias, who: b }]", "b }",
		  "matches none" },
		{ "a clock's fault of a sender",
		  CLOCKS "beacons: [{}]\nfaults: [{ kind: bias, who: beacon 1 }]", "beacon 1",
		  "befalls clocks" },
		{ "a sender's fault without sender",
		  CLOCKS "faults: [{ kind: number_jump, who: 'a' }]", "'a'", "befalls senders" },
		{ "a fault after the end", CLOCKS "faults: [{ kind: outage, at: 2h }]", "2h",
		  "less than the world's" },
		{ "a fault before the beginning", CLOCKS "faults: [{ kind: outage, at: -1s }]",
		  "-1s", "a time from 0s" },
		{ "a step that lasts", CLOCKS "faults: [{ kind: bias, for: 1s }]", "1s",
		  "no `for`" },
		{ "an outage of an amount", CLOCKS "faults: [{ kind: outage, amount: 1 }]", "1 }]",
		  "no `amount`" },
		{ "a loss above 1", CLOCKS "faults: [{ kind: loss, amount: 2 }]", "2", "0 to 1" },
		{ "half a number",
		  CLOCKS "beacons: [{}]\nfaults: [{ kind: number_jump, amount: 0.5 }]", "0.5",
		  "whole number" },

		{ "two clocks of one name", "clocks: [{ name: a }, { name : a }]", "a }]",
		  "two clocks are called a" },
		{ "two clocks of one name after counting",
		  "clocks: [{ name: a, count: 12 }, { name: a1, count: 2 }]", "a1", "called a11" },
		{ "too many clocks", "clocks: [{ name: a, count: 1000 }, { name: b, count: 25 }]",
		  "25", "1024 clocks" },
		{ "too many marks",
		  "duration: 744h\nclocks: [{ name: a, count: 1024 }]\nbeacons: [{ period: 1ms }]",
		  "744h", "2^31" },
		{ "too many marks by messages",
		  "clocks: [{ name: a, count: 1024 }]\nmessages: [{ per_second: 1000 }]", "clocks",
		  "2^31" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i].text;
		struct cvl_error err = { 0 };
		struct world w;
		int rc = world_parse(&w, text, strlen(text), "file", &err);

		if (rc != CVL_E_SYNTAX || err.code != CVL_E_SYNTAX)
			fail_msg("%s: code %d", cases[i].name, rc);
		if (strncmp(err.text, "file:", 5))
			fail_msg("%s: no file in \"%s\"", cases[i].name, err.text);
		if (cases[i].at && err.offset != (uint64_t)(strstr(text, cases[i].at) - text))
			fail_msg("%s: offset %" PRIu64 " instead of %td: %s", cases[i].name,
				 err.offset, strstr(text, cases[i].at) - text, err.text);
		if (err.offset > strlen(text))
			fail_msg("%s: offset %" PRIu64 " is outside", cases[i].name, err.offset);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].name, err.text,
				 cases[i].says);
	}
}

static void a_list_has_at_most_sixteen_entries(void **state)
{
	static const char *const lists[][2] = {
		{ "clocks", "{ name: c@ }" },
		{ "beacons", "{ id: @ }" },
		{ "pulses", "{ line: P@ }" },
		{ "messages", "{ per_second: 1 }" },
		{ "programs", "{ kind: idle, clocks: c@ }" },
		{ "faults", "{ kind: outage }" },
	};

	(void)state;
	for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++)
		for (unsigned count = 16; count <= 17; count++) {
			char text[2048];
			struct cvl_error err;
			struct world w;
			size_t n = 0, last = 0;
			int rc;

			if (l)
				n += (size_t)sprintf(text + n,
						     "clocks: [{ name: c, count: 17 }]\n");
			n += (size_t)sprintf(text + n, "%s: [", lists[l][0]);
			for (unsigned i = 1; i <= count; i++) {
				last = n;
				for (const char *s = lists[l][1]; *s; s++)
					n += (size_t)(*s == '@' ? sprintf(text + n, "%u", i) :
								  sprintf(text + n, "%c", *s));
				n += (size_t)sprintf(text + n, i < count ? ", " : "]\n");
			}
			rc = world_parse(&w, text, n, "file", &err);
			if (count == 16 && rc)
				fail_msg("%s: %s", lists[l][0], err.text);
			if (count == 16)
				continue;
			assert_int_equal(rc, CVL_E_SYNTAX);
			assert_int_equal(err.offset, last);
			assert_non_null(strstr(err.text, "up to 16"));
		}
}

/* What YAML can unfold to more than a machine has, or make libyaml search for hours. */
static void bombs_do_not_go_off(void **state)
{
	static char text[1 << 20];
	struct timespec begin, end;
	struct cvl_error err;
	struct world w;
	size_t n;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	n = (size_t)sprintf(text, "a0: &a0 [x, x]\n");
	for (int i = 1; i < 60; i++)
		n += (size_t)sprintf(text + n, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
	assert_int_equal(world_parse(&w, text, n, "file", &err), CVL_E_SYNTAX);

	n = (size_t)sprintf(text, "clocks: &c [*c, *c]\n");
	assert_int_equal(world_parse(&w, text, n, "file", &err), CVL_E_SYNTAX);
	assert_int_equal(err.offset, 12);

	for (n = 0; n + 16 < sizeof(text);)
		n += (size_t)sprintf(text + n, "- &%zx x\n", n);
	assert_int_equal(world_parse(&w, text, n, "file", &err), CVL_E_LIMIT);
	assert_non_null(strstr(err.text, "anchors"));

	n = (size_t)sprintf(text, "clocks: [&a {}");
	while (n + 4 < sizeof(text))
		n += (size_t)sprintf(text + n, ",*a ");
	assert_int_equal(world_parse(&w, text, n, "file", &err), CVL_E_LIMIT);

	memset(text, '[', sizeof(text));
	assert_int_equal(world_parse(&w, text, sizeof(text), "file", &err), CVL_E_LIMIT);
	assert_non_null(strstr(err.text, "deeper"));
	for (n = 0; n + 2 <= sizeof(text); n += 2)
		memcpy(text + n, "- ", 2);
	assert_int_equal(world_parse(&w, text, n, "file", &err), CVL_E_LIMIT);
	memset(text, 'x', sizeof(text));
	assert_int_equal(world_parse(&w, text, sizeof(text), "file", &err), CVL_E_SYNTAX);

	/* globs that backtrack */
	n = (size_t)sprintf(text, "clocks: [{ name: aaaaaaaaaaaaaaaaaaaaaaaaaaa, count: 1000 }]\n"
				  "beacons: [{ heard_by: '*a*a*a*a*a*a*a*a*a*a*a*a*a*b' }]\n");
	assert_int_equal(world_parse(&w, text, n, "file", &err), CVL_E_SYNTAX);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true(end.tv_sec - begin.tv_sec < 20);
}

/* Whatever is cut off or changed: a world that holds together, or an error. */
static void damaged_text_never_gives_half_a_world(void **state)
{
	static const char whole[] =
		"seed: 5\nduration: 2m\nclocks:\n  - { name: n, count: 4, rate: 8 MHz, start: 1s }\n"
		"beacons:\n  - { id: 3, receiver: { normal_ns: 487, outliers: 0.1, outlier_max_ns: 9 } }\n"
		"faults: [{ kind: outage, who: n1, at: 1m, for: 9s }]\n";
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct cvl_error err = { 0 };
		char text[sizeof(whole)];
		size_t n = sizeof(whole) - 1;
		struct world w;
		int rc;

		memcpy(text, whole, sizeof(whole));
		if (draw_below(&d, 2))
			n = (size_t)draw_below(&d, n);
		for (uint64_t k = draw_below(&d, 4); k > 0; k--)
			text[draw_below(&d, sizeof(whole) - 1)] = (char)draw_u64(&d);
		rc = world_parse(&w, text, n, "file", &err);
		assert_int_equal(rc, err.code);
		assert_true(!rc || err.offset <= n);
		assert_true(rc || !world_check(&w, &err));
	}
}

static void worlds_made_in_memory_are_checked_too(void **state)
{
	struct cvl_error err;
	struct world good, w;

	(void)state;
	parse(&good,
	      CLOCKS "beacons: [{}]\nprograms: [{ kind: idle }]\nfaults: [{ kind: outage }]\n");
	good.step_ns = 0;
	assert_int_equal(world_check(&good, &err), 0);

#define REFUSED(change, where)                                        \
	do {                                                          \
		w = good;                                             \
		change;                                               \
		assert_int_equal(world_check(&w, &err), CVL_E_RANGE); \
		assert_true(err.offset == CVL_NO_OFFSET);             \
		if (!strstr(err.text, where))                         \
			fail_msg("%s", err.text);                     \
	} while (0)
	REFUSED(w.duration_ns = 0, "the world: `duration`");
	REFUSED(w.n_clocks = 0, "needs clocks");
	REFUSED(w.n_clocks = 17, "`clocks`");
	REFUSED(w.n_faults = SIZE_MAX, "`faults`");
	REFUSED(memset(w.name, 'x', sizeof(w.name)), "`name`");
	REFUSED(memset(w.fault[0].who, '*', sizeof(w.fault[0].who)), "faults[0]: `who`");
	REFUSED(w.clocks[0].oscillator.walk_ppb = NAN, "clocks[0]: `walk_ppb`");
	REFUSED(w.clocks[0].oscillator.walk_ppb = INFINITY, "clocks[0]: `walk_ppb`");
	REFUSED(w.clocks[0].count = 0, "clocks[0]: `count`");
	REFUSED(w.clocks[0].rate_hz = 0, "clocks[0]: `rate`");
	REFUSED(w.clocks[0].start_ns = -1, "clocks[0]: `start`");
	REFUSED(w.sender[0].period_ns = INT64_MIN, "beacons[0]: `period`");
	REFUSED(w.sender[0].receiver.exp_ns = -1, "beacons[0]: `exp_ns`");
	REFUSED(w.program[0].kind = (enum world_program_kind)3, "programs[0]: `kind`");
	REFUSED(w.fault[0].kind = WORLD_FAULTS, "faults[0]: `kind`");
#undef REFUSED
}

static void files_are_loaded(void **state)
{
	char path[] = "/tmp/coeval-world-XXXXXX";
	int fd = mkstemp(path);
	struct cvl_error err;
	struct world w;
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fprintf(f, CLOCKS);
	fflush(f);
	assert_int_equal(world_load(&w, path, &err), 0);
	fprintf(f, "sede: 1\n");
	fflush(f);
	assert_int_equal(world_load(&w, path, &err), CVL_E_SYNTAX);
	assert_int_equal(err.offset, strlen(CLOCKS));
	assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
	while (ftell(f) <= 1 << 20)
		fprintf(f, "# more\n");
	fclose(f);
	assert_int_equal(world_load(&w, path, &err), CVL_E_LIMIT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(world_load(&w, path, &err), CVL_E_IO);
	assert_int_equal(world_load(&w, COEVAL_SOURCE_DIR, &err), CVL_E_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_out_has_its_default),
		cmocka_unit_test(every_key_is_read_in_its_unit),
		cmocka_unit_test(every_example_is_a_world),
		cmocka_unit_test(an_anchor_stands_for_what_it_names),
		cmocka_unit_test(bad_worlds_are_refused_with_their_place),
		cmocka_unit_test(a_list_has_at_most_sixteen_entries),
		cmocka_unit_test(bombs_do_not_go_off),
		cmocka_unit_test(damaged_text_never_gives_half_a_world),
		cmocka_unit_test(worlds_made_in_memory_are_checked_too),
		cmocka_unit_test(files_are_loaded),
	};

	setenv("COEVAL_SEED", "1", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
