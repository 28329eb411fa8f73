/* SPDX-License-Identifier: MIT */
#include "test_import.h"

static const struct cvl_import_opts plain = { .node = "c" };
static const struct cvl_import_opts rated = { .node = "c", .rate_hz = 1000000 };

#define SYNC "\0\0\0\0\0\x80"

static void import(struct imported *im, const struct cvl_importer *importer, const char *bytes,
		   size_t n, const struct cvl_import_opts *opts)
{
	import_bytes(im, importer, bytes, n, opts);
}

static void packets_without_timestamps_stand_at_their_bytes(void **state)
{
	struct imported im;

	(void)state;
	import(&im, &cvl_import_itm, SYNC "\x01\x41\x70\x05\x20", 11, &plain);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_clocks, 1);
	assert_string_equal(im.clock[0].text, "2*sync 6*software 6-8/overflow/? 9*event_counter");
	/* It reports that a tick is a byte. */
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].code, CVL_E_NO);
	imported_free(&im);
}

static void packets_with_timestamps_stand_at_theirs(void **state)
{
	struct imported im;

	(void)state;
	import(&im, &cvl_import_itm, SYNC "\x01\x41\xc0\x64\x01\x42\xc0\x64", 14, &rated);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].text,
			    "50*sync 100*software 100*local_timestamp(exact) 200*software "
			    "200*local_timestamp(exact)");
	assert_int_equal(im.clock[0].rate_hz, 1000000);
	imported_free(&im);
}

static void timestamps_need_a_rate(void **state)
{
	struct imported im;

	(void)state;
	import(&im, &cvl_import_swo, SYNC "\x01\x41\xc0\x64", 10, &plain);
	assert_int_equal(im.rc, CVL_E_MISSING);
	assert_int_equal(im.err.hint, CVL_HINT_RATE);
	imported_free(&im);
}

static void damage_is_a_gap_and_a_slip_and_is_told(void **state)
{
	struct imported im;

	(void)state;
	import(&im, &cvl_import_itm, SYNC "\x01\x41\xc0\x64\x80\x80\x80" SYNC "\x01\x42\xc0\x64",
	       23, &rated);
	assert_int_equal(im.rc, 0);
	assert_non_null(strstr(im.clock[0].text, "/corrupt/"));
	assert_non_null(strstr(im.clock[0].text, "+-"));
	assert_int_equal(im.clock[0].gaps, 1);
	assert_int_equal(im.report[0].code, CVL_E_SYNTAX);
	imported_free(&im);
}

static void a_cut_packet_is_a_truncated_end(void **state)
{
	struct imported im;

	(void)state;
	import(&im, &cvl_import_itm, SYNC "\x01\x41\xc0\x64\x17\x01", 12, &rated);
	assert_int_equal(im.rc, 0);
	assert_non_null(strstr(im.clock[0].text, "/truncated/"));
	imported_free(&im);
}

static void frames_give_the_stream_that_is_asked_for(void **state)
{
	/* Stream 1: a software packet; stream 2: an overflow, seven times. */
	static const char frame[] =
		"\xff\xff\xff\x7f"
		"\x03\x01\x40\x70\x05\x70\x70\x70\x70\x70\x70\x70\x01\x00\x00\x06";
	struct cvl_import_opts opts = plain;
	struct imported im;

	(void)state;
	import(&im, &cvl_import_tpiu, frame, 20, &plain);
	assert_int_equal(im.rc, 0);
	assert_non_null(strstr(im.clock[0].text, "*software"));
	assert_non_null(strstr(im.clock[0].text, "overflow"));
	imported_free(&im);
	opts.stream = 9;
	import(&im, &cvl_import_swo, frame, 20, &opts);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.report[im.n_reports - 1].code, CVL_E_MISMATCH);
	assert_non_null(strstr(im.report[im.n_reports - 1].text, "stream 9"));
	imported_free(&im);
}

