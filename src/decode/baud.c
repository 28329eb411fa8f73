/* SPDX-License-Identifier: MIT */
#include "decode/baud.h"

#include <math.h>
#include <stdlib.h>

/* Pulses needed to determine a rate. */
#define ENOUGH 8
/* One pulse in this many may be a glitch, shorter than any bit. */
#define GLITCHES 64
/*
 * How far a pulse may be from a multiple, as a fraction of a unit, besides the rounding of a tick.
 */
#define SPREAD 0.15
#define ROUNDING 0.75
/*
 * Fraction of the pulses that must be multiples. High pulses of a serial line may include a pause
 * of any length.
 */
#define MULTIPLES 0.66

bool baud_keep(struct baud *b, uint64_t tick, bool level)
{
	if (b->n == BAUD_LEARN)
		return false;
	if (b->n && b->level[b->n - 1] == level)
		return true; /* another line of the capture changed */
	b->tick[b->n] = tick;
	b->level[b->n] = level;
	return ++b->n < BAUD_LEARN;
}

static int by_length(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Mean of the shortest pulses: those up to 1.5 times the shortest that is not a glitch. */
static double shortest(const double *sorted, unsigned n)
{
	double least = sorted[n / GLITCHES], sum = 0;
	unsigned count = 0;

	for (unsigned i = n / GLITCHES; i < n && sorted[i] <= 1.5 * least + 1; i++, count++)
		sum += sorted[i];
	return sum / count;
}

/*
 * Least squares of length = k x unit over the pulses of up to @longest units that are multiples, k
 * being the nearest number. @share: the fraction that are, of those up to @longest.
 */
static double fit(const double *sorted, unsigned n, double unit, unsigned longest, double *share)
{
	double wk = 0, kk = 0;
	unsigned seen = 0, used = 0;

	for (unsigned i = n / GLITCHES; i < n && sorted[i] < (longest + 0.5) * unit; i++) {
		double k = round(sorted[i] / unit);

		seen++;
		if (k < 1 || fabs(sorted[i] - k * unit) > SPREAD * unit + ROUNDING)
			continue;
		wk += sorted[i] * k;
		kk += k * k;
		used++;
	}
	*share = seen ? (double)used / seen : 0;
	return kk > 0 ? wk / kk : 0;
}

double baud_unit(const struct baud *b, unsigned longest)
{
	double length[BAUD_LEARN], unit, share = 0;
	unsigned n = 0;

	for (unsigned i = 1; i < b->n; i++)
		if (b->tick[i] > b->tick[i - 1])
			length[n++] = (double)(b->tick[i] - b->tick[i - 1]);
	if (n < ENOUGH)
		return 0;
	qsort(length, n, sizeof(*length), by_length);
	unit = shortest(length, n);
	for (unsigned up_to = 1; unit > 0; up_to = up_to * 2 < longest ? up_to * 2 : longest) {
		unit = fit(length, n, unit, up_to, &share);
		if (up_to == longest)
			break;
	}
	return unit >= 2 && share >= MULTIPLES ? unit : 0;
}

int baud_idle(const struct baud *b, double unit, unsigned longest)
{
	unsigned count[2] = { 0, 0 };

	for (unsigned i = 1; i < b->n; i++)
		if ((double)(b->tick[i] - b->tick[i - 1]) > unit * longest + 1)
			count[b->level[i - 1]]++;
	if (count[0] == count[1])
		return -1;
	return count[1] > count[0];
}
