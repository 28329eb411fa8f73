/* SPDX-License-Identifier: MIT */
#include "timer.h"

uint32_t timer_join(const struct timer_reading *r)
{
	/*
	 * Where the high bytes differ, the low byte wrapped between them: just before it was read,
	 * or just after.
	 */
	const uint8_t high = r->low & 0x80 ? r->high_before : r->high_after;
	uint16_t overflows = r->overflows;

	/* An overflow not yet counted may be one that came after the low byte was read. */
	if (r->overflow && !(high & 0x80))
		overflows++;
	return (uint32_t)overflows << 16 | (uint16_t)((uint16_t)high << 8) | r->low;
}
