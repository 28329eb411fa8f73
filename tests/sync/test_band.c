/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "sync/band.h"
#include "test_draw.h"

#define LIMITS 64

static double uniform(struct draw *d, double low, double high)
{
	return low + (high - low) * (double)(draw_u64(d) >> 11) * 0x1p-53;
}

/* Whole numbers from -@reach to @reach. */
static int64_t about(struct draw *d, int64_t reach)
{
	return (int64_t)draw_below(d, 2 * (uint64_t)reach + 1) - reach;
}

static void make(struct band *b, const struct band_limit *limits, size_t n, int64_t from,
		 int64_t to, double rho, const double *wander)
{
	struct band_limit *copy = malloc(n * sizeof(*copy)); /* it sorts and thins them */
	struct cvl_error err;

	assert_non_null(copy);
	memcpy(copy, limits, n * sizeof(*copy));
	if (band_make(b, copy, n, from, to, rho, wander, wander ? *wander : 0, &err))
		fail_msg("%s", err.text);
	free(copy);
}

static void at(const struct band *b, int64_t x, long double *low, long double *high)
{
	assert_true(band_at(b, x, low, high));
}

/* ---- drift limit alone ---- */

static long double apart(int64_t a, int64_t b)
{
	return fabsl((long double)a - (long double)b);
}

static void plain_cones(const struct band_limit *l, size_t n, double rho, int64_t x,
			long double *low, long double *high)
{
	*low = -INFINITY;
	*high = INFINITY;
	for (size_t i = 0; i < n; i++) {
		long double reach = rho * apart(x, l[i].x);

		if (l[i].lower)
			*low = fmaxl(*low, (long double)l[i].bound - reach);
		else
			*high = fminl(*high, (long double)l[i].bound + reach);
	}
}

/* Both directions, some at one x. Spans from 1 us to 10 years. */
static size_t random_limits(struct draw *d, struct band_limit *l, int64_t *span, double rho)
{
	size_t n = 2 + (size_t)draw_below(d, LIMITS - 2);
	int64_t offset = about(d, (int64_t)draw_size(d, 59)), start = about(d, (int64_t)1 << 58);
	int64_t width;

	*span = 1000 + (int64_t)draw_size(d, 58);
	width = 1 + (int64_t)((double)*span * rho * uniform(d, 0, 2));
	for (size_t i = 0; i < n; i++) {
		l[i] = (struct band_limit){
			.x = start + (int64_t)draw_below(d, (uint64_t)*span),
			.bound = offset + about(d, width),
			.lower = i ? draw_below(d, 2) : true,
			.id = (uint32_t)i,
		};
		if (i && draw_below(d, 8) == 0)
			l[i].x = l[i - 1].x;
	}
	l[1].lower = false;
	return n;
}

static void check_cones(const struct band *b, const struct band_limit *l, size_t n, int64_t x)
{
	long double low, high, want_low, want_high;

	at(b, x, &low, &high);
	plain_cones(l, n, b->rho, x, &want_low, &want_high);
	if (fabsl(low - want_low) > 1 || fabsl(high - want_high) > 1)
		fail_msg("x = %" PRId64 ": %.3Lf to %.3Lf, not %.3Lf to %.3Lf", x, low, high,
			 want_low, want_high);
}

static void cones_are_the_extremes_over_all_limits(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 3000; i++) {
		double rho = exp(uniform(&d, log(1e-8), log(0.1)));
		struct band_limit l[LIMITS];
		struct band b = { 0 };
		int64_t span;
		size_t n = random_limits(&d, l, &span, rho);

		make(&b, l, n, 0, 0, rho, NULL);
		for (size_t k = 0; k < n; k++)
			for (int64_t near = -1; near <= 1; near++)
				check_cones(&b, l, n, l[k].x + near);
		for (int k = 0; k < 50; k++)
			check_cones(&b, l, n, l[0].x + about(&d, 2 * span));
		band_free(&b);
	}
}

