/* SPDX-License-Identifier: MIT */
/* Sums of any range of buckets, at every level, against adding up the records one by one. */
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
#include <coeval/lod.h>
#include <coeval/store.h>

#include "store/stored.h"
#include "test_draw.h"
#include "test_scratch.h"

#define LINES 5
#define RANGES 60

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- a stream of everything ---- */

struct writing {
	struct cvl_writer *w;
	uint64_t tick, levels;
	int plain, field;
};

static void write_some(struct writing *w, struct draw *d, unsigned n)
{
	struct cvl_error err;

	for (unsigned i = 0; i < n; i++) {
		const uint64_t kind = draw_below(d, 100);
		const union cvl_store_value v = { .u = i };
		struct cvl_tick at;

		w->tick += kind < 5 ? draw_size(d, 22) : draw_below(d, 30);
		at.count = w->tick;
		if (kind < 60) {
			w->levels ^= UINT64_C(1) << draw_below(d, LINES);
			ok(cvl_writer_levels(w->w, at, w->levels, &err), &err);
		} else if (kind < 62) {
			ok(cvl_writer_edge_unknown(w->w, at, w->levels,
						   UINT64_C(1) << draw_below(d, LINES), &err),
			   &err);
		} else if (kind < 75) {
			ok(cvl_writer_event(w->w, at, kind & 1 ? w->plain : w->field, &v, &err),
			   &err);
		} else if (kind < 90) {
			ok(cvl_writer_sample(w->w, at, (uint32_t)draw_below(d, 2),
					     (double)draw_below(d, 1000) - 500, &err),
			   &err);
		} else if (kind < 97) {
			ok(cvl_writer_pulse(w->w, at, 0, &err), &err);
		} else {
			const uint64_t until = w->tick + draw_size(d, 16);

			ok(cvl_writer_gap(w->w, at, (struct cvl_tick){ until }, 3, CVL_GAP_OVERFLOW,
					  &err),
			   &err);
			w->tick = until;
		}
	}
}

static struct writing begin(struct cvl_session *s, const char *name, uint64_t tick)
{
	static const char *const lines[LINES] = { "a", "b", "c", "d", "e" };
	static const char *const channels[] = { "u", "i" };
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	static const struct cvl_store_field field = { "f", CVL_STORE_U64 };
	const struct cvl_store_desc desc = { .clock = name,
					     .rate_hz = 1000000,
					     .lines = lines,
					     .n_lines = LINES,
					     .lines_unknown = true,
					     .channels = channels,
					     .n_channels = 2 };
	struct writing w = { .tick = tick };
	struct cvl_error err;

	ok(cvl_session_add(s, &desc, &origin, &w.w, &err), &err);
	w.plain = cvl_writer_declare(w.w, "plain", NULL, 0, &err);
	w.field = cvl_writer_declare(w.w, "with", &field, 1, &err);
	assert_true(w.plain >= 0 && w.field >= 0);
	return w;
}

/* ---- its records, added up one by one ---- */

struct reference {
	struct cvl_batch b; /* all of them */
	size_t room;
};

static void read_all(struct reference *r, const struct cvl_session *s, size_t clock)
{
	struct cvl_stream_opts opts = { .growing = cvl_session_clock(s, clock)->growing };
	struct cvl_trace *trace;
	struct cvl_stream *stream;
	struct cvl_batch b, *all = &r->b;
	struct cvl_error err;
	int rc;

	*r = (struct reference){ 0 };
	ok(session_open_trace(s, clock, &trace, NULL, &err), &err);
	stored_expect(session_stored(s, clock), cvl_trace_stream_name(trace, 0), &opts);
	ok(cvl_stream_open(&stream, trace, 0, &opts, &err), &err);
	while ((rc = cvl_stream_next(stream, &b, &err)) > 0) {
		const size_t n = all->n + b.n;

		all->tick = realloc(all->tick, n * sizeof(*b.tick));
		all->kind = realloc(all->kind, n);
		all->flags = realloc(all->flags, n);
		all->cls = realloc(all->cls, n * sizeof(*b.cls));
		all->value = realloc(all->value, n * sizeof(*b.value));
		all->aux = realloc(all->aux, n * sizeof(*b.aux));
		memcpy(all->tick + all->n, b.tick, b.n * sizeof(*b.tick));
		memcpy(all->kind + all->n, b.kind, b.n);
		memcpy(all->flags + all->n, b.flags, b.n);
		memcpy(all->cls + all->n, b.cls, b.n * sizeof(*b.cls));
		memcpy(all->value + all->n, b.value, b.n * sizeof(*b.value));
		memcpy(all->aux + all->n, b.aux, b.n * sizeof(*b.aux));
		all->n = n;
	}
	ok(rc, &err);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
}

