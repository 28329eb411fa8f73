/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <coeval/error.h>

#include "core/spill.h"

#define MANY (24u << 20) /* bytes: well beyond SPILL_BYTES */

/* Write @n numbers, growing by one at a time, and read them back. */
static void fill(struct spill *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(spill_room(s, (i + 1) * sizeof(uint64_t)), 0);
		assert_true(s->room >= (i + 1) * sizeof(uint64_t));
		((uint64_t *)s->at)[i] = i * 2654435761u;
		if (!(i % 65536))
			spill_rest(s);
	}
}

static void holds(const struct spill *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const uint64_t *)s->at)[i] != i * 2654435761u)
			fail_msg("number %zu of %zu is another", i, n);
}

static void what_is_new_is_zero(const struct spill *s, size_t used)
{
	for (size_t i = used; i < s->room; i++)
		if (((const uint8_t *)s->at)[i])
			fail_msg("byte %zu is %u", i, ((const uint8_t *)s->at)[i]);
}

static void a_long_array_lies_in_a_file(void **state)
{
	struct spill s = { 0 };

	(void)state;
	fill(&s, 1000);
	assert_false(s.file);
	what_is_new_is_zero(&s, 8000);
	fill(&s, MANY / 8);
	assert_true(s.file);
	spill_rest(&s);
	holds(&s, MANY / 8);
	what_is_new_is_zero(&s, MANY);
	assert_int_equal(spill_room(&s, SIZE_MAX), CVL_E_NOMEM);
	holds(&s, MANY / 8);
	spill_free(&s);
	assert_null(s.at);
	spill_free(&s);
}

static uint64_t resident_kib(void)
{
	char line[200];
	unsigned long long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static void at_rest_it_takes_no_memory(void **state)
{
	struct spill s = { 0 };
	uint64_t before, full;

	(void)state;
	assert_int_equal(spill_room(&s, 4 * MANY), 0);
	if (!s.file)
		skip();
	before = resident_kib();
	memset(s.at, 1, 4 * MANY);
	full = resident_kib();
	assert_true(full > before + 3 * MANY / 1024);
	spill_rest(&s);
	assert_true(resident_kib() < before + MANY / 1024);
	spill_free(&s);
}

/* No folder for files, and no room in it: it takes memory then. */
static void without_a_file_it_stays_in_memory(void **state)
{
	const struct rlimit small = { SPILL_BYTES * 5 / 4, RLIM_INFINITY };
	struct spill s = { 0 };
	struct rlimit was;

	(void)state;
	setenv("TMPDIR", "/nonexistent/folder", 1);
	fill(&s, MANY / 8);
	assert_false(s.file);
	holds(&s, MANY / 8);
	spill_free(&s);
	unsetenv("TMPDIR");

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ small.rlim_cur, was.rlim_max }),
			 0);
	fill(&s, MANY / 8);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_false(s.file);
	holds(&s, MANY / 8);
	spill_free(&s);
}

/* It was in a file, which can grow no more. */
static void a_file_that_is_full_is_left(void **state)
{
	struct spill s = { 0 };
	struct rlimit was;

	(void)state;
	fill(&s, MANY / 8);
	if (!s.file)
		skip();
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ s.room, was.rlim_max }), 0);
	assert_int_equal(spill_room(&s, s.room + 1), 0);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_false(s.file);
	holds(&s, MANY / 8);
	what_is_new_is_zero(&s, MANY);
	spill_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_array_lies_in_a_file),
		cmocka_unit_test(at_rest_it_takes_no_memory),
		cmocka_unit_test(without_a_file_it_stays_in_memory),
		cmocka_unit_test(a_file_that_is_full_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
