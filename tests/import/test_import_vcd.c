/* SPDX-License-Identifier: MIT */
#include "test_import.h"

#define TWO "$timescale 1 us $end $var wire 1 a A $end $var wire 1 b B $end $enddefinitions $end\n"
#define BUS "$timescale 1 us $end $var wire 8 d bus $end $enddefinitions $end\n"
#define REAL "$timescale 1 us $end $var real 64 r V $end $enddefinitions $end\n"
#define EVENT \
	"$timescale 1 us $end $var event 1 e E $end $var string 1 s S $end $enddefinitions $end\n"
static void check_all(const struct import_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		import_check(&cvl_import_vcd, &cases[i]);
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(*(cases)))

static void changes_at_one_time_are_one_edge(void **state)
{
	static const struct import_case cases[] = {
		{ "before and at the first time is initial", TWO "1a\n#5\n1b\n#7\n0a\n",
		  .store = "=3@5 7:2" },
		{ "two lines, one edge", TWO "#0 0a 0b\n#3 1a 1b\n#4\n", .store = "=0@0 3:3" },
		{ "there and back is no edge", TWO "#0 0a 0b\n#3 1a 0a\n#4\n", .store = "=0@0" },
		{ "the same time twice", TWO "#0 0a 0b\n#3 1a\n#3 1b\n#4\n", .store = "=0@0 3:3" },
		{ "one word a line", TWO "#0\n0a\n0b\n#3\n1a\n", .store = "=0@0 3:1" },
		{ "no newline at the end", TWO "#0 0a 0b #3 1a", .store = "=0@0 3:1" },
		{ "no time at all", TWO "1a", .store = "=1?2@0" },
		{ "no value at all", TWO, .store = "=0?3@0" },
		{ "comments between changes", TWO "#0 0a 0b $comment 1a #9 $end #3 1b\n",
		  .store = "=0@0 3:2" },
		{ "the largest time", TWO "#0 0a 0b #18446744073709551614 1a\n",
		  .store = "=0@0 18446744073709551614:1" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void vectors_are_numbers(void **state)
{
	static const struct import_case cases[] = {
		{ "extended with 0", BUS "#0 b0 d #1 b101 d #2 B11111111 d\n",
		  .store = "0~0=0 1~0=5 2~0=255" },
		{ "longer than the variable", BUS "#0 b0 d #1 b100000001 d\n",
		  .store = "0~0=0 1~0=1" },
		{ "of which a bit is unknown", BUS "#0 b0 d #1 b1x1 d #2 bz d #3 b0 d\n",
		  .store = "0~0=0 1~0=nan 3~0=0" },
		{ "extended with z", BUS "#0 b11111111 d #1 bz1 d\n", .store = "0~0=255 1~0=nan" },
		{ "x at the beginning is no sample", BUS "#0 bx d #3 b1 d\n", .store = "3~0=1" },
		{ "dumped again is none either", BUS "#0 b11 d #3 $dumpall b11 d $end #4\n",
		  .store = "0~0=3" },
		{ "a scalar for a vector", BUS "#0 b11111111 d #1 1d\n", .store = "0~0=255 1~0=1" },
		{ "an integer has a sign",
		  "$timescale 1 us $end $var integer 32 i n $end $enddefinitions $end "
		  "#0 b11111111111111111111111111111111 i #1 b1 i\n",
		  .store = "0~0=-1 1~0=1" },
		{ "wider than a sample holds: text",
		  "$timescale 1 us $end $var reg 66 w w[65:0] $end $enddefinitions $end "
		  "#0 bx w #1 b1 w #2 b1x0000 w #3 "
		  "b111111111111111111111111111111111111111111111111111111111111111111 w\n",
		  .store = "1*w(0x00000000000000001) 2*w(0x000000000000000x0) "
			   "3*w(0x3ffffffffffffffff)" },
		{ "beside lines",
		  "$timescale 1 us $end $var wire 1 a A $end $var wire 8 d bus $end "
		  "$enddefinitions $end #0 0a b0 d #2 1a b11 d #3 bx d\n",
		  .store = "=0@0 0~0=0 2:1 2~0=3 3~0=nan" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void an_unknown_level_is_of_its_line_alone(void **state)
{
	static const struct import_case cases[] = {
		{ "x", TWO "#0 1a 1b #5 xa #9 1a\n", .store = "=3@0 5:2?1 9:3" },
		{ "z", TWO "#0 1a 1b #5 za #6 0b #9 1a\n", .store = "=3@0 5:2?1 6:0?1 9:1" },
		{ "from the beginning", TWO "#0 xa 0b #5 1b #9 1a\n", .store = "=0?1@0 5:2?1 9:3" },
		{ "never dumped", TWO "#0 0b #5 1b #9 1a\n", .store = "=0?1@0 5:2?1 9:3" },
		{ "of a file of ours",
		  "$version coeval 0.1.0 $end $timescale 1 us $end $var wire 1 a A $end "
		  "$var wire 1 b B $end $var wire 1 g gap $end $enddefinitions $end "
		  "#0 1a 1b 0g #5 xa #9 1a\n",
		  .store = "=3@0 5:2?1 9:3" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void nothing_known_is_a_gap(void **state)
{
	static const struct import_case cases[] = {
		{ "x at the beginning is none", TWO "#0 xa xb #3 1a #4 1b\n",
		  .store = "=0?3@0 3:1?2 4:3" },
		{ "all x, then known", TWO "#0 1a 0b #5 xa xb #9 1a 1b\n",
		  .store = "=1@0 5-9/unknown/? 9:3" },
		{ "all x, then one known", TWO "#0 1a 0b #5 xa xb #9 1a\n",
		  .store = "=1@0 5-9/unknown/? 9:1?2" },
		{ "all x to the end", TWO "#0 1a 0b #5 xa xb #9\n", .store = "=1@0 5-9/unknown/?" },
		{ "z is a level, not a gap", TWO "#0 1a 1b #5 za zb #9 1a\n",
		  .store = "=3@0 5:0?3 9:1?2" },
		{ "dumping off and on",
		  TWO "#0 1a 0b #5 $dumpoff xa xb $end #9 $dumpon 0a 1b $end #10 1a\n",
		  .store = "=1@0 5-9/unknown/? 9:2 10:3" },
		{ "off without values", TWO "#0 1a 0b #5 $dumpoff $end #9 $dumpon $end #10 0a\n",
		  .store = "=1@0 5-9/unknown/? 10:0" },
		{ "never on again, but changes",
		  TWO "#0 1a 0b #5 $dumpoff xa xb $end #9 0a #10 1b\n",
		  .store = "=1@0 5-9/unknown/? 9:0?2 10:2" },
		{ "off from the beginning", TWO "#0 $dumpoff xa xb $end #9 $dumpon 0a 1b $end\n",
		  .store = "=0?3@0 0-9/unknown/? 9:2" },
	};

	(void)state;
	CHECK_ALL(cases);
}

/* Our exporter leaves the lines at x until one changes, and tells the end of the gap by a wire. */
static void gaps_of_our_own_files_end_where_they_did(void **state)
{
	static const char head[] = "$version coeval 0.1.0 $end $timescale 1 ns $end "
				   "$scope module n $end $var wire 1 a A $end $var wire 1 b B $end "
				   "$var wire 1 g gap $end $upscope $end $enddefinitions $end\n";
	static const char body[] = "#0 $dumpvars 1a 1b 0g $end #5 xa xb 1g #9 0g #12 0a 1b\n";
	char text[512];
	struct imported im;

	(void)state;
	snprintf(text, sizeof(text), "%s%s", head, body);
	import_bytes(&im, &cvl_import_vcd, text, strlen(text), NULL);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 0);
	assert_string_equal(im.clock[0].text, "=3@0 5-9/unknown/? 12:2");
	imported_free(&im);
	/* any other program's wire of that name is a line */
	memcpy(strstr(text, "coeval"), "foobar", 6);
	import_bytes(&im, &cvl_import_vcd, text, strlen(text), NULL);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].text, "=3@0 5:4?3 9:0?3 12:2");
	imported_free(&im);
}

static void an_id_may_be_any_bytes(void **state)
{
	static const char text[] =
		"$timescale 1 us $end $var wire 1 a\0b A $end $var wire 1 a\0c B $end "
		"$enddefinitions $end #0 0a\0b 0a\0c #1 1a\0c\n";
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_vcd, text, sizeof(text) - 1, NULL);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].text, "=0@0 1:2");
	imported_free(&im);
}

static void reals_and_events_have_their_records(void **state)
{
	static const struct import_case cases[] = {
		{ "a real", REAL "#0 r1.5 r #2 R-2e3 r\n", .store = "0~0=1.5 2~0=-2000" },
		{ "the last one at a time counts", REAL "#0 r1 r r2 r\n", .store = "0~0=2" },
		{ "nan is an unknown value", REAL "#0 r1 r #1 rnan r #2\n",
		  .store = "0~0=1 1~0=nan" },
		{ "inf is no reading", REAL "#0 r1 r #1 r-inf r #2\n", .code = CVL_E_RANGE,
		  .at = "r-inf", .store = "0~0=1" },
		{ "an event each time", EVENT "#1 1e #2 1e 1e #3 0e\n", .store = "1*E 2*E 2*E" },
		{ "a string", EVENT "#1 shello s #2 s s\n", .store = "1*S(hello) 2*S()" },
		{ "a string for something else", TWO "#0 0a 0b #1 sx a #2 1a\n",
		  .code = CVL_E_UNSUPPORTED, .at = "sx", .store = "=0@0 2:1" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void bad_input_is_refused_at_its_place(void **state)
{
	static const struct import_case cases[] = {
		{ "empty", "", .rc = CVL_E_TRUNCATED, .code = CVL_E_TRUNCATED, .at = "" },
		{ "not a VCD", "Time [s],A\n", .rc = CVL_E_MAGIC, .code = CVL_E_MAGIC,
		  .at = "Time" },
		{ "no variables", "$timescale 1 ns $end $enddefinitions $end\n",
		  .rc = CVL_E_MISSING, .code = CVL_E_MISSING },
		{ "timescale of 2 ns", "$timescale 2 ns $end ", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX },
		{ "timescale without unit", "$timescale 1 $end ", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX },
		{ "a variable without a name", "$var wire 1 a $end ", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX },
		{ "a width that is none", "$var wire x a A $end ", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "x a" },
		{ "a width beyond reason", "$var wire 99999999999 a A $end ", .rc = CVL_E_RANGE,
		  .code = CVL_E_RANGE, .at = "9999" },
		{ "out of scopes", "$upscope $end ", .rc = CVL_E_SYNTAX, .code = CVL_E_SYNTAX,
		  .at = "$upscope" },
		{ "changes within the header", "$timescale 1 ns $end #1 ", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "#1" },
		{ "header cut", "$timescale 1 ns $end $var wire 1 a A", .rc = CVL_E_TRUNCATED,
		  .code = CVL_E_TRUNCATED },
		{ "an id never declared", TWO "#0 0a 0b #3 1a #5 1q #6 0a\n",
		  .rc = CVL_E_UNKNOWN_ID, .code = CVL_E_UNKNOWN_ID, .at = "1q",
		  .store = "=0@0 3:1 5-?/corrupt/?" },
		{ "the same of a vector: where its value begins", BUS "#0 b0 d #3 b1 q #6 b0 d\n",
		  .rc = CVL_E_UNKNOWN_ID, .code = CVL_E_UNKNOWN_ID, .at = "b1 q",
		  .store = "0~0=0 3-?/corrupt/?" },
		{ "no value change", TWO "#0 0a 0b #3 1a ?? #4\n", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "??", .store = "=0@0 3:1 3-?/corrupt/?" },
		{ "bits that are none", BUS "#0 b0 d #3 b12 d #4\n", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "b12", .store = "0~0=0 3-?/corrupt/?" },
		{ "a real that is none", REAL "#0 r1 r #3 r1..5 r #4\n", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "r1..5", .store = "0~0=1 3-?/corrupt/?" },
		{ "bits for a real", REAL "#0 r1 r #3 b1 r #4\n", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "b1", .store = "0~0=1 3-?/corrupt/?" },
		{ "time of more than 64 bits", TWO "#0 0a 0b #18446744073709551616 1a\n",
		  .rc = CVL_E_RANGE, .code = CVL_E_RANGE, .at = "#184",
		  .store = "=0@0 0-?/corrupt/?" },
		{ "a time that is none", TWO "#0 0a 0b #1x 1a\n", .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX, .at = "#1x", .store = "=0@0 0-?/corrupt/?" },
		{ "port values", TWO "#0 0a 0b pD 6 6 <0\n", .rc = CVL_E_UNSUPPORTED,
		  .code = CVL_E_UNSUPPORTED, .at = "pD", .store = "=0@0 0-?/corrupt/?" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void what_can_be_lived_with_is_reported_unless_strict(void **state)
{
	static const struct import_case cases[] = {
		{ "time goes back", TWO "#0 0a 0b #9 1a #5 0a #10 1a\n", .code = CVL_E_ORDER,
		  .at = "#5", .store = "=0@0 9:1 5<:0 10:1" },
		{ "strict", TWO "#0 0a 0b #9 1a #5 0a #10 1a\n", .strict = true, .rc = CVL_E_ORDER,
		  .code = CVL_E_ORDER, .at = "#5", .store = "=0@0 9:1 9-?/corrupt/?" },
		{ "cut in a value", BUS "#0 b0 d #3 b1 d #5 b10", .code = CVL_E_TRUNCATED,
		  .at = "b10", .store = "0~0=0 3~0=1 5-?/truncated/?" },
		{ "strict", BUS "#0 b0 d #3 b1 d #5 b10", .strict = true, .rc = CVL_E_TRUNCATED,
		  .code = CVL_E_TRUNCATED, .at = "b10", .store = "0~0=0 3~0=1 5-?/truncated/?" },
		{ "cut in a time", TWO "#0 0a 0b #120 1a #13", .code = CVL_E_TRUNCATED, .at = "#13",
		  .store = "=0@0 120:1 120-?/truncated/?" },
		{ "cut in a block", TWO "#0 $dumpvars 1a\n", .code = CVL_E_TRUNCATED,
		  .store = "=1?2@0 0-?/truncated/?" },
		{ "two names for an id",
		  "$timescale 1 s $end $var wire 1 a A $end $var wire 1 a B $end "
		  "$enddefinitions $end 1a",
		  .code = CVL_E_UNSUPPORTED, .at = "wire 1 a B", .store = "=1@0" },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void every_timescale_gives_its_rate(void **state)
{
	static const struct {
		const char *text;
		uint64_t rate_hz, tick;
	} cases[] = {
		{ "1s", 1, 7 },
		{ "10 s", 1, 70 },
		{ "100\ns", 1, 700 },
		{ "1 ms", 1000, 7 },
		{ "100ms", 10, 7 },
		{ "10 us", 100000, 7 },
		{ "1ns", 1000000000, 7 },
		{ "100 ps", 10000000000, 7 },
		{ "1fs", 1000000000000000, 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct imported im;
		char text[200];

		snprintf(text, sizeof(text),
			 "$timescale %s $end $var wire 1 a A $end $enddefinitions $end "
			 "#0 0a #7 1a\n",
			 cases[i].text);
		import_bytes(&im, &cvl_import_vcd, text, strlen(text), NULL);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.clock[0].rate_hz, cases[i].rate_hz);
		assert_int_equal(im.clock[0].last_tick, cases[i].tick);
		imported_free(&im);
	}
}

static char *read_data(const char *file, size_t *n)
{
	char path[512];
	FILE *f;
	char *text = calloc(1, 65536);

	snprintf(path, sizeof(path), "%s/tests/data/%s", COEVAL_SOURCE_DIR, file);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(text);
	*n = fread(text, 1, 65535, f);
	fclose(f);
	return text;
}

static void a_small_file_is_read_whole(void **state)
{
	struct cvl_trace *trace;
	struct imported im;
	char path[512];
	size_t n;
	char *text = read_data("small.vcd", &n);

	(void)state;
	import_bytes(&im, &cvl_import_vcd, text, n, NULL);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].name, "mem");
	assert_int_equal(im.clock[0].rate_hz, 100000000);
	assert_string_equal(im.clock[0].text,
			    "=0?2@100 100~1=3.3 105:1?2 105~0=5 106:2 106~1=3.25 106*top.boot "
			    "106*top.state(idle) 110:0");
	snprintf(path, sizeof(path), "%s/traces/mem", im.path);
	assert_int_equal(cvl_trace_open(&trace, path, NULL, NULL), 0);
	assert_string_equal(cvl_trace_env(trace, "line0"), "top.clk");
	assert_string_equal(cvl_trace_env(trace, "line1"), "top.uart.flags[0]");
	assert_string_equal(cvl_trace_env(trace, "channel0"), "top.uart.data");
	assert_string_equal(cvl_trace_env(trace, "channel1"), "top.volts");
	cvl_trace_close(trace);
	imported_free(&im);
	free(text);
}

static void a_file_cut_anywhere_keeps_what_was_whole(void **state)
{
	size_t n;
	char *text = read_data("small.vcd", &n);

	(void)state;
	import_truncations(&cvl_import_vcd, text);
	free(text);
}

static void words_may_straddle_windows(void **state)
{
	size_t max = 3 * (size_t)CVL_INPUT_WINDOW, n;
	char *text = malloc(max + 64);
	uint64_t t = 0;
	struct imported im;

	(void)state;
	assert_non_null(text);
	n = (size_t)sprintf(text, "%s#0 0a 0b\n", TWO);
	while (n < max) {
		t++;
		n += (size_t)sprintf(text + n, "#%" PRIu64 "\n%" PRIu64 "a\n", t, t & 1);
	}
	import_bytes(&im, &cvl_import_vcd, text, n, NULL);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 0);
	assert_int_equal(im.clock[0].edges, t);
	assert_int_equal(im.clock[0].last_tick, t);
	imported_free(&im);
	memset(text + n / 2, 'q', CVL_INPUT_WINDOW + 1);
	import_bytes(&im, &cvl_import_vcd, text, n, NULL);
	assert_int_equal(im.rc, CVL_E_LIMIT);
	imported_free(&im);
	free(text);
}

static void lines_can_be_renamed(void **state)
{
	struct cvl_import_opts opts = { .names = "x,y", .node = "board" };
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_vcd, TWO "#0 1a", strlen(TWO "#0 1a"), &opts);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].name, "board");
	imported_free(&im);
	opts.names = "x,y,z";
	import_bytes(&im, &cvl_import_vcd, TWO "#0 1a", strlen(TWO "#0 1a"), &opts);
	assert_int_equal(im.rc, CVL_E_USAGE);
	assert_int_equal(im.n_clocks, 0);
	imported_free(&im);
}

/* Declares @n lines in two scopes: a.l0, b.l1, a.l2, ... and a vector. */
static char *many_lines(size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fprintf(f, "$timescale 1 us $end\n");
	for (size_t i = 0; i < n; i++)
		fprintf(f, "$scope module %c $end $var wire 1 i%zu l%zu $end $upscope $end\n",
			i & 1 ? 'b' : 'a', i, i);
	fprintf(f, "$var wire 4 v bus [3:0] $end $enddefinitions $end\n#0");
	for (size_t i = 0; i < n; i++)
		fprintf(f, " 0i%zu", i);
	fprintf(f, " b0 v\n#5 1i2 1i3 b1000 v\n");
	fclose(f);
	return text;
}

static void import_lines(struct imported *im, size_t n, const char *lines)
{
	const struct cvl_import_opts opts = { .lines = lines };
	char *text = many_lines(n);

	import_bytes(im, &cvl_import_vcd, text, strlen(text), &opts);
	free(text);
}

static void more_lines_than_a_clock_holds_must_be_chosen(void **state)
{
	struct imported im;

	(void)state;
	import_lines(&im, 64, NULL);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].text, "=0@0 0~0=0 5:12 5~0=8");
	imported_free(&im);
	import_lines(&im, 70, NULL);
	assert_int_equal(im.rc, CVL_E_LIMIT);
	assert_non_null(strstr(im.err.text, "70 digital lines"));
	assert_int_equal(im.err.hint, CVL_HINT_LINES);
	assert_int_equal(im.n_clocks, 0);
	imported_free(&im);
}

static void lines_are_chosen_by_globs(void **state)
{
	static const struct {
		const char *lines, *store;
	} cases[] = {
		{ "b.*", "=0@0 5:2" },
		{ "l2,b.l3", "=0@0 5:3" },
		{ "a.l2,bus", "=0@0 0~0=0 5:1 5~0=8" },
		{ "bus", "0~0=0 5~0=8" },
		{ "bus[3]", "=0@0 5:1" },
		{ "bus[*,bus", "=0@0 0~0=0 5:8 5~0=8" },
		{ "l?", "=0@0 5:12" },
	};
	struct imported im;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		import_lines(&im, 70, cases[i].lines);
		assert_int_equal(im.rc, 0);
		assert_string_equal(im.clock[0].text, cases[i].store);
		imported_free(&im);
	}
	import_lines(&im, 70, "q*");
	assert_int_equal(im.rc, CVL_E_USAGE);
	assert_int_equal(im.n_clocks, 0);
	imported_free(&im);
}

static void a_missing_timescale_is_a_note(void **state)
{
	static const char text[] = "$var wire 1 a A $end $enddefinitions $end #1 0a #3 1a\n";
	const struct cvl_import_opts opts = { .strict = true };
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_vcd, text, strlen(text), &opts);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].code, CVL_OK);
	assert_int_equal(im.clock[0].rate_hz, 1000000000);
	assert_string_equal(im.clock[0].text, "=0@1 3:1");
	imported_free(&im);
}

