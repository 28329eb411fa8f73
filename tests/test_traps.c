/* SPDX-License-Identifier: MIT */
/*
 * Worlds made to mislead: nothing that is called proven or good may be wrong in them, and what something decides is decided. COEVAL_WORLDS
 * says of how many each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <coeval/timeline.h>

#include "sim/trap.h"

#include "test_scratch.h"

#define TIMES 24 /* at which a pair of clocks is looked at */

/* Over all kinds: what something decides is good, and bounds hold. */
static struct {
	unsigned decidable, good;
	uint64_t likely, outside;
} all;

struct tally {
	unsigned worlds, clocks, good, decidable, decidable_good, ambiguous;
	uint64_t proven, proven_outside, likely, likely_outside;
	unsigned by_period; /* clocks called good whose times are off by half a period or more */
	uint64_t first_bad; /* seed */
};

static uint64_t first_seed(void)
{
	const char *s = getenv("COEVAL_SEED");

	return s ? strtoull(s, NULL, 10) : (uint64_t)time(NULL);
}

static unsigned worlds(void)
{
	const char *s = getenv("COEVAL_WORLDS");

	return s ? (unsigned)strtoul(s, NULL, 10) : 60;
}

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static struct cvl_bound bound_of(const struct cvl_clock_sync *c, struct cvl_tick tick,
				 uint64_t rate_hz)
{
	struct cvl_bound b = { .kind = cvl_map_kind(c->map),
			       .capture = (int64_t)(1000000000 / rate_hz) + 1,
			       .group = c->group,
			       .reference = c->reference_ns,
			       .reference_is_max = c->reference_is_max };

	cvl_map_time(c->map, tick, &b.map);
	return b;
}

static void see_pair(const struct trap *w, const struct cvl_sync *sync, size_t a, size_t b,
		     struct tally *t)
{
	const struct cvl_clock_sync *ca = &sync->clock[a], *cb = &sync->clock[b];
	double from = fmax(w->clock[a].start_s, w->clock[b].start_s) + 0.01,
	       to = fmin(w->clock[a].end_s, w->clock[b].end_s);
	bool good = ca->verdict == CVL_GOOD && cb->verdict == CVL_GOOD, off = false;

	for (int k = 0; k < TIMES; k++) {
		double at = from + (to - from) * (k + 0.5) / TIMES;
		struct cvl_tick ta = trap_tick(w, a, at), tb = trap_tick(w, b, at);
		struct cvl_bound ba = bound_of(ca, ta, w->clock[a].rate_hz),
				 bb = bound_of(cb, tb, w->clock[b].rate_hz);
		int64_t bound = cvl_bound_pair(ba, bb);
		int64_t apart =
			cvl_map_time(ca->map, ta, NULL).ns - cvl_map_time(cb->map, tb, NULL).ns;
		bool outside;

		if (bound == CVL_BOUND_UNKNOWN)
			continue;
		apart = apart < 0 ? -apart : apart;
		outside = apart > bound;
		if (ba.kind == CVL_BOUND_PROVEN && bb.kind == CVL_BOUND_PROVEN) {
			t->proven++;
			t->proven_outside += outside;
			if (outside && !t->first_bad)
				t->first_bad = w->seed;
		} else if (good) {
			t->likely++;
			t->likely_outside += outside;
			off = off || (double)apart > 0.3e9 * (w->period_s > 0 ? w->period_s : 1);
		}
	}
	t->by_period += off;
	if (off && !t->first_bad)
		t->first_bad = w->seed;
}

