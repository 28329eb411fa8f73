/* SPDX-License-Identifier: MIT */
/* The shell on the target, on a simulated chip: what it answers to good and bad lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/random.h"
#include "lab/answer.h"
#include "lab/simulated/taskbench_chip.h"
#include "taskbench/say.h"

#define SEED 31

/* What is answered to @text, up to the next call. */
static const char *told(struct sim_chip *c, const char *text, size_t n)
{
	static char out[65536];

	c->out_n = 0;
	sim_chip_feed(c, (const uint8_t *)text, n);
	assert_true(c->out_n < sizeof(out));
	memcpy(out, c->out, c->out_n);
	out[c->out_n] = '\0';
	return out;
}

static const char *tell(struct sim_chip *c, const char *text)
{
	return told(c, text, strlen(text));
}

static void it_greets_and_prompts(void **state)
{
	struct sim_chip c;

	(void)state;
	sim_chip_init(&c, SEED, 0);
	assert_int_equal(c.out_n, strlen("\r\ncoeval task bench board=simulated\r\n> "));
	assert_memory_equal(c.out, "\r\ncoeval task bench board=simulated\r\n> ", c.out_n);
	sim_chip_free(&c);
}

static void every_line_end_gives_one_prompt(void **state)
{
	struct sim_chip c;

	(void)state;
	sim_chip_init(&c, SEED, 0);
	assert_string_equal(tell(&c, "\n"), "> ");
	assert_string_equal(tell(&c, "\r"), "> ");
	assert_string_equal(tell(&c, "\r\n"), "> ");
	assert_string_equal(tell(&c, "\n"), "> ");
	assert_string_equal(tell(&c, "\n\n"), "> > ");
	assert_string_equal(tell(&c, "ge"), "");
	assert_memory_equal(tell(&c, "t\n"), "ok board=simulated hz=80000000 ", 31);
	sim_chip_free(&c);
}

static void bad_lines_are_refused_with_a_reason(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
		{ "hello", "not-understood" },
		{ "gets", "not-understood" },
		{ "get\x80", "not-understood" },
		{ "get\t", "not-understood" },
		{ "set hz=fast", "hz-is-no-frequency" },
		{ "set hz=0", "hz-is-no-frequency" },
		{ "set hz=4294967296", "hz-is-no-frequency" },
		{ "set hz=90000000", "it-failed" },
		{ "set policy=best", "no-such-policy" },
		{ "set policy=fast-flashy", "no-such-policy" },
		{ "set cache=2", "a-switch-is-0-or-1" },
		{ "set adaption=", "a-switch-is-0-or-1" },
		{ "trace", "no-such-workload" },
		{ "trace workload=reg", "no-such-workload" },
		{ "trace workload=reg-add", "iterations-is-no-number" },
		{ "trace workload=reg-add iterations=0", "iterations-is-no-number" },
		{ "trace workload=reg-add iterations=9x", "iterations-is-no-number" },
		{ "trace workload=reg-add iterations=9 arg=-1", "arg-is-no-number" },
		{ "trace workload=reg-add iterations=9", "no-such-counter" },
		{ "trace workload=reg-add iterations=9 counter=cycle", "no-such-counter" },
		{ "trace workload=reg-add iterations=9 counter=cpi pass=x", "pass-is-no-number" },
		{ "trace workload=reg-add iterations=9 counter=ranges",
		  "ranges-are-HEX-HEX,...-up-to-4" },
		{ "trace workload=reg-add iterations=9 counter=ranges ranges=2-1",
		  "ranges-are-HEX-HEX,...-up-to-4" },
		{ "trace workload=reg-add iterations=9 counter=ranges ranges=0-1,",
		  "ranges-are-HEX-HEX,...-up-to-4" },
		{ "trace workload=reg-add iterations=9 counter=ranges ranges=123456789-1",
		  "ranges-are-HEX-HEX,...-up-to-4" },
		{ "trace workload=reg-add iterations=9 counter=ranges ranges=0-1,2-3,4-5,6-7,8-9",
		  "ranges-are-HEX-HEX,...-up-to-4" },
		{ "energy workload=x iterations=1", "no-such-workload" },
		{ "delay iterations=1", "no-such-workload" },
	};
	struct sim_chip c;
	char line[300], wanted[100];

	(void)state;
	sim_chip_init(&c, SEED, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(line, sizeof(line), "%s\n", bad[i].line);
		snprintf(wanted, sizeof(wanted), "error why=%s\r\n> ", bad[i].why);
		assert_string_equal(tell(&c, line), wanted);
	}
	memset(line, 'x', 250);
	strcpy(line + 250, "\n");
	assert_string_equal(tell(&c, line), "error why=not-understood\r\n> ");
	sim_chip_free(&c);
}

