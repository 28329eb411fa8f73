/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <coeval/time.h>

#include "core/crc32c.h"
#include "test_draw.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static void durations_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "0", 0 },
		{ "1", 1000000000 },
		{ "1.2", 1200000000 },
		{ "-3", -3000000000 },
		{ "+3", 3000000000 },
		{ ".5", 500000000 },
		{ "5.", 5000000000 },
		{ "1s", 1000000000 },
		{ "250ms", 250000000 },
		{ "10us", 10000 },
		{ "5 ns", 5 },
		{ "5 ", 5000000000 },
		{ "1.9ns", 1 },
		{ "0.000000001", 1 },
		{ "0.0000000019999", 1 },
		{ "-0.0000000019999", -1 },
		{ "2m", 120000000000 },
		{ "2min", 120000000000 },
		{ "1h", 3600000000000 },
		{ "1.5h", 5400000000000 },
		{ "1.0005ms", 1000500 },
		{ "9223372036.854775807", INT64_MAX },
		{ "-9223372036.854775807", -INT64_MAX },
		{ "9223372036854775807ns", INT64_MAX },
		{ "0000000000000000000000000000001", 1000000000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ns = 42;
		int rc = cvl_duration_parse(cases[i].text, &ns);

		if (rc || ns != cases[i].ns)
			fail_msg("'%s': %d, %" PRId64, cases[i].text, rc, ns);
	}
}

static void what_is_no_duration_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		".",
		"-",
		"+-3",
		"- 3",
		"s",
		"1.2.3",
		"1.2.3s",
		"1e3",
		"5 5ns",
		" 3",
		"3x",
		"3 msx",
		"0x10",
		"nan",
		"inf",
		"1,5",
		"9223372036.854775808",
		"-9223372036.854775809",
		"18446744073709551616ns",
		"99999999999999999999999999999999999999999999",
		"2562048h",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ns;

		if (!cvl_duration_parse(cases[i], &ns))
			fail_msg("'%s' gave %" PRId64, cases[i], ns);
	}
}

static void rates_are_exact(void **state)
{
	static const struct {
		const char *text;
		uint64_t hz;
	} cases[] = {
		{ "1", 1 },
		{ "32768", 32768 },
		{ "8M", 8000000 },
		{ "8 MHz", 8000000 },
		{ "8mhz", 8000000 },
		{ "1.5k", 1500 },
		{ "1.5 kHz", 1500 },
		{ "48000Hz", 48000 },
		{ "10G", 10000000000 },
		{ "24.000001M", 24000001 },
		{ "1.0019k", 1001 },
		{ "18446744073709551615", UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t hz = 42;
		int rc = cvl_rate_parse(cases[i].text, &hz);

		if (rc || hz != cases[i].hz)
			fail_msg("'%s': %d, %" PRIu64, cases[i].text, rc, hz);
	}
}

static void what_is_no_rate_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"0",
		"0.9",
		"0M",
		"-8M",
		"+8M",
		".",
		"M",
		"Hz",
		"8MM",
		"8Mx",
		"8 M Hz",
		"1.2.3",
		"1.2.3k",
		"1k5",
		"8e6",
		" 8M",
		"18446744073709551616",
		"18446744073709551615k",
		"8 8",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t hz;

		if (!cvl_rate_parse(cases[i], &hz))
			fail_msg("'%s' gave %" PRIu64, cases[i], hz);
	}
}

static void times_are_written_with_nine_decimals(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0.000000000" },
		{ 1, "0.000000001" },
		{ -1, "-0.000000001" },
		{ 999999999, "0.999999999" },
		{ 1000000000, "1.000000000" },
		{ -1000000000, "-1.000000000" },
		{ 1234567890123456789, "1234567890.123456789" },
		{ INT64_MAX, "9223372036.854775807" },
		{ INT64_MIN, "-9223372036.854775808" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[CVL_TIME_TEXT];
		size_t n = cvl_time_text(text, (struct cvl_time){ cases[i].ns });

		assert_string_equal(text, cases[i].text);
		assert_int_equal(n, strlen(text));
	}
}

