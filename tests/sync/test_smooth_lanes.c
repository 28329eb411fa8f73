/* SPDX-License-Identifier: MIT */
/* Filters side by side against one written plainly, and against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "test_draw.h"
#include "sync/smooth.h"

#define READINGS 600
#define ROUNDS 40

static double uniform(struct draw *d, double low, double high)
{
	return low + (high - low) * (double)draw_below(d, 1u << 30) / (1u << 30);
}

static double power_of_ten(struct draw *d, double low, double high)
{
	return pow(10, uniform(d, low, high));
}

/* Marks a second apart and points between them; outliers, steps and what counts for little. */
static void draw_readings(struct draw *d, struct lane_reading *r)
{
	double z = 0, rate = uniform(d, -1e4, 1e4);

	for (size_t i = 0; i < READINGS; i++) {
		const double dt = uniform(d, 1e-3, 3);

		z += rate * dt;
		r[i] = (struct lane_reading){ .dt = dt,
					      .z = z + uniform(d, -1e3, 1e3),
					      .var = draw_below(d, 3) ? 0 : power_of_ten(d, -2, 4),
					      .by_weight = draw_below(d, 6) ? uniform(d, 1, 20) : 0,
					      .counted = i > 2 };
		if (!draw_below(d, 50))
			r[i].z += power_of_ten(d, 3, 5);
		if (!draw_below(d, 80))
			r[i].jump = power_of_ten(d, 2, 6);
		if (!draw_below(d, 80))
			r[i].kick = power_of_ten(d, 0, 4);
	}
}

/* The likelihood of one noise: the filter of the textbook. */
static double likelihood(const struct lane_reading *r, struct kalman k, const struct lane *l,
			 double *u, size_t *n)
{
	const struct kalman_noise q = { .rate = l->rate, .drift = l->drift };
	double sum = 0;

	*n = 0;
	for (size_t i = 0; i < READINGS; i++) {
		double f, v, var, g[KALMAN_ALL] = { 0 };

		if (i)
			kalman_predict(&k, r[i].dt, &q);
		k.p[KALMAN_OFFSET] += r[i].jump;
		k.p[KALMAN_RATE] += r[i].kick;
		if (!(r[i].by_weight > 0))
			continue;
		kalman_gain(k.p, KALMAN_CLOCK, (const double[3]){ 1, 0, 0 }, g);
		var = (l->jitter2 + r[i].var) * r[i].by_weight;
		v = r[i].z - k.a[0];
		f = g[0] + var;
		if (r[i].counted) {
			const double ratio = v * v / f;

			sum -= 0.5 * log(f) +
			       (SMOOTH_DOF + 1) / 2 * log1p(ratio / (SMOOTH_DOF * SMOOTH_CORE));
			u[(*n)++] = ratio;
			f = ratio > 9 ? g[0] + var * ratio / 9 : f;
		}
		kalman_update(&k, KALMAN_CLOCK, g, v, f);
	}
	return sum;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-4 * (1 + fabs(b)); /* rounding, after large steps */
}

static void each_lane_is_a_filter_of_its_own(void **state)
{
	struct draw d = draw_begin(31);

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		static struct lane_reading r[READINGS];
		static double u[READINGS * LANES], plain_u[READINGS * LANES], alone[READINGS];
		const size_t lanes = 1 + draw_below(&d, LANES);
		const struct kalman start = { .p = { 1e8, 0, 1e8, 0, 0, 400 } };
		struct lane lane[LANES], plain[LANES];
		size_t n;

		draw_readings(&d, r);
		for (size_t i = 0; i < lanes; i++)
			lane[i] =
				(struct lane){ power_of_ten(&d, 0, 2.5), power_of_ten(&d, -3, 1.5),
					       power_of_ten(&d, 2, 6), 0 };
		memcpy(plain, lane, sizeof(plain));
		n = lanes_weigh(r, READINGS, &start, lane, lanes, u);
		assert_int_equal(lanes_weigh_plain(r, READINGS, &start, plain, lanes, plain_u), n);
		for (size_t i = 0; i < lanes; i++) {
			size_t k;

			assert_true(near(lane[i].likelihood,
					 likelihood(r, start, &lane[i], alone, &k)));
			assert_int_equal(k, n);
#if defined(__x86_64__) /* where nothing is fused */
			assert_true(lane[i].likelihood == plain[i].likelihood);
#endif
			for (size_t j = 0; j < n; j++) {
				assert_true(near(u[LANES * j + i], alone[j]));
				assert_true(near(plain_u[LANES * j + i], alone[j]));
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_lane_is_a_filter_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
