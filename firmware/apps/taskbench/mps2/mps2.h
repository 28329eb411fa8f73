/* SPDX-License-Identifier: MIT */
/**
 * Registers of Arm's MPS2 board with image AN386 (DAI 0386, and the CMSDK's manual DDI 0479), as
 * QEMU has it.
 */
#ifndef COEVAL_TASKBENCH_MPS2_H
#define COEVAL_TASKBENCH_MPS2_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))

#define MPS2_HZ 25000000u

#define SCB_AIRCR REG(0xe000ed0c)
#define SCB_AIRCR_RESET 0x05fa0004u
#define SCB_CPACR REG(0xe000ed88)

/* APB timer 0: counts down from its reload value at MPS2_HZ */
#define TIMER_CTRL REG(0x40000000)
#define TIMER_VALUE REG(0x40000004)
#define TIMER_RELOAD REG(0x40000008)

/* timer 1, which wakes; line 9 */
#define WAKE_CTRL REG(0x40001000)
#define WAKE_VALUE REG(0x40001004)
#define WAKE_RELOAD REG(0x40001008)
#define WAKE_CLEAR REG(0x4000100c)
#define WAKE_ON 9u
#define WAKE_LINE 9u

#define UART_DATA REG(0x40004000)
#define UART_STATE REG(0x40004004)
#define UART_CTRL REG(0x40004008)
#define UART_CLEAR REG(0x4000400c)
#define UART_BAUDDIV REG(0x40004010)
#define UART_TX_FULL 1u
#define UART_RX_FULL 2u
#define UART_ON 11u /* both ways, and an interrupt for what comes in */
#define UART_CLEAR_RX 2u
#define UART_LINE 0u
#define NVIC_ENABLE REG(0xe000e100)

/* GPIO 0 */
#define GPIO_OUT REG(0x40010004)
#define GPIO_ENABLE_SET REG(0x40010010)

/* PL022 */
#define SPI_CR0 REG(0x40020000)
#define SPI_CR1 REG(0x40020004)
#define SPI_DATA REG(0x40020008)
#define SPI_STATUS REG(0x4002000c)
#define SPI_PRESCALE REG(0x40020010)
#define SPI_ENABLE 2u
#define SPI_RX_THERE 4u

#endif
