/* SPDX-License-Identifier: MIT */
#include "test_import.h"

static void check_all(const struct import_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		import_check(&cvl_import_csv, &cases[i]);
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(*(cases)))

static void headers_of_many_tools_are_read(void **state)
{
	static const struct import_case cases[] = {
		{ "seconds", "Time [s],A\n0,0\n1e-6,1\n", .store = "=0@0 1000:1" },
		{ "round brackets", "Time(s),A\n0,0\n1e-6,1\n", .store = "=0@0 1000:1" },
		{ "nothing", "time,A\n0,0\n1e-6,1\n", .store = "=0@0 1000:1" },
		{ "milliseconds", "Time [ms],A\n0,0\n1e-3,1\n", .store = "=0@0 1000:1" },
		{ "microseconds", "Time [us],A\n0,0\n1,1\n", .store = "=0@0 1000:1" },
		{ "nanoseconds", "Time (ns),A\n0,0\n1000,1\n", .store = "=0@0 1000:1" },
		{ "quotes", "\"Time [s]\",\"Channel 0\"\n0,0\n\"1e-6\",\"1\"\n",
		  .store = "=0@0 1000:1" },
		{ "blanks", "Time[s], A , B\n0, 0, 1\n 1e-6 , 1 , 1\n", .store = "=2@0 1000:3" },
		{ "comments before it", "; CSV of something\n; more\nTime,A\n0,0\n1e-6,1\n",
		  .store = "=0@0 1000:1" },
		{ "byte order mark", "\xef\xbb\xbfTime [s],A\n0,0\n1e-6,1\n",
		  .store = "=0@0 1000:1" },
		{ "CR LF", "Time [s],A\r\n0,0\r\n1e-6,1\r\n", .store = "=0@0 1000:1" },
		{ "no rows", "Time [s],A\n", .store = "" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void rows_are_edges_where_something_changed(void **state)
{
	static const struct import_case cases[] = {
		{ "the first row is initial", "Time [us],A,B\n1,1,0\n2,1,1\n3,1,1\n4,0,1\n",
		  .store = "=1@1000 2000:3 4000:2" },
		{ "two rows of one time", "Time [us],A\n1,0\n2,1\n2,0\n3,1\n",
		  .store = "=0@1000 2000:1 2000:0 3000:1" },
		{ "numbers other than 0 and 1 are analog",
		  "Time [us],A,V\n1,0,3.3\n2,1,3.25\n3,1,1\n",
		  .store = "=0@1000 1000~0=3.3 2000:1 2000~0=3.25 3000~0=1" },
		{ "1.0 is analog", "Time [us],V\n1,1.0\n2,0\n", .store = "1000~0=1 2000~0=0" },
		{ "a time before zero", "Time [us],A\n-5,0\n-4,1\n5,0\n", .code = CVL_E_RANGE,
		  .at = "-5,0", .store = "=0@0 1000:1 10000:0" },
		{ "a last row without newline", "Time [us],A\n1,0\n2,1",
		  .store = "=0@1000 2000:1" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void bad_rows_are_gaps(void **state)
{
	static const struct import_case cases[] = {
		{ "not a time", "Time [us],A\n1,0\nx,1\n3,1\n", .code = CVL_E_SYNTAX, .at = "x,1",
		  .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "strict", "Time [us],A\n1,0\nx,1\n3,1\n", .strict = true, .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "x,1", .store = "=0@1000 1000-?/corrupt/1" },
		{ "nan", "Time [us],A\n1,0\nnan,1\n3,1\n", .code = CVL_E_SYNTAX, .at = "nan",
		  .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "inf", "Time [us],A\n1,0\ninf,1\n3,1\n", .code = CVL_E_SYNTAX, .at = "inf",
		  .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "no time", "Time [us],A\n1,0\n,1\n3,1\n", .code = CVL_E_SYNTAX, .at = ",1\n3",
		  .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "a time no clock can count", "Time [us],A\n1,0\n1e30,1\n3,1\n",
		  .code = CVL_E_RANGE, .at = "1e30",
		  .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "before the first tick", "Time [us],A\n1,0\n-2,1\n3,1\n", .code = CVL_E_RANGE,
		  .at = "-2", .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "too few cells", "Time [us],A,B\n1,0,0\n2,1\n3,1,1\n", .code = CVL_E_SYNTAX,
		  .at = "2,1\n", .store = "=0@1000 1000-3000/corrupt/1 3000:3" },
		{ "too many cells", "Time [us],A\n1,0\n2,1,1\n3,1\n", .code = CVL_E_SYNTAX,
		  .at = "2,1,1", .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "not a level", "Time [us],A\n1,0\n2,7\n3,1\n", .code = CVL_E_SYNTAX, .at = "2,7",
		  .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "no level", "Time [us],A\n1,0\n2,\n3,1\n", .code = CVL_E_SYNTAX, .at = "2,\n",
		  .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "not a reading", "Time [us],V\n1,0.5\n2,1V\n3,1\n", .code = CVL_E_SYNTAX,
		  .at = "2,1V", .store = "1000~0=0.5 1000-3000/corrupt/1 3000~0=1" },
		{ "an open quote", "Time [us],A\n1,0\n2,\"1\n3,1\n", .code = CVL_E_SYNTAX,
		  .at = "2,\"", .store = "=0@1000 1000-3000/corrupt/1 3000:1" },
		{ "a run of them is one", "Time [us],A\n1,0\nx\ny\nz\n3,1\n", .code = CVL_E_SYNTAX,
		  .at = "x", .store = "=0@1000 1000-3000/corrupt/3 3000:1" },
		{ "the first row", "Time [us],A\nx\n3,1\n4,0\n", .code = CVL_E_SYNTAX, .at = "x\n",
		  .store = "=1@3000 3000-3000/corrupt/1 4000:0" },
		{ "the last row", "Time [us],A\n1,0\n3,1\nx\n", .code = CVL_E_SYNTAX, .at = "x\n",
		  .store = "=0@1000 3000:1 3000-?/corrupt/1" },
		{ "cut in a row", "Time [us],A,B\n1,0,0\n3,1", .code = CVL_E_TRUNCATED, .at = "3,1",
		  .store = "=0@1000 1000-?/truncated/1" },
		{ "strict", "Time [us],A,B\n1,0,0\n3,1", .strict = true, .rc = CVL_E_TRUNCATED,
		  .code = CVL_E_TRUNCATED, .at = "3,1", .store = "=0@1000 1000-?/truncated/1" },
		{ "time goes back", "Time [us],A\n5,0\n3,1\n6,0\n", .code = CVL_E_ORDER,
		  .at = "3,1", .store = "=0@5000 3000<:1 6000:0" },
		{ "strict", "Time [us],A\n5,0\n3,1\n6,0\n", .strict = true, .rc = CVL_E_ORDER,
		  .code = CVL_E_ORDER, .at = "3,1", .store = "=0@5000 5000-?/corrupt/1" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void what_is_no_such_file_is_refused(void **state)
{
	static const struct import_case cases[] = {
		{ "empty", "", .rc = CVL_E_TRUNCATED, .code = CVL_E_TRUNCATED },
		{ "comments only", "; nothing\n", .rc = CVL_E_TRUNCATED, .code = CVL_E_TRUNCATED },
		{ "no time", "\nA,B\n1,2\n", .rc = CVL_E_MAGIC, .code = CVL_E_MAGIC, .at = "A,B" },
		{ "a timestamp", "timestamp,observer_id\n", .rc = CVL_E_MAGIC,
		  .code = CVL_E_MAGIC },
		{ "an unknown unit", "Time [weeks],A\n", .rc = CVL_E_MAGIC, .code = CVL_E_MAGIC },
		{ "no channel", "Time [s]\n1\n", .rc = CVL_E_MISSING, .code = CVL_E_MISSING,
		  .at = "Time" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void a_nul_byte_ends_it_with_a_gap(void **state)
{
	static const char text[] = "Time [us],A\n1,0\n2,1\n3\0,0\n4,1\n";
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_csv, text, sizeof(text) - 1, NULL);
	assert_int_equal(im.rc, CVL_E_SYNTAX);
	assert_int_equal(im.err.offset, 21);
	assert_string_equal(im.clock[0].text, "=0@1000 2000:1 2000-?/corrupt/?");
	imported_free(&im);
}

static void the_rate_can_be_chosen(void **state)
{
	const struct cvl_import_opts opts = { .rate_hz = 24000000, .node = "n", .names = "clk" };
	static const char text[] = "Time [s],A\n0,0\n0.0416666666667,1\n";
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_csv, text, strlen(text), &opts);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].name, "n");
	assert_int_equal(im.clock[0].rate_hz, 24000000);
	assert_string_equal(im.clock[0].text, "=0@0 1000000:1");
	imported_free(&im);
}

static void more_than_64_lines_must_be_chosen(void **state)
{
	char text[1024] = "Time [us]", name[16];
	struct cvl_import_opts opts = { .lines = "c6?,c1" };
	struct imported im;

	(void)state;
	for (int i = 0; i < 66; i++) {
		snprintf(name, sizeof(name), ",c%d", i);
		strcat(text, name);
	}
	strcat(text, "\n1");
	for (int i = 0; i < 66; i++)
		strcat(text, ",0");
	strcat(text, "\n2");
	for (int i = 0; i < 66; i++)
		strcat(text, i % 2 ? ",1" : ",0");
	strcat(text, "\n");
	import_bytes(&im, &cvl_import_csv, text, strlen(text), NULL);
	assert_int_equal(im.rc, CVL_E_LIMIT);
	assert_non_null(strstr(im.err.text, "66 digital lines"));
	assert_int_equal(im.err.hint, CVL_HINT_LINES);
	assert_int_equal(im.n_clocks, 0);
	imported_free(&im);
	/* c1, and c60 to c65 */
	import_bytes(&im, &cvl_import_csv, text, strlen(text), &opts);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].text, "=0@1000 2000:85");
	imported_free(&im);
	opts.lines = "d*";
	import_bytes(&im, &cvl_import_csv, text, strlen(text), &opts);
	assert_int_equal(im.rc, CVL_E_USAGE);
	assert_int_equal(im.n_clocks, 0);
	imported_free(&im);
}

static void x_and_z_are_unknown_levels(void **state)
{
	static const struct import_case cases[] = {
		{ "x", "Time [us],A,B\n1,1,0\n2,x,0\n3,X,1\n4,0,1\n",
		  .store = "=1@1000 2000:0?1 3000:2?1 4000:2" },
		{ "from the beginning", "Time [us],A,B\n1,z,0\n2,1,0\n",
		  .store = "=0?1@1000 2000:1" },
		{ "no reading", "Time [us],V\n1,0.5\n2,x\n3,1\n", .code = CVL_E_SYNTAX, .at = "2,x",
		  .store = "1000~0=0.5 1000-3000/corrupt/1 3000~0=1" },
	};

	(void)state;
	CHECK_ALL(cases);
}

#define SIGROK "; CSV generated by libsigrok 0.5.2\n; from x on Sun\n; Channels (3/8): A, B, V\n"

static void rows_of_sigrok_are_samples(void **state)
{
	static const struct import_case cases[] = {
		{ "units",
		  SIGROK "; Samplerate: 1 kHz\nlogic,logic,V DC\n0,1,0.5\n0,1,0.5\n1,1,2\n",
		  .store = "=2@0 0~0=0.5 1~0=0.5 2:3 2~0=2" },
		{ "names", SIGROK "; Samplerate: 1 kHz\nA,B,V\n0,1,0.5\n1,1,2\n",
		  .store = "=2@0 0~0=0.5 1:3 1~0=2" },
		{ "no header", SIGROK "; Samplerate: 1 kHz\n0,1,0.5\n1,1,2\n",
		  .store = "=2@0 0~0=0.5 1:3 1~0=2" },
		{ "a trigger",
		  SIGROK "; Samplerate: 1 kHz\nlogic,logic,V DC,Trigger\n0,1,0.5,0\n"
			 "1,1,2,1\n",
		  .store = "=2@0 0~0=0.5 1:3 1~0=2" },
		/*
		 * a sample of 700 kHz is 1 whole us, one of 12 Hz 83 ms; a row like the one before
		 * may be left out
		 */
		{ "times",
		  SIGROK "; Samplerate: 700 kHz\nmicroseconds,logic,logic,V DC\n"
			 "1,0,1,0.5\n2,1,1,2\n4,0,1,2\n",
		  .store = "=2@0 0~0=0.5 1:3 1~0=2 3:2 3~0=2" },
		{ "times of a sample that is no whole number of units",
		  SIGROK "; Samplerate: 12 Hz\nmilliseconds,logic,logic,V DC\n"
			 "83,0,1,0.5\n166,1,1,2\n332,0,1,2\n",
		  .store = "=2@0 0~0=0.5 1:3 1~0=2 3:2 3~0=2" },
		{ "times in units of the rate",
		  SIGROK "; Samplerate: 700 kHz\nTime,A,B,V\n"
			 "1,0,1,0.5\n2,1,1,2\n",
		  .store = "=2@0 0~0=0.5 1:3 1~0=2" },
		{ "readings told twice",
		  SIGROK "; Samplerate: 1 kHz\nV: 0.5000 V DC\n"
			 "logic,logic,V DC\n0,1,0.5\nV: 2 V DC\n1,1,2\n",
		  .store = "=2@0 0~0=0.5 1:3 1~0=2" },
		{ "a bad row is a sample too",
		  SIGROK "; Samplerate: 1 kHz\nlogic,logic,V DC\n0,1,0.5\n0\n1,1,2\n",
		  .code = CVL_E_SYNTAX, .at = "0\n1,1,2",
		  .store = "=2@0 0~0=0.5 0-2/corrupt/1 2:3 2~0=2" },
		{ "no rate", SIGROK "logic,logic,V DC\n0,1,0.5\n", .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING, .at = "logic,logic,V" },
	};

	(void)state;
	CHECK_ALL(cases);
	assert_int_equal(cvl_import_csv.probe((const uint8_t *)SIGROK, strlen(SIGROK), "x"), 80);
}

static void equal_names_get_numbers(void **state)
{
	static const char text[] = "Time [us],A,A,A-2,,A\n1,0,0,0,0,0\n2,1,0,0,0,0\n";
	struct cvl_trace *trace;
	struct imported im;
	char path[512];

	(void)state;
	import_bytes(&im, &cvl_import_csv, text, strlen(text), NULL);
	assert_int_equal(im.rc, 0);
	snprintf(path, sizeof(path), "%s/traces/mem", im.path);
	assert_int_equal(cvl_trace_open(&trace, path, NULL, NULL), 0);
	assert_string_equal(cvl_trace_env(trace, "line0"), "A");
	assert_string_equal(cvl_trace_env(trace, "line1"), "A-3");
	assert_string_equal(cvl_trace_env(trace, "line2"), "A-2");
	assert_string_equal(cvl_trace_env(trace, "line3"), "D3");
	assert_string_equal(cvl_trace_env(trace, "line4"), "A-4");
	cvl_trace_close(trace);
	imported_free(&im);
}

static void a_small_file_is_read_whole(void **state)
{
	struct imported im;

	(void)state;
	import_file(&im, &cvl_import_csv, COEVAL_SOURCE_DIR "/tests/data/small.csv", NULL);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].name, "small");
	assert_string_equal(im.clock[0].text,
			    "=2@0 0~0=3.3 1500:3 1500~0=3.25 3000~0=-0.001 3000:1 "
			    "3000~0=0.5 16000:0 16000~0=0");
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].code, CVL_E_RANGE);
	imported_free(&im);
}

static void a_file_cut_anywhere_keeps_what_was_whole(void **state)
{
	(void)state;
	import_truncations(&cvl_import_csv,
			   "Time [us],\"A\",B\n1,0,0\n2.5,1,0\nx\n3e0,1,1\n4,0,1\n");
}

/* The first row is the initial level, and one repeats the level before it. */
static void a_capture_is_read_whole(void **state)
{
	static const struct {
		uint64_t rows, first_tick;
	} want[] = { { 2995, 1250000000 }, { 15535, 1853462744 } };

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		uint64_t last_tick = 0, rows = 0, changes = 0;
		char path[512], line[128];
		struct imported im;
		int last = -1;
		FILE *f;

		if (!capture_file(path, sizeof(path), k, "uart-edges/uart_raw2.csv"))
			continue;
		import_file(&im, &cvl_import_csv, path, NULL);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.n_reports, 0);
		f = fopen(path, "r");
		assert_non_null(f);
		assert_non_null(fgets(line, sizeof(line), f));
		while (fgets(line, sizeof(line), f)) {
			uint64_t s, ns;
			int level;

			assert_int_equal(
				sscanf(line, "%" SCNu64 ".%9" SCNu64 ",%d", &s, &ns, &level), 3);
			if (rows && level != last) {
				changes++;
				last_tick = s * 1000000000 + ns;
			}
			last = level;
			rows++;
		}
		fclose(f);
		assert_int_equal(rows, want[k].rows);
		assert_int_equal(im.clock[0].edges, changes);
		assert_int_equal(im.clock[0].edges, rows - 2);
		assert_int_equal(im.clock[0].first_tick, want[k].first_tick);
		assert_int_equal(im.clock[0].last_tick, last_tick);
		imported_free(&im);
	}
}

