/* SPDX-License-Identifier: MIT */
/**
 * USB descriptors of the device (USB 2.0, 9.5 and 9.6).
 */
#ifndef FX2_DESCRIPTORS_H
#define FX2_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Each is shorter than a packet of endpoint 0 (64), so that one packet always is the whole answer.
 */
#define FX2_DESCRIPTOR_MAX 63

/**
 * Write the descriptor of @type and @index.
 *
 * @bytes room for FX2_DESCRIPTOR_MAX
 *
 * Returns its length; 0: there is none.
 */
uint8_t descriptor_get(uint8_t type, uint8_t index, bool high_speed, uint8_t *bytes);

#endif
