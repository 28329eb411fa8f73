/* SPDX-License-Identifier: MIT */
#include "sim/devices/cc1101_chip.h"

#include <string.h>

#include "radio/cc1101_config.h"

#define READY_NS 150000     /* crystal start-up, section 4.4 */
#define CALIBRATE_NS 721000 /* table 34, with 26 MHz */
#define SETTLE_NS 75000     /* table 34: IDLE to RX or TX without calibration */
#define TURN_NS 22000       /* RX to TX and back, table 34 */
#define PREAMBLE_BITS 32
#define SYNC_BITS 16

/* Section 29.1. */
static const uint8_t reset_values[CC1101_REGS] = {
	0x29, 0x2e, 0x3f, 0x07, 0xd3, 0x91, 0xff, 0x04, 0x45, 0x00, 0x00, 0x0f,
	0x00, 0x1e, 0xc4, 0xec, 0x8c, 0x22, 0x02, 0x22, 0xf8, 0x47, 0x07, 0x30,
	0x04, 0x36, 0x6c, 0x03, 0x40, 0x91, 0x87, 0x6b, 0xf8, 0x56, 0x10, 0xa9,
	0x0a, 0x20, 0x0d, 0x41, 0x00, 0x59, 0x7f, 0x3f, 0x88, 0x31, 0x0b,
};

static int64_t bits_ns(const struct cc1101_chip *c, unsigned bits)
{
	return (int64_t)((unsigned __int128)bits * 1000000000000u / cc1101_rate_milli(c->reg));
}

static bool function(const struct cc1101_chip *c, int pin)
{
	const uint8_t iocfg = c->reg[pin == 0 ? CC1101_IOCFG0 : CC1101_IOCFG2];
	bool level;

	switch (iocfg & 0x3f) {
	case CC1101_GDO_SYNC: level = c->receiving || c->sending; break;
	case CC1101_GDO_CRC_OK: level = c->crc_pin; break;
	case CC1101_GDO_CHIP_RDYN: level = c->now_ns < c->ready_ns; break;
	default: /* high impedance, and what is not modelled */ return false;
	}
	return level != (iocfg >> 6 & 1);
}

bool chip_pin(const struct cc1101_chip *c, int pin)
{
	return c->pin[pin];
}

static void show_pins(struct cc1101_chip *c)
{
	for (int pin = 0; pin <= 2; pin += 2) {
		bool level = function(c, pin);

		if (level == c->pin[pin])
			continue;
		c->pin[pin] = level;
		if (c->on_pin)
			c->on_pin(c->ctx, pin, level, c->now_ns);
	}
}

void chip_reset(struct cc1101_chip *c, int64_t now_ns)
{
	memcpy(c->reg, reset_values, sizeof(c->reg));
	memset(c->pa, 0, sizeof(c->pa));
	c->pa[0] = 0xc6;
	c->n_rx = c->n_tx = 0;
	c->state = c->next = CC1101_IN_IDLE;
	c->now_ns = now_ns;
	c->ready_ns = c->fault == CHIP_NEVER_READY ? INT64_MAX : now_ns + READY_NS;
	c->until_ns = INT64_MAX;
	c->receiving = c->sending = c->crc_pin = c->wrong_count = false;
	show_pins(c);
}

/* Through calibration or settling to @target (section 19.4, 19.6). */
static void go(struct cc1101_chip *c, enum cc1101_state target)
{
	const bool calibrates = c->state == CC1101_IN_IDLE && (c->reg[CC1101_MCSM0] >> 4 & 3) == 1;

	c->receiving = c->sending = false;
	if (c->state == target && target == CC1101_IN_RX)
		return;
	c->next = target;
	c->until_ns = c->now_ns + (calibrates                 ? CALIBRATE_NS + SETTLE_NS :
				   c->state == CC1101_IN_IDLE ? SETTLE_NS :
								TURN_NS);
	c->state = calibrates ? CC1101_IN_CALIBRATE : CC1101_IN_SETTLING;
}

static void idle(struct cc1101_chip *c)
{
	c->state = CC1101_IN_IDLE;
	c->until_ns = INT64_MAX;
	c->receiving = c->sending = false;
}

/* After a packet: RXOFF_MODE or TXOFF_MODE (section 29.1, MCSM1). */
static void after(struct cc1101_chip *c, unsigned mode, enum cc1101_state was)
{
	static const enum cc1101_state rx_off[] = { CC1101_IN_IDLE, CC1101_IN_FSTXON, CC1101_IN_TX,
						    CC1101_IN_RX };
	static const enum cc1101_state tx_off[] = { CC1101_IN_IDLE, CC1101_IN_FSTXON, CC1101_IN_TX,
						    CC1101_IN_RX };
	enum cc1101_state to = (was == CC1101_IN_RX ? rx_off : tx_off)[mode & 3];

	c->receiving = c->sending = false;
	if (to == CC1101_IN_IDLE)
		idle(c);
	else if (to != was)
		go(c, to);
}

