/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <coeval/sim.h>

#include <stdio.h>
#include <string.h>

#include "test_scratch.h"

static const char world[] =
	"name: w\nduration: 100s\n"
	"clocks:\n  - { name: n, count: 3, rate: 8 MHz }\n  - { name: z, rate: 1 MHz }\n"
	"faults:\n  - { kind: outage, who: n1, at: 20s, for: 1s }\n"
	"  - { kind: outage, who: n1, at: 60s, for: 1s }\n";

static struct cvl_sim *load(void)
{
	struct cvl_sim *sim;
	struct cvl_error err;

	if (cvl_sim_parse(&sim, world, strlen(world), "w", &err))
		fail_msg("%s", err.text);
	return sim;
}

static void clocks_are_listed_by_their_names(void **state)
{
	static const char *const names[] = { "n1", "n2", "n3", "z" };
	struct cvl_sim *sim = load();
	struct cvl_sim_info info;
	char name[CVL_SIM_NAME];

	(void)state;
	cvl_sim_info(sim, &info);
	assert_int_equal(info.clocks, 4);
	assert_null(info.pulse_line);
	for (size_t i = 0; i < 4; i++) {
		assert_true(cvl_sim_clock(sim, i, name));
		assert_string_equal(name, names[i]);
	}
	assert_false(cvl_sim_clock(sim, 4, name));
	cvl_sim_free(sim);
}

static void a_refused_duration_changes_nothing(void **state)
{
	struct cvl_sim *sim = load();
	struct cvl_sim_info info;
	struct cvl_error err;
	size_t dropped;

	(void)state;
	assert_int_equal(cvl_sim_duration(sim, -1, &dropped, &err), CVL_E_USAGE);
	cvl_sim_info(sim, &info);
	assert_int_equal(info.duration_ns, 100000000000);
	assert_int_equal(cvl_sim_duration(sim, 50000000000, &dropped, &err), 0);
	assert_int_equal(dropped, 1);
	cvl_sim_free(sim);
}

static bool twice(void *ctx, uint64_t done, uint64_t total)
{
	(void)total;
	*(uint64_t *)ctx = done;
	return done < 2;
}

static void simulating_can_be_cancelled(void **state)
{
	struct cvl_sim *sim = load();
	uint64_t done = 0;
	char path[300];
	struct cvl_session *s;
	struct cvl_error err;

	(void)state;
	snprintf(path, sizeof(path), "%s/s", scratch);
	assert_int_equal(cvl_sim_duration(sim, 5000000000, NULL, &err), 0);
	assert_int_equal(cvl_sim_run(sim, path, &(struct cvl_progress){ twice, &done }, &err),
			 CVL_E_CANCELLED);
	assert_int_equal(done, 2);
	assert_int_equal(cvl_session_open(&s, path, NULL, &err), 0);
	assert_int_equal(cvl_session_clocks(s), 2);
	cvl_session_close(s);
	cvl_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_are_listed_by_their_names),
		cmocka_unit_test(a_refused_duration_changes_nothing),
		cmocka_unit_test(simulating_can_be_cancelled),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
