/* SPDX-License-Identifier: MIT */
#include "sim/devices/swo_draw.h"

/* As much as @bytes hold; zero, all ones and other edges more often than by chance. */
static uint64_t number(struct sim_random *r, unsigned bytes)
{
	uint64_t v = sim_u64(r);

	switch (sim_u64(r) % 8) {
	case 0: v = 0; break;
	case 1: v = UINT64_MAX; break;
	case 2: v &= 0xff; break;
	default: break;
	}
	return bytes < 8 ? v & ((1ull << (8 * bytes)) - 1) : v;
}

static uint8_t any_size(struct sim_random *r)
{
	static const uint8_t size[] = { 1, 2, 4 };

	return size[sim_u64(r) % 3];
}

/*
 * A number that takes exactly @size groups of seven bits, as chips write them: as few as hold it.
 */
static uint64_t groups(struct sim_random *r, unsigned size, unsigned bits)
{
	uint64_t v = sim_u64(r) & ((1ull << bits) - 1);

	if (size * 7 < bits)
		v &= (1ull << (size * 7)) - 1;
	if (size > 1)
		v |= 1ull << ((size - 1) * 7);
	return v;
}

static void timestamp(struct sim_random *r, struct itm_packet *p)
{
	switch (p->kind) {
	case ITM_LOCAL_TS:
		if (sim_u64(r) % 2) {
			p->value = 1 + sim_u64(r) % 6;
			return;
		}
		p->size = (uint8_t)(1 + sim_u64(r) % 4);
		p->source = (uint32_t)(sim_u64(r) % 4);
		p->value = groups(r, p->size, 28);
		return;
	case ITM_GLOBAL_TS1:
		p->size = (uint8_t)(1 + sim_u64(r) % 4);
		p->source = p->size == 4 ? (uint32_t)(sim_u64(r) % 4) : 0;
		p->value = groups(r, p->size, 26);
		return;
	default:
		p->size = sim_u64(r) % 2 ? 4 : 6;
		p->value = groups(r, p->size, p->size == 4 ? 22 : 38);
		return;
	}
}

static void hardware(struct sim_random *r, struct itm_packet *p)
{
	p->source = (uint32_t)(sim_u64(r) % 4);
	switch (p->kind) {
	case ITM_EVENT_COUNTER: p->value = 1 + sim_u64(r) % 63; break;
	case ITM_PMU: p->value = sim_u64(r) & 0xff; break;
	case ITM_EXCEPTION:
		p->size = 2;
		p->source = 1 + (uint32_t)(sim_u64(r) % 3);
		p->value = sim_u64(r) % 512;
		return;
	case ITM_HARDWARE:
		p->source = 24 + (uint32_t)(sim_u64(r) % 8);
		p->size = any_size(r);
		p->value = number(r, p->size);
		return;
	case ITM_PC:
	case ITM_DATA_PC:
		p->size = 4;
		p->value = number(r, 4);
		break;
	case ITM_DATA_MATCH: p->value = 1; break;
	case ITM_PROHIBITED: p->value = 0xff; break;
	case ITM_SLEEP: break;
	default:
		p->size = any_size(r);
		p->value = number(r, p->size);
		return;
	}
	if (!p->size)
		p->size = 1;
	if (p->kind < ITM_DATA_PC)
		p->source = p->kind == ITM_EVENT_COUNTER ? 0 : p->kind == ITM_PMU ? 3 : 2;
}

void swo_draw_packet(struct sim_random *r, struct itm_packet *p)
{
	do
		*p = (struct itm_packet){ .kind = (uint8_t)(sim_u64(r) % ITM_BAD) };
	while (p->kind == ITM_PAGE);
	switch ((enum itm_kind)p->kind) {
	case ITM_SYNC:
	case ITM_OVERFLOW: return;
	case ITM_LOCAL_TS:
	case ITM_GLOBAL_TS1:
	case ITM_GLOBAL_TS2: timestamp(r, p); return;
	case ITM_EXTENSION: p->value = sim_u64(r) % 1024; return;
	case ITM_SOFTWARE:
		p->size = any_size(r);
		p->source = (uint32_t)(sim_u64(r) % 256);
		p->value = number(r, p->size);
		return;
	default: hardware(r, p); return;
	}
}
