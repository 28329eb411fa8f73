/* SPDX-License-Identifier: MIT */
#include "board.h"

#include "cortexm/start.h"
#include "stm32f4.h"

/*
 * BOARD_HSE_MHZ is the crystal's: 25 on a BlackPill, 8 on a Nucleo (from its debugger).
 * BOARD_EMULATED: an emulator that has no clock tree and counts the timer at 1 GHz before its
 * prescaler.
 */
#ifndef BOARD_HSE_MHZ
#define BOARD_HSE_MHZ 25
#endif

#ifdef BOARD_EMULATED
#define TIMER_HZ 100000000u
#define TIMER_PRESCALER 9
#else
#define TIMER_HZ 84000000u
#define TIMER_PRESCALER 0
#endif

#define APB1_HZ 42000000u
#define BAUD 115200u
#define RING 512u     /* a power of two; more than a line of status */
#define LIMIT 100000u /* turns of a loop that waits for a bit: some ms */
#define WATCHDOG_RELOAD \
	4095u /* of 32 kHz / 256: 33 s, and 22 s for the fastest of these oscillators */

struct ring {
	volatile uint8_t byte[RING];
	volatile uint32_t in, out;
};

static struct {
	struct ring rx, tx;
	uint8_t strobe; /* where the DMA fetches it */
	int flood;      /* the marker is a 1-PPS */
	int raised;     /* it is to be lowered */
	uint32_t raise; /* after this count */
} board;

static int wait_for(volatile uint32_t *reg, uint32_t mask, uint32_t value)
{
	for (uint32_t i = 0; i < LIMIT; i++)
		if ((*reg & mask) == value)
			return 1;
	return 0;
}

/* ---- clocks and pins ---- */

/*
 * 84 MHz from the crystal or the internal 16 MHz: 1 MHz into the PLL, 336 out, by 4 (section
 * 6.3.2).
 */
static enum board_clock start_clocks(void)
{
	uint32_t source = RCC_PLLCFGR_HSE, divide = BOARD_HSE_MHZ;
	enum board_clock clock = BOARD_CRYSTAL;

#if BOARD_HSE_MHZ == 8
	RCC_CR |= RCC_CR_HSEBYP; /* a clock from outside */
#endif
	RCC_CR |= RCC_CR_HSEON;
#ifndef BOARD_EMULATED
	if (!wait_for(&RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY)) {
		source = 0;
		divide = 16;
		clock = BOARD_NO_CRYSTAL;
	}
#endif
	FLASH_ACR = FLASH_ACR_84_MHZ;
	RCC_PLLCFGR = source | divide | 336u << 6 | 1u << 16 | 7u << 24;
	RCC_CR |= RCC_CR_PLLON;
	if (wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY)) {
		RCC_CFGR = RCC_CFGR_PPRE1_2 | RCC_CFGR_SW_PLL;
		wait_for(&RCC_CFGR, RCC_CFGR_SWS_PLL, RCC_CFGR_SWS_PLL);
	}
#ifndef BOARD_EMULATED
	else
		SCB_AIRCR = SCB_AIRCR_RESET; /* nothing would be right; try again */
#endif
	RCC_AHB1ENR |= RCC_AHB1_GPIOA | RCC_AHB1_GPIOB | RCC_AHB1_DMA1;
	RCC_APB1ENR |= RCC_APB1_TIM2 | RCC_APB1_SPI2 | RCC_APB1_USART2;
	/* it takes two cycles to hold: the errata sheet's delay after enabling a clock */
	(void)RCC_APB1ENR;
	return clock;
}

static void pin(uint32_t port, unsigned number, enum gpio_mode mode, unsigned alternate)
{
	uint32_t two = 3u << (number * 2), four = 15u << (number % 8 * 4);

	GPIO_AFR(port, number) = (GPIO_AFR(port, number) & ~four) | alternate << (number % 8 * 4);
	GPIO_OSPEEDR(port) |= two;
	GPIO_MODER(port) = (GPIO_MODER(port) & ~two) | (uint32_t)mode << (number * 2);
}

#define CSN 12
#define MISO 14

static void deselect(void)
{
	GPIO_BSRR(GPIOB) = 1u << CSN;
}

