/* SPDX-License-Identifier: MIT */
#include "analysis/durations.h"

#include <stdlib.h>

#include <coeval/error.h>

#define DURATIONS_MAX (1u << 24)
#define LEFT_OUT 100 /* at most one in this many, at each end */
#define CROWDED 4    /* if the others occupy at most one in this many bins */

static const unsigned permille[CVL_PERCENTILES] = { 500, 900, 990, 999 };

int durations_add(struct cvl_durations *t, int64_t ns, int64_t bound_ns)
{
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		int64_t *grown;

		if (t->n >= DURATIONS_MAX)
			return CVL_E_LIMIT;
		if (!(grown = reallocarray(t->ns, room, sizeof(*grown))))
			return CVL_E_NOMEM;
		t->ns = grown;
		if (!(grown = reallocarray(t->bound_ns, room, sizeof(*grown))))
			return CVL_E_NOMEM;
		t->bound_ns = grown;
		t->room = room;
	}
	t->ns[t->n] = ns;
	t->bound_ns[t->n++] = bound_ns;
	return 0;
}

/* ---- sums ---- */

static int by_value(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;

	return a < b ? -1 : a > b;
}

static int64_t mean_of(const int64_t *v, size_t n)
{
	__int128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return (int64_t)(sum / (__int128)n);
}

static int sum_up(struct cvl_durations *t)
{
	int64_t *v = reallocarray(NULL, t->n, 3 * sizeof(*v)), *low, *high;

	if (!v)
		return CVL_E_NOMEM;
	low = v + t->n;
	high = low + t->n;
	for (size_t i = 0; i < t->n; i++) {
		v[i] = t->ns[i];
		/* durations are not negative */
		low[i] = t->bound_ns[i] < v[i] ? v[i] - t->bound_ns[i] : 0;
		high[i] = cvl_add_sat(v[i], t->bound_ns[i]);
	}
	/* the mean is rounded down, hence one ns more at the high end */
	t->mean = (struct cvl_figure){ mean_of(v, t->n), mean_of(low, t->n),
				       cvl_add_sat(mean_of(high, t->n), 1) };
	qsort(v, t->n, sizeof(*v), by_value);
	qsort(low, t->n, sizeof(*v), by_value);
	qsort(high, t->n, sizeof(*v), by_value);
	t->best = (struct cvl_figure){ v[0], low[0], high[0] };
	t->worst = (struct cvl_figure){ v[t->n - 1], low[t->n - 1], high[t->n - 1] };
	for (size_t i = 0; i < CVL_PERCENTILES; i++) {
		size_t k = (t->n * permille[i] + 999) / 1000 - 1;

		t->permille[i] = permille[i];
		t->percentile[i] = (struct cvl_figure){ v[k], low[k], high[k] };
	}
	free(v);
	return 0;
}

/* ---- histogram ---- */

/* 1, 2 or 5 times a power of ten, near @raw, which is 1 or more. */
static int64_t round_step(double raw)
{
	double unit = 1;

	while (unit * 10 <= raw)
		unit *= 10;
	return (int64_t)(raw <= 1.5 * unit ? unit :
			 raw <= 3.5 * unit ? 2 * unit :
			 raw <= 7.5 * unit ? 5 * unit :
					     10 * unit);
}
/* Bins from @least to @most; others are left out. */
static void fill_between(struct cvl_bins *b, const struct cvl_durations *t, int64_t least,
			 int64_t most)
{
	*b = (struct cvl_bins){ .width = 1 };
	if (most - least > CVL_BINS_MAX / 2)
		b->width = round_step((double)(most - least) / (CVL_BINS_MAX / 2));
	for (;; b->width *= 2) {
		b->width = b->width < 1 ? 1 : b->width;
		b->first = least - ((least % b->width) + b->width) % b->width;
		b->n = (size_t)((most - b->first) / b->width) + 1;
		if (b->n <= CVL_BINS_MAX)
			break;
	}
	for (size_t i = 0; i < t->n; i++) {
		const int64_t at = t->ns[i] - b->first;

		if (at < 0) {
			b->shorter++;
		} else if (at / b->width >= (int64_t)b->n) {
			b->longer++;
		} else {
			uint64_t *count = &b->count[at / b->width];

			(*count)++;
			b->most = *count > b->most ? *count : b->most;
		}
	}
}

/* Least and greatest of the times within *@least to *@most, of which there is at least one. */
static void tighten(const struct cvl_durations *t, int64_t *least, int64_t *most)
{
	int64_t lo = *most, hi = *least;

	for (size_t i = 0; i < t->n; i++)
		if (t->ns[i] >= *least && t->ns[i] <= *most) {
			lo = t->ns[i] < lo ? t->ns[i] : lo;
			hi = t->ns[i] > hi ? t->ns[i] : hi;
		}
	*least = lo;
	*most = hi;
}

static void fill_bins(struct cvl_bins *b, const struct cvl_durations *t)
{
	const uint64_t few = t->n / LEFT_OUT;
	int64_t least = INT64_MIN, most = INT64_MAX;

	for (;;) {
		size_t lo = 0, hi;
		uint64_t shorter, longer;

		tighten(t, &least, &most);
		fill_between(b, t, least, most);
		hi = b->n;
		shorter = b->shorter;
		longer = b->longer;
		while (lo < hi && shorter + b->count[lo] <= few)
			shorter += b->count[lo++];
		while (hi > lo && longer + b->count[hi - 1] <= few)
			longer += b->count[--hi];
		if (b->width == 1 || (hi - lo) * CROWDED > b->n)
			return;
		least = b->first + b->width * (int64_t)lo;
		most = b->first + b->width * (int64_t)hi - 1;
	}
}

int durations_conclude(struct cvl_durations *t)
{
	if (!t->n)
		return 0;
	fill_bins(&t->bins, t);
	return sum_up(t);
}

void durations_free(struct cvl_durations *t)
{
	free(t->ns);
	free(t->bound_ns);
	t->ns = t->bound_ns = NULL;
	t->n = t->room = 0;
}
