/* SPDX-License-Identifier: MIT */
/* A map read from its file is the map that was saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <coeval/clockmap.h>

#include "core/knots.h"
#include "test_draw.h"

#define BLOCK 4096
#define IN_BLOCK 127
#define SLOTS 3
#define HEAD (1 + SLOTS)

static char path[] = "/tmp/coeval-knots-XXXXXX";

/* A map of @n knots some seconds apart, that wanders. */
static struct cvl_map *make(struct draw *d, size_t n)
{
	struct cvl_knot *knot = calloc(n, sizeof(*knot));
	struct cvl_map_spec spec = { .rate_hz = 1000000,
				     .knots = knot,
				     .n = n,
				     .before = { 10, 20, 3 },
				     .after = { -10, 30, 4 },
				     .kind = CVL_BOUND_STATISTICAL };
	uint64_t tick = draw_size(d, 40);
	int64_t ns = (int64_t)draw_size(d, 60);
	struct cvl_map *map;
	struct cvl_error err;

	assert_non_null(knot);
	for (size_t i = 0; i < n; i++) {
		uint64_t run = 1 + draw_size(d, 24);

		knot[i] = (struct cvl_knot){ { tick },
					     { ns },
					     (uint32_t)draw_below(d, 1u << 31),
					     (int64_t)draw_size(d, 30) };
		tick += run;
		ns += 1 + (int64_t)(run * 1000) + (int64_t)draw_below(d, 1 + run / 100);
	}
	if (cvl_map_new(&map, &spec, &err))
		fail_msg("%s", err.text);
	free(knot);
	return map;
}

static struct cvl_map *through_file(const struct cvl_map *map)
{
	struct cvl_map *loaded;
	struct cvl_error err;

	unlink(path);
	if (cvl_map_save(map, path, NULL, &err) || cvl_map_load(&loaded, path, &err))
		fail_msg("%s", err.text);
	return loaded;
}

static struct cvl_tick any_tick(struct draw *d, const struct cvl_map *map)
{
	struct cvl_knot a, b;
	uint64_t margin, span;

	cvl_map_ends(map, &a, &b);
	margin = draw_below(d, 8) ? 0 : 1 + draw_size(d, 30);
	span = b.tick.count - a.tick.count;
	return (struct cvl_tick){ draw_below(d, 2) && a.tick.count > margin ?
					  a.tick.count - margin :
					  a.tick.count + draw_below(d, span + 1) + margin };
}

static void same_answers(struct draw *d, const struct cvl_map *a, const struct cvl_map *b)
{
	struct cvl_tick tick[200], from, to;
	struct cvl_time time[2][200];
	int64_t bound[2][200];
	struct cvl_knot k[2];
	size_t n = cvl_map_ends(a, NULL, NULL), i = draw_below(d, n);

	assert_int_equal(cvl_map_ends(b, NULL, NULL), n);
	assert_int_equal(cvl_map_knot(a, i, &k[0], NULL), 0);
	assert_int_equal(cvl_map_knot(b, i, &k[1], NULL), 0);
	assert_true(k[0].tick.count == k[1].tick.count && k[0].time.ns == k[1].time.ns &&
		    k[0].frac == k[1].frac && k[0].bound_ns == k[1].bound_ns);
	assert_int_equal(cvl_map_knot(b, n, &k[1], NULL), CVL_E_RANGE);
	for (i = 0; i < 200; i++) {
		int64_t mine, file;

		tick[i] = any_tick(d, a);
		assert_true(cvl_map_time(a, tick[i], &mine).ns ==
			    cvl_map_time(b, tick[i], &file).ns);
		assert_true(mine == file);
		assert_true(cvl_map_rate_ppb(a, tick[i]) == cvl_map_rate_ppb(b, tick[i]));
	}
	for (i = 0; i < 20; i++) {
		struct cvl_time t = cvl_map_time(a, tick[i], NULL);

		t.ns += (int64_t)draw_below(d, 3) - 1;
		assert_true(cvl_map_tick(a, t).count == cvl_map_tick(b, t).count);
	}
	cvl_map_times(a, tick, 200, time[0]);
	cvl_map_times(b, tick, 200, time[1]);
	assert_memory_equal(time[0], time[1], sizeof(time[0]));
	cvl_map_bounds(a, NULL, tick, 200, bound[0]);
	cvl_map_bounds(b, NULL, tick, 200, bound[1]);
	assert_memory_equal(bound[0], bound[1], sizeof(bound[0]));
	from = tick[0].count < tick[1].count ? tick[0] : tick[1];
	to = tick[0].count < tick[1].count ? tick[1] : tick[0];
	assert_true(cvl_map_bound_max(a, from, to) == cvl_map_bound_max(b, from, to));
	assert_true(cvl_map_bound_median(a, from, to) == cvl_map_bound_median(b, from, to));
}

