/* SPDX-License-Identifier: MIT */
#include "sim/devices/tracelab_fpga_internal.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS 1024 /* places of the events' queue */
#define OTHERS 64   /* of the other */
#define ACCESS 16   /* cycles of the SRAM, for each packet */
#define RING ((size_t)1 << 18)
#define ROUND 16000000 /* TL_PPS_AVERAGE * TL_SECOND_TICKS */

/* ---- time ---- */

static uint64_t raw(const struct fpga *f, uint64_t time)
{
	int64_t n = (int64_t)(time - f->steer.at), x = n * f->steer.eighths + ROUND / 2;

	if (f->fine)
		return f->began + time;
	x = x >= 0 ? x / ROUND : -((ROUND - 1 - x) / ROUND);
	return f->steer.raw + (uint64_t)(n * TL_TICK_CYCLES + x);
}

uint64_t fpga_time(const struct fpga *f, uint64_t cycle)
{
	uint64_t time;

	if (f->fine)
		return cycle - f->began;
	time = f->steer.at + (cycle - f->steer.raw) / TL_TICK_CYCLES;
	while (raw(f, time) > cycle)
		time--;
	while (raw(f, time + 1) <= cycle)
		time++;
	return time;
}

/* ---- queues ---- */

/* A loss is reported when an eighth is free again. */
static void tell_loss(struct fpga_queue *q)
{
	const struct fpga_item loss = { .time = q->since, .lost = q->lost };

	if (!q->lost || q->n + 2 > q->max - q->max / 8)
		return;
	q->item[(q->at + q->n++) % q->max] = loss;
	q->lost = 0;
}

static void push(struct fpga *f, struct fpga_queue *q, const struct fpga_item *i)
{
	tell_loss(q);
	if (q->n == q->max || q->lost) {
		q->since = q->lost ? q->since : i->time;
		q->lost++;
		f->lost++;
		f->power_cut = f->power_cut || q == &f->queue[1];
		return;
	}
	q->item[(q->at + q->n++) % q->max] = *i;
}

void fpga_push(struct fpga *f, uint32_t packet, bool timed, uint64_t time)
{
	const struct fpga_item i = { packet, timed, time, 0 };

	push(f, &f->queue[1], &i);
}

void fpga_look(struct fpga *f, uint64_t cycle, bool anyway)
{
	uint16_t levels = (uint16_t)(f->target | f->acts << TL_LINE_ACT);
	struct fpga_item i = { (uint32_t)levels << TL_LOW_BITS, true, fpga_time(f, cycle), 0 };

	if (anyway || ((levels ^ f->levels) & f->mask))
		push(f, &f->queue[0], &i);
	f->levels = levels;
}

static void to_ring(struct fpga *f, uint32_t packet)
{
	f->ring[(f->ring_at + f->ring_n++) % f->opts.ring] = packet;
}

static void mark(struct fpga *f, uint64_t time)
{
	if (time >> TL_LOW_BITS == f->upper)
		return;
	f->upper = time >> TL_LOW_BITS;
	to_ring(f, (uint32_t)TL_MARKER << 29 | (uint32_t)f->upper);
}

static uint32_t low(uint64_t time)
{
	return (uint32_t)time & ((1u << TL_LOW_BITS) - 1);
}

static void drain(struct fpga *f, struct fpga_queue *q)
{
	const struct fpga_item i = q->item[q->at];
	uint32_t loss = (uint32_t)TL_LOSS << 29 | (uint32_t)q->number << 28;

	q->at = (q->at + 1) % q->max;
	q->n--;
	tell_loss(q);
	if (i.timed || i.lost)
		mark(f, i.time);
	if (i.lost) {
		to_ring(f, loss | low(i.time));
		to_ring(f, loss | 1u << 26 | (uint32_t)(i.lost >> 26));
		to_ring(f, loss | 2u << 26 | (uint32_t)(i.lost & 0x3ffffff));
	} else {
		to_ring(f, i.packet | (i.timed ? low(i.time) : 0));
	}
}

void fpga_drain(struct fpga *f)
{
	while ((f->queue[0].n || f->queue[1].n) && f->ring_n + 8 <= f->opts.ring)
		drain(f, &f->queue[f->queue[1].n ? 1 : 0]);
}

/* Up to @cycle the SRAM takes what the queues hold. */
static void drain_until(struct fpga *f, uint64_t cycle)
{
	while ((f->queue[0].n || f->queue[1].n) && f->drained + ACCESS <= cycle &&
	       f->ring_n + 8 <= f->opts.ring) {
		f->drained += ACCESS;
		drain(f, &f->queue[f->queue[1].n ? 1 : 0]);
	}
	if (!(f->queue[0].n || f->queue[1].n) && f->drained + ACCESS < cycle)
		f->drained = cycle - ACCESS;
}

/* ---- what happens ---- */

static void take_sample(struct fpga *f, uint64_t time)
{
	uint32_t v = f->opts.sample ? f->opts.sample(f->opts.ctx, f->samples) : 0;
	struct fpga_queue *q = &f->queue[1];

	if (f->power_cut && q->n + 4 <= q->max - q->max / 8) {
		fpga_push(f, (uint32_t)TL_POWER << 29 | TL_POWER_RESUME << 27, true, time);
		f->power_cut = false;
	}
	fpga_push(f,
		  (uint32_t)TL_SAMPLE << 29 | (v >> 16 & 1) << 28 |
			  (uint32_t)(f->samples & 4095) << 16 | (v & 0xffff),
		  false, time);
	f->samples++;
}

