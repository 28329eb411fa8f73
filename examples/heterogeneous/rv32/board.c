/* SPDX-License-Identifier: MIT */
/*
 * A RISC-V core of 32 bits on QEMU's board `virt`. The second part of its memory is the shared one,
 * a byte on the UART (a 16550) the master's interrupt. It has no link to another slave.
 */
#include "board.h"
#include "riscv/start.h"

#define REG8(address) (*(volatile uint8_t *)(address))
#define REG(address) (*(volatile uint32_t *)(address))

#define UART_DATA REG8(0x10000000)
#define UART_IER REG8(0x10000001)
#define UART_LSR REG8(0x10000005)
#define UART_LSR_RX 1u
#define UART_SOURCE 10u

#define PLIC_PRIORITY(source) REG(0x0c000000 + 4 * (source))
#define PLIC_ENABLE REG(0x0c002000)
#define PLIC_THRESHOLD REG(0x0c200000)
#define PLIC_CLAIM REG(0x0c200004)

#define CLINT_MSIP REG(0x02000000)
#define CLINT_MTIME REG(0x0200bff8)
#define CLINT_MTIMEH REG(0x0200bffc)

#define TEST REG(0x00100000) /* SiFive's test finisher */
#define TEST_RESET 0x7777u

#define MIE_SOFTWARE 8u
#define MIE_OUTSIDE 0x800u
#define CAUSE_SOFTWARE 3u
#define CAUSE_OUTSIDE 11u

void board_init(void)
{
}

void board_listen(void)
{
	UART_IER = 1;
	PLIC_PRIORITY(UART_SOURCE) = 1;
	PLIC_ENABLE = 1u << UART_SOURCE;
	PLIC_THRESHOLD = 0;
	__asm__ volatile("csrs mie, %0\n\tcsrsi mstatus, 8" ::"r"(MIE_OUTSIDE | MIE_SOFTWARE)
			 : "memory");
}

const volatile struct card *board_card(void)
{
	return (const volatile struct card *)0x80fff000u;
}

uint8_t *board_shared(void)
{
	return (uint8_t *)0x81000000u;
}

board_tick board_ticks(void)
{
	uint32_t high, low;

	do {
		high = CLINT_MTIMEH;
		low = CLINT_MTIME;
	} while (CLINT_MTIMEH != high);
	return (uint64_t)high << 32 | low;
}

/* An interrupt that is held back still ends the sleep, so that none is missed. */
void board_wait(int (*ready)(void))
{
	__asm__ volatile("csrci mstatus, 8" ::: "memory");
	while (!ready())
		__asm__ volatile("wfi\n\tcsrsi mstatus, 8\n\tcsrci mstatus, 8" ::: "memory");
	__asm__ volatile("csrsi mstatus, 8" ::: "memory");
}

void board_urgent(void)
{
	CLINT_MSIP = 1;
}

void board_ring(void)
{
}

void board_reset(void)
{
	TEST = TEST_RESET;
	for (;;)
		;
}

void board_die(void)
{
	__asm__ volatile("csrci mstatus, 8\n\tcsrw mie, zero" ::: "memory");
	for (;;)
		__asm__ volatile("wfi");
}

void interrupt(unsigned number)
{
	if (number == CAUSE_OUTSIDE) {
		uint32_t source = PLIC_CLAIM;

		bell();
		while (UART_LSR & UART_LSR_RX)
			(void)UART_DATA;
		PLIC_CLAIM = source;
	} else if (number == CAUSE_SOFTWARE) {
		CLINT_MSIP = 0;
		urgent();
	}
}
