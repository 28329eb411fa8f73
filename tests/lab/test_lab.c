/* SPDX-License-Identifier: MIT */
/* What a bench reads from the other end of its wires, and from its files: the pure parts. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/random.h"
#include "lab/answer.h"
#include "lab/config.h"
#include "lab/fill.h"
#include "lab/instrument.h"
#include "lab/plan.h"
#include "lab/robust.h"
#include "lab/summary.h"

#define SEED 20220501

static int read_answer(struct answer *a, const char *text, struct cvl_error *err)
{
	return answer_read(a, text, strlen(text), "port", err);
}

static void answers_give_their_values(void **state)
{
	struct cvl_error err;
	struct answer a;
	char text[16];
	uint64_t v;

	(void)state;
	assert_int_equal(read_answer(&a,
				     "item x=1\r\nok us=12 count=18446744073709551615 name=a=b\r\n",
				     &err),
			 0);
	assert_true(a.ok);
	assert_true(answer_u64(&a, "us", &v));
	assert_int_equal(v, 12);
	assert_true(answer_u64(&a, "count", &v));
	assert_true(v == UINT64_MAX);
	assert_true(answer_text(&a, "name", text, sizeof(text)));
	assert_string_equal(text, "a=b");
	assert_false(answer_u64(&a, "x", &v));    /* of another line */
	assert_false(answer_u64(&a, "ount", &v)); /* no part of a key */
	assert_false(answer_u64(&a, "name", &v));
	assert_int_equal(read_answer(&a, "ok\nerror why=no", &err), 0);
	assert_false(a.ok);
}

static void answers_that_are_none_are_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
	} bad[] = {
		{ "", CVL_E_MISSING },
		{ "okay us=1\n", CVL_E_MISSING },
		{ " ok us=1\n", CVL_E_MISSING },
		{ "ok us=\x80\n", CVL_E_SYNTAX },
		{ "ok \x1b[2J\n", CVL_E_SYNTAX },
	};
	struct cvl_error err;
	struct answer a;
	char *longest = malloc(1000);
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(read_answer(&a, bad[i].text, &err), bad[i].code);
		assert_int_equal(err.code, bad[i].code);
	}
	memset(longest, 'x', 999);
	memcpy(longest, "ok ", 3);
	longest[999] = '\0';
	assert_int_equal(read_answer(&a, longest, &err), CVL_E_LIMIT);
	free(longest);
	assert_int_equal(read_answer(&a, "ok n=18446744073709551616 m= k=1x", &err), 0);
	assert_false(answer_u64(&a, "n", &v)); /* does not fit */
	assert_false(answer_u64(&a, "m", &v));
	assert_false(answer_u64(&a, "k", &v));
}

static void commands_are_filled(void **state)
{
	const struct fill fill[] = { { "hz", "80" }, { "x", "{hz}" } };
	struct cvl_error err;
	char out[12];

	(void)state;
	assert_int_equal(fill_text(out, sizeof(out), "set {hz}{x}{{", fill, 2, &err), 0);
	assert_string_equal(out, "set 80{hz}{");
	assert_int_equal(fill_text(out, sizeof(out), "set {hzz}", fill, 2, &err), CVL_E_UNKNOWN_ID);
	assert_int_equal(err.offset, 4);
	assert_int_equal(fill_text(out, sizeof(out), "set {hz", fill, 2, &err), CVL_E_SYNTAX);
	assert_int_equal(fill_text(out, sizeof(out), "0123456789{hz}", fill, 2, &err), CVL_E_LIMIT);
}

