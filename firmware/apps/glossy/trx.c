/* SPDX-License-Identifier: MIT */
#include "trx.h"

#include "syncnode/chip.h"

#define PACKET_BYTES (2 + FLOOD_BYTES) /* length, address, payload */
#define MCSM1_TURN 0x0b                /* RXOFF_MODE 2: TX; TXOFF_MODE 3: RX */
#define MARC_RX 0x0d
#define RESET_US 2000
#define RETRY_US 100000
#define CHECK_US 100000 /* between looks at a chip that listens */
#define LAST_BIT_US 4   /* the CRC's verdict is in the FIFO by then */
#define START_US \
	1500 /* IDLE to FSTXON with calibration takes 799 us (table 34), RX from IDLE no more */
#define DISARM_US 50 /* after it the strobe has left */
#define TURN_US 25   /* 22 as the table has it, and some */

static uint32_t now(const struct trx *t)
{
	return t->board->hal->now(t->board->hal->ctx);
}

static uint32_t us(const struct trx *t, uint32_t n)
{
	return t->board->hal->timer_hz / 1000000 * n;
}

static uint32_t ns(const struct trx *t, uint32_t n)
{
	return (uint32_t)((uint64_t)n * t->board->hal->timer_hz / 1000000000);
}

static void enter(struct trx *t, enum trx_state state, uint32_t since, uint32_t wait)
{
	t->state = state;
	t->since = since;
	t->wait = wait;
}

static int due(const struct trx *t)
{
	return (int32_t)(now(t) - t->since - t->wait) >= 0;
}

static void down(struct trx *t, uint32_t *why)
{
	++*why;
	enter(t, TRX_DOWN, now(t), us(t, RETRY_US));
}

static int strobe(struct trx *t, uint8_t which)
{
	return chip_strobe(t->board->hal, which);
}

/* To RX, with nothing in the FIFOs, from whatever it does. */
static void listen(struct trx *t)
{
	uint32_t count;

	if (strobe(t, CC1101_SIDLE) || strobe(t, CC1101_SFRX) || strobe(t, CC1101_SFTX) ||
	    strobe(t, CC1101_SRX)) {
		down(t, &t->absent);
		return;
	}
	t->board->sync(t->board->hal->ctx, &count); /* one that is over */
	enter(t, TRX_LISTENING, now(t), us(t, CHECK_US));
}

static int fill(struct trx *t, const uint8_t *payload, unsigned n)
{
	uint8_t out[1 + PACKET_BYTES] = { RADIO_FIFO | RADIO_BURST, (uint8_t)(1 + n),
					  BEACON_ADDRESS };
	uint8_t in[1 + PACKET_BYTES];

	if (n > FLOOD_BYTES)
		return -1;
	for (unsigned i = 0; i < n; i++)
		out[3 + i] = payload[i];
	return t->board->hal->spi(t->board->hal->ctx, out, in, 3 + n);
}

/* ---- what happens by itself ---- */

static void set_up(struct trx *t)
{
	if (chip_set_up(t->board->hal, t->settings, t->n_settings, &t->version)) {
		down(t, &t->absent);
		return;
	}
	listen(t);
}

/*
 * The packet has ended. Whatever is not whole and of our length is thrown away, and the chip, which
 * turns to TX, called back.
 */
static void take(struct trx *t)
{
	static const uint8_t out[1 + PACKET_BYTES + CC1101_APPENDED] = { RADIO_FIFO | RADIO_BURST |
									 RADIO_READ };
	uint8_t in[sizeof(out)], bytes;

	if (chip_status(t->board->hal, CC1101_RXBYTES, &bytes)) {
		down(t, &t->absent);
		return;
	}
	if (bytes != sizeof(in) - 1 ||
	    t->board->hal->spi(t->board->hal->ctx, out, in, sizeof(in)) ||
	    in[1] != 1 + FLOOD_BYTES || !(in[sizeof(in) - 1] & CC1101_CRC_OK)) {
		t->bad++;
		listen(t);
		return;
	}
	t->event.sent = 0;
	t->event.n = FLOOD_BYTES;
	t->event.count = t->since;
	for (unsigned i = 0; i < FLOOD_BYTES; i++)
		t->event.payload[i] = in[3 + i];
	t->ready = 1;
	t->state = TRX_DECIDING;
}

static void check(struct trx *t)
{
	uint8_t marc;

	if (chip_status(t->board->hal, CC1101_MARCSTATE, &marc))
		down(t, &t->absent);
	else if ((marc & 0x1f) != MARC_RX)
		down(t, &t->stuck);
	else
		enter(t, TRX_LISTENING, now(t), us(t, CHECK_US));
}

static void start(struct trx *t)
{
	uint8_t marc;

	if (chip_status(t->board->hal, CC1101_MARCSTATE, &marc)) {
		down(t, &t->absent);
	} else if ((marc & 0x1f) == MARC_FSTXON) {
		t->board->hal->arm(t->board->hal->ctx, t->strobe, RADIO_STX);
		enter(t, TRX_ARMED, t->strobe, us(t, DISARM_US));
	} else if (due(t)) {
		down(t, &t->stuck);
	}
}

static void disarm(struct trx *t)
{
	int status = t->board->hal->disarm(t->board->hal->ctx);

	/* the status byte is of the moment before the strobe took effect */
	if (status < 0 || RADIO_STATUS_STATE(status) != STATUS_FSTXON)
		down(t, &t->stuck);
	else
		enter(t, TRX_SENDING, t->strobe, ns(t, 2 * (t->sync_ns + t->rest_ns)));
}

