/* SPDX-License-Identifier: MIT */
/*
 * A Cortex-M4 on Arm's MPS2 board with image AN386 (DAI 0386, and the CMSDK's manual DDI 0479), as
 * QEMU has it. The board's 16 MiB of PSRAM is the shared memory, a byte on UART 0 the master's
 * interrupt, UART 1 the link to another slave.
 */
#include "board.h"
#include "cortexm/start.h"

#define REG(address) (*(volatile uint32_t *)(address))

/* APB timer 0 counts down */
#define TIMER_CTRL REG(0x40000000)
#define TIMER_VALUE REG(0x40000004)
#define TIMER_RELOAD REG(0x40000008)

#define UART(n) (0x40004000u + 0x1000u * (n))
#define UART_DATA(n) REG(UART(n))
#define UART_STATE(n) REG(UART(n) + 4)
#define UART_CTRL(n) REG(UART(n) + 8)
#define UART_CLEAR(n) REG(UART(n) + 12)
#define UART_BAUDDIV(n) REG(UART(n) + 16)
#define UART_TX_FULL 1u
#define UART_RX_FULL 2u
#define UART_ON 11u /* both ways, and an interrupt for what comes in */
#define UART_CLEAR_RX 2u
#define BELL_LINE 0u
#define LINK_LINE 2u
#define URGENT_LINE 31u /* of nothing: pended by software */

#define NVIC_ENABLE REG(0xe000e100)
#define NVIC_PEND REG(0xe000e200)
#define NVIC_PRIORITY(line) (*(volatile uint8_t *)(0xe000e400u + (line)))
#define SCB_AIRCR REG(0xe000ed0c)
#define SCB_AIRCR_RESET 0x05fa0004u

#define PATIENCE 1000000u

void board_init(void)
{
	TIMER_RELOAD = UINT32_MAX;
	TIMER_VALUE = UINT32_MAX;
	TIMER_CTRL = 1;
}

void board_listen(void)
{
	for (unsigned n = 0; n < 2; n++) {
		UART_BAUDDIV(n) = 16;
		UART_CTRL(n) = UART_ON;
	}
	NVIC_PRIORITY(BELL_LINE) = 0;
	NVIC_PRIORITY(LINK_LINE) = 0;
	NVIC_PRIORITY(URGENT_LINE) = 0x80;
	NVIC_ENABLE = 1u << BELL_LINE | 1u << LINK_LINE | 1u << URGENT_LINE;
}

const volatile struct card *board_card(void)
{
	return (const volatile struct card *)0x203ff000u;
}

uint8_t *board_shared(void)
{
	return (uint8_t *)0x21000000u;
}

board_tick board_ticks(void)
{
	return ~TIMER_VALUE;
}

/*
 * What came since the last look is what an interrupt that is held back tells of, so that none is
 * missed.
 */
void board_wait(int (*ready)(void))
{
	__asm__ volatile("cpsid i" ::: "memory");
	while (!ready())
		__asm__ volatile("wfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
	__asm__ volatile("cpsie i" ::: "memory");
}

void board_urgent(void)
{
	NVIC_PEND = 1u << URGENT_LINE;
}

void board_ring(void)
{
	for (uint32_t k = 0; k < PATIENCE && UART_STATE(1) & UART_TX_FULL; k++)
		;
	UART_DATA(1) = '!';
}

void board_reset(void)
{
	__asm__ volatile("dsb" ::: "memory");
	SCB_AIRCR = SCB_AIRCR_RESET;
	for (;;)
		;
}

void board_die(void)
{
	UART_CTRL(0) = UART_CTRL(1) = 0;
	__asm__ volatile("cpsid i" ::: "memory");
	for (;;)
		__asm__ volatile("wfi");
}

static void take(unsigned n)
{
	UART_CLEAR(n) = UART_CLEAR_RX;
	while (UART_STATE(n) & UART_RX_FULL)
		(void)UART_DATA(n);
}

void interrupt(unsigned number)
{
	if (number == BELL_LINE) {
		bell();
		take(0);
	} else if (number == LINK_LINE) {
		take(1);
	} else if (number == URGENT_LINE) {
		urgent();
	}
}
