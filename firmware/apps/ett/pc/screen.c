/* SPDX-License-Identifier: MIT */
/* The VGA's text memory: a character and its colours each. */
#include "machine.h"

#include "io.h"

#define TEXT ((volatile uint16_t *)0xb8000)
#define PLAIN 0x0700
#define BRIGHT 0x1f00

static void put(unsigned row, unsigned column, char c)
{
	uint16_t colour = row == 0 || row == ETT_ROWS - 1 ? BRIGHT : PLAIN;

	TEXT[row * ETT_COLUMNS + column] = (uint16_t)(colour | (uint8_t)c);
}

void screen_open(void)
{
	/* no cursor: CRT controller, register 10, bit 5 */
	out8(0x3d4, 10);
	out8(0x3d5, 0x20);
	for (unsigned row = 0; row < ETT_ROWS; row++)
		screen_line(row, "");
}

void screen_show(char text[ETT_ROWS][ETT_COLUMNS])
{
	for (unsigned row = 0; row < ETT_ROWS; row++)
		for (unsigned column = 0; column < ETT_COLUMNS; column++)
			put(row, column, text[row][column]);
}

void screen_line(unsigned row, const char *text)
{
	for (unsigned column = 0; column < ETT_COLUMNS; column++)
		put(row, column, *text ? *text++ : ' ');
}
