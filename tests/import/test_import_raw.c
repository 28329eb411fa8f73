/* SPDX-License-Identifier: MIT */
#include "test_import.h"

static const struct cvl_import_opts two_lines = { .channels = 2, .rate_hz = 1000 };

static void expect(const void *bytes, size_t n, const struct cvl_import_opts *opts,
		   const char *store)
{
	struct imported im;

	import_bytes(&im, &cvl_import_raw, bytes, n, opts);
	if (im.rc)
		fail_msg("%s", im.err.text);
	assert_int_equal(im.n_reports, 0);
	assert_int_equal(im.n_clocks, 1);
	assert_string_equal(im.clock[0].text, store);
	assert_int_equal(im.clock[0].rate_hz, opts->rate_hz ? opts->rate_hz : 16000000);
	imported_free(&im);
}

static void samples_become_edges(void **state)
{
	const struct cvl_import_opts wide = { .channels = 9, .rate_hz = 5 };
	const struct cvl_import_opts all = { .channels = 64, .rate_hz = 5 };
	const struct cvl_import_opts odd = { .channels = 17, .unit_size = 3, .rate_hz = 5 };

	(void)state;
	expect("\1\1\3\3\2", 5, &two_lines, "=1@0 2:3 4:2");
	expect("\0", 1, &two_lines, "=0@0");
	expect("\1\xfd\1\4\5", 5, &two_lines, "=1@0 3:0 4:1");
	expect("\1\0\1\1\1\3", 6, &wide, "=1@0 1:257");
	expect("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80", 16, &all, "=0@0 1:9223372036854775808");
	expect("\1\0\0\1\0\0\1\0\1\1\0\3", 12, &odd, "=1@0 2:65537");
}

static void the_line_of_sigrok_cli_is_skipped(void **state)
{
	const struct cvl_import_opts no_rate = { .channels = 2 };
	static const char text[] = "META samplerate: 16000000\n\1\2";
	struct imported im;

	(void)state;
	expect(text, sizeof(text) - 1, &no_rate, "=1@0 1:2");
	expect(text, sizeof(text) - 1, &two_lines, "=1@0 1:2");
	/* Anything else that begins alike is samples. */
	expect("META", 4, &two_lines, "=1@0 2:0 3:1");
	import_bytes(&im, &cvl_import_raw, "META samplerate: fast\n\1", 23, &no_rate);
	assert_int_equal(im.rc, CVL_E_SYNTAX);
	assert_int_equal(im.err.offset, 16);
	imported_free(&im);
}

static void samples_of_unknown_shape_are_wrong_usage(void **state)
{
	static const struct cvl_import_opts cases[] = {
		{ .rate_hz = 5 },
		{ .channels = 8 },
		{ .channels = 65, .rate_hz = 5 },
		{ .channels = 9, .unit_size = 1, .rate_hz = 5 },
		{ .channels = 8, .unit_size = 9, .rate_hz = 5 },
		{ .channels = 2, .rate_hz = 5, .names = "a,b,c" },
	};
	struct imported im;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		import_bytes(&im, &cvl_import_raw, "\1\2", 2, &cases[i]);
		assert_int_equal(im.rc, CVL_E_USAGE);
		assert_int_equal(im.n_clocks, 0);
		if (i < 2)
			assert_int_equal(im.err.hint, CVL_HINT_CHANNELS_RATE);
		imported_free(&im);
	}
}

