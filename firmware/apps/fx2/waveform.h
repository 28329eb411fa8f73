/* SPDX-License-Identifier: MIT */
/**
 * Programs of the chip's sampling engine (GPIF).
 */
#ifndef FX2_WAVEFORM_H
#define FX2_WAVEFORM_H

#include <stdint.h>

/* Bytes of one waveform descriptor: four rows of eight, see waveform.c. */
#define FX2_WAVEFORM 32

/**
 * A program that takes a sample every @divisor cycles of the engine's clock forever, and ends by
 * itself at the first sample for which no buffer is free.
 *
 * @divisor 1 to FX2_DIVISOR_MAX
 */
void waveform_build(uint16_t divisor, uint8_t waveform[FX2_WAVEFORM]);

#endif
