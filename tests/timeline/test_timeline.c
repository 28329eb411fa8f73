/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include <coeval/timeline.h>

#include "test_draw.h"
#include "test_scratch.h"

#define CLOCKS 6
#define EDGES 20000

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- a session of random clocks, and what its streams hold ---- */

struct record {
	int64_t time;
	uint64_t tick, value;
	uint32_t stream, number; /* place in its stream */
	uint8_t kind, flags;
};

struct list {
	struct record *r;
	size_t n, capacity;
};

static void append(struct list *l, struct record r)
{
	if (l->n == l->capacity) {
		l->capacity = l->capacity ? 2 * l->capacity : 4096;
		l->r = realloc(l->r, l->capacity * sizeof(*l->r));
		assert_non_null(l->r);
	}
	l->r[l->n++] = r;
}

static const struct cvl_origin origin = { .format = "test", .path = "-" };

/* Clocks of rates such that many times are equal; some say little, some twice a tick. */
static struct cvl_session *random_session(struct draw *d, const char *name)
{
	static const char *const lines[] = { "x" };
	static const uint64_t rates[] = { 1000, 1000, 1000000, 32768, 999999937, 1000 };
	char path[512];
	struct cvl_session *s;
	struct cvl_error err;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	ok(cvl_session_create(&s, path, &err), &err);
	for (size_t c = 0; c < CLOCKS; c++) {
		char clock[20];
		const struct cvl_store_desc desc = {
			.clock = clock,
			.node = c % 2 ? "odd" : "even",
			.rate_hz = rates[c],
			.start_unix_ns =
				1700000000000000000 + (int64_t)draw_below(d, 5) * 1000000000,
			.lines = lines,
			.n_lines = 1,
		};
		uint64_t tick = draw_size(d, 10), n = c == 4 ? 3 : draw_below(d, EDGES),
			 step = rates[c] / 500 + 1;
		struct cvl_writer *w;

		snprintf(clock, sizeof(clock), "clock%zu", c);
		ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
		for (uint64_t i = 0; i < n; i++) {
			struct cvl_tick t = { tick };

			if (draw_below(d, 200) == 0)
				ok(cvl_writer_gap(w, t, (struct cvl_tick){ tick + step }, 5,
						  CVL_GAP_OVERFLOW, &err),
				   &err);
			else if (draw_below(d, 10) == 0)
				ok(cvl_writer_beacon(w, t, 1, i, &err), &err);
			else
				ok(cvl_writer_edges(w, &t, &(uint64_t){ i % 2 }, 1, &err), &err);
			if (draw_below(d, 3000) == 0)
				ok(cvl_writer_flush(w, &err), &err);
			tick += draw_below(d, 4) ? draw_below(d, step) : 0;
		}
		ok(cvl_session_finish(s, w, (struct cvl_tick){ tick }, &err), &err);
	}
	cvl_session_close(s);
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	assert_int_equal(cvl_session_clocks(s), CLOCKS);
	return s;
}

