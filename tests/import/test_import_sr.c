/* SPDX-License-Identifier: MIT */
#include "test_import.h"

#include <endian.h>
#include <zip.h>

#define META(unit, more)                                                                     \
	"[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\nunitsize=" #unit \
	"\nsamplerate=10 kHz\n" more

struct entry {
	const char *name;
	const void *bytes; /* NULL: text */
	size_t n;
	const char *text;
};

#define TEXT(entry, s)                   \
	{                                \
		.name = entry, .text = s \
	}
#define BYTES(entry, s)                                       \
	{                                                     \
		.name = entry, .bytes = s, .n = sizeof(s) - 1 \
	}

struct scratch {
	char dir[64], path[96];
};

static void scratch_open(struct scratch *x)
{
	snprintf(x->dir, sizeof(x->dir), "/tmp/coeval-test-XXXXXX");
	assert_non_null(mkdtemp(x->dir));
	snprintf(x->path, sizeof(x->path), "%s/x.sr", x->dir);
}

static void scratch_close(struct scratch *x)
{
	nftw(x->dir, imported_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/* Write an archive of @n entries, the first with a name of NULL ending it earlier. */
static void pack(const struct scratch *x, const struct entry *entries, size_t n, zip_int32_t method)
{
	zip_t *zip = zip_open(x->path, ZIP_CREATE | ZIP_TRUNCATE, NULL);

	assert_non_null(zip);
	for (size_t i = 0; i < n && entries[i].name; i++) {
		const struct entry *e = &entries[i];
		zip_source_t *source = zip_source_buffer(zip, e->text ? e->text : e->bytes,
							 e->text ? strlen(e->text) : e->n, 0);
		zip_int64_t index = zip_file_add(zip, e->name, source, 0);

		assert_true(index >= 0);
		assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)index, method, 0), 0);
	}
	assert_int_equal(zip_close(zip), 0);
}

static uint8_t *load(const struct scratch *x, size_t *n)
{
	FILE *f = fopen(x->path, "rb");
	uint8_t *bytes = malloc(1 << 24);

	assert_true(f && bytes);
	*n = fread(bytes, 1, 1 << 24, f);
	fclose(f);
	return bytes;
}

