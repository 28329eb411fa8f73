/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/text.h"
#include "tier.h"

typedef unsigned __int128 u128;

static void times_are_exact(void **state)
{
	static const struct {
		const char *text;
		int exp10;
		uint64_t rate_hz, count;
		bool negative;
	} cases[] = {
		{ "0", 0, 1000, 0, false },
		{ "-0.0", 0, 1000, 0, false },
		{ "1.853462744", 0, 1000000000, 1853462744, false },
		{ "+1.5", 0, 10, 15, false },
		{ "-.25", 0, 4, 1, true },
		{ "3.", 0, 1, 3, false },
		{ "1.5e-06", 0, 1000000000, 1500, false },
		{ "0.0000015E+3", 0, 1000000, 1500, false },
		{ "12.5", -3, 1000000, 12500, false },
		{ "1700000000.1234567", 0, 10000000, 17000000001234567, false },
		/* halves go away from zero, and the digit that decides may be the last of many */
		{ "0.5", 0, 1, 1, false },
		{ "-0.5", 0, 1, 1, true },
		{ "0.4999999999999999999999999999999999999999999999", 0, 1, 0, false },
		{ "0.5000000000000000000000000000000000000000000001", 0, 1, 1, false },
		{ "0.333333333333333333333333333333333333333333333", 0, 3, 1, false },
		{ "18446744073709551615", 0, 1, UINT64_MAX, false },
		{ "0.999999999999999999999999999999", 0, UINT64_MAX, UINT64_MAX, false },
		{ "0e999999999999999999999999", 0, 1, 0, false },
		{ "1e-999999999999999999999999", 0, UINT64_MAX, 0, false },
		{ "00000000000000000000000000000000000000001", 0, 1, 1, false },
		{ "0.00000000000000000001", 0, UINT64_MAX, 0, false },
		{ "0.0000000000000000001", 0, UINT64_MAX, 2, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cvl_text_ticks t;
		int rc = cvl_text_ticks(cases[i].text, cases[i].exp10, cases[i].rate_hz, &t);

		if (rc || t.count != cases[i].count || t.negative != cases[i].negative)
			fail_msg("%s: %d, %" PRIu64 "%s", cases[i].text, rc, t.count,
				 t.negative ? " negative" : "");
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} cases[] = {
		{ "", CVL_E_SYNTAX },
		{ ".", CVL_E_SYNTAX },
		{ "-", CVL_E_SYNTAX },
		{ "1..2", CVL_E_SYNTAX },
		{ "1e", CVL_E_SYNTAX },
		{ "1e+", CVL_E_SYNTAX },
		{ "1.2.3", CVL_E_SYNTAX },
		{ " 1", CVL_E_SYNTAX },
		{ "1 ", CVL_E_SYNTAX },
		{ "nan", CVL_E_SYNTAX },
		{ "inf", CVL_E_SYNTAX },
		{ "0x10", CVL_E_SYNTAX },
		{ "1,5", CVL_E_SYNTAX },
		{ "--1", CVL_E_SYNTAX },
		{ "1e30", CVL_E_RANGE },
		{ "18446744073709551616", CVL_E_RANGE },
		{ "1e99999999999999999999", CVL_E_RANGE },
		{ "18446744073709551615.5", CVL_E_RANGE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cvl_text_ticks t;

		if (cvl_text_ticks(cases[i].text, 0, 1, &t) != cases[i].rc)
			fail_msg("\"%s\" is not refused as it should be", cases[i].text);
	}
}

static uint64_t rng(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/*
 * Numbers of up to 18 digits behind the point, so that the whole fits 128 bits and can be divided
 * at once.
 */
static void random_times_agree_with_128_bit_division(void **state)
{
	uint64_t seed = seed_of_run();
	uint64_t s = seed * 2 + 1;

	(void)state;
	printf("seed %" PRIu64 "\n", seed);
	for (int i = 0; i < 200000; i++) {
		unsigned decimals = (unsigned)(rng(&s) % 19), shift = (unsigned)(rng(&s) % 20);
		uint64_t scale = 1, rate = rng(&s) >> rng(&s) % 40, whole = rng(&s) >> 40;
		struct cvl_text_ticks t = { 0 };
		uint64_t part, rest;
		u128 ticks;
		char text[96];
		size_t n;
		int rc;

		for (unsigned d = 0; d < decimals; d++)
			scale *= 10;
		part = rng(&s) % scale;
		ticks = (u128)part * rate;
		rest = (uint64_t)(ticks % scale);
		ticks = ticks / scale + (u128)whole * rate + (rest >= scale - rest);
		n = (size_t)snprintf(text, sizeof(text), "%" PRIu64, whole);
		if (decimals)
			n += (size_t)snprintf(text + n, sizeof(text) - n, ".%0*" PRIu64,
					      (int)decimals, part);
		/* the same number, its point moved and moved back */
		if (i & 1)
			snprintf(text + n, sizeof(text) - n, "e-%u", shift);
		rc = cvl_text_ticks(text, i & 1 ? (int)shift : 0, rate, &t);
		if (ticks > UINT64_MAX ? rc != CVL_E_RANGE : rc || t.count != (uint64_t)ticks)
			fail_msg("%s at %" PRIu64 " Hz: %d, %" PRIu64 ", not %" PRIu64, text, rate,
				 rc, t.count, (uint64_t)ticks);
	}
}

static void reals_are_decimal_and_finite(void **state)
{
	static const char *const bad[] = {
		"", "nan", "inf", "-inf", "1e999", "0x1p3", "1.5V", " 1"
	};
	double v;

	(void)state;
	assert_int_equal(cvl_text_real("-1.25e2", &v), 0);
	assert_true(v == -125);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(cvl_text_real(bad[i], &v), CVL_E_SYNTAX);
}

static void lines_are_cut_at_commas(void **state)
{
	static const struct {
		const char *line;
		size_t n;
		const char *cells[4];
	} cases[] = {
		{ "a,b,c", 3, { "a", "b", "c" } },
		{ "", 1, { "" } },
		{ ",", 2, { "", "" } },
		{ " a b ,\tc\t", 2, { "a b", "c" } },
		{ "\"a,b\",c", 2, { "a,b", "c" } },
		{ "\"say \"\"no\"\"\" , \"\"", 2, { "say \"no\"", "" } },
		{ "a\"b,c", 2, { "a\"b", "c" } },
		{ "\"a", 0, { NULL } },
		{ "\"a\"b,c", 0, { NULL } },
		{ "1,2,3,4,5", 5, { "1", "2", "3", "4" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[64], *cells[4];

		strcpy(line, cases[i].line);
		assert_int_equal(cvl_text_split(line, cells, 4), cases[i].n);
		for (size_t j = 0; j < cases[i].n && j < 4; j++)
			assert_string_equal(cells[j], cases[i].cells[j]);
	}
}

static void a_list_renames_the_first_lines(void **state)
{
	char *names[3] = { strdup("x"), strdup("y"), strdup("z") };

	(void)state;
	assert_int_equal(cvl_text_rename(NULL, names, 3), 0);
	assert_string_equal(names[0], "x");
	assert_int_equal(cvl_text_rename("a,bc", names, 3), 0);
	assert_string_equal(names[0], "a");
	assert_string_equal(names[1], "bc");
	assert_string_equal(names[2], "z");
	assert_int_equal(cvl_text_rename("a,b,c,d", names, 3), CVL_E_USAGE);
	for (size_t i = 0; i < 3; i++)
		free(names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(random_times_agree_with_128_bit_division),
		cmocka_unit_test(reals_are_decimal_and_finite),
		cmocka_unit_test(lines_are_cut_at_commas),
		cmocka_unit_test(a_list_renames_the_first_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
