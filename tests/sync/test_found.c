/* SPDX-License-Identifier: MIT */
/* Observations that are kept: the same result, from fewer bytes; never from what no longer holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/session.h>
#include <coeval/sync.h>

#include "../sim/world.h"
#include "core/random.h"
#include "test_draw.h"
#include "test_scratch.h"

#define RULES COEVAL_SOURCE_DIR "/examples/rules/radio.yaml"

static char session[300], kept[400];

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static void make_session(void)
{
	struct world w = { .name = "found", .seed = 4, .duration_ns = 300000000000 };
	struct cvl_error err;

	snprintf(session, sizeof(session), "%s/found", scratch);
	snprintf(kept, sizeof(kept), "%s/derived/observations", session);
	w.clocks[w.n_clocks++] =
		(struct world_clocks){ .name = "node",
				       .count = 3,
				       .rate_hz = 8000000,
				       .resolution = 1,
				       .bits = 64,
				       .oscillator = { .offset_sd_ppm = 30, .walk_ppb = 10 } };
	w.sender[w.n_senders++] = (struct world_sender){ .id = 1,
							 .period_ns = 1000000000,
							 .first_number = 1,
							 .heard_by = "*",
							 .receiver = { .normal_ns = 400 } };
	w.pulse[w.n_pulses++] = (struct world_pulse){ .line = "PPS",
						      .clocks = "node1",
						      .period_ns = 1000000000,
						      .width_ns = 100000000,
						      .jitter = { .normal_ns = 50 } };
	w.message[w.n_messages++] = (struct world_message){ .from = "*",
							    .to = "*",
							    .per_second = 3,
							    .latency_min_ns = 5000,
							    .latency_exp_ns = 20000,
							    .back_factor = 1 };
	w.fault[w.n_faults++] = (struct world_fault){ .kind = WORLD_SLIP,
						      .who = "node2",
						      .at_ns = 60000000000,
						      .for_ns = 2000000000,
						      .amount = 1000 };
	if (access(session, F_OK))
		ok(world_run(&w, session, NULL, &err), &err);
}

/* A digest of the maps, verdicts and counts that a synchronisation finds. */
static uint64_t solve(bool pulses, bool messages)
{
	const char *match[] = { RULES };
	struct cvl_sync_opts opts = {
		.match = match,
		.n_match = messages,
		.max_drift_ppm = 150,
		.n_pulse = pulses,
		.pulse = { { .line = "PPS", .rising = true, .period_ns = 1000000000 } }
	};
	uint64_t hash = 1;
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct cvl_error err;

	ok(cvl_session_open(&s, session, NULL, &err), &err);
	ok(cvl_sync_run(&sync, s, &opts, &err), &err);
	for (const char *t = sync->settings; *t; t++)
		hash = (hash ^ (uint8_t)*t) * 0x100000001b3u;
	for (size_t c = 0; c < sync->n; c++) {
		hash = (hash ^ (uint64_t)sync->clock[c].verdict) * 0x100000001b3u;
		hash = (hash ^ sync->clock[c].used) * 0x100000001b3u;
		for (uint64_t tick = 0; sync->clock[c].map && tick < 2400000000; tick += 7777777) {
			int64_t bound, t;

			t = cvl_map_time(sync->clock[c].map, (struct cvl_tick){ tick }, &bound).ns;
			hash = (hash ^ (uint64_t)t) * 0x9e3779b97f4a7c15u;
			hash = (hash ^ (uint64_t)bound) * 0x9e3779b97f4a7c15u;
		}
	}
	cvl_sync_free(sync);
	cvl_session_close(s);
	return hash;
}

static struct stat look(void)
{
	struct stat st = { 0 };

	if (stat(kept, &st))
		st.st_ino = 0;
	return st;
}

static void the_same_is_found(void **state)
{
	uint64_t first;
	struct stat st;

	(void)state;
	make_session();
	for (int rules = 0; rules < 4; rules++) {
		unlink(kept);
		first = solve(rules & 1, rules & 2);
		st = look();
		assert_int_not_equal(st.st_ino, 0);
		assert_int_equal(solve(rules & 1, rules & 2), first);
		assert_int_equal(look().st_ino, st.st_ino); /* it was not written again */
	}
}

static void other_rules_find_anew(void **state)
{
	uint64_t want[2];
	struct stat st;

	(void)state;
	make_session();
	for (int k = 0; k < 2; k++) {
		unlink(kept);
		want[k] = solve(true, k);
	}
	assert_int_not_equal(want[0], want[1]);
	for (int k = 0; k < 6; k++) {
		st = look();
		assert_int_equal(solve(true, k & 1), want[k & 1]);
		assert_int_not_equal(look().st_ino, st.st_ino);
	}
}

static void a_changed_stream_is_read_again(void **state)
{
	char path[400];
	struct stat st;
	uint64_t want;

	(void)state;
	make_session();
	want = solve(true, true);
	st = look();
	snprintf(path, sizeof(path), "%s/traces/node2/stream", session);
	assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
	assert_int_equal(solve(true, true), want);
	assert_int_not_equal(look().st_ino, st.st_ino);
}

static void damage_costs_time_alone(void **state)
{
	struct draw d = { draw_seed() };
	uint64_t want;
	struct stat st;

	(void)state;
	make_session();
	unlink(kept);
	want = solve(true, true);
	for (int k = 0; k < 25; k++) {
		FILE *f = fopen(kept, "r+");
		long at;
		int byte;

		assert_non_null(f);
		st = look();
		at = (long)(draw_u64(&d) % (uint64_t)st.st_size);
		if (k % 5 == 4) {
			assert_int_equal(ftruncate(fileno(f), at), 0);
		} else {
			fseek(f, at, SEEK_SET);
			byte = fgetc(f);
			fseek(f, at, SEEK_SET);
			fputc(byte ^ 1 << draw_u64(&d) % 8, f);
		}
		fclose(f);
		assert_int_equal(solve(true, true), want);
		assert_int_not_equal(look().st_ino, st.st_ino);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_is_found),
		cmocka_unit_test(other_rules_find_anew),
		cmocka_unit_test(a_changed_stream_is_read_again),
		cmocka_unit_test(damage_costs_time_alone),
	};

	return cmocka_run_group_tests_name("found", tests, make_scratch, remove_scratch);
}