static void save(const struct scratch *x, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(x->path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static uint8_t *find(uint8_t *bytes, size_t n, const char *what)
{
	uint8_t *at = memmem(bytes, n, what, strlen(what));

	assert_non_null(at);
	return at;
}

struct sr_case {
	struct entry entry[8];
	struct cvl_import_opts opts;
	int rc;
	enum cvl_code code; /* of the error or the first report */
	uint64_t offset;    /* looked at when there is an error that has one */
	const char *in;     /* part of the error's text */
	const char *store;  /* NULL: no clock */
};

static void check(const struct sr_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sr_case *c = &cases[i];
		const struct cvl_error *e;
		struct scratch x;
		struct imported im;
		uint8_t *bytes;
		size_t len;

		scratch_open(&x);
		pack(&x, c->entry, 8, ZIP_CM_DEFLATE);
		bytes = load(&x, &len);
		import_bytes(&im, &cvl_import_sr, bytes, len, &c->opts);
		imported_free(&im);
		free(bytes);
		import_file(&im, &cvl_import_sr, x.path, &c->opts);
		e = im.rc ? &im.err : im.report;
		if (im.rc != c->rc || e->code != c->code)
			fail_msg("case %zu: %d, code %d: %s", i, im.rc, e->code, e->text);
		if (c->code && e->offset != c->offset)
			fail_msg("case %zu: offset %" PRIu64 ": %s", i, e->offset, e->text);
		if (c->in && !strstr(e->text, c->in))
			fail_msg("case %zu: %s", i, e->text);
		if (!c->store != !im.n_clocks)
			fail_msg("case %zu: %zu clocks", i, im.n_clocks);
		if (c->store && strcmp(c->store, im.clock[0].text))
			fail_msg("case %zu: %s", i, im.clock[0].text);
		imported_free(&im);
		scratch_close(&x);
	}
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof(*(cases)))

static void lines_of_every_unit_size_are_read(void **state)
{
	static const struct sr_case cases[] = {
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(1, "total probes=2\n")),
			     BYTES("logic-1-1", "\0\1\1"), BYTES("logic-1-2", "\1\3\xff"),
			     BYTES("logic-1-3", "\2") },
		  .store = "=0@0 1:1 4:3 6:2" },
		{ .entry = { TEXT("version", "1"),
			     TEXT("metadata", META(1, "probe1=A\nprobe3=C\n")),
			     BYTES("logic-1", "\1\1\4\xff") },
		  .store = "=1@0 2:4 3:7" },
		{ .entry = { TEXT("version", "2\n"), TEXT("metadata", META(2, "total probes=16\n")),
			     BYTES("logic-1-1", "\0\0\1"), BYTES("logic-1-2", "\1\1\1") },
		  .store = "=0@0 1:257" },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(3, "total probes=24\n")),
			     BYTES("logic-1-1", "\0\0\1\0\0\1\0\1"), BYTES("logic-1-2", "\1") },
		  .store = "=65536@0 2:65792" },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(4, "total probes=32\n")),
			     BYTES("logic-1-1", "\0\0\0\1\0\0\0\0") },
		  .store = "=16777216@0 1:0" },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(5, "total probes=40\n")),
			     BYTES("logic-1-1", "\0\0\0\0\1\0\0\0\0\0") },
		  .store = "=4294967296@0 1:0" },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(8, "total probes=64\n")),
			     BYTES("logic-1-1", "\0\0\0\0\0\0\0\1\1\0\0\0\0\0\0\0") },
		  .store = "=72057594037927936@0 1:1" },
		/* Spaces around '=', no newline at the end, the older order of entries. */
		{ .entry = { TEXT("version", "1"), BYTES("logic-1", "\0\2"),
			     TEXT("metadata",
				  "[global]\nsigrok version = 0.2.0\n[device 1]\r\n"
				  "driver = x\ncapturefile = logic-1\nunitsize = 1\n"
				  "total probes = 8\nsamplerate = 4 MHz\nprobe1 = PON\nprobe2 = DATA") },
		  .store = "=0@0 1:2" },
		/* Ten chunks and more are in the order of their numbers, whatever stands first. */
		{ .entry = { BYTES("logic-1-3", "\0"), BYTES("logic-1-2", "\1"),
			     BYTES("logic-1-1", "\0"), BYTES("logic-1-03", "\1\0\1"),
			     TEXT("version", "2"), TEXT("metadata", META(1, "total probes=1\n")) },
		  .store = "=0@0 1:1 2:0" },
	};

	(void)state;
	CHECK(cases);
}

static void parts_that_are_missing_are_named(void **state)
{
	static const struct sr_case cases[] = {
		{ .entry = { TEXT("metadata", META(1, "total probes=1\n")),
			     BYTES("logic-1-1", "\0") },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .in = "x.sr:version: " },
		{ .entry = { TEXT("version", "2"), BYTES("logic-1-1", "\0") },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .in = "x.sr:metadata: " },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(1, "total probes=1\n")) },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .offset = CVL_NO_OFFSET,
		  .in = "x.sr:logic-1: " },
		{ .entry = { TEXT("version", "2"), BYTES("logic-1-1", "\0"),
			     TEXT("metadata", "[device 1]\nunitsize=1\ntotal probes=1\n") },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .offset = CVL_NO_OFFSET,
		  .in = "no samplerate" },
		{ .entry = { TEXT("version", "2"), BYTES("logic-1-1", "\0\1"),
			     TEXT("metadata", "[device 1]\nunitsize=1\ntotal probes=1\n") },
		  .opts = { .rate_hz = 7 },
		  .store = "=0@0 1:1" },
		{ .entry = { TEXT("version", "2"), BYTES("logic-1-1", "\0"),
			     TEXT("metadata", "[device 1]\nsamplerate=1 Hz\ntotal probes=1\n") },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .offset = CVL_NO_OFFSET,
		  .in = "unitsize" },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(1, "")),
			     BYTES("logic-1-1", "\0") },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .offset = CVL_NO_OFFSET,
		  .in = "total probes" },
		/* A chunk's length is not known, so neither is where the next one begins. */
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(1, "total probes=1\n")),
			     BYTES("logic-1-1", "\0\1"), BYTES("logic-1-3", "\0\1") },
		  .code = CVL_E_MISSING,
		  .in = "x.sr:logic-1-2: ",
		  .store = "=0@0 1:1 2-?/packets lost/?" },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(1, "total probes=1\n")),
			     BYTES("logic-1-1", "\0\1"), BYTES("logic-1-3", "\0\1") },
		  .opts = { .strict = true },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .in = "x.sr:logic-1-2: ",
		  .store = "=0@0 1:1 2-?/truncated/?" },
	};

	(void)state;
	CHECK(cases);
}