static int by_time_and_stream(const void *pa, const void *pb)
{
	const struct record *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static struct cvl_tick ends[CLOCKS]; /* of the streams that were read apart */

/* Everything there is, stream by stream, then sorted: what a merge must give. */
static struct list read_apart(struct cvl_session *s)
{
	struct list l = { 0 };
	struct cvl_error err;

	for (size_t c = 0; c < cvl_session_clocks(s); c++) {
		struct cvl_map *map = cvl_session_nominal(s, c);
		struct cvl_trace *trace;
		struct cvl_stream_stats stats;
		struct cvl_stream *stream;
		struct cvl_batch b;
		uint32_t number = 1; /* 0: of the levels at the beginning of a range */

		ok(cvl_trace_open(&trace, cvl_session_clock(s, c)->trace, NULL, &err), &err);
		ok(cvl_stream_open(&stream, trace, 0, NULL, &err), &err);
		while (cvl_stream_next(stream, &b, &err) > 0)
			for (size_t i = 0; i < b.n; i++)
				append(&l, (struct record){
						   .time = cvl_map_time(map, b.tick[i], NULL).ns,
						   .tick = b.tick[i].count,
						   .value = b.value[i],
						   .stream = (uint32_t)c,
						   .number = number++,
						   .kind = b.kind[i],
						   .flags = b.flags[i],
					   });
		cvl_stream_stats(stream, &stats);
		ends[c] = stats.end;
		cvl_stream_close(stream);
		cvl_trace_close(trace);
		cvl_map_free(map);
	}
	qsort(l.r, l.n, sizeof(*l.r), by_time_and_stream);
	return l;
}

static struct list read_merged(struct cvl_timeline *tl)
{
	struct list l = { 0 };
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	uint32_t number[CLOCKS] = { 1, 1, 1, 1, 1, 1 };
	int rc;

	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &slice)) {
			assert_true(slice.begin < slice.end && slice.end <= slice.batch->n);
			assert_int_equal(slice.clock, cvl_timeline_stream_clock(tl, slice.stream));
			for (size_t i = slice.begin; i < slice.end; i++)
				append(&l, (struct record){
						   .time = slice.time[i].ns,
						   .tick = slice.batch->tick[i].count,
						   .value = slice.batch->value[i],
						   .stream = (uint32_t)slice.clock,
						   .number = number[slice.clock]++,
						   .kind = slice.batch->kind[i],
						   .flags = slice.batch->flags[i],
					   });
		}
	ok(rc, &err);
	assert_int_equal(cvl_timeline_next(tl, &block, &err), 0);
	return l;
}

static void same(const struct list *have, const struct list *want, bool numbered)
{
	for (size_t i = 0; i < have->n && i < want->n; i++) {
		const struct record *a = &have->r[i], *b = &want->r[i];

		if (a->time != b->time || a->tick != b->tick || a->value != b->value ||
		    a->stream != b->stream || (numbered && a->number != b->number) ||
		    a->kind != b->kind || a->flags != b->flags)
			fail_msg("record %zu: clock %u at %" PRId64 ", not clock %u at %" PRId64, i,
				 a->stream, a->time, b->stream, b->time);
	}
	assert_int_equal(have->n, want->n);
}

static struct cvl_timeline *open_timeline(struct cvl_session *s,
					  const struct cvl_timeline_opts *opts)
{
	struct cvl_timeline *tl;
	struct cvl_error err;

	ok(cvl_timeline_open(&tl, s, opts, &err), &err);
	return tl;
}

static void merge_gives_every_record_once_in_order(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int round = 0; round < 8; round++) {
		char name[20];
		struct cvl_session *s;
		struct cvl_timeline *tl;
		struct list want, have, again;
		struct cvl_error err;

		snprintf(name, sizeof(name), "merge%d", round);
		s = random_session(&d, name);
		want = read_apart(s);
		tl = open_timeline(s, NULL);
		assert_int_equal(cvl_timeline_streams(tl), CLOCKS);
		have = read_merged(tl);
		same(&have, &want, true);

		/* from the start again, also from the middle */
		for (int half = 0; half < 2; half++) {
			struct cvl_block block;

			ok(cvl_timeline_rewind(tl, &err), &err);
			for (int i = 0; half && i < 3; i++)
				ok(cvl_timeline_next(tl, &block, &err), &err);
			if (half)
				ok(cvl_timeline_rewind(tl, &err), &err);
			again = read_merged(tl);
			same(&again, &have, true);
			free(again.r);
		}
		free(have.r);
		free(want.r);
		cvl_timeline_close(tl);
		cvl_session_close(s);
	}
}

