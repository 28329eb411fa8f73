/* SPDX-License-Identifier: MIT */
/**
 * Text out of USART2 (PA2, 115200 baud), which a Nucleo's debugger hands to the host. One word or
 * number at a time.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdint.h>

/** @hz: of the peripheral clock. */
void console_init(uint32_t hz);
void say(const char *text);
void say_number(uint64_t n);

#endif
