/* SPDX-License-Identifier: MIT */
/**
 * The radio as Grace sets it: 433.050 MHz, 2-FSK, 6.0 kBd, deviation 14.3 kHz, a packet of variable length with CRC,
 * whitened. For a 26 MHz crystal; formulas by the sections of SWRS061 (CC1101).
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "../radio.h"

#define SETTINGS_BAUD 6000

/*
 * From the timer's compare to the strobe's last bit: 8 bits at 5.25 MHz. What the chip takes from there to the first bit of the
 * preamble is the same every time and stands in no data sheet; receivers cannot tell it from their own delay.
 */
#define SETTINGS_STROBE_NS 1524

static const struct radio_setting settings[] = {
	{ 0x00, 0x29 }, /* IOCFG2: CHIP_RDYn */
	{ 0x02, 0x06 }, /* IOCFG0: high from the sync word to the end of the packet, to be measured */
	{ 0x04, 0xd3 },                 /* SYNC1, SYNC0 */
	{ 0x05, 0x91 }, { 0x06, 0x3d }, /* PKTLEN: the longest */
	{ 0x07, 0x00 },                 /* PKTCTRL1 */
	{ 0x08, 0x45 },                 /* PKTCTRL0: whitening, CRC, length in the first byte */
	{ 0x0b, 0x06 },                 /* FSCTRL1 */
	{ 0x0d, 0x10 }, /* FREQ: 0x10a7e0 * 26 MHz / 2^16 = 433.050 MHz (section 21) */
	{ 0x0e, 0xa7 }, { 0x0f, 0xe0 }, { 0x10, 0xf7 }, /* MDMCFG4: receive bandwidth 58 kHz (section 13), rate exponent 7 */
	{ 0x11, 0xe4 }, /* MDMCFG3: (256 + 228) * 2^7 * 26 MHz / 2^28 = 6.0 kBd (section 12) */
	{ 0x12, 0x02 }, /* MDMCFG2: 2-FSK, all 16 bits of the sync word */
	{ 0x13, 0x22 }, /* MDMCFG1: 4 bytes of preamble */
	{ 0x15, 0x31 }, /* DEVIATN: (8 + 1) * 2^3 * 26 MHz / 2^17 = 14.3 kHz (section 16.1) */
	{ 0x17, 0x00 }, /* MCSM1: no listening before, IDLE after a packet */
	{ 0x18, 0x18 }, /* MCSM0: calibrate from IDLE to FSTXON */
	{ 0x22, 0x10 }, /* FREND0: power by PATABLE's first entry */
	{ 0x23, 0xe9 }, /* FSCAL, TEST: as the vendor's tool gives them for this band */
	{ 0x24, 0x2a }, { 0x25, 0x00 }, { 0x26, 0x1f },          { 0x2c, 0x81 },
	{ 0x2d, 0x35 }, { 0x2e, 0x09 }, { RADIO_PATABLE, 0x60 }, /* 0 dBm at 433 MHz (table 39) */
};

#endif
