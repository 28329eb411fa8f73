/* SPDX-License-Identifier: MIT */
/* Where one node has a GPS second, all nodes' times are those of UTC. */
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

#include "core/random.h"
#include "../sim/world.h"

#define MINUTE_NS INT64_C(60000000000)
#define HALF_TICK_NS 63
#define SEEDS 6

struct tally {
	uint64_t good, all;
	int64_t worst;
};

static char dir[256], session[300];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/coeval-utc-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(session, sizeof(session), "%s/s", dir);
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
 * How many of the stamps that random happenings get are within their bounds of UTC, over all
 * clocks.
 */
static void count(const struct cvl_sync *sync, const struct cvl_sync *truth, struct tally *tally)
{
	struct sim_random r = { 9 };

	for (size_t c = 0; c < sync->n; c++) {
		size_t n;

		assert_non_null(sync->clock[c].map);
		n = cvl_map_ends(truth->clock[c].map, NULL, NULL);
		for (size_t i = 0; i + 1 < n; i++) {
			struct cvl_knot a, b;
			int64_t bound, off;
			struct cvl_time t;

			cvl_map_knot(truth->clock[c].map, i, &a, NULL);
			cvl_map_knot(truth->clock[c].map, i + 1, &b, NULL);
			t.ns = a.time.ns +
			       (int64_t)(sim_uniform(&r) * (double)(b.time.ns - a.time.ns));
			off = cvl_map_time(sync->clock[c].map, cvl_map_tick(truth->clock[c].map, t),
					   &bound)
				      .ns +
			      sync->epoch_unix_ns - t.ns - truth->epoch_unix_ns;
			off = off < 0 ? -off : off;
			tally->worst = off > tally->worst ? off : tally->worst;
			tally->good += off <= bound + HALF_TICK_NS;
			tally->all++;
		}
	}
}

static void run_world(uint64_t seed, bool outage, struct tally *tally)
{
	struct cvl_sync_opts opts = {
		.n_pulse = 1,
		.pulse = { { .line = "PPS", .rising = true, .period_ns = 1000000000 } },
	};
	struct cvl_sync *sync, *truth;
	struct cvl_session *s;
	struct cvl_error err;
	struct world w;

	if (world_load(&w, COEVAL_SOURCE_DIR "/examples/worlds/quiet.yaml", &err))
		fail_msg("%s", err.text);
	w.seed = seed;
	w.clocks[0].count = 4;
	w.clocks[0].distance_m = 0;
	w.n_programs = w.n_faults = 0;
	w.duration_ns = 20 * MINUTE_NS;
	w.pulse[w.n_pulses++] = (struct world_pulse){ .line = "PPS",
						      .clocks = "node2",
						      .period_ns = 1000000000,
						      .width_ns = 100000000,
						      .jitter = { .normal_ns = 30 } };
	if (outage)
		w.fault[w.n_faults++] = (struct world_fault){ .kind = WORLD_OUTAGE,
							      .who = "node2",
							      .at_ns = 8 * MINUTE_NS,
							      .for_ns = 3 * MINUTE_NS };
	if (world_run(&w, session, NULL, &err) || cvl_session_open(&s, session, NULL, &err) ||
	    cvl_truth_load(&truth, s, &err) != 1 || cvl_sync_run(&sync, s, &opts, &err))
		fail_msg("%s", err.text);
	assert_string_equal(sync->reference, "pulse PPS");
	count(sync, truth, tally);
	cvl_sync_free(sync);
	cvl_sync_free(truth);
	cvl_session_close(s);
	nftw(session, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/*
 * The error of the sender's time is common to all and lasts: seeds are independent, times are not.
 */
static void run_seeds(bool outage, double share, int64_t worst)
{
	struct tally tally = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_world(seed, outage, &tally);
	printf("UTC%s: %.3f %% of %llu within their bounds, worst %lld ns, seeds 1 to %d\n",
	       outage ? ", 3 min without" : "", 100 * (double)tally.good / (double)tally.all,
	       (unsigned long long)tally.all, (long long)tally.worst, SEEDS);
	assert_true((double)tally.good >= share * (double)tally.all);
	assert_true(tally.worst <= worst);
}

static void one_gps_second_ties_all_to_utc(void **state)
{
	(void)state;
	run_seeds(false, 0.999, 1000);
}

static void utc_lasts_while_the_gps_is_away(void **state)
{
	(void)state;
	run_seeds(true, 0.995, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_gps_second_ties_all_to_utc),
		cmocka_unit_test(utc_lasts_while_the_gps_is_away),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
