/* SPDX-License-Identifier: MIT */
#include "sobel.h"

static int32_t size(int32_t v)
{
	return v < 0 ? -v : v;
}

void sobel(uint8_t *out, const uint8_t *in, uint32_t width, uint32_t height, uint32_t first,
	   uint32_t rows)
{
	for (uint32_t y = first; y < first + rows; y++)
		for (uint32_t x = 0; x < width; x++) {
			const uint8_t *p = in + y * width + x;
			const uint8_t *a = p - width, *b = p + width;
			int32_t gx, gy;

			if (!x || !y || x == width - 1 || y == height - 1) {
				out[y * width + x] = 0;
				continue;
			}
			gx = a[1] + 2 * p[1] + b[1] - a[-1] - 2 * p[-1] - b[-1];
			gy = b[-1] + 2 * b[0] + b[1] - a[-1] - 2 * a[0] - a[1];
			gx = size(gx) + size(gy);
			out[y * width + x] = (uint8_t)(gx > 255 ? 255 : gx);
		}
}
