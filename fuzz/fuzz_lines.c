/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/decode/itm_clock.h"
#include "../src/decode/manchester.h"
#include "../src/decode/tpiu.h"
#include "../src/decode/uart.h"

#define PACKETS 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void take_byte(void *ctx, const struct line_byte *b)
{
	(void)ctx;
	if (b->from > b->to)
		abort();
}

static void take_stream(void *ctx, const struct tpiu_byte *b)
{
	uint64_t *bytes = ctx;

	++*bytes;
	if (b->from > b->to || !b->stream)
		abort();
}

static void take_hole(void *ctx, uint64_t from, uint64_t to)
{
	(void)ctx;
	if (from > to)
		abort();
}

static void take_packet(void *ctx, const struct itm_packet *p, struct itm_when when)
{
	size_t *packets = ctx;

	(void)p;
	++*packets;
	if (when.from > when.to)
		abort();
}

static void take_slip(void *ctx, uint64_t at, uint64_t ticks)
{
	(void)ctx;
	(void)at;
	if (!ticks)
		abort();
}

/* Pulses of 1 to 32 ticks; now and then a hole. */
static void lines(const uint8_t *data, size_t n, bool learn)
{
	const struct uart_opts u_opts = { .bit = learn ? 0 : 3.3 };
	const struct manchester_opts m_opts = { .bit = learn ? 0 : 6.6 };
	const struct line_sink sink = { take_byte, NULL };
	static struct uart u;
	static struct manchester m;
	uint64_t tick = 0;

	uart_init(&u, &u_opts, &sink);
	manchester_init(&m, &m_opts, &sink);
	for (size_t i = 0; i < n; i++) {
		tick += data[i] % 32;
		if (data[i] == 0xff) {
			uart_hole(&u, tick);
			manchester_hole(&m, tick);
		}
		uart_edge(&u, tick, data[i] >> 7);
		manchester_edge(&m, tick, data[i] >> 7);
	}
	uart_end(&u, tick);
	manchester_end(&m, tick);
}

static void frames(const uint8_t *data, size_t n)
{
	static struct tpiu t;
	uint64_t bytes = 0;
	const struct tpiu_sink sink = { take_stream, take_hole, &bytes };
	const struct tpiu_counts *c = &t.counts;

	tpiu_init(&t, &sink);
	for (size_t i = 0; i < n; i++)
		tpiu_feed(&t, data[i], i, i);
	tpiu_end(&t);
	if (c->taken != n || bytes != c->data ||
	    c->taken != c->data + c->ids + c->flags + c->padding + c->sync + c->skipped)
		abort();
}

/* Whole, and byte by byte: the same packets. */
static void packets(const uint8_t *data, size_t n)
{
	static struct itm_packet whole[PACKETS], single[PACKETS];
	static struct itm_clock clock;
	static struct itm a, b;
	size_t used = 0, got = 0, one = 0, timed = 0, ignored;
	const struct itm_clock_sink sink = { take_packet, take_slip, &timed };

	if (n > PACKETS / 2 - 4)
		n = PACKETS / 2 - 4;
	itm_init(&a);
	got = itm_feed(&a, data, n, whole, PACKETS, &used);
	if (used != n)
		abort();
	got += itm_end(&a, whole + got);
	itm_init(&b);
	for (size_t i = 0; i < n; i++)
		one += itm_feed(&b, data + i, 1, single + one, PACKETS - one, &ignored);
	one += itm_end(&b, single + one);
	if (got != one || memcmp(whole, single, got * sizeof(*whole)) != 0)
		abort();
	itm_clock_init(&clock, n % 2, n % 3 ? 1 : 16, &sink);
	for (size_t i = 0; i < got; i++)
		itm_clock_put(&clock, &whole[i]);
	itm_clock_end(&clock);
	if (timed != got)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	lines(data, n, n % 2);
	frames(data, n);
	packets(data, n);
	return 0;
}
