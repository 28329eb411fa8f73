/* SPDX-License-Identifier: MIT */
/**
 * A Nucleo-L476RG: what the task bench needs of it but for the trace. Registers: RM0351; pins:
 * DS10198 and UM1724.
 *
 *   PA2, PA3  USART2, which the debugger hands to the host
 *   PC8       trigger line 0 (CN10 pin 2)
 *   PC6       trigger line 1 (CN10 pin 4)
 *   PA5..PA7  SPI1: clock, in, out (PA5 also lights LD2)
 *
 * Timer 5 tells the time. Timer 2, PB3, PA15, PB13 and PB14 belong to firmware/lib/swotrace.
 */
#ifndef COEVAL_TASKBENCH_L476_BOARD_H
#define COEVAL_TASKBENCH_L476_BOARD_H

#include "taskbench/hal.h"

/** Turn on what is needed. Call board_clock() then. */
void board_init(void);

/**
 * The processor runs at @hz now: UART and timer follow. What was being sent must be out:
 * board_flush().
 */
void board_clock(uint32_t hz);
void board_flush(void);

/**
 * After the port has set frequency and voltage: wait states and voltage by policy, as far as they
 * differ from the port's, and the flash's cache. Returns 0, or -1 if the chip does not do so.
 */
int board_flash(const struct bench_setting *s);
/** Before the port changes the frequency: slow enough for every frequency. */
int board_flash_slow(void);

int board_get(void *ctx, uint8_t *byte);
void board_put(void *ctx, const char *bytes, unsigned n);
uint64_t board_now_us(void *ctx);
void board_trigger(void *ctx, unsigned line, int high);
int board_spi(void *ctx, uint32_t hz, const uint8_t *out, uint8_t *in, unsigned n);
void board_sleep_ms(void *ctx, uint32_t ms);
void board_reboot(void *ctx);

#endif