static void contradiction_names_the_worst_pair(void **state)
{
	struct draw d = draw_begin(2);
	int found = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		double rho = exp(uniform(&d, log(1e-8), log(1e-3)));
		long double worst = 0, reported;
		struct band_limit l[LIMITS];
		struct band b = { 0 };
		const struct band_limit *p, *q;
		int64_t span;
		size_t n = random_limits(&d, l, &span, rho);

		make(&b, l, n, 0, 0, rho, NULL);
		for (size_t low = 0; low < n; low++)
			for (size_t high = 0; high < n; high++)
				if (l[low].lower && !l[high].lower)
					worst = fmaxl(worst,
						      (long double)(l[low].bound - l[high].bound) -
							      rho * apart(l[low].x, l[high].x));
		assert_int_equal(b.empty, worst > 0);
		if (worst > 0) {
			found++;
			p = &l[b.worst_low];
			q = &l[b.worst_high];
			assert_true(p->lower && !q->lower);
			reported = (long double)(p->bound - q->bound) - rho * apart(p->x, q->x);
			/* as precise as 64 bits allow with an offset of decades */
			if (fabsl(b.worst - worst) > 0.5L || fabsl(reported - worst) > 0.5L)
				fail_msg("worst by %.3Lf ns, said to be %.3Lf, of a pair by %.3Lf",
					 worst, b.worst, reported);
		}
		band_free(&b);
	}
	assert_true(found > 300);
}

static void one_direction_bounds_nothing(void **state)
{
	struct band_limit l[] = { { 0, 5, true, 0 }, { 10, 7, true, 1 } };
	const double wander = 0;
	struct band b = { 0 };
	long double low, high;

	(void)state;
	make(&b, l, 2, 0, 10, 1e-4, NULL);
	assert_false(band_at(&b, 3, &low, &high));
	make(&b, l, 2, 0, 10, 1e-4, &wander);
	assert_false(band_at(&b, 3, &low, &high));
	band_free(&b);
}

/* ---- drift and wander ---- */

#define PIECES 200

/* An offset whose rate changes steadily within each piece. */
struct truth {
	int64_t start;
	long double piece, theta[PIECES + 1], rate[PIECES + 1]; /* ns, ns, ns per ns */
};

static void random_truth(struct draw *d, struct truth *t, int64_t start, int64_t span, double rho,
			 double wander)
{
	t->start = start;
	t->piece = (long double)span / PIECES;
	t->theta[0] = (long double)about(d, (int64_t)1 << 40);
	t->rate[0] = uniform(d, -rho, rho);
	for (int i = 0; i < PIECES; i++) {
		long double change = wander * 1e-9L * t->piece * uniform(d, -1, 1);

		if (draw_below(d, 3) == 0) /* as fast as it may */
			change = (change < 0 ? -1 : 1) * wander * 1e-9L * t->piece;
		if (fabsl(t->rate[i] + change) > rho)
			change = 0;
		t->rate[i + 1] = t->rate[i] + change;
		t->theta[i + 1] = t->theta[i] + t->piece * (t->rate[i] + change / 2);
	}
}

static long double true_theta(const struct truth *t, int64_t x)
{
	long double d = (long double)x - (long double)t->start, u;
	int i = (int)fminl(fmaxl(floorl(d / t->piece), 0), PIECES - 1);

	u = d - t->piece * i;
	if (d < 0)
		return t->theta[0] + t->rate[0] * d;
	if (d > t->piece * PIECES)
		return t->theta[PIECES] + t->rate[PIECES] * (d - t->piece * PIECES);
	return t->theta[i] + t->rate[i] * u + (t->rate[i + 1] - t->rate[i]) / t->piece * u * u / 2;
}

static void limits_of(struct draw *d, const struct truth *t, struct band_limit *l, size_t n,
		      int64_t span)
{
	for (size_t i = 0; i < n; i++) {
		int64_t x = t->start + (int64_t)draw_below(d, (uint64_t)span);
		long double delay = draw_below(d, 4) ? uniform(d, 0, 1e4) : uniform(d, 0, 1e7);
		bool lower = i % 2;

		l[i] = (struct band_limit){
			.x = x,
			.bound = lower ? (int64_t)floorl(true_theta(t, x) - delay) :
					 (int64_t)ceill(true_theta(t, x) + delay),
			.lower = lower,
			.id = (uint32_t)i,
		};
	}
}