/* What the lines show at the beginning of the range, of each clock that knows. */
static void restate(struct cvl_session *s, const struct list *all,
		    const struct cvl_timeline_opts *o, struct list *l)
{
	for (uint32_t c = 0; c < cvl_session_clocks(s); c++) {
		struct cvl_map *map = cvl_session_nominal(s, c);
		struct record level = { .time = o->from.ns,
					.tick = cvl_map_tick(map, o->from).count,
					.stream = c,
					.kind = CVL_EDGE,
					.flags = CVL_STATE };
		bool known = false;

		for (size_t i = 0; i < all->n && all->r[i].time < o->from.ns; i++) {
			if (all->r[i].stream != c)
				continue;
			if (all->r[i].kind == CVL_EDGE) {
				level.value = all->r[i].value;
				known = true;
			} else if (all->r[i].kind == CVL_GAP) {
				known = false;
			}
		}
		if (known && cvl_map_time(map, ends[c], NULL).ns >= o->from.ns)
			append(l, level);
		cvl_map_free(map);
	}
}

/* The records of @all within the range and of the nodes asked for. */
static struct list filter(struct cvl_session *s, const struct list *all,
			  const struct cvl_timeline_opts *o, bool odd, bool even)
{
	struct list l = { 0 };

	if (o->has_from)
		restate(s, all, o, &l);

	for (size_t i = 0; i < all->n; i++) {
		const struct record *r = &all->r[i];
		bool is_odd = !strcmp(cvl_session_clock(s, r->stream)->node, "odd");

		if ((is_odd ? odd : even) && (!o->has_from || r->time >= o->from.ns) &&
		    (!o->has_until || r->time <= o->until.ns))
			append(&l, *r);
	}
	if (l.n)
		qsort(l.r, l.n, sizeof(*l.r), by_time_and_stream);
	return l;
}

static void a_range_gives_what_filtering_by_hand_gives(void **state)
{
	struct draw d = draw_begin(2);
	struct cvl_session *s = random_session(&d, "range");
	struct list all = read_apart(s);

	(void)state;
	for (int round = 0; round < 300; round++) {
		int64_t a = all.r[draw_below(&d, all.n)].time + (int64_t)draw_below(&d, 3) - 1;
		int64_t b = all.r[draw_below(&d, all.n)].time + (int64_t)draw_below(&d, 3) - 1;
		struct cvl_timeline_opts opts = {
			.has_from = draw_below(&d, 4),
			.has_until = draw_below(&d, 4),
			.from = { a < b ? a : b },
			.until = { round % 10 ? (a < b ? b : a) : (a < b ? a : b) },
		};
		struct cvl_timeline *tl = open_timeline(s, &opts);
		struct list want = filter(s, &all, &opts, true, true), have = read_merged(tl);

		same(&have, &want, false);
		free(want.r);
		free(have.r);
		cvl_timeline_close(tl);
	}
	free(all.r);
	cvl_session_close(s);
}

/* Whether @r is of what @pick wants; *@levels: of its line before. */
static bool wanted(const struct record *r, const struct cvl_pick *pick, uint64_t levels)
{
	if (r->kind == CVL_EDGE)
		return (levels ^ r->value) & pick->lines;
	return r->kind < CVL_KINDS && pick->kinds >> r->kind & 1;
}