static void start_pins(void)
{
	deselect();
	pin(GPIOB, CSN, GPIO_OUTPUT, 0);
	pin(GPIOB, 13, GPIO_ALTERNATE, 5);
	pin(GPIOB, MISO, GPIO_ALTERNATE, 5);
	pin(GPIOB, 15, GPIO_ALTERNATE, 5);
	/* pulled up: without a radio it never says that it is ready */
	GPIO_PUPDR(GPIOB) |= 1u << (MISO * 2);
	pin(GPIOA, 1, GPIO_ALTERNATE, 1);
	GPIO_PUPDR(GPIOA) |= 2u << (1 * 2) | 1u << (3 * 2); /* no pulses, no bytes if open */
	pin(GPIOA, 2, GPIO_ALTERNATE, 7);
	pin(GPIOA, 3, GPIO_ALTERNATE, 7);
	pin(GPIOA, 5, GPIO_ALTERNATE, 1);
}

/* ---- timer ---- */

static void start_timer(void)
{
	TIM_PSC = TIMER_PRESCALER;
	TIM_ARR = UINT32_MAX;
	TIM_EGR = 1; /* take the prescaler over */
	TIM_SR = 0;
	TIM_CCMR1 = TIM_CC2_INPUT_TI2 | TIM_OC1_FORCE_INACTIVE;
	TIM_CCER = TIM_CC1E | TIM_CC2E;
	TIM_CR1 = 1;
}

static uint32_t now(void *ctx)
{
	(void)ctx;
	return TIM_CNT;
}

static int pulse(void *ctx, uint32_t *count)
{
	(void)ctx;
	if (!(TIM_SR & TIM_CC2IF))
		return 0;
	*count = TIM_CCR2; /* clears the flag */
	return 1;
}

/* ---- radio ---- */

/* Select, and wait for SO to go low: CHIP_RDYn (SWRS061, section 10.1). */
static int select_radio(void)
{
	GPIO_BSRR(GPIOB) = 1u << (CSN + 16);
	return wait_for(&GPIO_IDR(GPIOB), 1u << MISO, 0);
}

static int spi(void *ctx, const uint8_t *out, uint8_t *in, unsigned n)
{
	int rc = -1;

	(void)ctx;
	if (!select_radio())
		goto out;
	while (SPI_SR & SPI_SR_RXNE)
		(void)SPI_DR;
	for (unsigned i = 0; i < n; i++) {
		SPI_DR = out[i];
		if (!wait_for(&SPI_SR, SPI_SR_RXNE, SPI_SR_RXNE))
			goto out;
		in[i] = (uint8_t)SPI_DR;
	}
	rc = 0;
out:
	deselect();
	return rc;
}

static void start_spi(void)
{
	/*
	 * 42 MHz / 8 = 5.25 MHz; the CC1101 takes 6.5 without a pause between bytes (SWRS061, table
	 * 22)
	 */
	SPI_CR1 = SPI_CR1_MASTER | SPI_CR1_DIV_8 | SPI_CR1_SSM | SPI_CR1_SSI;
	SPI_CR1 |= SPI_CR1_SPE;
}

/*
 * The compare event of channel 1 asks DMA stream 5 for one byte, which goes to the data register of
 * SPI2 and so onto the wire: no instruction is involved (sections 9.3.4, 13.3.8).
 */
static void arm(void *ctx, uint32_t count, uint8_t strobe)
{
	(void)ctx;
	GPIO_BSRR(GPIOB) = 1u << (CSN + 16);
	while (SPI_SR & SPI_SR_RXNE)
		(void)SPI_DR;
	board.strobe = strobe;
	TIM_DIER &= ~TIM_CC1DE;
	DMA_S5CR = 0;
	wait_for(&DMA_S5CR, DMA_CR_EN, 0);
	DMA_HIFCR = DMA_S5_FLAGS;
	DMA_S5NDTR = 1;
	DMA_S5PAR = (uint32_t)(uintptr_t)&SPI_DR;
	DMA_S5M0AR = (uint32_t)(uintptr_t)&board.strobe;
	DMA_S5FCR = 0;
	DMA_S5CR = DMA_CR_CHANNEL(3) | DMA_CR_VERY_HIGH | DMA_CR_TO_PERIPHERAL;
	DMA_S5CR |= DMA_CR_EN;
	TIM_CCR1 = count;
	TIM_SR = ~TIM_CC1IF;
	board.raised = 0;
	TIM_CCMR1 = TIM_CC2_INPUT_TI2 |
		    (board.flood ? TIM_OC1_FORCE_INACTIVE : TIM_OC1_ACTIVE_ON_MATCH);
	TIM_DIER |= TIM_CC1DE;
}

