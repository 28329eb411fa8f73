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

#include "store/scan.h"
#include "tier.h"

#define SAMPLES 9000 /* two pages of the scans and a bit, of bytes */
#define ROUNDS 2500

static uint64_t seed;

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct result {
	struct cvl_tick tick[SAMPLES];
	uint64_t level[SAMPLES];
};

/*
 * Scan with @fn, at most @max edges a call, and with the reference; every call must give the same.
 */
static void compare(cvl_scan_fn *fn, const char *name, const uint8_t *p, size_t n, unsigned unit,
		    uint64_t mask, uint64_t base, uint64_t last, size_t max)
{
	static struct result want, have;
	const struct cvl_scan_out want_out = { want.tick, want.level, max };
	const struct cvl_scan_out have_out = { have.tick, have.level, max };
	uint64_t want_last = last, have_last = last;

	for (size_t at = 0, used = 1; at < n; at += used) {
		const uint8_t *from = p + at * unit;
		size_t want_used, edges, got;

		edges = cvl_scan_plain(from, n - at, unit, mask, base + at, &want_last, want_out,
				       &want_used);
		got = fn(from, n - at, unit, mask, base + at, &have_last, have_out, &used);
		if (got != edges || used != want_used || have_last != want_last)
			fail_msg(
				"%s, unit %u, %zu samples, at most %zu: %zu edges of %zu, %zu used of %zu",
				name, unit, n - at, max, got, edges, used, want_used);
		assert_memory_equal(have.tick, want.tick, got * sizeof(have.tick[0]));
		assert_memory_equal(have.level, want.level, got * sizeof(have.level[0]));
	}
}

static void every_scan_equals_the_plain_one(void **state)
{
	static const size_t densities[] = { 1, 2, 20, 100, 1000, 1000000 };
	cvl_scan_fn *fns[8];
	const char *names[8];
	size_t n_fns = cvl_scan_all(fns, names, 8);
	uint64_t x = seed;

	(void)state;
	assert_ptr_equal(fns[0], cvl_scan_plain);
	for (int round = 0; round < ROUNDS; round++) {
		const unsigned unit = 1u << draw(&x) % 4;
		const size_t align = draw(&x) % 70, n = draw(&x) % (draw(&x) % 2 ? 300 : SAMPLES);
		size_t density = densities[draw(&x) % 6];
		const size_t max = draw(&x) % 4 ? SAMPLES : 1 + draw(&x) % 9;
		const uint64_t mask = draw(&x) % 2 ? ~0ull : draw(&x);
		const uint64_t base = draw(&x), last = draw(&x);
		uint64_t now = draw(&x);
		/* No byte to spare: the address sanitizer sees a read beyond the last sample. */
		uint8_t *bytes = malloc(align + n * unit);

		assert_true(bytes || !(align + n));
		for (size_t i = 0; i < n; i++) {
			if (draw(&x) % 2500 == 0)
				density = densities[draw(&x) % 6];
			if (draw(&x) % density == 0)
				now ^= 1ull << draw(&x) % (8 * unit);
			memcpy(bytes + align + i * unit, &now, unit);
		}
		for (size_t f = 1; f < n_fns; f++)
			compare(fns[f], names[f], bytes + align, n, unit, mask, base, last, max);
		free(bytes);
	}
}

/* What the reference gives is a change of the masked levels, each of them, and nothing else. */
static void plain_scan_skips_nothing(void **state)
{
	static uint8_t bytes[SAMPLES];
	static struct result r;
	uint64_t x = seed, last = 0, level = 0;
	size_t used, n, e = 0;

	(void)state;
	for (size_t i = 0; i < SAMPLES; i++)
		bytes[i] = (uint8_t)draw(&x);
	n = cvl_scan_plain(bytes, SAMPLES, 1, 0x11, 0, &last,
			   (struct cvl_scan_out){ r.tick, r.level, SAMPLES }, &used);
	assert_int_equal(used, SAMPLES);
	for (size_t i = 0; i < SAMPLES; i++) {
		if (e < n && r.tick[e].count == i) {
			assert_true(r.level[e] != level);
			level = r.level[e++];
		}
		assert_int_equal(level, bytes[i] & 0x11);
	}
	assert_int_equal(e, n);
}

static void plain_scan_finds_what_it_should(void **state)
{
	const uint8_t bytes[] = { 1, 1, 3, 0x83, 2, 2 };
	struct cvl_tick tick[8];
	uint64_t level[8], last = 0;
	size_t used;

	(void)state;
	assert_int_equal(cvl_scan_plain(bytes, 6, 1, 3, 100, &last,
					(struct cvl_scan_out){ tick, level, 8 }, &used),
			 3);
	assert_int_equal(used, 6);
	assert_int_equal(last, 2);
	assert_int_equal(tick[0].count, 100);
	assert_int_equal(level[0], 1);
	assert_int_equal(tick[1].count, 102);
	assert_int_equal(level[1], 3);
	assert_int_equal(tick[2].count, 104);
	assert_int_equal(level[2], 2);
}

static void no_samples_are_no_edges(void **state)
{
	cvl_scan_fn *fns[8];
	const char *names[8];
	size_t n = cvl_scan_all(fns, names, 8);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct cvl_tick tick;
		uint64_t level, last = 5;
		size_t used = 9;

		assert_int_equal(fns[i]("", 0, 1, 0xff, 7, &last,
					(struct cvl_scan_out){ &tick, &level, 1 }, &used),
				 0);
		assert_int_equal(used, 0);
		assert_int_equal(last, 5);
	}
}

static void the_best_scan_is_the_last_of_all(void **state)
{
	cvl_scan_fn *fns[8];
	const char *names[8], *name;
	size_t n = cvl_scan_all(fns, names, 8);

	(void)state;
	assert_ptr_equal(cvl_scan_best(&name), fns[n - 1]);
	assert_string_equal(name, names[n - 1]);
	assert_int_equal(cvl_scan_all(fns, names, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_scan_finds_what_it_should),
		cmocka_unit_test(no_samples_are_no_edges),
		cmocka_unit_test(the_best_scan_is_the_last_of_all),
		cmocka_unit_test(plain_scan_skips_nothing),
		cmocka_unit_test(every_scan_equals_the_plain_one),
	};

	seed = seed_of_run();
	if (!seed)
		seed = 1;
	printf("COEVAL_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
