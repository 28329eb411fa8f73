/* SPDX-License-Identifier: MIT */
#include "analysis/precision/internal.h"

#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>

const double cvl_precision_levels[CVL_PRECISION_LEVELS] = {
	0.5, 0.9, 0.955, 0.99, 0.997, 0.9999, 1
};

int precision_bin_add(struct cvl_precision_bins *bins, const struct cvl_precision_bin *b)
{
	size_t at = bins->n;

	bins->count += b->count;
	bins->ticks += b->ticks;
	while (at && bins->bin[at - 1].low > b->low)
		at--;
	if (at && bins->bin[at - 1].low == b->low) {
		struct cvl_precision_bin *same = &bins->bin[at - 1];

		same->count += b->count;
		same->ticks += b->ticks;
		same->high = b->high > same->high ? b->high : same->high;
		return 0;
	}
	if (cvl_room(&bins->bin, bins->n, &bins->room, sizeof(*bins->bin)))
		return CVL_E_NOMEM;
	memmove(bins->bin + at + 1, bins->bin + at, (bins->n - at) * sizeof(*bins->bin));
	bins->bin[at] = *b;
	bins->n++;
	return 0;
}

/* The bin at which the bins so far cover @share of the time. */
static size_t reaches(const struct cvl_precision_bins *b, double share, uint64_t *count,
		      uint64_t *ticks)
{
	size_t i = 0;

	*count = *ticks = 0;
	do {
		*count += b->bin[i].count;
		*ticks += b->bin[i].ticks;
	} while ((double)*ticks < share * (double)b->ticks && ++i < b->n);
	return i < b->n ? i : b->n - 1;
}

struct cvl_precision_level cvl_precision_at(const struct cvl_precision_clock *c, double share)
{
	struct cvl_precision_level l = { .share = share, .time = 1, .steps = 1 };
	uint64_t count, ticks;
	size_t i;

	l.tau = c->longest;
	l.bracket = c->widest;
	if (share >= 1 || !c->step.n)
		return l;
	i = reaches(&c->step, share, &count, &ticks);
	if (c->step.bin[i].high < l.tau)
		l.tau = c->step.bin[i].high;
	l.time = c->step.ticks ? (double)ticks / (double)c->step.ticks : 1;
	l.steps = c->step.count ? (double)count / (double)c->step.count : 1;
	if (!c->span.n) { /* two steps, then */
		if (l.tau < l.bracket / 2)
			l.bracket = 2 * l.tau;
		return l;
	}
	i = reaches(&c->span, share, &count, &ticks);
	if (c->span.bin[i].high < l.bracket)
		l.bracket = c->span.bin[i].high;
	return l;
}

int64_t cvl_precision_ns(const struct cvl_precision_clock *c, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u + c->rate_hz - 1;

	ns /= c->rate_hz;
	return ns > INT64_MAX - 1 ? INT64_MAX - 1 : (int64_t)ns;
}