static void half_a_sample_at_the_end_is_a_gap(void **state)
{
	struct cvl_import_opts opts = { .channels = 9, .rate_hz = 5 };
	struct imported im;

	(void)state;
	import_bytes(&im, &cvl_import_raw, "\1\0\2\0\3", 5, &opts);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].code, CVL_E_TRUNCATED);
	assert_int_equal(im.report[0].offset, 4);
	assert_string_equal(im.clock[0].text, "=1@0 1:2 2-?/truncated/?");
	imported_free(&im);

	opts.strict = true;
	import_bytes(&im, &cvl_import_raw, "\1\0\2\0\3", 5, &opts);
	assert_int_equal(im.rc, CVL_E_TRUNCATED);
	assert_int_equal(im.err.offset, 4);
	assert_string_equal(im.clock[0].text, "=1@0 1:2 2-?/truncated/?");
	imported_free(&im);

	import_bytes(&im, &cvl_import_raw, "\1", 1, &opts);
	assert_int_equal(im.rc, CVL_E_TRUNCATED);
	assert_int_equal(im.n_clocks, 0);
	imported_free(&im);
}

/* ---- beacons ---- */

struct told {
	size_t n;
	struct cvl_error first;
};

static void tell(void *ctx, const struct cvl_error *problem)
{
	struct told *told = ctx;

	if (!told->n++)
		told->first = *problem;
}

/* What a session with one clock holds: TICK:LEVELS and TICK!SENDER/SEQ. */
static void read_beacons(const char *path, char *out, size_t size)
{
	const struct cvl_stream_opts opts = { .strict = true };
	struct cvl_session *s;
	struct cvl_trace *trace;
	struct cvl_stream *stream;
	struct cvl_batch b;
	size_t len = 0;
	int rc;

	out[0] = '\0';
	assert_int_equal(cvl_session_open(&s, path, NULL, NULL), 0);
	assert_int_equal(cvl_trace_open(&trace, cvl_session_clock(s, 0)->trace, NULL, NULL), 0);
	assert_int_equal(cvl_stream_open(&stream, trace, 0, &opts, NULL), 0);
	while ((rc = cvl_stream_next(stream, &b, NULL)) > 0)
		for (size_t i = 0; i < b.n && len < size; i++) {
			assert_false(b.flags[i] & CVL_LATE);
			if (b.kind[i] == CVL_BEACON)
				len += (size_t)snprintf(out + len, size - len,
							"%" PRIu64 "!%u/%" PRIu64 " ",
							b.tick[i].count, b.cls[i], b.value[i]);
			else if (b.kind[i] == CVL_EDGE && !(b.flags[i] & CVL_STATE))
				len += (size_t)snprintf(out + len, size - len,
							"%" PRIu64 ":%" PRIu64 " ", b.tick[i].count,
							b.value[i]);
			else if (b.kind[i] == CVL_GAP)
				len += (size_t)snprintf(out + len, size - len, "gap ");
		}
	assert_int_equal(rc, 0);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
	cvl_session_close(s);
}

static int import_beacons(const char *samples, size_t n, const char *csv, bool strict,
			  struct told *told, struct cvl_error *err, char *out, size_t size)
{
	char dir[] = "/tmp/coeval-test-XXXXXX", sidecar[64], path[64];
	const struct cvl_report report = { tell, told };
	const struct cvl_import_opts opts = { .channels = 2,
					      .rate_hz = 1000,
					      .beacons = sidecar,
					      .strict = strict,
					      .report = &report };
	struct cvl_session *s;
	struct cvl_input *in;
	FILE *f;
	int rc;

	memset(told, 0, sizeof(*told));
	out[0] = '\0';
	assert_non_null(mkdtemp(dir));
	snprintf(sidecar, sizeof(sidecar), "%s/beacons.csv", dir);
	snprintf(path, sizeof(path), "%s/session", dir);
	f = fopen(sidecar, "w");
	assert_non_null(f);
	fputs(csv, f);
	fclose(f);
	assert_int_equal(cvl_session_create(&s, path, NULL), 0);
	assert_int_equal(cvl_input_memory(&in, samples, n, "dump.bin", NULL), 0);
	rc = cvl_import_raw.import(in, s, &opts, err);
	cvl_input_close(in);
	n = cvl_session_clocks(s);
	cvl_session_close(s);
	if (n)
		read_beacons(path, out, size);
	nftw(dir, imported_unlink, 8, FTW_DEPTH | FTW_PHYS);
	return rc;
}