static void probe_tells_times_from_timestamps(void **state)
{
	static const struct {
		const char *head;
		int likely;
	} cases[] = {
		{ "Time [s],A\n", 70 },
		{ "time,A\n", 70 },
		{ "\"Time [s]\",\"A\"\n", 70 },
		{ "Time(s),A", 70 },
		{ "; comment\nTime,A\n", 70 },
		{ "timestamp,observer_id,node_id\n", 0 },
		{ "Time [s]\n1,2\n", 0 },
		{ "times,A\n", 0 },
		{ "; comment", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(cvl_import_csv.probe((const uint8_t *)cases[i].head,
						      strlen(cases[i].head), "x.csv"),
				 cases[i].likely);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_many_tools_are_read),
		cmocka_unit_test(rows_are_edges_where_something_changed),
		cmocka_unit_test(bad_rows_are_gaps),
		cmocka_unit_test(what_is_no_such_file_is_refused),
		cmocka_unit_test(a_nul_byte_ends_it_with_a_gap),
		cmocka_unit_test(the_rate_can_be_chosen),
		cmocka_unit_test(more_than_64_lines_must_be_chosen),
		cmocka_unit_test(x_and_z_are_unknown_levels),
		cmocka_unit_test(rows_of_sigrok_are_samples),
		cmocka_unit_test(equal_names_get_numbers),
		cmocka_unit_test(a_small_file_is_read_whole),
		cmocka_unit_test(a_file_cut_anywhere_keeps_what_was_whole),
		cmocka_unit_test(a_capture_is_read_whole),
		cmocka_unit_test(probe_tells_times_from_timestamps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