/*
 * A packet begins to leave as soon as the TX FIFO has its first byte; until then the preamble goes
 * on (section 15.4).
 */
static void try_send(struct cc1101_chip *c)
{
	struct chip_air out = { .start_ns = c->now_ns,
				.carrier_milli = cc1101_carrier_milli(c->reg),
				.rate_milli = cc1101_rate_milli(c->reg),
				.sync_word = (uint16_t)(c->reg[CC1101_SYNC1] << 8 |
							c->reg[CC1101_SYNC0]) };
	size_t whole;

	if (c->state != CC1101_IN_TX || c->sending || !c->n_tx)
		return;
	/*
	 * The preamble began with TX, and is as long as it is set, or longer if the first byte was
	 * late.
	 */
	if (c->tx_since_ns > out.start_ns - bits_ns(c, PREAMBLE_BITS))
		out.start_ns = c->tx_since_ns;
	else
		out.start_ns -= bits_ns(c, PREAMBLE_BITS);
	whole = (size_t)c->tx[0] + 1;
	c->sending = true;
	c->next_ns = out.start_ns + (int64_t)cc1101_air_ns(c->reg, c->tx[0]);
	if (whole > c->n_tx) {
		/*
		 * Ends when the FIFO runs dry. Bytes that would be written meanwhile are not
		 * modelled.
		 */
		c->next_ns = out.start_ns +
			     bits_ns(c, PREAMBLE_BITS + SYNC_BITS + 8 * (unsigned)c->n_tx);
		c->next = CC1101_IN_TX_UNDERFLOW;
		return;
	}
	c->next = CC1101_IN_TX;
	memcpy(out.bytes, c->tx, whole);
	out.n = whole;
	c->n_tx -= whole;
	memmove(c->tx, c->tx + whole, c->n_tx);
	if (c->on_sent)
		c->on_sent(c->ctx, &out);
}

static void sent(struct cc1101_chip *c)
{
	if (c->next == CC1101_IN_TX_UNDERFLOW) {
		c->sending = false;
		c->state = CC1101_IN_TX_UNDERFLOW;
		return;
	}
	after(c, c->reg[CC1101_MCSM1], CC1101_IN_TX);
	c->tx_since_ns = c->now_ns;
	try_send(c);
}

static bool hears(const struct cc1101_chip *c, const struct chip_air *a)
{
	const int64_t off = (int64_t)(a->carrier_milli - cc1101_carrier_milli(c->reg));
	const int64_t rate = (int64_t)cc1101_rate_milli(c->reg);
	const int64_t slower = rate - (int64_t)a->rate_milli;

	return c->state == CC1101_IN_RX && !c->receiving &&
	       c->rx_since_ns <= a->start_ns + bits_ns(c, PREAMBLE_BITS / 2) &&
	       /* Half of the filter less the signal's half, nearly. */
	       (off < 0 ? -off : off) <= (int64_t)cc1101_bandwidth_milli(c->reg) / 4 &&
	       (slower < 0 ? -slower : slower) <= rate / 50 &&
	       a->sync_word == (c->reg[CC1101_SYNC1] << 8 | c->reg[CC1101_SYNC0]);
}

/* The sync word of the oldest packet on the air has ended. */
static void arrive(struct cc1101_chip *c)
{
	const struct chip_air a = c->air[0];

	memmove(c->air, c->air + 1, --c->n_air * sizeof(c->air[0]));
	if (!hears(c, &a)) {
		c->ignored++;
		return;
	}
	c->in = a;
	c->at = 0;
	c->receiving = true;
	c->next_ns = c->now_ns + bits_ns(c, 8);
}

static bool push(struct cc1101_chip *c, uint8_t byte)
{
	if (c->n_rx == CC1101_FIFO_BYTES) {
		c->receiving = false;
		c->state = CC1101_IN_RX_OVERFLOW;
		return false;
	}
	c->rx[c->n_rx++] = byte;
	c->wrong_count = c->unsteady;
	return true;
}

static void finish(struct cc1101_chip *c)
{
	c->receiving = false;
	if (c->in.crc_bad && c->reg[CC1101_PKTCTRL1] & 0x08) {
		/*
		 * CRC_AUTOFLUSH takes what else is in the FIFO with it (section 15.3.4 demands one
		 * packet only).
		 */
		c->flushed += c->n_rx;
		c->n_rx = 0;
		c->crc_pin = false;
	} else {
		if (c->reg[CC1101_PKTCTRL1] & 0x04 &&
		    (!push(c, c->in.rssi) ||
		     !push(c, (uint8_t)(c->in.lqi | (c->in.crc_bad ? 0 : CC1101_CRC_OK)))))
			return;
		c->taken += !c->in.crc_bad;
		c->crc_pin = c->crc_pin || !c->in.crc_bad;
	}
	after(c, c->reg[CC1101_MCSM1] >> 2, CC1101_IN_RX);
}

