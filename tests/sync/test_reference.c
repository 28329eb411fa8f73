/* SPDX-License-Identifier: MIT */
/*
 * References that wander, and noise that comes in bursts: estimators of pulses against the truth,
 * at pulses that they were not shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../bench/columns.h"
#include "sync/kalman.h"
#include "sync/local.h"

#define SEED 1

static uint64_t seed(void)
{
	const char *given = getenv("COEVAL_SEED");

	return given ? strtoull(given, NULL, 0) : SEED;
}

static const struct column_world *world(const char *name)
{
	size_t w = 0;

	while (strcmp(column_worlds[w].name, name))
		w++;
	return &column_worlds[w];
}

/* Score @n columns of @name by @e, and print the result. */
static struct column_sums score(const struct estimator *e, const char *name, unsigned n)
{
	static struct column c;
	struct column_sums s = { 0 };
	struct cvl_clock_sync told;
	struct cvl_error err;

	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(column_make(&c, world(name), seed(), i, &err), 0);
		assert_int_equal(column_score(&s, &c, e, &told, &err), 0);
		cvl_map_free(told.map);
	}
	printf("seed %llu: %s in %s: %u of %u good, %.3f %% of %llu withheld pulses within, bound %.0f ns in gaps, %.0f at marks\n",
	       (unsigned long long)seed(), e->info.name, name, s.good, n,
	       s.n ? 100 * (double)s.within / (double)s.n : 0, (unsigned long long)s.n,
	       median_of(s.gap, s.n_gap), median_of(s.mark, s.n_mark));
	return s;
}

/* ---- coverage ---- */

static void bounds_hold_where(const struct estimator *e, unsigned columns, double least)
{
	static const char *const names[] = { "R0", "R1", "R2", "R4" };
	uint64_t n = 0, within = 0;
	unsigned good = 0;

	for (size_t w = 0; w < 4; w++) {
		struct column_sums s = score(e, names[w], columns);

		n += s.n;
		within += s.within;
		good += s.good;
		column_sums_free(&s);
	}
	assert_true(good >= 4 * columns * 8 / 10);
	assert_true((double)within >= least * (double)n);
}

static void smooth_holds_where_pulses_are_withheld(void **state)
{
	(void)state;
	bounds_hold_where(&estimator_smooth, 20, 0.995);
}

static void kalman_holds_where_pulses_are_withheld(void **state)
{
	(void)state;
	bounds_hold_where(&estimator_kalman, 40, 0.995);
}

static void lag_holds_where_pulses_are_withheld(void **state)
{
	(void)state;
	bounds_hold_where(&estimator_lag, 40, 0.99);
}

/* At 10 Hz its delay is some hundred marks: all of them have to be gone back over. */
static void lag_is_as_good_as_if_it_knew_all(void **state)
{
	struct column_sums late = score(&estimator_lag, "R0", 20),
			   online = score(&estimator_kalman, "R0", 20);

	(void)state;
	assert_true((double)late.within >= 0.995 * (double)late.n);
	assert_true(median_of(late.mark, late.n_mark) <
		    0.7 * median_of(online.mark, online.n_mark));
	column_sums_free(&late);
	column_sums_free(&online);
}

static void residuals_of_lag_are_those_of_what_it_tells(void **state)
{
	static struct column c;
	struct cvl_clock_sync told;
	struct cvl_error err;
	double sum = 0;
	size_t n = 0;

	(void)state;
	assert_int_equal(column_make(&c, world("R2"), seed(), 0, &err), 0);
	assert_int_equal(column_solve(&c, &estimator_lag, &told, &err), 0);
	for (size_t k = 0; k < COLUMN_PULSES; k++)
		if (!column_withheld(k)) {
			struct cvl_tick tick = { (uint64_t)llround(c.read[k]) + COLUMN_BEGAN };
			double e = (double)(COLUMN_BEGAN + (int64_t)k * COLUMN_PERIOD_NS -
					    cvl_map_time(told.map, tick, NULL).ns);

			sum += e * e;
			n++;
		}
	printf("told %.1f ns sd, measured %.1f\n", told.residuals.sd, sqrt(sum / (double)n));
	assert_true(told.residuals.n >= n - 12 && told.residuals.n <= n);
	assert_true(fabs(told.residuals.sd / sqrt(sum / (double)n) - 1) < 0.1);
	cvl_map_free(told.map);
}

/* ---- what is said ---- */

