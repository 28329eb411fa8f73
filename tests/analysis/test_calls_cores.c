/* SPDX-License-Identifier: MIT */
/* `coeval calls` on nine simulated cores of which the truth is known: what it says must be that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <string.h>

#include "test_draw.h"
#include "test_scratch.h"

#include "calls_world.h"

/* By which what task X took may be off: two clocks and their maps are within 200 ppm each. */
#define OFF (world.x_ns * 2 / 2500 + 10000)

static struct calls_world world;
static json_t *found;

static int make_world(void **state)
{
	char session[300], rules[300], command[1000];
	json_error_t why;
	FILE *f;

	if (make_scratch(state))
		return -1;
	snprintf(session, sizeof(session), "%s/s", scratch);
	snprintf(rules, sizeof(rules), "%s/match.yaml", scratch);
	calls_world_make(&world, 1, session, rules);
	snprintf(command, sizeof(command), "%s calls %s --json --path process_image", COEVAL_BINARY,
		 session);
	f = popen(command, "r");
	found = f ? json_loadf(f, 0, &why) : NULL;
	if (!found)
		fprintf(stderr, "%s: %s\n", command, why.text);
	if (getenv("COEVAL_KEEP"))
		fprintf(stderr, "kept: %s\n", scratch);
	return found && pclose(f) == 0 ? 0 : -1;
}

static int remove_world(void **state)
{
	json_decref(found);
	return getenv("COEVAL_KEEP") ? 0 : remove_scratch(state);
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static int64_t number(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

static void the_cause_is_named(void **state)
{
	unsigned a = world.a < world.b ? world.a : world.b, b = world.a + world.b - a;
	const json_t *findings = json_object_get(found, "findings"), *one;
	char wanted[200];
	size_t i, hits = 0;

	(void)state;
	snprintf(wanted, sizeof(wanted),
		 "slave%u and slave%u: main preempted by task X for %lld ms (took ", a, b,
		 (long long)(world.x_ns / WORLD_MS));
	json_array_foreach(findings, i, one)
	{
		printf("%s\n", text(one, "text"));
		hits += !strncmp(text(one, "text"), wanted, strlen(wanted));
		/* no other is reported as preempted */
		if (!strcmp(text(one, "cause"), "preempted"))
			assert_memory_equal(text(one, "text"), wanted, strcspn(wanted, ":"));
	}
	if (hits != 1)
		fail_msg("no such finding: %s", wanted);
}

static void the_master_is_said_to_have_waited_for_them(void **state)
{
	const json_t *one;
	size_t i;
	bool seen = false;

	(void)state;
	json_array_foreach(json_object_get(found, "findings"), i, one)
	{
		char a[40], b[40];

		snprintf(a, sizeof(a), "for slave%u/worker", world.a);
		snprintf(b, sizeof(b), "for slave%u/worker", world.b);
		if (!strcmp(text(one, "where"), "master") &&
		    !strcmp(text(one, "cause"), "waited") &&
		    (strstr(text(one, "text"), a) || strstr(text(one, "text"), b)))
			seen = true;
	}
	assert_true(seen);
}

static void nothing_had_to_be_repaired(void **state)
{
	static const char *const keys[] = { "gaps",     "lost_entries", "lost_exits", "open",
					    "too_deep", "strays",       "unnamed",    "unmatched" };
	const json_t *repairs = json_object_get(found, "repairs");

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_int_equal(number(repairs, keys[i]), 0);
	assert_int_equal(number(found, "messages"), world.messages);
}

static void all_spans_are_there_and_as_long_as_they_were(void **state)
{
	const json_t *one;
	int64_t calls = 0, total = 0, truth = 0;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(found, "functions"), i, one)
	{
		calls += number(one, "calls");
		if (strcmp(text(one, "function"), "main"))
			continue;
		total += number(one, "total_ns");
		assert_int_equal(number(one, "calls"), world.runs);
	}
	assert_int_equal(calls, world.spans);
	for (unsigned r = 0; r < world.runs; r++)
		for (unsigned s = 0; s < WORLD_SLAVES; s++)
			truth += world.main_ns[r][s];
	assert_in_range(total, truth - truth / 2000, truth + truth / 2000);
}

static void preemption_is_no_self_time(void **state)
{
	const json_t *one;
	int64_t preempted = 0;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(found, "functions"), i, one)
	{
		if (!strcmp(text(one, "function"), "main"))
			preempted += number(one, "preempted_ns");
		if (!strcmp(text(one, "function"), "sobel_row")) /* 32 rows of 12 ms at the most */
			assert_in_range(number(one, "self_ns"), 0, 32 * 12100000);
	}
	assert_in_range(preempted, 2 * world.x_ns - OFF, 2 * world.x_ns + OFF);
}

/*
 * The longest run is the bad one: back from its end through the answer of a slave that was
 * preempted.
 */
static void the_critical_path_goes_through_a_preempted_slave(void **state)
{
	const json_t *path = json_object_get(found, "path"), *step;
	int64_t at = number(path, "from_ns"), preempted = 0, length;
	size_t i;

	(void)state;
	length = number(path, "to_ns") - at;
	assert_in_range(length, world.process_ns[world.bad_run] - 100000,
			world.process_ns[world.bad_run] + 100000);
	json_array_foreach(json_object_get(path, "steps"), i, step)
	{
		unsigned slave;
		char task[20];

		assert_int_equal(number(step, "from_ns"), at); /* without a hole */
		at = number(step, "to_ns");
		if (strcmp(text(step, "kind"), "preempted"))
			continue;
		assert_int_equal(sscanf(text(step, "lane"), "slave%u/%19s", &slave, task), 2);
		assert_true(slave == world.a || slave == world.b);
		assert_true(strstr(text(step, "by"), "/X") != NULL);
		preempted += at - number(step, "from_ns");
	}
	assert_int_equal(at, number(path, "to_ns"));
	assert_in_range(preempted, world.x_ns - OFF, world.x_ns + OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cause_is_named),
		cmocka_unit_test(the_master_is_said_to_have_waited_for_them),
		cmocka_unit_test(nothing_had_to_be_repaired),
		cmocka_unit_test(all_spans_are_there_and_as_long_as_they_were),
		cmocka_unit_test(preemption_is_no_self_time),
		cmocka_unit_test(the_critical_path_goes_through_a_preempted_slave),
	};

	return cmocka_run_group_tests(tests, make_world, remove_world);
}
