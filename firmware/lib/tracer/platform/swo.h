/* SPDX-License-Identifier: MIT */
/**
 * A ring's packets through a stimulus port of the ITM, and so out of the SWO pin: words of 32 bits,
 * the lower byte first. The host takes them out of the ITM's packets (coeval decode --port).
 */
#ifndef TRACER_SWO_H
#define TRACER_SWO_H

#include "link.h"

/* ARMv7-M Architecture Reference Manual, C1.7 */
#define TRACER_ITM_PORT(n) ((volatile uint32_t *)(0xe0000000u + 4u * (n)))
#define TRACER_ITM_ENABLE (*(volatile uint32_t *)0xe0000e00u) /* a bit a port, of the first 32 */

/**
 * Write words of @l to @port as long as its FIFO takes them, @most at most. Returns how many: fewer
 * than @most if the FIFO is full, or there is nothing.
 */
uint32_t tracer_swo_send(struct tracer_link *l, volatile uint32_t *port, uint32_t most);

#endif