/* Next byte of the packet. Filters first: what they drop does not reach the FIFO (section 15.3). */
static void take(struct cc1101_chip *c)
{
	const uint8_t check = c->reg[CC1101_PKTCTRL1] & 3;
	const size_t body = c->in.n - 1;

	if (c->at == c->in.n) {
		finish(c);
		return;
	}
	if ((c->at == 0 && c->in.bytes[0] > c->reg[CC1101_PKTLEN]) ||
	    (c->at == 1 && check && c->in.bytes[1] != c->reg[CC1101_ADDR] &&
	     !(check >= 2 && c->in.bytes[1] == 0) && !(check == 3 && c->in.bytes[1] == 0xff))) {
		c->receiving = false;
		c->filtered++;
		return;
	}
	/* The length byte waits until the address has been seen. */
	if ((c->at == 1 && check && !push(c, c->in.bytes[0])) ||
	    ((c->at != 0 || !check) && !push(c, c->in.bytes[c->at])))
		return;
	c->at++;
	c->next_ns += bits_ns(c, c->at > body ? 16 : 8);
}

/* When something happens next by itself, and what. */
static int64_t due(const struct cc1101_chip *c, void (**what)(struct cc1101_chip *))
{
	int64_t at = INT64_MAX, sync;

	*what = NULL;
	if (c->receiving || c->sending) {
		at = c->next_ns;
		*what = c->receiving ? take : sent;
	}
	if (c->n_air) {
		sync = c->air[0].start_ns + bits_ns(c, PREAMBLE_BITS + SYNC_BITS);
		if (sync < at) {
			at = sync;
			*what = arrive;
		}
	}
	return at;
}

void chip_advance(struct cc1101_chip *c, int64_t now_ns)
{
	for (;;) {
		void (*what)(struct cc1101_chip *);
		int64_t at = due(c, &what);

		if (c->until_ns < at && c->until_ns <= now_ns) {
			c->now_ns = c->until_ns > c->now_ns ? c->until_ns : c->now_ns;
			c->until_ns = INT64_MAX;
			c->state = c->next;
			if (c->state == CC1101_IN_RX)
				c->rx_since_ns = c->now_ns;
			if (c->state == CC1101_IN_TX)
				c->tx_since_ns = c->now_ns;
			try_send(c);
		} else if (what && at <= now_ns) {
			c->now_ns = at > c->now_ns ? at : c->now_ns;
			what(c);
		} else {
			break;
		}
		show_pins(c);
	}
	if (now_ns > c->now_ns)
		c->now_ns = now_ns;
	show_pins(c);
}

bool chip_hear(struct cc1101_chip *c, const struct chip_air *air)
{
	size_t i = c->n_air;

	if (c->n_air == CHIP_AIR_MOST || air->n == 0 || air->n > CC1101_FIFO_BYTES ||
	    (size_t)air->bytes[0] + 1 != air->n)
		return false;
	while (i && c->air[i - 1].start_ns > air->start_ns) {
		c->air[i] = c->air[i - 1];
		i--;
	}
	c->air[i] = *air;
	c->n_air++;
	return true;
}

static void strobe(struct cc1101_chip *c, uint8_t which)
{
	if (c->fault == CHIP_STUCK && which != CC1101_SRES)
		return;
	switch (which) {
	case CC1101_SRES: chip_reset(c, c->now_ns); break;
	case CC1101_SRX:
	case CC1101_STX:
	case CC1101_SFSTXON:
		/* Not out of overflow and underflow: they end by a flush (section 19.8). */
		if (c->state < CC1101_IN_CALIBRATE)
			go(c, which == CC1101_SRX ? CC1101_IN_RX :
			      which == CC1101_STX ? CC1101_IN_TX :
						    CC1101_IN_FSTXON);
		break;
	case CC1101_SCAL:
		if (c->state == CC1101_IN_IDLE) {
			c->state = CC1101_IN_CALIBRATE;
			c->next = CC1101_IN_IDLE;
			c->until_ns = c->now_ns + CALIBRATE_NS;
		}
		break;
	case CC1101_SIDLE:
		if (c->state < CC1101_IN_RX_OVERFLOW)
			idle(c);
		break;
	case CC1101_SFRX:
		if (c->state == CC1101_IN_IDLE || c->state == CC1101_IN_RX_OVERFLOW) {
			c->n_rx = 0;
			c->crc_pin = false;
			idle(c);
		}
		break;
	case CC1101_SFTX:
		if (c->state == CC1101_IN_IDLE || c->state == CC1101_IN_TX_UNDERFLOW) {
			c->n_tx = 0;
			idle(c);
		}
		break;
	default: /* SNOP, and what is not modelled */ break;
	}
}