static void probe_knows_its_keywords(void **state)
{
	static const struct {
		const char *head;
		int likely;
	} cases[] = {
		{ "$date today $end", 80 },
		{ "\n  $timescale", 80 },
		{ "$var", 80 },
		{ "$dollar", 0 },
		{ "Time [s],A", 0 },
		{ "", 0 },
		{ "$dat", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(cvl_import_vcd.probe((const uint8_t *)cases[i].head,
						      strlen(cases[i].head), "x.vcd"),
				 cases[i].likely);
}

/* sigrok-cli turns a VCD into samples, one byte a tick: their changes must be our edges. */
static void sigrok_sees_the_same_edges(void **state)
{
	char path[] = "/tmp/coeval-vcd-XXXXXX", command[256], *expect = NULL;
	uint64_t s = 88172645463325252u, t = 0, tick = 0;
	size_t len = 0;
	int fd, c, last = -1;
	struct imported im;
	FILE *f, *out;

	(void)state;
	if (system("command -v sigrok-cli >/dev/null 2>&1")) {
		printf("SKIP sigrok: sigrok-cli is not installed; apt-get install sigrok-cli\n");
		skip();
	}
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	fprintf(f,
		"$timescale 1 us $end\n$scope module m $end\n$var wire 1 ! a $end\n"
		"$var wire 1 \" b $end\n$var wire 1 # c $end\n$upscope $end\n$enddefinitions $end\n"
		"#0\n0!\n1\"\n0#\n");
	for (int i = 0; i < 500; i++) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		t += 1 + (s >> 40) % 20;
		fprintf(f, "#%" PRIu64 "\n%d%c\n", t, (int)(s >> 20 & 1), "!\"#"[(s >> 10) % 3]);
	}
	fprintf(f, "#%" PRIu64 "\n", t + 5);
	fclose(f);

	snprintf(command, sizeof(command),
		 "sigrok-cli -I vcd -i %s -o %s.bin -O binary 2>/dev/null", path, path);
	if (system(command))
		fail_msg("%s failed", command);
	import_file(&im, &cvl_import_vcd, path, NULL);
	assert_int_equal(im.rc, 0);
	unlink(path);
	snprintf(command, sizeof(command), "%s.bin", path);
	f = fopen(command, "rb");
	assert_non_null(f);
	unlink(command);
	while ((c = getc(f)) != EOF && c != '\n') /* a line of text stands before the samples */
		;
	out = open_memstream(&expect, &len);
	assert_non_null(out);
	for (; (c = getc(f)) != EOF; tick++) {
		if (last < 0)
			fprintf(out, "=%d@0", c);
		else if (c != last)
			fprintf(out, " %" PRIu64 ":%d", tick, c);
		last = c;
	}
	fclose(out);
	fclose(f);
	assert_true(im.clock[0].edges > 100);
	assert_string_equal(im.clock[0].text, expect);
	free(expect);
	imported_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_at_one_time_are_one_edge),
		cmocka_unit_test(vectors_are_numbers),
		cmocka_unit_test(an_unknown_level_is_of_its_line_alone),
		cmocka_unit_test(more_lines_than_a_clock_holds_must_be_chosen),
		cmocka_unit_test(lines_are_chosen_by_globs),
		cmocka_unit_test(a_missing_timescale_is_a_note),
		cmocka_unit_test(nothing_known_is_a_gap),
		cmocka_unit_test(gaps_of_our_own_files_end_where_they_did),
		cmocka_unit_test(an_id_may_be_any_bytes),
		cmocka_unit_test(reals_and_events_have_their_records),
		cmocka_unit_test(bad_input_is_refused_at_its_place),
		cmocka_unit_test(what_can_be_lived_with_is_reported_unless_strict),
		cmocka_unit_test(every_timescale_gives_its_rate),
		cmocka_unit_test(a_small_file_is_read_whole),
		cmocka_unit_test(a_file_cut_anywhere_keeps_what_was_whole),
		cmocka_unit_test(words_may_straddle_windows),
		cmocka_unit_test(lines_can_be_renamed),
		cmocka_unit_test(probe_knows_its_keywords),
		cmocka_unit_test(sigrok_sees_the_same_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
