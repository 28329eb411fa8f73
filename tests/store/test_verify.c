/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/sync.h>
#include <coeval/timeline.h>
#include <coeval/verify.h>

#include <coeval/files.h>
#include "test_draw.h"
#include "test_scratch.h"

static const char *const lines[] = { "a", "b", "c" };
static const char *const channels[] = { "volts" };
static const struct cvl_store_desc desc = {
	.clock = "desk",
	.rate_hz = 1000000,
	.start_unix_ns = 1700000000000000123,
	.lines = lines,
	.n_lines = 3,
	.edges_within = true,
	.channels = channels,
	.n_channels = 1,
};
static const struct cvl_origin origin = { .format = "test", .path = "-" };

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static const char *path_of(const char *name)
{
	static char path[4][600];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", scratch, name);
	return path[i];
}

/* Records of all kinds, some @n of them from @tick on. */
static uint64_t put_some(struct draw *d, struct cvl_writer *w, uint64_t tick, unsigned n)
{
	struct cvl_error err;
	int rc = 0;

	for (unsigned i = 0; i < n; i++) {
		const union cvl_store_value values[] = { { .u = draw_u64(d) }, { .s = "a text" } };
		struct cvl_tick t = { tick };

		switch (draw_below(d, 12)) {
		case 0: rc = cvl_writer_levels(w, t, draw_below(d, 8), &err); break;
		case 1: rc = cvl_writer_sample(w, t, 0, 1.5, &err); break;
		case 2: rc = cvl_writer_beacon(w, t, 1, i, &err); break;
		case 3: rc = cvl_writer_pulse(w, t, 0, &err); break;
		case 4: rc = cvl_writer_span(w, t, i % 2, i, "a span", &err); break;
		case 5: rc = cvl_writer_gap(w, t, t, 3, CVL_GAP_OVERFLOW, &err); break;
		case 6: rc = cvl_writer_slip(w, t, t, 2, &err); break;
		case 7: rc = cvl_writer_event(w, t, 0, values, &err); break;
		case 8: rc = cvl_writer_edge_within(w, t, 4, draw_below(d, 8), &err); break;
		case 9: rc = cvl_writer_restate(w, t, &err); break;
		case 10:
			if (draw_below(d, 4) == 0)
				cvl_writer_forget_levels(w);
			if (draw_below(d, 20) == 0)
				rc = cvl_writer_flush_until(w, t, &err);
			break;
		default: {
			uint64_t levels[50];
			struct cvl_tick ticks[50];
			size_t many = 1 + draw_below(d, 50);

			for (size_t k = 0; k < many; k++) {
				ticks[k].count = tick++;
				levels[k] = draw_below(d, 8);
			}
			rc = cvl_writer_edges(w, ticks, levels, many, &err);
		}
		}
		ok(rc, &err);
		tick += draw_below(d, 5);
	}
	return tick;
}

static void declare(struct cvl_writer *w)
{
	static const struct cvl_store_field fields[] = { { "number", CVL_STORE_U64 },
							 { "text", CVL_STORE_STRING } };

	assert_int_equal(cvl_writer_declare(w, "thing", fields, 2, NULL), 0);
}

static void save_maps(const struct cvl_session *s)
{
	struct cvl_clock_sync clock = { .clock = (char *)(uintptr_t) "desk",
					.verdict = CVL_GOOD,
					.rate_ppb = 1.0 / 3 };
	struct cvl_sync sync = {
		.estimator = (char *)(uintptr_t) "none",
		.reference = (char *)(uintptr_t) "desk",
		.settings = (char *)(uintptr_t) "{}",
		.n = 1,
		.clock = &clock,
	};
	struct cvl_error err;

	snprintf(sync.session, sizeof(sync.session), "%s", cvl_session_uuid(s));
	clock.map = cvl_session_nominal(s, 0);
	assert_non_null(clock.map);
	ok(cvl_sync_save(&sync, s, &err), &err);
	ok(cvl_truth_save(&sync, s, &err), &err);
	cvl_map_free(clock.map);
}

/* A session @name: a clock of ours with @n records or more, a trace of others, maps. */
static void make_session(const char *name, struct draw *d, unsigned n)
{
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	uint64_t tick;

	ok(cvl_session_create(&s, path_of(name), &err), &err);
	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	declare(w);
	tick = put_some(d, w, 100, n);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ tick }, &err), &err);
	ok(cvl_session_add_trace(s, COEVAL_SOURCE_DIR "/tests/data/sessions/foreign/traces/core",
				 &(struct cvl_trace_opts){ 0 }, &err),
	   &err);
	save_maps(s);
	cvl_session_close(s);
}

