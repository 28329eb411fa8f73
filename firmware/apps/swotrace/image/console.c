/* SPDX-License-Identifier: MIT */
/* RM0351 sections 6.4 and 40.8 (L4), RM0368 sections 6.3 and 19.6 (F4). */
#include "console.h"

#define REG(address) (*(volatile uint32_t *)(address))
#define USART2 0x40004400u
#define BAUD 115200u
#define LIMIT 100000u

#ifdef BOARD_L476
#define GPIOA 0x48000000u
#define GPIO_CLOCK REG(0x4002104cu)
#define USART_CLOCK REG(0x40021058u)
#define USART_CR1 REG(USART2 + 0x00u)
#define USART_BRR REG(USART2 + 0x0cu)
#define USART_STATUS REG(USART2 + 0x1cu)
#define USART_DATA REG(USART2 + 0x28u)
#define USART_ENABLE 1u
#else
#define GPIOA 0x40020000u
#define GPIO_CLOCK REG(0x40023830u)
#define USART_CLOCK REG(0x40023840u)
#define USART_CR1 REG(USART2 + 0x0cu)
#define USART_BRR REG(USART2 + 0x08u)
#define USART_STATUS REG(USART2 + 0x00u)
#define USART_DATA REG(USART2 + 0x04u)
#define USART_ENABLE (1u << 13)
#endif
#define USART_SEND (1u << 3)
#define USART_EMPTY (1u << 7)

void console_init(uint32_t hz)
{
	GPIO_CLOCK |= 1u;
	USART_CLOCK |= 1u << 17;
	(void)USART_CLOCK;
	REG(GPIOA + 0x20u) = (REG(GPIOA + 0x20u) & ~(15u << 8)) | 7u << 8; /* PA2: AF7 */
	REG(GPIOA) = (REG(GPIOA) & ~(3u << 4)) | 2u << 4;
	USART_BRR = (hz + BAUD / 2) / BAUD;
	USART_CR1 = USART_ENABLE | USART_SEND;
}

void say(const char *text)
{
	for (; *text; text++) {
		for (uint32_t i = 0; i < LIMIT && !(USART_STATUS & USART_EMPTY); i++)
			;
		USART_DATA = (uint8_t)*text;
	}
}

void say_number(uint64_t n)
{
	char text[21], *at = text + 20;

	*at = 0;
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	say(at);
}
