/* SPDX-License-Identifier: MIT */
/* The model of the disciplined clock against the gateware's: the same cycle for each tick, the same packets. Simulated. */
#include "chip.h"
#include "link.h"
#include "sim/devices/tracelab_clock.h"

#include <math.h>
#include <string.h>

#define KINDS 6
#define KEPT 64

/* What one side told and the other has not yet, per kind. */
struct told {
	int64_t value[KINDS][KEPT];
	unsigned n[KINDS], taken[KINDS];
};

struct bench {
	struct clock_chip *chip;
	struct tracelab_clock model;
	struct told told;
	int64_t cycle, tick, reported, edges;
	int64_t high_until; /* the PPS line */
	uint64_t random;
	int64_t worst;
};

static void tell(void *ctx, int kind, int64_t cycle, int64_t value)
{
	struct bench *b = ctx;
	struct told *t = &b->told;

	(void)cycle;
	REQUIRE(t->n[kind] - t->taken[kind] < KEPT);
	t->value[kind][t->n[kind]++ % KEPT] = value;
	if (kind == TL_CLOCK_OFFSET && llabs(value) > b->worst)
		b->worst = llabs(value);
}

static double uniform(struct bench *b)
{
	b->random = b->random * 6364136223846793005u + 1442695040888963407u;
	return (double)(b->random >> 11) / 9007199254740992.0;
}

static double gauss(struct bench *b)
{
	double r = sqrt(-2 * log(1 - uniform(b)));

	return r * cos(6.283185307179586 * uniform(b));
}

/* One cycle; the model's edges that the gateware calls echoes are no packets but must be no ticks either. */
static void one_cycle(struct bench *b, int edge)
{
	uint32_t packet;

	if (edge) {
		tracelab_clock_edge(&b->model, b->cycle);
		b->edges++;
		b->high_until = b->cycle + 200;
	}
	if (clock_chip_cycle(b->chip, 0, b->cycle < b->high_until)) {
		/* The tick after this one begins in the cycle after the next. */
		b->tick++;
		tracelab_clock_advance(&b->model, b->cycle + 1);
		REQUIRE(tracelab_clock_begin(&b->model, b->tick) == b->cycle + 2);
	}
	if (clock_chip_packet(b->chip, &packet)) {
		unsigned kind = packet >> 26;
		struct told *t = &b->told;
		int64_t value = packet & 0x3ffffff;

		b->reported++;
		if (kind == TL_CLOCK_PPS) {
			b->cycle++;
			return;
		}
		tracelab_clock_advance(&b->model, b->cycle);
		REQUIRE(kind < KINDS && t->taken[kind] < t->n[kind]);
		if (kind == TL_CLOCK_OFFSET || kind == TL_CLOCK_STEER)
			REQUIRE((t->value[kind][t->taken[kind] % KEPT] & 0x3ffffff) == value);
		else if (kind != TL_CLOCK_REJECTED)
			REQUIRE((t->value[kind][t->taken[kind] % KEPT] & 0xfffff) == value);
		t->taken[kind]++;
	}
	b->cycle++;
}

static void open_bench(struct bench *b, int small, const struct tracelab_clock_size *size)
{
	memset(b, 0, sizeof(*b));
	b->random = 1;
	b->chip = clock_chip_create(small);
	REQUIRE(b->chip);
	for (int i = 0; i < 4; i++)
		clock_chip_cycle(b->chip, 1, 0);
	tracelab_clock_init(&b->model, size, tell, b);
}

static void close_bench(struct bench *b, const char *what)
{
	for (int i = 0; i < 100; i++)
		one_cycle(b, 0);
	for (unsigned kind = 0; kind < KINDS; kind++)
		REQUIRE(b->told.taken[kind] == b->told.n[kind]);
	printf("%s: %" PRId64 " ticks, %" PRId64 " edges (%u good, %u rejected), %" PRId64
	       " packets: model and gateware agree\n",
	       what, b->tick, b->edges, b->model.n_good, b->model.n_rejected, b->reported);
	clock_chip_free(b->chip);
}

/* A crystal that is 50 ppm fast and wanders, PPS with 30 ns of jitter. */
static void usual(int seconds)
{
	struct bench b;
	double second = 100000000, at = 12345678, rate = 50e-6;

	open_bench(&b, 0, &tracelab_clock_usual);
	for (int k = 0; k < seconds; k++) {
		int64_t edge = llround(at + 3 * gauss(&b));

		while (b.cycle < edge)
			one_cycle(&b, 0);
		one_cycle(&b, 1);
		rate += 2e-9 * gauss(&b);
		at += second * (1 + rate);
	}
	while (b.cycle < at - 0.9 * second)
		one_cycle(&b, 0);
	close_bench(&b, "seconds of 1 s, 50 ppm off");
}

/* Seconds of 10 ms, in which much goes wrong: PPS absent, doubled, jumping by little and by much. */
static void troubled(int seconds)
{
	static const struct tracelab_clock_size size = { .second = 20000,
							 .window = 1000,
							 .steer_tick = 41 };
	struct bench b;
	double second = 1000000, at = 123456, rate = 50e-6;

	open_bench(&b, 1, &size);
	for (int k = 0; k < seconds; k++) {
		int64_t edge = llround(at + 3 * gauss(&b));
		int absent = (k >= 40 && k < 43) || (k >= 60 && k < 72) || k % 37 == 36;
		int64_t echo = k % 11 == 5 ? edge + 1 + (int64_t)(uniform(&b) * 2500) : -1;

		if (echo >= 0 && echo < edge + 300)
			echo = edge + 300; /* the line must have been low */
		while (b.cycle < edge)
			one_cycle(&b, 0);
		one_cycle(&b, !absent);
		while (echo > b.cycle)
			one_cycle(&b, 0);
		if (echo >= 0)
			one_cycle(&b, 1);
		rate += 1e-7 * gauss(&b);
		at += second * (1 + rate);
		if (k == 90)
			at += 0.3 * second;
		if (k == 110)
			at -= 700;
		if (k == 120)
			at += 700;
		if (k == 130)
			rate = -80e-6;
	}
	close_bench(&b, "seconds of 10 ms, troubled");
}

int main(void)
{
	usual(3);
	troubled(150);
	return 0;
}
