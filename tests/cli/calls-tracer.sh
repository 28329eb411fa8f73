# SPDX-License-Identifier: MIT
# room: analysis
# A program with the tracer needs no rules of its own, if its tracepoints are named as in docs/calls.md.
need cc
ln -s "$SRC/firmware" firmware
cat >points_of_it.h <<'C'
TRACEPOINT(task_switch, (u32, next), (str, next_name), (u8, blocked))
TRACEPOINT(isr_enter, (u8, irq))
TRACEPOINT(isr_exit, (u8, irq))
TRACEPOINT(func_entry, (u32, addr))
TRACEPOINT(func_exit, (u32, addr))
TRACEPOINT(filter_begin, (u16, row))
TRACEPOINT(filter_end)
C
cat >program.c <<'C'
#define TRACER_POINTS "points_of_it.h"
#include "tracer/points.h"

#include "tracer/drain.h"
#include "tracer/metadata.h"

static struct tracer tracer;
static uint64_t ring[TRACER_RING_BYTES(12, 4) / 8];
static volatile uint32_t timer;

static void draw(unsigned turn)
{
	trace_task_switch(&tracer, 1, "main", 1);
	trace_func_entry(&tracer, 0x8001);
	trace_filter_begin(&tracer, (uint16_t)turn);
	timer += 100;
	trace_isr_enter(&tracer, 15);
	timer += 5;
	trace_isr_exit(&tracer, 15);
	trace_task_switch(&tracer, 2, "X", 0);
	timer += turn == 7 ? 20000 : 20;
	trace_task_switch(&tracer, 1, "main", 1);
	trace_filter_end(&tracer);
	timer += 7;
	trace_func_exit(&tracer, 0x8001);
	trace_task_switch(&tracer, 0, "idle", 1);
	timer += 500;
}

int main(void)
{
	static const struct tracer_config config = {
		.platform = { .counter = &timer },
		.mode = TRACE_STREAM,
		.packet_log2 = 12,
		.packets = 4,
		.rate_hz = 1000000,
	};
	const struct tracer_origin origin = { .node = "m4", .rate_hz = 1000000 };
	FILE *metadata = fopen("trace/metadata", "wb"), *stream = fopen("trace/stream", "wb");
	struct tracer_drain d;
	uint32_t packet[1024];

	tracer_init(&tracer, ring, sizeof(ring), &config, &tracer_layout);
	tracer_drain_open(&d, ring, sizeof(ring));
	for (unsigned turn = 0; turn < 20; turn++)
		draw(turn);
	tracer_flush(&tracer);
	while (tracer_drain_read(&d, packet) == TRACER_PACKET)
		fwrite(packet, sizeof(packet), 1, stream);
	tracer_metadata(metadata, &tracer_declared, &origin);
	return fclose(stream) || fclose(metadata);
}
C
mkdir trace
cc -Ifirmware/lib -I. program.c firmware/lib/tracer/tracer.c firmware/lib/tracer/drain.c firmware/lib/tracer/metadata.c -o program
./program
echo '0x8001 draw' >names
coeval calls trace --names names
