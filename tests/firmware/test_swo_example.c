/* SPDX-License-Identifier: MIT */
/*
 * examples/swo/board.vcd is what a 100 MHz analyzer sees of a simulated board: SWO, a pin, and the
 * power. Here it is made, and compared with the file. COEVAL_BLESS=1 writes the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/devices/dwt.h"
#include "swotrace/regs.h"
#include "swotrace/swotrace.h"
#include "wire/swo_marks.h"

#define CPU_HZ 16000000
#define TICKS 100 / 16 /* of 10 ns in a cycle */
#define PRESCALER 3    /* 4 MBd */
#define EVENTS_MAX 200000

struct event {
	uint64_t tick;
	char text[32];
	size_t order;
};

struct board {
	struct dwt_chip chip;
	struct sim_random r;
	struct event *event;
	size_t n;
};

static void add(struct board *b, double cycles, const char *text)
{
	struct event *e = &b->event[b->n];

	assert_true(b->n < EVENTS_MAX);
	e->tick = (uint64_t)(cycles * TICKS);
	snprintf(e->text, sizeof(e->text), "%s", text);
	e->order = b->n++;
}

static void swo_edge(void *ctx, double time, bool level)
{
	add(ctx, time, level ? "1!" : "0!");
}

static void pin(struct board *b, bool level)
{
	add(b, (double)b->chip.now, level ? "1\"" : "0\"");
}

static void power(struct board *b, double mw)
{
	char text[32];

	snprintf(text, sizeof(text), "r%.3f #", (mw + 0.2 * sim_normal(&b->r)) / 1000);
	add(b, (double)b->chip.now, text);
}

/* What a piece of the program is made of: shares of its instructions. */
struct mix {
	const char *name;
	uint32_t pc;
	double load, multiply, fold, sleep;
	double mw;
};

static void run(struct board *b, const struct mix *m, unsigned cycles)
{
	uint64_t end = b->chip.now + cycles, sample = b->chip.now;

	while (b->chip.now < end) {
		struct dwt_step s = { .cycles = 1,
				      .pc = m->pc + 2 * (uint32_t)(sim_u64(&b->r) % 64) };
		double what = sim_uniform(&b->r);

		if (what < m->load) {
			s.cycles = 2;
			s.add[3] = 1;
			s.access = true;
			s.size = 4;
			s.address = 0x20000000 + 4 * (uint32_t)(sim_u64(&b->r) % 256);
		} else if (what < m->load + m->multiply) {
			s.cycles = (uint8_t)(3 + sim_u64(&b->r) % 8);
			s.add[0] = (uint8_t)(s.cycles - 1);
		} else if (what < m->load + m->multiply + m->fold) {
			s.add[4] = 1;
		} else if (what < m->load + m->multiply + m->fold + m->sleep) {
			s.cycles = 60;
			s.add[2] = 60;
		}
		dwt_chip_step(&b->chip, &s);
		if (b->chip.now >= sample) {
			power(b, m->mw);
			sample += 160;
		}
	}
}

static void mark(struct board *b, unsigned port, unsigned task)
{
	/* As a program waits for room at the port. */
	dwt_chip_write(&b->chip, ITM_STIM(port), task);
}

static void task(struct board *b, unsigned number, const struct mix *m, unsigned cycles)
{
	pin(b, true);
	mark(b, SWO_PORT_BEGIN, number);
	run(b, m, cycles);
	mark(b, SWO_PORT_END, number);
	pin(b, false);
}

static void say(struct board *b, const char *text)
{
	static const struct mix wait = { "print", 0x08000400, 0.3, 0, 0, 0, 21 };

	for (; *text; text++) {
		mark(b, 0, (unsigned char)*text);
		run(b, &wait, 400);
	}
}

