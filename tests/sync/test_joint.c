/* SPDX-License-Identifier: MIT */
/* Beacons and messages in one solution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/score.h>

#include "../sim/world.h"

#define MINUTE_NS INT64_C(60000000000)

static char dir[256], session[300], rule[300];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/coeval-joint-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(session, sizeof(session), "%s/s", dir);
	snprintf(rule, sizeof(rule), "%s", COEVAL_SOURCE_DIR "/examples/rules/radio.yaml");
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int remove_dir(void **state)
{
	(void)state;
	return nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/*
 * Three nodes that hear beacons and one that hears none; all send each other messages of at least 5
 * us.
 */
static struct world make_world(void)
{
	struct world w = { .name = "joint", .seed = 4, .duration_ns = 30 * MINUTE_NS };

	w.clocks[w.n_clocks++] =
		(struct world_clocks){ .name = "node",
				       .count = 3,
				       .rate_hz = 8000000,
				       .resolution = 1,
				       .bits = 64,
				       .oscillator = { .offset_sd_ppm = 30, .walk_ppb = 10 } };
	w.clocks[w.n_clocks++] = (struct world_clocks){ .name = "deaf",
							.count = 1,
							.rate_hz = 1000000,
							.resolution = 1,
							.bits = 64,
							.oscillator = { .offset_ppm = -40 } };
	w.sender[w.n_senders++] = (struct world_sender){ .id = 1,
							 .period_ns = 1000000000,
							 .first_number = 1,
							 .heard_by = "node*",
							 .receiver = { .normal_ns = 400 } };
	w.message[w.n_messages++] = (struct world_message){ .from = "*",
							    .to = "*",
							    .per_second = 3,
							    .latency_min_ns = 5000,
							    .latency_exp_ns = 20000,
							    .back_factor = 1 };
	return w;
}

struct solved {
	struct cvl_session *session;
	struct cvl_sync *sync, *truth;
};

static struct solved solve(const struct world *w, bool messages)
{
	const char *match[] = { rule };
	struct cvl_sync_opts opts = {
		.estimator = "smooth", .match = match, .n_match = messages, .max_drift_ppm = 100
	};
	struct solved s;
	struct cvl_error err;

	if (!access(session, F_OK))
		nftw(session, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	if (world_run(w, session, NULL, &err) ||
	    cvl_session_open(&s.session, session, NULL, &err) ||
	    cvl_truth_load(&s.truth, s.session, &err) != 1 ||
	    cvl_sync_run(&s.sync, s.session, &opts, &err))
		fail_msg("%s", err.text);
	return s;
}

static void solved_free(struct solved *s)
{
	cvl_sync_free(s->sync);
	cvl_sync_free(s->truth);
	cvl_session_close(s->session);
}

static int64_t bound_at(const struct solved *s, const char *clock, int64_t t)
{
	const struct cvl_map *truth = cvl_sync_find(s->truth, clock)->map;
	int64_t bound;

	cvl_map_time(cvl_sync_find(s->sync, clock)->map,
		     cvl_map_tick(truth, (struct cvl_time){ t }), &bound);
	return bound;
}

static struct cvl_score score(const struct solved *s, int64_t from, int64_t to)
{
	struct cvl_score_opts opts = {
		.seed = 3, .has_from = true, .has_until = true, .from = { from }, .until = { to }
	};
	struct cvl_score score;
	struct cvl_error err;

	assert_int_equal(cvl_score(&score, s->sync, s->truth, s->session, &opts, NULL, &err), 0);
	return score;
}

static void messages_cut_the_bound_of_an_outage(void **state)
{
	struct world w = make_world();
	struct solved without, with;
	int64_t alone, together, middle = 15 * MINUTE_NS;
	struct cvl_score sc;

	(void)state;
	w.fault[w.n_faults++] = (struct world_fault){ .kind = WORLD_OUTAGE,
						      .who = "node2",
						      .at_ns = 8 * MINUTE_NS,
						      .for_ns = 14 * MINUTE_NS };
	without = solve(&w, false);
	alone = bound_at(&without, "node2", middle);
	assert_int_equal(cvl_sync_find(without.sync, "deaf")->verdict, CVL_UNSYNCHRONISED);
	solved_free(&without);
	with = solve(&w, true);
	together = bound_at(&with, "node2", middle);
	printf("14 min without beacons: bound %lld ns, with messages %lld ns\n", (long long)alone,
	       (long long)together);
	assert_true(together * 2 < alone);
	sc = score(&with, 9 * MINUTE_NS, 21 * MINUTE_NS);
	assert_true(sc.n > 1000);
	assert_true(sc.coverage >= 0.999);
	/* who hears no beacon is tied by its messages to those that do */
	assert_int_equal(cvl_sync_find(with.sync, "deaf")->verdict, CVL_GOOD);
	assert_int_equal(cvl_map_kind(cvl_sync_find(with.sync, "deaf")->map),
			 CVL_BOUND_STATISTICAL);
	solved_free(&with);
}

static void what_contradicts_is_told(void **state)
{
	struct world w = make_world();
	const struct cvl_clock_sync *c;
	struct solved s;

	(void)state;
	w.fault[w.n_faults++] =
		(struct world_fault){ .kind = WORLD_BIAS, .who = "node2", .amount = 1e6 };
	s = solve(&w, true);
	c = cvl_sync_find(s.sync, "node2");
	assert_int_equal(c->verdict, CVL_DEGRADED);
	assert_non_null(strstr(c->reason, "contradict"));
	solved_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_cut_the_bound_of_an_outage),
		cmocka_unit_test(what_contradicts_is_told),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
