/* SPDX-License-Identifier: MIT */
/* Clocks that are reset: each epoch is tied by what it heard itself, and they stay one clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/follow.h>
#include <coeval/score.h>
#include <coeval/timeline.h>

#include "../sim/world.h"
#include "test_scratch.h"

#define MINUTE_NS INT64_C(60000000000)

static const char *scratch_path(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static void must(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static struct world make_world(void)
{
	struct world w = { .name = "resets", .seed = 4, .duration_ns = 20 * MINUTE_NS };

	w.clocks[w.n_clocks++] =
		(struct world_clocks){ .name = "node",
				       .count = 3,
				       .rate_hz = 8000000,
				       .resolution = 1,
				       .bits = 64,
				       .start_ns = 3000000000,
				       .oscillator = { .offset_sd_ppm = 30, .walk_ppb = 2 } };
	return w;
}

static void add_beacons(struct world *w)
{
	w->sender[w->n_senders++] = (struct world_sender){ .id = 1,
							   .period_ns = 1000000000,
							   .first_number = 1,
							   .heard_by = "*",
							   .receiver = { .normal_ns = 400 },
							   .missed = 0.05 };
}

static void add_reset(struct world *w, const char *who, int64_t at, int64_t lasts, double begins)
{
	w->fault[w->n_faults++] = (struct world_fault){
		.kind = WORLD_RESET, .who = "", .at_ns = at, .for_ns = lasts, .amount = begins
	};
	snprintf(w->fault[w->n_faults - 1].who, WORLD_NAME, "%s", who);
}

struct solved {
	struct cvl_session *session;
	struct cvl_sync *sync, *truth;
};

static struct solved solve(const struct world *w, bool messages)
{
	const char *match[] = { COEVAL_SOURCE_DIR "/examples/rules/radio.yaml" };
	struct cvl_sync_opts opts = { .match = match, .n_match = messages, .max_drift_ppm = 150 };
	const char *path = scratch_path(w->name);
	struct solved s;
	struct cvl_error err;

	must(world_run(w, path, NULL, &err), &err);
	must(cvl_session_open(&s.session, path, NULL, &err), &err);
	must(cvl_truth_load(&s.truth, s.session, &err), &err);
	must(cvl_sync_run(&s.sync, s.session, &opts, &err), &err);
	return s;
}

static void solved_free(struct solved *s)
{
	cvl_sync_free(s->sync);
	cvl_sync_free(s->truth);
	cvl_session_close(s->session);
}

static void expect_covered(const struct solved *s, const char *what)
{
	const struct cvl_score_opts opts = { .seed = 3 };
	struct cvl_score score;
	struct cvl_error err;

	must(cvl_score(&score, s->sync, s->truth, s->session, &opts, NULL, &err), &err);
	printf("%s: %zu clocks, %llu times, %.4f within\n", what, s->sync->n,
	       (unsigned long long)score.n, score.coverage);
	assert_true(score.n > 1000);
	assert_true(score.coverage >= 0.999);
}

static void each_epoch_is_tied(void **state)
{
	struct world w = make_world();
	struct solved s;

	(void)state;
	add_beacons(&w);
	add_reset(&w, "node2", 5 * MINUTE_NS, 2000000000, 0);
	add_reset(&w, "node2", 10 * MINUTE_NS, 300000000, 0);
	add_reset(&w, "node3", 15 * MINUTE_NS, 10000000, 1e9); /* a step back */
	s = solve(&w, false);
	assert_int_equal(cvl_session_clocks(s.session), 6);
	assert_int_equal(s.sync->n, 6);
	for (size_t i = 0; i < s.sync->n; i++)
		assert_int_equal(s.sync->clock[i].verdict, CVL_GOOD);
	expect_covered(&s, "beacons");
	solved_free(&s);
}

static void an_epoch_that_hears_nothing_is_not_tied(void **state)
{
	struct world w = make_world();
	const struct cvl_clock_sync *c;
	struct solved s;

	(void)state;
	snprintf(w.name, sizeof(w.name), "deaf");
	add_beacons(&w);
	add_reset(&w, "node2", 5 * MINUTE_NS, 2000000000, 0);
	w.fault[w.n_faults++] = (struct world_fault){ .kind = WORLD_OUTAGE,
						      .who = "node2",
						      .at_ns = 5 * MINUTE_NS,
						      .for_ns = 15 * MINUTE_NS };
	s = solve(&w, false);
	assert_int_equal(cvl_sync_find(s.sync, "node2")->verdict, CVL_GOOD);
	c = cvl_sync_find(s.sync, "node2#2");
	assert_int_equal(c->verdict, CVL_UNSYNCHRONISED);
	assert_null(c->map);
	expect_covered(&s, "one deaf");
	solved_free(&s);
}

static void messages_tie_epochs(void **state)
{
	struct world w = make_world();
	struct solved s;

	(void)state;
	snprintf(w.name, sizeof(w.name), "messages");
	w.message[w.n_messages++] = (struct world_message){ .from = "*",
							    .to = "*",
							    .per_second = 3,
							    .latency_min_ns = 5000,
							    .latency_exp_ns = 20000,
							    .back_factor = 1 };
	add_reset(&w, "node2", 5 * MINUTE_NS, 2000000000, 0);
	s = solve(&w, true);
	for (size_t i = 0; i < s.sync->n; i++)
		assert_int_not_equal(s.sync->clock[i].verdict, CVL_UNSYNCHRONISED);
	expect_covered(&s, "messages");
	solved_free(&s);
}

