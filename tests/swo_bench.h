/* SPDX-License-Identifier: MIT */
/**
 * The library of firmware/lib/swotrace on a simulated chip that runs a random program: seeded, with
 * the packets of the line decoded beside.
 */
#ifndef SWO_BENCH_H
#define SWO_BENCH_H

#include <stdlib.h>
#include <string.h>

#include "decode/itm.h"
#include "decode/manchester.h"
#include "decode/tpiu.h"
#include "decode/uart.h"
#include "sim/devices/dwt.h"
#include "swotrace/regs.h"
#include "swotrace/swotrace.h"
#include "test_draw.h"

#define RAM 0x20000000u
#define RAM_BYTES 0x18000u
#define FLASH 0x08000000u
#define FLASH_BYTES 0x100000u
#define BENCH_EDGES (1u << 20)
#define TICKS 10u /* of the decoders, in a cycle */

struct bench_edge {
	double time;
	bool level;
};

struct bench {
	struct dwt_chip chip;
	struct swo_bus bus;
	struct swo_config config;
	struct swo swo;
	struct draw draw;
	struct bench_edge *edge;
	size_t edges;
	uint64_t program[6]; /* what bench_run() did: as the counters, and accesses of flash */
	uint64_t flash;
	/* decoded */
	uint64_t kinds[ITM_KINDS], rising, bad, ticks; /* ticks: of all local timestamps */
	uint64_t counters[6], comparators[DWT_CHIP_COMPARATORS], software[256];
	struct itm itm;
	struct tpiu tpiu;
	bool frames;
};

static inline void bench_edge(void *ctx, double time, bool level)
{
	struct bench *b = ctx;

	if (b->edges < BENCH_EDGES)
		b->edge[b->edges++] = (struct bench_edge){ time, level };
}

static inline void bench_init(struct bench *b, const struct dwt_chip_config *config, uint64_t test)
{
	memset(b, 0, sizeof(*b));
	b->draw = draw_begin(test);
	b->edge = malloc(BENCH_EDGES * sizeof(*b->edge));
	if (!b->edge)
		abort();
	dwt_chip_init(&b->chip, config, bench_edge, b);
	b->bus = (struct swo_bus){ &b->chip, dwt_chip_read, dwt_chip_write };
	b->config = (struct swo_config){
		.bus = &b->bus,
		.port = config->kind == DWT_CHIP_L476 ? &swo_port_stm32l476 : &swo_port_stm32f4,
		.prescaler_counter = 1,
		.prescaler_comparator = 0,
	};
}

static inline void bench_done(struct bench *b)
{
	free(b->edge);
}

static inline enum swo_why bench_start(struct bench *b, int switch_to_swd)
{
	b->config.switch_to_swd = (uint8_t)switch_to_swd;
	return swo_init(&b->swo, &b->config);
}

static inline uint32_t bench_below(struct bench *b, uint32_t n)
{
	return (uint32_t)draw_below(&b->draw, n);
}

static inline void bench_step(struct bench *b, const struct dwt_step *s)
{
	for (unsigned i = 0; i < 5; i++)
		b->program[i] += s->add[i];
	b->program[5] += s->cycles;
	b->flash += s->access && s->address - FLASH < FLASH_BYTES;
	dwt_chip_step(&b->chip, s);
}

/*
 * @n instructions: of one cycle, of several, folded, loads and stores all over the memory,
 * interrupts, sleep.
 */
static inline void bench_run(struct bench *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct dwt_step s = { .cycles = 1, .pc = FLASH + bench_below(b, FLASH_BYTES) };
		uint8_t more = (uint8_t)bench_below(b, 8);

		switch (bench_below(b, 8)) {
		case 0:
			s.add[SWO_CPI] = more;
			s.cycles = (uint8_t)(1 + more);
			break;
		case 1:
		case 2:
			s.add[SWO_LSU] = more;
			s.cycles = (uint8_t)(1 + more);
			s.access = true;
			s.write = bench_below(b, 2);
			s.size = (uint8_t)(1u << bench_below(b, 3));
			s.address = bench_below(b, 2) ? RAM + bench_below(b, RAM_BYTES) :
							FLASH + bench_below(b, FLASH_BYTES);
			s.address &= ~(s.size - 1u);
			s.value = bench_below(b, UINT32_MAX) >> (32 - 8 * s.size);
			break;
		case 3:
			s.add[SWO_FOLD] = 1;
			s.cycles = 0;
			break;
		case 4:
			if (more)
				break;
			s.action = (uint8_t)(1 + bench_below(b, 3));
			s.exception = (uint16_t)bench_below(b, 100);
			s.add[SWO_EXC] = s.cycles = 12;
			break;
		case 5: s.add[SWO_SLEEP] = s.cycles = (uint8_t)(8 * more); break;
		default: break;
		}
		bench_step(b, &s);
	}
}