static void a_reference_that_wanders_is_named(void **state)
{
	static struct column c;
	struct cvl_clock_sync told;
	struct cvl_error err;

	(void)state;
	assert_int_equal(column_make(&c, world("R2"), seed(), 1, &err), 0);
	assert_int_equal(column_solve(&c, &estimator_smooth, &told, &err), 0);
	printf("%s\n", told.reason);
	assert_int_equal(told.verdict, CVL_GOOD);
	assert_non_null(strstr(told.reason, "its reference wanders by"));
	cvl_map_free(told.map);
}

/*
 * Beacons are stamped by a radio: its slow errors are the receiver's, and of no other clock.
 */
static void only_pulses_have_a_reference(void **state)
{
	static struct column c;
	struct cvl_error err;

	(void)state;
	assert_int_equal(column_make(&c, world("R2"), seed(), 1, &err), 0);
	for (int pulses = 0; pulses < 2; pulses++) {
		struct track t = { 0 };
		const struct track_setup setup = { .rate_hz = 1000000000,
						   .period_ns = COLUMN_PERIOD_NS,
						   .resolution_ns = 1,
						   .pulses = pulses };
		void *s;

		t.report = (struct track_report){ .emit = track_keep, .ctx = &t };
		s = estimator_smooth.tracker->open(&setup, &t.report);
		assert_non_null(s);
		for (size_t k = 0; k < COLUMN_PULSES; k++) {
			struct track_mark m = { .x = llround(c.read[k]) };

			m.offset = (double)((int64_t)k * COLUMN_PERIOD_NS - m.x);
			assert_int_equal(estimator_smooth.tracker->feed(s, &m), 0);
		}
		assert_int_equal(estimator_smooth.tracker->close(s, 0), 0);
		assert_int_equal(t.report.wander_ns > 0, pulses);
		track_free(&t);
	}
}

/* ---- the parts ---- */

static void noise_of_one_kind_is_none_of_bursts(void **state)
{
	struct sim_random r = { seed() };
	struct local_noise l = { .luck = LOCAL_LUCK }, wild = { .luck = LOCAL_LUCK };
	double sum = 0, sum_wild = 0;

	(void)state;
	for (int k = 0; k < 20000; k++) {
		double u = sim_normal(&r);

		local_noise_add(&l, u);
		local_noise_add(&wild, k % 50 ? u : 30);
		sum += sqrt(local_noise_now(&l));
		sum_wild += sqrt(local_noise_now(&wild));
	}
	assert_true(sum / 20000 < 1.03);
	assert_true(sum_wild / 20000 < 1.05);
	for (int k = 0; k < 40; k++)
		local_noise_add(&l, 3 * sim_normal(&r));
	printf("after 40 marks of three times the noise: %.1f\n", local_noise_now(&l));
	assert_true(local_noise_now(&l) > 2.5);
}

#define POINTS 6

/*
 * Smoothed by filter and back, and by the joint covariance of all readings: the same mean and
 * variance.
 */