/* When its edge is seen. */
static uint64_t act_cycle(const struct fpga *f)
{
	return raw(f, f->act[0].time) + (f->fine ? TL_ACT_CYCLES + TL_ACT_SEEN_CYCLES : 0);
}

static void do_act(struct fpga *f, const struct fpga_act *a)
{
	uint8_t before = f->acts;

	if (a->what == TL_ACT_SET)
		f->acts |= a->lines;
	else if (a->what == TL_ACT_CLEAR)
		f->acts &= (uint8_t)~a->lines;
	else
		f->acts ^= a->lines;
	fpga_push(f,
		  (uint32_t)TL_ACTED << 29 | (uint32_t)f->acts << 26 | (uint32_t)(a->id & 63) << 20,
		  true, a->time + (f->fine ? TL_ACT_CYCLES : 0));
	if (before != f->acts)
		fpga_look(f, raw(f, a->time) + (f->fine ? TL_ACT_CYCLES + TL_ACT_SEEN_CYCLES : 0),
			  false);
}

static uint64_t power_time(const struct fpga *f)
{
	return f->power_at + f->samples * f->period * (f->fine ? (uint64_t)TL_TICK_CYCLES : 1);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void take_edge(struct fpga *f)
{
	bool pps = (f->next_levels & ~f->target) >> TL_LINE_PPS & 1;
	uint64_t cycle = f->next_edge;

	f->target = f->next_levels;
	if (pps)
		fpga_push(f, (uint32_t)TL_CLOCK << 29 | TL_CLOCK_PPS << 26, true,
			  fpga_time(f, cycle));
	fpga_look(f, cycle, false);
	f->next_edge =
		f->opts.next ? f->opts.next(f->opts.ctx, cycle, &f->next_levels) : FPGA_NEVER;
}

void fpga_run(struct fpga *f, uint64_t cycle)
{
	while (f->running) {
		uint64_t wrap = raw(f, f->wraps << TL_LOW_BITS);
		uint64_t power = f->period ? raw(f, power_time(f)) : FPGA_NEVER;
		uint64_t act = f->n_acts ? act_cycle(f) : FPGA_NEVER;
		uint64_t first = earliest(earliest(f->next_edge, wrap), earliest(power, act));

		if (first > cycle)
			break;
		drain_until(f, first);
		f->now = first;
		if (first == wrap) {
			if (f->ring_n + 8 <= f->opts.ring)
				mark(f, f->wraps << TL_LOW_BITS);
			f->wraps++;
		} else if (first == power) {
			take_sample(f, power_time(f));
		} else if (first == act) {
			const struct fpga_act a = f->act[0];

			memmove(f->act, f->act + 1, --f->n_acts * sizeof(a));
			do_act(f, &a);
		} else {
			take_edge(f);
		}
	}
	if (f->running)
		drain_until(f, cycle);
	f->now = cycle;
}

void fpga_steer(struct fpga *f, uint64_t time, int32_t eighths)
{
	f->steer.raw = raw(f, time);
	f->steer.at = time;
	f->steer.eighths = eighths;
	fpga_push(f, (uint32_t)TL_CLOCK << 29 | TL_CLOCK_STEER_AT << 26, true, time);
	fpga_push(f,
		  (uint32_t)TL_CLOCK << 29 | (uint32_t)TL_CLOCK_STEER << 26 |
			  ((uint32_t)eighths & 0x3ffffff),
		  false, time);
}

/* ---- SPI ---- */

static uint16_t crc12(uint16_t crc, uint32_t bits, int n)
{
	while (n--)
		crc = (uint16_t)((crc << 1 ^ ((crc >> 11 ^ (bits >> n & 1)) & 1 ? TL_CRC12 : 0)) &
				 0xfff);
	return crc;
}

void fpga_spi(struct fpga *f, uint8_t *bytes, size_t n)
{
	uint16_t crc = TL_CRC12_INIT;

	for (size_t i = 0; i < n / 4; i++) {
		uint32_t word = TL_IDLE;

		if (i % TL_BLOCK_WORDS == 0) {
			word = (uint32_t)TL_SYNC_TOP << 28 | (uint32_t)f->sent << 12;
			word |= crc12(crc, word >> 12, 20);
			crc = TL_CRC12_INIT;
		} else {
			if (f->ring_n) {
				word = f->ring[f->ring_at];
				f->ring_at = (f->ring_at + 1) % f->opts.ring;
				f->ring_n--;
				f->sent++;
			}
			crc = crc12(crc, word, 32);
		}
		for (int k = 0; k < 4; k++)
			bytes[4 * i + (size_t)k] = (uint8_t)(word >> (24 - 8 * k));
	}
}

size_t fpga_waiting(const struct fpga *f)
{
	return f->ring_n + f->queue[0].n + f->queue[1].n;
}

struct fpga *fpga_new(const struct fpga_opts *opts)
{
	struct fpga *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->opts = *opts;
	f->opts.ring = opts->ring ? opts->ring : RING;
	f->mask = (1u << TL_LINES) - 1;
	f->fine = true;
	f->next_edge = FPGA_NEVER;
	f->queue[0].max = EVENTS;
	f->queue[1].max = OTHERS;
	f->queue[1].number = 1;
	f->ring = malloc(f->opts.ring * sizeof(*f->ring));
	for (int i = 0; i < 2; i++)
		f->queue[i].item = malloc(f->queue[i].max * sizeof(struct fpga_item));
	if (!f->ring || !f->queue[0].item || !f->queue[1].item) {
		fpga_free(f);
		return NULL;
	}
	return f;
}

void fpga_free(struct fpga *f)
{
	if (!f)
		return;
	free(f->ring);
	free(f->queue[0].item);
	free(f->queue[1].item);
	free(f);
}
