/* SPDX-License-Identifier: MIT */
/* Files of each version are built here, byte by byte; real ones are read where they are. */
#include "test_import.h"

#define BLOCK 4
#define RATE 1000
#define STEP 100352 /* ticks of 100 MHz a sample: 1000 nominal samples a second */
#define BLOCK_NS ((int64_t)BLOCK * STEP * 10)
#define WALL_S 1500000000

struct rld {
	unsigned char at[8192];
	size_t n;
};

static void put(struct rld *f, int64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		f->at[f->n++] = (unsigned char)((uint64_t)v >> (8 * i));
}

static void set(struct rld *f, size_t at, int64_t v, unsigned bytes)
{
	size_t n = f->n;

	f->n = at;
	put(f, v, bytes);
	f->n = n;
}

static void put_channel(struct rld *f, int unit, int scale, int bytes, int link, const char *name)
{
	char padded[16] = "";

	memcpy(padded, name, strlen(name));
	put(f, unit, 4);
	put(f, scale, 4);
	put(f, bytes, 2);
	put(f, link, 2);
	memcpy(f->at + f->n, padded, 16);
	f->n += 16;
}

/* @lines: DI1 and the line that tells whether I1L is valid, or none. */
static void put_header(struct rld *f, int version, bool lines, uint64_t samples)
{
	f->n = 0;
	put(f, 0x444C5225, 4);
	put(f, version, 2);
	put(f, 56 + 4 + (lines ? 5 : 2) * 28, 2);
	put(f, BLOCK, 4);
	put(f, (int64_t)((samples + BLOCK - 1) / BLOCK), 4);
	put(f, (int64_t)samples, 8);
	put(f, RATE, 2);
	put(f, 0x060504030201, 6);
	put(f, WALL_S, 8);
	put(f, 0, 8);
	put(f, 4, 4);
	put(f, lines ? 2 : 0, 2);
	put(f, lines ? 3 : 2, 2);
	memcpy(f->at + f->n, "hey", 4);
	f->n += 4;
	if (lines) {
		put_channel(f, 3, 0, 0, 0xFFFF, "DI1");
		put_channel(f, 4, 0, 0, 0xFFFF, "I1L_valid");
		put_channel(f, 2, -9, 4, 0xFFFF, "I1H");
		put_channel(f, 2, -11, 4, version <= 2 ? 2 : 1, "I1L");
	} else {
		put_channel(f, 2, -9, 4, 0xFFFF, "I1H");
	}
	put_channel(f, 1, -8, 4, 0xFFFF, "V1");
}

static void put_stamp(struct rld *f, int64_t mono_ns)
{
	put(f, WALL_S + mono_ns / 1000000000, 8);
	put(f, mono_ns % 1000000000, 8);
	put(f, mono_ns / 1000000000, 8);
	put(f, mono_ns % 1000000000, 8);
}

/* Levels, I1H in nA, I1L in 10 pA, V1 in 10 nV. */
static void put_row(struct rld *f, int levels, int high, int low, int volts)
{
	put(f, levels, 4);
	put(f, high, 4);
	put(f, low, 4);
	put(f, volts, 4);
}

static void import_rld(struct imported *im, const struct rld *f, bool strict)
{
	const struct cvl_import_opts opts = { .strict = strict };

	import_bytes(im, &cvl_import_rld, f->at, f->n, &opts);
}

/* Two blocks, the second at @second ns behind the first. */
static void two_blocks(struct rld *f, int version, int64_t second)
{
	put_header(f, version, true, 2 * BLOCK);
	put_stamp(f, 5000000000);
	for (int i = 0; i < BLOCK; i++)
		put_row(f, i < 2 ? 2 : 1, 7000, 300, 330000000);
	put_stamp(f, 5000000000 + second);
	for (int i = 0; i < BLOCK; i++)
		put_row(f, 1, -7000, 300, 330000000);
}