/* An access every so often: of the RAM or the flash. */
static inline void bench_accesses(struct bench *b, unsigned n, uint8_t cycles)
{
	for (unsigned i = 0; i < n; i++) {
		struct dwt_step s = {
			.cycles = cycles,
			.access = true,
			.write = bench_below(b, 2),
			.size = 4,
			.address = bench_below(b, 2) ? RAM + (bench_below(b, RAM_BYTES) & ~3u) :
						       FLASH + (bench_below(b, FLASH_BYTES) & ~3u),
		};

		bench_step(b, &s);
	}
}

static inline void bench_packets(struct bench *b, const struct itm_packet *p, size_t n)
{
	for (; n--; p++) {
		b->kinds[p->kind]++;
		b->ticks += p->kind == ITM_LOCAL_TS ? p->value : 0;
		if (p->kind == ITM_EVENT_COUNTER)
			for (unsigned i = 0; i < 6; i++)
				b->counters[i] += p->value >> i & 1;
		if (p->kind == ITM_DATA_ADDRESS && p->source < DWT_CHIP_COMPARATORS)
			b->comparators[p->source]++;
		if (p->kind == ITM_SOFTWARE && p->source < 256)
			b->software[p->source]++;
	}
}

static inline void bench_itm(struct bench *b, uint8_t byte)
{
	struct itm_packet p[4];
	size_t used, n = itm_feed(&b->itm, &byte, 1, p, 4, &used);

	bench_packets(b, p, n);
}

static inline void bench_tpiu(void *ctx, const struct tpiu_byte *byte)
{
	if (byte->stream)
		bench_itm(ctx, byte->value);
}

static inline void bench_byte(void *ctx, const struct line_byte *byte)
{
	struct bench *b = ctx;

	b->bad += byte->broken;
	if (byte->broken)
		return;
	if (b->frames)
		tpiu_feed(&b->tpiu, byte->value, byte->from, byte->to);
	else
		bench_itm(b, byte->value);
}

/* The line's edges from @from on, at one rate, to packets. */
static inline void bench_decode(struct bench *b, size_t from, double bit_cycles, bool manchester)
{
	const struct line_sink sink = { bench_byte, b };
	const struct tpiu_sink bytes = { .byte = bench_tpiu, .ctx = b };
	struct uart_opts uart_opts = { .bit = bit_cycles * TICKS };
	struct manchester_opts manchester_opts = { .bit = bit_cycles * TICKS };
	static struct uart uart;
	static struct manchester man;

	memset(b->kinds, 0, sizeof(b->kinds));
	memset(b->counters, 0, sizeof(b->counters));
	memset(b->comparators, 0, sizeof(b->comparators));
	memset(b->software, 0, sizeof(b->software));
	b->rising = b->bad = b->ticks = 0;
	itm_init(&b->itm);
	tpiu_init(&b->tpiu, &bytes);
	uart_init(&uart, &uart_opts, &sink);
	manchester_init(&man, &manchester_opts, &sink);
	if (manchester)
		manchester_edge(&man, 0, false);
	else
		uart_edge(&uart, 0, true);
	for (size_t i = from; i < b->edges; i++) {
		uint64_t tick = (uint64_t)(b->edge[i].time * TICKS + 0.5);

		b->rising += b->edge[i].level;
		if (manchester)
			manchester_edge(&man, tick, b->edge[i].level);
		else
			uart_edge(&uart, tick, b->edge[i].level);
	}
	if (manchester)
		manchester_end(&man, (b->chip.now + 1000) * TICKS);
	else
		uart_end(&uart, (b->chip.now + 1000) * TICKS);
}

#endif
