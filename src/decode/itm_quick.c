/* SPDX-License-Identifier: MIT */
#include "decode/itm_internal.h"

#include <endian.h>
#include <string.h>

/* Bytes that may be read from a header on. */
#define AHEAD 9
/* The shortest synchronisation packet after its first byte. */
#define SYNC_MASK 0xffffffffffu
#define SYNC_REST 0x8000000000u

/* How a packet continues after its header. */
enum how {
	WHOLE, /* payload of known size, which does not affect the kind */
	LOOK,  /* the payload determines the kind */
	MORE,  /* continues while bit 7 is set */
	TURN,  /* to another page of ports, of up to 7 */
	SYNC,  /* perhaps */
	RARE,
};

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

void itm_source(uint32_t page, uint8_t header, struct itm_packet *p)
{
	if (header & 4) {
		hardware(header, p);
	} else {
		p->kind = ITM_SOFTWARE;
		p->source = page * 32 + (header >> 3);
	}
}

/* A source's packet, whose kind the header alone tells unless two payloads disagree about it. */
static struct itm_head source_head(uint8_t header)
{
	uint8_t size = (uint8_t)itm_payload(header);
	struct itm_packet zero = { .size = size }, ones = { .size = size, .value = UINT32_MAX };

	itm_source(0, header, &zero);
	itm_source(0, header, &ones);
	return (struct itm_head){
		.how = zero.kind == ones.kind ? WHOLE : LOOK,
		.kind = zero.kind,
		.source = (uint8_t)zero.source,
		.size = size,
		.paged = zero.kind == ITM_SOFTWARE,
	};
}

void itm_quick_init(struct itm *d)
{
	for (unsigned b = 0; b < 256; b++) {
		struct itm_head *h = &d->head[b];

		switch (itm_begins((uint8_t)b)) {
		case BEGINS_SOURCE: *h = source_head((uint8_t)b); break;
		case BEGINS_OVERFLOW:
			*h = (struct itm_head){ .how = WHOLE, .kind = ITM_OVERFLOW };
			break;
		case BEGINS_SHORT_TS:
			*h = (struct itm_head){ .how = WHOLE,
						.kind = ITM_LOCAL_TS,
						.value = (uint8_t)(b >> 4) };
			break;
		case BEGINS_LONG_TS:
			*h = (struct itm_head){
				.how = MORE, .kind = ITM_LOCAL_TS, .source = b >> 4 & 3, .size = 4
			};
			break;
		case BEGINS_GLOBAL1:
			*h = (struct itm_head){ .how = MORE, .kind = ITM_GLOBAL_TS1, .size = 4 };
			break;
		case BEGINS_GLOBAL2:
			*h = (struct itm_head){ .how = MORE, .kind = ITM_GLOBAL_TS2, .size = 6 };
			break;
		case BEGINS_PAGE:
			*h = (struct itm_head){ .how = b & 0x84 ? RARE : TURN,
						.kind = ITM_PAGE,
						.value = b >> 4 & 7 };
			break;
		case BEGINS_ZERO: *h = (struct itm_head){ .how = SYNC, .kind = ITM_SYNC }; break;
		default: *h = (struct itm_head){ .how = RARE }; break;
		}
	}
}

/*
 * Bytes of a number whose bytes but the last have bit 7 set, @x holding the first eight; more than
 * eight: 9.
 */
static unsigned groups(uint64_t x)
{
	uint64_t ends = ~x & 0x8080808080808080u;

	return ends ? (unsigned)__builtin_ctzll(ends) / 8 + 1 : 9;
}

/* The low seven bits of the first @n (up to six) bytes of @x. */
static uint64_t squeeze(uint64_t x, unsigned n)
{
	x &= (1ull << (8 * n)) - 1;
	return (x & 0x7f) | (x >> 1 & 0x3f80) | (x >> 2 & 0x1fc000) | (x >> 3 & 0xfe00000) |
	       (x >> 4 & 0x7f0000000) | (x >> 5 & 0x3f800000000);
}

/* A timestamp. False: its length is invalid. */
static bool take_groups(const struct itm_head *h, uint64_t x, struct itm_packet *p)
{
	unsigned n = groups(x);

	if (n > h->size || (h->kind == ITM_GLOBAL_TS2 && n != 4 && n != 6))
		return false;
	p->value = squeeze(x, n);
	p->size = (uint8_t)n;
	p->length = (uint16_t)(n + 1);
	if (h->kind == ITM_GLOBAL_TS1 && n == 4) {
		p->source = p->value >> 26 & 3;
		p->value &= ITM_GLOBAL1_MASK;
	}
	return true;
}

size_t itm_quick(struct itm *d, const uint8_t **bytes, const uint8_t *end, struct itm_packet *out,
		 size_t room)
{
	static const uint32_t mask[8] = { [1] = 0xff, [2] = 0xffff, [4] = 0xffffffff };
	const uint8_t *p = *bytes;
	const uint64_t base = d->at - (uint64_t)(uintptr_t)p;
	uint64_t last = d->value; /* payload of the previous packet, and its size */
	uint8_t last_size = d->got;
	size_t n = 0;

	while (n < room && end - p >= AHEAD) {
		const struct itm_head h = d->head[*p];
		struct itm_packet *o = &out[n];
		uint64_t x;

		memcpy(&x, p + 1, sizeof(x));
		x = le64toh(x);
		*o = (struct itm_packet){
			.at = base + (uint64_t)(uintptr_t)p,
			.value = h.value + (x & mask[h.size & 7]),
			.source = h.source + (h.paged ? d->page * 32 : 0),
			.length = (uint16_t)(h.size + 1),
			.kind = h.kind,
			.size = h.size,
		};
		if (h.how == MORE) {
			if (!take_groups(&h, x, o))
				break;
			last = p[o->size];
			last_size = 1;
		} else if (h.how == WHOLE || h.how == LOOK) {
			last = o->value;
			last_size = h.size;
			if (h.how == LOOK)
				itm_source(d->page, *p, o);
		} else if (h.how == TURN) {
			d->page = h.value;
			last = *p;
			last_size = 1;
		} else if (h.how == SYNC && (x & SYNC_MASK) == SYNC_REST) {
			o->length = 6;
			d->page = 0;
			d->synced = true;
			last_size = 0;
		} else {
			break;
		}
		n++;
		p += o->length;
	}
	d->value = last;
	d->got = last_size;
	d->at = base + (uint64_t)(uintptr_t)p;
	*bytes = p;
	return n;
}