static void a_reboot_forgets_the_setting(void **state)
{
	struct sim_chip c;

	(void)state;
	sim_chip_init(&c, SEED, 0);
	tell(&c, "set hz=26000000 policy=low-voltage adaption=0 cache=0\n");
	assert_non_null(
		strstr(tell(&c, "get\n"), "hz=26000000 policy=low-voltage adaption=0 cache=0"));
	assert_non_null(strstr(tell(&c, "reboot\n"), BENCH_BANNER));
	assert_non_null(
		strstr(tell(&c, "get\n"), "hz=80000000 policy=fast-flash adaption=1 cache=1"));
	sim_chip_free(&c);
}

/*
 * Every workload that is listed runs, by every command, and the host's reader understands what is
 * said.
 */
static void every_workload_listed_runs(void **state)
{
	static const char *const commands[] = { "trace", "energy", "delay" };
	struct sim_chip c;
	char *list, *line, *save = NULL;
	unsigned n = 0;

	(void)state;
	sim_chip_init(&c, SEED, 0);
	list = strdup(tell(&c, "list\n"));
	for (line = strtok_r(list, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		char name[40], text[200], said[40];

		if (sscanf(line, "item workload=%39s", name) != 1)
			continue;
		n++;
		for (int k = 0; k < 3; k++) {
			struct cvl_error err;
			struct answer a;
			uint64_t v;

			snprintf(text, sizeof(text),
				 "%s workload=%s iterations=1000 counter=cycles\n", commands[k],
				 name);
			tell(&c, text);
			assert_int_equal(answer_read(&a, c.out, c.out_n, "chip", &err), 0);
			assert_true(a.ok);
			assert_true(answer_text(&a, "workload", said, sizeof(said)));
			assert_string_equal(said, name);
			assert_true(answer_u64(&a, "iterations", &v) && v == 1000);
			assert_true(answer_u64(&a, "us", &v) && v > 0);
			assert_true(answer_u64(&a, "count", &v) == (k == 0));
			if (k == 0)
				assert_true(v > 0 && v % 256 == 0); /* whole packets */
		}
	}
	assert_int_equal(n, 17);
	free(list);
	sim_chip_free(&c);
}

static void ranges_are_read(void **state)
{
	struct bench_range r[BENCH_MAX_RANGES];

	(void)state;
	assert_int_equal(say_ranges("20000000-20017fff,0-ffffffff pass=1", r), 2);
	assert_true(r[0].from == 0x20000000 && r[0].to == 0x20017fff);
	assert_true(r[1].from == 0 && r[1].to == UINT32_MAX);
}

/* Noise of any length, and then a line: it is answered, with a prompt. */
static void noise_does_not_silence_it(void **state)
{
	struct sim_random random = { SEED };
	struct sim_chip c;

	(void)state;
	sim_chip_init(&c, SEED, 0);
	for (int trial = 0; trial < 500; trial++) {
		char noise[400];
		size_t n = sim_u64(&random) % sizeof(noise);
		const char *answer;

		for (size_t i = 0; i < n; i++)
			noise[i] = (char)sim_u64(&random);
		told(&c, noise, n);
		tell(&c, "\n");
		answer = tell(&c, "get\n");
		assert_memory_equal(answer, "ok board=", 9);
		assert_string_equal(answer + strlen(answer) - 4, "\r\n> ");
	}
	sim_chip_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_greets_and_prompts),
		cmocka_unit_test(every_line_end_gives_one_prompt),
		cmocka_unit_test(bad_lines_are_refused_with_a_reason),
		cmocka_unit_test(a_reboot_forgets_the_setting),
		cmocka_unit_test(every_workload_listed_runs),
		cmocka_unit_test(ranges_are_read),
		cmocka_unit_test(noise_does_not_silence_it),
	};

	print_message("seed %d\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
