/* SPDX-License-Identifier: MIT */
/**
 * What tests of importers share: bytes go through an importer into a scratch session, and what the
 * session then holds comes back as one line of text a clock:
 *
 *   =3@10           lines show 3 from tick 10 on, when the clock begins
 *   12:1            edge: lines show 1 from tick 12 on; 12:1?2, and line 1 is unknown
 *   13~0=1.5        sample of channel 0
 *   14*name         event, 14*name(text) with its text if it has one
 *   14+-5           slip with its half-width
 *   15-20/corrupt/2 gap with its last tick, cause and count; ? where unknown
 *
 * A '<' behind a tick says that the record was late.
 */
#ifndef TEST_IMPORT_H
#define TEST_IMPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/format.h>

#include "capture_file.h"
#include "import/importers.h"
#include "import/input.h"
#include "tier.h"

#define IMPORT_CLOCKS 8
#define IMPORT_REPORTS 8

struct imported_clock {
	char name[64], node[64];
	uint64_t rate_hz;
	int64_t start_unix_ns;
	uint64_t edges, samples, gaps;
	uint64_t first_tick, last_tick;
	char *text; /* all records, see above */
	size_t len;
};

struct imported {
	int rc;
	struct cvl_error err;
	struct cvl_error report[IMPORT_REPORTS]; /* the first ones */
	size_t n_reports, n_clocks;
	struct imported_clock clock[IMPORT_CLOCKS];
	char path[256];
};

static inline void imported_report(void *ctx, const struct cvl_error *problem)
{
	struct imported *im = ctx;

	if (im->n_reports < IMPORT_REPORTS)
		im->report[im->n_reports] = *problem;
	im->n_reports++;
}