static int disarm(void *ctx)
{
	int status = -1;

	(void)ctx;
	TIM_DIER &= ~TIM_CC1DE;
	TIM_CCMR1 = TIM_CC2_INPUT_TI2 | TIM_OC1_FORCE_INACTIVE;
	/* not a byte that begins now, when it should have ended */
	DMA_S5CR = 0;
	wait_for(&DMA_S5CR, DMA_CR_EN, 0);
	if (SPI_SR & SPI_SR_RXNE)
		status = (uint8_t)SPI_DR;
	else
		wait_for(&SPI_SR, SPI_SR_BSY, 0);
	deselect();
	return status;
}

/* ---- floods ---- */

void board_flood(void)
{
	board.flood = 1;
	pin(GPIOB, 10, GPIO_ALTERNATE, 1);
	GPIO_PUPDR(GPIOB) |= 2u << (10 * 2); /* no edges if open */
	TIM_CCMR2 = TIM_CC3_INPUT_TI3;
	TIM_CCER |= TIM_CC3E;
}

int board_sync(void *ctx, uint32_t *count)
{
	(void)ctx;
	if (!(TIM_SR & TIM_CC3IF))
		return 0;
	*count = TIM_CCR3; /* clears the flag */
	return 1;
}

void board_raise(void *ctx, uint32_t count)
{
	(void)ctx;
	TIM_CCMR1 = TIM_CC2_INPUT_TI2 | TIM_OC1_FORCE_INACTIVE;
	TIM_CCR1 = count;
	TIM_CCMR1 = TIM_CC2_INPUT_TI2 | TIM_OC1_ACTIVE_ON_MATCH;
	board.raise = count;
	board.raised = 1;
}

static void lower(void)
{
	if (!board.raised || (int32_t)(TIM_CNT - board.raise - TIMER_HZ / 100) < 0)
		return;
	TIM_CCMR1 = TIM_CC2_INPUT_TI2 | TIM_OC1_FORCE_INACTIVE;
	board.raised = 0;
}

/* ---- UART ---- */

static void start_uart(void)
{
	USART_BRR = (APB1_HZ + BAUD / 2) / BAUD;
	USART_CR1 = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE;
	NVIC_ISER(USART2_IRQ / 32) = 1u << (USART2_IRQ % 32);
}

/* The UART's is the only one that is enabled. */
void interrupt(unsigned number)
{
	uint32_t status = USART_SR;

	(void)number;
	if (status & (USART_SR_RXNE | USART_SR_ORE)) {
		uint8_t byte = (uint8_t)USART_DR; /* clears both */

		/* when there is no room it is lost, and the line with it is not understood */
		if (status & USART_SR_RXNE && board.rx.in - board.rx.out < RING)
			board.rx.byte[board.rx.in++ % RING] = byte;
	}
}

static int get(void *ctx, uint8_t *byte)
{
	(void)ctx;
	if (board.rx.in == board.rx.out)
		return 0;
	*byte = board.rx.byte[board.rx.out++ % RING];
	return 1;
}

static int put(void *ctx, const char *bytes, unsigned n)
{
	(void)ctx;
	if (RING - (board.tx.in - board.tx.out) < n)
		return 0;
	for (unsigned i = 0; i < n; i++)
		board.tx.byte[(board.tx.in + i) % RING] = (uint8_t)bytes[i];
	board.tx.in += n;
	return 1;
}

void board_pass(void)
{
	if (board.tx.out != board.tx.in && USART_SR & USART_SR_TXE)
		USART_DR = board.tx.byte[board.tx.out++ % RING];
	lower();
}

void board_say(const char *text)
{
	unsigned n = 0;

	while (text[n])
		n++;
	put(0, text, n);
}

/* ---- watchdog ---- */

static void feed(void *ctx)
{
	(void)ctx;
	IWDG_KR = IWDG_FEED;
}

static void start_watchdog(void)
{
	IWDG_KR = IWDG_START;
	IWDG_KR = IWDG_UNLOCK;
	IWDG_PR = 6;
	IWDG_RLR = WATCHDOG_RELOAD;
	IWDG_KR = IWDG_FEED;
}

enum board_clock board_init(struct hal *hal)
{
	enum board_clock clock = start_clocks();

	start_pins();
	start_spi();
	start_uart();
	start_timer();
	start_watchdog();
	*hal = (struct hal){
		.timer_hz = TIMER_HZ,
		.now = now,
		.arm = arm,
		.disarm = disarm,
		.spi = spi,
		.pulse = pulse,
		.get = get,
		.put = put,
		.feed = feed,
	};
	return clock;
}