static void run_world(uint64_t seed, enum trap_ties ties, struct tally *t)
{
	static const char *path, *rules;
	char session[300], file[300];
	struct cvl_sync_opts opts = { 0 };
	struct cvl_session *s;
	struct cvl_sync *sync = NULL;
	struct cvl_error err;
	struct trap w;
	int rc;

	snprintf(session, sizeof(session), "%s/w", scratch);
	snprintf(file, sizeof(file), "%s/rules.yaml", scratch);
	path = session;
	rules = file;
	ok(trap_make(&w, seed, ties, path, &err), &err);
	if (*w.rules) {
		FILE *f = fopen(rules, "w");

		assert_non_null(f);
		fputs(w.rules, f);
		fclose(f);
		opts.match = &rules;
		opts.n_match = 1;
	}
	if (w.period_s > 0) {
		opts.n_pulse = 1;
		snprintf(opts.pulse[0].line, sizeof(opts.pulse[0].line), "PPS");
		opts.pulse[0].rising = true;
		opts.pulse[0].period_ns = w.stated_period_ns;
		opts.pulse[0].error_ns = (int64_t)(w.reference_s * 1e9);
	}
	if (w.align)
		snprintf(opts.align, sizeof(opts.align), "ALIGN");
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	rc = cvl_sync_run(&sync, s, &opts, &err);
	t->worlds++;
	if (rc && rc != CVL_E_NO)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
	for (size_t i = 0; sync && i < w.n; i++) {
		t->clocks++;
		t->good += sync->clock[i].verdict == CVL_GOOD;
		t->ambiguous += sync->clock[i].verdict == CVL_AMBIGUOUS;
		t->decidable += w.decidable && !w.disturbed;
		t->decidable_good +=
			w.decidable && !w.disturbed && sync->clock[i].verdict == CVL_GOOD;
		if (w.decidable && !w.disturbed && sync->clock[i].verdict != CVL_GOOD &&
		    getenv("COEVAL_SAY"))
			printf("seed %llu %s: %s\n", (unsigned long long)seed,
			       cvl_verdict_name(sync->clock[i].verdict), sync->clock[i].reason);
		for (size_t k = 0; k < i; k++)
			if (sync->clock[i].map && sync->clock[k].map)
				see_pair(&w, sync, k, i, t);
	}
	cvl_sync_free(sync);
	cvl_session_close(s);
	nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void run_kind(enum trap_ties ties)
{
	struct tally t = { 0 };
	uint64_t first = first_seed();

	for (unsigned i = 0; i < worlds(); i++)
		run_world(first + i, ties, &t);
	printf("%s, seeds from %llu: %u worlds, %u clocks, %u good, %u ambiguous; proven %llu, outside %llu; 99.9 %% %llu, outside %llu; off by a "
	       "period %u; decidable %u of %u good; first bad seed %llu\n",
	       trap_names[ties], (unsigned long long)first, t.worlds, t.clocks, t.good, t.ambiguous,
	       (unsigned long long)t.proven, (unsigned long long)t.proven_outside,
	       (unsigned long long)t.likely, (unsigned long long)t.likely_outside, t.by_period,
	       t.decidable_good, t.decidable, (unsigned long long)t.first_bad);
	assert_int_equal(t.proven_outside, 0);
	assert_int_equal(t.by_period, 0);
	assert_true((double)t.likely_outside <= 0.01 * (double)t.likely + 3);
	assert_true(t.decidable_good >= 0.9 * t.decidable);
	all.decidable += t.decidable;
	all.good += t.decidable_good;
	all.likely += t.likely;
	all.outside += t.likely_outside;
}

static void pulses_alone(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES);
}

static void pulses_and_claims(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_CLAIMS);
}

static void references_of_their_own(void **state)
{
	(void)state;
	run_kind(TRAP_REFERENCES);
}

static void pulses_and_beacons(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_BEACONS);
}

static void pulses_and_an_edge(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_ALIGN);
}

static void pulses_and_messages(void **state)
{
	(void)state;
	run_kind(TRAP_PULSES_MESSAGES);
}

static void messages(void **state)
{
	(void)state;
	run_kind(TRAP_MESSAGES);
}

static void keys_that_wrap(void **state)
{
	(void)state;
	run_kind(TRAP_WRAPS);
}

static void keys_that_wrap_and_claims(void **state)
{
	(void)state;
	run_kind(TRAP_WRAPS_CLAIMS);
}

static void keys_of_several_hops(void **state)
{
	(void)state;
	run_kind(TRAP_HOPS);
}

/* The last of the tests. Pairs of one world err together: 24 times of one may lie outside at once. */
static void over_all_worlds(void **state)
{
	(void)state;
	printf("decidable %u, of these good %u; 99.9 %% bounds %llu, outside %llu\n", all.decidable,
	       all.good, (unsigned long long)all.likely, (unsigned long long)all.outside);
	assert_true(all.good >= 0.98 * all.decidable);
	assert_true((double)all.outside <= 0.001 * (double)all.likely + 2 * TIMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pulses_alone),
		cmocka_unit_test(pulses_and_claims),
		cmocka_unit_test(references_of_their_own),
		cmocka_unit_test(pulses_and_beacons),
		cmocka_unit_test(pulses_and_an_edge),
		cmocka_unit_test(pulses_and_messages),
		cmocka_unit_test(messages),
		cmocka_unit_test(keys_that_wrap),
		cmocka_unit_test(keys_that_wrap_and_claims),
		cmocka_unit_test(keys_of_several_hops),
		cmocka_unit_test(over_all_worlds),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
