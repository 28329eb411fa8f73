/* SPDX-License-Identifier: MIT */
#include "sim/devices/syncnode_host.h"

#include <math.h>
#include <stdbool.h>

#define NEVER HUGE_VAL

struct host {
	const struct syncnode_world *w;
	struct syncnode node;
	double t;    /* true time now */
	double base; /* whole counts when the node was turned on: its timer begins at 0 */

	bool armed;
	uint64_t strobe_count; /* 64 bits, as strobe_at() found */
	double strobe_t;
	uint8_t strobe;
	int status; /* answer to the strobe, or -1 */

	uint8_t fifo[RADIO_PACKET_MAX + 2]; /* as written over SPI */
	unsigned in_fifo;

	bool captured;
	uint32_t capture;
	double next_pulse;

	size_t line;      /* next to come */
	const char *text; /* rest of the one that came */

	void (*sent)(void *ctx, double t_ns, const uint8_t *packet, size_t n);
	void *ctx;
};

static double counts_at(const struct host *h, double t)
{
	const struct syncnode_world *w = h->w;

	return w->counts ? w->counts(w->ctx, t) - h->base : (t - w->begin_ns) * 1e-9 * w->timer_hz;
}

/*
 * True time at which the timer comes to @count, not before now: by the nominal rate, which clocks
 * nearly have, and by halving for clocks that jump or stand.
 */
static double when(const struct host *h, double count)
{
	double ns = 1e9 / h->w->timer_hz, t = h->t, low = h->t, high;

	for (int i = 0; i < 12; i++) {
		double off = count - counts_at(h, t);

		if (fabs(off) < 1e-4)
			return t > h->t ? t : h->t;
		t += off * ns;
	}
	for (high = h->t + 1e6; counts_at(h, high) < count; high += high - low)
		if (high > h->w->begin_ns + 2 * h->w->duration_ns + 1e12)
			return NEVER;
	while (high - low > 1e-3 && low < high) {
		double mid = low + (high - low) / 2;

		if (mid <= low || mid >= high)
			break;
		if (counts_at(h, mid) < count)
			low = mid;
		else
			high = mid;
	}
	return high;
}

/*
 * The count now, 64 bits. Rounding in when() must not leave the timer one short of where it was
 * waited for.
 */
static uint64_t count_now(const struct host *h)
{
	return (uint64_t)floor(counts_at(h, h->t) + 1e-3);
}

static uint32_t host_now(void *ctx)
{
	return (uint32_t)count_now(ctx);
}

static int transfer(struct host *h, const uint8_t *out, uint8_t *in, unsigned n)
{
	int rc = h->w->spi(h->w->ctx, h->t, out, in, n);

	if (rc)
		return rc;
	if (n && out[0] == RADIO_SFTX) {
		h->in_fifo = 0;
	} else if (n && out[0] == (RADIO_FIFO | RADIO_BURST)) {
		for (unsigned i = 1; i < n && h->in_fifo < sizeof(h->fifo); i++)
			h->fifo[h->in_fifo++] = out[i];
	}
	return 0;
}

static int host_spi(void *ctx, const uint8_t *out, uint8_t *in, unsigned n)
{
	return transfer(ctx, out, in, n);
}

static void host_arm(void *ctx, uint32_t count, uint8_t strobe)
{
	struct host *h = ctx;
	uint64_t now = count_now(h);

	h->armed = true;
	h->strobe = strobe;
	h->status = -1;
	h->strobe_count = now + (uint32_t)(count - (uint32_t)now);
	h->strobe_t = when(h, (double)h->strobe_count);
}

static int host_disarm(void *ctx)
{
	struct host *h = ctx;

	h->armed = false;
	return h->status;
}

static int host_pulse(void *ctx, uint32_t *count)
{
	struct host *h = ctx;

	*count = h->capture;
	if (!h->captured)
		return 0;
	h->captured = false;
	return 1;
}

static int host_get(void *ctx, uint8_t *byte)
{
	struct host *h = ctx;

	if (!h->text)
		return 0;
	*byte = (uint8_t)*h->text++;
	if (!*byte) {
		*byte = '\n';
		h->text = NULL;
	}
	return 1;
}

static int host_put(void *ctx, const char *bytes, unsigned n)
{
	struct host *h = ctx;

	if (h->w->text)
		h->w->text(h->w->ctx, h->t, bytes, n);
	return 1;
}

static void host_feed(void *ctx)
{
	struct host *h = ctx;

	if (h->w->fed)
		h->w->fed(h->w->ctx, h->t);
}

/* The timer came to the armed count. */
static void fire(struct host *h)
{
	uint8_t in = 0;

	h->strobe_t = NEVER;
	if (transfer(h, &h->strobe, &in, 1))
		return;
	h->status = in;
	if (RADIO_STATUS_STATE(in) == STATUS_FSTXON && h->in_fifo && h->sent)
		h->sent(h->ctx, h->t, h->fifo, h->in_fifo);
}

static void find_pulse(struct host *h)
{
	if (!h->w->pulse || !h->w->pulse(h->w->ctx, h->t, &h->next_pulse))
		h->next_pulse = NEVER;
}

/* Go to the next thing that happens, @wake at the latest, and let it happen. */
static void advance(struct host *h, double wake)
{
	const struct syncnode_world *w = h->w;
	double line = h->line < w->n_lines && !h->text ? w->lines[h->line].t_ns : NEVER;
	double t = fmin(fmin(wake, line), fmin(h->next_pulse, h->armed ? h->strobe_t : NEVER));

	if (t > h->t)
		h->t = t;
	if (h->armed && h->strobe_t <= h->t)
		fire(h);
	if (h->next_pulse <= h->t) {
		h->captured = true;
		h->capture = (uint32_t)count_now(h);
		find_pulse(h);
	}
	if (line <= h->t)
		h->text = w->lines[h->line++].text;
}

int syncnode_run(const struct syncnode_world *w,
		 void (*sent)(void *ctx, double t_ns, const uint8_t *packet, size_t n), void *ctx,
		 struct syncnode *end)
{
	struct host h = { .w = w, .t = w->begin_ns, .strobe_t = NEVER, .sent = sent, .ctx = ctx };
	const struct hal hal = {
		.ctx = &h,
		.timer_hz = w->timer_hz,
		.now = host_now,
		.arm = host_arm,
		.disarm = host_disarm,
		.spi = host_spi,
		.pulse = host_pulse,
		.get = host_get,
		.put = host_put,
		.feed = host_feed,
	};
	if (w->counts)
		h.base = floor(w->counts(w->ctx, w->begin_ns));
	find_pulse(&h);
	if (syncnode_init(&h.node, &hal, &w->config))
		return -1;
	while (h.t < w->begin_ns + w->duration_ns) {
		uint64_t wake = syncnode_poll(&h.node);
		uint64_t now = count_now(&h);

		advance(&h, wake <= now ? when(&h, (double)(now + 1)) : when(&h, (double)wake));
	}
	if (end) {
		*end = h.node;
		end->hal = NULL; /* it lay on this stack */
		end->radio.hal = NULL;
	}
	return 0;
}
