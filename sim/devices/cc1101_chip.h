/* SPDX-License-Identifier: MIT */
/**
 * A CC1101 as seen at its SPI and its pins, in simulated time, to test drivers and firmware.
 *
 * After the data sheet, TI SWRS061I (sections are named in the source), and its errata, SWRZ020.
 * Modelled: SPI, registers, strobes, states with their transition times, both FIFOs, the packet
 * handler with variable length, GDO0 and GDO2. Not modelled: wake-on-radio, fixed and infinite
 * length, FEC, Manchester, the analog side (a packet is on the channel or not).
 */
#ifndef SIM_CC1101_CHIP_H
#define SIM_CC1101_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radio/cc1101_regs.h"

#define CHIP_AIR_MOST 8 /* packets on their way at once */

/** A packet on the air. */
struct chip_air {
	int64_t start_ns;                   /* first bit of the preamble */
	uint64_t carrier_milli, rate_milli; /* thousandths of a Hz and Bd */
	uint16_t sync_word;
	uint8_t bytes[CC1101_FIFO_BYTES]; /* length byte and what it counts */
	size_t n;
	bool crc_bad;      /* as received */
	uint8_t rssi, lqi; /* as the chip appends them */
};

/** Faults of the model. */
enum chip_fault {
	CHIP_SOUND,
	CHIP_DEAD_LOW,   /* MISO always 0 */
	CHIP_DEAD_HIGH,  /* MISO always 1 */
	CHIP_DEAF,       /* MOSI is not connected: answers, but takes nothing */
	CHIP_STUCK,      /* ignores strobes except SRES and SNOP */
	CHIP_NEVER_READY /* its crystal does not start */
};

struct cc1101_chip {
	/* Set by the user of the model. */
	enum chip_fault fault;
	int64_t spi_byte_ns; /* how long a byte takes on SPI; 0: no time passes */
	bool unsteady;       /* RXBYTES is wrong once after each byte that came in (SWRZ020) */
	void (*on_pin)(void *ctx, int pin, bool level, int64_t now_ns); /* GDO0 and GDO2 */
	/*
	 * When the first byte after the preamble is there; the first bit may have left by then, but
	 * no sync word.
	 */
	void (*on_sent)(void *ctx, const struct chip_air *air);
	void *ctx;

	/* Statistics. */
	uint8_t reg[CC1101_REGS], pa[8];
	uint8_t rx[CC1101_FIFO_BYTES], tx[CC1101_FIFO_BYTES];
	size_t n_rx, n_tx;
	enum cc1101_state state;
	int64_t now_ns;
	uint64_t taken, ignored, filtered, flushed; /* packets; flushed: bytes */
	uint64_t duplicated; /* bytes, by reading the FIFO empty while a packet came (SWRZ020) */

	/* Of the model. */
	enum cc1101_state next;
	int64_t until_ns, ready_ns, rx_since_ns, tx_since_ns;
	size_t n_air;
	struct chip_air air[CHIP_AIR_MOST]; /* by start_ns */
	bool receiving, sending, crc_pin, wrong_count, pin[3];
	struct chip_air in;
	size_t at;
	int64_t next_ns; /* of the next byte in, or the end of the packet out */
};

/** As after power-on at @now_ns. Fields that its user sets are left as they are. */
void chip_reset(struct cc1101_chip *c, int64_t now_ns);

/** Let time pass; time never goes back. */
void chip_advance(struct cc1101_chip *c, int64_t now_ns);

/** A packet will come over the air, not before now. Returns false if there are too many already. */
bool chip_hear(struct cc1101_chip *c, const struct chip_air *air);

/** One SPI transaction, from chip select to its end. @chip is a struct cc1101_chip. Returns 0. */
int chip_transfer(void *chip, const uint8_t *tx, uint8_t *rx, size_t n);

/** Level of GDO@pin, 0 or 2. */
bool chip_pin(const struct cc1101_chip *c, int pin);

#endif
