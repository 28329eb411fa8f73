/* SPDX-License-Identifier: MIT */
/*
 * A node of the flooding network: packets of any bytes, at any time, some of them well made;
 * pulses. Each packet is answered once, by a packet of a flood or by silence, and seconds never
 * come closer than half of one.
 */
#include <stdlib.h>
#include <string.h>

#include "../firmware/apps/glossy/glossy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define HZ 13000000u

struct board {
	uint64_t count; /* the node sees the low 32 bits, which wrap after 330 s */
	struct glossy_event event;
	int waiting, owed;
	int pulsed;
	uint32_t pulse;
	uint64_t raised;
	unsigned raises, feeds;
};

static uint32_t board_now(void *ctx)
{
	return (uint32_t)((struct board *)ctx)->count;
}

static int board_pulse(void *ctx, uint32_t *count)
{
	struct board *b = ctx;

	*count = b->pulse;
	if (!b->pulsed)
		return 0;
	b->pulsed = 0;
	return 1;
}

static void board_raise(void *ctx, uint32_t count)
{
	struct board *b = ctx;
	uint32_t ahead = count - (uint32_t)b->count;

	if (ahead > HZ || (b->raises && b->count + ahead - b->raised < HZ / 2))
		abort();
	b->raised = b->count + ahead;
	b->raises++;
}

static int board_send(void *ctx, uint32_t count, const uint8_t *payload, unsigned n)
{
	struct flood_packet p;

	if (!flood_decode(payload, n, &p) || p.relay)
		abort();
	return (count - (uint32_t)((struct board *)ctx)->count) & 1;
}

static int board_event(void *ctx, struct glossy_event *e)
{
	struct board *b = ctx;

	if (!b->waiting)
		return 0;
	b->waiting = 0;
	b->owed = !b->event.sent;
	*e = b->event;
	return 1;
}

static void board_answer(void *ctx, const uint8_t *payload, unsigned n)
{
	struct board *b = ctx;
	struct flood_packet p;

	if (!b->owed || (payload && (!flood_decode(payload, n, &p) || !p.relay)))
		abort();
	b->owed = 0;
}

static int board_put(void *ctx, const char *bytes, unsigned n)
{
	(void)ctx;
	for (unsigned i = 0; i < n; i++)
		if (!bytes[i])
			abort();
	return 1;
}

static void board_feed(void *ctx)
{
	((struct board *)ctx)->feeds++;
}

/* Let @counts pass, looking when the node wants to. */
static void pass(struct board *b, struct glossy *g, uint32_t counts)
{
	while (counts) {
		uint64_t next = glossy_poll(g) - g->count;
		uint32_t step = next < counts ? (uint32_t)next : counts;

		if (b->owed || next > HZ + HZ / 8)
			abort();
		step += !step;
		b->count += step;
		counts -= step;
	}
	glossy_poll(g);
	if (b->owed)
		abort();
}

/*
 * The first byte: role and filter. Then pieces: what happens, how much later, and of packets the
 * bytes.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct board b = { .count = 0xfff00000 };
	const struct glossy_hal hal = { .ctx = &b,
					.timer_hz = HZ,
					.now = board_now,
					.pulse = board_pulse,
					.raise = board_raise,
					.send = board_send,
					.event = board_event,
					.answer = board_answer,
					.put = board_put,
					.feed = board_feed };
	struct glossy_config c = { .id = 5,
				   .transmissions = 3,
				   .slots = 12,
				   .stamps = 3,
				   .slot_ns = 734000,
				   .heard_ns = 200000,
				   .early_ns = 20000000,
				   .lead_ns = 2000000,
				   .alpha_pm = 100,
				   .average = 8,
				   .holdover = 3,
				   .odd_ns = 50000 };
	struct glossy g;

	if (!n)
		return 0;
	c.initiator = data[0] & 1;
	c.average = (uint8_t)(1 + (data[0] >> 2));
	if (glossy_init(&g, &hal, &c))
		abort();
	data++;
	n--;
	while (n >= 3) {
		unsigned what = data[0];
		uint32_t later = (uint32_t)(data[1] | data[2] << 8);

		data += 3;
		n -= 3;
		/* by 4 us, or near a second from now */
		pass(&b, &g, what & 1 ? HZ - 32768 + later : later * 52);
		if (what & 2) {
			b.pulsed = 1;
			b.pulse = (uint32_t)b.count - (what >> 4);
		} else {
			unsigned bytes = n < FLOOD_BYTES ? (unsigned)n : FLOOD_BYTES;

			memset(&b.event, 0, sizeof(b.event));
			memcpy(b.event.payload, data, bytes);
			b.event.n = what & 4 ? (uint8_t)(what >> 3) : FLOOD_BYTES;
			if (what & 8)
				b.event.payload[FLOOD_AT_VERSION] = FLOOD_VERSION;
			b.event.count = (uint32_t)b.count - (what >> 4) * 700;
			b.waiting = 1;
			data += bytes;
			n -= bytes;
		}
		pass(&b, &g, 1);
	}
	pass(&b, &g, 5 * HZ);
	if (!b.feeds)
		abort();
	return 0;
}