static void bad_metadata_are_refused_where_they_stand(void **state)
{
	static const struct sr_case cases[] = {
		{ .entry = { TEXT("version", "3"), TEXT("metadata", META(1, "")),
			     BYTES("logic-1", "\0") },
		  .rc = CVL_E_UNSUPPORTED,
		  .code = CVL_E_UNSUPPORTED,
		  .in = "x.sr:version: " },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", "[device 1]\nnonsense\n") },
		  .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX,
		  .offset = 11,
		  .in = "x.sr:metadata: " },
		{ .entry = { TEXT("version", "2"),
			     TEXT("metadata", "[device 1]\nsamplerate = fast\n") },
		  .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX,
		  .offset = 24 },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", "[device 1]\nunitsize=0\n") },
		  .rc = CVL_E_RANGE,
		  .code = CVL_E_RANGE,
		  .offset = 20 },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", "[device 1]\nunitsize=9\n") },
		  .rc = CVL_E_UNSUPPORTED,
		  .code = CVL_E_UNSUPPORTED,
		  .offset = 20 },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", "[device 1]\nprobe65=x\n") },
		  .rc = CVL_E_UNSUPPORTED,
		  .code = CVL_E_UNSUPPORTED,
		  .offset = 11 },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", "[device 1]\nprobe0=x\n") },
		  .rc = CVL_E_RANGE,
		  .code = CVL_E_RANGE,
		  .offset = 11 },
		{ .entry = { TEXT("version", "2"),
			     BYTES("metadata", "[device 1]\nun\0itsize=1\n") },
		  .rc = CVL_E_SYNTAX,
		  .code = CVL_E_SYNTAX,
		  .offset = 13 },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(1, "probe9=x\n")),
			     BYTES("logic-1", "\0") },
		  .rc = CVL_E_RANGE,
		  .code = CVL_E_RANGE,
		  .offset = CVL_NO_OFFSET,
		  .in = "unitsize" },
	};

	(void)state;
	CHECK(cases);
}

static void half_a_sample_at_the_end_is_a_gap(void **state)
{
	static const struct sr_case cases[] = {
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(2, "total probes=9\n")),
			     BYTES("logic-1-1", "\0\0"), BYTES("logic-1-2", "\1\0\1") },
		  .code = CVL_E_TRUNCATED,
		  .offset = 2,
		  .in = "x.sr:logic-1-2: ",
		  .store = "=0@0 1:1 2-?/truncated/?" },
		{ .entry = { TEXT("version", "2"), TEXT("metadata", META(2, "total probes=9\n")),
			     BYTES("logic-1-1", "\0\0"), BYTES("logic-1-2", "\1\0\1") },
		  .opts = { .strict = true },
		  .rc = CVL_E_TRUNCATED,
		  .code = CVL_E_TRUNCATED,
		  .offset = 2,
		  .store = "=0@0 1:1 2-?/truncated/?" },
	};

	(void)state;
	CHECK(cases);
}

