/* SPDX-License-Identifier: MIT */
/** The verilated gateware for C: what is between the models and Verilator's C++. */
#ifndef TRACELAB_CHIP_H
#define TRACELAB_CHIP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct chip_pins {
	/* in */
	uint8_t rst_n, line, pps, sck, cs_n, rx, adc_miso;
	uint16_t sram_in;
	/* out */
	uint8_t act, miso, ready, tx, adc_sck, adc_cs_n, sram_drive, sram_we_n, sram_oe_n;
	uint16_t sram_out;
	uint32_t sram_a;
};

struct chip;
/** Small: with a ring of 256 packets, and losses that are counted up to 2^19. */
struct chip *chip_create(int small);
void chip_free(struct chip *chip);

/** One cycle: the inputs are there before its clock edge, the outputs are what follows from it. */
void chip_cycle(struct chip *chip, struct chip_pins *pins);

/** The disciplined clock alone, with seconds of 20,000 ticks (small) or 2,000,000. */
struct clock_chip;
struct clock_chip *clock_chip_create(int small);
void clock_chip_free(struct clock_chip *chip);

/** One cycle; returns 1 if the next is the last of a tick. */
int clock_chip_cycle(struct clock_chip *chip, int reset, int pps);

/** A packet of the clock, if there is one: its bits 28..0. Returns 0 if there is none. */
int clock_chip_packet(struct clock_chip *chip, uint32_t *packet);

#ifdef __cplusplus
}
#endif

#endif