static void set_up(struct board *b)
{
	struct dwt_chip *c = &b->chip;
	const struct swo_bus bus = { c, dwt_chip_read, dwt_chip_write };
	const struct swo_config config = { .bus = &bus, .port = &swo_port_stm32f4 };
	struct swo swo;

	/* The library leads the trace to its pin; what is traced is another matter. */
	assert_int_equal(swo_init(&swo, &config), SWO_OK);
	dwt_chip_write(c, DEMCR, DEMCR_TRCENA);
	dwt_chip_write(c, TPIU_ACPR, PRESCALER);
	dwt_chip_write(c, TPIU_SPPR, TPIU_SPPR_NRZ);
	dwt_chip_write(c, TPIU_FFCR, TPIU_FFCR_TRIGGER);
	dwt_chip_write(c, ITM_LAR, LAR_KEY);
	dwt_chip_write(c, ITM_TER(0), 0xffffffff);
	dwt_chip_write(c, ITM_TCR,
		       ITM_TCR_ITMENA | ITM_TCR_SYNCENA | ITM_TCR_TXENA | ITM_TCR_BUS(1));
	dwt_chip_write(c, DWT_CTRL,
		       DWT_CTRL_CYCCNTENA | DWT_CTRL_POSTPRESET(15) | DWT_CTRL_SYNCTAP(1) |
			       DWT_CTRL_EVENTS);
}

static void simulate(struct board *b)
{
	static const struct mix idle = { "idle", 0x08000200, 0, 0, 0, 0.9, 8 };
	static const struct mix filter = { "filter", 0x08001000, 0.40, 0.05, 0.03, 0, 27 };
	static const struct mix solve = { "solve", 0x08002000, 0.05, 0.35, 0.01, 0, 23 };
	struct dwt_chip_config config = dwt_chip_l476;

	config.kind = DWT_CHIP_F4;
	config.bit_cycles = 1;
	dwt_chip_init(&b->chip, &config, swo_edge, b);
	set_up(b);
	say(b, "up\n");
	for (unsigned i = 0; i < 4; i++) {
		run(b, &idle, 6000);
		task(b, 1, &filter, 9000 + 500 * i);
		run(b, &idle, 2000);
		task(b, 2, &solve, 14000);
	}
	run(b, &idle, 4000);
	say(b, "ok\n");
	dwt_chip_rest(&b->chip);
}

static int by_tick(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	if (a->tick != b->tick)
		return a->tick < b->tick ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static char *vcd(struct board *b, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);
	uint64_t tick = UINT64_MAX;

	assert_non_null(f);
	qsort(b->event, b->n, sizeof(*b->event), by_tick);
	fputs("$comment SPDX-License-Identifier: MIT; simulated: tests/firmware/test_swo_example.c $end\n"
	      "$timescale 10 ns $end\n"
	      "$var wire 1 ! SWO $end\n$var wire 1 \" TASK $end\n$var real 64 # power $end\n"
	      "$enddefinitions $end\n#0\n1!\n0\"\n",
	      f);
	for (size_t i = 0; i < b->n; i++) {
		if (b->event[i].tick != tick && b->event[i].tick)
			fprintf(f, "#%llu\n", (unsigned long long)b->event[i].tick);
		tick = b->event[i].tick;
		fprintf(f, "%s\n", b->event[i].text);
	}
	fprintf(f, "#%llu\n", (unsigned long long)tick + 1000);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void the_example_is_what_the_board_does(void **state)
{
	static struct board b = { .r = { 2 } };
	const char *path = COEVAL_SOURCE_DIR "/examples/swo/board.vcd";
	size_t size, there;
	char *text, *file;
	FILE *f;

	(void)state;
	b.event = calloc(EVENTS_MAX, sizeof(*b.event));
	assert_non_null(b.event);
	simulate(&b);
	assert_int_equal(b.chip.truth.lost, 0);
	text = vcd(&b, &size);
	f = fopen(path, getenv("COEVAL_BLESS") ? "w" : "r");
	assert_non_null(f);
	if (getenv("COEVAL_BLESS")) {
		assert_int_equal(fwrite(text, 1, size, f), size);
	} else {
		file = malloc(size + 1);
		assert_non_null(file);
		there = fread(file, 1, size + 1, f);
		assert_int_equal(there, size);
		assert_memory_equal(file, text, size);
		free(file);
	}
	fclose(f);
	free(text);
	free(b.event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_is_what_the_board_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
