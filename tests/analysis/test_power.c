/* SPDX-License-Identifier: MIT */
/*
 * Energies lie where they are said to lie: a node whose power follows its line and more, drawn from
 * a seed, watched by a logic analyzer and by a meter whose clocks err, against the integral of what
 * was drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/power.h>
#include <coeval/sync.h>

#include "core/random.h"
#include "test_draw.h"

#define SEED draw_seed()
#define ROUNDS 24
#define SEGMENTS 160
#define LOGIC_HZ 1000000
#define METER_HZ 10000000
#define METER_PPM 80e-6
#define METER_OFF_S 0.125
#define SAMPLE_S 1e-3
#define NOISE_W 0.4e-3
#define ROUNDED_W 0.1e-3
#define VOLTS 3.0

/* The line is high in every second segment. */
struct target {
	double end[SEGMENTS], watt[SEGMENTS];
	double length;
};

struct world {
	struct cvl_session *s;
	char dir[64];
	struct target t;
	struct sim_random random;
	bool tied, noisy, volts;
	double lose_from, lose_to;   /* of the readings */
	double blind_from, blind_to; /* of the line */
};

static const struct cvl_origin origin = { .format = "test", .path = "test" };

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static double watt_at(const struct target *t, double at)
{
	size_t i = 0;

	while (i + 1 < SEGMENTS && at > t->end[i])
		i++;
	return t->watt[i];
}

static double true_joule(const struct target *t, double from, double to)
{
	double joule = 0;

	for (size_t i = 0; i < SEGMENTS; i++) {
		double a = fmax(from, i ? t->end[i - 1] : -10);
		double b = fmin(to, i + 1 < SEGMENTS ? t->end[i] : 1e9);

		joule += a < b ? t->watt[i] * (b - a) : 0;
	}
	return joule;
}

static void draw_target(struct world *w)
{
	double at = 0;

	for (size_t i = 0; i < SEGMENTS; i++) {
		at += 2e-3 + 30e-3 * sim_uniform(&w->random);
		w->t.end[i] = at;
		w->t.watt[i] = i % 2 ? 20e-3 + 30e-3 * sim_uniform(&w->random) :
				       1e-3 * sim_uniform(&w->random);
	}
	w->t.length = at;
}

static struct cvl_tick meter(double at)
{
	return (struct cvl_tick){ (uint64_t)((at + METER_OFF_S) * METER_HZ * (1 + METER_PPM)) };
}