static void a_map_from_its_file_gives_the_same_answers(void **state)
{
	static const size_t sizes[] = {
		1, 2, 3, IN_BLOCK - 1, IN_BLOCK, IN_BLOCK + 1, 2 * IN_BLOCK, 10 * IN_BLOCK, 20000
	};

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct draw d = draw_begin(seed);
		struct cvl_map *map = make(&d, sizes[seed % 9]), *file = through_file(map);

		same_answers(&d, map, file);
		assert_false(cvl_map_damaged(file, NULL));
		assert_int_equal(cvl_map_verify(file), 0);
		cvl_map_free(map);
		cvl_map_free(file);
	}
}

static void extreme_bounds_are_those_of_all_ticks(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct draw d = draw_begin(seed);
		struct cvl_knot knot[6];
		struct cvl_map_spec spec = { .rate_hz = 1000,
					     .knots = knot,
					     .n = 1 + draw_below(&d, 6),
					     .before = { 0, 1e9, 0 },
					     .after = { 0, 2e9, 1e9 },
					     .kind = CVL_BOUND_PROVEN };
		struct cvl_map *map;
		uint64_t at = 20, from = draw_below(&d, 100), to = from + draw_below(&d, 60);
		int64_t most = 0, least = INT64_MAX, low, high;

		for (size_t i = 0; i < spec.n; i++) {
			knot[i] = (struct cvl_knot){
				{ at }, { (int64_t)at * 1000000 }, 0, (int64_t)draw_below(&d, 1000)
			};
			at += 1 + draw_below(&d, 20);
		}
		assert_int_equal(cvl_map_new(&map, &spec, NULL), 0);
		for (uint64_t t = from; t <= to; t++) {
			int64_t bound;

			cvl_map_time(map, (struct cvl_tick){ t }, &bound);
			most = bound > most ? bound : most;
			least = bound < least ? bound : least;
		}
		cvl_map_bound_range(map, (struct cvl_tick){ from }, (struct cvl_tick){ to }, &low,
				    &high);
		assert_true(low == least && high == most);
		assert_true(cvl_map_bound_max(map, (struct cvl_tick){ from },
					      (struct cvl_tick){ to }) == most);
		cvl_map_free(map);
	}
}

static unsigned char *slurp(size_t *n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*n + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *n, f), *n);
	fclose(f);
	return bytes;
}