static void free_reference(struct reference *r)
{
	free(r->b.tick);
	free(r->b.kind);
	free(r->b.flags);
	free(r->b.cls);
	free(r->b.value);
	free(r->b.aux);
}

#define TRACKS (64 + CVL_KINDS + 2 + 100)

struct sums {
	uint64_t count[TRACKS], ticks[LINES];
	double total[TRACKS], min[TRACKS], max[TRACKS];
	struct cvl_levels begin;
	uint64_t gap_until, longest; /* of gaps that began before, and within */
};

static void add(struct sums *s, uint32_t track, double v)
{
	if (!s->count[track] || v < s->min[track])
		s->min[track] = v;
	if (!s->count[track] || v > s->max[track])
		s->max[track] = v;
	s->total[track] += v;
	s->count[track]++;
}

/* Ticks [from, to). */
static void add_up(struct sums *s, const struct reference *r, uint64_t from, uint64_t to)
{
	const struct cvl_batch *b = &r->b;
	struct cvl_levels levels = { 0 };
	uint64_t last = 0;

	*s = (struct sums){ 0 };
	for (size_t i = 0; i <= b->n; i++) {
		const uint64_t tick = i == b->n               ? to :
				      b->tick[i].count < last ? last :
								b->tick[i].count;
		const uint64_t a = last < from ? from : last, z = tick < to ? tick : to;
		uint64_t changed;

		for (unsigned k = 0; k < LINES && z > a; k++)
			s->ticks[k] += levels.now >> k & 1 ? z - a : 0;
		if (tick >= from && last < from)
			s->begin = levels;
		if (i == b->n || tick >= to)
			break;
		if (i == 0 && tick >= from)
			s->begin = levels;
		last = tick;
		switch (b->kind[i]) {
		case CVL_EDGE:
			changed = cvl_levels_take(&levels, b, i);
			for (unsigned k = 0; k < LINES && !(b->flags[i] & CVL_STATE); k++)
				if (tick >= from && changed >> k & 1)
					add(s, k, 0);
			break;
		case CVL_GAP:
			levels.known = 0;
			if (tick < from && b->aux[i] + 1 > s->gap_until)
				s->gap_until = b->aux[i] + 1;
			if (tick >= from && b->aux[i] + 1 > s->longest)
				s->longest = b->aux[i] + 1;
			if (tick >= from)
				add(s, 64 + CVL_GAP, 0);
			break;
		case CVL_SAMPLE:
			if (tick >= from) {
				double v;

				memcpy(&v, &b->value[i], sizeof(v));
				add(s, 64 + CVL_KINDS + b->cls[i], v);
			}
			break;
		case CVL_EVENT:
			if (tick >= from)
				add(s, 64 + CVL_KINDS + 2 + b->cls[i], 0);
			break;
		default:
			if (tick >= from)
				add(s, 64u + b->kind[i], 0);
		}
	}
}

/* ---- the same of cells ---- */

struct got {
	struct sums sums;
	struct cvl_levels levels; /* behind the last cell */
	uint64_t next, width;     /* bucket */
};

/* Lines that do not change in buckets [g->next, to) are as before. */
static void pass_time(struct got *g, uint64_t to)
{
	for (unsigned k = 0; k < LINES; k++)
		if (g->levels.now >> k & 1)
			g->sums.ticks[k] += (to - g->next) * g->width;
	g->next = to;
}

