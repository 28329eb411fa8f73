/* SPDX-License-Identifier: MIT */
#include "radio.h"

#include "chip.h"

#define RESET_US 2000   /* far beyond the crystal's start, 150 us in table 13 */
#define PREPARE_US 3000 /* IDLE to FSTXON with calibration takes 799 us, table 34 */
#define LOOK_US 200
#define RETRY_US 100000

static uint64_t us(const struct radio *r, uint32_t n)
{
	return (uint64_t)r->hal->timer_hz / 1000000 * n;
}

static void enter(struct radio *r, enum radio_state state, uint64_t until)
{
	r->state = state;
	r->until = until;
}

static void down(struct radio *r, uint32_t *why)
{
	++*why;
	enter(r, RADIO_DOWN, UINT64_MAX);
}

void radio_init(struct radio *r, const struct hal *hal, const struct radio_setting *settings,
		unsigned n_settings)
{
	*r = (struct radio){ .hal = hal, .settings = settings, .n_settings = n_settings };
}

/* In the middle of something: has the chip come to @wanted? */
static void look(struct radio *r, uint64_t now, uint8_t wanted, enum radio_state next)
{
	uint8_t marc, left = 0;

	if (chip_status(r->hal, RADIO_MARCSTATE, &marc)) {
		down(r, &r->absent);
		return;
	}
	marc &= 0x1f;
	if (marc == MARC_TXFIFO_UNDERFLOW) {
		down(r, &r->underflow);
	} else if (marc == wanted) {
		enter(r, next, UINT64_MAX);
		/* all of the packet must have left */
		if (next == RADIO_IDLE && (chip_status(r->hal, RADIO_TXBYTES, &left) || left))
			down(r, left & 0x80 ? &r->underflow : &r->stuck);
	} else if (now >= r->until) {
		down(r, &r->stuck);
	}
}

uint64_t radio_poll(struct radio *r, uint64_t now)
{
	switch (r->state) {
	case RADIO_DOWN:
		if (now < r->retry)
			return r->retry;
		r->retry = now + us(r, RETRY_US);
		r->resets++;
		if (chip_strobe(r->hal, RADIO_SRES)) {
			down(r, &r->absent);
			return r->retry;
		}
		enter(r, RADIO_RESETTING, now + us(r, RESET_US));
		return r->until;
	case RADIO_RESETTING:
		if (now < r->until)
			return r->until;
		if (chip_set_up(r->hal, r->settings, r->n_settings, &r->version)) {
			down(r, &r->absent);
			return r->retry;
		}
		enter(r, RADIO_IDLE, UINT64_MAX);
		return UINT64_MAX;
	case RADIO_PREPARING: look(r, now, MARC_FSTXON, RADIO_READY); break;
	case RADIO_SENDING:
		if (now < r->over)
			return r->over;
		look(r, now, MARC_IDLE, RADIO_IDLE);
		break;
	case RADIO_IDLE:
	case RADIO_READY: return UINT64_MAX;
	}
	return r->state == RADIO_IDLE || r->state == RADIO_READY ? UINT64_MAX :
								   now + us(r, LOOK_US);
}

int radio_prepare(struct radio *r, const uint8_t *packet, unsigned n, uint64_t now)
{
	uint8_t out[RADIO_PACKET_MAX + 1] = { RADIO_FIFO | RADIO_BURST }, in[RADIO_PACKET_MAX + 1];
	uint8_t marc;

	if (r->state != RADIO_IDLE || n > RADIO_PACKET_MAX)
		return 0;
	for (unsigned i = 0; i < n; i++)
		out[i + 1] = packet[i];
	/*
	 * A chip that lost its supply for a moment would send on another frequency, so look before
	 * each packet. SFTX is allowed in IDLE only (table 42), which the chip may have left by
	 * itself.
	 */
	if (chip_status(r->hal, RADIO_MARCSTATE, &marc) ||
	    !chip_holds(r->hal, r->settings, r->n_settings)) {
		down(r, &r->absent);
		return 0;
	}
	if ((marc & 0x1f) != MARC_IDLE) {
		down(r, &r->stuck);
		return 0;
	}
	if (chip_strobe(r->hal, RADIO_SFTX) || r->hal->spi(r->hal->ctx, out, in, n + 1) ||
	    chip_strobe(r->hal, RADIO_SFSTXON)) {
		down(r, &r->absent);
		return 0;
	}
	enter(r, RADIO_PREPARING, now + us(r, PREPARE_US));
	return 1;
}

void radio_strobed(struct radio *r, int status, uint64_t over, uint64_t until)
{
	r->over = over;
	/* the status byte is of the moment before the strobe took effect */
	if (status < 0 || RADIO_STATUS_STATE(status) != STATUS_FSTXON)
		down(r, &r->stuck);
	else
		enter(r, RADIO_SENDING, until);
}

void radio_drop(struct radio *r)
{
	if (r->state < RADIO_PREPARING)
		return;
	if (chip_strobe(r->hal, RADIO_SIDLE) || chip_strobe(r->hal, RADIO_SFTX))
		down(r, &r->absent);
	else
		enter(r, RADIO_IDLE, UINT64_MAX);
}
