/* SPDX-License-Identifier: MIT */
#include "sim/tracelab_fpga.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS 1024 /* places of the events' queue */
#define OTHERS 64   /* of the other */
#define ACCESS 16   /* cycles of the SRAM, for each packet */
#define RING ((size_t)1 << 18)
#define NEVER UINT64_MAX
#define ROUND 16000000 /* TL_PPS_AVERAGE * TL_SECOND_TICKS */

/* What waits for the ring: a packet without its time's low bits, or a loss, which is three. */
struct item {
	uint32_t packet;
	bool timed;
	uint64_t time, lost; /* lost: not 0, of a loss */
};

struct queue {
	struct item *item;
	size_t max, at, n;
	uint64_t since, lost; /* dropped and not yet told */
	unsigned number;      /* of the queue, in TL_LOSS */
};

struct act {
	uint64_t time;
	uint8_t what, lines, id;
	uint32_t width;
	bool back; /* the end of a pulse */
};

struct fpga {
	struct fpga_opts opts;
	uint64_t now, began; /* began: cycle of TL_START */
	bool running, fine;
	uint16_t mask, levels, target; /* target: lines that the world drives */
	uint8_t acts;                  /* levels of the actuation lines */
	uint64_t next_edge, drained;   /* drained: when the SRAM is free again */
	uint16_t next_levels;
	struct queue queue[2];
	uint32_t *ring;
	size_t ring_at, ring_n;
	uint64_t upper, wraps; /* of the last marker; NEVER: none */
	uint16_t sent;
	unsigned period;
	uint64_t power_at, samples; /* time of sample 0 */
	bool power_cut;             /* samples were lost: say when they go on */
	struct act act[TL_ACT_QUEUE];
	size_t n_acts;
	uint64_t ordered, lost; /* ordered: time of the last one */
	struct {
		uint64_t at, raw;
		int32_t eighths;
	} steer;
	uint8_t in[32], out[1024];
	size_t n_in, n_out;
};

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

/* A loss is told when an eighth is free again. */
static void tell_loss(struct queue *q)
{
	const struct item loss = { .time = q->since, .lost = q->lost };

	if (!q->lost || q->n + 2 > q->max - q->max / 8)
		return;
	q->item[(q->at + q->n++) % q->max] = loss;
	q->lost = 0;
}

static void push(struct fpga *f, struct queue *q, const struct item *i)
{
	tell_loss(q);
	if (q->n == q->max || q->lost) {
		q->since = q->lost ? q->since : i->time;
		q->lost++;
		f->lost++;
		return;
	}
	q->item[(q->at + q->n++) % q->max] = *i;
}

static void push_other(struct fpga *f, uint32_t packet, bool timed, uint64_t time)
{
	const struct item i = { packet, timed, time, 0 };

	push(f, &f->queue[1], &i);
}

