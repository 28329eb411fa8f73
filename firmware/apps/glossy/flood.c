/* SPDX-License-Identifier: MIT */
#include "flood.h"

void flood_begin(struct flood *f, const struct flood_packet *p, uint64_t reference)
{
	*f = (struct flood){
		.running = 1, .initiated = 1, .packet = *p, .reference = reference, .sent = 1
	};
}

static void stamp(struct flood *f, const struct flood_rules *r, uint64_t reference)
{
	if (f->initiated || f->stamps >= r->stamps)
		return;
	f->sum += (int64_t)(reference - f->reference);
	f->stamps++;
}

int flood_heard(struct flood *f, const struct flood_rules *r, const struct flood_packet *p,
		uint64_t at, struct flood_packet *answer)
{
	uint64_t reference = at - r->heard - r->slot * p->relay;

	if (!f->running || p->initiator != f->packet.initiator || p->sequence != f->packet.sequence)
		*f = (struct flood){
			.running = 1, .packet = *p, .reference = reference, .first = p->relay
		};
	f->heard++;
	stamp(f, r, reference);
	if (f->sent >= r->transmissions || p->relay + 1 >= r->slots)
		return 0;
	f->sent++;
	*answer = f->packet;
	answer->relay = (uint8_t)(p->relay + 1);
	return 1;
}

uint64_t flood_reference(const struct flood *f)
{
	int64_t n = f->stamps;

	/* halves away from zero do not matter at 1/65536 of a count */
	return f->reference + (n ? (uint64_t)(f->sum / n) : 0);
}

uint64_t flood_end(const struct flood *f, const struct flood_rules *r)
{
	return f->reference + r->slot * r->slots;
}