#define ROW1L(tick) tick "~0=7e-06 " tick "~1=3e-09 " tick "~2=3.3 " tick "~3=3e-09 "
#define ROW1H(tick) tick "~0=7e-06 " tick "~1=3e-09 " tick "~2=3.3 " tick "~3=7e-06 "
#define ROW2(tick) tick "~0=-7e-06 " tick "~1=3e-09 " tick "~2=3.3 " tick "~3=-7e-06 "
#define FIRST_BLOCK                                                  \
	"0*rocketlogger(01:02:03:04:05:06)(hey) 0*block " ROW1L("0") \
		ROW1L("100352") "200704:1 " ROW1H("200704") ROW1H("301056")
#define EXPECTED                                                  \
	FIRST_BLOCK "401408*block " ROW2("401408") ROW2("501760") \
		ROW2("602112") "702464~0=-7e-06 702464~1=3e-09 702464~2=3.3 702464~3=-7e-06"

static void every_version_gives_volts_amperes_and_lines(void **state)
{
	(void)state;
	for (int version = 2; version <= 4; version++) {
		struct imported im;
		struct rld f;

		two_blocks(&f, version, BLOCK_NS);
		import_rld(&im, &f, true);
		if (im.rc)
			fail_msg("version %d: %s", version, im.err.text);
		assert_int_equal(im.n_clocks, 1);
		assert_int_equal(im.n_reports, 0);
		assert_true(im.clock[0].rate_hz == 100000000);
		assert_true(im.clock[0].start_unix_ns == WALL_S * INT64_C(1000000000) + 5000000000);
		assert_string_equal(im.clock[0].text, EXPECTED);
		imported_free(&im);
	}
}

static void a_late_stamp_moves_no_sample(void **state)
{
	struct imported im;
	struct rld f;

	(void)state;
	two_blocks(&f, 4, BLOCK_NS + 1900000);
	import_rld(&im, &f, true);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].text, EXPECTED);
	imported_free(&im);
}

static void a_block_that_is_lost_is_a_gap_and_a_slip(void **state)
{
	struct imported im;
	struct rld f;

	(void)state;
	/* ten blocks of four: 40 samples */
	two_blocks(&f, 4, 11 * BLOCK_NS);
	import_rld(&im, &f, true);
	assert_int_equal(im.rc, 0);
	/* within 1 ms twice and a sample: 300352 ticks */
	assert_non_null(strstr(im.clock[0].text, FIRST_BLOCK
			       "401408-4315136/overflow/40 4415488+-300352 4415488*block "));
	assert_non_null(strstr(im.clock[0].text, "4716544~3=-7e-06"));
	imported_free(&im);
}

static void a_stamp_that_goes_back_is_told(void **state)
{
	struct imported im;
	struct rld f;

	(void)state;
	two_blocks(&f, 4, -1000000000);
	import_rld(&im, &f, false);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].code, CVL_E_ORDER);
	assert_non_null(strstr(im.clock[0].text, "401408+-"));
	assert_int_equal(im.clock[0].samples, 4 * 2 * BLOCK);
	imported_free(&im);
	import_rld(&im, &f, true);
	assert_int_equal(im.rc, CVL_E_ORDER);
	imported_free(&im);
}

static void a_stamp_that_is_no_time_leaves_its_block_out(void **state)
{
	struct imported im;
	struct rld f;
	size_t second;

	(void)state;
	two_blocks(&f, 4, BLOCK_NS);
	second = f.n - BLOCK * 16 - 32;
	set(&f, second + 24, 1000000000, 8);
	import_rld(&im, &f, false);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.report[0].code, CVL_E_RANGE);
	assert_int_equal(im.report[0].offset, second);
	assert_string_equal(im.clock[0].text, FIRST_BLOCK "401408-702464/corrupt/4");
	imported_free(&im);
}

static void a_wall_clock_that_is_set_moves_nothing(void **state)
{
	struct imported im;
	struct rld f;

	(void)state;
	two_blocks(&f, 4, BLOCK_NS);
	set(&f, f.n - BLOCK * 16 - 32, WALL_S - 100, 8);
	import_rld(&im, &f, false);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.report[0].code, CVL_E_MISMATCH);
	assert_string_equal(im.clock[0].text, EXPECTED);
	imported_free(&im);
}