static void spill(const unsigned char *bytes, size_t n)
{
	FILE *f;

	/* a new file: the old one may be mapped */
	unlink(path);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/*
 * Where a block is damaged the bound is unknown, times still never go back, and everywhere else the
 * answers are as before.
 */
static void a_damaged_block_costs_its_knots(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct draw d = draw_begin(seed);
		size_t blocks = 1 + draw_below(&d, 8), n, at, lost = 0, told;
		struct cvl_map *map = make(&d, blocks * IN_BLOCK - draw_below(&d, IN_BLOCK)), *file;
		struct cvl_time before = CVL_TIME_MIN;
		struct cvl_knot first, last;
		unsigned char *bytes;
		bool bad[8] = { 0 };
		struct cvl_error err;

		unlink(path);
		assert_int_equal(cvl_map_save(map, path, NULL, NULL), 0);
		bytes = slurp(&n);
		told = cvl_map_ends(map, &first, &last);
		assert_int_equal(n, (HEAD + told / IN_BLOCK) * BLOCK);
		for (size_t k = draw_below(&d, 3); k < 3; k++) {
			size_t block = draw_below(&d, blocks);

			/* the last one is in the first slot, unless it is full */
			at = (block == told / IN_BLOCK ? 1 : HEAD + block) * BLOCK +
			     draw_below(&d, BLOCK);
			if (!bad[block])
				bytes[at] ^= (unsigned char)(1 + draw_below(&d, 255));
			bad[block] = true;
		}
		spill(bytes, n);
		free(bytes);
		if (cvl_map_load(&file, path, &err))
			fail_msg("%s", err.text);
		assert_true(cvl_map_damaged(file, NULL) ==
			    (told % IN_BLOCK && bad[told / IN_BLOCK]));
		for (size_t i = 0; i < told; i++) {
			struct cvl_knot k;
			int64_t bound, mine;
			struct cvl_time t;

			assert_int_equal(cvl_map_knot(map, i, &k, NULL), 0);
			t = cvl_map_time(file, k.tick, &bound);
			assert_true(t.ns >= before.ns);
			before = t;
			assert_true(cvl_map_tick(file, t).count <= k.tick.count);
			cvl_map_time(map, k.tick, &mine);
			if (bad[i / IN_BLOCK] && i && i + 1 < told) {
				assert_true(bound == CVL_BOUND_UNKNOWN);
				assert_int_equal(cvl_map_knot(file, i, &k, &err), CVL_E_CHECKSUM);
			} else if (!bad[i / IN_BLOCK] &&
				   (i % IN_BLOCK < IN_BLOCK - 1 || i + 1 == told)) {
				assert_true(t.ns == cvl_map_time(map, k.tick, NULL).ns);
				assert_true(bound == mine);
			}
		}
		for (size_t i = 0; i < blocks; i++)
			lost += bad[i];
		assert_int_equal(cvl_map_verify(file), lost);
		assert_true(cvl_map_damaged(file, &err));
		assert_non_null(strstr(err.text, "damaged"));
		assert_true(cvl_map_bound_max(file, first.tick, last.tick) == CVL_BOUND_UNKNOWN ||
			    told <= 2);
		cvl_map_free(map);
		cvl_map_free(file);
	}
}

static void a_damaged_header_is_refused(void **state)
{
	struct draw d = draw_begin(7);
	struct cvl_map *map = make(&d, 300), *file;
	unsigned char *bytes;
	struct cvl_error err;
	size_t n;

	(void)state;
	unlink(path);
	assert_int_equal(cvl_map_save(map, path, NULL, NULL), 0);
	bytes = slurp(&n);
	for (size_t i = 0; i < 300; i++) {
		int rc;

		bytes[i] ^= 0x10;
		spill(bytes, n);
		rc = cvl_map_load(&file, path, &err);
		assert_true(rc == CVL_E_CHECKSUM || rc == CVL_E_SYNTAX || rc == CVL_E_UNSUPPORTED);
		assert_null(file);
		bytes[i] ^= 0x10;
	}
	for (size_t cut = 1; cut < n; cut += 1 + draw_below(&d, 700)) {
		spill(bytes, cut);
		assert_true(cvl_map_load(&file, path, &err) < 0);
		assert_true(cut < 160 || err.code == CVL_E_SYNTAX);
	}
	for (size_t cut = 0; cut <= n; cut += BLOCK) {
		spill(bytes, cut);
		assert_int_equal(cvl_map_load(&file, path, &err), !cut    ? CVL_E_MISSING :
								  cut < n ? CVL_E_SYNTAX :
									    0);
		cvl_map_free(file);
	}
	free(bytes);
	cvl_map_free(map);
}

