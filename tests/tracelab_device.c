/* SPDX-License-Identifier: MIT */
/*
 * A simulated TraceLab observer in real time: SPI behind a Unix socket, the UART behind a
 * pseudo-terminal. Its world: T1 toggles every 10 ms from START on, T2 makes a burst of edges one
 * cycle apart each second if --burst says how many, the PPS comes 0.3 s after START and each
 * 1.00001 s from then on. The ADC reads a ramp. In a file PPM says how fast the crystal is.
 *
 *   tracelab_device SOCKET TTY [--burst N] [--stuck] [--spill FILE] [--gone SECONDS]
 *   tracelab_device --file SECONDS PPM >SPI-BYTES
 *
 * TTY is made a link to the terminal. It ends when the host hangs up. --stuck: SPI shows zeros.
 * --spill: what SPI showed goes there too. --gone: it is unplugged so long after its begin, when it
 * has shown what it had.
 */
#include "capture/drivers/driver.h"
#include "capture/drivers/tracelab/command.h"
#include "sim/devices/tracelab_fpga.h"
#include "tracelab_serve.h"

#define TOGGLE 1000000ull /* cycles */
#define PPM 10            /* how fast the crystal is */
#define FIRST_PPS 30000000ull

struct world {
	struct fpga *fpga;
	int64_t begin;                 /* driver_monotonic_ns() */
	uint64_t burst, start, second; /* second: cycles from one PPS to the next */
	int64_t gone;                  /* ns after begin; 0: never */
	bool begun, over;
	uint16_t levels;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Of a thing that happens at @first and every @period from then on, when next. */
static uint64_t next_of(uint64_t after, uint64_t first, uint64_t period)
{
	return after < first ? first : first + ((after - first) / period + 1) * period;
}

static uint64_t next(void *ctx, uint64_t after, uint16_t *levels)
{
	struct world *w = ctx;
	uint64_t t, toggle, up, down, burst = UINT64_MAX, at;

	if (!w->begun) {
		w->begun = true;
		w->start = after;
	}
	t = after - w->start;
	toggle = next_of(t, TOGGLE, TOGGLE);
	up = next_of(t, FIRST_PPS, w->second);
	down = next_of(t, FIRST_PPS + 1000000, w->second);
	if (w->burst) {
		uint64_t in = (t + 1) % 100000000;

		burst = in < w->burst ? t + 1 : next_of(t, 100000000, 100000000);
	}
	at = least(least(toggle, burst), least(up, down));
	if (at == toggle)
		w->levels ^= 1;
	if (at == burst)
		w->levels ^= 2;
	if (at == up)
		w->levels |= 1 << TL_LINE_PPS;
	if (at == down)
		w->levels &= (uint16_t) ~(1u << TL_LINE_PPS);
	*levels = w->levels;
	return w->start + at;
}

static uint32_t reading(void *ctx, uint64_t n)
{
	(void)ctx;
	return (uint32_t)(n & 0xfff);
}

static void pass(void *ctx)
{
	struct world *w = ctx;

	if (w->over)
		exit(0);
	fpga_run(w->fpga, (uint64_t)(driver_monotonic_ns() - w->begin) / 10);
}

static void uart_in(void *ctx, const uint8_t *bytes, size_t n)
{
	fpga_uart_in(((struct world *)ctx)->fpga, bytes, n);
}

static size_t uart_out(void *ctx, uint8_t *bytes, size_t max)
{
	return fpga_uart_out(((struct world *)ctx)->fpga, bytes, max);
}

static void spi(void *ctx, uint8_t *bytes, size_t n)
{
	struct world *w = ctx;

	fpga_spi(w->fpga, bytes, n);
	w->over = w->gone && driver_monotonic_ns() - w->begin > w->gone && !fpga_waiting(w->fpga);
}

/* What SPI shows in so many seconds of fine mode, read every 100 ms. */
static int write_file(struct world *w, double seconds)
{
	const struct tracelab_command start = { TL_START, 1, { TL_FINE }, 1 };
	static uint8_t bytes[4 * (15 * TL_BLOCK_WORDS + 1)];
	const uint64_t end = (uint64_t)(seconds * TL_CLOCK_HZ);

	fpga_uart_in(w->fpga, bytes, tracelab_command_bytes(&start, bytes));
	for (uint64_t at = 0; at <= end; at += TL_CLOCK_HZ / 10) {
		fpga_run(w->fpga, at);
		fpga_spi(w->fpga, bytes, sizeof(bytes));
		if (fwrite(bytes, sizeof(bytes), 1, stdout) != 1)
			return 4;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct world w = { .begin = driver_monotonic_ns(), .second = 100000000 + PPM * 100 };
	const struct fpga_opts opts = { next, reading, &w, 0 };
	struct served o = { pass, uart_in, uart_out, spi, &w, false, NULL };
	int rc;

	for (int i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "--stuck"))
			o.stuck = true;
		else if (i + 1 < argc && !strcmp(argv[i], "--burst"))
			w.burst = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && !strcmp(argv[i], "--gone"))
			w.gone = (int64_t)(strtod(argv[++i], NULL) * 1e9);
		else if (i + 1 < argc && !strcmp(argv[i], "--spill"))
			o.spill = fopen(argv[++i], "we");
	}
	w.fpga = fpga_new(&opts);
	if (argc < 3 || !w.fpga)
		return 2;
	if (!strcmp(argv[1], "--file") && argc > 3) {
		w.second = (uint64_t)(1e8 + 100 * strtod(argv[3], NULL));
		rc = write_file(&w, strtod(argv[2], NULL));
		fpga_free(w.fpga);
		return rc;
	}
	rc = serve_at(&o, argv[1], argv[2]);
	if (o.spill)
		fclose(o.spill);
	fpga_free(w.fpga);
	return rc;
}
