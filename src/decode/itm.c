/* SPDX-License-Identifier: MIT */
#include "decode/itm_internal.h"

/* A synchronisation packet is at least 47 zero bits and a one: so many zero bytes, and 0x80. */
#define SYNC_ZEROS 5
#define SYNC_END 0x80

enum state {
	HEADER,  /* a packet begins at the next byte */
	PAYLOAD, /* of known size */
	MORE,    /* continued while bit 7 is set */
	ZEROS,   /* zero bytes where a packet would begin */
	HUNT,    /* for the next synchronisation packet */
};

static const char *const names[ITM_KINDS] = {
	[ITM_SYNC] = "sync",
	[ITM_OVERFLOW] = "overflow",
	[ITM_LOCAL_TS] = "local_timestamp",
	[ITM_GLOBAL_TS1] = "global_timestamp",
	[ITM_GLOBAL_TS2] = "global_timestamp_high",
	[ITM_PAGE] = "page",
	[ITM_EXTENSION] = "extension",
	[ITM_SOFTWARE] = "software",
	[ITM_EVENT_COUNTER] = "event_counter",
	[ITM_EXCEPTION] = "exception",
	[ITM_PC] = "pc",
	[ITM_SLEEP] = "sleep",
	[ITM_PROHIBITED] = "prohibited",
	[ITM_PMU] = "pmu",
	[ITM_DATA_PC] = "data_pc",
	[ITM_DATA_MATCH] = "data_match",
	[ITM_DATA_ADDRESS] = "data_address",
	[ITM_DATA_READ] = "data_read",
	[ITM_DATA_WRITE] = "data_write",
	[ITM_HARDWARE] = "hardware",
	[ITM_BAD] = "bad",
};

const char *itm_kind_name(enum itm_kind kind)
{
	return names[kind];
}

void itm_init(struct itm *d)
{
	*d = (struct itm){ .state = HEADER };
	itm_quick_init(d);
}

/* Ends the packet from d->start with the byte before d->at. */
static struct itm_packet *finish(struct itm *d, struct itm_packet *p)
{
	uint64_t n = d->at - d->start;

	*p = (struct itm_packet){
		.at = d->start,
		.length = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX),
		.value = d->value,
		.size = d->got,
	};
	d->state = HEADER;
	return p;
}

static size_t bad(struct itm *d, struct itm_packet *out)
{
	finish(d, out)->kind = ITM_BAD;
	out->value = out->size = 0;
	return 1;
}

/* What began at d->start is not a packet. */
static size_t lost(struct itm *d, struct itm_packet *out)
{
	if (!d->synced)
		return bad(d, out);
	d->state = HUNT;
	return 0;
}

static size_t synchronised(struct itm *d, struct itm_packet *out)
{
	finish(d, out)->kind = ITM_SYNC;
	out->value = out->size = 0;
	d->synced = true;
	d->page = 0;
	d->zeros = 0;
	d->got = 0;
	return 1;
}

/*
 * Zero bytes at the end of the previous payload: if decoding was out of step, a synchronisation
 * packet began there.
 */
static unsigned zeros_before(const struct itm *d)
{
	unsigned n = 0;

	while (n < d->got && !(d->value >> (8 * (d->got - 1u - n)) & 0xff))
		n++;
	return n;
}

/* Whether a continued packet exceeds its maximum payload. */
static bool too_long(const struct itm *d)
{
	return d->got >= (itm_begins(d->header) == BEGINS_GLOBAL2 ? 6 : 4);
}

/* The last byte of a packet that continues while bit 7 is set. */
static size_t end_of_more(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	switch (itm_begins(d->header)) {
	case BEGINS_LONG_TS:
		finish(d, out)->kind = ITM_LOCAL_TS;
		out->source = d->header >> 4 & 3;
		break;
	case BEGINS_GLOBAL1:
		if (d->got == 4)
			d->value &= ITM_GLOBAL1_MASK;
		finish(d, out)->kind = ITM_GLOBAL_TS1;
		if (out->size == 4)
			out->source = byte >> 5 & 3;
		break;
	case BEGINS_GLOBAL2:
		if (d->got != 4 && d->got != 6)
			return lost(d, out);
		finish(d, out)->kind = ITM_GLOBAL_TS2;
		break;
	default:
		finish(d, out)->kind = d->header & 4 ? ITM_EXTENSION : ITM_PAGE;
		out->size = 0;
		if (out->kind == ITM_PAGE)
			d->page = (uint32_t)(out->value & 0x7ffffff);
		break;
	}
	d->value = byte; /* for zeros_before() */
	d->got = 1;
	return 1;
}

