/* SPDX-License-Identifier: MIT */
#include "tracelab_stream.h"

#include <coeval/error.h>

#include <stdlib.h>

#include "capture/drivers/tracelab/command.h"
#include "capture/drivers/tracelab/proto.h"
#include "sim/devices/tracelab_fpga.h"

#define BLOCKS 60

static uint64_t next_edge(void *ctx, uint64_t after, uint16_t *levels)
{
	const struct tracelab_stream *s = ctx;

	*levels = (uint16_t)(after / s->apart & 31);
	return after + s->apart;
}

static void command(struct fpga *f, uint8_t number, unsigned value, uint8_t n)
{
	const struct tracelab_command c = { .command = number,
					    .n = n,
					    .payload = { (uint8_t)value, (uint8_t)(value >> 8) } };
	uint8_t bytes[TRACELAB_FRAME_MAX], answer[64];

	fpga_uart_in(f, bytes, tracelab_command_bytes(&c, bytes));
	fpga_uart_out(f, answer, sizeof(answer));
}

int tracelab_stream(const struct bench *b, struct tracelab_stream *s)
{
	const struct fpga_opts opts = { .next = next_edge, .ctx = s };
	const size_t step = 4 * (BLOCKS * TL_BLOCK_WORDS + 1);
	struct fpga *f = fpga_new(&opts);
	uint64_t second = TL_SECOND_TICKS, at = 0;

	s->bytes = malloc((s->packets / LINK_PACKETS + 4 * BLOCKS) * 4 * (TL_BLOCK_WORDS + 1));
	if (!f || !s->bytes) {
		fpga_free(f);
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	}
	command(f, TL_START, s->paper ? TL_PAPER : TL_FINE, 1);
	if (s->period)
		command(f, TL_PERIOD, s->period, 2);
	for (s->n = 0; s->n / 4 < s->packets; s->n += step) {
		while (fpga_waiting(f) < BLOCKS * TL_BLOCK_WORDS) {
			fpga_run(f, at += 100 * s->apart);
			if (!s->paper || fpga_time(f, at) < second)
				continue;
			fpga_steer(f, fpga_time(f, at) + 1, 4000);
			second += TL_SECOND_TICKS;
		}
		fpga_spi(f, s->bytes + s->n, step);
	}
	fpga_free(f);
	return 0;
}