static inline int imported_unlink(const char *path, const struct stat *st, int type,
				  struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void imported_text(void *ctx, const char *name, const struct cvl_value *value)
{
	(void)name;
	if (value->type->kind == CVL_TYPE_STRING)
		fprintf(ctx, "(%.*s)", (int)value->s.len, value->s.text);
}

static inline bool imported_scope(void *ctx, enum cvl_scope scope)
{
	(void)ctx;
	return scope == CVL_SCOPE_FIELDS;
}

static inline void imported_begin(void *ctx, const char *name, const struct cvl_type *type,
				  uint64_t n)
{
	(void)ctx;
	(void)name;
	(void)type;
	(void)n;
}

static inline void imported_end(void *ctx, const struct cvl_type *type)
{
	(void)ctx;
	(void)type;
}

static inline void imported_record(struct imported_clock *c, FILE *out, struct cvl_stream *stream,
				   const struct cvl_batch *b, size_t i)
{
	const struct cvl_visitor visitor = {
		.value = imported_text,
		.begin = imported_begin,
		.end = imported_end,
		.scope = imported_scope,
		.ctx = out,
	};
	const char *late = b->flags[i] & CVL_LATE ? "<" : "";
	const uint64_t tick = b->tick[i].count;
	char unknown[32] = "";
	double value;

	if (b->kind[i] == CVL_EDGE && b->aux[i])
		snprintf(unknown, sizeof(unknown), "?%" PRIu64, b->aux[i]);
	if (b->kind[i] == CVL_EDGE && (b->flags[i] & CVL_STATE)) {
		if (!c->first_tick && !c->last_tick && !ftell(out))
			fprintf(out, "=%" PRIu64 "%s@%" PRIu64 " ", b->value[i], unknown, tick);
		return;
	}
	switch (b->kind[i]) {
	case CVL_EDGE:
		fprintf(out, "%" PRIu64 "%s:%" PRIu64 "%s ", tick, late, b->value[i], unknown);
		c->edges++;
		break;
	case CVL_SAMPLE:
		memcpy(&value, &b->value[i], sizeof(value));
		fprintf(out, "%" PRIu64 "%s~%u=%g ", tick, late, b->cls[i], value);
		c->samples++;
		break;
	case CVL_EVENT:
		fprintf(out, "%" PRIu64 "%s*%s", tick, late,
			cvl_plain_name(cvl_stream_class(stream, b, i)->name));
		assert_int_equal(cvl_stream_visit(stream, b, i, &visitor, NULL), 0);
		fprintf(out, " ");
		break;
	case CVL_GAP:
		fprintf(out, "%" PRIu64 "%s-", tick, late);
		if (b->aux[i] == CVL_TICK_UNKNOWN)
			fprintf(out, "?");
		else
			fprintf(out, "%" PRIu64, b->aux[i]);
		fprintf(out, "/%s/", cvl_gap_name((enum cvl_gap)b->cls[i]));
		if (b->value[i] == CVL_LOST_UNKNOWN)
			fprintf(out, "? ");
		else
			fprintf(out, "%" PRIu64 " ", b->value[i]);
		c->gaps++;
		break;
	case CVL_SLIP: fprintf(out, "%" PRIu64 "+-%" PRIu64 " ", tick, b->value[i]); break;
	default: fail_msg("a record of kind %d", b->kind[i]);
	}
	if (!c->first_tick)
		c->first_tick = tick;
	c->last_tick = tick;
}

static inline void imported_read(struct imported_clock *c, const struct cvl_clock *clock)
{
	const struct cvl_stream_opts opts = { .strict = false };
	struct cvl_trace *trace;
	struct cvl_stream *stream;
	struct cvl_batch batch;
	struct cvl_error err = { 0 };
	FILE *out = open_memstream(&c->text, &c->len);
	int rc;

	assert_non_null(out);
	snprintf(c->name, sizeof(c->name), "%s", clock->name);
	snprintf(c->node, sizeof(c->node), "%s", clock->node);
	c->rate_hz = clock->rate_hz;
	c->start_unix_ns = clock->start_unix_ns;
	assert_false(clock->unfinished);
	if (cvl_trace_open(&trace, clock->trace, NULL, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < cvl_trace_streams(trace); i++) {
		if (cvl_stream_open(&stream, trace, i, &opts, &err))
			fail_msg("%s", err.text);
		while ((rc = cvl_stream_next(stream, &batch, &err)) > 0)
			for (size_t j = 0; j < batch.n; j++)
				imported_record(c, out, stream, &batch, j);
		if (rc < 0)
			fail_msg("%s", err.text);
		cvl_stream_close(stream);
	}
	cvl_trace_close(trace);
	fclose(out);
	if (c->len && c->text[c->len - 1] == ' ')
		c->text[--c->len] = '\0';
}

static inline void imported_free(struct imported *im)
{
	for (size_t i = 0; i < im->n_clocks && i < IMPORT_CLOCKS; i++)
		free(im->clock[i].text);
	nftw(im->path, imported_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/* Import @in, which is closed, and read back what the session holds. */
static inline void import_input(struct imported *im, const struct cvl_importer *importer,
				struct cvl_input *in, const struct cvl_import_opts *base)
{
	const struct cvl_report report = { imported_report, im };
	struct cvl_import_opts opts = base ? *base : (struct cvl_import_opts){ 0 };
	const char *tmp = getenv("TMPDIR");
	struct cvl_session *s;

	memset(im, 0, sizeof(*im));
	opts.report = &report;
	snprintf(im->path, sizeof(im->path), "%s/coeval-test-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(im->path));
	assert_int_equal(cvl_session_create(&s, im->path, &im->err), 0);
	im->rc = importer->import(in, s, &opts, &im->err);
	cvl_input_close(in);
	cvl_session_close(s);
	if (cvl_session_open(&s, im->path, NULL, NULL))
		return; /* nothing was added */
	im->n_clocks = cvl_session_clocks(s);
	for (size_t i = 0; i < im->n_clocks && i < IMPORT_CLOCKS; i++)
		imported_read(&im->clock[i], cvl_session_clock(s, i));
	cvl_session_close(s);
}

/* That @b holds what @a does. */
static inline void imported_same(const struct imported *a, const struct imported *b,
				 const char *how)
{
	assert_int_equal(b->rc, a->rc);
	assert_int_equal(b->err.code, a->err.code);
	assert_int_equal(b->n_reports, a->n_reports);
	assert_int_equal(b->n_clocks, a->n_clocks);
	if (a->rc && b->err.offset != a->err.offset)
		fail_msg("%s: offset %" PRIu64 " instead of %" PRIu64, how, b->err.offset,
			 a->err.offset);
	for (size_t i = 0; i < a->n_clocks && i < IMPORT_CLOCKS; i++) {
		const struct imported_clock *x = &a->clock[i], *y = &b->clock[i];

		assert_string_equal(y->name, x->name);
		assert_string_equal(y->node, x->node);
		assert_int_equal(y->rate_hz, x->rate_hz);
		assert_int_equal(y->start_unix_ns, x->start_unix_ns);
		if (strcmp(x->text, y->text) != 0)
			fail_msg("%s: holds\n\t%s\ninstead of\n\t%s", how, y->text, x->text);
	}
}

/* Import @bytes from memory, and see that a descriptor and a path give the same store. */
static inline void import_bytes(struct imported *im, const struct cvl_importer *importer,
				const void *bytes, size_t n, const struct cvl_import_opts *opts)
{
	char dir[64] = "/tmp/coeval-test-XXXXXX", path[80];
	struct cvl_input *in;
	struct imported other;
	FILE *f;

	assert_int_equal(cvl_input_memory(&in, bytes, n, "mem.txt", NULL), 0);
	import_input(im, importer, in, opts);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/mem.txt", dir);
	f = fopen(path, "w+b");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
	assert_int_equal(cvl_input_fd(&in, fileno(f), "mem.txt", NULL), 0);
	import_input(&other, importer, in, opts);
	imported_same(im, &other, "from a descriptor");
	imported_free(&other);
	assert_int_equal(cvl_input_open(&in, path, NULL), 0);
	import_input(&other, importer, in, opts);
	imported_same(im, &other, "from a file");
	imported_free(&other);
	fclose(f);
	remove(path);
	rmdir(dir);
}

static inline void import_file(struct imported *im, const struct cvl_importer *importer,
			       const char *path, const struct cvl_import_opts *opts)
{
	struct cvl_input *in;
	struct cvl_error err = { 0 };

	if (cvl_input_open(&in, path, &err))
		fail_msg("%s", err.text);
	import_input(im, importer, in, opts);
}

/** One line of a table of inputs. */
struct import_case {
	const char *name;
	const char *text;
	bool strict;
	int rc;             /* of the import; 0 with a code: it is reported instead */
	enum cvl_code code; /* of the error or first report; 0: none */
	const char
		*at; /* the error's offset is where this begins in the text; NULL: not looked at */
	const char *store; /* the first clock's records; NULL: there is no clock */
};

static inline void import_check(const struct cvl_importer *importer, const struct import_case *c)
{
	const struct cvl_import_opts opts = { .strict = c->strict };
	const struct cvl_error *e;
	struct imported im;

	import_bytes(&im, importer, c->text, strlen(c->text), &opts);
	e = im.rc ? &im.err : im.report;
	if (im.rc != c->rc)
		fail_msg("%s: returned %d instead of %d: %s", c->name, im.rc, c->rc, im.err.text);
	if (!im.rc && !c->code && im.n_reports)
		fail_msg("%s: reported \"%s\"", c->name, e->text);
	if (e->code != c->code)
		fail_msg("%s: code %d instead of %d", c->name, e->code, c->code);
	if (c->at && e->offset != (uint64_t)(strstr(c->text, c->at) - c->text))
		fail_msg("%s: offset %" PRIu64 " instead of %td", c->name, e->offset,
			 strstr(c->text, c->at) - c->text);
	if (!c->store != !im.n_clocks)
		fail_msg("%s: %zu clocks", c->name, im.n_clocks);
	if (c->store && strcmp(c->store, im.clock[0].text))
		fail_msg("%s: holds\n\t%s\ninstead of\n\t%s", c->name, im.clock[0].text, c->store);
	imported_free(&im);
}

/**
 * Every beginning of @text (every seventh in the quick tier): never a crash, and what was whole is
 * kept: each longer one holds no less.
 */
static inline void import_truncations(const struct cvl_importer *importer, const char *text)
{
	uint64_t most = 0;

	for (size_t n = 0; n <= strlen(text); n += tier(7, 1, 1)) {
		char *exact = malloc(n + 1);
		struct cvl_input *in;
		struct imported im;
		uint64_t here = 0;

		assert_non_null(exact);
		memcpy(exact, text, n);
		assert_int_equal(cvl_input_memory(&in, exact, n, "mem.txt", NULL), 0);
		import_input(&im, importer, in, NULL);
		free(exact);
		for (size_t i = 0; i < im.n_clocks; i++)
			here += im.clock[i].edges + im.clock[i].samples;
		if (here < most)
			fail_msg("%zu bytes give %" PRIu64 " records, fewer than before", n, here);
		most = here;
		imported_free(&im);
	}
	assert_true(most > 0);
}

#endif
