/* SPDX-License-Identifier: MIT */
/* Maps that grow, named by sync.json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>

#include "store/maps.h"
#include "test_scratch.h"

static const struct cvl_map_spec spec = { .rate_hz = 1000000, .kind = CVL_BOUND_PROVEN };

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

struct place {
	struct cvl_session *session;
	char path[300], folder[310], json[310];
};

static void begin(struct place *p)
{
	static unsigned number;
	struct cvl_error err;

	snprintf(p->path, sizeof(p->path), "%s/s%u", scratch, number++);
	snprintf(p->folder, sizeof(p->folder), "%s/" MAPS_OF_SYNC, p->path);
	snprintf(p->json, sizeof(p->json), "%s/sync.json", p->path);
	ok(cvl_session_create(&p->session, p->path, &err), &err);
}

/* Two clocks, A and B. */
static struct cvl_sync *make_sync(const struct place *p)
{
	struct cvl_sync *sync = calloc(1, sizeof(*sync));

	assert_non_null(sync);
	sync->clock = calloc(2, sizeof(*sync->clock));
	assert_non_null(sync->clock);
	snprintf(sync->session, sizeof(sync->session), "%s", cvl_session_uuid(p->session));
	sync->estimator = strdup("test");
	sync->reference = strdup("A");
	sync->settings = strdup("{}");
	sync->n = 2;
	sync->clock[0].clock = strdup("A");
	sync->clock[1].clock = strdup("B");
	sync->clock[0].verdict = CVL_GOOD;
	return sync;
}

static void put(struct maps_growing *g, uint64_t from, uint64_t to)
{
	struct cvl_error err;

	for (uint64_t i = from; i < to; i++) {
		struct cvl_knot k = { { i * 1000 }, { (int64_t)i * 1000000 }, 0, 5 };

		ok(maps_grow_put(g, &k, &err), &err);
	}
}

static void commit(struct maps_growing *g, bool durable)
{
	struct cvl_error err;

	ok(maps_grow_commit(g, &spec, durable, &err), &err);
}

