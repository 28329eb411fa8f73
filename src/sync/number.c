/* SPDX-License-Identifier: MIT */
/*
 * Time passes between two marks by whole periods of a clock that is off by little: round(dx / period) tells how many,
 * even over hours once the rate is known to some ppm. A beacon whose number disagrees is numbered wrongly, unless those
 * after it agree with it: then its sender's numbers, or this clock, have jumped.
 *
 * Of pulses period and phase are first found as the peak of |sum exp(2 pi i x / period)| over rates up to +-2000 ppm
 * in a short window, which missing, extra and jittery pulses only lower.
 */
#include "sync/number.h"

#include <math.h>
#include <stdlib.h>

#define RATE_SEARCH 2000e-6
#define FIRST_WINDOW 240
#define FIRST_PERIODS 4096
#define NEAR 0.125    /* of a period: a pulse further from where one is due is none */
#define AGREE 3       /* marks that confirm a jump */
#define RATE_MARKS 16 /* the rate is taken over so many */

/* ---- pulses ---- */

static double coherence(struct heard *const *m, size_t n, double period, double *phase)
{
	double re = 0, im = 0;

	for (size_t i = 0; i < n; i++) {
		double a = 2 * M_PI * fmod((double)(m[i]->x - m[0]->x) / period, 1);

		re += cos(a);
		im += sin(a);
	}
	*phase = atan2(im, re) / (2 * M_PI) * period;
	return sqrt(re * re + im * im) / (double)n;
}

/* So many marks as are searched together: not more periods than rates can be told apart in reasonable time. */
static size_t first_window(struct heard *const *m, size_t n, double nominal)
{
	size_t w = n < FIRST_WINDOW ? n : FIRST_WINDOW;

	while (w > 1 && (double)(m[w - 1]->x - m[0]->x) > FIRST_PERIODS * nominal)
		w--;
	return w;
}

/* Period of the pulses as the clock sees it, and the x of one of them, from that of the first. */
static double find_period(struct heard *const *m, size_t n, double nominal, double *phase)
{
	size_t w = first_window(m, n, nominal);
	double span = fmax((double)(m[w - 1]->x - m[0]->x), nominal);
	double step = fmin(nominal / span / 16, RATE_SEARCH / 8), best = -1, period = nominal;

	for (double e = -RATE_SEARCH; e <= RATE_SEARCH; e += step) {
		double p, c = coherence(m, w, nominal * (1 + e), &p);

		if (c > best) {
			best = c;
			period = nominal * (1 + e);
			*phase = p;
		}
	}
	return period;
}

static void count_pulses(struct heard *const *m, size_t n, int64_t nominal, int64_t grid)
{
	double phase = 0, period = find_period(m, n, (double)nominal, &phase), slow = period;
	double at = (double)m[0]->x + phase; /* where a pulse is due, in x */
	int64_t first = (int64_t)llround((at + (double)grid) / (double)nominal), number = first;
	size_t good = 0;

	for (size_t i = 0; i < n; i++) {
		double ahead = ((double)(m[i]->x) - at) / slow;
		int64_t by = (int64_t)llround(ahead);

		m[i]->bad = fabs(ahead - (double)by) > NEAR || (good && by <= 0);
		if (m[i]->bad)
			continue;
		number += by;
		m[i]->number = number;
		/* follow slowly: a single late pulse must not pull the next ones along */
		at += (double)by * slow + 0.3 * ((double)m[i]->x - at - (double)by * slow);
		if (by > 0)
			slow += 0.05 * (ahead - (double)by) / (double)by * slow;
		good++;
	}
}

/* ---- numbered beacons ---- */

struct follower {
	struct heard *const *m;
	double period; /* as the clock sees it */
	size_t recent[RATE_MARKS];
	size_t n;
};

/* How many periods after the last good mark @i is. */
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

static void check_numbers(struct heard *const *m, size_t n, int64_t nominal,
			  struct number_jump *jump, size_t *n_jumps)
{
	struct follower f = { .m = m, .period = (double)nominal };
	size_t last = first_good(&f, n);

	for (size_t i = 0; i < last && i < n; i++)
		m[i]->bad = last < n || n > AGREE;
	if (last >= n)
		return;
	good_mark(&f, last, (double)nominal);
	for (size_t i = last + 1; i < n; i++) {
		int64_t by = m[i]->number - m[last]->number, due = expected(&f, last, i);

		m[i]->bad = false;
		if (by != due || by <= 0) {
			if (by == due || !confirmed(&f, i, n) || *n_jumps == NUMBER_JUMPS_MAX) {
				m[i]->bad = true;
				continue;
			}
			jump[(*n_jumps)++] =
				(struct number_jump){ i, m[last]->number, m[last]->number + due,
						      by - due };
			f.n = 0;
		}
		last = i;
		good_mark(&f, i, (double)nominal);
	}
}

void number_marks(struct heard *const *m, size_t n, bool numbered, int64_t period, int64_t phase,
		  struct number_jump *jump, size_t *n_jumps)
{
	*n_jumps = 0;
	if (n && numbered)
		check_numbers(m, n, period, jump, n_jumps);
	else if (n)
		count_pulses(m, n, period, phase);
}
