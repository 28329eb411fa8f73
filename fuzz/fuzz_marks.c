/* SPDX-License-Identifier: MIT */
/*
 * Marks of any kind pushed through every tracker, and numbered.
 *
 * The first bytes choose rate, period, resolution and base; then each mark is 9 bytes: how far x is
 * from where the next one is due (two bytes and a shift), how far off the offset is (likewise), its
 * variance, and its source.
 */
#include "../src/sync/count.h"
#include "../src/sync/problem.h"
#include "../src/sync/track.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MARKS_MAX 150 /* a capture of any length would take a sanitized smoother seconds */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct estimator *const estimators[] = {
	&estimator_smooth, &estimator_lag,   &estimator_kalman,   &estimator_regress,
	&estimator_line,   &estimator_grace, &estimator_tracelab,
};
static const int64_t periods[] = { 1000000000,    1, 1000, 100000000, 10000000000, 3600000000000,
				   86400000000000 };
static const uint64_t rates[] = { 16000000, 1, 1000, 32768, 1000000000, 10000000000 };

struct seen {
	int64_t x;
	bool any;
};

/* What struct track and maps are made of: a number for each time, and a bound that is one. */
static int look(void *ctx, const struct track_knot *k)
{
	struct seen *s = ctx;

	if (!isfinite(k->offset) || !isfinite(k->bound) || k->bound < 0)
		abort();
	if (s->any && k->x < s->x) /* equal ones are dropped by track_keep() */
		abort();
	s->x = k->x;
	s->any = true;
	return 0;
}

/* A number of either sign, of any size up to 2^@most. */
static int64_t any_size(const uint8_t *b, unsigned most)
{
	unsigned shift = b[2] % (most - 15);
	int64_t v = (int16_t)(uint16_t)(b[0] | b[1] << 8);

	return (int64_t)((uint64_t)v << shift);
}

static void track(const struct tracker *t, const struct track_setup *setup,
		  const struct track_mark *m, size_t n)
{
	struct seen seen = { 0 };
	struct track_report r = { .emit = look, .ctx = &seen };
	void *state = t->open(setup, &r);
	int rc = 0;

	if (!state)
		return;
	for (size_t i = 0; i < n && !rc; i++)
		rc = t->feed(state, &m[i]);
	rc = t->close(state, rc);
	if (rc && rc != CVL_E_NO && rc != CVL_E_NOMEM && rc != CVL_E_RANGE)
		abort();
	/* edges need not be finite: cvl_map_new() refuses those that are not */
}

static void number(const struct track_mark *m, size_t n, bool numbered, int64_t period)
{
	static struct heard heard[MARKS_MAX], *list[MARKS_MAX];
	struct number_jump jump[NUMBER_JUMPS_MAX];
	struct pulse_count found;
	size_t n_jumps = 0;
	int64_t before = 0;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		int64_t k = (int64_t)m[i].var + (int64_t)i;

		if (m[i].source & 2)
			k = INT64_MAX / 1000000000 - k;
		heard[i] = (struct heard){ .x = m[i].x, .number = k };
		list[i] = &heard[i];
	}
	if (numbered)
		check_numbers(list, n, period, jump, &n_jumps, NULL, NULL);
	else if (count_pulses(list, n, period, 1700000000000000000 % period, n % 2 ? 200 : 0.001,
			      &found))
		return; /* out of memory */
	if (n_jumps > NUMBER_JUMPS_MAX)
		abort();
	for (size_t i = 0; i < n_jumps; i++)
		if (jump[i].at >= n || !jump[i].by)
			abort();
	for (size_t i = 0; i < n && !n_jumps; i++) {
		if (heard[i].bad)
			continue;
		/* too few to be checked are left as they are */
		if (any && heard[i].number < before && !numbered)
			abort();
		before = heard[i].number;
		any = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct track_mark mark[MARKS_MAX];
	struct track_setup setup;
	int64_t period, x;
	size_t marks = 0;

	if (n < 8)
		return 0;
	period = periods[data[0] % (sizeof(periods) / sizeof(*periods))];
	setup = (struct track_setup){ .rate_hz = rates[data[1] % (sizeof(rates) / sizeof(*rates))],
				      .period_ns = (double)period,
				      .base = any_size(data + 2, 60) };
	setup.resolution_ns = fmax(ceil(1e9 / (double)setup.rate_hz), 1) * (1 + data[5] % 8);
	x = any_size(data + 2, 60);
	for (size_t i = 8; i + 9 <= n && marks < MARKS_MAX; i += 9) {
		const uint8_t *b = data + i;
		int64_t step = any_size(b, 56);

		/* in the order of x, as all callers push them */
		if (__builtin_add_overflow(x, period, &x) ||
		    __builtin_add_overflow(x, step < -period ? -period : step, &x) ||
		    x > INT64_MAX / 4 || x < INT64_MIN / 4)
			break;
		mark[marks++] = (struct track_mark){ .x = x,
						     .offset = (double)any_size(b + 3, 60),
						     .var = ldexp(1, b[6] % 40) - 1,
						     .source = b[7] % 4 };
	}
	if (!marks)
		return 0;
	if (data[7] & 1) {
		number(mark, marks, data[6] & 1, period);
		return 0;
	}
	for (size_t e = 0; e < sizeof(estimators) / sizeof(*estimators); e++)
		if (data[6] % 8 == 7 || data[6] % 8 == e)
			track(estimators[e]->tracker, &setup, mark, marks);
	return 0;
}
