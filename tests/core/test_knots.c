/* SPDX-License-Identifier: MIT */
/* A map read from its file is the map that was saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/clockmap.h>

#include "test_draw.h"

#define BLOCK 4096
#define IN_BLOCK 127

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

static void greatest_bounds_are_those_of_all_ticks(void **state)
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
		int64_t most = 0;

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
		}
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

		assert_int_equal(cvl_map_save(map, path, NULL, NULL), 0);
		bytes = slurp(&n);
		assert_int_equal(n, (blocks + 1) * BLOCK);
		for (size_t k = draw_below(&d, 3); k < 3; k++) {
			at = BLOCK + draw_below(&d, n - BLOCK);
			if (!bad[at / BLOCK - 1])
				bytes[at] ^= (unsigned char)(1 + draw_below(&d, 255));
			bad[at / BLOCK - 1] = true;
		}
		spill(bytes, n);
		free(bytes);
		if (cvl_map_load(&file, path, &err))
			fail_msg("%s", err.text);
		told = cvl_map_ends(map, &first, &last);
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
	assert_int_equal(cvl_map_save(map, path, NULL, NULL), 0);
	bytes = slurp(&n);
	for (size_t i = 0; i < 160; i++) {
		int rc;

		bytes[i] ^= 0x10;
		spill(bytes, n);
		rc = cvl_map_load(&file, path, &err);
		assert_true(rc == CVL_E_CHECKSUM || rc == CVL_E_SYNTAX || rc == CVL_E_UNSUPPORTED);
		assert_null(file);
		bytes[i] ^= 0x10;
	}
	for (size_t cut = 0; cut < n; cut += 1 + draw_below(&d, 700)) {
		spill(bytes, cut);
		assert_int_equal(cvl_map_load(&file, path, &err), CVL_E_SYNTAX);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_from_its_file_gives_the_same_answers),
		cmocka_unit_test(greatest_bounds_are_those_of_all_ticks),
		cmocka_unit_test(a_damaged_block_costs_its_knots),
		cmocka_unit_test(a_damaged_header_is_refused),
		cmocka_unit_test(threads_may_share_it),
	};
	int rc, fd = mkstemp(path);

	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
