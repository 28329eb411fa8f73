/* SPDX-License-Identifier: MIT */
#include "chip.h"

#define LAST_FIXED 0x22 /* registers beyond are the calibration's and tests' */
#define READS 4         /* of a status register, until two are equal */

int chip_strobe(const struct hal *hal, uint8_t which)
{
	uint8_t status;

	return hal->spi(hal->ctx, &which, &status, 1);
}

static int read_register(const struct hal *hal, uint8_t address, uint8_t *value)
{
	/*
	 * status registers share addresses with strobes; the burst bit tells them apart (section
	 * 10.3)
	 */
	const uint8_t out[2] = { (uint8_t)(address | RADIO_READ |
					   (address >= 0x30 ? RADIO_BURST : 0)) };
	uint8_t in[2];

	if (hal->spi(hal->ctx, out, in, 2))
		return -1;
	*value = in[1];
	return 0;
}

int chip_status(const struct hal *hal, uint8_t address, uint8_t *value)
{
	uint8_t last;

	if (read_register(hal, address, &last))
		return -1;
	for (unsigned i = 0; i < READS; i++) {
		if (read_register(hal, address, value))
			return -1;
		if (*value == last)
			return 0;
		last = *value;
	}
	return 0;
}

int chip_holds(const struct hal *hal, const struct radio_setting *settings, unsigned n)
{
	uint8_t value;

	for (unsigned i = 0; i < n; i++)
		if (settings[i].address <= LAST_FIXED &&
		    (read_register(hal, settings[i].address, &value) || value != settings[i].value))
			return 0;
	return 1;
}

int chip_set_up(const struct hal *hal, const struct radio_setting *settings, unsigned n,
		uint8_t *version)
{
	if (read_register(hal, RADIO_VERSION, version) || *version == 0x00 || *version == 0xff)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		const uint8_t out[2] = { settings[i].address, settings[i].value };
		uint8_t in[2];

		if (hal->spi(hal->ctx, out, in, 2))
			return -1;
	}
	return chip_holds(hal, settings, n) ? 0 : -1;
}
