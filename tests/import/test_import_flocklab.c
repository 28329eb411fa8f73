/* SPDX-License-Identifier: MIT */
#include "test_import.h"

#define V1 "# timestamp,observer_id,node_id,pin_name,value\n"
#define V2 "timestamp,observer_id,node_id,pin_name,value\n"

static void check_all(const struct import_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		import_check(&cvl_import_flocklab, &cases[i]);
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(*(cases)))

static void rows_are_edges_in_the_order_of_time(void **state)
{
	static const struct import_case cases[] = {
		{ "version 2", V2 "10.0000001,1,1,LED1,1\n10.0000002,1,1,LED1,0\n",
		  .store = "=0@100000001 100000001:1 100000002:0" },
		{ "version 1", V1 "10.000001,1,1,LED1,1\n10.000002,1,1,LED1,0\n",
		  .store = "=0@100000010 100000010:1 100000020:0" },
		{ "CR LF and no newline at the end", V2 "1.0,1,1,LED1,1\r\n2.0,1,1,LED1,0",
		  .store = "=0@10000000 10000000:1 20000000:0" },
		{ "every pin has its line",
		  V2 "1,1,1,LED1,1\n2,1,1,LED2,1\n3,1,1,LED3,1\n4,1,1,INT1,1\n5,1,1,INT2,1\n"
		     "6,1,1,SIG1,1\n7,1,1,SIG2,1\n8,1,1,nRST,1\n9,1,1,PPS,1\n",
		  .store = "=0@10000000 10000000:1 20000000:3 30000000:7 40000000:15 50000000:31 "
			   "60000000:63 70000000:127 80000000:255 90000000:511" },
		{ "pin after pin", V2 "1,1,1,LED1,1\n3,1,1,LED1,0\n2,1,1,LED2,1\n4,1,1,LED2,0\n",
		  .store = "=0@10000000 10000000:1 20000000:3 30000000:2 40000000:0" },
		{ "equal times keep the file's order",
		  V2 "1,1,1,LED1,1\n1,1,1,LED1,0\n1,1,1,LED1,1\n",
		  .store = "=0@10000000 10000000:1 10000000:0 10000000:1" },
		{ "what goes low first was high", V2 "2,1,1,LED2,1\n1,1,1,LED1,0\n3,1,1,LED1,1\n",
		  .store = "=1@10000000 10000000:0 20000000:2 30000000:3" },
		{ "what repeats is no edge", V2 "1,1,1,LED1,1\n2,1,1,LED1,1\n3,1,1,LED1,0\n",
		  .store = "=0@10000000 10000000:1 30000000:0" },
		{ "ticks start a day early", V2 "1000000000.0000005,1,1,LED1,1\n",
		  .store = "=0@864000000005 864000000005:1" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void bad_rows_are_gaps_of_their_observer(void **state)
{
	static const struct import_case cases[] = {
		{ "not a time", V2 "1,1,1,LED1,1\nx,1,1,LED1,0\n3,1,1,LED1,0\n",
		  .code = CVL_E_SYNTAX, .at = "x,1",
		  .store = "=0@10000000 10000000:1 10000000-30000000/corrupt/1 30000000:0" },
		{ "strict", V2 "1,1,1,LED1,1\nx,1,1,LED1,0\n3,1,1,LED1,0\n", .strict = true,
		  .rc = CVL_E_SYNTAX, .code = CVL_E_SYNTAX, .at = "x,1",
		  .store = "=0@10000000 10000000:1 10000000-?/corrupt/1" },
		{ "not a value", V2 "1,1,1,LED1,1\n2,1,1,LED1,2\n3,1,1,LED1,0\n",
		  .code = CVL_E_SYNTAX, .at = "2,1,1",
		  .store = "=0@10000000 10000000:1 10000000-30000000/corrupt/1 30000000:0" },
		{ "not a pin", V2 "1,1,1,LED1,1\n2,1,1,LED9,1\n3,1,1,LED1,0\n",
		  .code = CVL_E_UNKNOWN_ID, .at = "2,1,1",
		  .store = "=0@10000000 10000000:1 10000000-30000000/corrupt/1 30000000:0" },
		{ "not an id", V2 "1,1,1,LED1,1\n2,../1,1,LED1,0\n3,1,1,LED1,0\n",
		  .code = CVL_E_SYNTAX, .at = "2,../",
		  .store = "=0@10000000 10000000:1 10000000-30000000/corrupt/1 30000000:0" },
		{ "too few cells, twice", V2 "1,1,1,LED1,1\n2,1,1\n2\n3,1,1,LED1,0\n",
		  .code = CVL_E_SYNTAX, .at = "2,1,1\n",
		  .store = "=0@10000000 10000000:1 10000000-30000000/corrupt/2 30000000:0" },
		{ "a time before 1970", V2 "1,1,1,LED1,1\n-2,1,1,LED1,0\n3,1,1,LED1,0\n",
		  .code = CVL_E_RANGE, .at = "-2",
		  .store = "=0@10000000 10000000:1 10000000-30000000/corrupt/1 30000000:0" },
		{ "more than a day before the first",
		  V2 "100000,1,1,LED1,1\n1,1,1,LED1,0\n100001,1,1,LED1,0\n", .code = CVL_E_RANGE,
		  .at = "1,1,1,LED1,0",
		  .store = "=0@864000000000 864000000000:1 864000000000-864010000000/corrupt/1 "
			   "864010000000:0" },
		{ "before the first row", V2 "x\n1,1,1,LED1,1\n", .code = CVL_E_SYNTAX, .at = "x",
		  .store = "=0@10000000 10000000-10000000/corrupt/1 10000000:1" },
		{ "after the last row", V2 "1,1,1,LED1,1\nx\n", .code = CVL_E_SYNTAX, .at = "x",
		  .store = "=0@10000000 10000000:1 10000000-?/corrupt/1" },
		{ "cut in a row", V2 "1,1,1,LED1,1\n2,1,1,LED", .code = CVL_E_TRUNCATED,
		  .at = "2,1,1,LED", .store = "=0@10000000 10000000:1 10000000-?/truncated/1" },
		{ "strict", V2 "1,1,1,LED1,1\n2,1,1,LED", .strict = true, .rc = CVL_E_TRUNCATED,
		  .code = CVL_E_TRUNCATED, .at = "2,1,1,LED",
		  .store = "=0@10000000 10000000:1 10000000-?/truncated/1" },
		{ "of the other observer",
		  V2 "1,1,1,LED1,1\n2,2,2,LED1,1\nx,1,1,LED1,0\n3,2,2,LED1,0\n",
		  .code = CVL_E_SYNTAX, .at = "x,1",
		  .store = "=0@10000000 10000000:1 10000000-?/corrupt/1" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void what_is_no_such_file_is_refused(void **state)
{
	static const struct import_case cases[] = {
		{ "empty", "", .rc = CVL_E_TRUNCATED, .code = CVL_E_TRUNCATED },
		{ "header cut", "timestamp,observer_id", .rc = CVL_E_TRUNCATED,
		  .code = CVL_E_TRUNCATED },
		{ "another of FlockLab's files",
		  "timestamp,observer_id,node_id,current_mA,voltage_V\n", .rc = CVL_E_MAGIC,
		  .code = CVL_E_MAGIC, .at = "timestamp" },
		{ "no row", V2, .rc = CVL_E_MISSING, .code = CVL_E_MISSING },
		{ "a time beyond int64 ns", V2 "9300000000,1,1,LED1,1\n", .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void each_observer_is_a_clock_of_one_start(void **state)
{
	struct imported im;

	(void)state;
	import_file(&im, &cvl_import_flocklab, COEVAL_SOURCE_DIR "/tests/data/gpiotracing.csv",
		    NULL);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 0);
	assert_int_equal(im.n_clocks, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(im.clock[i].rate_hz, 10000000);
		assert_true(im.clock[i].start_unix_ns ==
			    (1600000000 - 86400) * INT64_C(1000000000));
	}
	assert_string_equal(im.clock[0].name, "observer-2");
	assert_string_equal(im.clock[0].node, "node-102");
	assert_string_equal(im.clock[0].text, "=8@864000000010 864000000010:9 864000000020:1 "
					      "864000000020:129 864000000030:128 864010000000:384");
	assert_string_equal(im.clock[1].name, "observer-4");
	assert_string_equal(im.clock[1].node, "node-104");
	assert_string_equal(im.clock[1].text, "=0@863999999999 863999999999:32 864001000000:0 "
					      "864010000000:256");
	imported_free(&im);
}

/* Observer 1 toggles @n times; its first row comes @displaced rows late. */
static char *displaced_rows(unsigned n, unsigned displaced)
{
	char *text = malloc(64 + (size_t)n * 40), *p = text;

	assert_non_null(text);
	p += sprintf(p, V2);
	for (unsigned i = 1; i <= n; i++) {
		p += sprintf(p, "%u,1,1,LED1,%u\n", 10 + i, i & 1);
		if (i == displaced)
			p += sprintf(p, "10,1,1,LED2,1\n");
	}
	return text;
}

static void rows_are_put_in_order_within_a_window(void **state)
{
	struct cvl_import_opts strict = { .strict = true };
	struct imported im;
	char *text = displaced_rows(5000, 4000);

	(void)state;
	import_bytes(&im, &cvl_import_flocklab, text, strlen(text), &strict);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.clock[0].edges, 5001);
	assert_memory_equal(im.clock[0].text, "=0@100000000 100000000:2 110000000:3 ", 36);
	assert_null(strchr(im.clock[0].text, '<'));
	imported_free(&im);
	free(text);
}

static void rows_beyond_the_window_are_stored_late(void **state)
{
	struct cvl_import_opts strict = { .strict = true };
	struct imported im;
	char *text = displaced_rows(9000, 8000);
	uint64_t offset = (uint64_t)(strstr(text, "\n10,1,1,LED2") + 1 - text);

	(void)state;
	import_bytes(&im, &cvl_import_flocklab, text, strlen(text), NULL);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].code, CVL_E_ORDER);
	assert_int_equal(im.report[0].offset, offset);
	assert_int_equal(im.clock[0].edges, 9001);
	assert_non_null(strstr(im.clock[0].text, " 100000000<:"));
	imported_free(&im);
	import_bytes(&im, &cvl_import_flocklab, text, strlen(text), &strict);
	assert_int_equal(im.rc, CVL_E_ORDER);
	assert_int_equal(im.err.offset, offset);
	assert_true(im.clock[0].edges >= 8000);
	imported_free(&im);
	free(text);
}

static void an_observer_too_many_is_refused(void **state)
{
	char *text = malloc(257 * 40 + 64), *p = text, *last = NULL;
	struct cvl_input *in;
	struct imported im;

	(void)state;
	assert_non_null(text);
	p += sprintf(p, V2);
	for (int i = 1; i <= 257; i++) {
		last = p;
		p += sprintf(p, "%d,%d,%d,LED1,1\n", i, i, i);
	}
	assert_int_equal(cvl_input_memory(&in, text, strlen(text), "mem.txt", NULL), 0);
	import_input(&im, &cvl_import_flocklab, in, NULL);
	assert_int_equal(im.rc, CVL_E_LIMIT);
	assert_int_equal(im.err.offset, last - text);
	assert_int_equal(im.n_clocks, 256);
	assert_string_equal(im.clock[0].text, "=0@10000000 10000000:1");
	imported_free(&im);
	free(text);
}

static void a_node_that_changes_is_reported(void **state)
{
	static const char text[] = V2 "1,1,7,LED1,1\n2,1,8,LED1,0\n";
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_flocklab, text, strlen(text), NULL);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].offset, strstr(text, "2,1,8") - text);
	assert_string_equal(im.clock[0].node, "node-7");
	assert_int_equal(im.clock[0].edges, 2);
	imported_free(&im);
}

static void a_file_cut_anywhere_keeps_what_was_whole(void **state)
{
	(void)state;
	import_truncations(&cvl_import_flocklab, V1 "1.000001,1,1,LED1,1\n2.5,1,1,LED1,0\nx\n"
						    "2.25,2,2,INT1,1\n3.0,2,2,PPS,1\n");
}

static void probe_knows_both_headers(void **state)
{
	static const struct {
		const char *head;
		int likely;
	} cases[] = {
		{ V1, 90 },
		{ V2, 90 },
		{ "timestamp,observer_id,node_id,direction,output\n", 0 },
		{ "Time [s],A\n", 0 },
		{ "#", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(cvl_import_flocklab.probe((const uint8_t *)cases[i].head,
							   strlen(cases[i].head), "x.csv"),
				 cases[i].likely);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_edges_in_the_order_of_time),
		cmocka_unit_test(bad_rows_are_gaps_of_their_observer),
		cmocka_unit_test(what_is_no_such_file_is_refused),
		cmocka_unit_test(each_observer_is_a_clock_of_one_start),
		cmocka_unit_test(rows_are_put_in_order_within_a_window),
		cmocka_unit_test(rows_beyond_the_window_are_stored_late),
		cmocka_unit_test(an_observer_too_many_is_refused),
		cmocka_unit_test(a_node_that_changes_is_reported),
		cmocka_unit_test(a_file_cut_anywhere_keeps_what_was_whole),
		cmocka_unit_test(probe_knows_both_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
