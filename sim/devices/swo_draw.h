/* SPDX-License-Identifier: MIT */
/** Random packets, for tests and benchmarks: any that a chip can send, even rare ones. */
#ifndef SWO_DRAW_H
#define SWO_DRAW_H

#include "core/random.h"
#include "decode/itm.h"

/**
 * Draw a packet of any kind but ITM_PAGE, which the encoder adds by itself, and ITM_BAD. at and
 * length are not set.
 */
void swo_draw_packet(struct sim_random *r, struct itm_packet *p);

#endif
