/* SPDX-License-Identifier: MIT */
#include "hooks.h"

#if defined(HOOKS_OURS)

#include "board.h"

#define PACKETS 4u

struct tracer hooks_tracer;

static uint64_t memory[TRACER_RING_BYTES(HOOKS_PACKET_LOG2, PACKETS) / 8];

static uint32_t ask(void *ctx)
{
	(void)ctx;
	return bench_clock();
}

void hooks_begin(void)
{
	static const struct tracer_config config = {
		.platform = { .counter = BOARD_COUNTER, .clock32 = ask },
		.mode = TRACE_OVERWRITE,
		.packet_log2 = HOOKS_PACKET_LOG2,
		.packets = PACKETS,
	};

	tracer_init(&hooks_tracer, memory, sizeof(memory), &config, &tracer_layout);
}

uint32_t hooks_lost(void)
{
	return hooks_tracer.ring->lost;
}

#elif defined(HOOKS_BARECTF)

struct barectf__main_ctx hooks_barectf;

static uint8_t memory[1u << HOOKS_PACKET_LOG2];

static uint32_t ask(void *ctx)
{
	(void)ctx;
	return bench_clock();
}

static int is_full(void *ctx)
{
	(void)ctx;
	return 0;
}

static void open_packet(void *ctx)
{
	(void)ctx;
	barectf__main_open_packet(&hooks_barectf);
}

static void close_packet(void *ctx)
{
	(void)ctx;
	barectf__main_close_packet(&hooks_barectf);
}

void hooks_begin(void)
{
	const struct barectf__platform_callbacks callbacks = { ask, is_full, open_packet,
							       close_packet };

	barectf__init(&hooks_barectf, memory, sizeof(memory), callbacks, 0);
	open_packet(0);
}

uint32_t hooks_lost(void)
{
	return barectf__discarded_event_records_count(&hooks_barectf);
}

#else

void hooks_begin(void)
{
}

uint32_t hooks_lost(void)
{
	return 0;
}

#endif
