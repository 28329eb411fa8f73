/* SPDX-License-Identifier: MIT */
#include "tracelab_sim.h"

#include <stdlib.h>
#include <string.h>

#include "chip.h"
#include "wire/tracelab_wire.h"

#define UART_CYCLES (TL_CLOCK_HZ / TL_BAUD)
#define UART_ROOM 4096
#define SRAM_WORDS (1u << 19)

struct uart_line {
	uint8_t bytes[UART_ROOM]; /* a ring */
	size_t first, n;
	unsigned shift, bits, left; /* of the byte that is on the line: bits and cycles to go */
};

struct tl_sim {
	struct chip *chip;
	struct chip_pins pins;
	uint64_t cycle;
	tl_sim_step *step;
	void *step_ctx;

	uint16_t *sram;
	uint32_t sram_a;
	unsigned sram_still; /* cycles for which the address has not moved */
	struct chip_pins sram_last;
	uint64_t sram_faults;

	tl_sim_adc *adc;
	void *adc_ctx;
	uint32_t adc_frame; /* the next bit is bit 23 */
	uint8_t adc_sck, adc_cs_n;
	int adc_began;

	struct uart_line to, from;
};

/* 10 ns SRAM: what is read is there 20 ns after the address moved, and before that something else. */
static void sram_cycle(struct tl_sim *sim)
{
	struct chip_pins *p = &sim->pins;
	const struct chip_pins *last = &sim->sram_last;
	uint32_t a = p->sram_a % SRAM_WORDS;

	sim->sram_still = a == sim->sram_a ? sim->sram_still + 1 : 0;
	sim->sram_a = a;
	if (p->sram_drive && !p->sram_oe_n)
		sim->sram_faults++;
	if (!p->sram_we_n && !p->sram_drive)
		sim->sram_faults++;
	if (!last->sram_we_n) {
		if (p->sram_a != last->sram_a || p->sram_out != last->sram_out || !p->sram_drive)
			sim->sram_faults++;
		else
			sim->sram[a] = p->sram_out;
	}
	p->sram_in = (uint16_t)(p->sram_oe_n || sim->sram_still < 2 ? ~sim->sram[a] : sim->sram[a]);
	sim->sram_last = *p;
}

/* An AD7680: samples when chip select falls, then one bit more after each but the first fall of the clock. */
static void adc_cycle(struct tl_sim *sim)
{
	struct chip_pins *p = &sim->pins;

	if (!p->adc_cs_n && sim->adc_cs_n) {
		int value = sim->adc ? sim->adc(sim->adc_ctx, sim->cycle) : 0;

		sim->adc_frame = value == TL_SIM_ADC_LOW  ? 0 :
				 value == TL_SIM_ADC_HIGH ? 0xffffff :
							    (uint32_t)value << 4;
		sim->adc_began = 1;
	} else if (!p->adc_cs_n && sim->adc_sck && !p->adc_sck) {
		sim->adc_frame = sim->adc_frame << 1 & 0xffffff;
	}
	sim->adc_sck = p->adc_sck;
	sim->adc_cs_n = p->adc_cs_n;
	p->adc_miso = sim->adc_frame >> 23 & 1;
}

static void uart_cycle(struct tl_sim *sim)
{
	struct uart_line *to = &sim->to, *from = &sim->from;

	if (to->bits == 0 && to->n > 0) {
		to->shift = 1u << 9 | (unsigned)to->bytes[to->first] << 1;
		to->bits = 10;
		to->left = UART_CYCLES;
		to->first = (to->first + 1) % UART_ROOM;
		to->n--;
	}
	sim->pins.rx = to->bits == 0 ? 1 : to->shift & 1;
	if (to->bits > 0 && --to->left == 0) {
		to->shift >>= 1;
		to->bits--;
		to->left = UART_CYCLES;
	}

	if (from->bits == 0) {
		if (!sim->pins.tx) {
			from->bits = 10;
			from->left = UART_CYCLES / 2;
		}
	} else if (--from->left == 0) {
		from->left = UART_CYCLES;
		from->shift = from->shift >> 1 | (unsigned)sim->pins.tx << 9;
		if (--from->bits == 0 && from->n < UART_ROOM)
			from->bytes[(from->first + from->n++) % UART_ROOM] =
				(uint8_t)(from->shift >> 1);
	}
}