static void watch_line(struct world *w)
{
	static const char *const lines[] = { "other", "LED" };
	const struct cvl_store_desc desc = {
		.clock = "logic", .node = "n1", .rate_hz = LOGIC_HZ, .lines = lines, .n_lines = 2
	};
	double beacon = 0.1;
	struct cvl_writer *out;
	struct cvl_error err;
	uint64_t seq = 1;

	ok(cvl_session_add(w->s, &desc, &origin, &out, &err), &err);
	ok(cvl_writer_levels(out, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (size_t i = 0; i < SEGMENTS; i++) {
		struct cvl_tick t = { (uint64_t)(w->t.end[i] * LOGIC_HZ) };
		uint64_t levels = i % 2 ? 0 : 2;

		for (; w->tied && beacon <= w->t.end[i]; beacon += 0.1)
			ok(cvl_writer_beacon(out,
					     (struct cvl_tick){ (uint64_t)(beacon * LOGIC_HZ) }, 1,
					     seq++, &err),
			   &err);
		if (w->t.end[i] > w->blind_from && w->t.end[i] < w->blind_to)
			continue;
		if (w->blind_to > 0 && i && w->t.end[i] >= w->blind_to &&
		    w->t.end[i - 1] < w->blind_to) {
			ok(cvl_writer_gap(out,
					  (struct cvl_tick){ (uint64_t)(w->blind_from * LOGIC_HZ) },
					  (struct cvl_tick){ (uint64_t)(w->blind_to * LOGIC_HZ) },
					  CVL_LOST_UNKNOWN, CVL_GAP_OVERFLOW, &err),
			   &err);
			ok(cvl_writer_levels(
				   out, (struct cvl_tick){ (uint64_t)(w->blind_to * LOGIC_HZ) },
				   levels ^ 2, &err),
			   &err);
		}
		ok(cvl_writer_edges(out, &t, &levels, 1, &err), &err);
	}
	ok(cvl_session_finish(w->s, out,
			      (struct cvl_tick){ (uint64_t)((w->t.length + 0.01) * LOGIC_HZ) },
			      &err),
	   &err);
}

static double measured(struct world *w, double at)
{
	double watt = watt_at(&w->t, at) + (w->noisy ? NOISE_W * sim_normal(&w->random) : 0);

	return w->noisy ? round(watt / ROUNDED_W) * ROUNDED_W : watt;
}

static void watch_power(struct world *w)
{
	static const char *const channels[] = { "volt", "watt" };
	const struct cvl_store_desc desc = {
		.clock = "meter",
		.node = "bench",
		.rate_hz = METER_HZ,
		.channels = channels,
		.n_channels = 2,
	};
	double beacon = 0.1;
	struct cvl_writer *out;
	struct cvl_error err;
	uint64_t seq = 1;
	bool lost = false;

	ok(cvl_session_add(w->s, &desc, &origin, &out, &err), &err);
	for (double at = -0.01; at < w->t.length + 0.01; at += SAMPLE_S) {
		for (; w->tied && beacon <= at; beacon += 0.1)
			ok(cvl_writer_beacon(out, meter(beacon), 1, seq++, &err), &err);
		if (at > w->lose_from && at < w->lose_to) {
			lost = true;
			continue;
		}
		if (lost)
			ok(cvl_writer_gap(out, meter(w->lose_from), meter(w->lose_to),
					  CVL_LOST_UNKNOWN, CVL_GAP_OVERFLOW, &err),
			   &err);
		lost = false;
		if (w->volts)
			ok(cvl_writer_sample(out, meter(at), 0, VOLTS, &err), &err);
		ok(cvl_writer_sample(out, meter(at), 1, measured(w, at) / (w->volts ? VOLTS : 1),
				     &err),
		   &err);
	}
	ok(cvl_session_finish(w->s, out, meter(w->t.length + 0.02), &err), &err);
}

static void make(struct world *w, uint64_t seed)
{
	struct cvl_error err;

	w->random.state = seed;
	strcpy(w->dir, "/tmp/coeval-test-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	draw_target(w);
	ok(cvl_session_create(&w->s, w->dir, &err), &err);
	watch_line(w);
	watch_power(w);
	if (w->tied) {
		const struct cvl_sync_opts opts = { .reference = "logic",
						    .beacon_period_ns = 100000000 };
		struct cvl_sync *sync;

		ok(cvl_sync_run(&sync, w->s, &opts, &err), &err);
		ok(cvl_sync_save(sync, w->s, &err), &err);
		cvl_sync_free(sync);
	}
}

static void unmake(struct world *w)
{
	cvl_session_close(w->s);
	nftw(w->dir, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

struct got {
	struct cvl_power_interval span[4 * SEGMENTS];
	size_t n;
	struct cvl_power_result r;
	struct cvl_analysis *a;
};

static int take(void *ctx, const struct cvl_power_interval *span,
		const struct cvl_power_result *result)
{
	struct got *got = ctx;

	(void)result;
	assert_true(got->n < sizeof(got->span) / sizeof(*got->span));
	got->span[got->n++] = *span;
	return 0;
}

static void drop(struct got *got)
{
	cvl_analysis_free(got->a);
	got->a = NULL;
}

static int study(struct world *w, const struct cvl_power_opts *opts, struct got *got,
		 struct cvl_error *err)
{
	const struct cvl_timeline_opts timeline = { 0 };
	struct cvl_power_opts with = *opts;
	struct cvl_timeline *tl;
	int rc;

	drop(got);
	got->n = 0;
	with.put = take;
	with.ctx = got;
	with.keep = true;
	ok(cvl_timeline_open(&tl, w->s, &timeline, err), err);
	rc = cvl_power_open(&got->a, tl, &with, err);
	if (!rc)
		rc = cvl_analyse(tl, &got->a, 1, err);
	if (!rc) {
		got->r = *cvl_power_result(got->a);
		assert_int_equal(got->r.n_intervals, got->n);
	}
	cvl_timeline_close(tl);
	return rc;
}

static struct cvl_selector selector[2];

static struct cvl_power_opts states(void)
{
	struct cvl_error err;

	cvl_selector_free(&selector[0]);
	ok(cvl_selector_parse(&selector[0], "LED", 3, &err), &err);
	return (struct cvl_power_opts){ .watts = "watt", .unit = 1, .line = selector };
}

static void between(struct cvl_power_opts *opts, const char *text)
{
	struct cvl_error err;

	cvl_selector_free(&selector[0]);
	cvl_selector_free(&selector[1]);
	ok(cvl_selector_pair_parse(selector, text, strlen(text), &err), &err);
	opts->line = NULL;
	opts->between = selector;
}

static struct got got;

static bool holds(const struct cvl_power_figures *f, double joule)
{
	return fabs(f->joule - joule) <= f->joule_half;
}

/* Interval k of the line lasts from end[k - 1] to end[k]. */
static void energy_of_states_holds_as_often_as_it_says(void **state)
{
	unsigned seen = 0, missed = 0, sums = 0, sums_missed = 0;
	double width = 0;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct world w = { .tied = true, .noisy = true };
		struct cvl_power_opts opts = states();
		struct cvl_power_sum sum[2] = { { 0 } };
		double all[2] = { 0 };
		struct cvl_error err;

		make(&w, SEED + round);
		ok(study(&w, &opts, &got, &err), &err);
		assert_int_equal(got.n, SEGMENTS + 1);
		for (size_t k = 1; k < SEGMENTS; k++) {
			const struct cvl_power_interval *span = &got.span[k];
			double joule = true_joule(&w.t, w.t.end[k - 1], w.t.end[k]);
			struct cvl_power_sum one = { 0 };
			struct cvl_power_figures f;

			assert_int_equal(span->high, k % 2);
			if (!span->energy.samples)
				continue;
			cvl_power_sum_add(&one, span);
			f = cvl_power_figures(&one, ROUNDED_W);
			seen++;
			missed += !holds(&f, joule);
			width += f.joule_half / joule * (double)span->high;
			cvl_power_sum_add(&sum[span->high], span);
			all[span->high] += joule;
		}
		for (unsigned high = 0; high < 2; high++) {
			struct cvl_power_figures f = cvl_power_figures(&sum[high], ROUNDED_W);

			sums++;
			sums_missed += !holds(&f, all[high]);
		}
		drop(&got);
		unmake(&w);
	}
	printf("%u energies, %u outside their bounds; %u sums, %u outside\n", seen, missed, sums,
	       sums_missed);
	printf("half-width %.1f %% of the energy while high, on the average\n", 200 * width / seen);
	assert_true(seen > ROUNDS * SEGMENTS * 9 / 10);
	assert_true(width < 0.25 * seen / 2);
	assert_true(missed <= seen / 1000);
	assert_true(sums_missed == 0);
}

/* Line and power sampled together by one clock: between two samples both are unknown. */
static void rows_of_one_clock_hold_the_truth(void **state)
{
	static const char *const lines[] = { "LED" }, *const channels[] = { "watt" };
	const struct cvl_store_desc desc = { .clock = "logger",
					     .rate_hz = METER_HZ,
					     .resolution = (uint64_t)(SAMPLE_S * METER_HZ),
					     .lines = lines,
					     .n_lines = 1,
					     .channels = channels,
					     .n_channels = 1 };
	unsigned seen = 0, missed = 0;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct world w = { .noisy = true };
		struct cvl_power_opts opts = states();
		struct cvl_writer *out;
		struct cvl_error err;
		size_t segment = 0;

		w.random.state = SEED + 2000 + round;
		strcpy(w.dir, "/tmp/coeval-test-XXXXXX");
		assert_non_null(mkdtemp(w.dir));
		draw_target(&w);
		ok(cvl_session_create(&w.s, w.dir, &err), &err);
		ok(cvl_session_add(w.s, &desc, &origin, &out, &err), &err);
		for (unsigned i = 0; i * SAMPLE_S < w.t.length; i++) {
			struct cvl_tick t = { (uint64_t)i * desc.resolution };
			double at = i * SAMPLE_S;
			uint64_t level;

			while (segment + 1 < SEGMENTS && at > w.t.end[segment])
				segment++;
			level = segment % 2;
			ok(i ? cvl_writer_edges(out, &t, &level, 1, &err) :
			       cvl_writer_levels(out, t, level, &err),
			   &err);
			ok(cvl_writer_sample(out, t, 0, measured(&w, at), &err), &err);
		}
		ok(cvl_session_finish(w.s, out, (struct cvl_tick){ 0 }, &err), &err);
		ok(study(&w, &opts, &got, &err), &err);
		/* segments are longer than a look apart: each is seen */
		assert_int_equal(got.n, SEGMENTS);
		for (size_t k = 1; k + 1 < SEGMENTS; k++) {
			struct cvl_power_sum one = { 0 };
			struct cvl_power_figures f;

			cvl_power_sum_add(&one, &got.span[k]);
			f = cvl_power_figures(&one, ROUNDED_W);
			seen += one.sampled > 0;
			missed += one.sampled &&
				  !holds(&f, true_joule(&w.t, w.t.end[k - 1], w.t.end[k]));
		}
		drop(&got);
		unmake(&w);
	}
	printf("%u energies, %u outside their bounds\n", seen, missed);
	assert_true(seen > ROUNDS * SEGMENTS * 9 / 10);
	assert_true(missed <= seen / 1000);
}

static void energy_of_all_holds_though_the_clock_is_off(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		const struct cvl_power_opts opts = { .watts = "watt", .unit = 1 };
		struct world w = { .noisy = true };
		struct cvl_power_sum sum = { 0 };
		struct cvl_power_figures f;
		struct cvl_error err;
		double joule;

		make(&w, SEED + 1000 + round);
		ok(study(&w, &opts, &got, &err), &err);
		assert_int_equal(got.n, 1);
		cvl_power_sum_add(&sum, &got.span[0]);
		f = cvl_power_figures(&sum, ROUNDED_W);
		joule = true_joule(&w.t, -0.01,
				   -0.01 + SAMPLE_S * (double)(got.r.source[0].samples - 1));
		assert_true(holds(&f, joule));
		assert_true(f.joule_half < 0.05 * joule);
		assert_true(fabs(f.watt - joule / (w.t.length + 0.02)) <= 1.2 * f.watt_half);
		assert_true(f.covered == 1);
		drop(&got);
		unmake(&w);
	}
}

static void a_state_is_what_lies_between_its_edges(void **state)
{
	struct world w = { .tied = true, .noisy = true };
	struct cvl_power_opts opts = states();
	static struct got high;
	struct cvl_error err;

	(void)state;
	make(&w, SEED);
	ok(study(&w, &opts, &high, &err), &err);
	between(&opts, "n1.LED:rise..LED:fall");
	ok(study(&w, &opts, &got, &err), &err);
	assert_int_equal(got.n, SEGMENTS / 2);
	for (size_t k = 0; k < got.n; k++) {
		const struct cvl_power_interval *a = &got.span[k], *b = &high.span[2 * k + 1];

		assert_true(a->begin.ns == b->begin.ns && a->end.ns == b->end.ns);
		assert_true(a->energy.joule == b->energy.joule);
		assert_true(a->energy.bound == b->energy.bound);
	}
	drop(&high);
	drop(&got);
	unmake(&w);
}

static void a_period_is_from_edge_to_edge(void **state)
{
	struct world w = { .tied = true };
	struct cvl_power_opts opts = states();
	struct cvl_error err;

	(void)state;
	make(&w, SEED);
	between(&opts, "LED:rise..LED:rise");
	ok(study(&w, &opts, &got, &err), &err);
	assert_int_equal(got.n, SEGMENTS / 2 - 1);
	assert_true(got.r.left.unbegun == 0);
	assert_true(got.r.left.unfinished == 1);
	for (size_t k = 1; k < got.n; k++)
		assert_true(got.span[k].begin.ns == got.span[k - 1].end.ns);
	drop(&got);
	unmake(&w);
}

static void readings_that_are_lost_are_not_made_up(void **state)
{
	const struct cvl_power_opts opts = { .watts = "watt", .unit = 1 };
	struct world w = { .lose_from = 0.5, .lose_to = 1.0 };
	struct cvl_power_sum sum = { 0 };
	struct cvl_power_figures f;
	struct cvl_error err;
	double joule;

	(void)state;
	make(&w, SEED);
	ok(study(&w, &opts, &got, &err), &err);
	cvl_power_sum_add(&sum, &got.span[0]);
	f = cvl_power_figures(&sum, 0);
	joule = true_joule(&w.t, -0.01, 0.5) + true_joule(&w.t, 1.0, w.t.length + 0.01);
	assert_int_equal(got.r.source[0].gaps, 1);
	assert_int_equal(got.span[0].gaps, 1);
	assert_true(f.covered < 1 - 0.49 / (w.t.length + 0.02));
	/* but for a reading at each end of the loss, and of the capture */
	assert_true(fabs(f.joule - joule) <= f.joule_half + 4 * SAMPLE_S * 50e-3);
	drop(&got);
	unmake(&w);
}

static void marks_that_are_lost_end_no_interval(void **state)
{
	struct world w = { .tied = true, .blind_from = 0.5, .blind_to = 1.0 };
	struct cvl_power_opts opts = states();
	struct cvl_error err;

	(void)state;
	make(&w, SEED);
	ok(study(&w, &opts, &got, &err), &err);
	for (size_t k = 0; k < got.n; k++) {
		double begin = (double)got.span[k].begin.ns * 1e-9;
		double end = (double)got.span[k].end.ns * 1e-9;

		assert_true(end < 0.5001 || begin > 0.9999);
	}
	drop(&got);
	between(&opts, "LED:rise..LED:rise");
	ok(study(&w, &opts, &got, &err), &err);
	assert_true(got.r.left.cut == 1);
	for (size_t k = 0; k < got.n; k++)
		assert_true((double)got.span[k].end.ns * 1e-9 < 0.5001 ||
			    (double)got.span[k].begin.ns * 1e-9 > 0.9999);
	drop(&got);
	unmake(&w);
}

static void current_times_volts_is_power(void **state)
{
	struct world w = { .tied = true }, v = { .tied = true, .volts = true };
	struct cvl_power_opts opts = states();
	static struct got plain;
	struct cvl_error err;

	(void)state;
	make(&w, SEED);
	make(&v, SEED);
	ok(study(&w, &opts, &plain, &err), &err);
	for (unsigned fixed = 0; fixed < 2; fixed++) {
		opts = states();
		opts.watts = NULL;
		opts.amperes = "watt";
		opts.volts = fixed ? NULL : "volt";
		opts.fixed_volts = VOLTS;
		ok(study(&v, &opts, &got, &err), &err);
		assert_int_equal(got.n, plain.n);
		for (size_t k = 0; k < got.n; k++)
			assert_true(fabs(got.span[k].energy.joule - plain.span[k].energy.joule) <
				    1e-12);
		drop(&got);
	}
	/* volts that are not read */
	opts.volts = "volt";
	assert_int_equal(study(&w, &opts, &got, &err), CVL_E_NO);
	drop(&got);
	drop(&plain);
	unmake(&w);
	unmake(&v);
}

static void the_peak_is_the_greatest_reading_of_each(void **state)
{
	struct world w = { .tied = true };
	struct cvl_power_opts opts = states();
	struct cvl_error err;
	unsigned seen = 0;

	(void)state;
	make(&w, SEED);
	ok(study(&w, &opts, &got, &err), &err);
	for (size_t k = 2; k < SEGMENTS; k++) {
		if (!got.span[k].high || got.span[k].energy.samples < 3)
			continue;
		assert_true(got.span[k].peak_w == w.t.watt[k]);
		assert_true(got.span[k].peak_at.ns >= got.span[k].begin.ns &&
			    got.span[k].peak_at.ns <= got.span[k].end.ns);
		seen++;
	}
	assert_true(seen > SEGMENTS / 4);
	drop(&got);
	unmake(&w);
}

static void what_cannot_be_said_is_refused(void **state)
{
	struct world w = { .noisy = true };
	struct cvl_power_opts opts = states();
	struct cvl_error err;

	(void)state;
	make(&w, SEED);
	assert_int_equal(study(&w, &opts, &got, &err), CVL_E_NO);
	assert_non_null(strstr(err.text, "nothing ties the two"));
	drop(&got);
	opts.watts = "nothing";
	assert_int_equal(study(&w, &opts, &got, &err), CVL_E_UNKNOWN_ID);
	assert_non_null(strstr(err.text, "volt, watt"));
	drop(&got);
	opts = states();
	between(&opts, "nothing..LED");
	assert_int_equal(study(&w, &opts, &got, &err), CVL_E_UNKNOWN_ID);
	assert_non_null(strstr(err.text, "nothing"));
	between(&opts, "n1.*..LED");
	opts.line = selector;
	assert_int_equal(study(&w, &opts, &got, &err), CVL_E_USAGE);
	opts = states();
	cvl_selector_free(&selector[0]);
	ok(cvl_selector_parse(&selector[0], "LED:rise", 8, &err), &err);
	assert_int_equal(study(&w, &opts, &got, &err), CVL_E_USAGE);
	drop(&got);
	unmake(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_of_states_holds_as_often_as_it_says),
		cmocka_unit_test(rows_of_one_clock_hold_the_truth),
		cmocka_unit_test(energy_of_all_holds_though_the_clock_is_off),
		cmocka_unit_test(a_state_is_what_lies_between_its_edges),
		cmocka_unit_test(a_period_is_from_edge_to_edge),
		cmocka_unit_test(readings_that_are_lost_are_not_made_up),
		cmocka_unit_test(marks_that_are_lost_end_no_interval),
		cmocka_unit_test(current_times_volts_is_power),
		cmocka_unit_test(the_peak_is_the_greatest_reading_of_each),
		cmocka_unit_test(what_cannot_be_said_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