static int see(void *ctx, const struct cvl_lod_cell *c)
{
	struct got *g = ctx;
	uint64_t changed = 0;

	assert_true(c->bucket >= g->next);
	pass_time(g, c->bucket);
	assert_int_equal(c->before.now, g->levels.now);
	assert_int_equal(c->before.known, g->levels.known);
	for (size_t i = 0; i < c->n; i++) {
		const struct cvl_lod_sum *s = &c->sum[i];

		assert_true(!i || s->track > c->sum[i - 1].track);
		if (s->track < 64) {
			changed |= UINT64_C(1) << s->track;
			g->sums.ticks[s->track] += s->ticks;
		}
		if (s->track == 64 + CVL_GAP && c->bucket * g->width + s->ticks > g->sums.longest)
			g->sums.longest = c->bucket * g->width + s->ticks;
		if (!g->sums.count[s->track] || s->min < g->sums.min[s->track])
			g->sums.min[s->track] = s->min;
		if (!g->sums.count[s->track] || s->max > g->sums.max[s->track])
			g->sums.max[s->track] = s->max;
		g->sums.total[s->track] += s->total;
		g->sums.count[s->track] += s->count;
	}
	for (unsigned k = 0; k < LINES; k++)
		if (!(changed >> k & 1) && c->before.now >> k & 1)
			g->sums.ticks[k] += g->width;
	g->levels = c->after;
	g->next = c->bucket + 1;
	return 0;
}

static void compare_range(struct cvl_lod *lod, const struct reference *r, unsigned level,
			  uint64_t from, uint64_t to)
{
	struct got g = { .next = from, .width = UINT64_C(1) << 2 * level };
	struct cvl_lod_begin begin;
	struct cvl_error err;
	struct sums *is = &g.sums;
	struct sums *want = malloc(sizeof(*want));

	add_up(want, r, from << 2 * level, (to + 1) << 2 * level);
	/* once for what holds at the begin, which the cells are held against */
	ok(cvl_lod_read(lod, level, from, to, &begin, NULL, NULL, &err), &err);
	g.levels = begin.levels;
	ok(cvl_lod_read(lod, level, from, to, &begin, see, &g, &err), &err);
	pass_time(&g, to + 1);
	assert_int_equal(begin.levels.now, want->begin.now);
	assert_int_equal(begin.levels.known, want->begin.known);
	/* beyond the last record it may be cut to a bucket of the level */
	assert_int_equal(begin.gap_until, want->gap_until);
	assert_int_equal(is->longest, want->longest);
	assert_memory_equal(is->count, want->count, sizeof(is->count));
	assert_memory_equal(is->ticks, want->ticks, sizeof(is->ticks));
	assert_memory_equal(is->min, want->min, sizeof(is->min));
	assert_memory_equal(is->max, want->max, sizeof(is->max));
	for (unsigned k = 0; k < TRACKS; k++)
		assert_true(is->total[k] == want->total[k]);
	free(want);
}

static void compare(struct cvl_lod *lod, const struct cvl_session *s, struct draw *d)
{
	struct cvl_tick first, last;
	struct reference r;

	read_all(&r, s, 0);
	assert_true(cvl_lod_range(lod, &first, &last));
	for (unsigned level = 0; level < 30; level++) {
		const uint64_t a = first.count >> 2 * level, z = last.count >> 2 * level;

		compare_range(lod, &r, level, a, z);
		for (unsigned k = 0; k < RANGES && z > a; k++) {
			const uint64_t from = a + draw_below(d, z - a + 1);

			compare_range(lod, &r, level, from, from + draw_below(d, z - from + 2));
		}
	}
	free_reference(&r);
}

/* ---- tests ---- */

static struct cvl_session *make(const char *name, unsigned n, uint64_t tick, struct draw *d,
				char path[512])
{
	struct cvl_session *s;
	struct cvl_error err;
	struct writing w;

	snprintf(path, 512, "%s/%s", scratch, name);
	ok(cvl_session_create(&s, path, &err), &err);
	w = begin(s, "c", tick);
	write_some(&w, d, n);
	ok(cvl_session_finish(s, w.w, (struct cvl_tick){ w.tick + 5 }, &err), &err);
	return s;
}