static void analog_channels_are_read_in_step(void **state)
{
	/* Little-endian floats: 0, 1, 1.5, -2. */
	static const char a[] = "\0\0\0\0\0\0\x80\x3f\0\0\xc0\x3f\0\0\0\xc0";
	static const char b[] = "\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\0\0";
	static const struct sr_case cases[] = {
		{ .entry = { TEXT("version", "2"),
			     TEXT("metadata",
				  META(1,
				       "total probes=1\ntotal analog=2\nanalog2=A\nanalog3=B\n")),
			     BYTES("logic-1-1", "\0\0\1\1"),
			     { .name = "analog-1-2-1", .bytes = a, .n = 6 },
			     { .name = "analog-1-2-2", .bytes = a + 6, .n = 10 },
			     { .name = "analog-1-3-1", .bytes = b, .n = 16 } },
		  .store = "=0@0 0~0=0 0~1=1 1~0=1 1~1=1 2~0=1.5 2~1=1 2:1 3~0=-2 3~1=0" },
		{ .entry = { TEXT("version", "2"),
			     TEXT("metadata", "[device 1]\nsamplerate=1 kHz\nanalog1=A\n"),
			     { .name = "analog-1-1-1", .bytes = a, .n = 8 } },
		  .store = "0~0=0 1~0=1" },
		{ .entry = { TEXT("version", "2"),
			     TEXT("metadata",
				  "[device 1]\nsamplerate=1 kHz\nanalog1=A\nanalog2=B\n"),
			     { .name = "analog-1-1-1", .bytes = a, .n = 8 },
			     { .name = "analog-1-2-1", .bytes = b, .n = 4 } },
		  .code = CVL_E_TRUNCATED,
		  .offset = 4,
		  .in = "channel B",
		  .store = "0~0=0 0~1=1 1~0=1 1-?/truncated/?" },
		{ .entry = { TEXT("version", "2"),
			     TEXT("metadata", "[device 1]\nsamplerate=1 kHz\nanalog1=A\n") },
		  .rc = CVL_E_MISSING,
		  .code = CVL_E_MISSING,
		  .offset = CVL_NO_OFFSET,
		  .in = "x.sr:analog-1-1: " },
	};

	(void)state;
	CHECK(cases);
}

/* ---- damage ---- */

/* A plausible session with one long chunk, neither empty nor regular. */
static void pack_long(const struct scratch *x, zip_int32_t method, size_t n)
{
	uint8_t *samples = malloc(n);
	struct entry entries[] = { TEXT("version", "2"),
				   TEXT("metadata", META(1, "total probes=8\n")),
				   { .name = "logic-1-1", .bytes = samples, .n = n } };
	uint32_t lcg = 1;

	assert_non_null(samples);
	for (size_t i = 0; i < n; i++) {
		lcg = lcg * 1664525 + 1013904223;
		samples[i] = (uint8_t)(lcg >> 24);
	}
	pack(x, entries, 3, method);
	free(samples);
}

static void a_wrong_checksum_keeps_what_was_read(void **state)
{
	struct scratch x;
	struct imported im;
	uint8_t *bytes;
	size_t n;

	(void)state;
	scratch_open(&x);
	pack_long(&x, ZIP_CM_STORE, 1000);
	bytes = load(&x, &n);
	find(bytes, n, "logic-1-1")[500] ^= 1;
	save(&x, bytes, n);
	import_file(&im, &cvl_import_sr, x.path, NULL);
	assert_int_equal(im.rc, CVL_E_CHECKSUM);
	assert_int_equal(im.err.offset, 1000);
	assert_non_null(strstr(im.err.text, "x.sr:logic-1-1: "));
	assert_int_equal(im.n_clocks, 1);
	assert_true(im.clock[0].edges > 900);
	assert_non_null(strstr(im.clock[0].text, "1000-?/corrupt/?"));
	imported_free(&im);
	free(bytes);
	scratch_close(&x);
}

