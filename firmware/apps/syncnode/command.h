/* SPDX-License-Identifier: MIT */
/**
 * Lines that come in over the UART: commands, and the sentences of a GPS receiver. Pure: bytes in,
 * commands out.
 */
#ifndef COEVAL_SYNCNODE_COMMAND_H
#define COEVAL_SYNCNODE_COMMAND_H

#include <stdint.h>

#define COMMAND_LINE 100 /* longer lines are thrown away; NMEA 0183 has 82 */

enum command_kind {
	COMMAND_NONE,     /* an empty line, or a sentence of no interest */
	COMMAND_WRONG,    /* neither a command nor a good sentence */
	COMMAND_INTERVAL, /* value: ms */
	COMMAND_ID,       /* value */
	COMMAND_SLOT,     /* value, of: k/n */
	COMMAND_PAYLOAD,  /* value: version, 0 is Grace's */
	COMMAND_UTC,      /* value: seconds since 1970 of the second now running */
	/* the same, from a ZDA or RMC sentence with a good checksum and a whole second */
	COMMAND_GPS_UTC,
	COMMAND_STATUS
};

struct command {
	enum command_kind kind;
	uint32_t value, of;
};

struct command_line {
	char text[COMMAND_LINE + 1];
	unsigned n;
	int too_long;
};

/** Take one byte in. Returns 1 if it ended a line, told in @c. */
int command_feed(struct command_line *l, uint8_t byte, struct command *c);

/** Read one line of text, without its end. */
void command_read(const char *line, struct command *c);

#endif
