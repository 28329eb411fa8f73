/* SPDX-License-Identifier: MIT */
/* The first serial port (16550): 115200 baud, 8 bits, no parity. */
#include "machine.h"

#include "io.h"

#define BASE 0x3f8
#define LINE_STATUS (BASE + 5)
#define SEND_EMPTY 0x20
#define PATIENCE_US 1000000

bool serial_open(void)
{
	out8(BASE + 1, 0);
	out8(BASE + 3, 0x80);
	out8(BASE + 0, 1);
	out8(BASE + 1, 0);
	out8(BASE + 3, 3);
	out8(BASE + 2, 7);
	out8(BASE + 4, 3);
	return in8(LINE_STATUS) != 0xff;
}

bool serial_send(const struct timer *t, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n--) {
		uint64_t until = tsc() + ett_ticks(PATIENCE_US, t->hz);

		while (!(in8(LINE_STATUS) & SEND_EMPTY))
			if (tsc() > until)
				return false;
		out8(BASE, *p++);
	}
	return true;
}
