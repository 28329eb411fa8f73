/* SPDX-License-Identifier: MIT */
#include "sim/devices/swo_round.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/devices/swo_draw.h"
#include "sim/devices/swo_encode.h"

/* A change is seen at the next tick. */
static void see(void *ctx, double time, bool level)
{
	struct swo_round *w = ctx;
	uint64_t tick = (uint64_t)ceil(time + w->phase);

	if (w->of_manchester)
		manchester_edge(&w->manchester, tick, level);
	else
		uart_edge(&w->uart, tick, level);
}

static void take_byte(void *ctx, const struct line_byte *b)
{
	struct swo_round *w = ctx;

	if (w->n_line < SWO_ROUND_BYTES)
		w->line[w->n_line++] = b->value ^ (b->broken ? 0xff : 0);
}

static void take_stream(void *ctx, const struct tpiu_byte *b)
{
	struct swo_round *w = ctx;

	if (b->stream == 1 && w->n_itm < SWO_ROUND_BYTES)
		w->itm[w->n_itm++] = b->value;
}

static void take_hole(void *ctx, uint64_t from, uint64_t to)
{
	(void)ctx;
	(void)from;
	(void)to;
}

static size_t encode(struct swo_round *w, struct sim_random *r, bool framed)
{
	struct swo_tpiu frames;
	uint32_t page = 0;
	size_t len = framed ? swo_tpiu_sync(w->bytes) : 0;

	swo_tpiu_init(&frames);
	for (size_t i = 0; i < SWO_ROUND_PACKETS; i++) {
		uint8_t one[SWO_PACKET_MAX];
		size_t n;

		swo_draw_packet(r, &w->sent[i]);
		n = swo_put_packet(&page, &w->sent[i], one);
		for (size_t k = 0; k < n; k++) {
			if (framed)
				len += swo_tpiu_put(&frames, 1, one[k], w->bytes + len);
			else
				w->bytes[len++] = one[k];
		}
		if (framed && sim_u64(r) % 4 == 0)
			len += swo_tpiu_put(&frames, 2, (uint8_t)sim_u64(r), w->bytes + len);
	}
	return len + (framed ? swo_tpiu_flush(&frames, w->bytes + len) : 0);
}

/* Sends @n bytes with pauses, and decodes what is seen of them. */
static void transmit(struct swo_round *w, struct sim_random *r, size_t n, double bit, bool told)
{
	const struct line_sink sink = { take_byte, w };
	const struct uart_opts u = { .bit = told ? bit : 0 };
	const struct manchester_opts m = { .bit = told ? bit : 0 };
	struct swo_line l;
	uint64_t end;

	w->n_line = 0;
	w->phase = sim_uniform(r);
	swo_line_init(&l, w->of_manchester, bit, see, w);
	l.free = 100 + 20 * bit;
	uart_init(&w->uart, &u, &sink);
	manchester_init(&w->manchester, &m, &sink);
	see(w, 0, l.level);
	for (size_t i = 0, k; i < n; i += k) {
		k = 1 + sim_u64(r) % 8;
		if (k > n - i)
			k = n - i;
		swo_line_send(&l, l.free + (sim_u64(r) % 2 ? 0 : 20 * bit * sim_uniform(r)),
			      w->bytes + i, k);
	}
	end = (uint64_t)(l.free + 20 * bit);
	if (w->of_manchester)
		manchester_end(&w->manchester, end);
	else
		uart_end(&w->uart, end);
}

static void unframe(struct swo_round *w, bool framed)
{
	const struct tpiu_sink sink = { take_stream, take_hole, w };

	w->n_itm = 0;
	if (!framed) {
		memcpy(w->itm, w->line, w->n_line);
		w->n_itm = w->n_line;
		return;
	}
	tpiu_init(&w->tpiu, &sink);
	for (size_t i = 0; i < w->n_line; i++)
		tpiu_feed(&w->tpiu, w->line[i], i, i);
	tpiu_end(&w->tpiu);
}

static bool same(const struct itm_packet *a, const struct itm_packet *b)
{
	return a->kind == b->kind && a->source == b->source && a->value == b->value &&
	       a->size == b->size;
}

/* Pages are in the numbers of ports. */
static bool compare(struct swo_round *w)
{
	size_t used, k = 0, n;

	itm_init(&w->decoder);
	n = itm_feed(&w->decoder, w->itm, w->n_itm, w->got, 4 * SWO_ROUND_PACKETS, &used);
	for (size_t i = 0; i < n; i++) {
		if (w->got[i].kind == ITM_PAGE)
			continue;
		if (k == SWO_ROUND_PACKETS || !same(&w->got[i], &w->sent[k]))
			break;
		k++;
	}
	if (k == SWO_ROUND_PACKETS && used == w->n_itm)
		return true;
	snprintf(w->why, sizeof(w->why), "packet %zu, a %s, is not what was sent", k,
		 k < SWO_ROUND_PACKETS ? itm_kind_name(w->sent[k].kind) : "further one");
	return false;
}

bool swo_round(struct swo_round *w, uint64_t seed)
{
	struct sim_random r = { seed };
	bool framed = sim_u64(&r) % 2, told = sim_u64(&r) % 2;
	double bit;
	size_t n;

	w->of_manchester = sim_u64(&r) % 2;
	bit = (w->of_manchester ? 6 : 3) * pow(30, sim_uniform(&r));
	n = encode(w, &r, framed);
	transmit(w, &r, n, bit, told);
	if (w->n_line != n || memcmp(w->line, w->bytes, n) != 0) {
		snprintf(w->why, sizeof(w->why),
			 "%s, %.2f ticks a bit, found %.2f: %zu bytes of %zu",
			 w->of_manchester ? "Manchester" : "NRZ", bit,
			 w->of_manchester ? w->manchester.bit : w->uart.bit, w->n_line, n);
		return false;
	}
	unframe(w, framed);
	return compare(w);
}
