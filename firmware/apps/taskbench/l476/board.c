/* SPDX-License-Identifier: MIT */
#include "taskbench/l476/board.h"

#include "cortexm/start.h"

#define REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
/* A register that does not change in so many reads never will. */
#define PATIENCE 1000000u

#define RCC_AHB2ENR REG(0x4002104c)
#define RCC_APB1ENR1 REG(0x40021058)
#define RCC_APB2ENR REG(0x40021060)
#define RCC_TIM5 (1u << 3)
#define RCC_USART2 (1u << 17)
#define RCC_PWR (1u << 28)
#define RCC_SPI1 (1u << 12)

#define GPIOA 0x48000000u
#define GPIOC 0x48000800u
#define MODER(port) REG((port) + 0x00u)
#define BSRR(port) REG((port) + 0x18u)
#define AFRL(port) REG((port) + 0x20u)
#define LINE_0 8u
#define LINE_1 6u

#define PWR_CR1 REG(0x40007000)
#define PWR_SR2 REG(0x40007014)
#define PWR_VOS (3u << 9)
#define PWR_RANGE_1 (1u << 9)
#define PWR_VOSF (1u << 10)
#define FLASH_ACR REG(0x40022000)
#define FLASH_LATENCY 7u
#define FLASH_CACHES (3u << 9)
#define FLASH_CACHES_RESET (3u << 11)

#define USART_CR1 REG(0x40004400)
#define USART_BRR REG(0x4000440c)
#define USART_ISR REG(0x4000441c)
#define USART_ICR REG(0x40004420)
#define USART_RDR REG(0x40004424)
#define USART_TDR REG(0x40004428)
#define USART_ON 13u /* enabled, both ways */
#define USART_OVERRUN (1u << 3)
#define USART_RECEIVED (1u << 5)
#define USART_SENT (1u << 6)
#define USART_EMPTY (1u << 7)
#define BAUD 115200u

#define TIM5_CR1 REG(0x40000c00)
#define TIM5_DIER REG(0x40000c0c)
#define TIM5_SR REG(0x40000c10)
#define TIM5_EGR REG(0x40000c14)
#define TIM5_CNT REG(0x40000c24)
#define TIM5_PSC REG(0x40000c28)
#define TIM5_ARR REG(0x40000c2c)
#define TIM5_CCR1 REG(0x40000c34)
#define TIM5_MATCH 2u
#define TIM5_LINE 50u

#define NVIC_ENABLE_1 REG(0xe000e104)
#define SCB_AIRCR REG(0xe000ed0c)
#define SCB_AIRCR_RESET 0x05fa0004u

#define SPI_CR1 REG(0x40013000)
#define SPI_CR2 REG(0x40013004)
#define SPI_SR REG(0x40013008)
#define SPI_DR8 (*(volatile uint8_t *)(uintptr_t)0x4001300c)
#define SPI_RECEIVED 1u
#define SPI_ROOM 2u

static uint32_t clock_hz;
/* Time up to the last change of the clock, and the timer's count then. */
static uint64_t base_us;
static uint32_t base_count;
static volatile int woken;

static int wait_for(uint32_t address, uint32_t mask, uint32_t value)
{
	for (uint32_t i = 0; i < PATIENCE; i++)
		if ((REG(address) & mask) == value)
			return 0;
	return -1;
}

/* Pin @pin of the lower eight of port A as alternate function @af. */
static void alternate(unsigned pin, uint32_t af)
{
	AFRL(GPIOA) = (AFRL(GPIOA) & ~(15u << 4 * pin)) | af << 4 * pin;
	MODER(GPIOA) = (MODER(GPIOA) & ~(3u << 2 * pin)) | 2u << 2 * pin;
}

static void output(unsigned pin)
{
	MODER(GPIOC) = (MODER(GPIOC) & ~(3u << 2 * pin)) | 1u << 2 * pin;
}

void board_init(void)
{
	RCC_AHB2ENR |= 5u;
	RCC_APB1ENR1 |= RCC_TIM5 | RCC_USART2 | RCC_PWR;
	RCC_APB2ENR |= RCC_SPI1;
	(void)RCC_APB2ENR;
	BSRR(GPIOC) = 1u << (16 + LINE_0) | 1u << (16 + LINE_1);
	output(LINE_0);
	output(LINE_1);
	alternate(2, 7);
	alternate(3, 7);
	alternate(5, 5);
	alternate(6, 5);
	alternate(7, 5);
	TIM5_ARR = UINT32_MAX;
	NVIC_ENABLE_1 = 1u << (TIM5_LINE - 32);
}

/* Counts of timer 5 to microseconds: it counts at the clock divided by whole MHz. */
static uint64_t count_us(uint32_t counts)
{
	return (uint64_t)counts * (TIM5_PSC + 1) * 1000000u / clock_hz;
}

