/* SPDX-License-Identifier: MIT */
/** Numbers in wire format: lowest byte first. */
#ifndef FX2_BYTES_H
#define FX2_BYTES_H

#include <stdint.h>

void put_u16(uint8_t *p, uint16_t value);
void put_u32(uint8_t *p, uint32_t value);
uint16_t get_u16(const uint8_t *p);

#endif
