/* SPDX-License-Identifier: MIT */
/*
 * What a call of the library costs, on an emulator without trace units: registers are remembered in
 * memory, the few that must answer do, and a log of instructions shows what happened between two
 * marks. What model_read and model_write do is none of the cost: on a chip they are a load or
 * store, and a return.
 */
#include "swotrace/choose.h"
#include "swotrace/regs.h"
#include "demo.h"

#define WORDS 64

static struct {
	uint32_t address, value;
} word[WORDS];

__attribute__((noinline)) void mark(int number)
{
	__asm__ volatile("" ::"r"(number) : "memory");
}

static __attribute__((noinline)) uint32_t *model_word(uint32_t address)
{
	uint32_t i = 0;

	while (i < WORDS - 1 && word[i].address && word[i].address != address)
		i++;
	word[i].address = address;
	return &word[i].value;
}

static uint32_t model_read(void *ctx, uint32_t address)
{
	uint32_t *value = model_word(address);

	(void)ctx;
	if (address == DWT_CTRL)
		return *value | 4u << 28;
	if (address == DWT_CYCCNT)
		return *value += 100; /* it is late: nothing is waited for */
	if (address == DWT_MASK(0))
		return *value & 15;
	return *value;
}

static void model_write(void *ctx, uint32_t address, uint32_t value)
{
	(void)ctx;
	*model_word(address) = value;
}

static const struct swo_bus bus = { 0, model_read, model_write };
static const struct swo_range ram = { 0x20000000u, 0x2001ffffu }; /* all four comparators */
static struct swo swo;
static struct swo_choose chooser;
static volatile uint64_t result;

/* A task of five counters' runs; then the rule finds nothing to change, and runs go by. */
static void choose(void)
{
	const struct swo_choose_config config = {
		.swo = &swo,
		.rule = SWO_RULE_CPI,
		.thresholds = &swo_thresholds_default,
		.runs = 100,
	};

	swo_choose_init(&chooser, &config);
	mark(10);
	swo_choose_begin(&chooser);
	mark(11);
	swo_choose_end(&chooser);
	mark(12);
	for (int run = 0; run < 4; run++) {
		swo_choose_begin(&chooser);
		swo_choose_end(&chooser);
	}
	mark(13);
	swo_choose_begin(&chooser);
	mark(14);
	swo_choose_end(&chooser);
	mark(15);
}

void measure(const struct swo_port *port)
{
	struct swo_config config = { &bus, port, 1, 0, 0 };
	struct swo_data data;

	mark(0);
	swo_init(&swo, &config);
	mark(1);
	swo_deinit(&swo);
	mark(2);
	config.switch_to_swd = 1;
	swo_init(&swo, &config);
	mark(3);
	swo_start(&swo, SWO_LSU, 0);
	mark(4);
	swo_stop(&swo, &data);
	mark(5);
	result = swo_data_count(&data);
	result = swo_per_million(result, data.cycles);
	mark(6);
	swo_start_ranges(&swo, &ram, 1, 0);
	mark(7);
	swo_stop(&swo, &data);
	mark(8);
	result = swo_data_count(&data);
	result = swo_per_million(result, data.cycles);
	mark(9);
	choose();
}
