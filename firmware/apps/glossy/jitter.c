/* SPDX-License-Identifier: MIT */
#include "jitter.h"

/* @a / @b to the nearest, halves up, @b above 0. */
static int64_t nearest(int64_t a, int64_t b)
{
	int64_t q = a / b, r = a % b;

	if (r < 0) {
		r += b;
		q--;
	}
	return q + (r * 2 >= b);
}

void jitter_init(struct jitter *j, uint16_t alpha, uint8_t m, uint64_t period)
{
	*j = (struct jitter){ .alpha = alpha, .m = m, .period = period };
}

/* Place of the reference time @back before the newest. */
static unsigned place(const struct jitter *j, unsigned back)
{
	return (j->newest + JITTER_M_MOST + 1 - back) % (JITTER_M_MOST + 1);
}

/* Of the last M floods: none older than M periods, but two reference times at least. */
uint64_t jitter_interval(const struct jitter *j)
{
	unsigned back = j->n ? j->n - 1 : 0, first;
	uint32_t periods;

	if (!back)
		return j->period;
	while (back > 1 && j->last[j->newest].index - j->last[place(j, back)].index > j->m)
		back--;
	first = place(j, back);
	periods = j->last[j->newest].index - j->last[first].index;
	return (uint64_t)nearest((int64_t)(j->last[j->newest].at - j->last[first].at), periods);
}

uint64_t jitter_expect(const struct jitter *j, uint32_t periods)
{
	return j->at + jitter_interval(j) * periods;
}

uint64_t jitter_put(struct jitter *j, uint64_t at, uint32_t periods)
{
	if (!j->n) {
		j->at = at;
	} else {
		uint64_t expected = jitter_expect(j, periods);

		j->at = expected +
			(uint64_t)nearest((int64_t)(at - expected) * j->alpha, JITTER_ALPHA_ONE);
		j->index += periods;
	}
	j->newest = (j->newest + 1) % (JITTER_M_MOST + 1);
	j->last[j->newest].at = at;
	j->last[j->newest].index = j->index;
	if (j->n < JITTER_M_MOST + 1)
		j->n++;
	return j->at;
}

uint64_t jitter_miss(struct jitter *j)
{
	j->at = jitter_expect(j, 1);
	j->index++;
	return j->at;
}