static size_t take_more(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	unsigned shift = itm_begins(d->header) == BEGINS_PAGE ? 3 : 0;

	d->zeros = !byte;
	d->value |= (uint64_t)(byte & 0x7f) << (shift + 7u * d->got++);
	if (!(byte & 0x80))
		return end_of_more(d, byte, out);
	return too_long(d) ? lost(d, out) : 0;
}

static size_t take_payload(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	d->value |= (uint64_t)byte << (8u * d->got++);
	if (d->got < d->need)
		return 0;
	finish(d, out);
	itm_source(d->page, d->header, out);
	return 1;
}

static size_t take_header(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	enum itm_begins what = itm_begins(byte);

	d->start = d->at - 1;
	d->zeros = what == BEGINS_ZERO ? zeros_before(d) + 1 : 0;
	d->header = byte;
	d->value = 0;
	d->got = 0;
	switch (what) {
	case BEGINS_SOURCE:
		d->need = (uint8_t)itm_payload(byte);
		d->state = PAYLOAD;
		return 0;
	case BEGINS_ZERO: d->state = ZEROS; return 0;
	case BEGINS_OVERFLOW: finish(d, out)->kind = ITM_OVERFLOW; return 1;
	case BEGINS_SHORT_TS:
		finish(d, out)->kind = ITM_LOCAL_TS;
		out->value = byte >> 4;
		return 1;
	case BEGINS_PAGE:
		d->value = byte >> 4 & 7;
		if (byte & 0x80)
			break;
		return end_of_more(d, byte, out);
	case BEGINS_LONG_TS:
	case BEGINS_GLOBAL1:
	case BEGINS_GLOBAL2: break;
	case BEGINS_NOTHING: return lost(d, out);
	}
	d->state = MORE;
	return 0;
}

static size_t take_zeros(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	if (!byte) {
		d->zeros++;
		return 0;
	}
	if (byte == SYNC_END && d->zeros >= SYNC_ZEROS)
		return synchronised(d, out);
	d->zeros = 0;
	return lost(d, out);
}

/* May output two packets: what was skipped, and the synchronisation. */
static size_t hunt(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	uint64_t at = d->at, zeros = d->zeros;

	if (!byte) {
		d->zeros++;
		return 0;
	}
	d->zeros = 0;
	if (byte != SYNC_END || zeros < SYNC_ZEROS)
		return 0;
	d->at -= zeros + 1;
	bad(d, &out[0]);
	d->start = d->at;
	d->at = at;
	return 1 + synchronised(d, &out[1]);
}

/* Decode one byte: the whole protocol, which itm_quick() must be equivalent to. */
static size_t take(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	d->at++;
	switch ((enum state)d->state) {
	case HEADER: return take_header(d, byte, out);
	case PAYLOAD: return take_payload(d, byte, out);
	case MORE: return take_more(d, byte, out);
	case ZEROS: return take_zeros(d, byte, out);
	case HUNT: return hunt(d, byte, out);
	}
	return 0;
}

size_t itm_feed(struct itm *d, const uint8_t *bytes, size_t n, struct itm_packet *out, size_t room,
		size_t *used)
{
	const uint8_t *p = bytes, *end = bytes + n;
	size_t done = 0;

	while (p < end && done + 2 <= room) {
		if (d->state == HEADER)
			done += itm_quick(d, &p, end, out + done, room - done - 1);
		if (p < end && done + 2 <= room)
			done += take(d, *p++, out + done);
	}
	*used = (size_t)(p - bytes);
	return done;
}

size_t itm_hole(struct itm *d, struct itm_packet *out)
{
	size_t n = 0;

	if (d->state != HEADER)
		n = bad(d, out);
	d->start = d->at;
	d->zeros = 0;
	d->got = 0;
	if (d->synced)
		d->state = HUNT;
	return n;
}

size_t itm_end(struct itm *d, struct itm_packet *out)
{
	if (d->state == HEADER || d->at == d->start)
		return 0;
	return bad(d, out);
}
