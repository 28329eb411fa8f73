/* SPDX-License-Identifier: MIT */
/**
 * The analyzer's firmware as text of an Intel HEX file, not ended by 0: firmware/apps/fx2/fx2.ihx.
 */
#ifndef DRIVERS_FX2_IMAGE_H
#define DRIVERS_FX2_IMAGE_H

#include <stddef.h>

extern const unsigned char fx2_image[];
extern const size_t fx2_image_bytes;

#endif
