/* SPDX-License-Identifier: MIT */
/*
 * The tracer, interrupted at every instruction: the processor traps after each one, and at the k-th
 * the trap does what an interrupt would, for all k. Interrupts are interrupted as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <ucontext.h>

#define TRACER_POINTS "tracer_points.h"
#include "tracer/points.h"

#include "test_draw.h"
#include "tracer/drain.h"
#include "tracer/metadata.h"
#include "tracer_read.h"

#if !defined(__x86_64__)
int main(void)
{
	puts("SKIP test_tracer_steps: it needs the trap flag of x86-64");
	return 77;
}
#else

#define TRAP_FLAG 0x100
/* Built with sanitizers there are many times as many instructions: some are drawn then. */
#ifdef __SANITIZE_ADDRESS__
#define STRIDE 60
#else
#define STRIDE 1
#endif
#define LEVELS 3 /* the program, what interrupts it, and what interrupts that */

/* What a level does: a few events, or another call. */
struct work {
	enum { EVENTS, FLUSH, KEEP_TIME } what;
	unsigned events;  /* or how often time is kept */
	unsigned strings; /* bit n: event n has strings */
	uint32_t pause;   /* ticks before time is kept: two of them are below half a period */
};

/* One run. */
static struct {
	struct tracer t;
	union {
		uint64_t now;
		volatile uint32_t counter; /* its lower half */
	};
	uint64_t from; /* when this began */
	uint64_t memory[512];
	struct work work[LEVELS];
	unsigned
		at[LEVELS]; /* instruction of this level after which the next one comes; 0: never */
	volatile unsigned step[LEVELS];
	volatile unsigned level;
	uint32_t begun[LEVELS]; /* events so far, lost or not */
} run;

static void pass(uint32_t ticks)
{
	__atomic_add_fetch(&run.now, ticks, __ATOMIC_SEQ_CST); /* a trap passes time as well */
}

static void event(unsigned who, unsigned strings)
{
	uint32_t number = run.begun[who]++;
	char text[12] = "abcdefghijk";

	if (strings) {
		text[number % 11] = '\0';
		trace_words(&run.t, text, who, "x", number * 0x100000001u);
	} else {
		trace_pair(&run.t, (uint8_t)who, number);
	}
}

__attribute__((noinline)) static void work(unsigned level)
{
	const struct work *w = &run.work[level];

	switch (w->what) {
	case EVENTS:
		for (unsigned i = 0; i < w->events; i++)
			event(level, w->strings >> i & 1);
		break;
	case FLUSH: tracer_flush(&run.t); break;
	case KEEP_TIME:
		for (unsigned i = 0; i < w->events; i++) {
			if (level) /* the program itself takes no more than its instructions */
				pass(w->pause);
			tracer_keep_time(&run.t);
		}
		break;
	}
}

__attribute__((noinline)) static void step_through(unsigned level)
{
	run.step[level] = 0;
	run.level = level;
	__asm__ volatile(
		"sub $128, %%rsp\n\tpushfq\n\torl $0x100, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp" ::
			: "memory", "cc");
	work(level);
	__asm__ volatile(
		"sub $128, %%rsp\n\tpushfq\n\tandl $~0x100, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp" ::
			: "memory", "cc");
}

static void trapped(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	unsigned level = run.level;

	(void)signal, (void)info;
	pass(1);
	if (++run.step[level] != run.at[level])
		return;
	c->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (run.at[level + 1])
		step_through(level + 1);
	else
		work(level + 1);
	run.level = level;
}

/* ---- results ---- */

struct seen {
	uint32_t next[LEVELS];
	uint32_t events, lost, packets, wrong;
};

static void look_at(void *ctx, const struct read_event *e)
{
	struct seen *s = ctx;
	uint64_t who, number;

	/* a stamp that goes back looks like one that has wrapped */
	s->wrong += e->late || (e->name && e->tick - run.from > run.now - run.from);
	if (!e->name) {
		if (e->why == CVL_GAP_DISCARDED)
			s->lost += (uint32_t)e->lost;
		else if (e->why == CVL_GAP_PACKETS)
			s->packets += (uint32_t)e->lost;
		else
			s->wrong++;
		return;
	}
	if (!strcmp(e->name, "tracer_clock"))
		return;
	if (!strcmp(e->name, "pair")) {
		who = e->field[0].u;
		number = e->field[1].u;
	} else {
		who = e->field[1].u;
		number = e->field[3].u & UINT32_MAX;
		s->wrong += e->field[3].u != number * 0x100000001u || e->field[2].s.len != 1 ||
			    e->field[2].s.text[0] != 'x' || e->field[0].s.len != number % 11 ||
			    memcmp(e->field[0].s.text, "abcdefghijk", number % 11);
	}
	s->events++;
	if (who >= LEVELS || number < s->next[who] || number >= run.begun[who]) {
		s->wrong++;
		return;
	}
	s->next[who] = (uint32_t)number + 1;
}

struct setting {
	enum tracer_mode mode;
	uint32_t packets, fill, before; /* events before it, and the counter */
	bool drained;                   /* the drain has taken what was complete before */
};

