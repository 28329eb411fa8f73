/* SPDX-License-Identifier: MIT */
/*
 * A second processor: woken by INIT and two SIPIs to all others (Intel's manual, volume 3A, 8.4.4),
 * of which the first to arrive works for us. It does one job at a time, given in a variable.
 */
#include "machine.h"

#include <string.h>

#include "ett/probes.h"
#include "../selftest.h"
#include "io.h"

#define APIC_BASE_MSR 0x1b
#define APIC_X2 0x400
#define X2_ICR_MSR 0x830
#define ICR 0x300
#define ICR_BUSY 0x1000
/* to all others, level asserted */
#define INIT 0xc4500
#define STARTUP 0xc4600
#define TRAMPOLINE 0x8000
#define ROUNDS 1000

enum job { RESTING, COMPARE, WATCH, DRIVE };

extern const uint8_t trampoline[], trampoline_end[];
extern volatile uint32_t second_tickets;
void second_main(void);

static struct {
	volatile uint32_t job, rest; /* rest: end it */
	volatile uint32_t asked, answered;
	volatile uint64_t stamp;
	volatile uint32_t *stop;
	uint64_t look;
	struct drive *drive;
	volatile uint32_t here;
} second;

/* ---- on the first processor ---- */

static void send(uint32_t icr)
{
	uint64_t base = rdmsr(APIC_BASE_MSR);
	volatile uint32_t *apic;

	if (base & APIC_X2) {
		wrmsr(X2_ICR_MSR, icr);
		return;
	}
	apic = map_register(base & 0xfffff000);
	for (int i = 0; i < 1000000 && apic[ICR / 4] & ICR_BUSY; i++)
		pause();
	apic[ICR / 4] = icr;
}

bool second_start(const struct timer *t)
{
	uint32_t id[4];

	cpuid(1, id);
	if (!(id[3] >> 9 & 1)) /* no APIC */
		return false;
	memcpy((void *)TRAMPOLINE, trampoline, (size_t)(trampoline_end - trampoline));
	send(INIT);
	wait_us(t, 10000);
	for (int i = 0; i < 2 && !second.here; i++) {
		send(STARTUP | TRAMPOLINE >> 12);
		wait_us(t, 200);
	}
	for (int i = 0; i < 100 && !second.here; i++)
		wait_us(t, 1000);
	return second.here;
}

static void give(enum job job)
{
	second.rest = 0;
	second.job = job;
}

void second_rest(void)
{
	second.rest = 1;
	while (second.job != RESTING)
		pause();
}

void second_compare(struct ett_apart *a)
{
	second.asked = second.answered = 0;
	give(COMPARE);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		uint64_t ahead = tsc(), behind;

		second.asked = i;
		while (second.answered != i)
			;
		behind = tsc();
		ett_apart_add(a, ahead, second.stamp, behind);
	}
	second_rest();
}

void second_watch(volatile uint32_t *stop, uint64_t look)
{
	second.stop = stop;
	second.look = look;
	give(WATCH);
}

void second_drive(struct drive *d)
{
	second.drive = d;
	give(DRIVE);
}

/* ---- on the second one ---- */

static void answer(void)
{
	while (!second.rest) {
		uint32_t asked = second.asked;

		if (asked == second.answered)
			continue;
		second.stamp = tsc();
		second.answered = asked;
	}
}

static void hold(uint64_t ticks)
{
	uint64_t until = tsc() + ticks;

	while (tsc() < until && !second.rest)
		;
}

static void watch(void)
{
	/*
	 * Seldom: the keyboard's controller may be on the bus that the lines are read by, and keep
	 * a read waiting.
	 */
	while (!second.rest && !key_anew())
		hold(second.look);
	if (!second.rest)
		*second.stop = ETT_END_KEY;
	while (!second.rest)
		pause();
}

static void store(struct drive *d, uint8_t v, uint8_t before)
{
	struct ett_record *r = &d->store[d->n];
	uint64_t ahead = tsc();

	out8(d->latch, v);
	r->tick = tsc();
	ett_set_width(r, r->tick - ahead);
	r->value = v;
	r->before = before;
	d->n++;
}

static void drive(struct drive *d)
{
	struct ett_edges e = { d->seed | 1, d->bits, d->dwell };
	uint8_t v = d->from;

	while (!*d->go && !second.rest)
		pause();
	hold(16 * d->dwell);
	while (d->n < d->edges && !second.rest) {
		uint8_t before = v;

		v = ett_edges_next(&e, v);
		store(d, v, before);
		hold(ett_edges_hold(&e));
	}
	hold(16 * d->dwell);
	if (d->zero)
		store(d, 0, v);
	/* A zero ends the capture, and that this; unless the loop comes to no read at all. */
	hold(d->zero ? d->patience : 16 * d->dwell);
	*d->stop = ETT_END_TEST;
	while (!second.rest)
		pause();
}

void second_main(void)
{
	timer_order();
	second.here = 1;
	for (;;) {
		switch (second.job) {
		case COMPARE: answer(); break;
		case WATCH: watch(); break;
		case DRIVE: drive(second.drive); break;
		default: pause(); continue;
		}
		second.job = RESTING;
	}
}
