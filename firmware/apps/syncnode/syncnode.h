/* SPDX-License-Identifier: MIT */
/**
 * A sync node: sends beacons at instants that its timer sets, and follows a 1-PPS if there is one.
 *
 * One object, one function called again and again, no allocation, no waiting. Commands and status
 * over the UART are described in docs/hardware.md.
 *
 * The schedule never slips: a beacon that cannot be sent, for whatever reason, counts as due all
 * the same, and the watchdog is fed when a beacon has come due, and at no other time.
 */
#ifndef COEVAL_SYNCNODE_H
#define COEVAL_SYNCNODE_H

#include "command.h"
#include "discipline.h"
#include "hal.h"
#include "radio.h"
#include "schedule.h"

#include "wire/beacon.h"

struct syncnode_config {
	struct schedule schedule;
	uint16_t id;     /* 1 and up */
	uint8_t version; /* of the payload: 0 Grace's, or BEACON_VERSION */
	uint32_t baud;   /* of the radio, as its settings have it */
	/* from the timer's compare to the first bit of the preamble, the same for every beacon */
	uint32_t strobe_ns;
	struct discipline_limits limits;
	const struct radio_setting *settings;
	unsigned n_settings;
};

enum syncnode_phase {
	SYNCNODE_WAITING, /* for the time to prepare */
	SYNCNODE_PREPARING,
	SYNCNODE_ARMED
};

struct syncnode {
	const struct hal *hal;
	struct syncnode_config config;
	struct discipline own;
	struct radio radio;
	struct command_line line;
	uint64_t line_began; /* count at the first byte of the line coming in */
	uint64_t count;      /* now */

	enum syncnode_phase phase;
	int64_t due_ns;         /* own time of the next beacon */
	int stepped;            /* own time stepped, so that the next one is to be planned anew */
	uint64_t due;           /* and the count at which to strobe; final once it is prepared */
	uint32_t sequence;      /* of the next beacon */
	uint32_t sent;          /* strobed, and sent according to the radio */
	uint32_t missed;        /* could not be sent */
	uint32_t silent;        /* were not to be sent */
	const char *why_silent; /* or NULL */
	uint8_t packet[2 + BEACON_BYTES];
	unsigned packet_bytes;

	int utc;             /* utc_ahead_s is known */
	int64_t utc_ahead_s; /* UTC minus own time, whole seconds */
	int64_t gps_ahead_s; /* what the last sentences say */
	unsigned gps_agree;  /* how many of them in a row */

	uint64_t status_due; /* count of the next line of status */
	uint32_t lines_lost; /* of output, for want of room */
	uint32_t wrong_lines;
};

/**
 * Starts; own time is 0 now. The configuration is copied. Returns NULL, or what is wrong with it.
 */
const char *syncnode_init(struct syncnode *s, const struct hal *hal,
			  const struct syncnode_config *config);

/**
 * Do what is to be done now. Returns the count (64 bits, of the timer as extended by @s) at which
 * it wants to be called again at the latest; earlier calls, and calls whenever a pulse or a byte
 * came, are welcome. At most an eighth of the timer's range ahead.
 */
uint64_t syncnode_poll(struct syncnode *s);

/** Carry out one command, and answer on the UART. */
void syncnode_command(struct syncnode *s, const struct command *c);

/** One line of status on the UART. */
void syncnode_status(struct syncnode *s);

#endif