static void beacons_are_merged_by_tick(void **state)
{
	static const struct {
		const char *csv;
		const char *store;
	} cases[] = {
		{ "tick,sender,seq\n", "2:1 4:3 " },
		{ "tick,sender,seq\n0,1,7\n2,1,8\n3,2,8\n9,1,9\n",
		  "0!1/7 2!1/8 2:1 3!2/8 4:3 9!1/9 " },
		{ "tick,sender,seq\r\n4,1,1\r\n4,2,1\r\n\r\n", "2:1 4!1/1 4!2/1 4:3 " },
		{ "tick,sender,seq\n1,4294967295,18446744073709551615\n",
		  "1!4294967295/18446744073709551615 2:1 4:3 " },
	};
	struct cvl_error err;
	struct told told;
	char store[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(import_beacons("\0\0\1\1\3\3", 6, cases[i].csv, true, &told, &err,
						store, sizeof(store)),
				 0);
		assert_string_equal(store, cases[i].store);
	}
}

static void bad_beacons_are_refused_where_they_stand(void **state)
{
	static const struct {
		const char *csv;
		bool strict;
		enum cvl_code code;
		uint64_t offset;
		const char *store;
	} cases[] = {
		{ "", false, CVL_E_TRUNCATED, 0, "" },
		{ "tick,node,seq\n", false, CVL_E_SYNTAX, 0, "" },
		{ "tick,sender,seq\n1,2,3\n2,x,3\n", false, CVL_E_SYNTAX, 24, "1!2/3 gap " },
		{ "tick,sender,seq\n1,2\n", false, CVL_E_SYNTAX, 19, "gap " },
		{ "tick,sender,seq\n1,2,3,4\n", false, CVL_E_SYNTAX, 21, "gap " },
		{ "tick,sender,seq\n1,4294967296,3\n", false, CVL_E_RANGE, 18, "gap " },
		{ "tick,sender,seq\n-1,2,3\n", false, CVL_E_SYNTAX, 16, "gap " },
		{ "tick,sender,seq\n3,1,1\n2,1,2\n", true, CVL_E_ORDER, 22, "2:1 3!1/1 gap " },
		{ "tick,sender,seq\n1,1,12", true, CVL_E_TRUNCATED, 16, "gap " },
	};
	struct cvl_error err;
	struct told told;
	char store[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int rc = import_beacons("\0\0\1\1\3\3", 6, cases[i].csv, cases[i].strict, &told,
					&err, store, sizeof(store));

		if (rc != (int)cases[i].code || err.offset != cases[i].offset ||
		    strcmp(store, cases[i].store))
			fail_msg("case %zu: %d at %" PRIu64 ", %s: %s", i, rc, err.offset, store,
				 err.text);
		assert_non_null(strstr(err.text, "beacons.csv"));
	}
}

static void a_beacon_that_goes_back_is_dropped_and_told(void **state)
{
	struct cvl_error err;
	struct told told;
	char store[256];

	(void)state;
	assert_int_equal(import_beacons("\0\0\1", 3,
					"tick,sender,seq\n2,1,1\n1,1,2\n2,1,3\n0,1,4\n", false,
					&told, &err, store, sizeof(store)),
			 0);
	assert_string_equal(store, "2!1/1 2!1/3 2:1 ");
	assert_int_equal(told.n, 1);
	assert_int_equal(told.first.code, CVL_E_ORDER);
	assert_int_equal(told.first.offset, 22);
}