static void every_time_written_is_read_again(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 100000; i++) {
		int64_t ns = (int64_t)draw_size(&d, 63) * (draw_below(&d, 2) ? 1 : -1), back;
		char text[CVL_TIME_TEXT];

		cvl_time_text(text, (struct cvl_time){ ns });
		if (cvl_duration_parse(text, &back) || back != ns)
			fail_msg("%" PRId64 " was written as %s", ns, text);
	}
}

static void bounds_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },
		{ 1, "1 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 9994, "9.99 us" },
		{ 9995, "10.0 us" },
		{ 11900, "11.9 us" },
		{ 99940, "99.9 us" },
		{ 99950, "100 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 125000000, "125 ms" },
		{ 999500000, "1.00 s" },
		{ 60000000000, "60.0 s" },
		{ 3600000000000, "3600 s" },
		{ CVL_BOUND_UNKNOWN, "unknown" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[CVL_TIME_TEXT];
		size_t n = cvl_bound_text(text, cases[i].ns);

		assert_string_equal(text, cases[i].text);
		assert_int_equal(n, strlen(text));
	}
}

static void sums_stay_at_the_ends(void **state)
{
	(void)state;
	assert_true(cvl_add_sat(INT64_MAX, 1) == INT64_MAX);
	assert_true(cvl_add_sat(INT64_MIN, -1) == INT64_MIN);
	assert_true(cvl_add_sat(INT64_MAX, INT64_MIN) == -1);
	assert_true(cvl_add_sat(-5, 7) == 2);
}

/* RFC 3720, appendix B.4 */
static void crc32c_has_the_values_of_the_rfc(void **state)
{
	uint8_t zeros[32], ones[32], up[32], down[32];

	(void)state;
	memset(zeros, 0, 32);
	memset(ones, 0xff, 32);
	for (uint8_t i = 0; i < 32; i++) {
		up[i] = i;
		down[i] = (uint8_t)(31 - i);
	}
	for (int fast = 0; fast < 2; fast++) {
		uint32_t (*crc)(uint32_t, const void *, size_t) =
			fast ? cvl_crc32c : cvl_crc32c_plain;

		assert_int_equal(crc(0, zeros, 32), 0x8a9136aa);
		assert_int_equal(crc(0, ones, 32), 0x62a8ab43);
		assert_int_equal(crc(0, up, 32), 0x46dd794e);
		assert_int_equal(crc(0, down, 32), 0x113fdb5c);
		assert_int_equal(crc(0, "123456789", 9), 0xe3069283);
		assert_int_equal(crc(0, NULL, 0), 0);
	}
}

static void every_fast_crc32c_equals_the_plain_one(void **state)
{
	static uint8_t bytes[5000];
	struct draw d = draw_begin(2);
	cvl_crc32c_fn *fns[4];
	size_t n_fns = cvl_crc32c_all(fns, 4);

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)draw_u64(&d);
	for (int i = 0; i < 3000; i++) {
		size_t from = draw_below(&d, 64), n = draw_size(&d, 12),
		       cut = draw_below(&d, n + 1);
		uint32_t begin = (uint32_t)draw_u64(&d),
			 want = cvl_crc32c_plain(begin, bytes + from, n);

		for (size_t k = 0; k < n_fns; k++) {
			assert_int_equal(fns[k](begin, bytes + from, n), want);
			assert_int_equal(fns[k](fns[k](begin, bytes + from, cut),
						bytes + from + cut, n - cut),
					 want);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_exact),
		cmocka_unit_test(what_is_no_duration_is_refused),
		cmocka_unit_test(rates_are_exact),
		cmocka_unit_test(what_is_no_rate_is_refused),
		cmocka_unit_test(times_are_written_with_nine_decimals),
		cmocka_unit_test(every_time_written_is_read_again),
		cmocka_unit_test(bounds_have_three_digits_and_a_unit),
		cmocka_unit_test(sums_stay_at_the_ends),
		cmocka_unit_test(crc32c_has_the_values_of_the_rfc),
		cmocka_unit_test(every_fast_crc32c_equals_the_plain_one),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
