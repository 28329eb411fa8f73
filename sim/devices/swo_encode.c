/* SPDX-License-Identifier: MIT */
#include "sim/devices/swo_encode.h"

#include <string.h>

/* ---- packets ---- */

static size_t put_bytes(uint8_t *out, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(value >> (8 * i));
	return n;
}

/* Groups of seven bits, all but the last with bit 7 set: at least @least of them. */
static size_t put_more(uint8_t *out, uint64_t value, size_t least)
{
	size_t n = 0;

	do {
		out[n] = (uint8_t)(value & 0x7f);
		value >>= 7;
		n++;
		if (value || n < least)
			out[n - 1] |= 0x80;
	} while (value || n < least);
	return n;
}

/* The low two bits of a header, by the size of the payload. */
static unsigned size_code(unsigned size)
{
	return size == 4 ? 3 : size;
}

static size_t put_source(uint8_t *out, unsigned id, bool hardware, uint64_t value, unsigned size)
{
	out[0] = (uint8_t)(id << 3 | (hardware ? 4u : 0u) | size_code(size));
	return 1 + put_bytes(out + 1, value, size);
}

static size_t put_extension(uint8_t *out, uint64_t value, bool hardware)
{
	out[0] = (uint8_t)((value & 7) << 4 | 8 | (hardware ? 4 : 0));
	value >>= 3;
	if (!value)
		return 1;
	out[0] |= 0x80;
	return 1 + put_more(out + 1, value, 1);
}

static size_t put_software(uint32_t *page, const struct itm_packet *p, uint8_t *out)
{
	size_t n = 0;

	if (p->source / 32 != *page) {
		*page = p->source / 32;
		n = put_extension(out, *page, false);
	}
	return n + put_source(out + n, p->source % 32, false, p->value, p->size);
}

static size_t put_timestamp(const struct itm_packet *p, uint8_t *out)
{
	switch (p->kind) {
	case ITM_LOCAL_TS:
		if (!p->size) {
			out[0] = (uint8_t)(p->value << 4);
			return 1;
		}
		out[0] = (uint8_t)(0xc0 | p->source << 4);
		return 1 + put_more(out + 1, p->value, p->size);
	case ITM_GLOBAL_TS1:
		out[0] = 0x94;
		return 1 + put_more(out + 1,
				    p->value | (p->size == 4 ? (uint64_t)p->source << 26 : 0),
				    p->size);
	default: out[0] = 0xb4; return 1 + put_more(out + 1, p->value, p->size);
	}
}

size_t swo_put_packet(uint32_t *page, const struct itm_packet *p, uint8_t out[SWO_PACKET_MAX])
{
	unsigned c = p->source;

	switch ((enum itm_kind)p->kind) {
	case ITM_SYNC:
		memset(out, 0, 5);
		out[5] = 0x80;
		*page = 0;
		return 6;
	case ITM_OVERFLOW: out[0] = 0x70; return 1;
	case ITM_LOCAL_TS:
	case ITM_GLOBAL_TS1:
	case ITM_GLOBAL_TS2: return put_timestamp(p, out);
	case ITM_PAGE: *page = (uint32_t)p->value; return put_extension(out, p->value, false);
	case ITM_EXTENSION: return put_extension(out, p->value, true);
	case ITM_SOFTWARE: return put_software(page, p, out);
	case ITM_EVENT_COUNTER: return put_source(out, 0, true, p->value, 1);
	case ITM_EXCEPTION:
		return put_source(out, 1, true, p->value | (uint64_t)p->source << 12, 2);
	case ITM_PC: return put_source(out, 2, true, p->value, 4);
	case ITM_SLEEP: return put_source(out, 2, true, 0, 1);
	case ITM_PROHIBITED: return put_source(out, 2, true, 0xff, 1);
	case ITM_PMU: return put_source(out, 3, true, p->value, 1);
	case ITM_DATA_PC: return put_source(out, 8 + 2 * c, true, p->value, 4);
	case ITM_DATA_MATCH: return put_source(out, 8 + 2 * c, true, 1, 1);
	case ITM_DATA_ADDRESS: return put_source(out, 9 + 2 * c, true, p->value, p->size);
	case ITM_DATA_READ: return put_source(out, 16 + 2 * c, true, p->value, p->size);
	case ITM_DATA_WRITE: return put_source(out, 17 + 2 * c, true, p->value, p->size);
	case ITM_HARDWARE: return put_source(out, p->source, true, p->value, p->size);
	case ITM_BAD:
	case ITM_KINDS: break;
	}
	return 0;
}