void trx_poll(struct trx *t)
{
	uint32_t count;

	switch (t->state) {
	case TRX_DOWN:
		if (!due(t))
			return;
		t->resets++;
		if (strobe(t, CC1101_SRES))
			down(t, &t->absent);
		else
			enter(t, TRX_RESETTING, now(t), us(t, RESET_US));
		return;
	case TRX_RESETTING:
		if (due(t))
			set_up(t);
		return;
	case TRX_LISTENING:
		if (t->board->sync(t->board->hal->ctx, &count))
			enter(t, TRX_HEARING, count, ns(t, t->rest_ns) + us(t, LAST_BIT_US));
		else if (due(t))
			check(t);
		return;
	case TRX_HEARING:
		if (due(t))
			take(t);
		return;
	case TRX_DECIDING: return;
	case TRX_SENDING:
		if (t->board->sync(t->board->hal->ctx, &count))
			/* the chip listens again by itself, and is looked at some time later */
			enter(t, TRX_LISTENING, count, us(t, CHECK_US));
		else if (due(t))
			down(t, &t->stuck);
		return;
	case TRX_STARTING: start(t); return;
	case TRX_ARMED:
		if (due(t))
			disarm(t);
		return;
	}
}

/* ---- what the flood asks for ---- */

static uint32_t hal_now(void *ctx)
{
	return now(ctx);
}

static int hal_pulse(void *ctx, uint32_t *count)
{
	const struct hal *h = ((struct trx *)ctx)->board->hal;

	return h->pulse(h->ctx, count);
}

static void hal_raise(void *ctx, uint32_t count)
{
	const struct trx_board *b = ((struct trx *)ctx)->board;

	b->raise(b->hal->ctx, count);
}

static int hal_send(void *ctx, uint32_t count, const uint8_t *payload, unsigned n)
{
	struct trx *t = ctx;

	if (t->state != TRX_LISTENING && t->state != TRX_HEARING)
		return 0;
	if (strobe(t, CC1101_SIDLE) || strobe(t, CC1101_SFRX) || strobe(t, CC1101_SFTX) ||
	    fill(t, payload, n) || strobe(t, CC1101_SFSTXON)) {
		down(t, &t->absent);
		return 0;
	}
	t->strobe = count;
	enter(t, TRX_STARTING, now(t), us(t, START_US));
	return 1;
}

static int hal_event(void *ctx, struct glossy_event *e)
{
	struct trx *t = ctx;

	trx_poll(t);
	if (!t->ready)
		return 0;
	t->ready = 0;
	*e = t->event;
	return 1;
}

static void hal_answer(void *ctx, const uint8_t *payload, unsigned n)
{
	struct trx *t = ctx;

	if (t->state != TRX_DECIDING)
		return;
	if (!payload)
		listen(t);
	else if (fill(t, payload, n))
		down(t, &t->absent);
	else
		enter(t, TRX_SENDING, t->since,
		      us(t, TURN_US) + ns(t, 2 * (t->sync_ns + t->rest_ns)));
}

static int hal_put(void *ctx, const char *bytes, unsigned n)
{
	const struct hal *h = ((struct trx *)ctx)->board->hal;

	return h->put(h->ctx, bytes, n);
}

static void hal_feed(void *ctx)
{
	const struct hal *h = ((struct trx *)ctx)->board->hal;

	h->feed(h->ctx);
}

static void hal_status(void *ctx, struct lines *l)
{
	const struct trx *t = ctx;
	int absent = t->state <= TRX_RESETTING && (t->version == 0x00 || t->version == 0xff);

	lines_word(l, "radio", absent ? "absent" : t->state <= TRX_RESETTING ? "down" : "up");
	lines_pair(l, "absent", t->absent);
	lines_pair(l, "stuck", t->stuck);
	lines_pair(l, "resets", t->resets);
	lines_pair(l, "bad", t->bad);
}

void trx_hal(struct trx *t, struct glossy_hal *hal)
{
	*hal = (struct glossy_hal){ .ctx = t,
				    .timer_hz = t->board->hal->timer_hz,
				    .now = hal_now,
				    .pulse = hal_pulse,
				    .raise = hal_raise,
				    .send = hal_send,
				    .event = hal_event,
				    .answer = hal_answer,
				    .put = hal_put,
				    .feed = hal_feed,
				    .status = hal_status };
}

const char *trx_init(struct trx *t, const struct trx_board *board,
		     const struct cc1101_profile *profile)
{
	struct cc1101_config config;
	const char *wrong = cc1101_configure(&config, &profile->wanted);
	uint64_t air;

	*t = (struct trx){ .board = board };
	if (wrong)
		return wrong;
	air = cc1101_air_ns(config.reg, 1 + FLOOD_BYTES);
	config.reg[CC1101_MCSM1] = MCSM1_TURN;
	t->n_settings = settings_from(t->settings, &config);
	/* preamble, sync word: 6 bytes of the 8 that a packet has besides what we write */
	t->sync_ns = (uint32_t)(air * 6 / (8 + PACKET_BYTES));
	t->rest_ns = (uint32_t)air - t->sync_ns;
	enter(t, TRX_DOWN, now(t), 0);
	return 0;
}
