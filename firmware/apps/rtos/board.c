/* SPDX-License-Identifier: MIT */
#include "board.h"

#include "tracer/platform/semihost.h"

/* CMSDK timer 0: it counts down. Arm, CMSDK Technical Reference Manual, table 4-19. */
#define TIMER_CTRL (*(volatile uint32_t *)0x40000000u)
#define TIMER_VALUE (*(volatile uint32_t *)0x40000004u)
#define TIMER_RELOAD (*(volatile uint32_t *)0x40000008u)

#define PACKET_LOG2 12
#define PACKETS 64

struct tracer board_tracer;
static uint64_t ring[(TRACER_RING_BYTES(PACKET_LOG2, PACKETS) + 7) / 8];
static struct tracer_link way_out;

static uint32_t now(void *context)
{
	(void)context;
	return ~TIMER_VALUE;
}

int board_start(const struct tracer_layout *layout)
{
	const struct tracer_config config = { .platform = { .clock32 = now },
					      .mode = TRACE_STOP,
					      .packet_log2 = PACKET_LOG2,
					      .packets = PACKETS,
					      .rate_hz = CLOCK_HZ };

	TIMER_RELOAD = TIMER_VALUE = UINT32_MAX;
	TIMER_CTRL = 1;
	if (tracer_init(&board_tracer, ring, sizeof(ring), &config, layout))
		return -1;
	tracer_link_init(&way_out, ring, sizeof(ring));
	return 0;
}

void board_spin(uint32_t us)
{
	const uint32_t from = now(0);

	while (now(0) - from < us * (CLOCK_HZ / 1000000u))
		;
}

void board_end(void)
{
	int file;

	tracer_flush(&board_tracer);
	file = tracer_semihost_open("trace.bin");
	tracer_semihost_send(&way_out, file);
	tracer_semihost_close(file);
	tracer_semihost_exit();
	for (;;)
		;
}