static size_t records_of(struct cvl_session *session, const char *node, int64_t *last)
{
	const struct cvl_timeline_opts opts = { .node = node, .nominal = true };
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	size_t n = 0;
	int rc;

	must(cvl_timeline_open(&tl, session, &opts, &err), &err);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &sl)) {
			n += sl.end - sl.begin;
			for (size_t i = sl.begin; i < sl.end; i++) {
				assert_true(sl.time[i].ns >= *last);
				*last = sl.time[i].ns;
			}
		}
	must(rc, &err);
	cvl_timeline_close(tl);
	return n;
}

static void epochs_are_one_clock(void **state)
{
	struct world w = make_world();
	const struct cvl_clock *c;
	struct cvl_session *s, *both;
	size_t gone[] = { 1 };
	int64_t last = INT64_MIN, first = INT64_MIN;
	size_t all, one;
	struct cvl_error err;

	(void)state;
	snprintf(w.name, sizeof(w.name), "one");
	add_beacons(&w);
	add_reset(&w, "node2", 5 * MINUTE_NS, 2000000000, 0);
	must(world_run(&w, scratch_path("one"), NULL, &err), &err);
	must(cvl_session_open(&s, scratch_path("one"), NULL, &err), &err);
	c = cvl_session_clock(s, 2);
	assert_string_equal(c->name, "node2#2");
	assert_string_equal(c->clock, "node2");
	assert_string_equal(c->node, "node2");
	assert_int_equal(c->epoch, 2);
	assert_int_equal(c->first_epoch, 1);
	assert_int_equal(c->same_as, -1);
	assert_int_equal(cvl_session_find(s, "node2"), 1);
	/* before it is tied, an epoch stands behind the one before */
	all = records_of(s, "node2", &last);
	one = records_of(s, "node2#2", &first);
	assert_true(one > 1000 && all > one + 500);
	assert_true(last > 19 * MINUTE_NS);

	/* added to another session of the same names, they are one clock of another name */
	must(cvl_session_create(&both, scratch_path("both"), &err), &err);
	must(cvl_session_join(both, s, false, NULL, &err), &err);
	must(cvl_session_join(both, s, false, NULL, &err), &err);
	cvl_session_close(s);
	c = cvl_session_clock(both, 6);
	assert_string_equal(c->name, "node2-2#2");
	assert_string_equal(c->clock, "node2-2");
	assert_int_equal(c->first_epoch, 5);
	/* without its first epoch it is the second one still */
	must(cvl_session_remove(both, gone, 1, &err), &err);
	cvl_session_close(both);
	must(cvl_session_open(&both, scratch_path("both"), NULL, &err), &err);
	c = cvl_session_clock(both, 1);
	assert_string_equal(c->name, "node2#2");
	assert_int_equal(c->epoch, 2);
	assert_int_equal(c->first_epoch, -1);
	cvl_session_close(both);
}

static void followed_as_it_was_stored(void **state)
{
	struct world w = make_world();
	struct cvl_follow_opts opts = { .sync.max_drift_ppm = 150 };
	struct solved s;
	struct cvl_follow *f;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	int64_t last = INT64_MIN;
	size_t n = 0, outside = 0;
	int news;

	(void)state;
	snprintf(w.name, sizeof(w.name), "followed");
	add_beacons(&w);
	add_reset(&w, "node2", 5 * MINUTE_NS, 2000000000, 0);
	add_reset(&w, "node3", 15 * MINUTE_NS, 10000000, 1e9);
	s = solve(&w, false);
	must(cvl_follow_open(&f, scratch_path(w.name), &opts, &err), &err);
	while ((news = cvl_follow_wait(f, -1, &err)) != CVL_FOLLOW_ENDED) {
		struct cvl_timeline *tl = cvl_follow_timeline(f);

		must(news, &err);
		while (tl && (news = cvl_timeline_next(tl, &block, &err)) > 0)
			while (cvl_block_take(&block, &sl))
				for (size_t i = sl.begin; i < sl.end; i++) {
					const char *clock =
						cvl_session_clock(s.session, sl.clock)->name;
					const struct cvl_map *map =
						cvl_sync_find(s.sync, clock)->map;
					int64_t bound, whole;

					whole = cvl_map_time(map, sl.batch->tick[i], &bound).ns;
					n++;
					outside += llabs(sl.time[i].ns - whole) >
						   bound + cvl_timeline_bound(tl, &sl, i);
				}
		must(news, &err);
	}
	cvl_follow_close(f);
	printf("followed: %zu records, %zu outside\n", n, outside);
	assert_int_equal(n, records_of(s.session, "*", &last));
	assert_int_equal(outside, 0);
	solved_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_epoch_is_tied),
		cmocka_unit_test(an_epoch_that_hears_nothing_is_not_tied),
		cmocka_unit_test(messages_tie_epochs),
		cmocka_unit_test(epochs_are_one_clock),
		cmocka_unit_test(followed_as_it_was_stored),
	};

	return cmocka_run_group_tests_name("epochs", tests, make_scratch, remove_scratch);
}
