/* SPDX-License-Identifier: MIT */
/* Images are made by the kernel's own code, and damaged here. */
#include "test_import.h"

#include <ett/image.h>
#include <ett/probes.h>

#include "core/crc32c.h"
#include "test_draw.h"

#define RATE 1000000000
#define BEGIN 1000
#define BLOCK ETT_BLOCK_RECORDS

struct disk {
	struct ett_image image;
	struct ett_record record[3 * BLOCK], truth[BLOCK];
	unsigned char *bytes;
	size_t n;
};

/* The bytes of what is in @d->image, behind @ahead bytes. */
static void save(struct disk *d, size_t ahead)
{
	size_t blocks = ett_image_blocks(&d->image);

	d->n = ahead + blocks * ETT_BLOCK_BYTES;
	d->bytes = calloc(1, d->n);
	assert_non_null(d->bytes);
	for (size_t i = 0; i < blocks; i++)
		ett_image_block(&d->image, i, d->bytes + ahead + i * ETT_BLOCK_BYTES);
}

/* @n changes, one every 100 ns, each within 40; @truths stores. */
static struct disk *disk(unsigned probes, size_t n, size_t truths)
{
	struct disk *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	for (size_t i = 0; i < n; i++)
		d->record[i] = (struct ett_record){ .tick = BEGIN + 100 * (i + 1),
						    .width = 40,
						    .before = (uint8_t)(0x11 + i % 2),
						    .value = (uint8_t)(0x12 - i % 2) };
	for (size_t i = 0; i < truths; i++)
		d->truth[i] = (struct ett_record){ .tick = BEGIN + 100 * (i + 1) - 15,
						   .width = 3,
						   .value = (uint8_t)(0x12 - i % 2) };
	d->image = (struct ett_image){
		.header = { .flags = ETT_INVARIANT | ETT_PIT,
			    .probes = (uint8_t)probes,
			    .bits = (uint8_t)(8 / probes),
			    .mask = 0xff,
			    .rate_hz = RATE,
			    .run = BEGIN,
			    .begin = BEGIN,
			    .end = BEGIN + 100 * (n + 1),
			    .why = ETT_END_KEY,
			    .records = n,
			    .truths = truths,
			    .room = 100000,
			    .cpu_name = "a processor",
			    .config = "probes=2" },
		.record = d->record,
		.truth = d->truth,
	};
	return d;
}

static void disk_free(struct disk *d)
{
	free(d->bytes);
	free(d);
}

static void import_disk(struct imported *im, const struct disk *d, bool strict)
{
	const struct cvl_import_opts opts = { .strict = strict };

	import_bytes(im, &cvl_import_ett, d->bytes, d->n, &opts);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

#define RUN "1000*run(key)(8254)(parallel port)(a processor)(probes=2)"

static void an_event_stands_in_the_middle_of_its_bracket(void **state)
{
	struct disk *d = disk(2, 3, 0);
	struct imported im;

	(void)state;
	d->record[1].value = 0x21; /* both probes, in one read */
	d->record[2].width = 41;
	save(d, 0);
	import_disk(&im, d, true);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 0);
	assert_int_equal(im.n_clocks, 1);
	assert_true(im.clock[0].rate_hz == RATE);
	assert_string_equal(im.clock[0].text, RUN " 1080*event 1180*event 1180*event 1279*event");
	imported_free(&im);
	disk_free(d);
}

static void a_first_bracket_may_begin_before_the_capture(void **state)
{
	struct disk *d = disk(1, 1, 0);
	struct imported im;

	(void)state;
	d->record[0].tick = BEGIN + 10; /* the first read took 60 ticks, the second 10 */
	d->record[0].width = 70;
	save(d, 0);
	import_disk(&im, d, true);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 0);
	assert_string_equal(im.clock[0].text,
			    "975*run(key)(8254)(parallel port)(a processor)(probes=2) "
			    "975*event");
	imported_free(&im);
	disk_free(d);
}

static void stores_of_the_self_test_are_on_the_same_clock(void **state)
{
	struct disk *d = disk(1, 2, 2);
	struct imported im;

	(void)state;
	save(d, 0);
	import_disk(&im, d, true);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_clocks, 2);
	assert_string_equal(im.clock[1].text, "1083*store 1183*store");
	assert_string_equal(im.clock[1].name, "mem-stores");
	imported_free(&im);
	disk_free(d);
}

