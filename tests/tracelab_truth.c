/* SPDX-License-Identifier: MIT */
/*
 * The verilated gateware in a world whose true time is known: a crystal that is 50 ppm fast and
 * drifts by 10 ppb each second, a PPS with 10 ns of jitter to each side, T1 turning over at times
 * that are drawn. Writes what SPI shows, and when T1 did turn over.
 *
 *   tracelab_truth fine|paper SECONDS SEED SPI-BYTES >TRUE-TIMES (ns, one a line)
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelab_sim.h"
#include "wire/tracelab_wire.h"

#define FIRST_PPS 0.05
#define PPS_HIGH 0.01
#define STEP 100000 /* cycles from one look at `ready` to the next */
#define BLOCK (4 * (TL_BLOCK_WORDS + 1))

struct world {
	uint64_t edge, rise, fall; /* cycles */
	double edge_s;             /* true time */
	unsigned second;
	int level;
	uint64_t random;
};

/* The observer's cycle at a true time. */
static uint64_t cycle_at(double s)
{
	return (uint64_t)ceil(TL_CLOCK_HZ * (s * (1 + 50e-6) + s * s * 10e-9 / 2));
}

/* From 0 to 1. */
static double draw(struct world *w)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (double)(w->random >> 11) / 9007199254740992.0;
}

static void next_edge(struct world *w)
{
	w->edge_s += 0.002 + 0.004 * draw(w);
	w->edge = cycle_at(w->edge_s);
}

static void next_pps(struct world *w)
{
	double s = FIRST_PPS + w->second++ + (2 * draw(w) - 1) * 10e-9;

	w->rise = cycle_at(s);
	w->fall = cycle_at(s + PPS_HIGH);
}

static void step(void *ctx, struct tl_sim *sim, uint64_t cycle)
{
	struct world *w = ctx;

	if (cycle == w->edge) {
		tl_sim_lines(sim, w->level ^= 1);
		printf("%.0f\n", w->edge_s * 1e9);
		next_edge(w);
	}
	if (cycle == w->rise)
		tl_sim_pps(sim, 1);
	if (cycle == w->fall) {
		tl_sim_pps(sim, 0);
		next_pps(w);
	}
}

/* Fine or paper, by the frame that says so. */
static int start(struct tl_sim *sim, int fine)
{
	static const uint8_t frames[2][6] = { { TL_TO_OBSERVER, TL_START, 1, 1, TL_PAPER, 0x52 },
					      { TL_TO_OBSERVER, TL_START, 1, 1, TL_FINE, 0x55 } };
	uint8_t answer[8];

	tl_sim_uart_send(sim, frames[fine], sizeof(frames[fine]));
	tl_sim_run(sim, 20000);
	return tl_sim_uart_take(sim, answer, sizeof(answer)) == 6 && answer[4] == TL_OK;
}

static int observe(struct tl_sim *sim, uint64_t end, FILE *out)
{
	uint8_t bytes[BLOCK];

	while (tl_sim_cycle(sim) < end) {
		tl_sim_run(sim, STEP);
		while (tl_sim_ready(sim)) {
			tl_sim_spi(sim, bytes, 8 * BLOCK);
			if (fwrite(bytes, BLOCK, 1, out) != 1)
				return 1;
		}
	}
	return tl_sim_sram_faults(sim) != 0;
}

int main(int argc, char **argv)
{
	struct tl_sim *sim = tl_sim_create(0);
	struct world w = { .edge_s = 0.001 };
	FILE *out;
	int rc;

	if (argc < 5 || !sim)
		return 2;
	out = fopen(argv[4], "wb");
	w.random = strtoull(argv[3], NULL, 10);
	next_edge(&w);
	next_pps(&w);
	if (!out || !start(sim, !strcmp(argv[1], "fine")))
		return 3;
	tl_sim_each(sim, step, &w);
	rc = observe(sim, cycle_at(strtod(argv[2], NULL)), out);
	tl_sim_free(sim);
	return fclose(out) || rc;
}
