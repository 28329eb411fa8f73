/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include "analysis/freq/device.h"
#include "analysis/freq/table.h"
#include "test_draw.h"

/* ---- device files ---- */

static void example_holds_what_the_thesis_gives(void **state)
{
	static const uint32_t hz[] = { 80000000, 53333333, 40000000, 26666667, 13333333 };
	const struct device_policy *fast, *low;
	struct swo_device rules;
	struct cvl_error err;
	struct device d;

	(void)state;
	if (device_load(&d, COEVAL_SOURCE_DIR "/examples/devices/stm32l476.yaml", &err))
		fail_msg("%s", err.text);
	fast = device_policy(&d, "fast-flash");
	low = device_policy(&d, "low-voltage");
	assert_ptr_equal(device_policy(&d, NULL), fast);
	assert_null(device_policy(&d, "slow"));
	assert_int_equal(fast->n, 5);
	for (uint32_t p = 0; p < 5; p++) {
		assert_int_equal(fast->point[p].hz, hz[p]);
		assert_int_equal(fast->point[p].wait_states, 4 - p);
		assert_int_equal(fast->point[p].static_uw, 2782);
		/* the two policies differ at the lowest only (8.4.1) */
		assert_int_equal(!memcmp(&fast->point[p], &low->point[p], sizeof(fast->point[p])),
				 p < 4);
	}
	assert_int_equal(low->point[4].millivolt, 1000);
	assert_int_equal(d.fixed_wait_states, 4);
	rules = device_rules(&d, fast);
	assert_int_equal(rules.alpha_c_ff, 387647);
}

static void device_error(const char *text, enum cvl_code code, uint64_t offset, const char *says)
{
	struct cvl_error err = { 0 };
	struct device d;

	assert_int_equal(device_parse(&d, text, strlen(text), "d.yaml", &err), code);
	assert_int_equal(err.code, code);
	if (err.offset != offset || !strstr(err.text, says))
		fail_msg("at %llu: %s", (unsigned long long)err.offset, err.text);
}

#define HEAD "name: x\nalpha_c: 1e-10\nfixed_wait_states: 1\npolicies:\n  - name: a\n    points:\n"
#define POINT "      - { frequency: 8MHz, volt: 1, wait_states: 0, static_mw: 1 }\n"

static void wrong_device_files_are_refused_with_their_place(void **state)
{
	struct cvl_error err;
	struct device d;

	(void)state;
	assert_int_equal(device_parse(&d, HEAD POINT, strlen(HEAD POINT), "d", &err), 0);
	device_error("", CVL_E_SYNTAX, 0, "expected a device");
	device_error("[1]", CVL_E_SYNTAX, 0, "a mapping with name, alpha_c");
	device_error("name: x\n", CVL_E_SYNTAX, 0, "missing key 'alpha_c' of a device");
	device_error("name: x\ncolour: red\n", CVL_E_SYNTAX, 8,
		     "unknown key 'colour'; expected one of name, alpha_c");
	device_error("name: x\nname: y\n", CVL_E_SYNTAX, 8, "duplicate key 'name'");
	device_error("name: x\nalpha_c: 1\n", CVL_E_SYNTAX, 17, "`alpha_c` must be");
	device_error("name: x\nalpha_c: nan\n", CVL_E_SYNTAX, 17, "`alpha_c` must be");
	/* bytes, not characters */
	device_error("name: \xc3\xa9\nalpha_c: 1\n", CVL_E_SYNTAX, 18, "`alpha_c` must be");
	device_error(HEAD "      []\n", CVL_E_SYNTAX, sizeof(HEAD) - 1 + 6, "a list of 1 to 8");
	device_error(HEAD POINT POINT, CVL_E_SYNTAX, sizeof(HEAD POINT) - 1 + 8,
		     "highest frequency to the lowest");
	device_error(HEAD "      - { frequency: 8, volt: 1, wait_states: 0, static_mw: 1 }\n",
		     CVL_E_SYNTAX, sizeof(HEAD) - 1 + 21, "`frequency` must be");
	device_error(HEAD "      - { frequency: 8MHz, volt: 1, wait_states: -1, static_mw: 1 }\n",
		     CVL_E_SYNTAX, sizeof(HEAD) - 1 + 49, "`wait_states` must be");
	device_error(HEAD POINT "  - name: a\n    points:\n" POINT, CVL_E_SYNTAX,
		     sizeof(HEAD POINT) - 1 + 4, "the same name");
	device_error(HEAD POINT "---\nmore: 1\n", CVL_E_SYNTAX, sizeof(HEAD POINT) - 1,
		     "one document");
	device_error("name: [", CVL_E_SYNTAX, 7, "");
}

static void a_device_file_too_long_is_refused(void **state)
{
	static char text[(1 << 20) + 1];
	struct cvl_error err;
	struct device d;

	(void)state;
	memset(text, '\n', sizeof(text));
	assert_int_equal(device_parse(&d, text, sizeof(text), "d", &err), CVL_E_LIMIT);
}

/* ---- tables ---- */

static int parse(struct task_table *t, const char *text, struct cvl_error *err)
{
	char *copy = malloc(strlen(text) + 1);
	int rc;

	assert_non_null(copy);
	strcpy(copy, text);
	rc = table_parse(t, copy, strlen(text), "t.csv", err);
	free(copy);
	return rc;
}

