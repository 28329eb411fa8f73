/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "sync/grace_clock.h"

#include "test_draw.h"

#define S GRACE_SECOND

static void same(const struct grace_clock *a, const struct grace_clock *b, const char *where)
{
	if (a->state == b->state && a->ticks_nominal == b->ticks_nominal &&
	    a->ticks_actual == b->ticks_actual && a->seconds == b->seconds &&
	    a->seconds_previous == b->seconds_previous && a->accumulator == b->accumulator &&
	    a->freq_adj == b->freq_adj && a->offset_adj == b->offset_adj &&
	    a->error_remaining == b->error_remaining)
		return;
	fail_msg("%s, rate %" PRIu64 ": seconds %" PRIu64 " %" PRIu64 ", accumulator %" PRId64
		 " %" PRId64 ", offset_adj %" PRId64 " %" PRId64 ", error_remaining %" PRId64
		 " %" PRId64 ", ticks_actual %" PRIu64 " %" PRIu64,
		 where, a->ticks_nominal, a->seconds, b->seconds, a->accumulator, b->accumulator,
		 a->offset_adj, b->offset_adj, a->error_remaining, b->error_remaining,
		 a->ticks_actual, b->ticks_actual);
}

/* What the header promises of any state. */
static void sane(const struct grace_clock *g)
{
	if (g->accumulator > S || g->accumulator <= -S / 4 || g->freq_adj < 0 ||
	    g->freq_adj > S / 4 || g->freq_adj - g->offset_adj > S || g->error_remaining < -S ||
	    g->error_remaining > S + S / 4)
		fail_msg("accumulator %" PRId64 ", freq_adj %" PRId64 ", offset_adj %" PRId64
			 ", error_remaining %" PRId64,
			 g->accumulator, g->freq_adj, g->offset_adj, g->error_remaining);
}

/* ---- worlds: a clock with an error and the beacons that it hears ---- */

enum trouble {
	NORMAL = 0,
	MISSED = 1,
	TWICE = 2,
	WRONG = 4,
	ABSURD = 8,
	ALL = 15,
};

struct world {
	struct draw *draw;
	uint64_t rate_hz;
	double ppm;      /* positive: the clock runs fast */
	double jitter_s; /* of a beacon, up to */
	unsigned trouble;
	uint64_t start; /* seconds that the first beacon says */
};

static double uniform(struct draw *d)
{
	return (double)(draw_u64(d) >> 11) / 9007199254740992.0;
}

static uint64_t random_rate(struct draw *d, uint64_t limit)
{
	static const uint64_t usual[] = { 1000,    1024,    8192,     32768,    48000,   1000000,
					  2000000, 8000000, 12000000, 16000000, 24000000 };
	uint64_t rate = usual[draw_below(d, sizeof(usual) / sizeof(*usual))];

	if (draw_below(d, 2) || rate > limit)
		rate = 1000 + draw_size(d, 25) % (limit - 999);
	return rate;
}

static struct world random_world(struct draw *d, uint64_t rate_limit, unsigned trouble)
{
	return (struct world){
		.draw = d,
		.rate_hz = random_rate(d, rate_limit),
		.ppm = 400 * uniform(d) - 200,
		.jitter_s = draw_below(d, 2) ? 20e-6 : 1e-3,
		.trouble = trouble,
		.start = draw_below(d, 3) ? draw_size(d, 32) : draw_size(d, 64),
	};
}

/* Tick of the clock at which beacon @k is heard. */
static uint64_t beacon_tick(const struct world *w, uint64_t k)
{
	double jitter = w->jitter_s * uniform(w->draw);

	return (uint64_t)(((double)k + 0.5 + jitter) * (double)w->rate_hz * (1 + w->ppm * 1e-6));
}

static bool happens(const struct world *w, enum trouble what)
{
	return (w->trouble & what) && draw_below(w->draw, 8) == 0;
}

static uint64_t beacon_says(const struct world *w, uint64_t k)
{
	uint64_t right = w->start + k;

	if (happens(w, ABSURD))
		return draw_size(w->draw, 64);
	if (happens(w, WRONG))
		return right + draw_below(w->draw, 7) - 3;
	return right;
}

/* ---- the closed form ---- */

/* Two clocks that must stay the same: one goes tick by tick. */
struct pair {
	struct grace_clock plain, quick;
};