static void a_bracket_that_needs_it_is_stored_wider(void **state)
{
	struct disk *d = disk(1, 1, 0);
	struct imported im;

	(void)state;
	d->record[0].tick = UINT64_C(1) << 40;
	ett_set_width(&d->record[0], UINT64_C(1) << 38);
	save(d, 0);
	import_disk(&im, d, true);
	assert_int_equal(im.rc, 0);
	assert_string_equal(im.clock[0].text, RUN " 962072674304*event"); /* 2^40 - 2^37 */
	imported_free(&im);
	disk_free(d);
}

static void steps_of_the_worst_case_mode_are_told_apart_from_events(void **state)
{
	struct disk *d = disk(1, 2, 0);
	struct imported im;

	(void)state;
	d->image.header.flags |= ETT_EVERY_STEP;
	d->record[0].value = d->record[0].before;
	save(d, 0);
	import_disk(&im, d, true);
	assert_string_equal(im.clock[0].text, RUN " 1080*step 1180*event");
	imported_free(&im);
	disk_free(d);
}

static void behind_a_full_memory_all_is_lost(void **state)
{
	struct disk *d = disk(1, 1, 0);
	struct imported im;

	(void)state;
	d->image.header.why = ETT_END_FULL;
	save(d, 0);
	import_disk(&im, d, true);
	assert_int_equal(im.rc, 0);
	assert_non_null(strstr(im.clock[0].text, "1080*event 1200-?/overflow/?"));
	imported_free(&im);
	disk_free(d);
}

static void a_boot_sector_names_where_the_image_is(void **state)
{
	struct disk *d = disk(1, 1, 0);
	struct imported im;

	(void)state;
	save(d, 1024);
	memcpy(d->bytes + ETT_BOOT_MARK_AT, ETT_BOOT_MARK, 8);
	d->bytes[ETT_BOOT_IMAGE_AT] = 2;
	assert_true(cvl_import_ett.probe(d->bytes, d->n, "x") > 50);
	import_disk(&im, d, true);
	assert_int_equal(im.rc, 0);
	assert_non_null(strstr(im.clock[0].text, "1080*event"));
	imported_free(&im);
	d->bytes[ETT_BOOT_IMAGE_AT] = 200;
	import_disk(&im, d, false);
	assert_int_equal(im.rc, CVL_E_TRUNCATED);
	imported_free(&im);
	disk_free(d);
}

/* Any bit of a block: its records are a gap, all others are there. */
static void a_damaged_block_is_a_gap_between_its_neighbours(void **state)
{
	struct disk *d = disk(1, 3 * BLOCK, 0);
	char gap[80];

	(void)state;
	save(d, 0);
	/* from the last record ahead of it to where the next one's bracket begins */
	snprintf(gap, sizeof(gap), " %zu-%zu/corrupt/%zu ", BEGIN + 100 * BLOCK,
		 BEGIN + 100 * (2 * BLOCK + 1) - 20, BLOCK);
	for (size_t bit = 0; bit < 8 * ETT_BLOCK_BYTES; bit += 1021) {
		struct imported im;

		d->bytes[2 * ETT_BLOCK_BYTES + bit / 8] ^= (unsigned char)(1 << bit % 8);
		import_disk(&im, d, false);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.report[0].code, CVL_E_CHECKSUM);
		assert_int_equal(im.report[0].offset, 2 * ETT_BLOCK_BYTES);
		assert_int_equal(count(im.clock[0].text, "*event"), 2 * BLOCK);
		assert_non_null(strstr(im.clock[0].text, gap));
		imported_free(&im);
		d->bytes[2 * ETT_BLOCK_BYTES + bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	d->bytes[2 * ETT_BLOCK_BYTES + 100] ^= 1;
	struct imported im;

	import_disk(&im, d, true);
	assert_int_equal(im.rc, CVL_E_CHECKSUM);
	assert_int_equal(im.err.offset, 2 * ETT_BLOCK_BYTES);
	imported_free(&im);
	/* that of the last one is no cut */
	d->bytes[3 * ETT_BLOCK_BYTES + 100] ^= 1;
	import_disk(&im, d, false);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 1);
	assert_int_equal(im.report[0].code, CVL_E_CHECKSUM);
	assert_int_equal(im.clock[0].gaps, 1);
	imported_free(&im);
	disk_free(d);
}

