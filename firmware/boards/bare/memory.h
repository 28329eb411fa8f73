/* SPDX-License-Identifier: MIT */
/**
 * What the compiler calls for copies of structures, where there is no library: for the one file of
 * an image that starts it.
 */
#ifndef BARE_MEMORY_H
#define BARE_MEMORY_H

#include <stdint.h>

void *memcpy(void *to, const void *from, unsigned n);
void *memset(void *to, int byte, unsigned n);

void *memcpy(void *to, const void *from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
	return to;
}

void *memset(void *to, int byte, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)byte;
	return to;
}

#endif