void board_clock(uint32_t hz)
{
	if (clock_hz)
		base_us = board_now_us(0);
	clock_hz = hz;
	TIM5_CR1 = 0;
	TIM5_PSC = hz / 1000000u - 1;
	TIM5_EGR = 1; /* takes the divider over, and sets the count to 0 */
	TIM5_SR = 0;
	base_count = TIM5_CNT;
	TIM5_CR1 = 1;
	USART_CR1 = 0;
	USART_BRR = (hz + BAUD / 2) / BAUD;
	USART_CR1 = USART_ON;
}

void board_flush(void)
{
	if (clock_hz)
		wait_for(0x4000441c, USART_SENT, USART_SENT);
}

int board_flash_slow(void)
{
	FLASH_ACR = (FLASH_ACR & ~FLASH_LATENCY) | 4u;
	return wait_for(0x40022000, FLASH_LATENCY, 4);
}

int board_flash(const struct bench_setting *s)
{
	uint32_t latency = FLASH_ACR & FLASH_LATENCY;

	/*
	 * where the port takes the lower voltage, fast flash takes the higher one, which needs
	 * fewer wait states (RM0351 table 11)
	 */
	if (s->policy == BENCH_FAST_FLASH && s->hz <= 26000000) {
		PWR_CR1 = (PWR_CR1 & ~PWR_VOS) | PWR_RANGE_1;
		if (wait_for(0x40007014, PWR_VOSF, 0))
			return -1;
		latency = s->hz > 16000000;
	}
	if (!s->adaption)
		latency = 4;
	FLASH_ACR = (FLASH_ACR & ~FLASH_LATENCY) | latency;
	if (wait_for(0x40022000, FLASH_LATENCY, latency))
		return -1;
	/* caches are emptied while they are off */
	FLASH_ACR &= ~FLASH_CACHES;
	FLASH_ACR |= FLASH_CACHES_RESET;
	FLASH_ACR &= ~FLASH_CACHES_RESET;
	if (s->cache)
		FLASH_ACR |= FLASH_CACHES;
	return 0;
}

int board_get(void *ctx, uint8_t *byte)
{
	(void)ctx;
	if (USART_ISR & USART_OVERRUN)
		USART_ICR = USART_OVERRUN;
	if (!(USART_ISR & USART_RECEIVED))
		return 0;
	*byte = (uint8_t)USART_RDR;
	return 1;
}

void board_put(void *ctx, const char *bytes, unsigned n)
{
	(void)ctx;
	for (unsigned i = 0; i < n; i++) {
		wait_for(0x4000441c, USART_EMPTY, USART_EMPTY);
		USART_TDR = (uint8_t)bytes[i];
	}
}

uint64_t board_now_us(void *ctx)
{
	(void)ctx;
	return base_us + count_us(TIM5_CNT - base_count);
}

void board_trigger(void *ctx, unsigned line, int high)
{
	unsigned pin = line ? LINE_1 : LINE_0;

	(void)ctx;
	BSRR(GPIOC) = 1u << (high ? pin : 16 + pin);
}

int board_spi(void *ctx, uint32_t hz, const uint8_t *out, uint8_t *in, unsigned n)
{
	uint32_t divider = 0; /* halves the clock once more than it says */

	(void)ctx;
	while (divider < 7 && clock_hz >> (divider + 1) > hz)
		divider++;
	SPI_CR2 = 7u << 8 | 1u << 12; /* 8 bits, and a byte at a time */
	SPI_CR1 = 1u << 9 | 1u << 8 | 1u << 6 | divider << 3 | 1u << 2;
	for (unsigned i = 0; i < n; i++) {
		if (wait_for(0x40013008, SPI_ROOM, SPI_ROOM))
			return -1;
		SPI_DR8 = out[i];
		if (wait_for(0x40013008, SPI_RECEIVED, SPI_RECEIVED))
			return -1;
		in[i] = SPI_DR8;
	}
	SPI_CR1 = 0;
	return 0;
}

void interrupt(unsigned number)
{
	if (number == TIM5_LINE) {
		TIM5_DIER = 0;
		TIM5_SR = 0;
		woken = 1;
	}
}

void board_sleep_ms(void *ctx, uint32_t ms)
{
	uint64_t counts = (uint64_t)ms * clock_hz / 1000u / (TIM5_PSC + 1);

	(void)ctx;
	/* half a turn of the timer, 35 minutes, at most */
	if (counts > INT32_MAX)
		counts = INT32_MAX;
	if (!counts)
		return;
	woken = 0;
	TIM5_CCR1 = TIM5_CNT + (uint32_t)counts;
	TIM5_SR = 0;
	TIM5_DIER = TIM5_MATCH;
	/* held back, so that it cannot come between the look and the sleep */
	__asm__ volatile("cpsid i" ::: "memory");
	while (!woken)
		__asm__ volatile("wfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
	__asm__ volatile("cpsie i" ::: "memory");
}

void board_reboot(void *ctx)
{
	(void)ctx;
	board_flush();
	__asm__ volatile("dsb" ::: "memory");
	SCB_AIRCR = SCB_AIRCR_RESET;
	for (;;)
		;
}
