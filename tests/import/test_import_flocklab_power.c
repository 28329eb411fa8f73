/* SPDX-License-Identifier: MIT */
#include "test_import.h"

#define V1 "# timestamp,observer_id,node_id,value_mA\n"
#define V2 "timestamp,observer_id,node_id,current_mA,voltage_V\n"

static void check_all(const struct import_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		import_check(&cvl_import_flocklab_power, &cases[i]);
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(*(cases)))

static void rows_are_amperes_and_volts(void **state)
{
	static const struct import_case cases[] = {
		{ "version 2", V2 "10.0000001,1,1,2.5,3.3\n10.0000002,1,1,-1,3.25\n",
		  .store =
			  "100000001~0=0.0025 100000001~1=3.3 100000002~0=-0.001 100000002~1=3.25" },
		{ "version 1", V1 "10.000001,1,1,2.5\n10.000002,1,1,3\n",
		  .store = "100000010~0=0.0025 100000020~0=0.003" },
		{ "CR LF and no newline at the end", V2 "1,1,1,1,1\r\n2,1,1,2,2",
		  .store = "10000000~0=0.001 10000000~1=1 20000000~0=0.002 20000000~1=2" },
		{ "late", V1 "2,1,1,1\n1,1,1,2\n3,1,1,3\n", .code = CVL_E_ORDER, .at = "1,1,1,2",
		  .store = "20000000~0=0.001 10000000<~0=0.002 30000000~0=0.003" },
		{ "late, strict", V1 "2,1,1,1\n1,1,1,2\n", .strict = true, .rc = CVL_E_ORDER,
		  .code = CVL_E_ORDER, .at = "1,1,1,2",
		  .store = "20000000~0=0.001 20000000-?/corrupt/?" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void bad_rows_are_gaps_of_their_observer(void **state)
{
	static const struct import_case cases[] = {
		{ "not a time", V1 "1,1,1,1\nx,1,1,2\n3,1,1,3\n", .code = CVL_E_SYNTAX, .at = "x,1",
		  .store = "10000000~0=0.001 10000000-30000000/corrupt/1 30000000~0=0.003" },
		{ "not a reading", V2 "1,1,1,1,1\n2,1,1,2,y\n3,1,1,3,3\n", .code = CVL_E_SYNTAX,
		  .at = "2,1,1,2,y",
		  .store = "10000000~0=0.001 10000000~1=1 10000000-30000000/corrupt/1 "
			   "30000000~0=0.003 30000000~1=3" },
		{ "infinite", V1 "1,1,1,1\n2,1,1,inf\n3,1,1,3\n", .code = CVL_E_SYNTAX,
		  .at = "2,1,1,inf",
		  .store = "10000000~0=0.001 10000000-30000000/corrupt/1 30000000~0=0.003" },
		{ "too few cells, twice", V1 "1,1,1,1\n2,1\n2\n3,1,1,3\n", .code = CVL_E_SYNTAX,
		  .at = "2,1\n",
		  .store = "10000000~0=0.001 10000000-30000000/corrupt/2 30000000~0=0.003" },
		{ "cut in a row", V1 "1,1,1,1\n2,1,", .code = CVL_E_TRUNCATED, .at = "2,1,",
		  .store = "10000000~0=0.001 10000000-?/truncated/1" },
		{ "no row", V1 "x\n", .rc = CVL_E_MISSING, .code = CVL_E_MISSING },
		{ "another header", "timestamp,observer_id,node_id,pin_name,value\n",
		  .rc = CVL_E_MAGIC, .code = CVL_E_MAGIC },
		{ "empty", "", .rc = CVL_E_TRUNCATED, .code = CVL_E_TRUNCATED },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void each_observer_has_its_clock(void **state)
{
	static const char text[] = V2 "1,4,4,1,3\n2,4,4,2,3\n1.5,7,9,5,3\n";
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_flocklab_power, text, strlen(text), NULL);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_clocks, 2);
	assert_string_equal(im.clock[0].name, "observer-4");
	assert_string_equal(im.clock[1].name, "observer-7");
	assert_string_equal(im.clock[1].node, "node-9");
	assert_string_equal(im.clock[1].text, "15000000~0=0.005 15000000~1=3");
	imported_free(&im);
}

/* So that intervals of the pins need no tie to the power. */
static void power_is_on_the_clock_of_the_pins(void **state)
{
	static const char pins[] = "timestamp,observer_id,node_id,pin_name,value\n"
				   "1600000000.5000000,4,4,LED1,1\n";
	static const char power[] = V2 "1600000000.2500000,4,4,1,3\n1600000001.0000000,4,4,1,3\n";
	char dir[] = "/tmp/coeval-test-XXXXXX";
	const struct cvl_import_opts opts = { 0 };
	const struct cvl_clock *a, *b;
	struct cvl_session *s;
	struct cvl_input *in;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(cvl_session_create(&s, dir, NULL), 0);
	assert_int_equal(cvl_input_memory(&in, pins, strlen(pins), "pins", NULL), 0);
	assert_int_equal(cvl_import_flocklab.import(in, s, &opts, NULL), 0);
	cvl_input_close(in);
	assert_int_equal(cvl_input_memory(&in, power, strlen(power), "power", NULL), 0);
	assert_int_equal(cvl_import_flocklab_power.import(in, s, &opts, NULL), 0);
	cvl_input_close(in);
	cvl_session_close(s);
	assert_int_equal(cvl_session_open(&s, dir, NULL, NULL), 0);
	assert_int_equal(cvl_session_clocks(s), 2);
	a = cvl_session_clock(s, 0);
	b = cvl_session_clock(s, 1);
	assert_int_equal(b->same_as, 0);
	assert_string_equal(a->node, b->node);
	assert_true(a->start_unix_ns == b->start_unix_ns);
	cvl_session_close(s);
	nftw(dir, imported_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

static void every_beginning_of_a_file_is_survived(void **state)
{
	(void)state;
	import_truncations(&cvl_import_flocklab_power,
			   V2 "1.5,1,1,2.25,3.3\n2.5,1,1,2,3.3\n3,2,2,1,3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_amperes_and_volts),
		cmocka_unit_test(bad_rows_are_gaps_of_their_observer),
		cmocka_unit_test(each_observer_has_its_clock),
		cmocka_unit_test(power_is_on_the_clock_of_the_pins),
		cmocka_unit_test(every_beginning_of_a_file_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
