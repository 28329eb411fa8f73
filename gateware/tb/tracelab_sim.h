/* SPDX-License-Identifier: MIT */
/**
 * A simulated TraceLab observer: the gateware, verilated, with models of what is around it (SRAM, ADC, a host with SPI and UART).
 *
 * Nothing happens unless one of the calls says that time goes on. A cycle is 10 ns of the observer's own clock: a crystal that is
 * off is simulated by giving everything else at cycles that are off. No board has seen any of this.
 */
#ifndef TRACELAB_SIM_H
#define TRACELAB_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tl_sim;

/** A loss of a small observer's counts up to so many; beyond, it says so. */
#define TL_SIM_SMALL_LOSS (1u << 19)

/** After power on and reset. Small: its memory holds 256 packets instead of 262,144. NULL: no memory. */
struct tl_sim *tl_sim_create(int small);
void tl_sim_free(struct tl_sim *sim);

/** The cycle that comes next; 0 is the first after the reset. */
uint64_t tl_sim_cycle(const struct tl_sim *sim);

/** Pins from the next cycle on: five target lines, PPS. All are low at first. */
void tl_sim_lines(struct tl_sim *sim, unsigned lines);
void tl_sim_pps(struct tl_sim *sim, int level);

/** The actuation lines, 3 bits, and the `ready` line, as they are. */
unsigned tl_sim_act(const struct tl_sim *sim);
int tl_sim_ready(const struct tl_sim *sim);

/**
 * Call @step before each cycle (it may set pins and look at them), until another is given; NULL: none. What it drives goes on
 * during SPI and UART transfers too.
 */
typedef void tl_sim_step(void *ctx, struct tl_sim *sim, uint64_t cycle);
void tl_sim_each(struct tl_sim *sim, tl_sim_step *step, void *ctx);

/** What the ADC reads at a cycle: 0 to 65535, or one of these. Without a function it reads 0. */
#define TL_SIM_ADC_LOW (-1) /* its output is stuck */
#define TL_SIM_ADC_HIGH (-2)
typedef int tl_sim_adc(void *ctx, uint64_t cycle);
void tl_sim_set_adc(struct tl_sim *sim, tl_sim_adc *adc, void *ctx);

/** Let @cycles pass. */
void tl_sim_run(struct tl_sim *sim, uint64_t cycles);

/** One SPI transaction of @bits bits at 12 MHz, chip select included, to @bytes (of (bits + 7) / 8; the rest of the last is 0). */
void tl_sim_spi(struct tl_sim *sim, uint8_t *bytes, size_t bits);

/** Give bytes to the UART, at 1 Mbaud; they leave as time goes on. Returns how many there was room for. */
size_t tl_sim_uart_send(struct tl_sim *sim, const uint8_t *bytes, size_t n);

/** Take what the UART received; returns how many bytes. */
size_t tl_sim_uart_take(struct tl_sim *sim, uint8_t *bytes, size_t room);

/** How often the SRAM was used against its timing: bus driven from both sides, address or data moved during a write. */
uint64_t tl_sim_sram_faults(const struct tl_sim *sim);

#ifdef __cplusplus
}
#endif

#endif
