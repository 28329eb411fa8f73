/* SPDX-License-Identifier: MIT */
#include "capture/drivers/cc1101/spi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READY_TRIES 20
#define STEADY_TRIES 8
#define START_TRIES 20
/*
 * The synthesizer drifts with temperature and should be recalibrated regularly (SWRS061I, 22.1);
 * leaving IDLE does it. With a beacon a second that is one calibration in five minutes; each takes
 * 0.8 ms.
 */
#define CALIBRATE_DRAINS 300

struct cc1101 {
	struct cc1101_bus bus;
	struct cc1101_config config;
	struct packets packets;
	struct cc1101_counters count;
	unsigned packet_us; /* time on the air of the longest packet */
	unsigned byte_us;
	char where[64];
};

static int transfer(struct cc1101 *r, const uint8_t *tx, uint8_t *rx, size_t n,
		    struct cvl_error *err)
{
	if (r->bus.transfer(r->bus.ctx, tx, rx, n))
		return cvl_fail_errno(err, "talk to the radio at", r->where);
	return 0;
}

/* Returns the chip status byte. */
static int strobe(struct cc1101 *r, uint8_t which, struct cvl_error *err)
{
	uint8_t status;
	int rc = transfer(r, &which, &status, 1, err);

	return rc ? rc : status;
}

static int read_once(struct cc1101 *r, uint8_t header, struct cvl_error *err)
{
	const uint8_t tx[2] = { header, 0 };
	uint8_t rx[2];
	int rc = transfer(r, tx, rx, 2, err);

	return rc ? rc : rx[1];
}

/*
 * A status register that the radio changes by itself is valid when it reads the same twice
 * (SWRZ020).
 */
static int read_steady(struct cc1101 *r, enum cc1101_status reg, struct cvl_error *err)
{
	const uint8_t header = (uint8_t)(reg | CC1101_READ | CC1101_BURST);
	int last = read_once(r, header, err);

	for (int i = 0; last >= 0 && i < STEADY_TRIES; i++) {
		int now = read_once(r, header, err);

		if (now == last || now < 0)
			return now;
		r->count.unsteady++;
		last = now;
	}
	return last < 0 ?
		       last :
		       cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: the radio's status %02x never reads the same twice: look for "
				"loose or long wires",
				r->where, reg);
}

static int read_fifo(struct cc1101 *r, uint8_t *to, size_t n, struct cvl_error *err)
{
	uint8_t tx[1 + CC1101_FIFO_BYTES] = { CC1101_FIFO | CC1101_READ | CC1101_BURST };
	uint8_t rx[1 + CC1101_FIFO_BYTES];
	int rc = transfer(r, tx, rx, 1 + n, err);

	if (!rc)
		memcpy(to, rx + 1, n);
	return rc;
}

static int reset(struct cc1101 *r, struct cvl_error *err)
{
	int status;

	/* SWRS061I, 19.1.2: select and release, 40 us, then SRES; ready within about 0.2 ms. */
	if ((status = strobe(r, CC1101_SNOP, err)) < 0)
		return status;
	r->bus.wait(r->bus.ctx, 50);
	if ((status = strobe(r, CC1101_SRES, err)) < 0)
		return status;
	for (int i = 0; i < READY_TRIES; i++) {
		r->bus.wait(r->bus.ctx, 200);
		if ((status = strobe(r, CC1101_SNOP, err)) < 0)
			return status;
		if (!(status & CC1101_STATUS_NOT_READY))
			return 0;
	}
	return cvl_fail(
		err, CVL_E_ENV, CVL_NO_OFFSET,
		status == 0xff ?
			"%s: no radio answers, the line MISO stays high: look for SO of the CC1101 "
			"at MISO, its power (3.3 V) and its chip select" :
			"%s: the radio does not become ready (status %02x): look at its power "
			"and its 26 MHz crystal",
		r->where, (unsigned)status);
}

static int check_chip(struct cc1101 *r, struct cvl_error *err)
{
	int part = read_once(r, CC1101_PARTNUM | CC1101_READ | CC1101_BURST, err), version;

	if (part < 0)
		return part;
	version = read_once(r, CC1101_VERSION | CC1101_READ | CC1101_BURST, err);
	if (version < 0)
		return version;
	if (version == 0 || version == 0xff)
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no radio answers (part %02x, version %02x): look for SO at MISO, SI at "
			"MOSI, SCLK, CSn at the chip select of this device, power and ground",
			r->where, part, version);
	if (part != 0)
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: this is no CC1101, or SI is not at MOSI (part %02x, version %02x; "
			"a CC1101 has part 00)",
			r->where, part, version);
	return 0;
}

