/* SPDX-License-Identifier: MIT */
/*
 * A program that traces: a LED blinks, a sensor is read. On a microcontroller the counter would be
 * a timer's register, and whoever drains the ring would stand at the other end of a wire, or of a
 * shared memory. Here both are this program, and what it prints is a trace:
 *
 *   blink DIRECTORY
 */
#define TRACER_POINTS "blink_points.h"
#include "tracer/points.h"

#include "tracer/drain.h"
#include "tracer/metadata.h"

#define HZ 1000000

static struct tracer tracer;
static uint64_t ring[TRACER_RING_BYTES(8, 4) / 8]; /* 4 packets of 256 bytes */
static volatile uint32_t timer = 0xfff00000;       /* which wraps soon */

static void program(unsigned turn)
{
	const struct trace_reading reading = { (uint16_t)(100 * turn), -5 + (int)turn, 15 };

	trace_led(&tracer, turn % 2 ? trace_level_high : trace_level_low);
	timer += 250000;
	trace_measured(&tracer, 1, reading, 50.0F * (float)turn);
	timer += 250000;
	tracer_keep_time(&tracer);
}

/* All packets that are complete. */
static void drain(struct tracer_drain *d, FILE *to)
{
	uint32_t packet[64];

	while (tracer_drain_read(d, packet) == TRACER_PACKET)
		fwrite(packet, sizeof(packet), 1, to);
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, "wb");
}

int main(int argc, char **argv)
{
	static const struct tracer_config config = {
		.platform = { .counter = &timer },
		.mode = TRACE_STREAM,
		.packet_log2 = 8,
		.packets = 4,
		.rate_hz = HZ,
	};
	const struct tracer_origin origin = { .node = "blink", .rate_hz = HZ };
	FILE *metadata = argc == 2 ? create(argv[1], "metadata") : NULL;
	FILE *stream = argc == 2 ? create(argv[1], "stream") : NULL;
	struct tracer_drain d;

	if (!metadata || !stream)
		return 2;
	if (tracer_init(&tracer, ring, sizeof(ring), &config, &tracer_layout) ||
	    tracer_drain_open(&d, ring, sizeof(ring)) != TRACER_PACKET)
		return 3;
	trace_started(&tracer, "1.0");
	for (unsigned turn = 0; turn < 4; turn++) {
		program(turn);
		drain(&d, stream);
	}
	tracer_flush(&tracer);
	drain(&d, stream);
	tracer_metadata(metadata, &tracer_declared, &origin);
	return fclose(stream) || fclose(metadata) ? 4 : 0;
}
