/* SPDX-License-Identifier: MIT */
/*
 * The sync node's UART: bytes go into a running node, some of them between beacons, some during.
 * Whatever they say, the schedule continues and packets are intact.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/devices/syncnode_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct board {
	uint32_t count;
	const uint8_t *in;
	size_t left, now; /* bytes not yet given, and how many of them may be taken now */
	unsigned fed;
	uint32_t pulse;
	bool pulses;
	uint8_t marc;
};

static uint32_t board_now(void *ctx)
{
	return ((struct board *)ctx)->count;
}

static void board_arm(void *ctx, uint32_t count, uint8_t strobe)
{
	struct board *b = ctx;

	if (strobe != RADIO_STX || count - b->count > 84000000)
		abort();
}

static int board_disarm(void *ctx)
{
	struct board *b = ctx;

	b->marc = MARC_IDLE;
	return STATUS_FSTXON << 4;
}

static int board_spi(void *ctx, const uint8_t *out, uint8_t *in, unsigned n)
{
	struct board *b = ctx;

	if (out[0] == (RADIO_FIFO | RADIO_BURST) && (n < 3 || out[1] != n - 2))
		abort();
	if (out[0] == RADIO_SFSTXON)
		b->marc = MARC_FSTXON;
	memset(in, 0, n);
	if (n == 2 && out[0] == (RADIO_MARCSTATE | RADIO_READ | RADIO_BURST))
		in[1] = b->marc;
	if (n == 2 && out[0] == (RADIO_VERSION | RADIO_READ | RADIO_BURST))
		in[1] = 0x14;
	return 0;
}

static int board_pulse(void *ctx, uint32_t *count)
{
	struct board *b = ctx;

	if (!b->pulses || b->count - b->pulse < 84000000)
		return 0;
	*count = b->pulse += 84000000;
	return 1;
}

static int board_get(void *ctx, uint8_t *byte)
{
	struct board *b = ctx;

	if (!b->left || !b->now)
		return 0;
	b->left--;
	b->now--;
	*byte = *b->in++;
	return 1;
}

static int board_put(void *ctx, const char *bytes, unsigned n)
{
	(void)ctx;
	for (unsigned i = 0; i < n; i++)
		if (!bytes[i] || (i + 1 < n && bytes[i] == '\n'))
			abort();
	return 1;
}

static void board_feed(void *ctx)
{
	((struct board *)ctx)->fed++;
}

/* The first byte chooses whether there are pulses, and how many bytes come at a time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct board b = { .marc = MARC_IDLE };
	const struct hal hal = { &b,        84000000,    board_now, board_arm, board_disarm,
				 board_spi, board_pulse, board_get, board_put, board_feed };
	const struct syncnode_config config = {
		.schedule = { 1000, 1, 1 },
		.id = 1,
		.version = BEACON_VERSION,
		.baud = 6000,
		.limits = DISCIPLINE_LIMITS,
	};
	struct syncnode s;
	uint64_t end;

	if (!n)
		return 0;
	b.in = data + 1;
	b.left = n - 1;
	b.pulses = data[0] & 1;
	if (syncnode_init(&s, &hal, &config))
		abort();
	end = 84000000ull * 60;
	while (s.count < end) {
		uint64_t next;

		b.now = data[0] >> 1;
		next = syncnode_poll(&s);
		if (schedule_check(&s.config.schedule, 0) || !s.config.id)
			abort();
		b.count = (uint32_t)(next > s.count ? next : s.count + 1);
	}
	/* 10 s is the longest interval */
	if (s.sequence < 5 || b.fed != s.sequence || s.sequence != s.sent + s.missed + s.silent)
		abort();
	return 0;
}