/* ---- TPIU frames ---- */

void swo_tpiu_init(struct swo_tpiu *t)
{
	*t = (struct swo_tpiu){ 0 };
}

/*
 * Byte 15 holds bit 0 of the seven data bytes at even places; where a switch of stream stands at
 * one, whether the byte after it is still of the stream before.
 */
static size_t finish_frame(struct swo_tpiu *t, uint8_t *out)
{
	memcpy(out, t->frame, 16);
	memset(t->frame, 0, sizeof(t->frame));
	t->n = 0;
	return 16;
}

static void put_data(struct swo_tpiu *t, uint8_t byte)
{
	if (t->n & 1) {
		t->frame[t->n++] = byte;
		return;
	}
	t->frame[t->n] = byte & 0xfe;
	t->frame[15] |= (uint8_t)((byte & 1) << (t->n / 2));
	t->n++;
}

size_t swo_tpiu_put(struct swo_tpiu *t, uint8_t stream, uint8_t byte, uint8_t out[32])
{
	size_t done = 0;

	if (stream != t->stream) {
		t->stream = stream;
		if (t->n & 1) {
			/* The byte before moves behind the switch, which takes effect after it. */
			unsigned k = t->n - 1u;
			uint8_t before = t->frame[k] | (t->frame[15] >> (k / 2) & 1);

			t->frame[k] = (uint8_t)(stream << 1 | 1);
			t->frame[15] |= (uint8_t)(1 << (k / 2));
			t->frame[t->n++] = before;
		} else {
			t->frame[t->n++] = (uint8_t)(stream << 1 | 1);
		}
		if (t->n == 15)
			done += finish_frame(t, out);
	}
	put_data(t, byte);
	if (t->n == 15)
		done += finish_frame(t, out + done);
	return done;
}

size_t swo_tpiu_flush(struct swo_tpiu *t, uint8_t out[16])
{
	uint8_t frames[32];

	if (!t->n)
		return 0;
	while (!swo_tpiu_put(t, 0, 0, frames))
		;
	memcpy(out, frames, 16);
	swo_tpiu_init(t); /* what went into a frame behind it was padding */
	return 16;
}

size_t swo_tpiu_sync(uint8_t out[4])
{
	memset(out, 0xff, 3);
	out[3] = 0x7f;
	return 4;
}

/* ---- the line ---- */

void swo_line_init(struct swo_line *l, bool manchester, double bit, swo_edge_fn *edge, void *ctx)
{
	*l = (struct swo_line){
		.manchester = manchester, .bit = bit, .level = !manchester, .edge = edge, .ctx = ctx
	};
}

static void set(struct swo_line *l, double time, bool level)
{
	if (level == l->level)
		return;
	l->level = level;
	l->edge(l->ctx, time, level);
}

static double send_bit(struct swo_line *l, double t, bool one)
{
	set(l, t, one);
	if (l->manchester)
		set(l, t + l->bit / 2, !one);
	return t + l->bit;
}

static double send_byte(struct swo_line *l, double t, uint8_t byte)
{
	for (unsigned i = 0; i < 8; i++)
		t = send_bit(l, t, byte >> i & 1);
	return t;
}

double swo_line_send(struct swo_line *l, double when, const uint8_t *bytes, size_t n)
{
	double t = when > l->free ? when : l->free;

	if (l->manchester) {
		t = send_bit(l, t, true);
		for (size_t i = 0; i < n; i++)
			t = send_byte(l, t, bytes[i]);
		/* Low for a bit and a half: no edge where a bit would have one. */
		set(l, t, false);
		t += 1.5 * l->bit;
	} else {
		for (size_t i = 0; i < n; i++) {
			t = send_bit(l, t, false);
			t = send_byte(l, t, bytes[i]);
			t = send_bit(l, t, true);
		}
	}
	l->free = t;
	return t;
}