/* Nothing of it is missing, and what comes besides is of the range as well. */
static void a_range_of_some_lines_has_all_of_their_edges(void **state)
{
	struct draw d = draw_begin(3);
	struct cvl_session *s = random_session(&d, "lines");
	struct list all = read_apart(s);
	size_t fewer = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		int64_t a = all.r[draw_below(&d, all.n)].time,
			b = all.r[draw_below(&d, all.n)].time;
		struct cvl_timeline_opts opts = {
			.has_from = draw_below(&d, 4),
			.has_until = draw_below(&d, 4),
			.from = { a < b ? a : b },
			.until = { a < b ? b : a },
		};
		const struct cvl_pick pick = { .kinds = 1u << CVL_EDGE,
					       .lines = (uint64_t)1 << draw_below(&d, 4) };
		struct cvl_timeline *tl = open_timeline(s, &opts);
		struct list whole = read_merged(tl), some;
		uint64_t levels[64] = { 0 };
		bool known[64] = { false };
		size_t k = 0;

		ok(cvl_timeline_rewind(tl, &(struct cvl_error){ 0 }), &(struct cvl_error){ 0 });
		for (size_t i = 0; i < cvl_timeline_streams(tl); i++)
			cvl_timeline_pick(tl, i, &pick);
		some = read_merged(tl);
		for (size_t i = 0; i < whole.n; i++) {
			const struct record *r = &whole.r[i];
			const bool must = known[r->stream] && wanted(r, &pick, levels[r->stream]);
			const bool is = k < some.n && some.r[k].time == r->time &&
					some.r[k].stream == r->stream &&
					some.r[k].kind == r->kind && some.r[k].value == r->value;

			if (must && !is)
				fail_msg("record %zu of %zu is missing", i, whole.n);
			k += is;
			if (r->kind == CVL_EDGE) {
				levels[r->stream] = r->value;
				known[r->stream] = true;
			} else if (r->kind == CVL_GAP || r->kind == CVL_SLIP) {
				known[r->stream] = false;
			}
		}
		assert_int_equal(k, some.n);
		fewer += some.n < whole.n;
		free(whole.r);
		free(some.r);
		cvl_timeline_close(tl);
	}
	assert_true(fewer > 100);
	free(all.r);
	cvl_session_close(s);
}

/* What is unknown at the begin of a range is not said to be low. */
static void unknown_levels_stay_unknown_where_a_range_begins(void **state)
{
	static const char *const lines[] = { "x", "y" };
	const struct cvl_store_desc desc = { .clock = "c",
					     .rate_hz = 1000000000,
					     .lines = lines,
					     .n_lines = 2,
					     .lines_unknown = true };
	const struct cvl_timeline_opts opts = { .has_from = true, .from = { 15 } };
	struct cvl_timeline *tl;
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_block block;
	struct cvl_slice slice = { 0 };
	struct cvl_error err;
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/unknown", scratch);
	ok(cvl_session_create(&s, path, &err), &err);
	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_edge_unknown(w, (struct cvl_tick){ 10 }, 1, 2, &err), &err);
	ok(cvl_writer_edge_unknown(w, (struct cvl_tick){ 20 }, 0, 2, &err), &err);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 30 }, &err), &err);
	tl = open_timeline(s, &opts);
	assert_int_equal(cvl_timeline_next(tl, &block, &err), 1);
	assert_true(cvl_block_take(&block, &slice));
	assert_int_equal(slice.batch->flags[slice.begin], CVL_STATE);
	assert_int_equal(slice.batch->value[slice.begin], 1);
	assert_int_equal(slice.batch->aux[slice.begin] & 3, 2);
	cvl_timeline_close(tl);
	cvl_session_close(s);
}

