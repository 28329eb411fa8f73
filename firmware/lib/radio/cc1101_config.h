/* SPDX-License-Identifier: MIT */
/**
 * Register values of a CC1101, computed from the wanted parameters (C99, integers only, no libc:
 * sync node and host).
 *
 * Formulas and limits: CC1101 data sheet, TI SWRS061I, the section named at each. Values that no
 * formula gives are those that TI's SmartRF Studio writes.
 */
#ifndef COEVAL_CC1101_CONFIG_H
#define COEVAL_CC1101_CONFIG_H

#include <stdint.h>

#include "cc1101_regs.h"

enum cc1101_modulation { CC1101_2FSK = 0, CC1101_GFSK = 1 };

/**
 * What is wanted. Preamble: 4 bytes; variable length; CRC; whitening; two status bytes appended.
 */
struct cc1101_wanted {
	uint32_t carrier_hz;
	uint32_t bandwidth_hz; /* of the receiver's channel filter */
	uint32_t deviation_hz;
	uint32_t rate_bd;
	uint8_t modulation; /* enum cc1101_modulation */
	uint16_t sync_word;
	uint8_t address;
	uint8_t check_address; /* 1: the chip drops packets to others */
	uint8_t length;        /* most bytes that may follow the length byte; 1 to 61 */
	uint8_t power;         /* PATABLE's first byte (section 24) */
};

/**
 * A computed configuration. Errors: what the chip does minus what was wanted, in thousandths of a
 * Hz or Bd.
 */
struct cc1101_config {
	uint8_t reg[CC1101_REGS];
	uint8_t power;
	int32_t carrier_error_milli;
	int32_t bandwidth_error_milli;
	int32_t deviation_error_milli;
	int32_t rate_error_milli;
};

/**
 * Compute @config. Returns NULL, or a sentence that names the violated limit; @config is then
 * invalid.
 */
const char *cc1101_configure(struct cc1101_config *config, const struct cc1101_wanted *wanted);

/* What registers say, in thousandths of a Hz or Bd. */
uint64_t cc1101_carrier_milli(const uint8_t *reg);
uint64_t cc1101_bandwidth_milli(const uint8_t *reg);
uint64_t cc1101_deviation_milli(const uint8_t *reg);
uint64_t cc1101_rate_milli(const uint8_t *reg);

/**
 * From the first bit of the preamble to the last of the CRC, ns, of a packet with @length bytes
 * after the length byte.
 */
uint64_t cc1101_air_ns(const uint8_t *reg, unsigned length);

/** Name of a register ("FSCTRL1"), or "". */
const char *cc1101_reg_name(unsigned reg);

/**
 * Radio settings that some law permits. Whoever transmits is responsible; see docs/radio.md.
 */
struct cc1101_profile {
	const char *name, *what, *legal;
	struct cc1101_wanted wanted;
	uint32_t duty_ppm; /* maximum share of each hour on the air, ppm; 1000000: no limit */
	uint32_t band_low_hz, band_high_hz;
};

/** Ended by a profile without a name. The first one is the default. */
extern const struct cc1101_profile cc1101_profiles[];
const struct cc1101_profile *cc1101_profile_find(const char *name);

/**
 * Share of the time on the air, ppm, rounded up, of one packet with @length every @period_ms (above
 * 0).
 */
uint32_t cc1101_duty_ppm(const uint8_t *reg, unsigned length, uint32_t period_ms);

#endif