static void columns_may_stand_in_any_order(void **state)
{
	struct cvl_error err;
	struct task_table t;

	(void)state;
	assert_int_equal(parse(&t,
			       "# measured\n\ncycles,frequency,task,energy_uj,lsu,cache\r\n"
			       "1000, 80MHz ,\"a,b\",2.5,,off\r\n7,13333333,c,,9,on",
			       &err),
			 0);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.row[0].task, "a,b");
	assert_int_equal(t.row[0].hz, 80000000);
	assert_int_equal(t.row[0].count.cycles, 1000);
	assert_true(t.row[0].count.lsu == SWO_UNKNOWN && t.row[0].count.cpi == SWO_UNKNOWN);
	assert_true(t.row[0].energy_j > 2.4999e-6 && t.row[0].energy_j < 2.5001e-6);
	assert_true(t.row[0].adaption && !t.row[0].cache && t.row[1].cache);
	assert_string_equal(t.row[0].policy, "");
	assert_true(t.row[1].energy_j < 0);
	assert_int_equal(t.row[1].count.lsu, 9);
	table_free(&t);
}

static void table_error(const char *text, enum cvl_code code, uint64_t offset, const char *says)
{
	struct cvl_error err = { 0 };
	struct task_table t;

	assert_int_equal(parse(&t, text, &err), code);
	assert_int_equal(err.code, code);
	if (err.offset != offset || !strstr(err.text, says))
		fail_msg("at %llu: %s", (unsigned long long)err.offset, err.text);
	table_free(&t);
}

static void wrong_tables_are_refused_with_the_line_s_place(void **state)
{
	(void)state;
	table_error("", CVL_E_MISSING, CVL_NO_OFFSET, "no tasks");
	table_error("task,frequency,cycles\n", CVL_E_MISSING, CVL_NO_OFFSET, "no tasks");
	table_error("task,cycles\n", CVL_E_MISSING, 0, "frequency: missing column");
	table_error("task,frequency,energy_uj\n", CVL_E_MISSING, 0, "cycles: missing column");
	table_error("#\ntask,frequency,cylces\n", CVL_E_SYNTAX, 2, "unknown column 'cylces'");
	table_error("task,task\n", CVL_E_SYNTAX, 0, "duplicate column");
	table_error("task,frequency,cycles\na,1M\n", CVL_E_SYNTAX, 22, "number of cells");
	table_error("task,frequency,cycles\na,1M,-1\n", CVL_E_RANGE, 22, "cycles: not a whole");
	table_error("task,frequency,cycles\na,1M,99999999999999999999\n", CVL_E_RANGE, 22,
		    "cycles: not a whole");
	table_error("task,frequency,cycles\n,1M,1\n", CVL_E_SYNTAX, 22, "task: not a name");
	table_error("task,frequency,cycles\na,fast,1\n", CVL_E_SYNTAX, 22, "frequency: not a");
	table_error("task,frequency,cycles,cache\na,1M,1,maybe\n", CVL_E_SYNTAX, 28,
		    "neither on nor off");
	table_error("task,frequency,cycles,energy_uj\na,1M,1,0\n", CVL_E_RANGE, 32, "energy_uj");
	table_error("task,frequency,cycles\n\"a,1M,1\n", CVL_E_SYNTAX, 22, "quotes");
}

static void a_written_table_reads_back_the_same(void **state)
{
	static const char letters[] = "ab,\"# x";
	struct draw d = draw_begin(1);
	struct task_table t = { 0 }, back;
	char path[] = "/tmp/coeval-table-XXXXXX";
	static struct cvl_out o;
	struct cvl_error err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (int i = 0; i < 500; i++) {
		struct table_row *row = table_add(&t);
		uint64_t *count = (uint64_t *)&row->count;
		size_t n = 1 + draw_below(&d, 20);

		for (size_t k = 0; k < n; k++)
			row->task[k] = letters[draw_below(&d, sizeof(letters) - 1)];
		snprintf(row->policy, sizeof(row->policy), "p%d", i % 3);
		row->hz = 1 + draw_size(&d, 30);
		row->adaption = draw_below(&d, 2);
		row->cache = draw_below(&d, 2);
		for (size_t k = 0; k < sizeof(row->count) / sizeof(*count); k++)
			if (draw_below(&d, 4))
				count[k] = draw_size(&d, 56);
		row->energy_j =
			draw_below(&d, 4) ? (double)(1 + draw_below(&d, 100000)) * 1e-6 : -1;
	}
	cvl_out_init(&o, fd, path);
	table_write(&t, &o);
	assert_int_equal(cvl_out_flush(&o, &err), 0);
	close(fd);
	if (table_load(&back, path, &err))
		fail_msg("%s", err.text);
	assert_int_equal(back.n, t.n);
	for (size_t i = 0; i < t.n; i++) {
		assert_string_equal(back.row[i].task, t.row[i].task);
		assert_string_equal(back.row[i].policy, t.row[i].policy);
		assert_int_equal(back.row[i].hz, t.row[i].hz);
		assert_int_equal(back.row[i].adaption, t.row[i].adaption);
		assert_int_equal(back.row[i].cache, t.row[i].cache);
		assert_memory_equal(&back.row[i].count, &t.row[i].count, sizeof(t.row[i].count));
		assert_true(back.row[i].energy_j - t.row[i].energy_j < 1e-12 &&
			    t.row[i].energy_j - back.row[i].energy_j < 1e-12);
	}
	remove(path);
	table_free(&t);
	table_free(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_holds_what_the_thesis_gives),
		cmocka_unit_test(wrong_device_files_are_refused_with_their_place),
		cmocka_unit_test(a_device_file_too_long_is_refused),
		cmocka_unit_test(columns_may_stand_in_any_order),
		cmocka_unit_test(wrong_tables_are_refused_with_the_line_s_place),
		cmocka_unit_test(a_written_table_reads_back_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