static void a_number_that_looks_like_synchronisation_makes_no_frames(void **state)
{
	static const char packets[] = SYNC "\x03\xff\xff\xff\x7f\x01\x41\xc0\xff\xff\xff\x7f";
	struct imported im;

	(void)state;
	import(&im, &cvl_import_swo, packets, sizeof(packets) - 1, &rated);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 0);
	assert_non_null(strstr(im.clock[0].text, "*software"));
	assert_null(strstr(im.clock[0].text, "/corrupt/"));
	imported_free(&im);
}

static void a_gap_and_a_packet_in_one_frame_stand_in_order(void **state)
{
	/*
	 * Stream 1: synchronisation, a byte that is no packet, synchronisation; then the same and
	 * packets behind an overflow.
	 */
	static const char frames[] =
		"\xff\xff\xff\x7f"
		"\x03\x00\x00\x00\x00\x00\x80\x90\x00\x00\x00\x00\x00\x80\x00\x00"
		"\x00\x00\x00\x00\x80\x90\x90\x00\x00\x00\x00\x00\x80\x70\x70\x00";
	struct imported im;

	(void)state;
	import(&im, &cvl_import_tpiu, frames, sizeof(frames) - 1, &plain);
	assert_int_equal(im.rc, 0);
	assert_non_null(strstr(im.clock[0].text, "*sync"));
	assert_non_null(strstr(im.clock[0].text, "/corrupt/"));
	assert_null(strchr(im.clock[0].text, '<'));
	imported_free(&im);
}

/*
 * Branch addresses and P-headers of an ETMv3, which are not what the packets of an ITM begin with.
 */
static size_t make_etm(char *bytes, size_t n, bool synced)
{
	uint64_t x = 88172645463325252u;
	size_t at = 0;

	while (at + 16 < n) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		if (synced && x % 100 == 0) {
			memcpy(bytes + at, "\0\0\0\0\0\x80\x08\x21\x00\x10\x00\x08", 12);
			at += 12;
		} else if (x >> 8 & 1) {
			bytes[at++] = (char)(0x80 | (x >> 16 & 0x7c));
		} else {
			for (unsigned k = (x >> 9) % 4; k; k--)
				bytes[at++] = (char)(0x81 | x >> (8 * k + 8));
			bytes[at++] = (char)(x >> 50 & 0x7f);
		}
	}
	return at;
}

static void what_is_no_trace_of_an_itm_is_refused(void **state)
{
	static const struct cvl_importer *const importers[] = { &cvl_import_itm, &cvl_import_swo };
	static char bytes[4096];
	struct imported im;
	size_t n;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		n = make_etm(bytes, sizeof(bytes), i & 1);
		import(&im, importers[i / 2], bytes, n, &rated);
		assert_int_equal(im.rc, CVL_E_MAGIC);
		assert_int_equal(im.n_clocks, 0);
		imported_free(&im);
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = "It was a dark and stormy night; the rain fell.\n"[i % 47];
	import(&im, &cvl_import_itm, bytes, sizeof(bytes), &rated);
	assert_int_equal(im.rc, CVL_E_MAGIC);
	imported_free(&im);
	/* packets of a port, begun in the middle of one, and now and then a byte of noise */
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i % 2 ? (char)(i / 2) : 1;
	bytes[0] = bytes[1] = bytes[2] = (char)0xff;
	for (size_t i = 400; i < sizeof(bytes); i += 400)
		bytes[i] = 0x04;
	import(&im, &cvl_import_itm, bytes, sizeof(bytes), &rated);
	assert_int_equal(im.rc, 0);
	imported_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_without_timestamps_stand_at_their_bytes),
		cmocka_unit_test(packets_with_timestamps_stand_at_theirs),
		cmocka_unit_test(timestamps_need_a_rate),
		cmocka_unit_test(damage_is_a_gap_and_a_slip_and_is_told),
		cmocka_unit_test(a_cut_packet_is_a_truncated_end),
		cmocka_unit_test(a_number_that_looks_like_synchronisation_makes_no_frames),
		cmocka_unit_test(a_gap_and_a_packet_in_one_frame_stand_in_order),
		cmocka_unit_test(what_is_no_trace_of_an_itm_is_refused),
		cmocka_unit_test(frames_give_the_stream_that_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
