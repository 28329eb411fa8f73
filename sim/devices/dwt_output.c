/* SPDX-License-Identifier: MIT */
/* From packets to edges: a queue of few bytes, the trace port, its line. */
#include "sim/devices/dwt_internal.h"

#include <string.h>

#include "swotrace/regs.h"

#define STAMP_MAX ((1u << 28) - 1)

/* ---- the line, and the timer at its end ---- */

/* Edges up to now reach the timer. */
static void see_edges(struct dwt_chip *c)
{
	bool counts = dwt_timer_counts(c);

	for (; c->edges && c->rising[c->first] <= (double)c->now; c->edges--) {
		double time = c->rising[c->first];

		c->first = (c->first + 1) % DWT_CHIP_EDGES;
		if (counts && time - c->last_rising < c->config.timer_cycles) {
			c->truth.missed++;
		} else if (counts) {
			c->timer++;
			c->truth.rising++;
		}
		c->last_rising = time;
	}
}

static void on_edge(void *ctx, double time, bool level)
{
	struct dwt_chip *c = ctx;

	if (level && c->edges < DWT_CHIP_EDGES)
		c->rising[(c->first + c->edges++) % DWT_CHIP_EDGES] = time;
	if (c->edge)
		c->edge(c->ctx, time, level);
}

static void restart_line(struct dwt_chip *c)
{
	double free = c->line.free;

	swo_line_init(&c->line, !(c->sppr & TPIU_SPPR_NRZ), c->acpr + c->config.bit_cycles, on_edge,
		      c);
	c->line.free = free;
}

/* ---- the trace port ---- */

static void send(struct dwt_chip *c, uint64_t when, const uint8_t *bytes, size_t n)
{
	if (!n)
		return;
	if (!c->line.edge)
		restart_line(c);
	swo_line_send(&c->line, (double)when, bytes, n);
}

static void send_frames(struct dwt_chip *c, const struct dwt_queued *q)
{
	uint8_t out[32];

	if (!c->frames)
		send(c, q->time, out, swo_tpiu_sync(out));
	c->frames = true;
	for (unsigned i = 0; i < q->n; i++)
		send(c, q->time, out, swo_tpiu_put(&c->tpiu, c->tcr >> 16 & 127, q->bytes[i], out));
}

/* Packets leave the queue when the line can take their first byte. */
void dwt_flow(struct dwt_chip *c)
{
	see_edges(c);
	while (c->queued && c->line.free <= (double)c->now) {
		const struct dwt_queued *q = &c->queue[c->head];

		if (!dwt_pin_out(c))
			c->truth.unseen++;
		else if (c->ffcr & TPIU_FFCR_FORMAT)
			send_frames(c, q);
		else
			send(c, q->time, q->bytes, q->n);
		c->bytes -= q->n;
		c->head = (c->head + 1) % DWT_CHIP_QUEUE;
		c->queued--;
		see_edges(c);
	}
}

bool dwt_output_busy(const struct dwt_chip *c)
{
	return c->queued || c->line.free > (double)c->now;
}

bool dwt_output_room(const struct dwt_chip *c, unsigned bytes)
{
	return c->bytes + bytes <= c->config.fifo_bytes && c->queued < DWT_CHIP_QUEUE;
}

bool dwt_port_access(struct dwt_chip *c, uint32_t address, uint32_t *value, bool write)
{
	uint32_t *word = address == TPIU_ACPR ? &c->acpr :
			 address == TPIU_SPPR ? &c->sppr :
			 address == TPIU_FFCR ? &c->ffcr :
						NULL;

	if (!word)
		return false;
	if (c->config.no_trace)
		return true;
	if (!write) {
		*value = *word;
		return true;
	}
	*word = address == TPIU_ACPR ? *value & 0x1fff : *value;
	if (address != TPIU_FFCR)
		restart_line(c);
	return true;
}

/* ---- packets into the queue ---- */

static void put(struct dwt_chip *c, struct dwt_queued *q, const struct itm_packet *p)
{
	uint8_t bytes[SWO_PACKET_MAX];
	size_t n = swo_put_packet(&c->page, p, bytes);

	memcpy(q->bytes + q->n, bytes, n);
	q->n = (uint8_t)(q->n + n);
}

static void stamp(struct dwt_chip *c, struct dwt_queued *q)
{
	static const uint8_t prescale[] = { 0, 2, 4, 6 };
	uint64_t ticks = (c->now >> prescale[c->tcr >> 8 & 3]) - c->stamped;
	struct itm_packet p = { .kind = ITM_LOCAL_TS };

	p.value = ticks < STAMP_MAX ? ticks : STAMP_MAX;
	p.size = p.value < 1 || p.value > 6; /* the short form has room for 1 to 6 */
	put(c, q, &p);
	c->stamped += p.value;
}

void dwt_emit(struct dwt_chip *c, const struct itm_packet *p)
{
	const struct itm_packet overflow = { .kind = ITM_OVERFLOW };
	uint32_t page = c->page;
	uint64_t stamped = c->stamped;
	struct dwt_queued q = { .time = c->now };

	dwt_flow(c);
	if (c->overflow)
		put(c, &q, &overflow);
	put(c, &q, p);
	if (c->tcr & ITM_TCR_TSENA && p->kind != ITM_SYNC)
		stamp(c, &q);
	c->truth.made++;
	if (!dwt_output_room(c, q.n)) {
		c->truth.lost++;
		c->overflow = true;
		c->page = page;
		c->stamped = stamped;
		return;
	}
	c->truth.kinds[ITM_OVERFLOW] += c->overflow;
	c->overflow = false;
	c->truth.kinds[p->kind]++;
	c->queue[(c->head + c->queued++) % DWT_CHIP_QUEUE] = q;
	c->bytes += q.n;
	dwt_flow(c);
}