static void wander_band_holds_the_truth(void **state)
{
	enum { MANY = 6000 };
	struct band_limit *l = malloc(MANY * sizeof(*l));
	struct draw d = draw_begin(3);
	long double width[2] = { 0 };

	(void)state;
	assert_non_null(l);
	for (int i = 0; i < 40; i++) {
		double rho = uniform(&d, 1e-5, 4e-4), wander = uniform(&d, 0, 1e-7);
		int64_t span = 1000000 + (int64_t)draw_below(&d, 3600000000000);
		size_t n = i ? 4 + (size_t)draw_below(&d, 100) : MANY;
		struct band b = { 0 }, cones = { 0 };
		struct truth t;

		random_truth(&d, &t, about(&d, (int64_t)1 << 60), span, rho, wander);
		limits_of(&d, &t, l, n, span);
		make(&b, l, n, t.start, t.start + span, rho, &wander);
		make(&cones, l, n, t.start, t.start + span, rho, NULL);
		assert_false(b.empty);
		for (int k = 0; k < 500; k++) {
			int64_t x =
				t.start - span / 2 + (int64_t)draw_below(&d, 2 * (uint64_t)span);
			long double low, high, want = true_theta(&t, x);

			at(&b, x, &low, &high);
			if (!(low <= want && want <= high))
				fail_msg("world %d, x = %" PRId64
					 ": %.3Lf is not within %.3Lf to %.3Lf",
					 i, x - t.start, want, low, high);
			width[0] += (high - low) / (long double)span;
			at(&cones, x, &low, &high);
			assert_true(low <= want && want <= high);
			width[1] += (high - low) / (long double)span;
		}
		band_free(&b);
		band_free(&cones);
	}
	assert_true(width[0] < width[1]);
	free(l);
}

/* Whether theta = theta0 + r (x - x0) meets all limits. */
static bool feasible(const struct band_limit *l, size_t n, int64_t x0, long double theta0,
		     long double r)
{
	for (size_t i = 0; i < n; i++) {
		long double v = theta0 + r * (long double)(l[i].x - x0) - (long double)l[i].bound;

		if (l[i].lower ? v < -1e-6L : v > 1e-6L)
			return false;
	}
	return true;
}

/*
 * The extremes of a linear programme lie at vertices: lines through two limits, or through one at
 * the greatest rate allowed.
 */
static void extremes(const struct band_limit *l, size_t n, double rho, int64_t x, long double *low,
		     long double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n + 2; k++) {
			long double r = k >= n ? (k == n ? rho : -rho) : 0, v;

			if (k < n && l[i].x == l[k].x)
				continue;
			if (k < n)
				r = (long double)(l[k].bound - l[i].bound) /
				    (long double)(l[k].x - l[i].x);
			if (fabsl(r) > rho || !feasible(l, n, l[i].x, (long double)l[i].bound, r))
				continue;
			v = (long double)l[i].bound + r * (long double)(x - l[i].x);
			*low = fminl(*low, v);
			*high = fmaxl(*high, v);
		}
}

static void without_wander_the_band_is_the_linear_programme(void **state)
{
	struct draw d = draw_begin(4);
	const double none = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		double rho = uniform(&d, 1e-5, 4e-4);
		int64_t span = 1000000 + (int64_t)draw_below(&d, 600000000000);
		size_t n = 4 + (size_t)draw_below(&d, 12);
		struct band_limit l[LIMITS];
		struct band b = { 0 };
		struct truth t;

		random_truth(&d, &t, about(&d, 1000000000000), span, rho, 0);
		limits_of(&d, &t, l, n, span);
		make(&b, l, n, t.start - span / 4, t.start + span + span / 4, rho, &none);
		assert_false(b.empty);
		for (size_t k = 0; k < b.n; k++) {
			long double low, high, want_low, want_high;
			int64_t x = b.point[k].x + 1 + about(&d, span / 400);

			at(&b, b.point[k].x, &low, &high);
			extremes(l, n, rho, b.point[k].x, &want_low, &want_high);
			if (fabsl(low - want_low) > 2 || fabsl(high - want_high) > 2)
				fail_msg("x = %" PRId64 ": %.3Lf to %.3Lf, not %.3Lf to %.3Lf",
					 b.point[k].x, low, high, want_low, want_high);
			/* between its points it may only be wider */
			at(&b, x, &low, &high);
			extremes(l, n, rho, x, &want_low, &want_high);
			assert_true(low <= want_low && want_high <= high);
		}
		band_free(&b);
	}
}

static void wander_band_tells_a_contradiction(void **state)
{
	/* 100 ns late after 1 s, and early again after 2: with 50 ns/s^2 at the most */
	struct band_limit l[] = {
		{ 0, -1, true, 0 },          { 0, 1, false, 1 },
		{ 1000000000, 99, true, 2 }, { 1000000000, 101, false, 3 },
		{ 2000000000, -1, true, 4 }, { 2000000000, 1, false, 5 },
	};
	double wander = 50e-9;
	struct band b = { 0 };

	(void)state;
	make(&b, l, 6, 0, 2000000000, 1e-4, &wander);
	assert_true(b.empty && b.worst > 20);
	wander = 250e-9;
	make(&b, l, 6, 0, 2000000000, 1e-4, &wander);
	assert_false(b.empty);
	band_free(&b);
}

