/* SPDX-License-Identifier: MIT */
/*
 * Worlds made to mislead: nothing that is called proven or good may be wrong in them, and what
 * something decides is decided. COEVAL_WORLDS says of how many each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "../bench/traps.h"

#include "test_scratch.h"
#include "tier.h"

/* Over all kinds: what something decides is good, and bounds hold. */
static struct {
	unsigned decidable, good;
	uint64_t likely, outside;
} all;

static uint64_t first_seed(void)
{
	return seed_of_run();
}

static unsigned worlds(void)
{
	const char *s = getenv("COEVAL_WORLDS");

	return s ? (unsigned)strtoul(s, NULL, 10) : tier(10, 60, 1700);
}

static void run_kind(enum trap_ties ties)
{
	struct trap_tally t = { 0 };
	uint64_t first = first_seed();
	struct cvl_error err;

	for (unsigned i = 0; i < worlds(); i++)
		if (trap_run(first + i, ties, scratch, &t, &err))
			fail_msg("seed %llu: %s", (unsigned long long)first + i, err.text);
	printf("%s, seeds from %llu: %u worlds, %u clocks, %u good, %u ambiguous; proven %llu, outside %llu; 99.9 %% %llu, outside %llu; off by a "
	       "period %u; decidable %u of %u good; first bad seed %llu\n",
	       trap_names[ties], (unsigned long long)first, t.worlds, t.clocks, t.good, t.ambiguous,
	       (unsigned long long)t.proven, (unsigned long long)t.proven_outside,
	       (unsigned long long)t.likely, (unsigned long long)t.likely_outside, t.by_period,
	       t.decidable_good, t.decidable, (unsigned long long)t.first_bad);
	assert_int_equal(t.proven_outside, 0);
	assert_int_equal(t.by_period, 0);
	assert_true((double)t.likely_outside <= 0.01 * (double)t.likely + 3);
	assert_true(t.decidable_good + 3 >= 0.9 * t.decidable);
	all.decidable += t.decidable;
	all.good += t.decidable_good;
	all.likely += t.likely;
	all.outside += t.likely_outside;
}

static void pulses_alone(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES);
}

static void pulses_and_claims(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_CLAIMS);
}

static void references_of_their_own(void **state)
{
	(void)state;
	run_kind(TRAP_REFERENCES);
}

static void pulses_and_beacons(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_BEACONS);
}

static void pulses_and_an_edge(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_ALIGN);
}

static void pulses_and_messages(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_MESSAGES);
}

static void messages(void **state)
{
	(void)state;
	run_kind(TRAP_MESSAGES);
}

static void keys_that_wrap(void **state)
{
	(void)state;
	run_kind(TRAP_WRAPS);
}

static void keys_that_wrap_and_claims(void **state)
{
	(void)state;
	run_kind(TRAP_WRAPS_CLAIMS);
}

static void keys_of_several_hops(void **state)
{
	(void)state;
	run_kind(TRAP_HOPS);
}

/*
 * The last of the tests. Pairs of one world err together: 24 times of one may lie outside at once.
 */
static void over_all_worlds(void **state)
{
	(void)state;
	printf("decidable %u, of these good %u; 99.9 %% bounds %llu, outside %llu\n", all.decidable,
	       all.good, (unsigned long long)all.likely, (unsigned long long)all.outside);
	assert_true(all.good + 3 >= 0.98 * all.decidable);
	assert_true((double)all.outside <= 0.001 * (double)all.likely + 2 * TRAP_TIMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pulses_alone),
		cmocka_unit_test(pulses_and_claims),
		cmocka_unit_test(references_of_their_own),
		cmocka_unit_test(pulses_and_beacons),
		cmocka_unit_test(pulses_and_an_edge),
		cmocka_unit_test(pulses_and_messages),
		cmocka_unit_test(messages),
		cmocka_unit_test(keys_that_wrap),
		cmocka_unit_test(keys_that_wrap_and_claims),
		cmocka_unit_test(keys_of_several_hops),
		cmocka_unit_test(over_all_worlds),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