/* Returns whether the program was still at work when its instruction number run.at[0] came. */
static bool try(const struct cvl_trace *trace, const struct setting *s)
{
	const struct tracer_config config = { .platform = { .counter = &run.counter },
					      .mode = s->mode,
					      .packet_log2 = 7,
					      .packets = s->packets };
	static uint8_t out[1 << 14];
	struct seen seen = { 0 };
	struct tracer_drain drain;
	uint32_t begun = 0;
	size_t n = 0;

	run.now = run.from = s->before;
	for (unsigned i = 0; i < LEVELS; i++)
		run.begun[i] = 0;
	assert_int_equal(
		tracer_init(&run.t, run.memory, sizeof(run.memory), &config, &tracer_layout), 0);
	assert_int_equal(tracer_drain_open(&drain, run.memory, sizeof(run.memory)), TRACER_PACKET);
	for (uint32_t i = 0; i < s->fill; i++)
		event(0, 0);
	while (s->drained && tracer_drain_read(&drain, out + n) == TRACER_PACKET)
		n += 128;
	step_through(0);
	/* if no packet was free, the count of losses is reported once there is one again */
	for (unsigned i = 0; i < 2; i++) {
		tracer_flush(&run.t);
		while (tracer_drain_read(&drain, out + n) == TRACER_PACKET)
			n += 128;
	}
	assert_int_equal(tracer_drain_read(&drain, out + n), TRACER_NONE);
	assert_true(read_packets(trace, out, n, look_at, &seen) >= 0);
	for (unsigned i = 0; i < LEVELS; i++)
		begun += run.begun[i];
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.packets <= drain.overtaken);
	if (s->mode == TRACE_STOP)
		assert_true(seen.lost <= run.t.ring->lost);
	else if (s->mode == TRACE_STREAM)
		assert_int_equal(seen.lost, run.t.ring->lost);
	if (s->mode != TRACE_OVERWRITE || !drain.overtaken)
		assert_int_equal(seen.events + run.t.ring->lost, begun);
	else /* at the most six events are in a packet */
		assert_in_range(begun - seen.events - run.t.ring->lost, drain.overtaken,
				6 * drain.overtaken);
	return run.step[0] >= run.at[0];
}

static int set_up(void **state)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGTRAP, &action, NULL);
	*state = read_metadata(&tracer_declared);
	return 0;
}

static int tear_down(void **state)
{
	signal(SIGTRAP, SIG_DFL);
	cvl_trace_close(*state);
	return 0;
}

static struct setting draw_setting(struct draw *d)
{
	return (struct setting){ (enum tracer_mode)draw_below(d, TRACE_MODES),
				 draw_below(d, 2) ? 2 : 4, (uint32_t)draw_below(d, 22),
				 draw_below(d, 2) ?
					 (uint32_t)draw_below(d, 2) * 0x7fffff00u + 0x7fffffu :
					 (uint32_t)-draw_below(d, 300),
				 draw_below(d, 2) };
}

static struct work draw_work(struct draw *d)
{
	return (struct work){ draw_below(d, 3) ? EVENTS :
			      draw_below(d, 2) ? FLUSH :
						 KEEP_TIME,
			      1 + (unsigned)draw_below(d, 1 + draw_below(d, 16)),
			      (unsigned)draw_u64(d),
			      (uint32_t)draw_below(d, 2) * (uint32_t)draw_below(d, 0x3fff0000u) };
}

/*
 * The paths there are: an event that fits, one that closes a packet and opens the next, or finds
 * none free; flush; keeping time.
 */
static void an_interrupt_after_any_instruction_tears_nothing(void **state)
{
	static const struct work programs[] = {
		{ EVENTS, 1, 0, 0 }, { EVENTS, 1, 1, 0 }, { FLUSH, 0, 0, 0 }, { KEEP_TIME, 1, 0, 0 }
	};
	/* five events of the size of pair fill a packet */
	static const struct setting settings[] = {
		{ TRACE_STOP, 2, 3, 5, false }, /* it fits */
		{ TRACE_STREAM, 2, 5, 0x80000000u - 30,
		  false }, /* closes a packet, opens another */
		{ TRACE_STREAM, 2, 10, 0xffffffffu - 30, false },  /* none is free */
		{ TRACE_OVERWRITE, 2, 10, 0x80000000u - 60, true } /* the oldest is overwritten */
	};
	struct draw d = draw_begin(1);
	unsigned steps = 0;

	for (unsigned program = 0; program < 4; program++) {
		for (unsigned i = 0; i < 4; i++) {
			run.work[0] = programs[program];
			run.at[0] = run.at[1] = 0;
			do {
				run.at[0] += 1 + (unsigned)draw_below(&d, STRIDE);
				run.work[1] = draw_work(&d);
				steps++;
			} while (try(*state, &settings[i]));
		}
	}
	printf("interrupted after %u instructions\n", steps);
	assert_true(steps > 1000 / STRIDE);
}

static void interrupts_of_interrupts_tear_nothing(void **state)
{
	struct draw d = draw_begin(2);
	unsigned both = 0;

	for (unsigned i = 0; i < 600 / STRIDE; i++) {
		struct setting s = draw_setting(&d);

		for (unsigned level = 0; level < LEVELS; level++)
			run.work[level] = draw_work(&d);
		run.at[0] = 1 + (unsigned)draw_below(&d, 400 * (STRIDE > 1 ? 4 : 1));
		run.at[1] = 1 + (unsigned)draw_below(&d, 400);
		run.step[1] = 0;
		if (try(*state, &s) && run.step[1] >= run.at[1])
			both++;
	}
	printf("interrupts interrupted: %u\n", both);
	assert_true(both > 50 / STRIDE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupt_after_any_instruction_tears_nothing),
		cmocka_unit_test(interrupts_of_interrupts_tear_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
#endif
