/* SPDX-License-Identifier: MIT */
/*
 * A simulated node with markers in its program: prints what its pins do as VCD, in ns. On a board
 * FLOW_CHANGE() would be a write to the register that changes pins, and nothing else here would
 * differ.
 */
#include <stdio.h>

static unsigned long long now = 1000;
static unsigned pins;

static void change(unsigned which)
{
	printf("#%llu\n", now);
	pins ^= which;
	for (unsigned i = 0; i < 3; i++)
		if (which >> i & 1)
			printf("%u%c\n", pins >> i & 1, 'a' + (int)i);
	now += 250; /* five cycles of 20 MHz */
}

#define FLOW_CHANGE(which) change(which)
#include "markers.h"

static unsigned random_bits = 1;

static unsigned dice(unsigned sides)
{
	random_bits = random_bits * 1103515245u + 12345u;
	return (random_bits >> 16) % sides;
}

static void read_sensor(void)
{
	MARK_read();
	now += 12000 + 100 * dice(40);
	if (dice(5) == 0) {
		MARK_send();
		now += 80000 + 1000 * dice(20);
		if (dice(8) == 0)
			MARK_failed();
	}
}

int main(void)
{
	puts("$timescale 1ns $end\n$var wire 1 a D0 $end\n$var wire 1 b D1 $end\n$var wire 1 c D2 $end\n"
	     "$enddefinitions $end\n#0\n0a\n0b\n0c");
	MARK_boot();
	for (int i = 0; i < 200; i++) {
		MARK_wake();
		now += 5000;
		if (dice(20))
			read_sensor();
		MARK_sleep();
		now += 1000000;
	}
	printf("#%llu\n", now);
	return 0;
}