/* How many problems there are; -1: it cannot be opened. @first: what the first of them is. */
static long problems_of(const char *path, char first[CVL_ERROR_TEXT])
{
	struct cvl_verify *v;
	struct cvl_error err;
	int rc = cvl_verify_session(&v, path, NULL, &err);
	long n = rc ? -1 : (long)v->problems;

	snprintf(first, CVL_ERROR_TEXT, "%s", rc ? err.text : "");
	for (size_t i = 0; !rc && i < v->n && !*first; i++)
		if (v->part[i].problems)
			snprintf(first, CVL_ERROR_TEXT, "%s", v->part[i].problem[0]);
	cvl_verify_free(rc ? NULL : v);
	return n;
}

static void expect_whole(const char *path)
{
	char first[CVL_ERROR_TEXT];
	long n = problems_of(path, first);

	if (n)
		fail_msg("%s: %ld problems: %s", path, n, first);
}

/* ---- facts ---- */

static void what_was_stored_holds(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int round = 0; round < 30; round++) {
		char name[20];
		struct cvl_verify *v;
		struct cvl_error err;

		snprintf(name, sizeof(name), "whole%d", round);
		make_session(name, &d, (unsigned)draw_below(&d, 20000));
		expect_whole(path_of(name));
		ok(cvl_verify_session(&v, path_of(name), NULL, &err), &err);
		assert_int_equal(v->n, 5); /* two clocks, session.json, sync.json, truth.json */
		for (size_t i = 0; i < v->n; i++)
			assert_int_equal(v->part[i].digest, CVL_DIGEST_THERE);
		cvl_verify_free(v);
	}
}

/* Resume the only clock of @name. */
static void resume(const char *name, struct draw *d)
{
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_tick last;
	struct cvl_error err;
	uint64_t tick;

	ok(cvl_session_create(&s, path_of(name), &err), &err);
	ok(cvl_session_resume(s, 0, &desc, &w, &last, &err), &err);
	declare(w);
	tick = put_some(d, w, last.count == CVL_TICK_UNKNOWN ? 0 : last.count + 10,
			(unsigned)draw_below(d, 9000));
	if (draw_below(d, 2)) /* else it dies: closing the session abandons it */
		ok(cvl_session_finish(s, w, (struct cvl_tick){ tick }, &err), &err);
	cvl_session_close(s);
}

static void what_was_gone_on_with_holds(void **state)
{
	struct draw d = draw_begin(2);

	(void)state;
	for (int round = 0; round < 30; round++) {
		char name[20];

		snprintf(name, sizeof(name), "resumed%d", round);
		make_session(name, &d, (unsigned)draw_below(&d, 9000));
		for (int again = 0; again < 3; again++) {
			resume(name, &d);
			expect_whole(path_of(name));
		}
	}
}

static void put_byte(const char *path, long at, int byte)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fputc(byte, f), byte);
	assert_int_equal(fclose(f), 0);
}

/*
 * Whether the file says what @was says all the same ("1e-05" and "1E-05"), or has no checksum any
 * more, as older ones.
 */
static bool says_the_same(const char *path, const char *was)
{
	json_t *before = json_loads(was, 0, NULL), *now = json_load_file(path, 0, NULL);
	bool same = before && now && (json_equal(before, now) || !json_object_get(now, "sha256"));

	json_decref(before);
	json_decref(now);
	return same;
}

static void flip_everywhere(const char *path, const char *session, struct draw *d)
{
	struct cvl_error err;
	size_t n;
	char *was = cvl_read_whole(path, 1 << 20, &n, &err);

	assert_non_null(was);
	for (size_t i = 0; i < n; i++) {
		char first[CVL_ERROR_TEXT];
		int bit = 1 << draw_below(d, 8);

		put_byte(path, (long)i, (unsigned char)was[i] ^ bit);
		if (!problems_of(session, first) && !says_the_same(path, was))
			fail_msg("%s: byte %zu of %zu may be changed by %d", path, i, n, bit);
		put_byte(path, (long)i, (unsigned char)was[i]);
	}
	free(was);
}

static void a_changed_byte_is_seen_anywhere(void **state)
{
	static const char *const files[] = {
		"session.json",         "sync.json",          "truth.json",
		"traces/desk/metadata", "traces/desk/stream", "traces/desk/index/stream.idx",
		"traces/core/metadata", "traces/core/cpu0",
	};
	struct draw d = draw_begin(3);
	char path[600], session[500];

	(void)state;
	snprintf(session, sizeof(session), "%s", path_of("flipped"));
	make_session("flipped", &d, 12);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", session, files[i]);
		flip_everywhere(path, session, &d);
	}
	expect_whole(session);
}

/*
 * Reads the session and says how many gaps of @why there are, and up to where the last one lasts.
 */
