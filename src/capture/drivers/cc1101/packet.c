/* SPDX-License-Identifier: MIT */
#include "capture/drivers/cc1101/packet.h"

#include "radio/cc1101_regs.h"

/* A sender that was silent for more numbers than this, an hour at one a second, has jumped. */
#define SILENT_MOST 3600
/*
 * A sequence abandoned and resumed this often is another sender's; a restart abandons its old one
 * for good.
 */
#define SWITCHES_OF_TWINS 3
/* SWRS061I, 17.3. */
#define RSSI_OFFSET_HALF_DB (2 * 74)

void packets_init(struct packets *p)
{
	*p = (struct packets){ 0 };
}

static bool decode(struct packets *p, const uint8_t *body, size_t n, struct beacon *b)
{
	const bool addressed = n != BEACON_GRACE_BYTES;

	if (addressed && n != 1 + BEACON_GRACE_BYTES && n != 1 + BEACON_BYTES) {
		p->count.length++;
		return false;
	}
	if (addressed && body[0] != BEACON_ADDRESS) {
		p->count.address++;
		return false;
	}
	if (!beacon_decode(body + addressed, (unsigned)(n - addressed), b)) {
		p->count.payload++;
		return false;
	}
	return true;
}

static struct packet_sender *find(struct packets *p, uint16_t id)
{
	for (size_t i = 0; i < p->n_senders; i++)
		if (p->sender[i].id == id)
			return &p->sender[i];
	if (p->n_senders == PACKET_SENDERS)
		return NULL;
	p->sender[p->n_senders] = (struct packet_sender){ .id = id };
	return &p->sender[p->n_senders++];
}

static bool goes_on(const struct packet_sequence *s, const struct beacon *b)
{
	const uint32_t step = b->sequence - s->last;

	return s->live && step >= 1 && step <= SILENT_MOST && b->sent_ns > s->sent_ns;
}

static void watch(struct packets *p, const struct beacon *b)
{
	struct packet_sender *s = find(p, b->sender);
	struct packet_sequence *now, *other;

	if (!s) {
		p->count.senders++;
		return;
	}
	now = &s->sequence[s->current];
	other = &s->sequence[!s->current];
	if (goes_on(now, b)) {
		p->count.missed += b->sequence - now->last - 1;
	} else if (now->live && b->sequence == now->last && b->sent_ns == now->sent_ns) {
		p->count.repeated++;
	} else if (goes_on(other, b)) {
		/*
		 * It may have sent the skipped numbers under the other's, so nothing counts as
		 * missed.
		 */
		s->current = !s->current;
		if (s->switches < SWITCHES_OF_TWINS)
			s->switches++;
		now = other;
	} else if (now->live) {
		if (b->sequence > now->last)
			p->count.forward++;
		else
			p->count.back++;
		s->current = !s->current;
		now = other;
	}
	*now = (struct packet_sequence){ b->sequence, b->sent_ns, true };
	if (s->switches == SWITCHES_OF_TWINS)
		p->count.twins++;
}

bool packet_twins(const struct packets *p, uint16_t sender)
{
	for (size_t i = 0; i < p->n_senders; i++)
		if (p->sender[i].id == sender)
			return p->sender[i].switches == SWITCHES_OF_TWINS;
	return false;
}

size_t packets_read(struct packets *p, const uint8_t *fifo, size_t n, struct beacon_heard *out,
		    size_t max, size_t *used)
{
	size_t at = 0, got = 0;

	while (at < n) {
		const size_t length = fifo[at], whole = 1 + length + CC1101_APPENDED;
		const uint8_t *body = fifo + at + 1;
		struct beacon_heard h;

		if (length == 0 || whole > CC1101_FIFO_BYTES) {
			p->count.length++;
			at = n;
			break;
		}
		if (n - at < whole || got == max) {
			p->count.truncated++;
			break;
		}
		at += whole;
		h.rssi_half_dbm = (int16_t)((int8_t)body[length] - RSSI_OFFSET_HALF_DB);
		h.lqi = body[length + 1] & 0x7f;
		if (!(body[length + 1] & CC1101_CRC_OK)) {
			p->count.crc++;
		} else if (decode(p, body, length, &h.beacon)) {
			p->count.heard++;
			watch(p, &h.beacon);
			out[got++] = h;
		}
	}
	if (used)
		*used = at;
	return got;
}
