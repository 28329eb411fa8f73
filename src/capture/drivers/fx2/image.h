/* SPDX-License-Identifier: MIT */
/**
 * The analyzer's firmware, as built by sdcc with this library: the text of an Intel HEX file, not ended by 0.
 */
#ifndef DRIVERS_FX2_IMAGE_H
#define DRIVERS_FX2_IMAGE_H

#include <stddef.h>

extern const unsigned char fx2_image[];
extern const size_t fx2_image_bytes; /* 0: there was no sdcc */

#endif
