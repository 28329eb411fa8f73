/* SPDX-License-Identifier: MIT */
#include "probes.h"

unsigned ett_events(const struct ett_record *r, unsigned probes, unsigned bits)
{
	unsigned n = 0;

	for (unsigned p = 0; p < probes; p++)
		n += ett_changed(r, p, bits);
	return n;
}

bool ett_zero(uint8_t value, uint8_t before, unsigned bits)
{
	if (bits == 8)
		return !value && before;
	return bits == 4 && ((!(value & 15) && before & 15) || (!(value >> 4) && before >> 4));
}

void ett_set_width(struct ett_record *r, uint64_t ticks)
{
	const uint64_t unit = (uint64_t)1 << ETT_WIDE_SHIFT;

	r->flags = 0;
	if (ticks > UINT32_MAX) {
		ticks = ticks / unit + (ticks % unit != 0);
		r->flags = ETT_WIDE;
	}
	r->width = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

void ett_events_count(struct ett_events *e)
{
	e->events = 0;
	for (uint64_t i = 0; i < e->n; i++)
		e->events += ett_events(&e->record[i], e->probes, e->bits);
}

/* To the first event at or behind @p; false: there is none. */
static bool settle(const struct ett_events *e, struct ett_place *p)
{
	for (; p->record < e->n; p->record++, p->probe = 0)
		for (; p->probe < e->probes; p->probe++)
			if (ett_changed(&e->record[p->record], p->probe, e->bits))
				return true;
	return false;
}

struct ett_place ett_first(const struct ett_events *e)
{
	struct ett_place p = { 0, 0, 0 };

	settle(e, &p);
	return p;
}

bool ett_next(const struct ett_events *e, struct ett_place *p)
{
	struct ett_place next = *p;

	if (p->record >= e->n)
		return false;
	next.probe++;
	if (!settle(e, &next))
		return false;
	next.number++;
	*p = next;
	return true;
}

bool ett_back(const struct ett_events *e, struct ett_place *p)
{
	struct ett_place back = *p;

	if (!p->number)
		return false;
	for (;;) {
		if (back.probe) {
			back.probe--;
		} else if (back.record) {
			back.record--;
			back.probe = e->probes - 1;
		} else {
			return false;
		}
		if (ett_changed(&e->record[back.record], back.probe, e->bits))
			break;
	}
	back.number--;
	*p = back;
	return true;
}

struct ett_place ett_last(const struct ett_events *e)
{
	struct ett_place p = { e->n, e->events, 0 };

	ett_back(e, &p);
	return p;
}