/* How many files there are in the folder of maps. */
static size_t files(const struct place *p)
{
	DIR *dir = opendir(p->folder);
	size_t n = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Knots of the clocks as sync.json has them; 0: no map. */
static void expect(const struct place *p, size_t a, size_t b)
{
	const size_t want[2] = { a, b };
	struct cvl_sync *sync;
	struct cvl_error err;

	ok(cvl_sync_load(&sync, p->session, &err), &err);
	assert_non_null(sync);
	assert_int_equal(sync->n, 2);
	for (int i = 0; i < 2; i++) {
		const struct cvl_map *map = sync->clock[i].map;

		assert_int_equal(map ? cvl_map_ends(map, NULL, NULL) : 0, want[i]);
		assert_true(!map || !cvl_map_verify(map));
	}
	cvl_sync_free(sync);
}

static void sync_json_names_maps_that_grow(void **state)
{
	struct maps_growing *g[2];
	struct cvl_sync *sync, *old;
	char name[2][MAP_NAME];
	struct cvl_error err;
	struct place p;

	(void)state;
	begin(&p);
	sync = make_sync(&p);
	for (int i = 0; i < 2; i++) {
		ok(maps_grow(&g[i], p.folder, name[i], &err), &err);
		assert_string_equal(maps_grow_name(g[i]), name[i]);
		put(g[i], 0, 10);
		commit(g[i], i);
	}
	assert_string_not_equal(name[0], name[1]);
	ok(sync_save_growing(sync, p.session, name, &err), &err);
	expect(&p, 10, 10);
	ok(cvl_sync_load(&old, p.session, &err), &err);
	put(g[0], 10, 300);
	expect(&p, 10, 10);
	commit(g[0], true);
	expect(&p, 300, 10);
	assert_int_equal(cvl_map_ends(old->clock[0].map, NULL, NULL), 10);
	ok(sync_save_growing(sync, p.session, name, &err), &err);
	put(g[1], 10, 127);
	commit(g[1], false);
	for (int i = 0; i < 2; i++)
		maps_grow_end(g[i]);
	expect(&p, 300, 127);
	assert_int_equal(files(&p), 2);
	*name[1] = '\0';
	ok(sync_save_growing(sync, p.session, name, &err), &err);
	expect(&p, 300, 0);
	assert_int_equal(files(&p), 1);
	cvl_sync_free(old);
	cvl_sync_free(sync);
	cvl_session_close(p.session);
}

static void a_map_that_is_not_there_is_not_named(void **state)
{
	struct cvl_sync *sync, *loaded;
	char name[2][MAP_NAME] = { "", "" };
	struct maps_growing *g;
	struct cvl_error err;
	struct place p;

	(void)state;
	begin(&p);
	sync = make_sync(&p);
	ok(maps_grow(&g, p.folder, name[0], &err), &err);
	assert_int_equal(sync_save_growing(sync, p.session, name, &err), CVL_E_MISSING);
	assert_int_equal(maps_grow_commit(g, &spec, false, &err), CVL_E_RANGE);
	put(g, 0, 3);
	commit(g, false);
	/* someone else synchronises meanwhile */
	ok(cvl_sync_save(sync, p.session, &err), &err);
	assert_int_equal(files(&p), 0);
	put(g, 3, 6);
	commit(g, false);
	assert_int_equal(maps_grow_commit(g, &spec, true, &err), CVL_E_IO);
	assert_int_equal(sync_save_growing(sync, p.session, name, &err), CVL_E_IO);
	maps_grow_end(g);
	ok(cvl_sync_load(&loaded, p.session, &err), &err);
	assert_null(loaded->clock[0].map);
	cvl_sync_free(loaded);
	cvl_sync_free(sync);
	cvl_session_close(p.session);
}

static void fewer_knots_than_sync_json_tells_are_refused(void **state)
{
	char name[2][MAP_NAME] = { "", "" }, fewer[MAP_NAME], from[400], to[400];
	struct cvl_sync *sync, *loaded;
	struct maps_growing *g;
	struct cvl_error err;
	struct place p;

	(void)state;
	begin(&p);
	sync = make_sync(&p);
	ok(maps_grow(&g, p.folder, name[1], &err), &err);
	put(g, 0, 130);
	commit(g, false);
	maps_grow_end(g);
	ok(sync_save_growing(sync, p.session, name, &err), &err);
	expect(&p, 0, 130);
	ok(maps_grow(&g, p.folder, fewer, &err), &err);
	put(g, 0, 129);
	commit(g, false);
	maps_grow_end(g);
	snprintf(from, sizeof(from), "%s/%s", p.folder, fewer);
	snprintf(to, sizeof(to), "%s/%s", p.folder, name[1]);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(cvl_sync_load(&loaded, p.session, &err), CVL_E_MISMATCH);
	cvl_sync_free(sync);
	cvl_session_close(p.session);
}

static void maps_that_nobody_names_are_removed(void **state)
{
	char name[2][MAP_NAME];
	struct maps_growing *g[3];
	struct cvl_error err;
	struct place p;

	(void)state;
	begin(&p);
	for (int i = 0; i < 3; i++)
		ok(maps_grow(&g[i], p.folder, name[i % 2], &err), &err);
	put(g[0], 0, 5);
	put(g[1], 0, 5);
	commit(g[1], true);
	assert_int_equal(files(&p), 3);
	maps_grow_end(g[2]); /* it has nothing */
	assert_int_equal(files(&p), 2);
	ok(maps_clean_session(p.session, NULL, NULL, &err), &err);
	assert_false(cvl_is_dir(p.folder));
	maps_grow_end(g[0]);
	maps_grow_end(g[1]);
	maps_grow_end(NULL);
	cvl_session_close(p.session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sync_json_names_maps_that_grow),
		cmocka_unit_test(a_map_that_is_not_there_is_not_named),
		cmocka_unit_test(fewer_knots_than_sync_json_tells_are_refused),
		cmocka_unit_test(maps_that_nobody_names_are_removed),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