static void pair_init(struct pair *p, uint64_t rate_hz)
{
	grace_init(&p->plain, rate_hz);
	grace_init(&p->quick, rate_hz);
}

static void pair_run(struct pair *p, uint64_t ticks)
{
	for (uint64_t i = 0; i < ticks; i++)
		grace_tick(&p->plain);
	grace_run(&p->quick, ticks);
	same(&p->plain, &p->quick, "after ticks");
	sane(&p->plain);
}

/* @ticks, cut at random places and beside the end of a correction. */
static void pair_run_cut(struct pair *p, struct draw *d, uint64_t ticks)
{
	while (ticks) {
		uint64_t left = grace_correction_left(&p->quick), part = draw_below(d, ticks + 1);

		switch (draw_below(d, 8)) {
		case 0: part = left + draw_below(d, 3) - (left > 0); break;
		case 1: part = draw_size(d, 4); break;
		case 2: part = ticks; break;
		default: break;
		}
		part = part < ticks ? part : ticks;
		pair_run(p, part);
		ticks -= part;
	}
}

static void pair_beacon(struct pair *p, uint64_t seconds)
{
	grace_beacon(&p->plain, seconds);
	grace_beacon(&p->quick, seconds);
	same(&p->plain, &p->quick, "after a beacon");
	sane(&p->plain);
}

static void pair_live(struct pair *p, const struct world *w, uint64_t beacons)
{
	uint64_t now = 0;

	pair_init(p, w->rate_hz);
	for (uint64_t k = 0; k < beacons; k++) {
		uint64_t at = beacon_tick(w, k);

		if (happens(w, MISSED))
			continue;
		if (at > now) {
			pair_run_cut(p, w->draw, at - now);
			now = at;
		}
		pair_beacon(p, beacon_says(w, k));
		if (happens(w, TWICE)) {
			uint64_t gap = draw_size(w->draw, 9);

			pair_run_cut(p, w->draw, gap);
			now += gap;
			pair_beacon(p, beacon_says(w, k));
		}
	}
}

static void closed_form_equals_ticks_for_hours_at_low_rates(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct world w = random_world(&d, 2000, i % 2 ? ALL : NORMAL);
		struct pair p;

		pair_live(&p, &w, 3600);
	}
}

static void closed_form_equals_ticks_at_8_mhz(void **state)
{
	struct draw d = draw_begin(2);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct world w = random_world(&d, 24000000, i % 2 ? MISSED | TWICE : NORMAL);
		struct pair p;

		w.rate_hz = 8000000;
		pair_live(&p, &w, 5);
	}
}

static void closed_form_equals_ticks_at_any_rate(void **state)
{
	struct draw d = draw_begin(3);
	uint64_t ticks = 30000000;

	(void)state;
	while (ticks > 1000) {
		struct world w = random_world(&d, 24000000, (unsigned)draw_below(&d, ALL + 1));
		uint64_t beacons = 2 + draw_below(&d, 20), cost = beacons * w.rate_hz;
		struct pair p;

		if (cost > ticks) {
			w.rate_hz = GRACE_RATE_MIN + draw_below(&d, 5000);
			cost = beacons * w.rate_hz;
		}
		pair_live(&p, &w, beacons);
		ticks -= cost < ticks ? cost : ticks;
	}
}

/* Beacons that come within a few ticks: states that no sane sender brings about. */
static void closed_form_equals_ticks_among_absurd_beacons(void **state)
{
	struct draw d = draw_begin(4);

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct pair p;

		pair_init(&p, draw_below(&d, 2) ? random_rate(&d, 24000000) :
						  GRACE_RATE_MIN + draw_below(&d, 100));
		for (int k = 0; k < 30; k++) {
			switch (draw_below(&d, 4)) {
			case 0: pair_beacon(&p, draw_size(&d, 64)); break;
			case 1: pair_beacon(&p, p.plain.seconds); break;
			case 2: pair_beacon(&p, p.plain.seconds + 1); break;
			default: pair_beacon(&p, p.plain.seconds_previous + draw_below(&d, 4) - 1);
			}
			pair_run_cut(&p, &d, draw_size(&d, 8));
		}
	}
}