/* Wherever the file is cut: what was whole is there, then a gap of what the header promised. */
static void a_cut_file_keeps_what_is_whole(void **state)
{
	struct rld f;
	size_t header;

	(void)state;
	two_blocks(&f, 3, BLOCK_NS);
	header = f.n - 2 * (32 + BLOCK * 16);
	for (size_t n = 0; n < f.n; n++) {
		size_t body = n > header ? n - header : 0, rest = body % (32 + BLOCK * 16);
		size_t rows = body / (32 + BLOCK * 16) * BLOCK + (rest > 32 ? (rest - 32) / 16 : 0);
		unsigned char *exact = malloc(n + 1);
		struct imported im;
		char gap[64];

		assert_non_null(exact);
		memcpy(exact, f.at, n);
		import_bytes(&im, &cvl_import_rld, exact, n, NULL);
		free(exact);
		if (n < header) {
			assert_int_equal(im.rc, CVL_E_TRUNCATED);
			assert_int_equal(im.err.offset, n);
			assert_int_equal(im.n_clocks, 0);
		} else {
			assert_int_equal(im.rc, 0);
			assert_int_equal(im.report[0].code, CVL_E_TRUNCATED);
			assert_int_equal(im.clock[0].samples, 4 * rows);
			assert_int_equal(im.clock[0].gaps, 1);
			snprintf(gap, sizeof(gap), "%zu-%d/truncated/%zu", rows * STEP,
				 (2 * BLOCK - 1) * STEP, 2 * BLOCK - rows);
			assert_non_null(strstr(im.clock[0].text, gap));
		}
		imported_free(&im);
	}
}

static void a_short_last_block_is_read(void **state)
{
	struct imported im;
	struct rld f;

	(void)state;
	two_blocks(&f, 4, BLOCK_NS);
	set(&f, 16, 2 * BLOCK - 1, 8);
	f.n -= 16;
	import_rld(&im, &f, true);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.clock[0].samples, 4 * (2 * BLOCK - 1));
	imported_free(&im);
	/* or as long as the others */
	two_blocks(&f, 4, BLOCK_NS);
	set(&f, 16, 2 * BLOCK - 1, 8);
	import_rld(&im, &f, true);
	assert_int_equal(im.clock[0].samples, 4 * (2 * BLOCK - 1));
	imported_free(&im);
}

/*
 * Version 2.0.0 of the logger's software: an empty word in each sample of a file without binary
 * channels.
 */
static void the_empty_word_of_no_lines_is_skipped(void **state)
{
	(void)state;
	for (int stuffed = 0; stuffed < 2; stuffed++) {
		struct imported im;
		struct rld f;

		put_header(&f, 4, false, 2 * BLOCK);
		for (int block = 0; block < 2; block++) {
			put_stamp(&f, 5000000000 + block * BLOCK_NS);
			for (int i = 0; i < BLOCK; i++) {
				if (stuffed)
					put(&f, 0, 4);
				put(&f, 1000 + i, 4);
				put(&f, 330000000, 4);
			}
		}
		import_rld(&im, &f, true);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.clock[0].samples, 2 * 2 * BLOCK);
		assert_non_null(strstr(im.clock[0].text, "702464~0=1.003e-06 702464~1=3.3"));
		imported_free(&im);
	}
}