static int write_config(struct cc1101 *r, struct cvl_error *err)
{
	uint8_t tx[1 + CC1101_REGS] = { CC1101_BURST }, rx[1 + CC1101_REGS];
	const uint8_t pa[2] = { CC1101_PATABLE, r->config.power };
	int rc;

	memcpy(tx + 1, r->config.reg, CC1101_REGS);
	if ((rc = transfer(r, tx, rx, sizeof(tx), err)) || (rc = transfer(r, pa, rx, 2, err)))
		return rc;
	tx[0] = CC1101_READ | CC1101_BURST;
	if ((rc = transfer(r, tx, rx, sizeof(tx), err)))
		return rc;
	for (unsigned i = 0; i < CC1101_REGS; i++)
		/*
		 * What calibration measures, and FSTEST and the like, which are for tests only, may
		 * differ.
		 */
		if (rx[1 + i] != r->config.reg[i] && (i < CC1101_FSCAL3 || i > CC1101_AGCTEST))
			return cvl_fail(
				err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: the radio's register %s was written as %02x and reads %02x: "
				"look for SI at MOSI, short wires, and that nothing else uses "
				"this device",
				r->where, cc1101_reg_name(i), r->config.reg[i], rx[1 + i]);
	return 0;
}

/* From any state to RX with an empty FIFO. */
static int receive(struct cc1101 *r, struct cvl_error *err)
{
	int status;

	if ((status = strobe(r, CC1101_SIDLE, err)) < 0 ||
	    (status = strobe(r, CC1101_SFRX, err)) < 0 || (status = strobe(r, CC1101_SRX, err)) < 0)
		return status;
	for (int i = 0; i < START_TRIES; i++) {
		r->bus.wait(r->bus.ctx, 200);
		if ((status = strobe(r, CC1101_SNOP, err)) < 0)
			return status;
		if (CC1101_STATUS_STATE(status) == CC1101_IN_RX)
			return 0;
	}
	return cvl_fail(
		err, CVL_E_ENV, CVL_NO_OFFSET,
		"%s: the radio does not begin to receive (state %d): switch its power off and on",
		r->where, CC1101_STATUS_STATE(status));
}

int cc1101_open_bus(struct cc1101 **out, const struct cc1101_bus *bus, const char *where,
		    const struct cc1101_profile *profile, struct cvl_error *err)
{
	struct cc1101 *r = calloc(1, sizeof(*r));
	const char *why;
	int rc;

	*out = NULL;
	if (!r) {
		if (bus->close)
			bus->close(bus->ctx);
		return cvl_no_memory(err);
	}
	r->bus = *bus;
	strncpy(r->where, where, sizeof(r->where) - 1);
	packets_init(&r->packets);
	why = cc1101_configure(&r->config, &profile->wanted);
	if (why) {
		rc = cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET, "profile %s: %s",
			      profile->name, why);
		goto fail;
	}
	r->packet_us = (unsigned)(cc1101_air_ns(r->config.reg, profile->wanted.length) / 1000) + 1;
	r->byte_us = (unsigned)(8000000000u / cc1101_rate_milli(r->config.reg)) + 1;
	if ((rc = reset(r, err)) || (rc = check_chip(r, err)) || (rc = write_config(r, err)) ||
	    (rc = receive(r, err)))
		goto fail;
	*out = r;
	return 0;
fail:
	cc1101_close(r);
	return rc;
}

/*
 * Do not read the last bytes of the first packet, or the FIFO would be empty while another arrives:
 * wait for its first byte.
 */
static int read_last(struct cc1101 *r, uint8_t *to, size_t n, struct cvl_error *err)
{
	int rc = n > 1 ? read_fifo(r, to, n - 1, err) : 0, state, left;

	for (unsigned us = 0; !rc && us <= r->packet_us; us += r->byte_us) {
		if ((state = read_steady(r, CC1101_PKTSTATUS, err)) < 0)
			return state;
		if ((left = read_steady(r, CC1101_RXBYTES, err)) < 0)
			return left;
		if (!(state & CC1101_PKT_SFD) || (left & CC1101_BYTES_COUNT) != 1)
			break;
		r->bus.wait(r->bus.ctx, r->byte_us);
	}
	return rc ? rc : read_fifo(r, to + n - 1, 1, err);
}

/*
 * Take one packet from a FIFO of @have bytes that begins with a complete one. Sets *used, 0 if the
 * FIFO is inconsistent: then it is unknown where its packets begin.
 */
