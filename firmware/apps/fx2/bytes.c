/* SPDX-License-Identifier: MIT */
#include "bytes.h"

void put_u16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

void put_u32(uint8_t *p, uint32_t value)
{
	put_u16(p, (uint16_t)value);
	put_u16(p + 2, (uint16_t)(value >> 16));
}

uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)((uint16_t)p[1] << 8 | p[0]);
}