static uint8_t read_fifo(struct cc1101_chip *c)
{
	uint8_t byte;

	if (!c->n_rx)
		return 0;
	byte = c->rx[0];
	memmove(c->rx, c->rx + 1, --c->n_rx);
	c->crc_pin = false;
	if (!c->n_rx && c->receiving && c->at) {
		c->rx[c->n_rx++] = byte;
		c->duplicated++;
	}
	return byte;
}

static uint8_t marcstate(const struct cc1101_chip *c)
{
	static const uint8_t of[] = { CC1101_MARC_IDLE,        CC1101_MARC_RX,
				      CC1101_MARC_TX,          CC1101_MARC_FSTXON,
				      0x08 /* STARTCAL */,     0x0a /* FS_LOCK */,
				      CC1101_MARC_RX_OVERFLOW, CC1101_MARC_TX_UNDERFLOW };

	return of[c->state];
}

static uint8_t read_status(struct cc1101_chip *c, uint8_t at)
{
	size_t n = c->n_rx;

	switch (at) {
	case CC1101_VERSION: return 0x14;
	case CC1101_LQI: return (uint8_t)(c->in.lqi | (c->in.crc_bad ? 0 : CC1101_CRC_OK));
	case CC1101_RSSI: return c->in.rssi;
	case CC1101_MARCSTATE: return marcstate(c);
	case CC1101_PKTSTATUS:
		return (uint8_t)((c->pin[0] ? CC1101_PKT_GDO0 : 0) | (c->pin[2] ? 0x04 : 0) |
				 (c->receiving ? CC1101_PKT_SFD : 0));
	case CC1101_TXBYTES:
		return (uint8_t)(c->n_tx | (c->state == CC1101_IN_TX_UNDERFLOW ? 0x80 : 0));
	case CC1101_RXBYTES:
		if (c->wrong_count && n > 1)
			n ^= 1;
		c->wrong_count = false;
		return (uint8_t)(n | (c->state == CC1101_IN_RX_OVERFLOW ? 0x80 : 0));
	default: /* PARTNUM is 0 */ return 0;
	}
}

static uint8_t chip_status(const struct cc1101_chip *c, uint8_t header)
{
	const size_t n = header & CC1101_READ ? c->n_rx : CC1101_FIFO_BYTES - c->n_tx;
	const bool not_ready = c->now_ns < c->ready_ns;

	return (uint8_t)((not_ready ? CC1101_STATUS_NOT_READY : 0) | c->state << 4 |
			 (n < 15 ? n : 15));
}

static uint8_t access_one(struct cc1101_chip *c, uint8_t header, uint8_t at, uint8_t value)
{
	const bool reads = header & CC1101_READ;

	if (at == CC1101_FIFO && reads)
		return read_fifo(c);
	if (at == CC1101_FIFO) {
		if (c->n_tx < CC1101_FIFO_BYTES)
			c->tx[c->n_tx++] = value;
		return chip_status(c, header);
	}
	if (at >= CC1101_REGS)
		return read_status(c, at);
	if (reads)
		return c->reg[at];
	c->reg[at] = value;
	return chip_status(c, header);
}

int chip_transfer(void *chip, const uint8_t *tx, uint8_t *rx, size_t n)
{
	struct cc1101_chip *c = chip;
	uint8_t header = 0, at = 0;
	bool in_access = false;
	size_t pa = 0;

	for (size_t i = 0; i < n; i++) {
		const uint8_t mosi = c->fault == CHIP_DEAF ? CC1101_SNOP : tx[i];
		uint8_t miso = 0;

		chip_advance(c, c->now_ns + c->spi_byte_ns);
		if (in_access) {
			if (at == CC1101_PATABLE) {
				miso = c->pa[pa % 8];
				if (!(header & CC1101_READ))
					c->pa[pa % 8] = mosi;
				pa++;
			} else {
				miso = access_one(c, header, at, mosi);
			}
			in_access = header & CC1101_BURST;
			if (at < CC1101_REGS - 1)
				at++;
		} else {
			header = mosi;
			at = header & CC1101_ADDRESS_BITS;
			miso = chip_status(c, header);
			/*
			 * 30 to 3D are strobes, or with the burst bit status registers (section
			 * 10.4).
			 */
			if (at >= CC1101_SRES && at <= CC1101_SNOP && !(header & CC1101_BURST))
				strobe(c, at);
			else
				in_access = true;
		}
		if (c->fault == CHIP_DEAD_LOW || c->fault == CHIP_DEAD_HIGH)
			miso = c->fault == CHIP_DEAD_LOW ? 0 : 0xff;
		rx[i] = miso;
		show_pins(c);
	}
	try_send(c);
	show_pins(c);
	return 0;
}
