/* SPDX-License-Identifier: MIT */
#include "swo.h"

#define FIFO_READY 1u /* what a port reads as */

uint32_t tracer_swo_send(struct tracer_link *l, volatile uint32_t *port, uint32_t most)
{
	uint32_t words = 0;

	while (words < most && *port & FIFO_READY) {
		const uint8_t *bytes;

		/* all parts of a packet are whole words */
		if (!tracer_link_take(l, 4, &bytes))
			break;
		*port = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			(uint32_t)bytes[3] << 24;
		words++;
	}
	return words;
}
