/* SPDX-License-Identifier: MIT */
/**
 * A CC1101 that sends one packet at an instant set by a timer. Facts from its data sheet, SWRS061.
 *
 * Between beacons the chip is in IDLE. For a beacon: load, synthesizer on and calibrated (FSTXON,
 * section 19), then the strobe STX by the timer, and after the packet the chip falls back to IDLE
 * by itself (the settings must say so: MCSM1.TXOFF_MODE 0; and MCSM0.FS_AUTOCAL 1, calibration on
 * the way from IDLE to FSTXON).
 *
 * Whatever goes wrong is counted and leads to RADIO_DOWN; radio_poll() then resets the chip and
 * sets it up again. Nothing waits: radio_poll() is called until the state is the wanted one.
 */
#ifndef COEVAL_SYNCNODE_RADIO_H
#define COEVAL_SYNCNODE_RADIO_H

#include "hal.h"

/* Strobes (table 42) and status registers (section 29.3), also for tests. */
enum radio_strobe {
	RADIO_SRES = 0x30,
	RADIO_SFSTXON = 0x31,
	RADIO_STX = 0x35,
	RADIO_SIDLE = 0x36,
	RADIO_SFTX = 0x3b,
	RADIO_SNOP = 0x3d
};

enum radio_register {
	RADIO_PARTNUM = 0x30,
	RADIO_VERSION = 0x31,
	RADIO_MARCSTATE = 0x35,
	RADIO_TXBYTES = 0x3a,
	RADIO_PATABLE = 0x3e,
	RADIO_FIFO = 0x3f
};

#define RADIO_BURST 0x40
#define RADIO_READ 0x80

/* MARCSTATE, section 29.3. */
enum radio_marc { MARC_IDLE = 0x01, MARC_FSTXON = 0x12, MARC_TXFIFO_UNDERFLOW = 0x16 };

/* The state in bits 6..4 of the status byte, section 10.1. */
#define RADIO_STATUS_STATE(status) ((status) >> 4 & 7)
enum radio_status {
	STATUS_IDLE = 0,
	STATUS_TX = 2,
	STATUS_FSTXON = 3,
	STATUS_CALIBRATE = 4,
	STATUS_SETTLING = 5,
	STATUS_TXFIFO_UNDERFLOW = 7
};

#define RADIO_PACKET_MAX 62

/** A register and its value; address RADIO_PATABLE sets the output power. */
struct radio_setting {
	uint8_t address, value;
};

enum radio_state {
	RADIO_DOWN,      /* to be reset */
	RADIO_RESETTING, /* reset was strobed */
	RADIO_IDLE,
	RADIO_PREPARING, /* a packet is loaded, the synthesizer starts */
	RADIO_READY,     /* FSTXON: waits for the strobe */
	RADIO_SENDING
};

struct radio {
	const struct hal *hal;
	const struct radio_setting *settings;
	unsigned n_settings;
	enum radio_state state;
	uint64_t over;  /* count at which a packet under way should have left */
	uint64_t until; /* count by which the state must have ended */
	uint64_t retry; /* count before which no other reset is tried */
	uint8_t version;
	/* what went wrong, how often */
	uint32_t absent;    /* no chip answers, or its registers do not keep what is written */
	uint32_t stuck;     /* a state was not reached in time, or not kept */
	uint32_t underflow; /* the FIFO ran empty */
	uint32_t resets;
};

/** Forget everything; the chip is set up by the next polls. @settings must outlive @r. */
void radio_init(struct radio *r, const struct hal *hal, const struct radio_setting *settings,
		unsigned n_settings);

/**
 * Look at the chip, at count @now. Returns the count at which to look again, or UINT64_MAX: nothing
 * to wait for.
 */
uint64_t radio_poll(struct radio *r, uint64_t now);

/**
 * Load a packet (length byte, address, payload) and start the synthesizer. Returns 1, or 0 if the
 * radio is not in RADIO_IDLE or failed. RADIO_READY follows within a millisecond.
 */
int radio_prepare(struct radio *r, const uint8_t *packet, unsigned n, uint64_t now);

/**
 * The strobe was due; @status is what hal.disarm() returned. The packet should have left at @over
 * and must by @until.
 */
void radio_strobed(struct radio *r, int status, uint64_t over, uint64_t until);

/** Give up what it is doing: back to IDLE, the FIFO flushed. */
void radio_drop(struct radio *r);

#endif
