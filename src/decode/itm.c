/* SPDX-License-Identifier: MIT */
#include "decode/itm.h"

#include <endian.h>
#include <string.h>

/* A synchronisation packet is at least 47 zero bits and a one: so many zero bytes, and 0x80. */
#define SYNC_ZEROS 5
#define SYNC_END 0x80

enum state {
	HEADER,  /* a packet begins at the next byte */
	PAYLOAD, /* of known size */
	MORE,    /* as long as bit 7 says so */
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
}

/* What a header byte begins. The low two bits of the others tell the size of a payload. */
enum begins { SOURCE, ZERO, OVERFLOW, SHORT_TS, LONG_TS, GLOBAL1, GLOBAL2, PAGE, NOTHING };

static enum begins begins(uint8_t b)
{
	if (b & 3)
		return SOURCE;
	if (!b)
		return ZERO;
	if (b == 0x70)
		return OVERFLOW;
	if ((b & 0x8f) == 0)
		return SHORT_TS;
	if ((b & 0xcf) == 0xc0)
		return LONG_TS;
	if (b == 0x94)
		return GLOBAL1;
	if (b == 0xb4)
		return GLOBAL2;
	return (b & 0x0b) == 0x08 ? PAGE : NOTHING;
}

static unsigned payload_size(uint8_t header)
{
	static const uint8_t size[] = { 0, 1, 2, 4 };

	return size[header & 3];
}

static void pc_sample(struct itm_packet *p)
{
	if (p->size == 4)
		p->kind = ITM_PC;
	else if (p->size == 1 && p->value == 0)
		p->kind = ITM_SLEEP;
	else if (p->size == 1 && p->value == 0xff)
		p->kind = ITM_PROHIBITED;
}

static void data_trace(unsigned id, struct itm_packet *p)
{
	unsigned what = id & 1;

	if (id < 16 && what)
		p->kind = ITM_DATA_ADDRESS;
	else if (id < 16 && p->size == 4)
		p->kind = ITM_DATA_PC;
	else if (id < 16 && p->size == 1)
		p->kind = ITM_DATA_MATCH;
	else if (id >= 16)
		p->kind = what ? ITM_DATA_WRITE : ITM_DATA_READ;
	else
		return;
	p->source = (id >> 1) & 3;
}

/* Packets of the DWT, by the number of their source and their size. */
static void hardware(uint8_t header, struct itm_packet *p)
{
	unsigned id = header >> 3;

	p->kind = ITM_HARDWARE;
	p->source = id;
	if (id >= 8 && id < 24) {
		data_trace(id, p);
	} else if (id == 2) {
		pc_sample(p);
	} else if (id == 1 && p->size == 2 && (p->value >> 12 & 3)) {
		p->kind = ITM_EXCEPTION;
		p->source = (uint32_t)(p->value >> 12 & 3);
		p->value &= 0x1ff;
	} else if (id == 0 && p->size == 1) {
		p->kind = ITM_EVENT_COUNTER;
	} else if (id == 3 && p->size == 1) {
		p->kind = ITM_PMU;
	}
}

static inline void source(const struct itm *d, uint8_t header, struct itm_packet *p)
{
	if (header & 4) {
		hardware(header, p);
	} else {
		p->kind = ITM_SOFTWARE;
		p->source = d->page * 32 + (header >> 3);
	}
}

/* Ends what began at d->start with the byte before d->at. */
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

/* What began at d->start is no packet. */
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

/* Zero bytes at the end of the payload before: where decoding was out of step, a synchronisation packet began there. */
static unsigned zeros_before(const struct itm *d)
{
	unsigned n = 0;

	while (n < d->got && !(d->value >> (8 * (d->got - 1u - n)) & 0xff))
		n++;
	return n;
}

/* How far such a packet may go on: the payload bytes it may have, the longest last. */
static bool too_long(const struct itm *d)
{
	return d->got >= (begins(d->header) == GLOBAL2 ? 6 : 4);
}

/* The last byte of a packet that goes on as long as bit 7 is set. */
static size_t end_of_more(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	switch (begins(d->header)) {
	case LONG_TS:
		finish(d, out)->kind = ITM_LOCAL_TS;
		out->source = d->header >> 4 & 3;
		break;
	case GLOBAL1:
		if (d->got == 4)
			d->value &= 0x3ffffff;
		finish(d, out)->kind = ITM_GLOBAL_TS1;
		if (out->size == 4)
			out->source = byte >> 5 & 3;
		break;
	case GLOBAL2:
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
	unsigned shift = begins(d->header) == PAGE ? 3 : 0;

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
	source(d, d->header, out);
	return 1;
}

static size_t take_header(struct itm *d, uint8_t byte, struct itm_packet *out)
{
	enum begins what = begins(byte);

	d->start = d->at - 1;
	d->zeros = what == ZERO ? zeros_before(d) + 1 : 0;
	d->header = byte;
	d->value = 0;
	d->got = 0;
	switch (what) {
	case SOURCE:
		d->need = (uint8_t)payload_size(byte);
		d->state = PAYLOAD;
		return 0;
	case ZERO: d->state = ZEROS; return 0;
	case OVERFLOW: finish(d, out)->kind = ITM_OVERFLOW; return 1;
	case SHORT_TS:
		finish(d, out)->kind = ITM_LOCAL_TS;
		out->value = byte >> 4;
		return 1;
	case PAGE:
		d->value = byte >> 4 & 7;
		if (byte & 0x80)
			break;
		return end_of_more(d, byte, out);
	case LONG_TS:
	case GLOBAL1:
	case GLOBAL2: break;
	case NOTHING: return lost(d, out);
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

/* May fill two packets: what was skipped, and the synchronisation. */
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

/* One byte: the whole protocol, and what the quick way in itm_feed() must be equal to. */
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

/*
 * Packets of software and hardware that lie whole before @end, the bulk of any stream, as long as one follows the other. Returns
 * how many; @bytes is moved behind them.
 */
static size_t take_sources(struct itm *d, const uint8_t **bytes, const uint8_t *end,
			   struct itm_packet *out, size_t room)
{
	static const uint32_t mask[] = { 0, 0xff, 0xffff, 0, 0xffffffff };
	const uint8_t *p = *bytes;
	uint64_t at = d->at;
	size_t n = 0;

	while (n < room && end - p >= 5 && (*p & 3)) {
		unsigned size = payload_size(*p);
		uint32_t value;

		memcpy(&value, p + 1, sizeof(value));
		value = le32toh(value) & mask[size];
		out[n] = (struct itm_packet){ .at = at,
					      .length = (uint16_t)(size + 1),
					      .value = value,
					      .size = (uint8_t)size };
		source(d, *p, &out[n]);
		d->value = value; /* for zeros_before() */
		d->got = (uint8_t)size;
		n++;
		at += size + 1;
		p += size + 1;
	}
	d->at = at;
	*bytes = p;
	return n;
}

size_t itm_feed(struct itm *d, const uint8_t *bytes, size_t n, struct itm_packet *out, size_t room,
		size_t *used)
{
	const uint8_t *p = bytes, *end = bytes + n;
	size_t done = 0;

	while (p < end && done + 2 <= room) {
		if (d->state == HEADER)
			done += take_sources(d, &p, end, out + done, room - done - 1);
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
