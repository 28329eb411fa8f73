/* SPDX-License-Identifier: MIT */
#include "cc1101_config.h"

#define MILLI 1000ull
#define PREAMBLE_AND_SYNC_BYTES (4 + 2)
#define CRC_BYTES 2

/*
 * Section 4.1 (bands), section 12 (rates by modulation), sections 13 and 16 (what the formulas can
 * give).
 */
#define RATE_LEAST 600u
#define RATE_MOST_2FSK 500000u
#define RATE_MOST_GFSK 250000u
#define BANDWIDTH_LEAST 58035u
#define BANDWIDTH_MOST 812500u
#define DEVIATION_LEAST 1587u
#define DEVIATION_MOST 380859u
/* Section 13: sensitivity settings below and above this bandwidth. */
#define BANDWIDTH_NARROW_MOST 325000u

static uint64_t divide_nearest(uint64_t a, uint64_t b)
{
	return (a + b / 2) / b;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Section 21: carrier = f_xosc / 2^16 * FREQ (channel 0). */
uint64_t cc1101_carrier_milli(const uint8_t *reg)
{
	uint64_t freq = (uint64_t)reg[CC1101_FREQ2] << 16 | (uint64_t)reg[CC1101_FREQ1] << 8 |
			reg[CC1101_FREQ0];

	return divide_nearest(freq * CC1101_XOSC_HZ * MILLI, 1ull << 16);
}

/* Section 13: bandwidth = f_xosc / (8 * (4 + CHANBW_M) * 2^CHANBW_E). */
static uint64_t bandwidth_of(unsigned e, unsigned m)
{
	return divide_nearest(CC1101_XOSC_HZ * MILLI, (8ull * (4 + m)) << e);
}

uint64_t cc1101_bandwidth_milli(const uint8_t *reg)
{
	return bandwidth_of(reg[CC1101_MDMCFG4] >> 6, reg[CC1101_MDMCFG4] >> 4 & 3);
}

/* Section 16.1: deviation = f_xosc / 2^17 * (8 + DEVIATION_M) * 2^DEVIATION_E. */
static uint64_t deviation_of(unsigned e, unsigned m)
{
	return divide_nearest((CC1101_XOSC_HZ * MILLI * (8 + m)) << e, 1ull << 17);
}

uint64_t cc1101_deviation_milli(const uint8_t *reg)
{
	return deviation_of(reg[CC1101_DEVIATN] >> 4 & 7, reg[CC1101_DEVIATN] & 7);
}

/* Section 12: rate = (256 + DRATE_M) * 2^DRATE_E / 2^28 * f_xosc. */
static uint64_t rate_of(unsigned e, unsigned m)
{
	return divide_nearest((CC1101_XOSC_HZ * MILLI * (256 + m)) << e, 1ull << 28);
}

uint64_t cc1101_rate_milli(const uint8_t *reg)
{
	return rate_of(reg[CC1101_MDMCFG4] & 15, reg[CC1101_MDMCFG3]);
}

/* The exponent and mantissa whose value is nearest to @milli. */
static unsigned nearest(uint64_t (*of)(unsigned e, unsigned m), unsigned exponents,
			unsigned mantissas, uint64_t milli, uint64_t *found)
{
	uint64_t best = UINT64_MAX;
	unsigned at = 0;

	for (unsigned e = 0; e < exponents; e++)
		for (unsigned m = 0; m < mantissas; m++) {
			uint64_t is = of(e, m);

			if (distance(is, milli) < best) {
				best = distance(is, milli);
				at = e * mantissas + m;
				*found = is;
			}
		}
	return at;
}

static const char *refused(const struct cc1101_wanted *w)
{
	const uint32_t f = w->carrier_hz;

	if (!((f >= 300000000u && f <= 348000000u) || (f >= 387000000u && f <= 464000000u) ||
	      (f >= 779000000u && f <= 928000000u)))
		return "the carrier must lie in 300-348, 387-464 or 779-928 MHz (SWRS061, 4.1)";
	if (w->modulation > CC1101_GFSK)
		return "the modulation must be 2-FSK or GFSK";
	if (w->rate_bd < RATE_LEAST)
		return "the data rate must be at least 0.6 kBd (SWRS061, 12)";
	if (w->modulation == CC1101_2FSK && w->rate_bd > RATE_MOST_2FSK)
		return "the data rate of 2-FSK must be at most 500 kBd (SWRS061, 12)";
	if (w->modulation == CC1101_GFSK && w->rate_bd > RATE_MOST_GFSK)
		return "the data rate of GFSK must be at most 250 kBd (SWRS061, 12)";
	if (w->deviation_hz < DEVIATION_LEAST || w->deviation_hz > DEVIATION_MOST)
		return "the deviation must be 1.587 to 380.859 kHz (SWRS061, 16.1)";
	if (w->bandwidth_hz < BANDWIDTH_LEAST - 500 || w->bandwidth_hz > BANDWIDTH_MOST)
		return "the channel filter's bandwidth must be 58 to 812 kHz (SWRS061, 13)";
	if (w->length == 0 || w->length > CC1101_FIFO_BYTES - 1 - CC1101_APPENDED)
		return "length must be 1 to 61: with length byte and status it must fit the FIFO (SWRS061, 20)";
	return 0;
}

static void set_receiver(uint8_t *reg, int narrow)
{
	/*
	 * ADC_RETENTION with TEST2, TEST1: better sensitivity up to 325 kHz (sections 13 and 29.1,
	 * FIFOTHR).
	 */
	reg[CC1101_FIFOTHR] = narrow ? 0x47 : 0x07;
	reg[CC1101_TEST2] = narrow ? 0x81 : 0x88;
	reg[CC1101_TEST1] = narrow ? 0x35 : 0x31;
	reg[CC1101_TEST0] = 0x09;
	/* Intermediate frequency f_xosc / 2^10 * n: 152 kHz, 305 kHz for wide filters. */
	reg[CC1101_FSCTRL1] = narrow ? 0x06 : 0x0c;
	reg[CC1101_FOCCFG] = narrow ? 0x16 : 0x1d;
	reg[CC1101_BSCFG] = narrow ? 0x6c : 0x1c;
	reg[CC1101_AGCCTRL2] = narrow ? 0x43 : 0xc7;
	reg[CC1101_AGCCTRL1] = narrow ? 0x40 : 0x00;
	reg[CC1101_AGCCTRL0] = narrow ? 0x91 : 0xb0;
	reg[CC1101_FREND1] = narrow ? 0x56 : 0xb6;
	reg[CC1101_FREND0] = 0x10;
	reg[CC1101_FSCAL3] = 0xe9;
	reg[CC1101_FSCAL2] = 0x2a;
	reg[CC1101_FSCAL1] = 0x00;
	reg[CC1101_FSCAL0] = 0x1f;
}

static void set_packets(uint8_t *reg, const struct cc1101_wanted *w)
{
	reg[CC1101_IOCFG2] = CC1101_GDO_SYNC;
	reg[CC1101_IOCFG1] = CC1101_GDO_HIGH_Z;
	reg[CC1101_IOCFG0] = CC1101_GDO_CRC_OK;
	reg[CC1101_SYNC1] = (uint8_t)(w->sync_word >> 8);
	reg[CC1101_SYNC0] = (uint8_t)w->sync_word;
	reg[CC1101_PKTLEN] = w->length;
	/*
	 * Preamble quality 2 (section 17.2), CRC_AUTOFLUSH, APPEND_STATUS, ADR_CHK without
	 * broadcast (section 15.3).
	 */
	reg[CC1101_PKTCTRL1] = (uint8_t)(2 << 5 | 0x08 | 0x04 | (w->check_address ? 1 : 0));
	/* WHITE_DATA, CRC_EN, variable length (sections 15.1, 15.2). */
	reg[CC1101_PKTCTRL0] = 0x45;
	reg[CC1101_ADDR] = w->address;
	/* Preamble of 4 bytes; channel spacing is not used. */
	reg[CC1101_MDMCFG1] = 0x22;
	reg[CC1101_MDMCFG0] = 0xf8;
	reg[CC1101_MCSM2] = 0x07;
	/*
	 * RXOFF_MODE 3: stays in RX; TXOFF_MODE 0: to IDLE; no listening before STX (section 19.4).
	 */
	reg[CC1101_MCSM1] = 0x0c;
	/* Calibrates when it leaves IDLE; waits 150 us for the crystal (section 22.1, 29.1). */
	reg[CC1101_MCSM0] = 0x18;
}

const char *cc1101_configure(struct cc1101_config *config, const struct cc1101_wanted *w)
{
	/* What is not named below is left at its reset value (section 29.1). */
	static const uint8_t reset_values[CC1101_REGS] = {
		[CC1101_WOREVT1] = 0x87, [CC1101_WOREVT0] = 0x6b, [CC1101_WORCTRL] = 0xf8,
		[CC1101_RCCTRL1] = 0x41, [CC1101_FSTEST] = 0x59,  [CC1101_PTEST] = 0x7f,
		[CC1101_AGCTEST] = 0x3f,
	};
	const char *why = refused(w);
	uint64_t bandwidth = 0, deviation = 0, rate = 0, freq;
	unsigned chanbw, deviatn, drate;
	uint8_t *reg = config->reg;

	if (why)
		return why;
	for (unsigned i = 0; i < CC1101_REGS; i++)
		reg[i] = reset_values[i];
	freq = divide_nearest((uint64_t)w->carrier_hz << 16, CC1101_XOSC_HZ);
	reg[CC1101_FREQ2] = (uint8_t)(freq >> 16);
	reg[CC1101_FREQ1] = (uint8_t)(freq >> 8);
	reg[CC1101_FREQ0] = (uint8_t)freq;
	chanbw = nearest(bandwidth_of, 4, 4, w->bandwidth_hz * MILLI, &bandwidth);
	deviatn = nearest(deviation_of, 8, 8, w->deviation_hz * MILLI, &deviation);
	drate = nearest(rate_of, 16, 256, w->rate_bd * MILLI, &rate);
	/* Carson's rule; section 13: the signal should take at most 80 % of the filter. */
	if ((2 * deviation + rate) * 5 > bandwidth * 4)
		return "twice the deviation and the data rate must fit into 80 % of the bandwidth (SWRS061, 13)";
	reg[CC1101_MDMCFG4] = (uint8_t)(chanbw << 4 | drate >> 8);
	reg[CC1101_MDMCFG3] = (uint8_t)drate;
	/* SYNC_MODE 2: 16 of 16 bits. Modes 3 and 7 send the sync word twice. */
	reg[CC1101_MDMCFG2] = (uint8_t)(w->modulation << 4 | 2);
	reg[CC1101_DEVIATN] = (uint8_t)((deviatn >> 3) << 4 | (deviatn & 7));
	set_packets(reg, w);
	set_receiver(reg, bandwidth <= BANDWIDTH_NARROW_MOST * MILLI);
	config->power = w->power;
	config->carrier_error_milli = (int32_t)(cc1101_carrier_milli(reg) - w->carrier_hz * MILLI);
	config->bandwidth_error_milli = (int32_t)(bandwidth - w->bandwidth_hz * MILLI);
	config->deviation_error_milli = (int32_t)(deviation - w->deviation_hz * MILLI);
	config->rate_error_milli = (int32_t)(rate - w->rate_bd * MILLI);
	return 0;
}

uint64_t cc1101_air_ns(const uint8_t *reg, unsigned length)
{
	const uint64_t bits = 8ull * (PREAMBLE_AND_SYNC_BYTES + 1 + length + CRC_BYTES);
	const uint64_t step = (256ull + reg[CC1101_MDMCFG3]) << (reg[CC1101_MDMCFG4] & 15);

	/* bits * 10^9 / rate, with 10^9 / f_xosc = 500 / 13. */
	return divide_nearest((bits << 28) * 500, step * 13);
}

uint32_t cc1101_duty_ppm(const uint8_t *reg, unsigned length, uint32_t period_ms)
{
	return (uint32_t)((cc1101_air_ns(reg, length) + period_ms - 1) / period_ms);
}

const char *cc1101_reg_name(unsigned reg)
{
	static const char *const names[CC1101_REGS] = {
		"IOCFG2",   "IOCFG1",   "IOCFG0",  "FIFOTHR", "SYNC1",   "SYNC0",   "PKTLEN",
		"PKTCTRL1", "PKTCTRL0", "ADDR",    "CHANNR",  "FSCTRL1", "FSCTRL0", "FREQ2",
		"FREQ1",    "FREQ0",    "MDMCFG4", "MDMCFG3", "MDMCFG2", "MDMCFG1", "MDMCFG0",
		"DEVIATN",  "MCSM2",    "MCSM1",   "MCSM0",   "FOCCFG",  "BSCFG",   "AGCCTRL2",
		"AGCCTRL1", "AGCCTRL0", "WOREVT1", "WOREVT0", "WORCTRL", "FREND1",  "FREND0",
		"FSCAL3",   "FSCAL2",   "FSCAL1",  "FSCAL0",  "RCCTRL1", "RCCTRL0", "FSTEST",
		"PTEST",    "AGCTEST",  "TEST2",   "TEST1",   "TEST0",
	};

	return reg < CC1101_REGS ? names[reg] : "";
}