/* ---- clocks that were set ---- */

#define MESSAGES 600
#define SPAN 120000000000

/*
 * Messages both ways in two minutes, 150 us and exponential beyond; theta steps by @step at @when.
 */
static void stepped(struct draw *d, struct band_limit *l, int64_t when, int64_t step, double rate)
{
	for (size_t i = 0; i < MESSAGES; i++) {
		int64_t x = (int64_t)draw_below(d, SPAN);
		double theta = rate * (double)x + (x >= when ? (double)step : 0);
		double flight = 150e3 - 400e3 * log(1 - uniform(d, 0, 1));

		l[i].x = x;
		l[i].lower = i % 2;
		l[i].bound = llround(l[i].lower ? theta - flight : theta + flight);
		l[i].id = (uint32_t)i;
	}
}

static void a_step_anywhere_leaves_the_band_true(void **state)
{
	static const int64_t steps[] = { 0, 100000, 300000, 1000000, 3000000 };
	struct draw d = draw_begin(7);
	double plain = 0, settable = 0;

	(void)state;
	for (int k = 0; k < 200; k++) {
		int64_t step = steps[k % 5],
			when = SPAN / 10 + (int64_t)draw_below(&d, SPAN * 8 / 10);
		double rate = uniform(&d, -40e-6, 40e-6);
		struct band_limit l[MESSAGES];
		struct band b = { 0 }, two_sided = { 0 };
		struct cvl_error err;

		stepped(&d, l, when, step, rate);
		if (!step)
			make(&two_sided, l, MESSAGES, 0, SPAN, 50e-6, NULL);
		assert_int_equal(band_make_settable(&b, l, MESSAGES, 50e-6, &err), 0);
		assert_false(b.empty);
		assert_true(b.cuts <= (step ? 1 : 0));
		if (b.cuts)
			assert_true(b.cut_from <= when && when <= b.cut_to);
		if (step >= 3000000)
			assert_int_equal(b.cuts, 1);
		for (int i = 0; i < 300; i++) {
			int64_t x = SPAN / 20 + (int64_t)draw_below(&d, SPAN * 9 / 10);
			long double theta = rate * (double)x + (x >= when ? (double)step : 0), low,
				    high;

			at(&b, x, &low, &high);
			if (theta < low - 2 || theta > high + 2)
				fail_msg("%d: a step of %lld ns: outside at %lld", k,
					 (long long)step, (long long)x);
			if (step)
				continue;
			settable += (double)(high - low);
			at(&two_sided, x, &low, &high);
			plain += (double)(high - low);
		}
		band_free(&b);
		band_free(&two_sided);
	}
	printf("%.2f times as wide as if the clock could not be set\n", settable / plain);
	assert_true(settable < 1.8 * plain);
}

static void two_steps_are_two_cuts(void **state)
{
	struct draw d = draw_begin(8);
	struct band_limit l[MESSAGES];
	struct band b = { 0 };
	struct cvl_error err;

	(void)state;
	stepped(&d, l, SPAN / 3, 5000000, 1e-5);
	for (size_t i = 0; i < MESSAGES; i++)
		if (l[i].x > 2 * (SPAN / 3))
			l[i].bound -= 8000000;
	assert_int_equal(band_make_settable(&b, l, MESSAGES, 50e-6, &err), 0);
	assert_false(b.empty);
	assert_int_equal(b.cuts, 2);
	assert_true(b.cut_from <= SPAN / 3 && SPAN / 3 <= b.cut_to);
	band_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cones_are_the_extremes_over_all_limits),
		cmocka_unit_test(contradiction_names_the_worst_pair),
		cmocka_unit_test(one_direction_bounds_nothing),
		cmocka_unit_test(wander_band_holds_the_truth),
		cmocka_unit_test(without_wander_the_band_is_the_linear_programme),
		cmocka_unit_test(wander_band_tells_a_contradiction),
		cmocka_unit_test(a_step_anywhere_leaves_the_band_true),
		cmocka_unit_test(two_steps_are_two_cuts),
	};

	setenv("COEVAL_SEED", "1", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
