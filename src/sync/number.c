/* SPDX-License-Identifier: MIT */
/*
 * The time between two marks is a whole number of periods of a clock that is off by little:
 * round(dx / period) gives the number, even over hours once the rate is known to some ppm. A beacon
 * whose number disagrees is wrongly numbered, unless those after it agree with it: then its
 * sender's numbers, or this clock, have jumped.
 */
#include "sync/number.h"

#include "sync/problem.h"

#include <math.h>
#include <stdlib.h>

#define RATE_SEARCH 2000e-6
#define AGREE 3       /* marks that confirm a jump */
#define RATE_MARKS 16 /* marks a rate is measured over */

struct follower {
	struct heard *const *m;
	double period; /* by the clock's own time */
	size_t recent[RATE_MARKS];
	size_t n;
};

/* Periods from the last good mark to mark @i. */
static int64_t expected(const struct follower *f, size_t last, size_t i)
{
	return (int64_t)llround((double)(f->m[i]->x - f->m[last]->x) / f->period);
}

static void good_mark(struct follower *f, size_t i, double nominal)
{
	size_t oldest;
	int64_t dk;

	f->recent[f->n++ % RATE_MARKS] = i;
	oldest = f->recent[f->n < RATE_MARKS ? 0 : f->n % RATE_MARKS];
	dk = f->m[i]->number - f->m[oldest]->number;
	if (f->n > 3 && dk > 0) {
		double seen = (double)(f->m[i]->x - f->m[oldest]->x) / (double)dk;

		if (fabs(seen / nominal - 1) < RATE_SEARCH)
			f->period = seen;
	}
}

static bool confirmed(const struct follower *f, size_t i, size_t n)
{
	size_t agree = 0;

	for (size_t k = i + 1; k < n && k <= i + AGREE; k++)
		agree += f->m[k]->number - f->m[i]->number == expected(f, i, k) &&
			 f->m[k]->number > f->m[i]->number;
	return agree >= AGREE - (n - i - 1 < AGREE ? AGREE - (n - i - 1) : 0) && agree >= 2;
}

static size_t first_good(const struct follower *f, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (confirmed(f, i, n))
			return i;
	return n;
}

/* What is not changed is not written: it may lie in a file. */
static void judge(struct heard *m, bool bad)
{
	if (m->bad != bad)
		m->bad = bad;
}

void check_numbers(struct heard *const *m, size_t n, int64_t nominal, struct number_jump *jump,
		   size_t *n_jumps, void (*rest)(const void *ctx), const void *ctx)
{
	struct follower f = { .m = m, .period = (double)nominal };
	size_t last = first_good(&f, n);

	*n_jumps = 0;
	for (size_t i = 0; i < last && i < n; i++)
		judge(m[i], last < n || n > AGREE);
	if (last >= n)
		return;
	good_mark(&f, last, (double)nominal);
	for (size_t i = last + 1; i < n; i++) {
		int64_t by = m[i]->number - m[last]->number, due = expected(&f, last, i);

		if (rest && !(i % SYNC_REST_MARKS))
			rest(ctx);
		if (by != due || by <= 0) {
			if (by == due || !confirmed(&f, i, n) || *n_jumps == NUMBER_JUMPS_MAX) {
				judge(m[i], true);
				continue;
			}
			jump[(*n_jumps)++] =
				(struct number_jump){ i, m[last]->number, m[last]->number + due,
						      by - due };
			f.n = 0;
		}
		judge(m[i], false);
		last = i;
		good_mark(&f, i, (double)nominal);
	}
}