static unsigned gaps_of(const char *path, enum cvl_gap why, uint64_t *to, uint64_t *lost)
{
	struct cvl_session *s;
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	unsigned n = 0;
	int rc;

	ok(cvl_session_open(&s, path, NULL, &err), &err);
	ok(cvl_timeline_open(&tl, s, NULL, &err), &err);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++)
				if (sl.batch->kind[i] == CVL_GAP && sl.batch->cls[i] == why) {
					n++;
					*to = sl.batch->aux[i];
					*lost = sl.batch->value[i];
				}
	ok(rc, &err);
	cvl_timeline_close(tl);
	cvl_session_close(s);
	return n;
}

static void a_stream_cut_anywhere_ends_with_a_gap(void **state)
{
	struct draw d = draw_begin(4);
	struct cvl_verify *v;
	struct cvl_error err;
	struct stat st;
	char stream[600];
	uint64_t records, to, lost, end = 0;

	(void)state;
	make_session("cut", &d, 30000);
	ok(cvl_verify_session(&v, path_of("cut"), NULL, &err), &err);
	records = v->part[0].records;
	cvl_verify_free(v);
	assert_int_equal(gaps_of(path_of("cut"), CVL_GAP_TRUNCATED, &to, &lost), 0);
	snprintf(stream, sizeof(stream), "%s", path_of("cut/traces/desk/stream"));
	assert_int_equal(stat(stream, &st), 0);
	for (off_t at = st.st_size; at > 0;) {
		char first[CVL_ERROR_TEXT];

		at = at > 4000 ? at - 1 - (off_t)draw_below(&d, 4000) : 0;
		assert_int_equal(truncate(stream, at), 0);
		assert_int_equal(gaps_of(path_of("cut"), CVL_GAP_TRUNCATED, &to, &lost), 1);
		end = end ? end : to;
		assert_int_equal(to, end);
		assert_true(lost > 0 && lost <= records);
		assert_true(problems_of(path_of("cut"), first) > 0);
	}
	assert_int_equal(lost, records);
	assert_int_equal(unlink(stream), 0);
	assert_int_equal(gaps_of(path_of("cut"), CVL_GAP_TRUNCATED, &to, &lost), 1);
	assert_int_equal(to, end);
	assert_int_equal(lost, records);
}

static void joined_sessions_keep_their_digests(void **state)
{
	struct draw d = draw_begin(5);
	struct cvl_session *from, *to;
	struct cvl_verify *v;
	struct cvl_error err;

	(void)state;
	make_session("part", &d, 100);
	ok(cvl_session_open(&from, path_of("part"), NULL, &err), &err);
	ok(cvl_session_create(&to, path_of("joined"), &err), &err);
	ok(cvl_session_join(to, from, false, NULL, &err), &err);
	ok(cvl_session_join(to, from, true, NULL, &err), &err);
	cvl_session_close(from);
	cvl_session_close(to);
	expect_whole(path_of("joined"));
	ok(cvl_verify_session(&v, path_of("joined"), NULL, &err), &err);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(v->part[i].digest, CVL_DIGEST_THERE);
	cvl_verify_free(v);
}

/* What of `stored` makes no sense is refused, not believed. */
static void a_stored_that_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = {
		"1",
		"{}",
		"{\"files\": []}",
		"{\"files\": {\"stream\": -1}}",
		"{\"files\": {\"../stream\": 1}}",
		"{\"files\": {\"stream\": 1}, \"packets_sha256\": 1}",
		"{\"files\": {\"stream\": 1}, \"packets\": 1, \"first_tick\": 0, \"last_tick\": 0, \"metadata_sha256\": \"1\", \"packets_sha256\": \"2\"}",
	};
	struct draw d = draw_begin(6);
	struct cvl_session *s;
	struct cvl_error err;
	char path[600];

	(void)state;
	make_session("senseless", &d, 10);
	snprintf(path, sizeof(path), "%s", path_of("senseless/session.json"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		json_t *root = json_load_file(path, 0, NULL),
		       *stored = json_loads(bad[i], JSON_DECODE_ANY, NULL);

		assert_non_null(root);
		assert_non_null(stored);
		json_object_del(root, "sha256");
		json_object_set_new(json_array_get(json_object_get(root, "clocks"), 0), "stored",
				    stored);
		assert_int_equal(json_dump_file(root, path, 0), 0);
		json_decref(root);
		assert_int_equal(cvl_session_open(&s, path_of("senseless"), NULL, &err),
				 CVL_E_SYNTAX);
		assert_non_null(strstr(err.text, "clock 0: malformed 'stored'"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_stored_holds),
		cmocka_unit_test(what_was_gone_on_with_holds),
		cmocka_unit_test(a_changed_byte_is_seen_anywhere),
		cmocka_unit_test(a_stream_cut_anywhere_ends_with_a_gap),
		cmocka_unit_test(joined_sessions_keep_their_digests),
		cmocka_unit_test(a_stored_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