static void one_cycle(struct tl_sim *sim)
{
	if (sim->step)
		sim->step(sim->step_ctx, sim, sim->cycle);
	chip_cycle(sim->chip, &sim->pins);
	sram_cycle(sim);
	adc_cycle(sim);
	uart_cycle(sim);
	sim->cycle++;
}

struct tl_sim *tl_sim_create(int small)
{
	struct tl_sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->sram = calloc(SRAM_WORDS, sizeof(*sim->sram));
	sim->chip = sim->sram ? chip_create(small) : NULL;
	if (!sim->chip) {
		tl_sim_free(sim);
		return NULL;
	}
	sim->pins.cs_n = 1;
	sim->pins.rx = 1;
	sim->pins.sram_we_n = 1;
	sim->sram_last = sim->pins;
	for (int i = 0; i < 8; i++)
		chip_cycle(sim->chip, &sim->pins);
	sim->pins.rst_n = 1;
	for (int i = 0; i < 8; i++)
		chip_cycle(sim->chip, &sim->pins);
	return sim;
}

void tl_sim_free(struct tl_sim *sim)
{
	if (!sim)
		return;
	if (sim->chip)
		chip_free(sim->chip);
	free(sim->sram);
	free(sim);
}

uint64_t tl_sim_cycle(const struct tl_sim *sim)
{
	return sim->cycle;
}

void tl_sim_lines(struct tl_sim *sim, unsigned lines)
{
	sim->pins.line = lines & 0x1f;
}

void tl_sim_pps(struct tl_sim *sim, int level)
{
	sim->pins.pps = level != 0;
}

unsigned tl_sim_act(const struct tl_sim *sim)
{
	return sim->pins.act;
}

int tl_sim_ready(const struct tl_sim *sim)
{
	return sim->pins.ready;
}

void tl_sim_each(struct tl_sim *sim, tl_sim_step *step, void *ctx)
{
	sim->step = step;
	sim->step_ctx = ctx;
}

void tl_sim_set_adc(struct tl_sim *sim, tl_sim_adc *adc, void *ctx)
{
	sim->adc = adc;
	sim->adc_ctx = ctx;
}

void tl_sim_run(struct tl_sim *sim, uint64_t cycles)
{
	while (cycles-- > 0)
		one_cycle(sim);
}

void tl_sim_spi(struct tl_sim *sim, uint8_t *bytes, size_t bits)
{
	/* Half periods of 25 / 6 cycles. */
	unsigned part = 0;

	memset(bytes, 0, (bits + 7) / 8);
	sim->pins.cs_n = 0;
	tl_sim_run(sim, 10);
	for (size_t i = 0; i < bits; i++) {
		for (int edge = 0; edge < 2; edge++) {
			for (part += 25; part >= 6; part -= 6)
				one_cycle(sim);
			if (edge == 0)
				bytes[i / 8] |= (uint8_t)(sim->pins.miso << (7 - i % 8));
			sim->pins.sck = edge == 0;
		}
	}
	tl_sim_run(sim, 10);
	sim->pins.cs_n = 1;
	tl_sim_run(sim, 10);
}

size_t tl_sim_uart_send(struct tl_sim *sim, const uint8_t *bytes, size_t n)
{
	struct uart_line *to = &sim->to;
	size_t i;

	for (i = 0; i < n && to->n < UART_ROOM; i++)
		to->bytes[(to->first + to->n++) % UART_ROOM] = bytes[i];
	return i;
}

size_t tl_sim_uart_take(struct tl_sim *sim, uint8_t *bytes, size_t room)
{
	struct uart_line *from = &sim->from;
	size_t i;

	for (i = 0; i < room && from->n > 0; i++) {
		bytes[i] = from->bytes[from->first];
		from->first = (from->first + 1) % UART_ROOM;
		from->n--;
	}
	return i;
}

uint64_t tl_sim_sram_faults(const struct tl_sim *sim)
{
	return sim->sram_faults;
}
