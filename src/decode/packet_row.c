/* SPDX-License-Identifier: MIT */
#include "decode/packet_row.h"

#include "core/crc32c.h"

/* How many of the first packets after a reset may be lost. */
#define FIRST 16

enum packet_row_is packet_row_put(struct packet_row *r, const struct tracer_packet *p, size_t n)
{
	const uint32_t number = p->packet_seq_num, sum = cvl_crc32c(0, p, n);
	const size_t slot = number % PACKET_ROW_KEPT;
	bool restarted = r->any && p->boot != r->boot;

	if (r->any && !restarted && (int32_t)(number - r->next) < 0) {
		if (number >= FIRST || (r->kept[slot].any && r->kept[slot].number == number &&
					r->kept[slot].sum == sum))
			return PACKET_REPEATED;
		restarted = true;
	}
	if (restarted)
		*r = (struct packet_row){ 0 };
	r->any = true;
	r->boot = p->boot;
	r->next = number + 1;
	r->kept[slot].any = true;
	r->kept[slot].number = number;
	r->kept[slot].sum = sum;
	return restarted ? PACKET_RESTARTED : PACKET_FOLLOWS;
}
