/* SPDX-License-Identifier: MIT */
#include "settings.h"

#define GDO_PACKET 0x06 /* from the sync word to the end of the packet (SWRS061I, table 41) */

unsigned settings_from(struct radio_setting *out, const struct cc1101_config *config)
{
	unsigned n = 0;

	for (unsigned r = 0; r < CC1101_REGS; r++) {
		uint8_t value = r == CC1101_IOCFG0 ? GDO_PACKET : config->reg[r];

		if (r >= CC1101_RCCTRL1 && r <= CC1101_AGCTEST)
			continue; /* the chip's own, and for its makers' tests */
		out[n++] = (struct radio_setting){ (uint8_t)r, value };
	}
	out[n++] = (struct radio_setting){ RADIO_PATABLE, config->power };
	return n;
}
