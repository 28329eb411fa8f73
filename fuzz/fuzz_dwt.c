/* SPDX-License-Identifier: MIT */
/*
 * Any program on the simulated trace units: register writes, calls of firmware/lib/swotrace, steps
 * of the processor, in any order.
 */
#include <stdlib.h>

#include "sim/devices/dwt.h"
#include "swotrace/regs.h"
#include "swotrace/stm32/stm32.h"
#include "swotrace/swotrace.h"

static const uint32_t registers[] = {
	DEMCR,        DWT_CTRL,         DWT_CYCCNT,
	DWT_CPICNT,   DWT_CPICNT + 8,   DWT_COMP(0),
	DWT_MASK(0),  DWT_FUNCTION(0),  DWT_COMP(3),
	DWT_MASK(3),  DWT_FUNCTION(3),  DWT_COMP(14),
	DWT_MASK(14), DWT_FUNCTION(14), ITM_STIM(0),
	ITM_STIM(30), ITM_STIM(255),    ITM_TER(0),
	ITM_TER(7),   ITM_TCR,          ITM_LAR,
	TPIU_ACPR,    TPIU_SPPR,        TPIU_FFCR,
	DBGMCU_CR,    TIM2_CR1,         TIM2_SMCR,
	TIM2_CNT,     0x4002104cu,      0x40021058u,
	0x48000000u,  0x48000400u,      0x48000400u + GPIO_BSRR,
};

#define INPUT_MAX 256 /* each byte may start the wire's whole handshake */

struct input {
	const uint8_t *at, *end;
};

static uint32_t take(struct input *in, unsigned bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | (in->at < in->end ? *in->at++ : 0);
	return value;
}

static void step(struct dwt_chip *c, struct input *in)
{
	uint32_t bits = take(in, 4);
	struct dwt_step s = {
		.cycles = bits & 63,
		.access = bits >> 6 & 1,
		.write = bits >> 7 & 1,
		.size = (uint8_t)(1u << (bits >> 8 & 3) % 3),
		.action = bits >> 10 & 3,
		.address = 0x20000000u + (bits >> 16),
	};

	for (unsigned i = 0; i < 5; i++)
		s.add[i] = (uint8_t)take(in, 1);
	dwt_chip_step(c, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + (size < INPUT_MAX ? size : INPUT_MAX) };
	struct dwt_chip_config config = dwt_chip_l476;
	struct dwt_chip *chip = malloc(sizeof(*chip));
	struct swo_bus bus = { chip, dwt_chip_read, dwt_chip_write };
	struct swo_config swo_config = { &bus, &swo_port_stm32l476, 1, 0, 0 };
	struct swo_range range[2];
	struct swo_data result;
	struct swo swo = { .ready = 0 };
	uint64_t out = 0;

	if (!chip)
		return 0;
	config.comparators = (uint8_t)take(&in, 1) % (DWT_CHIP_COMPARATORS + 1);
	config.mask_bits = (uint8_t)take(&in, 1) & 31;
	config.jtag = take(&in, 1) & 1;
	swo_config.switch_to_swd = (uint8_t)take(&in, 1) & 1;
	dwt_chip_init(chip, &config, NULL, NULL);
	while (in.at < in.end)
		switch (take(&in, 1) % 8) {
		case 0: swo_init(&swo, &swo_config); break;
		case 1: swo_start(&swo, (enum swo_counter)take(&in, 1), take(&in, 1)); break;
		case 2:
			for (unsigned i = 0; i < 2; i++) {
				range[i].from = take(&in, 4);
				range[i].to = take(&in, 4);
			}
			swo_start_pass(&swo, range, 1 + take(&in, 1) % 2, take(&in, 1), 0);
			break;
		case 3:
			if (!swo_stop(&swo, &result)) {
				swo_data_exact(&result);
				swo_data_load(&result);
			}
			break;
		case 4:
			dwt_chip_write(chip, registers[take(&in, 1) % (sizeof(registers) / 4)],
				       take(&in, 4));
			break;
		case 5:
			dwt_chip_read(chip, registers[take(&in, 1) % (sizeof(registers) / 4)]);
			break;
		default: step(chip, &in); break;
		}
	dwt_chip_rest(chip);
	for (unsigned i = 0; i < ITM_KINDS; i++)
		out += i == ITM_OVERFLOW ? 0 : chip->truth.kinds[i];
	if (out + chip->truth.lost != chip->truth.made)
		abort();
	free(chip);
	return 0;
}
