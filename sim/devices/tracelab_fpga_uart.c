/* SPDX-License-Identifier: MIT */
#include "sim/devices/tracelab_fpga_internal.h"

#include <string.h>

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
	f->upper = FPGA_NEVER;
	f->wraps = 1;
	f->sent = 0;
	f->period = 0;
	f->acts = 0;
	f->n_acts = 0;
	f->ordered = 0;
	f->drained = f->now;
	f->next_edge =
		f->opts.next ? f->opts.next(f->opts.ctx, f->now, &f->next_levels) : FPGA_NEVER;
	fpga_look(f, f->now, true);
}

static uint8_t order_act(struct fpga *f, const uint8_t *p)
{
	struct fpga_act a = { get(p, 8), p[8], p[9], p[14], (uint32_t)get(p + 10, 4), false };
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
	fpga_push(f,
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
		fpga_drain(f);
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