static void smoother_is_that_of_the_joint_distribution(void **state)
{
	struct sim_random r = { seed() };

	(void)state;
	for (int round = 0; round < 50; round++) {
		const struct kalman_noise q = { 1 + 5 * sim_uniform(&r), sim_uniform(&r),
						10 + 90 * sim_uniform(&r),
						0.3 + 3 * sim_uniform(&r) };
		struct kalman k = { .p = { 400, 10, 900, 0, 0, 4 } }, prior[POINTS];
		struct kalman_step step[POINTS];
		struct kalman_back back = { 0 };
		double dt[POINTS], z[POINTS], s[POINTS][POINTS], l[POINTS][POINTS] = { { 0 } },
								 w[POINTS];
		const double jitter2 = 100;

		kalman_begin_wander(&k, &q);
		prior[0] = k;
		for (int i = 0; i < POINTS; i++) {
			dt[i] = i ? 0.05 + sim_uniform(&r) : 0;
			z[i] = 50 * sim_normal(&r);
			if (i) {
				prior[i] = prior[i - 1];
				kalman_predict(&prior[i], dt[i], &q);
			}
		}
		/* Cov(y_j, y_i), j > i: the state's covariance with y_i, carried on */
		for (int i = 0; i < POINTS; i++) {
			double x[KALMAN_ALL];

			for (int c = 0; c < KALMAN_ALL; c++)
				x[c] = prior[i].p[kalman_at(c, 0)];
			s[i][i] = x[0];
			for (int j = i + 1; j < POINTS; j++) {
				struct kalman_drag d = kalman_drag(dt[j], &q);

				kalman_carry(x, dt[j], &d);
				s[i][j] = s[j][i] = x[0];
			}
		}
		for (int i = 0; i < POINTS; i++) /* Cholesky */
			for (int j = 0; j <= i; j++) {
				double v = s[i][j] + (i == j ? jitter2 : 0);

				for (int c = 0; c < j; c++)
					v -= l[i][c] * l[j][c];
				l[i][j] = i == j ? sqrt(v) : v / l[j][j];
			}
		for (int i = 0; i < POINTS; i++) {
			double g[KALMAN_ALL];

			if (i)
				kalman_predict(&k, dt[i], &q);
			step[i] = (struct kalman_step){ .predicted = k,
							.h = { 1, 0, 0 },
							.v = z[i] - k.a[0],
							.r = jitter2,
							.dt = dt[i] };
			step[i].f = k.p[0] + jitter2;
			kalman_gain(k.p, KALMAN_ALL, step[i].h, g);
			kalman_update(&k, KALMAN_ALL, g, step[i].v, step[i].f);
		}
		for (int i = POINTS; i-- > 0;) {
			double var, mean, want = 0, want_var = s[i][i], b[POINTS];

			kalman_take_back(&back, &step[i], KALMAN_ALL);
			mean = kalman_smoothed(&step[i], KALMAN_ALL, &back, 0, &var);
			for (int m = 0; m < POINTS; m++) { /* L w = z, L b = s_i */
				w[m] = z[m];
				b[m] = s[i][m];
				for (int c = 0; c < m; c++) {
					w[m] -= l[m][c] * w[c];
					b[m] -= l[m][c] * b[c];
				}
				w[m] /= l[m][m];
				b[m] /= l[m][m];
				want += w[m] * b[m];
				want_var -= b[m] * b[m];
			}
			assert_true(fabs(mean - want) < 1e-6 * (1 + fabs(want)));
			assert_true(fabs(var - want_var) < 1e-6 * want_var);
			kalman_pull_back(&back, dt[i], &q);
		}
	}
}

static void a_wander_is_stationary(void **state)
{
	const struct kalman_noise q = { 0, 0, 70, 1.3 };
	struct kalman k = { 0 };

	(void)state;
	kalman_begin_wander(&k, &q);
	for (double dt = 1e-5; dt < 100; dt *= 3) {
		kalman_predict(&k, dt, &q);
		assert_true(fabs(k.p[KALMAN_WANDER] / (70 * 70) - 1) < 1e-6);
		assert_true(fabs(k.p[KALMAN_SLOPE] / (70 * 70 / (1.3 * 1.3)) - 1) < 1e-6);
	}
}

/* What the simulator draws by its differential equation is what the filter takes it to be. */
static void references_wander_as_they_say(void **state)
{
	static const int lag[] = { 0, 5, 10, 20 };
	const struct world_reference smooth = { COLUMN_WANDER(100, 1) },
				     rough = { COLUMN_WANDER(100, 1), .rough = true };
	struct reference r[2];
	struct cvl_error err;
	size_t n = 200000;

	(void)state;
	assert_int_equal(reference_make(&r[0], &smooth, seed(), "PPS", n, COLUMN_PERIOD_NS, &err),
			 0);
	assert_int_equal(reference_make(&r[1], &rough, seed(), "PPS", n, COLUMN_PERIOD_NS, &err),
			 0);
	for (int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < 4; i++) {
			double t = lag[i] * 0.1, want = kind ? exp(-t) : (1 + t) * exp(-t), sum = 0;

			for (size_t k = 0; k + (size_t)lag[i] < n; k++)
				sum += r[kind].slow[k] * r[kind].slow[k + (size_t)lag[i]] / 1e4;
			assert_true(fabs(sum / (double)n - want) < 0.06);
		}
		reference_free(&r[kind]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smooth_holds_where_pulses_are_withheld),
		cmocka_unit_test(kalman_holds_where_pulses_are_withheld),
		cmocka_unit_test(lag_holds_where_pulses_are_withheld),
		cmocka_unit_test(lag_is_as_good_as_if_it_knew_all),
		cmocka_unit_test(residuals_of_lag_are_those_of_what_it_tells),
		cmocka_unit_test(a_reference_that_wanders_is_named),
		cmocka_unit_test(only_pulses_have_a_reference),
		cmocka_unit_test(noise_of_one_kind_is_none_of_bursts),
		cmocka_unit_test(smoother_is_that_of_the_joint_distribution),
		cmocka_unit_test(a_wander_is_stationary),
		cmocka_unit_test(references_wander_as_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
