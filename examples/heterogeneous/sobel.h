/* SPDX-License-Identifier: MIT */
/** Sobel's filter, on master and slaves alike. */
#ifndef HETEROGENEOUS_SOBEL_H
#define HETEROGENEOUS_SOBEL_H

#include <stdint.h>

/**
 * How fast brightness changes at each pixel of @rows rows from @first on, |Gx| + |Gy| up to 255, of
 * an image of @width by @height bytes. The border is 0.
 */
void sobel(uint8_t *out, const uint8_t *in, uint32_t width, uint32_t height, uint32_t first,
	   uint32_t rows);

#endif