static void test_all_levels(void **state)
{
	struct draw d = draw_begin(1);
	char path[512], name[20];

	(void)state;
	for (unsigned k = 0; k < 6; k++) {
		static const unsigned sizes[] = { 1, 7, 500, 3000, 3000, 20000 };
		struct cvl_lod *made, *kept;
		struct cvl_session *s;
		struct cvl_error err;

		snprintf(name, sizeof(name), "all%u", k);
		s = make(name, sizes[k], k == 4 ? UINT64_C(5) << 58 : 0, &d, path);
		ok(cvl_lod_open(&made, s, 0, 0, NULL, &err), &err);
		compare(made, s, &d);
		cvl_lod_close(made);
		/* now from its file */
		ok(cvl_lod_open(&kept, s, 0, 0, NULL, &err), &err);
		compare(kept, s, &d);
		cvl_lod_close(kept);
		cvl_session_close(s);
	}
}

static void test_growing(void **state)
{
	struct draw d = draw_begin(2);
	struct cvl_session *s, *reader;
	struct cvl_lod *lod;
	struct cvl_error err;
	struct writing w;
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/growing", scratch);
	ok(cvl_session_create(&s, path, &err), &err);
	w = begin(s, "c", 1000);
	write_some(&w, &d, 1000);
	ok(cvl_writer_flush(w.w, &err), &err);
	ok(cvl_session_open(&reader, path, NULL, &err), &err);
	assert_true(cvl_session_clock(reader, 0)->growing);
	ok(cvl_lod_open(&lod, reader, 0, 0, NULL, &err), &err);
	for (unsigned k = 0; k < 6; k++) {
		compare(lod, reader, &d);
		assert_int_equal(cvl_lod_update(lod, &err), 0);
		write_some(&w, &d, 1 + (unsigned)draw_below(&d, 3000));
		ok(cvl_writer_flush(w.w, &err), &err);
		assert_int_equal(cvl_lod_update(lod, &err), 1);
	}
	cvl_lod_close(lod);
	cvl_session_close(reader);
	ok(cvl_session_finish(s, w.w, (struct cvl_tick){ w.tick }, &err), &err);
	cvl_session_close(s);
}

/* Whatever happens to the kept file, what is told is right. */
static void test_damage(void **state)
{
	struct draw d = draw_begin(3);
	char path[512], file[700];
	struct cvl_session *s = make("damage", 4000, 0, &d, path);
	struct cvl_lod *lod;
	struct cvl_error err;
	unsigned char *whole, *copy;
	struct reference r;
	size_t n;

	(void)state;
	snprintf(file, sizeof(file), "%s/derived/c.stream.levels", path);
	ok(cvl_lod_open(&lod, s, 0, 0, NULL, &err), &err);
	cvl_lod_close(lod);
	whole = (unsigned char *)cvl_read_whole(file, 1 << 24, &n, &err);
	copy = malloc(n);
	assert_true(whole && copy);
	read_all(&r, s, 0);
	for (unsigned k = 0; k < 200; k++) {
		const size_t cut = k % 4 ? n : draw_below(&d, n);
		struct cvl_lod_begin begin;
		struct got g = { 0 };
		int rc;

		memcpy(copy, whole, n);
		copy[draw_below(&d, n)] ^= (unsigned char)(1 + draw_below(&d, 255));
		assert_int_equal(cvl_write_soon(file, copy, cut, &err), 0);
		ok(cvl_lod_open(&lod, s, 0, 0, NULL, &err), &err);
		g.width = UINT64_C(1) << 2 * cvl_lod_leaf(lod);
		rc = cvl_lod_read(lod, cvl_lod_leaf(lod), 0, UINT64_MAX >> 2, &begin, see, &g,
				  &err);
		ok(rc, &err);
		compare_range(lod, &r, cvl_lod_leaf(lod), 0, 1000);
		cvl_lod_close(lod);
	}
	free_reference(&r);
	free(whole);
	free(copy);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_levels),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