static void broken_deflate_keeps_what_was_read(void **state)
{
	struct scratch x;
	struct imported im;
	uint8_t *bytes, *at;
	size_t n;

	(void)state;
	scratch_open(&x);
	pack_long(&x, ZIP_CM_DEFLATE, 1000000);
	bytes = load(&x, &n);
	at = find(bytes, n, "logic-1-1");
	memset(at + (n - (size_t)(at - bytes)) / 2, 0xff, 4096);
	save(&x, bytes, n);
	import_file(&im, &cvl_import_sr, x.path, NULL);
	assert_true(im.rc == CVL_E_CHECKSUM || im.rc == CVL_E_TRUNCATED);
	assert_true(im.err.offset > 100000 && im.err.offset <= 1000000);
	assert_true(im.clock[0].edges > 100000);
	assert_int_equal(im.clock[0].gaps, 1);
	imported_free(&im);
	free(bytes);
	scratch_close(&x);
}

static void an_archive_cut_off_is_truncated(void **state)
{
	struct scratch x;
	struct imported im;
	uint8_t *bytes;
	size_t n;

	(void)state;
	scratch_open(&x);
	pack_long(&x, ZIP_CM_DEFLATE, 100000);
	bytes = load(&x, &n);
	save(&x, bytes, n / 2);
	import_file(&im, &cvl_import_sr, x.path, NULL);
	assert_int_equal(im.rc, CVL_E_TRUNCATED);
	assert_int_equal(im.err.offset, n / 2);
	imported_free(&im);
	save(&x, bytes, 3);
	import_file(&im, &cvl_import_sr, x.path, NULL);
	assert_int_equal(im.rc, CVL_E_TRUNCATED);
	imported_free(&im);
	save(&x, (const uint8_t *)"text", 4);
	import_file(&im, &cvl_import_sr, x.path, NULL);
	assert_int_equal(im.rc, CVL_E_MAGIC);
	assert_int_equal(im.err.offset, 0);
	imported_free(&im);
	free(bytes);
	scratch_close(&x);
}

/* Set the declared unpacked size of an entry, in its local header and in the directory. */
static void declare_size(uint8_t *bytes, size_t n, const char *entry, uint32_t size)
{
	const uint32_t le = htole32(size);
	uint8_t *local = find(bytes, n, entry), *central;

	central = find(local + 1, n - (size_t)(local + 1 - bytes), entry);
	memcpy(local - 30 + 22, &le, 4);
	memcpy(central - 46 + 24, &le, 4);
}

static void sizes_that_cannot_be_true_are_refused(void **state)
{
	static const struct {
		uint32_t size;
		enum cvl_code code;
		uint64_t offset;
	} cases[] = {
		{ 0x7fffffff, CVL_E_LIMIT, CVL_NO_OFFSET }, /* a bomb */
		{ 90000, CVL_E_RANGE, 0 },
		{ 100001, CVL_E_TRUNCATED, 100000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct scratch x;
		struct imported im;
		uint8_t *bytes;
		size_t n;

		scratch_open(&x);
		pack_long(&x, ZIP_CM_DEFLATE, 100000);
		bytes = load(&x, &n);
		declare_size(bytes, n, "logic-1-1", cases[i].size);
		save(&x, bytes, n);
		import_file(&im, &cvl_import_sr, x.path, NULL);
		if (im.rc != (int)cases[i].code)
			fail_msg("case %zu: %d: %s", i, im.rc, im.err.text);
		if (cases[i].code == CVL_E_RANGE)
			assert_true(im.err.offset <= 90000);
		else
			assert_int_equal(im.err.offset, cases[i].offset);
		assert_int_equal(im.n_clocks, cases[i].code != CVL_E_LIMIT);
		imported_free(&im);
		free(bytes);
		scratch_close(&x);
	}
}

static void large_metadata_are_refused(void **state)
{
	const size_t n = (1 << 20) + 1;
	char *text = malloc(n + 1);
	struct entry entries[] = { TEXT("version", "2"), TEXT("metadata", text) };
	struct scratch x;
	struct imported im;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i * i % 23);
	text[n] = '\0';
	scratch_open(&x);
	pack(&x, entries, 2, ZIP_CM_STORE);
	import_file(&im, &cvl_import_sr, x.path, NULL);
	assert_int_equal(im.rc, CVL_E_LIMIT);
	assert_non_null(strstr(im.err.text, "x.sr:metadata: "));
	imported_free(&im);
	scratch_close(&x);
	free(text);
}