/* Also where the range begins between two packets, is empty, or has a gap before it. */
static void levels_are_known_where_a_range_begins(void **state)
{
	static const char *const lines[] = { "x", "y" };
	static const struct {
		int64_t from, to;
		const char *want;
	} cases[] = {
		{ 5, 15, "10=1*" },       /* nothing is known before the first */
		{ 10, 15, "10=1*" },      /* as late as can be */
		{ 15, 25, "15=1* 20=3" }, /* within a packet */
		{ 25, 95, "25=3*" },      /* between two */
		{ 25, 100, "25=3* 100=3* 100=2" },
		{ 105, 107, "105=2*" }, /* the packets behind are left unread */
		{ 115, 125, "120=1*" }, /* behind a gap */
		{ 300, 310, "300=1*" }, /* behind the last edge, and at the end */
		{ 301, 310, "" },
	};
	const struct cvl_store_desc desc = {
		.clock = "c", .rate_hz = 1000000000, .lines = lines, .n_lines = 2
	};
	char path[512], have[200];
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	(void)state;
	snprintf(path, sizeof(path), "%s/levels", scratch);
	ok(cvl_session_create(&s, path, &err), &err);
	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_edges(w, &(struct cvl_tick){ 10 }, &(uint64_t){ 1 }, 1, &err), &err);
	ok(cvl_writer_edges(w, &(struct cvl_tick){ 20 }, &(uint64_t){ 3 }, 1, &err), &err);
	ok(cvl_writer_flush(w, &err), &err);
	ok(cvl_writer_edges(w, &(struct cvl_tick){ 100 }, &(uint64_t){ 2 }, 1, &err), &err);
	ok(cvl_writer_gap(w, (struct cvl_tick){ 110 }, (struct cvl_tick){ 112 }, 1,
			  CVL_GAP_OVERFLOW, &err),
	   &err);
	cvl_writer_forget_levels(w);
	ok(cvl_writer_flush(w, &err), &err);
	ok(cvl_writer_edges(w, &(struct cvl_tick){ 120 }, &(uint64_t){ 1 }, 1, &err), &err);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 300 }, &err), &err);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cvl_timeline_opts opts = { .has_from = true,
							.has_until = true,
							.from = { cases[i].from },
							.until = { cases[i].to } };
		struct cvl_timeline *tl = open_timeline(s, &opts);
		struct cvl_block block;
		struct cvl_slice slice;
		size_t len = 0;

		have[0] = '\0';
		while (cvl_timeline_next(tl, &block, &err) > 0)
			while (cvl_block_take(&block, &slice))
				for (size_t k = slice.begin; k < slice.end; k++) {
					assert_int_equal(slice.time[k].ns,
							 slice.batch->tick[k].count);
					len += (size_t)snprintf(
						have + len, sizeof(have) - len,
						"%s%" PRId64 "=%" PRIu64 "%s", len ? " " : "",
						slice.time[k].ns, slice.batch->value[k],
						slice.batch->flags[k] & CVL_STATE ? "*" : "");
				}
		if (strcmp(have, cases[i].want))
			fail_msg("%" PRId64 ": %s, not %s", cases[i].from, have, cases[i].want);
		cvl_timeline_close(tl);
	}
	cvl_session_close(s);
}

/* ---- the index of packets ---- */

static char *path_of(struct cvl_session *s, size_t clock, const char *file)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", cvl_session_clock(s, clock)->trace, file);
	return path;
}

/* Change the file in one of several ways; @bytes is what it held. */
static void damage(struct draw *d, const char *path, const uint8_t *bytes, size_t n)
{
	uint8_t *now = malloc(n + 1);
	const size_t entry = 72, entries = (n - 16) / entry;
	FILE *f;

	assert_non_null(now);
	memcpy(now, bytes, n);
	switch (draw_below(d, 6)) {
	case 0: n = draw_below(d, n + 1); break;
	case 1: now[draw_below(d, n)] ^= (uint8_t)(1 << draw_below(d, 8)); break;
	case 2: now[16 + entry * draw_below(d, entries) + 32 + draw_below(d, 8)] ^= 1; break;
	case 3:
		if (entries > 1)
			memmove(now + 16, now + 16 + entry, (entries - 1) * entry);
		break;
	case 4:
		if (entries > 1)
			memcpy(now + 16, now + 16 + entry * draw_below(d, entries), entry);
		break;
	default: break; /* as it was */
	}
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(now, 1, n, f), n);
	fclose(f);
	free(now);
}