struct reader {
	const struct cvl_map *map, *file;
	uint64_t seed;
	size_t wrong;
};

static void *read_on(void *arg)
{
	struct reader *r = arg;
	struct draw d = draw_begin(r->seed);

	for (int i = 0; i < 20000; i++) {
		struct cvl_tick tick = any_tick(&d, r->map);
		int64_t a, b;

		r->wrong += cvl_map_time(r->map, tick, &a).ns != cvl_map_time(r->file, tick, &b).ns;
		r->wrong += a != b;
	}
	return NULL;
}

static void threads_may_share_it(void **state)
{
	struct draw d = draw_begin(3);
	struct cvl_map *map = make(&d, 30000), *file = through_file(map);
	struct reader r[4];
	pthread_t thread[4];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		r[i] = (struct reader){ map, file, i, 0 };
		assert_int_equal(pthread_create(&thread[i], NULL, read_on, &r[i]), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(r[i].wrong, 0);
	}
	cvl_map_free(map);
	cvl_map_free(file);
}

/* ---- files that grow ---- */

static const struct cvl_map_spec growing = { .rate_hz = 1000000,
					     .before = { 10, 20, 3 },
					     .after = { -10, 30, 4 },
					     .kind = CVL_BOUND_PROVEN };

/* Knot @i of every file here. */
static struct cvl_knot nth(uint64_t i)
{
	return (struct cvl_knot){ { 1000 * i + i * i % 7 },
				  { (int64_t)(1000100 * i + i % 13) },
				  (uint32_t)(i * 2654435761u),
				  (int64_t)(i * 31 % 1000) };
}

static struct cvl_map *first_knots(size_t n)
{
	struct cvl_map_spec spec = growing;
	struct cvl_knot *knot = calloc(n, sizeof(*knot));
	struct cvl_map *map;

	assert_non_null(knot);
	for (size_t i = 0; i < n; i++)
		knot[i] = nth(i);
	spec.knots = knot;
	spec.n = n;
	assert_int_equal(cvl_map_new(&map, &spec, NULL), 0);
	free(knot);
	return map;
}

static struct knots_writer *begin(void)
{
	struct knots_writer *w;
	struct cvl_error err;

	unlink(path);
	if (knots_create(&w, path, &err))
		fail_msg("%s", err.text);
	return w;
}

static void put(struct knots_writer *w, size_t from, size_t to)
{
	struct cvl_error err;

	for (size_t i = from; i < to; i++) {
		struct cvl_knot k = nth(i);

		if (knots_put(w, &k, &err))
			fail_msg("%s", err.text);
	}
}

static void commit(struct knots_writer *w, bool durable)
{
	struct cvl_error err;

	if (knots_commit(w, &growing, durable, &err))
		fail_msg("%s", err.text);
}

static struct cvl_map *load(void)
{
	struct cvl_map *map;
	struct cvl_error err;

	if (cvl_map_load(&map, path, &err))
		fail_msg("%s", err.text);
	return map;
}

/* The first @n knots are those that were put, unless they are known to be lost. Returns how many. */
static size_t check_knots(const struct cvl_map *file, size_t n)
{
	struct cvl_knot k, want;
	size_t lost = 0;

	for (size_t i = 0; i < n; i++) {
		want = nth(i);
		if (cvl_map_knot(file, i, &k, NULL))
			lost++;
		else if (k.tick.count != want.tick.count || k.time.ns != want.time.ns ||
			 k.frac != want.frac || k.bound_ns != want.bound_ns)
			fail_msg("knot %zu of %zu is wrong", i, n);
	}
	return lost;
}

