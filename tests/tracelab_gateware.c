/* SPDX-License-Identifier: MIT */
/*
 * The verilated gateware of a TraceLab observer as a simulated device: it runs as fast as it can,
 * so its time is not the host's. Its world: T1 toggles every 50,000 cycles (500 us); the PPS rises
 * once, 10 ms after reset; the ADC reads the time in steps of 1 ms.
 *
 *   tracelab_gateware SOCKET TTY
 */
#include "tracelab_serve.h"
#include "tracelab_sim.h"

#define AT_ONCE 20000 /* cycles that pass when nothing is asked */
#define TOGGLE 50000u
#define PPS 1000000u

static void step(void *ctx, struct tl_sim *s, uint64_t cycle)
{
	(void)ctx;
	if (cycle % TOGGLE == 0)
		tl_sim_lines(s, cycle / TOGGLE & 1);
	if (cycle == PPS || cycle == 2 * PPS)
		tl_sim_pps(s, cycle == PPS);
}

static int adc(void *ctx, uint64_t cycle)
{
	(void)ctx;
	return (int)(cycle / 100000 & 0xfff);
}

static void pass(void *ctx)
{
	tl_sim_run(ctx, AT_ONCE);
}

/* It takes what it has room for; the host sends no more than a command before it has its answer. */
static void uart_in(void *ctx, const uint8_t *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		done += tl_sim_uart_send(ctx, bytes + done, n - done);
		tl_sim_run(ctx, AT_ONCE);
	}
}

static size_t uart_out(void *ctx, uint8_t *bytes, size_t max)
{
	return tl_sim_uart_take(ctx, bytes, max);
}

static void spi(void *ctx, uint8_t *bytes, size_t n)
{
	tl_sim_spi(ctx, bytes, 8 * n);
}

int main(int argc, char **argv)
{
	struct tl_sim *s = tl_sim_create(0);
	const struct served o = { pass, uart_in, uart_out, spi, s, false, NULL };
	int rc;

	if (argc < 3 || !s)
		return 2;
	tl_sim_each(s, step, NULL);
	tl_sim_set_adc(s, adc, NULL);
	rc = serve_at(&o, argv[1], argv[2]);
	if (tl_sim_sram_faults(s))
		fprintf(stderr, "the SRAM was used against its timing\n");
	tl_sim_free(s);
	return rc;
}