static void a_range_is_the_same_whatever_its_index_says(void **state)
{
	struct draw d = draw_begin(5);
	struct cvl_session *s = random_session(&d, "index");
	struct list all = read_apart(s);
	struct cvl_error err;

	(void)state;
	for (int round = 0; round < 300; round++) {
		const char *path = path_of(s, draw_below(&d, CLOCKS), "index/stream.idx");
		const struct cvl_timeline_opts opts = {
			.has_from = true, .from = { all.r[draw_below(&d, all.n)].time }
		};
		size_t n;
		char *bytes = cvl_read_whole(path, 1 << 20, &n, &err);
		struct cvl_timeline *tl;
		struct list want, have;
		FILE *f;

		assert_non_null(bytes);
		damage(&d, path, (uint8_t *)bytes, n);
		tl = open_timeline(s, &opts);
		want = filter(s, &all, &opts, true, true);
		have = read_merged(tl);
		same(&have, &want, false);
		free(want.r);
		free(have.r);
		cvl_timeline_close(tl);
		f = fopen(path, "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(bytes, 1, n, f), n);
		fclose(f);
		free(bytes);
	}
	free(all.r);
	cvl_session_close(s);
}

static void count_problem(void *ctx, const struct cvl_error *e)
{
	(void)e;
	++*(int *)ctx;
}

/* Damage in a packet well before the range is met only where that packet is read. */
static void packets_before_a_range_are_not_read(void **state)
{
	const struct cvl_store_desc desc = {
		.clock = "c", .rate_hz = 1000000000, .lines = (const char *[]){ "x" }, .n_lines = 1
	};
	char path[512];
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	size_t edges;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/before", scratch);
	ok(cvl_session_create(&s, path, &err), &err);
	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	for (uint64_t i = 0; i < 1000; i++) {
		ok(cvl_writer_edges(w, &(struct cvl_tick){ 10 * i }, &(uint64_t){ i % 2 }, 1, &err),
		   &err);
		if (i % 10 == 9)
			ok(cvl_writer_flush(w, &err), &err);
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 10000 }, &err), &err);
	f = fopen(path_of(s, 0, "stream"), "r+b");
	assert_non_null(f);
	fseek(f, 120, SEEK_SET); /* an event of the first packet */
	fputc(255, f);
	fclose(f);
	for (int with_index = 1; with_index >= 0; with_index--) {
		int problems = 0;
		const struct cvl_report report = { count_problem, &problems };
		const struct cvl_timeline_opts opts = { .has_from = true,
							.from = { 5000 },
							.report = &report };
		struct cvl_timeline *tl = open_timeline(s, &opts);
		struct list have = read_merged(tl);

		edges = 0;
		for (size_t i = 0; i < have.n; i++)
			edges += !(have.r[i].flags & CVL_STATE);
		assert_int_equal(edges, 500);
		assert_int_equal(problems, !with_index);
		free(have.r);
		cvl_timeline_close(tl);
		unlink(path_of(s, 0, "index/stream.idx"));
	}
	cvl_session_close(s);
}

static void nodes_are_chosen_by_glob(void **state)
{
	static const struct {
		const char *glob;
		bool odd, even;
	} cases[] = {
		{ "odd", true, false },   { "e*", false, true },         { "*", true, true },
		{ "clock*", true, true }, { "clock[135]", true, false },
	};
	struct draw d = draw_begin(3);
	struct cvl_session *s = random_session(&d, "nodes");
	struct list all = read_apart(s);
	struct cvl_timeline *tl;
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cvl_timeline_opts opts = { .node = cases[i].glob };
		struct list want = filter(s, &all, &opts, cases[i].odd, cases[i].even), have;

		tl = open_timeline(s, &opts);
		have = read_merged(tl);

		same(&have, &want, false);
		free(want.r);
		free(have.r);
		cvl_timeline_close(tl);
	}
	free(all.r);
	assert_int_equal(
		cvl_timeline_open(&tl, s, &(struct cvl_timeline_opts){ .node = "none" }, &err),
		CVL_E_USAGE);
	assert_non_null(strstr(err.text, "even, odd"));
	cvl_session_close(s);
}

/*
 * What is late may stand outside the range in the midst of a batch: it must not be handed out.
 * So late is what comes more than 10 s behind: less is held back.
 * One packet for all of it, and one each: late records are found in packets that begin behind the range,
 * with their index, without it, and where it is damaged.
 */
enum { ALL_AT_ONCE, TWO_EACH, ONE_EACH, NO_INDEX, CUT_INDEX, LAYOUTS };