static void each_commit_is_seen_and_readers_keep_what_they_opened(void **state)
{
	struct draw d = draw_begin(40);
	struct knots_writer *w = begin();
	struct cvl_map *old[401] = { NULL }, *map;

	(void)state;
	for (size_t n = 1; n <= 400; n++) {
		put(w, n - 1, n);
		commit(w, !draw_below(&d, 20));
		map = first_knots(n);
		old[n] = load();
		same_answers(&d, map, old[n]);
		cvl_map_free(map);
	}
	knots_finish(w, NULL, NULL, NULL);
	unlink(path);
	for (size_t n = 1; n <= 400; n++) {
		map = first_knots(n);
		same_answers(&d, map, old[n]);
		assert_int_equal(cvl_map_verify(old[n]), 0);
		cvl_map_free(old[n]);
		cvl_map_free(map);
	}
}

static void commits_of_any_size_are_seen(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct draw d = draw_begin(seed);
		struct knots_writer *w = begin();
		size_t n = 0;

		for (int i = 0; i < 12; i++) {
			size_t more = draw_below(&d, 4) ?
					      draw_below(&d, 300) :
					      (size_t)(IN_BLOCK * (1 + draw_below(&d, 2)));
			struct cvl_map *file;

			more += !n && !more;
			put(w, n, n + more);
			n += more;
			commit(w, !draw_below(&d, 10));
			put(w, n, n + 5); /* these are not committed */
			file = load();
			assert_int_equal(cvl_map_ends(file, NULL, NULL), n);
			assert_int_equal(check_knots(file, n), 0);
			assert_int_equal(cvl_map_verify(file), 0);
			cvl_map_free(file);
			n += 5;
		}
		knots_finish(w, NULL, NULL, NULL);
	}
}

static void the_digest_does_not_depend_on_commits(void **state)
{
	static const size_t sizes[] = { 1, 5, IN_BLOCK, IN_BLOCK + 1, 3 * IN_BLOCK, 500 };

	(void)state;
	for (size_t s = 0; s < 6; s++) {
		char digest[3][CVL_MAP_DIGEST];
		struct draw d = draw_begin(s);
		struct cvl_map_spec other = growing;

		for (int with = 0; with < 2; with++) {
			struct knots_writer *w = begin();
			struct cvl_map *file;

			for (size_t i = 0; i < sizes[s]; i++) {
				put(w, i, i + 1);
				if (with && !draw_below(&d, 3))
					commit(w, !draw_below(&d, 10));
			}
			assert_int_equal(knots_finish(w, &growing, digest[with], NULL), 0);
			file = load();
			unlink(path);
			assert_int_equal(cvl_map_save(file, path, digest[2], NULL), 0);
			assert_string_equal(digest[with], digest[2]);
			cvl_map_free(file);
		}
		assert_string_equal(digest[0], digest[1]);
		other.after.rate_ppb++;
		struct knots_writer *w = begin();

		put(w, 0, sizes[s]);
		assert_int_equal(knots_finish(w, &other, digest[2], NULL), 0);
		assert_string_not_equal(digest[0], digest[2]);
	}
}

static void nothing_is_overwritten_and_nonsense_is_refused(void **state)
{
	struct knots_writer *w = begin(), *second;
	struct cvl_knot k = nth(0), bad = nth(1);
	struct cvl_map *file;
	struct cvl_error err;
	struct stat st;

	(void)state;
	assert_int_equal(knots_commit(w, &growing, false, &err), CVL_E_RANGE);
	assert_int_equal(cvl_map_load(&file, path, &err), CVL_E_MISSING);
	assert_int_equal(knots_put(w, &k, &err), 0);
	assert_int_equal(knots_put(w, &k, &err), CVL_E_ORDER);
	bad.bound_ns = -1;
	assert_int_equal(knots_put(w, &bad, &err), CVL_E_RANGE);
	assert_int_equal(cvl_map_load(&file, path, &err), CVL_E_MISSING);
	assert_int_equal(knots_create(&second, path, &err), CVL_E_IO);
	commit(w, false);
	knots_finish(w, NULL, NULL, NULL);
	assert_int_equal(knots_create(&second, path, &err), CVL_E_IO);
	assert_null(second);
	file = load();
	assert_int_equal(cvl_map_ends(file, NULL, NULL), 1);
	cvl_map_free(file);
	knots_finish(begin(), NULL, NULL, NULL); /* nothing was committed */
	assert_int_equal(stat(path, &st), -1);
}

