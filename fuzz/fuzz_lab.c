/* SPDX-License-Identifier: MIT */
/*
 * What comes over the wires of a bench and out of its files. The first byte says which: a shell's
 * answer, an instrument's numbers and blocks, a configuration, results, commands to a target's
 * shell.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lab/answer.h"
#include "../lab/config.h"
#include "../lab/fill.h"
#include "../lab/instrument.h"
#include "../lab/plan.h"
#include "../lab/simulated/taskbench_chip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A failure fills the error, and nothing else is a failure. */
static void said(int rc, const struct cvl_error *err)
{
	if (rc < 0 && (rc != (int)err->code || !err->text[0]))
		abort();
}

static void answer(const char *text, size_t n)
{
	struct cvl_error err = { 0 };
	struct answer a;
	char value[64], seen[90];
	uint64_t v;

	said(answer_read(&a, text, n, "fuzz", &err), &err);
	if (strlen(a.line) > ANSWER_LINE)
		abort();
	answer_u64(&a, "us", &v);
	if (answer_text(&a, "why", value, sizeof(value)) && strlen(value) >= sizeof(value))
		abort();
	if (strlen(lab_excerpt(seen, sizeof(seen), text, n)) >= sizeof(seen))
		abort();
}

static void numbers(const char *text, size_t n)
{
	struct cvl_error err = { 0 };
	char *line = strndup(text, n);
	double v[64], width;
	size_t length;
	long number;
	int rc, head = scpi_block_head(text, n, &length);

	if (!line)
		return;
	if (head > 0 && ((size_t)head > n || (length > SCPI_BLOCK && length != SIZE_MAX)))
		abort();
	rc = scpi_numbers(line, v, 64, "fuzz", &err);
	said(rc, &err);
	for (int i = 0; i < rc; i++)
		if (!isfinite(v[i]))
			abort();
	if (rc > 0 && !waveform_width(v, (size_t)rc, &width) && !(width > 0 && width < rc))
		abort();
	said(scpi_number(line, v, "fuzz", &err), &err);
	scpi_error(line, &number);
	free(line);
}

static void config(const char *text, size_t n)
{
	struct cvl_error err = { 0 };
	struct lab_plan plan = { 0 };
	struct lab_config c;
	char command[LAB_COMMAND];
	int rc = lab_config_parse(&c, text, n, "fuzz", &err);

	said(rc, &err);
	if (!rc)
		said(lab_plan_make(&plan, &c, &err), &err);
	for (size_t i = 0; i < plan.n && i < 10; i++) {
		lab_set_command(&c, &plan.step[i], command, &err);
		lab_run_command(&c, &plan.step[i], 1, 0, command, &err);
	}
	lab_plan_free(&plan);
	lab_config_free(&c);
}

static void results(const char *text, size_t n)
{
	struct results a = { 0 };
	struct cvl_error err = { 0 };

	said(results_parse(&a, text, n, "fuzz", &err), &err);
	for (size_t i = 0; i < a.n; i++)
		if (!results_name(a.row[i].key.task) ||
		    results_find(&a, &a.row[i].key) != &a.row[i])
			abort();
	results_free(&a);
}

/* The shell on the target: whatever it receives, it answers and prompts. */
static void target(const char *text, size_t n)
{
	struct sim_chip c;

	sim_chip_init(&c, 1, 0);
	sim_chip_feed(&c, (const uint8_t *)text, n);
	sim_chip_feed(&c, (const uint8_t *)"\nget\n", 5);
	if (c.out_n < 20 || memcmp(c.out + c.out_n - 3, "\n> ", 3) ||
	    !memmem(c.out, c.out_n, "ok board", 8))
		abort();
	sim_chip_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static void (*const all[])(const char *text, size_t n) = { answer, numbers, config, results,
								   target };

	if (n)
		all[data[0] % 5]((const char *)data + 1, n - 1);
	return 0;
}
