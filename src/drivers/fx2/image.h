/* SPDX-License-Identifier: MIT */
/** Our firmware for the FX2LP, as it lies in program memory from address 0; made by the build. */
#ifndef DRIVERS_FX2_IMAGE_H
#define DRIVERS_FX2_IMAGE_H

#include <stddef.h>

extern const unsigned char fx2_image[];
/** 0: it was not built (there was no sdcc). */
extern const size_t fx2_image_bytes;

#endif