/* The slot that the header names, which is the first, has the last knots. */
static void a_damaged_tail_costs_its_knots(void **state)
{
	static const size_t sizes[] = { 2, 5, IN_BLOCK - 1, IN_BLOCK + 2, 500 };

	(void)state;
	for (size_t s = 0; s < 5; s++) {
		size_t n = sizes[s], size;
		struct knots_writer *w = begin();
		struct cvl_map *file;
		unsigned char *bytes;
		struct cvl_error err;
		int64_t bound;

		put(w, 0, n);
		assert_int_equal(knots_finish(w, &growing, NULL, &err), 0);
		bytes = slurp(&size);
		bytes[BLOCK + 20] ^= 1;
		spill(bytes, size);
		file = load();
		assert_int_equal(cvl_map_ends(file, NULL, NULL), n);
		assert_true(cvl_map_damaged(file, &err));
		assert_int_equal(err.offset, BLOCK);
		assert_int_equal(check_knots(file, n), n % IN_BLOCK);
		if (n % IN_BLOCK > 1) {
			cvl_map_time(file, nth(n - 2).tick, &bound);
			assert_true(bound == CVL_BOUND_UNKNOWN || n == 2);
		}
		cvl_map_time(file, nth(n - 1).tick, &bound);
		assert_true(bound == nth(n - 1).bound_ns);
		assert_int_equal(cvl_map_verify(file), 1);
		cvl_map_free(file);
		for (uint32_t slot = 1; slot < SLOTS; slot++)
			memset(bytes + (1 + slot) * BLOCK, 0x5a, BLOCK);
		bytes[BLOCK + 20] ^= 1;
		spill(bytes, size);
		file = load();
		assert_int_equal(check_knots(file, n) + cvl_map_verify(file), 0);
		cvl_map_free(file);
		free(bytes);
	}
}

/* ---- power failures ---- */

/* The file after each of its commits. */
struct version {
	unsigned char *bytes;
	size_t size;
};

/*
 * Let the file have each block as some version since the last durable one had it: blocks reach the
 * disk in any order, but the @headers first versions alone have their header there.
 */
static void fail_power(struct draw *d, const struct version *v, size_t versions, size_t headers)
{
	size_t size = v[draw_below(d, versions)].size;
	unsigned char *bytes = calloc(1, size + 1);

	assert_non_null(bytes);
	for (size_t at = 0; at < size; at += BLOCK) {
		const struct version *from = &v[draw_below(d, at ? versions : headers)];

		if (at < from->size)
			memcpy(bytes + at, from->bytes + at, BLOCK);
	}
	spill(bytes, size);
	free(bytes);
}