/* A long dump with many edges and beacons keeps its order over all cuts between batches. */
static void a_long_dump_keeps_every_edge_and_beacon(void **state)
{
	const size_t n = 300000;
	char *samples = malloc(n), *csv = malloc(n), *store = malloc(16 * n);
	size_t len = (size_t)sprintf(csv, "tick,sender,seq\n"), edges = 0, beacons = 0;
	uint64_t last = 0;
	struct cvl_error err;
	struct told told;

	(void)state;
	assert_true(samples && csv && store);
	for (size_t i = 0; i < n; i++)
		samples[i] = (char)(i / 7 % 4);
	for (size_t i = 0; i < n; i += 41)
		len += (size_t)sprintf(csv + len, "%zu,3,%zu\n", i, i);
	assert_int_equal(import_beacons(samples, n, csv, true, &told, &err, store, 16 * n), 0);
	for (char *s = store; *s; s = strchr(s, ' ') + 1) {
		uint64_t tick = strtoull(s, NULL, 10);

		assert_true(tick >= last);
		last = tick;
		edges += s[strspn(s, "0123456789")] == ':';
		beacons += s[strspn(s, "0123456789")] == '!';
	}
	assert_int_equal(edges, (n - 1) / 7);
	assert_int_equal(beacons, (n + 40) / 41);
	free(samples);
	free(csv);
	free(store);
}

/* ---- choosing the importer ---- */

static int import_named(const char *path, const char *format, const struct cvl_import_opts *opts,
			struct cvl_error *err)
{
	char dir[] = "/tmp/coeval-test-XXXXXX";
	struct cvl_session *s;
	int rc;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(cvl_session_create(&s, dir, NULL), 0);
	rc = cvl_import(s, path, format, opts, err);
	cvl_session_close(s);
	nftw(dir, imported_unlink, 8, FTW_DEPTH | FTW_PHYS);
	return rc;
}

static void what_no_importer_knows_needs_channels(void **state)
{
	const struct cvl_import_opts none = { 0 };
	char path[] = "/tmp/coeval-test-XXXXXX";
	int fd = mkstemp(path);
	struct cvl_error err;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(import_named(path, NULL, &none, &err), CVL_E_TRUNCATED);
	assert_int_equal(err.offset, 0);
	assert_non_null(strstr(err.text, "empty file"));
	assert_int_equal(write(fd, "\0\1\2\3\2\1", 6), 6);
	close(fd);
	assert_int_equal(import_named(path, NULL, &none, &err), CVL_E_MAGIC);
	assert_int_equal(err.hint, CVL_HINT_RAW);
	assert_non_null(strstr(err.text, "vcd"));
	assert_int_equal(import_named(path, NULL, &two_lines, &err), 0);
	assert_int_equal(import_named(path, "raw", &two_lines, &err), 0);
	assert_int_equal(import_named(path, "ctf", &none, &err), CVL_E_USAGE);
	assert_non_null(strstr(err.text, "a CTF trace is a directory"));
	assert_int_equal(import_named(path, "nonsense", &none, &err), CVL_E_USAGE);
	assert_non_null(strstr(err.text, "flocklab"));
	assert_int_equal(import_named("/tmp", "raw", &two_lines, &err), CVL_E_USAGE);
	assert_int_equal(import_named("/nonexistent", NULL, &none, &err), CVL_E_IO);
	unlink(path);
}

static void every_importer_is_found_by_its_name(void **state)
{
	(void)state;
	for (size_t i = 0; cvl_importers[i]; i++) {
		assert_ptr_equal(cvl_importer_find(cvl_importers[i]->name), cvl_importers[i]);
		assert_non_null(cvl_importers[i]->what);
		assert_non_null(cvl_importers[i]->import);
	}
	assert_null(cvl_importer_find("nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_become_edges),
		cmocka_unit_test(the_line_of_sigrok_cli_is_skipped),
		cmocka_unit_test(samples_of_unknown_shape_are_wrong_usage),
		cmocka_unit_test(half_a_sample_at_the_end_is_a_gap),
		cmocka_unit_test(beacons_are_merged_by_tick),
		cmocka_unit_test(bad_beacons_are_refused_where_they_stand),
		cmocka_unit_test(a_beacon_that_goes_back_is_dropped_and_told),
		cmocka_unit_test(a_long_dump_keeps_every_edge_and_beacon),
		cmocka_unit_test(what_no_importer_knows_needs_channels),
		cmocka_unit_test(every_importer_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