/* A session of ticks that go back, whose clock has 10 a second; @layout: packets, and their index. */
static struct cvl_session *late_session(const uint64_t *ticks, size_t n, unsigned layout)
{
	static const char *const lines[] = { "x" };
	const struct cvl_store_desc desc = {
		.clock = "c", .rate_hz = 10, .lines = lines, .n_lines = 1
	};
	const size_t each = layout == ALL_AT_ONCE ? n : layout == TWO_EACH ? 2 : 1;
	char path[512], index[600];
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	snprintf(path, sizeof(path), "%s/late-%u", scratch, layout);
	snprintf(index, sizeof(index), "%s/traces/c/index/stream.idx", path);
	ok(cvl_session_create(&s, path, &err), &err);
	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	for (size_t i = 0; i < n; i++) {
		ok(cvl_writer_beacon(w, (struct cvl_tick){ ticks[i] }, 1, i, &err), &err);
		if ((i + 1) % each == 0)
			ok(cvl_writer_flush(w, &err), &err);
	}
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 0 }, &err), &err);
	if (layout == NO_INDEX)
		assert_int_equal(unlink(index), 0);
	if (layout == CUT_INDEX)
		assert_int_equal(truncate(index, 16 + 3 * 72 + 5), 0);
	return s;
}

static void check_late_range(struct cvl_session *s, const uint64_t *ticks, size_t n, uint64_t from,
			     uint64_t to)
{
	struct cvl_map *map = cvl_session_nominal(s, 0);
	const struct cvl_timeline_opts range = {
		.has_from = true,
		.has_until = true,
		.from = cvl_map_time(map, (struct cvl_tick){ from }, NULL),
		.until = cvl_map_time(map, (struct cvl_tick){ to }, NULL),
	};
	struct cvl_timeline *tl = open_timeline(s, &range);
	struct list have = read_merged(tl);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (ticks[i] < from || ticks[i] > to)
			continue;
		if (at >= have.n || have.r[at].value != i)
			fail_msg("%" PRIu64 " to %" PRIu64 ": record %zu is missing", from, to, i);
		at++;
	}
	if (at != have.n)
		fail_msg("%" PRIu64 " to %" PRIu64 ": %zu records, not %zu", from, to, have.n, at);
	free(have.r);
	cvl_timeline_close(tl);
	cvl_map_free(map);
}

static void late_records_are_found_wherever_they_stand(void **state)
{
	/* the last but one is so late that no short stamp tells it from its packet's beginning */
	static const uint64_t far = 3u << 27;
	const uint64_t ticks[] = { far + 100, far + 200, far + 300, far + 50, far + 400,
				   far + 60,  far + 70,  far + 500, 40,       far + 600 };
	const size_t n = sizeof(ticks) / sizeof(*ticks);

	(void)state;
	for (unsigned layout = 0; layout < LAYOUTS; layout++) {
		struct cvl_session *s = late_session(ticks, n, layout);

		for (uint64_t from = 0; from < 700; from += 55)
			for (uint64_t to = from; to < 700; to += 55) {
				check_late_range(s, ticks, n, far + from, far + to);
				check_late_range(s, ticks, n, from, to);
			}
		cvl_session_close(s);
	}
}

static int64_t pair(int64_t a, enum cvl_bound_kind kind_a, int64_t b, enum cvl_bound_kind kind_b)
{
	return cvl_bound_pair((struct cvl_bound){ .map = a, .capture = 0, .kind = kind_a },
			      (struct cvl_bound){ .map = b, .capture = 0, .kind = kind_b });
}