/* Runs too long to be ticked: in one go and in two they end alike, and nothing overflows. */
static void any_beacons_and_any_runs_never_overflow(void **state)
{
	struct draw d = draw_begin(5);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t rate = draw_below(&d, 2) ? random_rate(&d, 24000000) :
						    GRACE_RATE_MIN + draw_size(&d, 33);
		struct grace_clock once, cut;
		uint32_t frac;

		grace_init(&once, rate < GRACE_RATE_MAX ? rate : GRACE_RATE_MAX);
		for (int k = 0; k < 20; k++) {
			uint64_t ticks = draw_size(&d, 64), first = draw_size(&d, 64);
			uint64_t left;

			grace_beacon(&once, draw_below(&d, 2) ? draw_size(&d, 64) :
								once.seconds + draw_below(&d, 2));
			sane(&once);
			left = grace_correction_left(&once);
			if (draw_below(&d, 2))
				first = left + draw_below(&d, 3) - (left > 0);
			first = first < ticks ? first : ticks;
			cut = once;
			grace_run(&cut, first);
			sane(&cut);
			grace_run(&cut, ticks - first);
			grace_run(&once, ticks);
			same(&once, &cut, "one run and two");
			sane(&once);
			assert_true(grace_time_ns(&once, &frac) >= -250000000);
		}
	}
}

/* ---- the letter of the paper ---- */

/* The second is passed when the accumulator exceeds it, not when it reaches it. */
static void second_passes_one_tick_after_it_is_full(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, 1024);
	pair_run(&p, 5000);
	assert_int_equal(p.plain.ticks_actual, 0);
	assert_int_equal(p.plain.state, GRACE_WAIT);
	pair_beacon(&p, 7);
	assert_int_equal(p.plain.state, GRACE_OFFSET);
	pair_run(&p, 1024);
	assert_true(p.plain.seconds == 7 && p.plain.accumulator == S);
	assert_true(grace_time_ns(&p.plain, NULL) == 8000000000);
	pair_run(&p, 1);
	assert_true(p.plain.seconds == 8 && p.plain.accumulator == S / 1024);
	pair_run(&p, 1024000);
	assert_true(p.plain.seconds == 1008 && p.plain.accumulator == S / 1024);
}

/* To the nearest, halves away from zero. */
static int64_t nearest(__int128 a, __int128 b)
{
	return (int64_t)((a + (a < 0 ? -b / 2 : b / 2)) / b);
}

/* A clock of 1024 Hz whose seconds have 1025, 1023 and 1024 ticks, by hand. */
static void factor_weight_and_phase_are_the_papers(void **state)
{
	const int64_t tick = S / 1024;
	int64_t freq = nearest(S, 1025), at;
	struct pair p;

	(void)state;
	pair_init(&p, 1024);
	pair_beacon(&p, 100);
	pair_run(&p, 1025);
	pair_beacon(&p, 101);
	assert_int_equal(p.plain.state, GRACE_FREQ);
	assert_int_equal(p.plain.seconds, 101);
	assert_true(p.plain.accumulator == tick && p.plain.error_remaining == tick);
	assert_true(p.plain.offset_adj == tick / 1024 && p.plain.freq_adj == freq);
	assert_int_equal(grace_correction_left(&p.plain), 1024);

	/* one tick before the correction would end */
	pair_run(&p, 1023);
	at = tick + 1023 * (freq - tick / 1024);
	assert_int_equal(p.plain.seconds, 101);
	assert_true(p.plain.accumulator == at && p.plain.error_remaining == tick / 1024);
	assert_int_equal(grace_correction_left(&p.plain), 1);
	pair_beacon(&p, 102);
	freq = nearest((__int128)freq * 1023 + (__int128)S * 9, 10230);
	assert_true(p.plain.freq_adj == freq);
	assert_true(p.plain.error_remaining == S - at);
	assert_true(p.plain.offset_adj == nearest(at - S, 1024));
	assert_true(p.plain.offset_adj < 0);
	assert_int_equal(p.plain.ticks_actual, 0);

	/* time is added until the phase is right */
	pair_run(&p, 1026);
	assert_int_equal(p.plain.offset_adj, 0);
	assert_true(p.plain.error_remaining <= 0);
	pair_run(&p, 1022);
	pair_beacon(&p, 104);
	freq = nearest((__int128)freq + tick * 9, 10);
	assert_true(p.plain.freq_adj == freq);

	/* seconds that go back weigh against a frequency, and do not make it negative */
	pair_run(&p, 20480);
	pair_beacon(&p, 103);
	freq = nearest((__int128)freq * 20480 - (__int128)S * 9, 204800);
	assert_true(p.plain.freq_adj == freq && freq > 0);
	pair_run(&p, 1024);
	pair_beacon(&p, 102);
	assert_int_equal(p.plain.freq_adj, 0);
}