static void a_pipe_is_told_to_be_saved(void **state)
{
	struct cvl_input *in;
	struct imported im;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "PK\3\4xxxx", 8), 8);
	close(ends[1]);
	assert_int_equal(cvl_input_fd(&in, ends[0], "pipe", NULL), 0);
	import_input(&im, &cvl_import_sr, in, NULL);
	close(ends[0]);
	assert_int_equal(im.rc, CVL_E_UNSUPPORTED);
	assert_non_null(strstr(im.err.text, "save it to a file"));
	imported_free(&im);
	assert_true(cvl_import_sr.probe((const uint8_t *)"PK\3\4", 4, "a.sr") == 90);
	assert_true(cvl_import_sr.probe((const uint8_t *)"PK\3\4", 4, "a.zip") == 40);
	assert_true(cvl_import_sr.probe((const uint8_t *)"PK\3\4", 4, "-") == 40);
	assert_true(cvl_import_sr.probe((const uint8_t *)"PK\3", 3, "a.sr") == 0);
}

static void names_are_in_the_order_of_bits(void **state)
{
	static const struct entry entries[] = {
		TEXT("version", "2"),
		TEXT("metadata", META(1, "total probes=8\nprobe4=CS\nprobe2=CLK\n")),
		BYTES("logic-1-1", "\0")
	};
	static const char *const want[] = { "D0", "CLK", "D2", "CS" };
	struct scratch x;
	struct cvl_session *s;
	struct cvl_trace *trace;
	struct cvl_input *in;
	const struct cvl_import_opts opts = { .node = "desk" };
	char path[128], key[16];

	(void)state;
	scratch_open(&x);
	pack(&x, entries, 3, ZIP_CM_STORE);
	snprintf(path, sizeof(path), "%s/session", x.dir);
	assert_int_equal(cvl_session_create(&s, path, NULL), 0);
	assert_int_equal(cvl_input_open(&in, x.path, NULL), 0);
	assert_int_equal(cvl_import_sr.import(in, s, &opts, NULL), 0);
	cvl_input_close(in);
	assert_string_equal(cvl_session_clock(s, 0)->name, "desk");
	assert_int_equal(cvl_session_clock(s, 0)->rate_hz, 10000);
	assert_string_equal(cvl_session_clock(s, 0)->format, "sr");
	assert_int_equal(cvl_trace_open(&trace, cvl_session_clock(s, 0)->trace, NULL, NULL), 0);
	assert_string_equal(cvl_trace_env(trace, "lines"), "4");
	for (size_t i = 0; i < 4; i++) {
		snprintf(key, sizeof(key), "line%zu", i);
		assert_string_equal(cvl_trace_env(trace, key), want[i]);
	}
	cvl_trace_close(trace);
	cvl_session_close(s);
	scratch_close(&x);
}

/* ---- real captures ---- */

/* Edges of the lowest @lines lines of what @command prints, written as imported_read() does. */
static char *plain_edges(const char *command, unsigned lines)
{
	FILE *pipe = popen(command, "r"), *out;
	const int mask = (1 << lines) - 1;
	uint64_t tick = 0;
	int last, c;
	char *text;
	size_t len;

	assert_non_null(pipe);
	out = open_memstream(&text, &len);
	last = fgetc(pipe);
	assert_true(last != EOF);
	fprintf(out, "=%d@0", last & mask);
	while ((c = fgetc(pipe)) != EOF) {
		tick++;
		if ((c ^ last) & mask)
			fprintf(out, " %" PRIu64 ":%d", tick, c & mask);
		last = c;
	}
	fclose(out);
	assert_int_equal(pclose(pipe), 0);
	return text;
}

/*
 * That the edges of @file are those of what @reader, a command with a %s for the path, prints of
 * it; own and real.
 */
