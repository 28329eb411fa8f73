/* SPDX-License-Identifier: MIT */
#include "selftest.h"

#include <stdbool.h>

#include "ett/probes.h"

/* xorshift64* (Vigna, 2016) */
static uint64_t draw(struct ett_edges *e)
{
	e->random ^= e->random >> 12;
	e->random ^= e->random << 25;
	e->random ^= e->random >> 27;
	return e->random * UINT64_C(2685821657736338717);
}

uint8_t ett_edges_next(struct ett_edges *e, uint8_t before)
{
	for (;;) {
		uint8_t v = (uint8_t)(draw(e) >> 32);

		if (v == before || ett_zero(v, 0xff, e->bits))
			continue;
		return v;
	}
}

uint64_t ett_edges_hold(struct ett_edges *e)
{
	/*
	 * a power of two between 1 and dwell, then anything below it: short ones are as likely as
	 * long ones
	 */
	uint64_t most = e->dwell >> draw(e) % 12;

	return most ? draw(e) % most : 0;
}

static uint64_t from(const struct ett_record *r)
{
	return r->tick - ett_width(r);
}

static bool meet(const struct ett_record *a, const struct ett_record *b)
{
	return from(a) <= b->tick && from(b) <= a->tick;
}

/* How long store @k was surely held while it was looked at, ticks. */
static uint64_t held(const struct ett_record *store, uint64_t k, uint64_t m, uint64_t end)
{
	uint64_t until = k + 1 < m && from(&store[k + 1]) < end ? from(&store[k + 1]) : end;

	return until > store[k].tick ? until - store[k].tick : 0;
}

struct ett_verdict ett_judge(const struct ett_record *record, uint64_t n,
			     const struct ett_record *store, uint64_t m, uint64_t pulse,
			     uint64_t end)
{
	struct ett_verdict v = { .stores = m };
	uint64_t k = 0;
	unsigned shown = n ? record[0].before : 256; /* that the lines showed last */

	for (uint64_t i = 0; i <= n; i++) {
		uint64_t found = k;

		if (i < n && record[i].value == record[i].before)
			continue;
		while (i < n && found < m && from(&store[found]) <= record[i].tick &&
		       !(store[found].value == record[i].value && meet(&store[found], &record[i])))
			found++;
		if (i == n)
			found = m;
		else if (found == m || from(&store[found]) > record[i].tick) {
			v.apart++;
			continue;
		}
		for (; k < found; k++) {
			if (store[k].value != shown && held(store, k, m, end) > pulse)
				v.missed++;
			else
				v.shorter++;
		}
		if (i < n) {
			v.seen++;
			shown = record[i].value;
			k = found + 1;
		}
	}
	return v;
}