static void seconds_that_are_far_off_are_only_set(void **state)
{
	static const uint64_t says[] = { 102, 150, 99, 3, 0, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++) {
		struct pair p;

		pair_init(&p, 1024);
		pair_beacon(&p, 100);
		pair_run(&p, 512);
		pair_beacon(&p, says[i]);
		assert_true(p.plain.seconds == says[i]);
		assert_true(p.plain.accumulator == S / 2);
		assert_true(p.plain.offset_adj == 0 && p.plain.error_remaining == 0);
		assert_int_equal(grace_correction_left(&p.plain), 0);
	}
}

/* Two beacons in one sample: no factor can be had from the second. */
static void no_ticks_no_factor(void **state)
{
	struct pair p;
	int64_t freq;

	(void)state;
	pair_init(&p, 8000000);
	freq = p.plain.freq_adj;
	pair_beacon(&p, 5);
	pair_beacon(&p, 6);
	assert_true(p.plain.freq_adj == freq);
	assert_int_equal(p.plain.state, GRACE_OFFSET);
	assert_true(p.plain.error_remaining == S && p.plain.offset_adj == -freq);
	assert_int_equal(p.plain.seconds_previous, 6);
}

/* A phase that is corrected by more than the frequency turns the clock back, and it ends. */
static void step_may_be_negative(void **state)
{
	struct pair p;
	int64_t before;

	(void)state;
	pair_init(&p, 1000);
	pair_beacon(&p, 10);
	pair_run(&p, 900);
	pair_beacon(&p, 10); /* a factor of 0 and an error of 0.9 s */
	assert_int_equal(p.plain.freq_adj, 0);
	before = grace_time_ns(&p.plain, NULL);
	pair_run(&p, 500);
	assert_true(grace_time_ns(&p.plain, NULL) < before - 400000000);
	pair_run(&p, 5000);
	assert_true(llabs(grace_time_ns(&p.plain, NULL) - 10000000000) <= 900001);
	assert_int_equal(p.plain.offset_adj, 0);
}

static void time_is_equation_1_with_its_fraction(void **state)
{
	struct draw d = draw_begin(6);
	struct grace_clock g;
	uint32_t frac;

	(void)state;
	grace_init(&g, 8000000);
	for (int i = 0; i < 100000; i++) {
		__int128 exact, fine; /* both in 2^-60 ns */

		g.seconds = draw_size(&d, 33);
		g.accumulator = (int64_t)draw_size(&d, 60) - (int64_t)draw_size(&d, 57);
		exact = ((__int128)g.seconds * S + g.accumulator) * 1000000000;
		fine = (__int128)grace_time_ns(&g, &frac) * S + (__int128)frac * (1 << 28);
		assert_true(fine <= exact && exact - fine < 1 << 28);
	}
	g.seconds = 9223372036;
	g.accumulator = S / 2;
	assert_true(grace_time_ns(&g, NULL) == 9223372036500000000);
	g.accumulator = S;
	assert_true(grace_time_ns(&g, &frac) == INT64_MAX && frac == UINT32_MAX);
	g.seconds = UINT64_MAX;
	assert_true(grace_time_ns(&g, &frac) == INT64_MAX && frac == UINT32_MAX);
}

/* ---- how good the clock is ---- */

/* Exact ns at @tick of a clock with @per_s ticks a second, whose tick 0 is at @start seconds. */
static int64_t true_ns(uint64_t tick, uint64_t per_s, uint64_t start)
{
	return (int64_t)((unsigned __int128)tick * 1000000000 / per_s + start * 1000000000);
}