static void headers_that_cannot_be_are_refused(void **state)
{
	static const struct {
		size_t at;
		unsigned bytes;
		int64_t value;
		enum cvl_code code;
		uint64_t offset;
	} cases[] = {
		{ 0, 1, 'X', CVL_E_MAGIC, 0 },
		{ 4, 2, 1, CVL_E_UNSUPPORTED, 4 },
		{ 4, 2, 5, CVL_E_UNSUPPORTED, 4 },
		{ 6, 2, 199, CVL_E_RANGE, 6 },
		{ 8, 4, 0, CVL_E_RANGE, 8 },
		{ 24, 2, 0, CVL_E_RANGE, 24 },
		{ 48, 4, 8, CVL_E_RANGE, 6 },
		{ 52, 4, 0, CVL_E_MISSING, 52 },
		{ 52, 2, 65, CVL_E_LIMIT, 52 },
		{ 60, 4, 99, CVL_E_RANGE, 60 },
		{ 60, 4, 2, CVL_E_RANGE, 68 },           /* a line that is none, of 0 bytes */
		{ 60 + 2 * 28, 4, 3, CVL_E_RANGE, 116 }, /* a channel that is a line */
		{ 60 + 2 * 28 + 4, 4, 1000, CVL_E_RANGE, 120 },
		{ 60 + 2 * 28 + 8, 2, 3, CVL_E_RANGE, 124 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct imported im;
		struct rld f;

		two_blocks(&f, 4, BLOCK_NS);
		set(&f, cases[i].at, cases[i].value, cases[i].bytes);
		import_rld(&im, &f, false);
		if (im.rc != (int)cases[i].code || im.err.offset != cases[i].offset)
			fail_msg("case %zu: %d at %" PRIu64 ": %s", i, im.rc, im.err.offset,
				 im.err.text);
		assert_int_equal(im.n_clocks, 0);
		imported_free(&im);
	}
}

static void a_file_is_read_whole(void **state)
{
	static const struct {
		uint64_t samples, last_tick;
		int64_t start_unix_ns;
		const char *first; /* the first sample's bytes, by hand */
	} want[] = {
		{ 5 * 100, UINT64_C(99) * STEP, INT64_C(1600000007000000000),
		  " 0~0=7e-06 0~1=3e-09 0~2=3.3 0~3=0 0~4=7e-06 " },
		{ 10 * 5000, UINT64_C(4999) * STEP, INT64_C(1494407117447893955),
		  " 0~0=6.405e-06 0~1=-3.33e-09 0~2=-5.9302 " },
	};
	struct imported im;
	char path[512];

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		if (!capture_file(path, sizeof(path), k, "rocketlogger/test_full.rld"))
			continue;
		import_file(&im, &cvl_import_rld, path, NULL);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.n_reports, 0);
		assert_int_equal(im.clock[0].samples, want[k].samples);
		assert_int_equal(im.clock[0].gaps, 0);
		if (!strstr(im.clock[0].text, want[k].first))
			fail_msg("%.300s", im.clock[0].text);
		assert_true(im.clock[0].start_unix_ns == want[k].start_unix_ns);
		assert_true(im.clock[0].last_tick == want[k].last_tick);
		imported_free(&im);
	}
}

static void a_cut_file_is_read_up_to_the_cut(void **state)
{
	static const struct {
		uint64_t samples, offset;
		const char *gap;
	} want[] = { { 5 * 99, 2380, "9934848-9934848/truncated/1" },
		     { 4999, 20260, "501659648-501659648/truncated/1" } };
	struct imported im;
	char path[512];

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		if (!capture_file(path, sizeof(path), k, "rocketlogger/test_truncated.rld"))
			continue;
		import_file(&im, &cvl_import_rld, path, NULL);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.n_reports, 1);
		assert_int_equal(im.report[0].code, CVL_E_TRUNCATED);
		assert_int_equal(im.report[0].offset, want[k].offset);
		assert_int_equal(im.clock[0].samples, want[k].samples);
		if (!strstr(im.clock[0].text, want[k].gap))
			fail_msg("%s", im.clock[0].text);
		imported_free(&im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_gives_volts_amperes_and_lines),
		cmocka_unit_test(a_late_stamp_moves_no_sample),
		cmocka_unit_test(a_block_that_is_lost_is_a_gap_and_a_slip),
		cmocka_unit_test(a_stamp_that_goes_back_is_told),
		cmocka_unit_test(a_stamp_that_is_no_time_leaves_its_block_out),
		cmocka_unit_test(a_wall_clock_that_is_set_moves_nothing),
		cmocka_unit_test(a_cut_file_keeps_what_is_whole),
		cmocka_unit_test(a_short_last_block_is_read),
		cmocka_unit_test(the_empty_word_of_no_lines_is_skipped),
		cmocka_unit_test(headers_that_cannot_be_are_refused),
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(a_cut_file_is_read_up_to_the_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