/* What an earlier run left where this one's blocks did not come to. */
static void a_block_of_another_run_is_none_of_this(void **state)
{
	struct disk *d = disk(1, 2 * BLOCK, 0), *old = disk(1, 2 * BLOCK, 0);
	struct imported im;

	(void)state;
	old->image.header.run = 5;
	save(d, 0);
	save(old, 0);
	memcpy(d->bytes + 2 * ETT_BLOCK_BYTES, old->bytes + 2 * ETT_BLOCK_BYTES, ETT_BLOCK_BYTES);
	import_disk(&im, d, false);
	assert_int_equal(im.rc, 0);
	assert_int_equal(count(im.clock[0].text, "*event"), BLOCK);
	assert_int_equal(im.clock[0].gaps, 1);
	imported_free(&im);
	disk_free(d);
	disk_free(old);
}

static void a_cut_image_keeps_what_is_whole(void **state)
{
	struct disk *d = disk(1, 2 * BLOCK, 3);

	(void)state;
	save(d, 0);
	for (size_t n = 0; n < d->n; n += n % ETT_BLOCK_BYTES == 4095 ? 1 : 455) {
		size_t blocks = n / ETT_BLOCK_BYTES;
		unsigned char *exact = malloc(n + 1);
		struct imported im;

		assert_non_null(exact);
		memcpy(exact, d->bytes, n);
		import_bytes(&im, &cvl_import_ett, exact, n, NULL);
		free(exact);
		if (!blocks) {
			assert_int_equal(im.rc, CVL_E_TRUNCATED);
			assert_int_equal(im.n_clocks, 0);
			continue;
		}
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.report[0].code, CVL_E_TRUNCATED);
		assert_int_equal(count(im.clock[0].text, "*event"), (blocks - 1) * BLOCK);
		assert_int_equal(im.clock[0].gaps, blocks < 3);
		if (blocks == 3) /* the stores are cut */
			assert_int_equal(im.clock[1].gaps, 1);
		imported_free(&im);
	}
	disk_free(d);
}

/* Bytes lost from, or come into, what a serial line brought: only the blocks that they are in. */
static void behind_bytes_that_are_lost_or_too_many_blocks_are_found_again(void **state)
{
	struct draw r = draw_begin(1);
	struct disk *d = disk(1, 3 * BLOCK, 5);

	(void)state;
	save(d, 0);
	for (int round = 0; round < 200; round++) {
		size_t n = d->n, at = ETT_BLOCK_BYTES + draw_below(&r, 3 * ETT_BLOCK_BYTES);
		size_t by = 1 + draw_below(&r, ETT_BLOCK_BYTES), block = at / ETT_BLOCK_BYTES;
		bool more = draw_below(&r, 2);
		unsigned char *bytes = calloc(1, n + by), *from = bytes + at + by;
		struct imported im;
		size_t whole = 2;

		assert_non_null(bytes);
		memcpy(bytes, d->bytes, n);
		if (more) {
			memcpy(from, d->bytes + at, n - at);
			memset(bytes + at, 0x55, by);
			whole += at % ETT_BLOCK_BYTES == 0; /* between two blocks */
			n += by;
		} else {
			by = by < ETT_BLOCK_BYTES - at % ETT_BLOCK_BYTES ?
				     by :
				     ETT_BLOCK_BYTES - at % ETT_BLOCK_BYTES;
			memcpy(bytes + at, d->bytes + at + by, n - at - by);
			n -= by;
		}
		import_bytes(&im, &cvl_import_ett, bytes, n, NULL);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.report[0].code, CVL_E_CHECKSUM);
		assert_int_equal(im.report[0].offset, block * ETT_BLOCK_BYTES);
		assert_int_equal(count(im.clock[0].text, "*event"), whole * BLOCK);
		assert_int_equal(im.clock[0].gaps, 3 - whole);
		assert_int_equal(count(im.clock[1].text, "*store"), 5);
		imported_free(&im);
		free(bytes);
	}
	disk_free(d);
}