static void order_is_told_only_where_bounds_allow(void **state)
{
	static const struct {
		int64_t a, bound_a, b, bound_b; /* proven: they add */
		enum cvl_order order;
	} cases[] = {
		{ 0, 0, 1, 0, CVL_BEFORE },
		{ 1, 0, 0, 0, CVL_AFTER },
		{ 5, 0, 5, 0, CVL_CANNOT_TELL },
		{ 0, 10, 20, 10, CVL_CANNOT_TELL }, /* they touch */
		{ 0, 10, 21, 10, CVL_BEFORE },
		{ 21, 10, 0, 10, CVL_AFTER },
		{ 0, 30, 21, 0, CVL_CANNOT_TELL },
		{ 0, CVL_BOUND_UNKNOWN, INT64_MAX, 0, CVL_CANNOT_TELL },
		{ 0, 0, INT64_MAX, CVL_BOUND_UNKNOWN, CVL_CANNOT_TELL },
		{ INT64_MIN, 1, INT64_MAX, 1, CVL_BEFORE },
		{ INT64_MAX, 1, INT64_MIN, 1, CVL_AFTER },
		{ INT64_MIN, INT64_MAX - 1, 0, INT64_MAX - 1, CVL_CANNOT_TELL },
		{ INT64_MAX - 5, 10, INT64_MAX, 0, CVL_CANNOT_TELL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cvl_time a = { cases[i].a }, b = { cases[i].b };

		int64_t bound = pair(cases[i].bound_a, CVL_BOUND_PROVEN, cases[i].bound_b,
				     CVL_BOUND_PROVEN);

		if (cvl_timeline_order(a, b, bound) != cases[i].order)
			fail_msg("case %zu", i);
		assert_int_equal(cvl_timeline_order(b, a, bound), -(int)cases[i].order);
	}
}

static void bounds_of_pairs_add_unless_both_are_statistical(void **state)
{
	static const enum cvl_bound_kind proven = CVL_BOUND_PROVEN, likely = CVL_BOUND_STATISTICAL;

	(void)state;
	assert_int_equal(pair(300, proven, 400, proven), 700);
	assert_int_equal(pair(300, proven, 400, likely), 700);
	assert_int_equal(pair(300, likely, 400, likely), 500);
	assert_int_equal(pair(1, likely, 1, likely), 2);
	assert_int_equal(
		cvl_bound_pair((struct cvl_bound){ .map = 300, .capture = 10, .kind = likely },
			       (struct cvl_bound){ .map = 400, .capture = 20, .kind = likely }),
		530);
	assert_true(pair(1, likely, CVL_BOUND_UNKNOWN, likely) == CVL_BOUND_UNKNOWN);
	assert_true(pair(INT64_MAX - 1, proven, 9, proven) == CVL_BOUND_UNKNOWN);
}

static void bounds_are_unknown_without_a_synchronisation(void **state)
{
	struct draw d = draw_begin(4);
	struct cvl_session *s = random_session(&d, "bounds");
	struct cvl_timeline *tl = open_timeline(s, NULL);
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;

	(void)state;
	assert_null(cvl_timeline_sync(tl));
	assert_int_equal(cvl_timeline_next(tl, &block, &err), 1);
	assert_true(cvl_block_take(&block, &slice));
	assert_true(cvl_timeline_bound(tl, &slice, slice.begin) == CVL_BOUND_UNKNOWN);
	assert_int_equal(cvl_timeline_bound_kind(tl, slice.clock), CVL_BOUND_NONE);
	cvl_timeline_close(tl);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merge_gives_every_record_once_in_order),
		cmocka_unit_test(a_range_gives_what_filtering_by_hand_gives),
		cmocka_unit_test(levels_are_known_where_a_range_begins),
		cmocka_unit_test(a_range_of_some_lines_has_all_of_their_edges),
		cmocka_unit_test(unknown_levels_stay_unknown_where_a_range_begins),
		cmocka_unit_test(a_range_is_the_same_whatever_its_index_says),
		cmocka_unit_test(packets_before_a_range_are_not_read),
		cmocka_unit_test(nodes_are_chosen_by_glob),
		cmocka_unit_test(late_records_are_found_wherever_they_stand),
		cmocka_unit_test(order_is_told_only_where_bounds_allow),
		cmocka_unit_test(bounds_of_pairs_add_unless_both_are_statistical),
		cmocka_unit_test(bounds_are_unknown_without_a_synchronisation),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
