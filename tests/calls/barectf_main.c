/* SPDX-License-Identifier: MIT */
/* Two tasks of a core and an interrupt, as barectf traces them: `worker` is woken by the interrupt ten times. */
#include "barectf.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t now;
static FILE *out;
static uint8_t packet[512];

static uint64_t get_clock(void *data)
{
	(void)data;
	return now;
}

static int is_full(void *data)
{
	(void)data;
	return 0;
}

static void open_packet(void *ctx)
{
	barectf_core_open_packet(ctx);
}

static void close_packet(void *ctx)
{
	barectf_core_close_packet(ctx);
	if (fwrite(packet, 1, sizeof(packet), out) != sizeof(packet))
		exit(1);
}

int main(void)
{
	static struct barectf_core_ctx core;
	const struct barectf_platform_callbacks platform = {
		.ns_clock_get_value = get_clock,
		.is_backend_full = is_full,
		.open_packet = open_packet,
		.close_packet = close_packet,
	};

	out = fopen("trace/stream", "wb");
	if (!out)
		return 1;
	barectf_init(&core, packet, sizeof(packet), platform, &core);
	open_packet(&core);
	now = 1000;
	barectf_core_trace_ctx_in(&core, 0, 0, "idle");
	for (int i = 0; i < 10; i++) {
		now += 90000;
		barectf_core_trace_isr_in(&core, 7);
		now += 1000;
		barectf_core_trace_unblock(&core, 2);
		now += 1000;
		barectf_core_trace_isr_out(&core, 7);
		now += 500;
		barectf_core_trace_ctx_in(&core, 0, 2, "worker");
		barectf_core_trace_work_begin(&core, "parse");
		now += 5000;
		barectf_core_trace_work_end(&core, "parse");
		barectf_core_trace_ctx_in(&core, 1, 0, "idle");
	}
	if (barectf_packet_is_open(&core) && !barectf_packet_is_empty(&core))
		close_packet(&core);
	return fclose(out) != 0;
}
