/* SPDX-License-Identifier: MIT */
/**
 * An STM32F401 board with a CC1101, as docs/hardware.md wires it:
 *
 *   PB12 CSn, PB13 SCLK, PB14 MISO (SO), PB15 MOSI (SI)
 *   PA1  1-PPS in, rising edge       PA5  marker out: rises with the strobe
 *   PA2  UART out, PA3 UART in, 115200 baud
 *   PB10 GDO0 of the radio, for floods only (board_flood()); PA5 is the 1-PPS then
 */
#ifndef BOARD_H
#define BOARD_H

#include "../hal.h"

/** Where the 84 MHz come from. */
enum board_clock {
	BOARD_CRYSTAL,
	BOARD_NO_CRYSTAL /* it did not start: the internal oscillator, off by up to 1 % */
};

/** Set up clocks, pins, timer, UART and watchdog, and @hal to use them. There is one board only. */
enum board_clock board_init(struct hal *hal);

/**
 * After board_init(), for floods: GDO0 is captured, and the marker out rises at seconds
 * (board_raise()) and no longer with the strobe.
 */
void board_flood(void);

/**
 * The timer's count at a rising edge of GDO0. Returns 1, or 0 if there was none since the last
 * call. @ctx is not used.
 */
int board_sync(void *ctx, uint32_t *count);

/**
 * Raise the marker out when the timer comes to @count, for 10 ms. Not while a strobe is armed. @ctx
 * is not used.
 */
void board_raise(void *ctx, uint32_t count);

/** Queue text for the UART, if there is room for it. */
void board_say(const char *text);

/** To be called again and again: hands the UART one byte when it can take one. */
void board_pass(void);

#endif