static void set_header(struct disk *d, size_t at, unsigned char value)
{
	for (size_t copy = 0; copy <= ETT_COPY_AT; copy += ETT_COPY_AT) {
		unsigned char *h = d->bytes + copy;
		uint32_t crc;

		h[at] = value;
		memset(h + 12, 0, 4);
		crc = cvl_crc32c(0, h, ETT_HEADER_BYTES);
		memcpy(h + 12, &crc, 4);
	}
}

static void a_header_of_which_one_copy_is_whole_is_read(void **state)
{
	struct disk *d = disk(1, 1, 0);
	struct imported im;

	(void)state;
	save(d, 0);
	d->bytes[40] ^= 1;
	import_disk(&im, d, false);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.report[0].code, CVL_E_CHECKSUM);
	assert_non_null(strstr(im.clock[0].text, "1080*event"));
	imported_free(&im);
	import_disk(&im, d, true);
	assert_int_equal(im.rc, CVL_E_CHECKSUM);
	imported_free(&im);
	memset(d->bytes, 0, ETT_COPY_AT);
	assert_true(cvl_import_ett.probe(d->bytes, d->n, "x") > 50);
	import_disk(&im, d, false);
	assert_int_equal(im.rc, 0);
	imported_free(&im);
	d->bytes[ETT_COPY_AT + 40] ^= 1;
	import_disk(&im, d, false);
	assert_int_equal(im.rc, CVL_E_MAGIC);
	imported_free(&im);
	disk_free(d);
}

static void headers_that_cannot_be_are_refused(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
		enum cvl_code code;
		uint64_t offset;
	} cases[] = {
		{ 0, 'X', CVL_E_MAGIC, 0 },     { 8, 2, CVL_E_UNSUPPORTED, 8 },
		{ 20, 3, CVL_E_RANGE, 20 },     /* probes */
		{ 21, 7, CVL_E_RANGE, 20 },     /* bits */
		{ 39, 1, CVL_E_RANGE, 32 },     /* rate */
		{ 103, 0x7f, CVL_E_RANGE, 96 }, /* records */
		{ 111, 0x7f, CVL_E_RANGE, 96 }, /* truths */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct disk *d = disk(1, 1, 0);
		struct imported im;

		save(d, 0);
		set_header(d, cases[i].at, cases[i].value);
		import_disk(&im, d, false);
		if (im.rc != (int)cases[i].code || im.err.offset != cases[i].offset)
			fail_msg("case %zu: %d at %" PRIu64 ": %s", i, im.rc, im.err.offset,
				 im.err.text);
		assert_int_equal(im.n_clocks, 0);
		imported_free(&im);
		disk_free(d);
	}
}

static void what_the_kernel_found_wrong_is_told(void **state)
{
	struct disk *d = disk(1, 1, 1);
	struct imported im;

	(void)state;
	d->image.header.flags = ETT_NO_PORT | ETT_APART;
	save(d, 0);
	import_disk(&im, d, false);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_reports, 3);
	assert_int_equal(im.report[0].code, CVL_E_UNSUPPORTED);
	assert_int_equal(im.report[2].code, CVL_E_MISMATCH);
	assert_int_equal(im.n_clocks, 2);
	imported_free(&im);
	disk_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_stands_in_the_middle_of_its_bracket),
		cmocka_unit_test(a_first_bracket_may_begin_before_the_capture),
		cmocka_unit_test(stores_of_the_self_test_are_on_the_same_clock),
		cmocka_unit_test(a_bracket_that_needs_it_is_stored_wider),
		cmocka_unit_test(steps_of_the_worst_case_mode_are_told_apart_from_events),
		cmocka_unit_test(behind_a_full_memory_all_is_lost),
		cmocka_unit_test(a_boot_sector_names_where_the_image_is),
		cmocka_unit_test(a_damaged_block_is_a_gap_between_its_neighbours),
		cmocka_unit_test(a_block_of_another_run_is_none_of_this),
		cmocka_unit_test(a_cut_image_keeps_what_is_whole),
		cmocka_unit_test(behind_bytes_that_are_lost_or_too_many_blocks_are_found_again),
		cmocka_unit_test(a_header_of_which_one_copy_is_whole_is_read),
		cmocka_unit_test(headers_that_cannot_be_are_refused),
		cmocka_unit_test(what_the_kernel_found_wrong_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
