/* SPDX-License-Identifier: MIT */
/**
 * A CC1101 over a board's SPI: strobes, registers, setting it up. Facts from its data sheet,
 * SWRS061. Functions return 0, or -1.
 */
#ifndef COEVAL_SYNCNODE_CHIP_H
#define COEVAL_SYNCNODE_CHIP_H

#include "radio.h"

int chip_strobe(const struct hal *hal, uint8_t which);

/**
 * A status register; one that changes while it is read is read until it is the same twice (errata
 * SWRZ020).
 */
int chip_status(const struct hal *hal, uint8_t address, uint8_t *value);

/** Whether the chip has kept all settings. */
int chip_holds(const struct hal *hal, const struct radio_setting *settings, unsigned n);

/** Write all settings and read them back. @version tells a chip (neither 00 nor FF) from none. */
int chip_set_up(const struct hal *hal, const struct radio_setting *settings, unsigned n,
		uint8_t *version);

#endif