static void compare_capture(const char *file, unsigned lines, const char *reader)
{
	char path[512], command[1100];
	struct imported im;
	char *want;
	char *gap = strstr(reader, "%s");

	assert_non_null(gap);
	for (unsigned k = 0; k < 2; k++) {
		if (!capture_file(path, sizeof(path), k, file))
			continue;
		snprintf(command, sizeof(command), "%.*s'%s'%s", (int)(gap - reader), reader, path,
			 gap + 2);
		want = plain_edges(command, lines);
		import_file(&im, &cvl_import_sr, path, NULL);
		assert_int_equal(im.rc, 0);
		assert_int_equal(im.n_reports, 0);
		assert_true(im.clock[0].edges > 0);
		assert_string_equal(im.clock[0].text, want);
		free(want);
		imported_free(&im);
	}
}

/* A reader of archives that is not ours. */
#define SAMPLES                                                               \
	"python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); " \
	"[sys.stdout.buffer.write(z.read(n)) for n in z.namelist() if n.startswith(\"logic-1\")]' %s"

static void radio_captures_equal_their_samples(void **state)
{
	(void)state;
	compare_capture("sigrok/cc1101/cc1101-command-strobe.sr", 6, SAMPLES);
	compare_capture("sigrok/cc1101/cc1101-burst-write.sr", 6, SAMPLES);
	compare_capture("sigrok/cc1101/cc1101-burst-read.sr", 6, SAMPLES);
	compare_capture("sigrok/cc1101/cc1101-read-write.sr", 6, SAMPLES);
}

static void the_time_signal_equals_its_samples(void **state)
{
	(void)state;
	compare_capture("sigrok/dcf77/dcf77_20s.sr", 2, SAMPLES);
}

static void sigrok_sees_the_same_samples(void **state)
{
	(void)state;
	if (system("command -v sigrok-cli > /dev/null 2>&1")) {
		printf("SKIP sigrok: sigrok-cli is not installed; apt-get install sigrok-cli\n");
		skip();
	}
	compare_capture("sigrok/cc1101/cc1101-burst-write.sr", 6, "sigrok-cli -i %s -O binary");
}

static void names_are_made_unique(void **state)
{
	static const struct entry entries[8] = {
		TEXT("version", "2"),
		TEXT("metadata", META(1, "total probes=4\nprobe1=A\nprobe3=A\nprobe4=D1\n")),
		BYTES("logic-1-1", "\0\1\2"),
	};
	static const char *const want[] = { "A", "D1", "A-2", "D1-2" };
	struct cvl_trace *trace;
	struct imported im;
	struct scratch x;
	char path[512];

	(void)state;
	scratch_open(&x);
	pack(&x, entries, 8, ZIP_CM_DEFLATE);
	import_file(&im, &cvl_import_sr, x.path, NULL);
	assert_int_equal(im.rc, 0);
	assert_int_equal(im.n_clocks, 1);
	snprintf(path, sizeof(path), "%s/traces/x", im.path);
	assert_int_equal(cvl_trace_open(&trace, path, NULL, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(cvl_trace_env_at(trace, "line", i), want[i]);
	cvl_trace_close(trace);
	imported_free(&im);
	scratch_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_made_unique),
		cmocka_unit_test(lines_of_every_unit_size_are_read),
		cmocka_unit_test(parts_that_are_missing_are_named),
		cmocka_unit_test(bad_metadata_are_refused_where_they_stand),
		cmocka_unit_test(half_a_sample_at_the_end_is_a_gap),
		cmocka_unit_test(analog_channels_are_read_in_step),
		cmocka_unit_test(a_wrong_checksum_keeps_what_was_read),
		cmocka_unit_test(broken_deflate_keeps_what_was_read),
		cmocka_unit_test(an_archive_cut_off_is_truncated),
		cmocka_unit_test(sizes_that_cannot_be_true_are_refused),
		cmocka_unit_test(large_metadata_are_refused),
		cmocka_unit_test(a_pipe_is_told_to_be_saved),
		cmocka_unit_test(names_are_in_the_order_of_bits),
		cmocka_unit_test(radio_captures_equal_their_samples),
		cmocka_unit_test(the_time_signal_equals_its_samples),
		cmocka_unit_test(sigrok_sees_the_same_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