static void perfect_clock_is_exact_to_a_nanosecond(void **state)
{
	struct draw d = draw_begin(7);

	(void)state;
	for (int i = 0; i < 50; i++) {
		uint64_t rate = random_rate(&d, 24000000), start = draw_size(&d, 32), now = 0;
		struct grace_clock g;

		grace_init(&g, rate);
		for (uint64_t s = 0; s < 600; s++) {
			grace_beacon(&g, start + s);
			for (int k = 0; k < 10; k++) {
				uint64_t next =
					k < 9 ? now + draw_below(&d, rate / 10) : (s + 1) * rate;

				grace_run(&g, next - now);
				now = next;
				if (llabs(grace_time_ns(&g, NULL) - true_ns(now, rate, start)) > 1)
					fail_msg("rate %" PRIu64 ", tick %" PRIu64 ": %" PRId64,
						 rate, now, grace_time_ns(&g, NULL));
			}
		}
	}
}

/* The greatest error in ns in the second after the beacon that the clock has just heard. */
static int64_t worst_in_second(struct grace_clock *g, uint64_t *now, uint64_t per_s)
{
	uint64_t end = *now + per_s;
	int64_t worst = 0;

	for (; *now < end; *now += per_s / 100) {
		int64_t off = llabs(grace_time_ns(g, NULL) - true_ns(*now, per_s, 0));

		worst = off > worst ? off : worst;
		grace_run(g, per_s / 100);
	}
	return worst;
}

static void constant_frequency_error_is_removed(void **state)
{
	static const uint64_t per_s[] = { 8001200, 7998800 }; /* 150 ppm fast, slow */

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct grace_clock g;
		uint64_t now = 0;

		grace_init(&g, 8000000);
		for (uint64_t s = 0; s < 100; s++) {
			int64_t worst;

			grace_beacon(&g, s);
			worst = worst_in_second(&g, &now, per_s[i]);
			if (s == 0) /* not known yet */
				assert_in_range(worst, 140000, 150000);
			if (s >= 3 && worst > 2)
				fail_msg("%" PRId64 " ns off in second %" PRIu64, worst, s);
		}
	}
}

static void missed_beacons_are_recovered_from(void **state)
{
	(void)state;
	for (uint64_t missed = 1; missed <= 4; missed++) {
		struct grace_clock g;
		uint64_t now = 0;

		grace_init(&g, 8000000);
		for (uint64_t s = 0; s < 60; s++) {
			uint64_t per_s = 8000800;
			int64_t worst;

			if (s < 20 || s >= 20 + missed)
				grace_beacon(&g, s);
			worst = worst_in_second(&g, &now, per_s);
			if (s >= 3 && worst > 2)
				fail_msg("%" PRIu64 " missed: %" PRId64
					 " ns off in second %" PRIu64,
					 missed, worst, s);
		}
	}
}

/* What a wrong beacon does to the frequency goes down to a tenth each second. */
static void wrong_second_is_forgotten_after_12_seconds(void **state)
{
	static const int64_t wrong[] = { 1, -1, 2, 1000, -15 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct grace_clock g;
		uint64_t now = 0;

		grace_init(&g, 8000000);
		for (uint64_t s = 0; s < 60; s++) {
			int64_t worst;

			grace_beacon(&g, s == 20 ? s + (uint64_t)wrong[i] : s);
			worst = worst_in_second(&g, &now, 8000800);
			if ((s >= 3 && s < 20) || s >= 20 + 12)
				if (worst > 2)
					fail_msg("by %" PRId64 ": %" PRId64
						 " ns off in second %" PRIu64,
						 wrong[i], worst, s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_form_equals_ticks_for_hours_at_low_rates),
		cmocka_unit_test(closed_form_equals_ticks_at_8_mhz),
		cmocka_unit_test(closed_form_equals_ticks_at_any_rate),
		cmocka_unit_test(closed_form_equals_ticks_among_absurd_beacons),
		cmocka_unit_test(any_beacons_and_any_runs_never_overflow),
		cmocka_unit_test(second_passes_one_tick_after_it_is_full),
		cmocka_unit_test(factor_weight_and_phase_are_the_papers),
		cmocka_unit_test(seconds_that_are_far_off_are_only_set),
		cmocka_unit_test(no_ticks_no_factor),
		cmocka_unit_test(step_may_be_negative),
		cmocka_unit_test(time_is_equation_1_with_its_fraction),
		cmocka_unit_test(perfect_clock_is_exact_to_a_nanosecond),
		cmocka_unit_test(constant_frequency_error_is_removed),
		cmocka_unit_test(missed_beacons_are_recovered_from),
		cmocka_unit_test(wrong_second_is_forgotten_after_12_seconds),
	};

	draw_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
