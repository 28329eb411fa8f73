/* SPDX-License-Identifier: MIT */
/*
 * A Cortex-M4 that traces from its program and from two interrupts, one of which breaks into the
 * other, at moments drawn from SEED. The program drains the ring meanwhile. Writes packets.bin and
 * counts.bin where the emulator runs.
 */
#define TRACER_POINTS "tracer_points.h"
#include "cortexm/start.h"
#include "taskbench/mps2/mps2.h"
#include "tracer/drain.h"
#include "tracer/points.h"

#define COUNTER ((const volatile uint32_t *)0x40028018) /* FPGAIO: counts up at 25 MHz */
#define TIMER(n, register) REG(0x40000000u + 0x1000u * (n) + (register))
#define TIMER_LINE 8u
#define NVIC_PRIORITY(line) (*(volatile uint8_t *)(0xe000e400u + (line)))

#define KEPT (2u << 20) /* of packets */

static struct tracer tracer;
static uint64_t memory[TRACER_RING_BYTES(7, 4) / 8];
static uint32_t kept[KEPT / 4];
static uint32_t n, begun[3], state[2] = { SEED, SEED * 7u + 1u };
static volatile int over;

static uint32_t draw(uint32_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 17;
	*s ^= *s << 5;
	return *s;
}

static void event(unsigned who)
{
	uint32_t number = begun[who]++;

	if (number % 5 == 4)
		trace_words(&tracer, "who", (uint32_t)who, "it was", number);
	else
		trace_pair(&tracer, (uint8_t)who, number);
}

void interrupt(unsigned line)
{
	unsigned which = line - TIMER_LINE;
	uint32_t r = draw(&state[which]);

	TIMER(which, 0xc) = 1;
	if (over)
		return;
	for (r >>= 20; r % 4; r /= 4)
		event(which + 1);
	if (r % 32 == 8)
		tracer_flush(&tracer);
	tracer_keep_time(&tracer);
	TIMER(which, 8) = TIMER(which, 4) = 1u + draw(&state[which]) % 150u;
}

/* ---- the debugger's files ---- */

static uint32_t semihosting(uint32_t call, const void *block)
{
	register uint32_t r0 __asm__("r0") = call;
	register const void *r1 __asm__("r1") = block;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}

static void write_file(const char *name, uint32_t length, const void *bytes, uint32_t size)
{
	const uint32_t open[3] = { (uint32_t)name, 5 /* wb */, length };
	uint32_t block[3] = { semihosting(1, open), (uint32_t)bytes, size };

	semihosting(5, block);
	semihosting(2, block);
}

static void drain(struct tracer_drain *d, uint32_t room)
{
	while (n + 128 <= room && tracer_drain_read(d, kept + n / 4) == TRACER_PACKET)
		n += 128;
}

int main(void)
{
	static const struct tracer_config config = { .platform = { .counter = COUNTER },
						     .mode = TRACE_STREAM,
						     .packet_log2 = 7,
						     .packets = 4,
						     .rate_hz = MPS2_HZ };
	struct tracer_drain d;
	uint32_t counts[4];

	tracer_init(&tracer, memory, sizeof(memory), &config, &tracer_layout);
	tracer_drain_open(&d, memory, sizeof(memory));
	for (unsigned i = 0; i < 2; i++) {
		NVIC_PRIORITY(TIMER_LINE + i) = (uint8_t)(0x80 - 0x40 * i);
		NVIC_ENABLE = 1u << (TIMER_LINE + i);
		TIMER(i, 8) = TIMER(i, 4) = 50;
		TIMER(i, 0) = 9; /* on, with its interrupt */
	}
	while (n + 128 <= KEPT - 1024) {
		event(0);
		if (begun[0] % 3 == 0)
			drain(&d, KEPT - 1024);
	}
	over = 1;
	TIMER(0, 0) = TIMER(1, 0) = 0;
	for (unsigned i = 0; i < 2; i++) {
		tracer_flush(&tracer);
		drain(&d, KEPT);
	}
	for (unsigned i = 0; i < 3; i++)
		counts[i] = begun[i];
	counts[3] = tracer_drain_lost(&d);
	write_file("packets.bin", 11, kept, n);
	write_file("counts.bin", 10, counts, sizeof(counts));
	semihosting(0x18, (const void *)0x20026);
	return 0;
}