static void what_was_durable_survives_a_power_failure(void **state)
{
	static struct version v[12];

	(void)state;
	for (uint64_t seed = 0; seed < 150; seed++) {
		struct draw d = draw_begin(seed);
		const size_t versions = 1 + draw_below(&d, 12), before = draw_below(&d, 4);
		struct knots_writer *w = begin();
		/* a durable commit at the end was interrupted before its header was written */
		const bool again = versions > 1 && draw_below(&d, 2);
		size_t n = 0, durable = 0;

		for (size_t i = 0; i < before + versions; i++) {
			size_t more = 1 + draw_below(&d, draw_below(&d, 2) ? 4 : 200);

			put(w, n, n + more);
			n += more;
			commit(w, i == before || (again && i + 1 == before + versions));
			if (i < before)
				continue;
			durable = i == before ? n : durable;
			v[i - before].bytes = slurp(&v[i - before].size);
		}
		knots_finish(w, NULL, NULL, NULL);
		for (int i = 0; i < 20; i++) {
			struct cvl_map *file;

			fail_power(&d, v, versions, versions - again);
			file = load();
			assert_true(cvl_map_ends(file, NULL, NULL) >= durable);
			assert_int_equal(check_knots(file, durable), 0);
			check_knots(file, cvl_map_ends(file, NULL, NULL));
			cvl_map_free(file);
		}
		for (size_t i = 0; i < versions; i++)
			free(v[i].bytes);
	}
}

/* ---- killed writers ---- */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Append and commit until it is killed. */
static void write_until_killed(uint64_t most, uint64_t durable_in)
{
	struct draw d = draw_begin(most);
	struct knots_writer *w;
	uint64_t i = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail */
	if (knots_create(&w, path, NULL))
		_exit(1);
	for (;;) {
		for (uint64_t more = 1 + draw_below(&d, most); more; more--) {
			struct cvl_knot k = nth(i++);

			if (knots_put(w, &k, NULL))
				_exit(1);
		}
		if (knots_commit(w, &growing, durable_in && !draw_below(&d, durable_in), NULL))
			_exit(1);
	}
}

/* Open the file, if it has something, and return how many knots it has. */
static size_t look(size_t before)
{
	struct cvl_map *file;
	struct cvl_error err;
	size_t n;
	int rc = cvl_map_load(&file, path, &err);

	if (rc && !before && (rc == CVL_E_MISSING || strstr(err.text, "No such file")))
		return 0;
	if (rc)
		fail_msg("after %zu knots: %s", before, err.text);
	n = cvl_map_ends(file, NULL, NULL);
	if (n < before)
		fail_msg("%zu knots after %zu", n, before);
	if (check_knots(file, n) || cvl_map_damaged(file, &err))
		fail_msg("%zu knots: %s", n, err.text);
	cvl_map_free(file);
	return n;
}

static void a_writer_may_be_killed_at_any_time(void **state)
{
	static const uint64_t most[] = { 1, 1, 3, 200, 1000 };
	struct draw d = draw_begin(41);
	size_t opened = 0, knots = 0;

	(void)state;
	for (int round = 0; round < 50; round++) {
		int64_t end = now_ns() + (int64_t)draw_below(&d, 20000000);
		size_t n = 0;
		pid_t child;
		int status;

		unlink(path);
		fflush(NULL);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			write_until_killed(most[round % 5], round % 3 ? 0 : 50);
		while (now_ns() < end) {
			n = look(n);
			opened += n > 0;
		}
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		n = look(n);
		assert_int_equal(look(n), n);
		knots += n;
	}
	printf("opened %zu times, %zu knots\n", opened, knots);
	assert_true(opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_from_its_file_gives_the_same_answers),
		cmocka_unit_test(extreme_bounds_are_those_of_all_ticks),
		cmocka_unit_test(a_damaged_block_costs_its_knots),
		cmocka_unit_test(a_damaged_header_is_refused),
		cmocka_unit_test(threads_may_share_it),
		cmocka_unit_test(each_commit_is_seen_and_readers_keep_what_they_opened),
		cmocka_unit_test(commits_of_any_size_are_seen),
		cmocka_unit_test(the_digest_does_not_depend_on_commits),
		cmocka_unit_test(nothing_is_overwritten_and_nonsense_is_refused),
		cmocka_unit_test(a_damaged_tail_costs_its_knots),
		cmocka_unit_test(what_was_durable_survives_a_power_failure),
		cmocka_unit_test(a_writer_may_be_killed_at_any_time),
	};
	int rc, fd = mkstemp(path);

	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