static void blocks_say_their_length(void **state)
{
	size_t length;

	(void)state;
	assert_int_equal(scpi_block_head("#9000001200", 11, &length), 11);
	assert_int_equal(length, 1200);
	assert_int_equal(scpi_block_head("#15hello", 8, &length), 3);
	assert_int_equal(length, 5);
	assert_int_equal(scpi_block_head("#0x", 3, &length), 2);
	assert_true(length == SIZE_MAX);
	for (size_t n = 0; n < 11; n++)
		assert_int_equal(scpi_block_head("#9000001200", n, &length), 0);
	assert_int_equal(scpi_block_head("x", 1, &length), CVL_E_SYNTAX);
	assert_int_equal(scpi_block_head("#A", 2, &length), CVL_E_SYNTAX);
	assert_int_equal(scpi_block_head("#31x2", 5, &length), CVL_E_SYNTAX);
	assert_int_equal(scpi_block_head("#9999999999", 11, &length), CVL_E_LIMIT);
}

static void numbers_of_instruments_are_read(void **state)
{
	struct cvl_error err;
	double v[3];
	long number;

	(void)state;
	assert_int_equal(scpi_numbers("+1.5E-03,2 A,-3", v, 3, "dmm", &err), 3);
	assert_true(v[0] == 1.5e-3 && v[1] == 2 && v[2] == -3);
	assert_int_equal(scpi_numbers("1,2,3,4", v, 3, "dmm", &err), CVL_E_LIMIT);
	assert_int_equal(err.offset, 6);
	assert_int_equal(scpi_numbers("1,,3", v, 3, "dmm", &err), CVL_E_SYNTAX);
	assert_int_equal(err.offset, 2);
	assert_int_equal(scpi_numbers("", v, 3, "dmm", &err), CVL_E_SYNTAX);
	assert_int_equal(scpi_numbers("1,9.91E37", v, 3, "dmm", &err), CVL_E_SYNTAX);
	assert_int_equal(scpi_numbers("1,nan", v, 3, "dmm", &err), CVL_E_SYNTAX);
	assert_int_equal(scpi_number("2.5e-7s\r", v, "scope", &err), 0);
	assert_int_equal(scpi_number("9.9E37", v, "scope", &err), CVL_E_RANGE);
	assert_int_equal(scpi_number("****", v, "scope", &err), CVL_E_SYNTAX);
	assert_int_equal(scpi_error("-113,\"Undefined header;:FOO\"", &number), 0);
	assert_int_equal(number, -113);
	assert_int_equal(scpi_error("+0,\"No error\"", &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(scpi_error("No error", &number), CVL_E_SYNTAX);
}

static void an_excerpt_shows_the_end_of_what_came(void **state)
{
	char out[60];

	(void)state;
	assert_string_equal(lab_excerpt(out, sizeof(out), "", 0), "nothing");
	assert_string_equal(lab_excerpt(out, sizeof(out), "a\x80\r\n", 4), "\"a\\x80\\r\\n\"");
	assert_string_equal(lab_excerpt(out, sizeof(out), "0123456789abcdef", 16),
			    "\"...3456789abcdef\"");
	for (size_t size = 16; size < 60; size++) {
		char noise[300];

		memset(noise, 0xff, sizeof(noise));
		assert_true(strlen(lab_excerpt(out, size, noise, sizeof(noise))) < size);
	}
}

/*
 * Of ten draws of a normal distribution with one far off, that one is found; the median does not
 * follow it.
 */
static void an_outlier_is_found_and_does_not_move_the_median(void **state)
{
	struct sim_random r = { SEED };
	unsigned wrong = 0;

	(void)state;
	for (int trial = 0; trial < 1000; trial++) {
		double v[10], far = sim_u64(&r) & 1 ? 1000 : -1000;
		struct robust robust;

		for (int i = 0; i < 9; i++)
			v[i] = 5000 + sim_normal(&r);
		v[9] = 5000 + far;
		robust = robust_of(v, 10);
		assert_true(fabs(robust.median - 5000) < 2);
		assert_true(robust_is_outlier(&robust, 5000 + far));
		wrong += robust_is_outlier(&robust, 5000);
	}
	/*
	 * where nine draws spread little by chance, the middle of the distribution itself may be
	 * one
	 */
	assert_in_range(wrong, 0, 10);
}

static void equal_numbers_have_no_outlier_and_a_lone_other_one_is_it(void **state)
{
	double same[10] = { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 };
	double other[10] = { 7, 7, 7, 7, 8, 7, 7, 7, 7, 7 };
	double few[3] = { 1, 1, 100 };
	struct robust r = robust_of(same, 10);

	(void)state;
	assert_false(robust_is_outlier(&r, 7));
	assert_true(r.spread == 0 && r.median == 7);
	r = robust_of(other, 10);
	assert_true(robust_is_outlier(&r, 8));
	assert_false(robust_is_outlier(&r, 7));
	r = robust_of(few, 3);
	assert_false(robust_is_outlier(&r, 100));
	r = robust_of(few, 0);
	assert_int_equal(r.n, 0);
}

/* A pulse with slopes and noise, its width drawn: found to half a sample. */
static void the_width_of_a_pulse_is_found(void **state)
{
	struct sim_random r = { SEED };
	double v[1200], width;

	(void)state;
	for (int trial = 0; trial < 300; trial++) {
		double from = 50 + 400 * sim_uniform(&r), to = from + 20 + 600 * sim_uniform(&r);

		for (int i = 0; i < 1200; i++) {
			double up = (i - from) / 6 + 0.5, down = (to - i) / 6 + 0.5;
			double level = up < down ? up : down;

			level = level < 0 ? 0 : level > 1 ? 1 : level;
			v[i] = 60 + 120 * level + 1.5 * sim_normal(&r);
		}
		assert_int_equal(waveform_width(v, 1200, &width), 0);
		assert_true(fabs(width - (to - from)) < 0.5);
	}
	for (int i = 0; i < 1200; i++)
		v[i] = 60;
	assert_int_equal(waveform_width(v, 1200, &width), -1);
	v[1199] = 180; /* one edge only */
	assert_int_equal(waveform_width(v, 1200, &width), -1);
	assert_int_equal(waveform_width(v, 0, &width), -1);
}

/* ---- results ---- */

static void in_scratch(const char *text, char path[64])
{
	FILE *f;
	int fd;

	strcpy(path, "/tmp/coeval-test-lab-XXXXXX");
	fd = mkstemp(path);
	f = fdopen(fd, "w");
	fputs(text, f);
	fclose(f);
}

static void results_are_read_back_as_they_were(void **state)
{
	struct results a = { 0 }, b = { 0 };
	struct sim_random r = { SEED };
	struct cvl_error err;
	char path[64];

	(void)state;
	in_scratch("", path);
	for (unsigned i = 0; i < 500; i++) {
		struct results_key key = { .hz = sim_u64(&r) % 100000000 + 1,
					   .policy = "fast-flash",
					   .adaption = i & 1,
					   .cache = i & 2,
					   .repetition = i + 1 };
		struct results_row *row;

		snprintf(key.task, sizeof(key.task), "task-%u", i % 7);
		row = results_row(&a, &key);
		for (int q = 0; q < QUANTITIES; q++)
			if (sim_u64(&r) & 1)
				row->value[q] =
					q < Q_ENERGY ? (double)(sim_u64(&r) >> 14) : sim_normal(&r);
		row->iterations = sim_u64(&r) & 1 ? sim_u64(&r) >> 33 : 0;
		row->outliers = (unsigned)(sim_u64(&r) & ((1u << QUANTITIES) - 1));
	}
	assert_int_equal(results_save(&a, path, &err), 0);
	assert_int_equal(results_load(&b, path, &err), 0);
	assert_int_equal(a.n, b.n);
	for (size_t i = 0; i < a.n; i++) {
		assert_ptr_equal(results_find(&b, &a.row[i].key), &b.row[i]);
		assert_true(a.row[i].iterations == b.row[i].iterations);
		assert_int_equal(a.row[i].outliers, b.row[i].outliers);
		for (int q = 0; q < QUANTITIES; q++)
			assert_true(isnan(a.row[i].value[q]) ?
					    isnan(b.row[i].value[q]) :
					    a.row[i].value[q] == b.row[i].value[q]);
	}
	unlink(path);
	results_free(&a);
	results_free(&b);
}

#define HEAD "task,hz,policy,adaption,cache,repetition,cycles\n"

static void results_that_cannot_be_are_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *says;
	} bad[] = {
		{ "task,hz\n", CVL_E_MISSING, "policy" },
		{ "task,hz,hz,policy,adaption,cache,repetition\n", CVL_E_SYNTAX, "twice" },
		{ "name,hz\n", CVL_E_SYNTAX, "name" },
		{ HEAD "a,1,p,1,1,1\n", CVL_E_SYNTAX, "line 2 has 6 columns" },
		{ HEAD "a,1,p,1,1,1,2,3\n", CVL_E_SYNTAX, "line 2 has 8 columns" },
		{ HEAD "a,x,p,1,1,1,\n", CVL_E_SYNTAX, "line 2, column hz" },
		{ HEAD "a,1,p,2,1,1,\n", CVL_E_SYNTAX, "column adaption" },
		{ HEAD "a b,1,p,1,1,1,\n", CVL_E_SYNTAX, "column task" },
		{ HEAD ",1,p,1,1,1,\n", CVL_E_SYNTAX, "column task" },
		{ HEAD "a,1,p,1,1,1,nan\n", CVL_E_SYNTAX, "column cycles" },
		{ HEAD "a,1,p,1,1,1,5\na,1,p,1,1,1,6\n", CVL_E_SYNTAX, "line 3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct results r = { 0 };
		struct cvl_error err = { 0 };
		char path[64];

		in_scratch(bad[i].text, path);
		assert_int_equal(results_load(&r, path, &err), bad[i].code);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
		unlink(path);
		results_free(&r);
	}
}

static void a_file_that_is_not_there_is_an_empty_table(void **state)
{
	struct results r = { 0 };
	struct cvl_error err;

	(void)state;
	assert_int_equal(results_load(&r, "/tmp/coeval-no-such-file.csv", &err), 0);
	assert_int_equal(r.n, 0);
}

/* ---- configurations ---- */

#define TARGET "\"target\": { \"port\": \"x\" }"
#define EXPERIMENT(more)                                                                     \
	"{ " TARGET                                                                          \
	", \"experiments\": [ { \"kind\": \"trace\", \"workloads\": \"a\", \"hz\": 1e6" more \
	" } ] }"
#define ENERGY(instrument)                                    \
	"{ " TARGET ", \"instruments\": { \"i\": " instrument \
	" }, \"experiments\": [ { \"kind\": \"energy\", \"workloads\": \"a\", \"hz\": 1e6, \"instrument\": \"i\" } ] }"

static void wrong_configurations_name_the_key(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *says;
	} bad[] = {
		{ "", CVL_E_SYNTAX, "json:1:1: empty; expected a bench" },
		{ "{", CVL_E_SYNTAX, "json:1:2: " },
		{ "[]", CVL_E_SYNTAX, "json:1:1: expected a mapping with target, instruments" },
		{ "{}", CVL_E_SYNTAX, "json:1:1: missing key 'target'" },
		{ "{ \"target\": {} }", CVL_E_SYNTAX, "json:1:13: missing key 'port' of a target" },
		{ "{ \"target\": { \"port\": \"\" } }", CVL_E_SYNTAX,
		  "json:1:23: `port` must be text that is not empty" },
		{ "{ \"target\": { \"port\": 7 } }", CVL_E_SYNTAX,
		  "json:1:23: `port` must be text" },
		{ "{ \"target\": { \"port\": \"x\", \"bauds\": 1 } }", CVL_E_SYNTAX,
		  "json:1:28: unknown key 'bauds'; expected one of port, baud" },
		{ "{ \"target\": { \"port\": \"x\", \"baud\": 1 } }", CVL_E_SYNTAX,
		  "json:1:36: `baud` must be a number from 50" },
		{ "{ \"target\": { \"port\": \"x\", \"port\": \"y\" } }", CVL_E_SYNTAX,
		  "json:1:28: duplicate key 'port'" },
		{ "{ \"target\": { \"port\": \"a\\u0000b\" } }", CVL_E_SYNTAX,
		  "json:1:23: `port` must be text" },
		{ "{ " TARGET " }", CVL_E_SYNTAX, "missing key 'experiments'" },
		{ "{ " TARGET ", \"experiments\": [] }", CVL_E_SYNTAX,
		  "`experiments` must be a list of 1 to" },
		{ EXPERIMENT(""), CVL_E_MISSING, "json:1:47: missing key 'counters'" },
		{ EXPERIMENT(", \"counters\": \"cycle\""), CVL_E_RANGE, "'cycle'" },
		{ EXPERIMENT(", \"counters\": \"energy_j\""), CVL_E_RANGE, "'energy_j'" },
		{ EXPERIMENT(", \"counters\": \"flash\""), CVL_E_RANGE, "missing key 'ranges'" },
		{ EXPERIMENT(", \"counters\": [{ \"name\": \"ram\", \"ranges\": \"20000000\" }]"),
		  CVL_E_RANGE, "FIRST-LAST" },
		{ EXPERIMENT(", \"counters\": [{ \"name\": \"ram\", \"ranges\": \"2-1\" }]"),
		  CVL_E_RANGE, "FIRST-LAST" },
		{ EXPERIMENT(", \"counters\": [{ \"name\": \"cpi\", \"ranges\": \"1-2\" }]"),
		  CVL_E_RANGE, "no ranges" },
		{ EXPERIMENT(", \"counters\": [ 5 ]"), CVL_E_SYNTAX,
		  "json:1:109: `name` must be text" },
		{ EXPERIMENT(", \"counters\": \"cpi\", \"repetitions\": 0"), CVL_E_SYNTAX,
		  "`repetitions` must be a number from 1" },
		{ EXPERIMENT(", \"counters\": \"cpi\", \"policies\": \"a,b\""), CVL_E_SYNTAX,
		  "`policies` must be a name" },
		{ EXPERIMENT(", \"counters\": \"cpi\", \"cache\": [true, 1]"), CVL_E_SYNTAX,
		  "`cache` must be true or false" },
		{ EXPERIMENT(", \"counters\": [\"cpi\", \"cpi\"]"), CVL_E_RANGE,
		  "two experiments ask for a at 1 MHz" },
		{ EXPERIMENT(
			  ", \"counters\": \"cpi\", \"repetitions\": 100000, \"adaption\": [true,false], \"cache\": [true,false], \"policies\": [\"a\",\"b\",\"c\"]"),
		  CVL_E_LIMIT, "1200000 runs" },
		{ ENERGY("{}"), CVL_E_SYNTAX, "missing key 'address' of an instrument" },
		{ ENERGY("{ \"address\": \"a\", \"result\": \"current\", \"fetch_query\": \"F\" }"),
		  CVL_E_MISSING, "missing key 'sample_hz'" },
		{ ENERGY("{ \"address\": \"a\", \"result\": \"amps\", \"fetch_query\": \"F\" }"),
		  CVL_E_SYNTAX, "`result` must be one of current, seconds, waveform" },
		{ ENERGY("{ \"address\": \"a\", \"result\": \"seconds\", \"fetch_query\": \"F\" }"),
		  CVL_E_RANGE, "measures no current" },
		{ ENERGY("{ \"address\": \"a\", \"result\": \"seconds\", \"fetch_query\": \"F {channel}\" }"),
		  CVL_E_UNKNOWN_ID, "{channel}" },
		{ ENERGY("{ \"address\": \"a\", \"result\": \"seconds\", \"fetch_query\": \"F\", \"arm\": [\"a\", \"{\"] }"),
		  CVL_E_SYNTAX, "json:1:124: " },
		{ ENERGY("{ \"address\": \"a\", \"result\": \"seconds\", \"fetch_query\": \"F\", \"format\": \"f16\" }"),
		  CVL_E_SYNTAX, "`format` must be one of text, u8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cvl_error err = { 0 };
		struct lab_plan plan = { 0 };
		struct lab_config c;
		int rc = lab_config_parse(&c, bad[i].text, strlen(bad[i].text), "bench.json", &err);

		rc = rc ? rc : lab_plan_make(&plan, &c, &err);
		if (rc != bad[i].code || !strstr(err.text, bad[i].says) ||
		    !strstr(err.text, "bench.json"))
			fail_msg("%s\ngives %d '%s', not '%s'", bad[i].text, rc, err.text,
				 bad[i].says);
		lab_plan_free(&plan);
		lab_config_free(&c);
	}
}

static void what_is_left_out_is_as_the_thesis_measured(void **state)
{
	static const char text[] = EXPERIMENT(", \"counters\": \"cycles\"");
	struct cvl_error err;
	struct lab_plan plan;
	struct lab_config c;
	const struct lab_experiment *e;
	char command[LAB_COMMAND];

	(void)state;
	assert_int_equal(lab_config_parse(&c, text, sizeof(text) - 1, "b", &err), 0);
	e = c.experiments.item;
	assert_int_equal(e->repetitions, 10);
	assert_int_equal(e->min_seconds, 1);
	assert_true(e->reboot);
	assert_int_equal(lab_plan_make(&plan, &c, &err), 0);
	assert_int_equal(plan.n, 10);
	assert_int_equal(plan.step[9].key.repetition, 10);
	assert_int_equal(lab_set_command(&c, plan.step, command, &err), 0);
	assert_string_equal(command, "set hz=1000000 policy=fast-flash adaption=1 cache=1");
	assert_int_equal(lab_run_command(&c, plan.step, 42, 0, command, &err), 0);
	assert_string_equal(command, "trace workload=a iterations=42 counter=cycles");
	lab_plan_free(&plan);
	lab_config_free(&c);
}

/* The first repetition of everything comes before the second of anything. */
static void repetitions_are_outermost(void **state)
{
	static const char text[] =
		"{ " TARGET
		", \"experiments\": [ { \"kind\": \"trace\", \"workloads\": [\"a\", \"b\"], \"hz\": [1, 2, 3],"
		" \"counters\": [\"cpi\", \"lsu\"], \"repetitions\": 3, \"cache\": [true, false] } ] }";
	struct cvl_error err;
	struct lab_plan plan;
	struct lab_config c;

	(void)state;
	assert_int_equal(lab_config_parse(&c, text, sizeof(text) - 1, "b", &err), 0);
	assert_int_equal(lab_plan_make(&plan, &c, &err), 0);
	assert_int_equal(plan.n, 3 * 2 * 3 * 2 * 2);
	for (size_t i = 0; i < plan.n; i++)
		assert_int_equal(plan.step[i].key.repetition, i / 24 + 1);
	lab_plan_free(&plan);
	lab_config_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_give_their_values),
		cmocka_unit_test(answers_that_are_none_are_refused),
		cmocka_unit_test(commands_are_filled),
		cmocka_unit_test(blocks_say_their_length),
		cmocka_unit_test(numbers_of_instruments_are_read),
		cmocka_unit_test(an_excerpt_shows_the_end_of_what_came),
		cmocka_unit_test(an_outlier_is_found_and_does_not_move_the_median),
		cmocka_unit_test(equal_numbers_have_no_outlier_and_a_lone_other_one_is_it),
		cmocka_unit_test(the_width_of_a_pulse_is_found),
		cmocka_unit_test(results_are_read_back_as_they_were),
		cmocka_unit_test(results_that_cannot_be_are_refused),
		cmocka_unit_test(a_file_that_is_not_there_is_an_empty_table),
		cmocka_unit_test(wrong_configurations_name_the_key),
		cmocka_unit_test(what_is_left_out_is_as_the_thesis_measured),
		cmocka_unit_test(repetitions_are_outermost),
	};

	print_message("seed %d\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