static int take_packet(struct cc1101 *r, size_t have, uint8_t *to, size_t *used,
		       struct cvl_error *err)
{
	size_t whole;
	int rc;

	*used = 0;
	if (have < 1 + CC1101_APPENDED)
		return 0;
	if ((rc = read_fifo(r, to, 1, err)))
		return rc;
	whole = 1u + to[0] + CC1101_APPENDED;
	if (to[0] == 0 || whole > have)
		return 0;
	if ((rc = read_last(r, to + 1, whole - 1, err)))
		return rc;
	*used = whole;
	return 0;
}

/*
 * Bytes in the FIFO that may be read: once GDO0 is high, since it then begins with a complete
 * packet, or once none is arriving, at most a packet's time from now. Returns RXBYTES.
 */
static int settled(struct cc1101 *r, struct cvl_error *err)
{
	int before = -1, status, bytes = 0;

	for (unsigned us = 0; us <= r->packet_us;) {
		if ((status = read_steady(r, CC1101_PKTSTATUS, err)) < 0)
			return status;
		if ((bytes = read_steady(r, CC1101_RXBYTES, err)) < 0)
			return bytes;
		/* Before and after a look that saw no packet arriving: none began in between. */
		if (status & CC1101_PKT_GDO0 || (!(status & CC1101_PKT_SFD) && bytes == before))
			return bytes;
		before = bytes;
		if (status & CC1101_PKT_SFD) {
			r->bus.wait(r->bus.ctx, r->byte_us);
			us += r->byte_us;
		} else {
			us++;
		}
	}
	return bytes;
}

static int restart(struct cc1101 *r, struct cvl_error *err)
{
	r->count.restarts++;
	return receive(r, err);
}

/* After a drain that left the FIFO empty: is it still receiving, is it time to calibrate? */
static int tend(struct cc1101 *r, struct cvl_error *err)
{
	int status = strobe(r, CC1101_SNOP, err), packet;

	if (status < 0)
		return status;
	if (CC1101_STATUS_STATE(status) != CC1101_IN_RX &&
	    CC1101_STATUS_STATE(status) != CC1101_IN_CALIBRATE &&
	    CC1101_STATUS_STATE(status) != CC1101_IN_SETTLING)
		return restart(r, err);
	if (r->count.drains % CALIBRATE_DRAINS)
		return 0;
	packet = read_steady(r, CC1101_PKTSTATUS, err);
	if (packet < 0 || packet & CC1101_PKT_SFD)
		return packet < 0 ? packet : 0;
	r->count.calibrations++;
	return receive(r, err);
}

int cc1101_drain(struct cc1101 *r, struct beacon_heard *list, size_t max, struct cvl_error *err)
{
	uint8_t packet[CC1101_FIFO_BYTES];
	size_t got = 0, taken = 0, used;
	bool overflow = false;
	int rc, bytes;

	r->count.drains++;
	while (got < max && taken < 2 * CC1101_FIFO_BYTES) {
		if ((bytes = settled(r, err)) < 0)
			return bytes;
		overflow = overflow || bytes & CC1101_BYTES_OVERFLOW;
		if (!(bytes & CC1101_BYTES_COUNT))
			break;
		if ((rc = take_packet(r, (size_t)bytes & CC1101_BYTES_COUNT, packet, &used, err)))
			return rc;
		if (!used) {
			/*
			 * The packet that overflowed is truncated; anything else is inconsistent.
			 */
			r->packets.count.truncated++;
			r->packets.count.overflows += overflow;
			rc = restart(r, err);
			return rc ? rc : (int)got;
		}
		taken += used;
		got += packets_read(&r->packets, packet, used, list + got, max - got, NULL);
	}
	r->packets.count.overflows += overflow;
	if (got == max)
		return (int)got;
	rc = overflow ? restart(r, err) : tend(r, err);
	return rc ? rc : (int)got;
}

void cc1101_counters(const struct cc1101 *r, struct cc1101_counters *counters)
{
	*counters = r->count;
	counters->packets = r->packets.count;
}

const struct cc1101_config *cc1101_config_of(const struct cc1101 *r)
{
	return &r->config;
}

bool cc1101_twins(const struct cc1101 *r, uint16_t sender)
{
	return packet_twins(&r->packets, sender);
}

void cc1101_close(struct cc1101 *r)
{
	if (!r)
		return;
	/* Off the air; a failure no longer matters. */
	strobe(r, CC1101_SIDLE, NULL);
	if (r->bus.close)
		r->bus.close(r->bus.ctx);
	free(r);
}
