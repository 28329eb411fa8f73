/* SPDX-License-Identifier: MIT */
/**
 * The registers of an STM32F401 that the sync node uses, from its reference manual RM0368. The
 * STM32F405 has them at the same addresses (RM0090), which is what emulators model.
 */
#ifndef STM32F4_H
#define STM32F4_H

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))

/* RM0368 section 2.3, memory map */
#define TIM2 0x40000000u
#define IWDG 0x40003000u
#define SPI2 0x40003800u
#define USART2 0x40004400u
#define GPIOA 0x40020000u
#define GPIOB 0x40020400u
#define RCC 0x40023800u
#define FLASH_ACR REG(0x40023c00u)
#define DMA1 0x40026000u

/* Section 6.3, RCC */
#define RCC_CR REG(RCC + 0x00)
#define RCC_PLLCFGR REG(RCC + 0x04)
#define RCC_CFGR REG(RCC + 0x08)
#define RCC_AHB1ENR REG(RCC + 0x30)
#define RCC_APB1ENR REG(RCC + 0x40)
#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_PLLCFGR_HSE (1u << 22)
#define RCC_CFGR_SW_PLL 2u
#define RCC_CFGR_SWS_PLL (2u << 2)
#define RCC_CFGR_PPRE1_2 (4u << 10)
#define RCC_AHB1_GPIOA (1u << 0)
#define RCC_AHB1_GPIOB (1u << 1)
#define RCC_AHB1_DMA1 (1u << 21)
#define RCC_APB1_TIM2 (1u << 0)
#define RCC_APB1_SPI2 (1u << 14)
#define RCC_APB1_USART2 (1u << 17)

/* Section 3.8, flash: wait states, prefetch, both caches */
#define FLASH_ACR_84_MHZ (2u | 1u << 8 | 1u << 9 | 1u << 10)

/* Section 8.4, GPIO */
#define GPIO_MODER(port) REG((port) + 0x00)
#define GPIO_OSPEEDR(port) REG((port) + 0x08)
#define GPIO_PUPDR(port) REG((port) + 0x0c)
#define GPIO_IDR(port) REG((port) + 0x10)
#define GPIO_BSRR(port) REG((port) + 0x18)
#define GPIO_AFR(port, pin) REG((port) + 0x20 + ((pin) / 8) * 4)
enum gpio_mode { GPIO_INPUT, GPIO_OUTPUT, GPIO_ALTERNATE };

/* Section 13.4, TIM2 to TIM5 */
#define TIM_CR1 REG(TIM2 + 0x00)
#define TIM_DIER REG(TIM2 + 0x0c)
#define TIM_SR REG(TIM2 + 0x10)
#define TIM_EGR REG(TIM2 + 0x14)
#define TIM_CCMR1 REG(TIM2 + 0x18)
#define TIM_CCMR2 REG(TIM2 + 0x1c)
#define TIM_CCER REG(TIM2 + 0x20)
#define TIM_CNT REG(TIM2 + 0x24)
#define TIM_PSC REG(TIM2 + 0x28)
#define TIM_ARR REG(TIM2 + 0x2c)
#define TIM_CCR1 REG(TIM2 + 0x34)
#define TIM_CCR2 REG(TIM2 + 0x38)
#define TIM_CCR3 REG(TIM2 + 0x3c)
#define TIM_CC1IF (1u << 1)
#define TIM_CC2IF (1u << 2)
#define TIM_CC3IF (1u << 3)
#define TIM_CC1DE (1u << 9)
#define TIM_OC1_ACTIVE_ON_MATCH (1u << 4)
#define TIM_OC1_FORCE_INACTIVE (4u << 4)
#define TIM_CC2_INPUT_TI2 (1u << 8)
#define TIM_CC3_INPUT_TI3 (1u << 0)
#define TIM_CC1E (1u << 0)
#define TIM_CC2E (1u << 4)
#define TIM_CC3E (1u << 8)

/* Section 20.5, SPI */
#define SPI_CR1 REG(SPI2 + 0x00)
#define SPI_SR REG(SPI2 + 0x08)
#define SPI_DR REG(SPI2 + 0x0c)
#define SPI_CR1_MASTER (1u << 2)
#define SPI_CR1_DIV_8 (2u << 3)
#define SPI_CR1_SPE (1u << 6)
#define SPI_CR1_SSI (1u << 8)
#define SPI_CR1_SSM (1u << 9)
#define SPI_SR_RXNE (1u << 0)
#define SPI_SR_BSY (1u << 7)

/* Section 19.6, USART */
#define USART_SR REG(USART2 + 0x00)
#define USART_DR REG(USART2 + 0x04)
#define USART_BRR REG(USART2 + 0x08)
#define USART_CR1 REG(USART2 + 0x0c)
#define USART_SR_RXNE (1u << 5)
#define USART_SR_ORE (1u << 3)
#define USART_SR_TXE (1u << 7)
#define USART_CR1_RE (1u << 2)
#define USART_CR1_TE (1u << 3)
#define USART_CR1_RXNEIE (1u << 5)
#define USART_CR1_UE (1u << 13)
#define USART2_IRQ 38 /* section 10.2, table 38 */

/*
 * Section 9.5, DMA. Stream 5, channel 3 is TIM2_CH1 (table 27); the peripheral port of DMA1 reaches
 * APB1 only, hence SPI2.
 */
#define DMA_HISR REG(DMA1 + 0x04)
#define DMA_HIFCR REG(DMA1 + 0x0c)
#define DMA_S5(offset) REG(DMA1 + 0x10 + 0x18 * 5 + (offset))
#define DMA_S5CR DMA_S5(0x00)
#define DMA_S5NDTR DMA_S5(0x04)
#define DMA_S5PAR DMA_S5(0x08)
#define DMA_S5M0AR DMA_S5(0x0c)
#define DMA_S5FCR DMA_S5(0x14)
#define DMA_CR_EN 1u
#define DMA_CR_TO_PERIPHERAL (1u << 6)
#define DMA_CR_VERY_HIGH (3u << 16)
#define DMA_CR_CHANNEL(n) ((uint32_t)(n) << 25)
#define DMA_S5_TCIF (1u << 11)
#define DMA_S5_FLAGS (0x3du << 6)

/* Section 15.4, independent watchdog */
#define IWDG_KR REG(IWDG + 0x00)
#define IWDG_PR REG(IWDG + 0x04)
#define IWDG_RLR REG(IWDG + 0x08)
#define IWDG_START 0xccccu
#define IWDG_UNLOCK 0x5555u
#define IWDG_FEED 0xaaaau

/* Cortex-M4, ARMv7-M manual, section B3.4 and B3.2 */
#define NVIC_ISER(n) REG(0xe000e100u + 4 * (n))
#define SCB_AIRCR REG(0xe000ed0cu)
#define SCB_AIRCR_RESET 0x05fa0004u

#endif