static void look(struct fpga *f, uint64_t cycle, bool anyway)
{
	uint16_t levels = (uint16_t)(f->target | f->acts << TL_LINE_ACT);
	struct item i = { (uint32_t)levels << TL_LOW_BITS, true, fpga_time(f, cycle), 0 };

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

static void drain(struct fpga *f, struct queue *q)
{
	const struct item i = q->item[q->at];
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
	struct queue *q = &f->queue[1];
	uint64_t before = q->lost;

	if (f->power_cut && q->n + 4 <= q->max - q->max / 8) {
		push_other(f, (uint32_t)TL_POWER << 29 | TL_POWER_RESUME << 27, true, time);
		f->power_cut = false;
		before = 0;
	}
	push_other(f,
		   (uint32_t)TL_SAMPLE << 29 | (v >> 16 & 1) << 28 |
			   (uint32_t)(f->samples & 4095) << 16 | (v & 0xffff),
		   false, time);
	f->power_cut = f->power_cut || q->lost > before;
	f->samples++;
}

/* When its edge is seen. */
static uint64_t act_cycle(const struct fpga *f)
{
	return raw(f, f->act[0].time) + (f->fine ? TL_ACT_CYCLES + TL_ACT_SEEN_CYCLES : 0);
}

static void do_act(struct fpga *f, const struct act *a)
{
	uint8_t before = f->acts;

	if (a->what == TL_ACT_SET)
		f->acts |= a->lines;
	else if (a->what == TL_ACT_CLEAR)
		f->acts &= (uint8_t)~a->lines;
	else
		f->acts ^= a->lines;
	push_other(f,
		   (uint32_t)TL_ACTED << 29 | (uint32_t)f->acts << 26 |
			   (uint32_t)(a->id & 63) << 20,
		   true, a->time + (f->fine ? TL_ACT_CYCLES : 0));
	if (before != f->acts)
		look(f, raw(f, a->time) + (f->fine ? TL_ACT_CYCLES + TL_ACT_SEEN_CYCLES : 0),
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
		push_other(f, (uint32_t)TL_CLOCK << 29 | TL_CLOCK_PPS << 26, true,
			   fpga_time(f, cycle));
	look(f, cycle, false);
	f->next_edge = f->opts.next ? f->opts.next(f->opts.ctx, cycle, &f->next_levels) : NEVER;
}

void fpga_run(struct fpga *f, uint64_t cycle)
{
	while (f->running) {
		uint64_t wrap = raw(f, f->wraps << TL_LOW_BITS);
		uint64_t power = f->period ? raw(f, power_time(f)) : NEVER;
		uint64_t act = f->n_acts ? act_cycle(f) : NEVER;
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
			const struct act a = f->act[0];

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

void fpga_align(struct fpga *f, uint64_t time)
{
	push_other(f, (uint32_t)TL_CLOCK << 29 | TL_CLOCK_ALIGN << 26, true, time);
}

void fpga_steer(struct fpga *f, uint64_t time, int32_t eighths)
{
	f->steer.raw = raw(f, time);
	f->steer.at = time;
	f->steer.eighths = eighths;
	push_other(f, (uint32_t)TL_CLOCK << 29 | TL_CLOCK_STEER_AT << 26, true, time);
	push_other(f,
		   (uint32_t)TL_CLOCK << 29 | (uint32_t)TL_CLOCK_STEER << 26 |
			   ((uint32_t)eighths & 0x3ffffff),
		   false, time);
}

void fpga_offset(struct fpga *f, int32_t cycles)
{
	push_other(f,
		   (uint32_t)TL_CLOCK << 29 | (uint32_t)TL_CLOCK_OFFSET << 26 |
			   ((uint32_t)cycles & 0x3ffffff),
		   false, fpga_time(f, f->now));
}

void fpga_rejected(struct fpga *f, uint64_t time)
{
	push_other(f, (uint32_t)TL_CLOCK << 29 | (uint32_t)TL_CLOCK_REJECTED << 26, true, time);
}

/* ---- UART ---- */

static uint8_t crc8(const uint8_t *p, size_t n)
{
	uint8_t crc = 0;

	for (size_t i = 0; i < 8 * n; i++) {
		crc ^= (uint8_t)(i % 8 ? 0 : p[i / 8]);
		crc = (uint8_t)(crc << 1 ^ (crc >> 7) * TL_CRC8);
	}
	return crc;
}

static uint64_t get(const uint8_t *p, int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static void put(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static void reply(struct fpga *f, const uint8_t *to, uint8_t status, const uint8_t *data, size_t n)
{
	uint8_t *p = f->out + f->n_out;

	if (f->n_out + n + 6 > sizeof(f->out))
		return;
	p[0] = TL_TO_HOST;
	p[1] = to[1];
	p[2] = to[2];
	p[3] = (uint8_t)(n + 1);
	p[4] = status;
	if (n)
		memcpy(p + 5, data, n);
	p[5 + n] = crc8(p + 1, n + 4);
	f->n_out += n + 6;
}

static void start(struct fpga *f, bool fine)
{
	f->running = true;
	f->fine = fine;
	f->began = f->now;
	f->steer.at = 0;
	f->steer.raw = f->now;
	f->steer.eighths = 0;
	f->ring_n = f->queue[0].n = f->queue[1].n = 0;
	f->queue[0].lost = f->queue[1].lost = f->lost = 0;
	f->upper = NEVER;
	f->wraps = 1;
	f->sent = 0;
	f->period = 0;
	f->acts = 0;
	f->n_acts = 0;
	f->ordered = 0;
	f->drained = f->now;
	f->next_edge = f->opts.next ? f->opts.next(f->opts.ctx, f->now, &f->next_levels) : NEVER;
	look(f, f->now, true);
}

static uint8_t order_act(struct fpga *f, const uint8_t *p)
{
	struct act a = { get(p, 8), p[8], p[9], p[14], (uint32_t)get(p + 10, 4), false };
	size_t places = a.what == TL_ACT_PULSE ? 2 : 1;

	if (!f->running)
		return TL_NOT_RUNNING;
	if (a.what > TL_ACT_PULSE || a.lines > 7 || !a.lines ||
	    (a.what == TL_ACT_PULSE) != (a.width != 0) || a.time >> 49)
		return TL_BAD_VALUE;
	if (a.time < fpga_time(f, f->now) + TL_ACT_AHEAD)
		return TL_LATE;
	if (a.time <= f->ordered)
		return TL_ORDER;
	if (f->n_acts + places > TL_ACT_QUEUE)
		return TL_FULL;
	f->act[f->n_acts++] = a;
	f->ordered = a.time;
	if (a.what == TL_ACT_PULSE) {
		a.time += a.width;
		f->act[f->n_acts++] = a;
		f->ordered = a.time;
	}
	return TL_OK;
}

static uint8_t set_period(struct fpga *f, unsigned period)
{
	if (!f->running)
		return TL_NOT_RUNNING;
	if (period && period < TL_PERIOD_MIN)
		return TL_BAD_VALUE;
	f->period = period;
	f->power_at = fpga_time(f, f->now) + 1;
	f->samples = 0;
	push_other(f,
		   (uint32_t)TL_POWER << 29 | (uint32_t)(period ? TL_POWER_START : TL_POWER_STOP)
						      << 27,
		   true, f->power_at);
	return TL_OK;
}

static void command(struct fpga *f, const uint8_t *p)
{
	static const uint8_t length[] = { 0, 0, 1, 0, 2, 2, 15, 0 };
	const uint8_t hello[] = { TL_VERSION, 18, TL_ACT_QUEUE, TL_TICK_CYCLES };
	uint8_t status[TL_STATUS_BYTES] = { 0 }, answer = TL_OK;

	if (p[1] < TL_HELLO || p[1] > TL_STATUS || p[3] != length[p[1]]) {
		reply(f, p, p[1] < TL_HELLO || p[1] > TL_STATUS ? TL_UNKNOWN : TL_BAD_LENGTH, NULL,
		      0);
		return;
	}
	switch (p[1]) {
	case TL_HELLO: reply(f, p, TL_OK, hello, sizeof(hello)); return;
	case TL_STATUS:
		status[TL_AT_FLAGS] =
			(uint8_t)((f->running ? TL_IS_RUNNING : 0) | (f->fine ? TL_IS_FINE : 0));
		status[TL_AT_ACT_LINES] = f->acts;
		put(status + TL_AT_MASK, f->mask, 2);
		put(status + TL_AT_TIME, fpga_time(f, f->now), 8);
		status[TL_AT_QUEUED] = (uint8_t)f->n_acts;
		put(status + TL_AT_RING, f->ring_n, 4);
		put(status + TL_AT_LOST, f->lost, 4);
		reply(f, p, TL_OK, status, sizeof(status));
		return;
	case TL_START:
		answer = f->running ? TL_RUNNING : p[4] > TL_FINE ? TL_BAD_VALUE : TL_OK;
		if (answer == TL_OK)
			start(f, p[4] == TL_FINE);
		break;
	case TL_STOP:
		f->running = false;
		f->n_acts = 0;
		while ((f->queue[0].n || f->queue[1].n) && f->ring_n + 8 <= f->opts.ring)
			drain(f, &f->queue[f->queue[1].n ? 1 : 0]);
		break;
	case TL_MASK: f->mask = (uint16_t)get(p + 4, 2); break;
	case TL_PERIOD: answer = set_period(f, (unsigned)get(p + 4, 2)); break;
	default: answer = order_act(f, p + 4); break;
	}
	reply(f, p, answer, NULL, 0);
}

void fpga_uart_in(struct fpga *f, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!f->n_in && bytes[i] != TL_TO_OBSERVER)
			continue;
		f->in[f->n_in++] = bytes[i];
		if (f->n_in > 3 && f->in[3] > TL_PAYLOAD_MAX) {
			reply(f, f->in, TL_BAD_LENGTH, NULL, 0);
			f->n_in = 0;
		} else if (f->n_in > 4 && f->n_in == f->in[3] + 5u) {
			if (crc8(f->in + 1, f->n_in - 2) != f->in[f->n_in - 1])
				reply(f, f->in, TL_BAD_CRC, NULL, 0);
			else
				command(f, f->in);
			f->n_in = 0;
		}
	}
}

size_t fpga_uart_out(struct fpga *f, uint8_t *bytes, size_t max)
{
	size_t n = f->n_out < max ? f->n_out : max;

	memcpy(bytes, f->out, n);
	memmove(f->out, f->out + n, f->n_out - n);
	f->n_out -= n;
	return n;
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
	f->next_edge = NEVER;
	f->queue[0].max = EVENTS;
	f->queue[1].max = OTHERS;
	f->queue[1].number = 1;
	f->ring = malloc(f->opts.ring * sizeof(*f->ring));
	for (int i = 0; i < 2; i++)
		f->queue[i].item = malloc(f->queue[i].max * sizeof(struct item));
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
