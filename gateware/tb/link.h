/* SPDX-License-Identifier: MIT */
/** A host for the benches: commands and their answers, SPI words checked as tracelab_wire.h says. What must not be ends the program. */
#ifndef TRACELAB_LINK_H
#define TRACELAB_LINK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tracelab_sim.h"
#include "wire/tracelab_wire.h"

#define REQUIRE(condition)                                                             \
	do {                                                                           \
		if (!(condition)) {                                                    \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

struct link {
	struct tl_sim *sim;
	uint32_t *packets;
	size_t n, room;
	uint16_t sent; /* what the last SYNC counted */
	size_t block;  /* the first packet after it */
	uint8_t tag;
	unsigned mode; /* what it was started in */
};

struct status {
	unsigned flags, act_lines, mask, queued, bad_bytes, pps, rejected, adc_bad;
	uint64_t time;
	uint32_t ring, lost;
};

/** An observer that was reset, and its host. */
void link_open(struct link *link);
void link_open_small(struct link *link);
void link_close(struct link *link);

/** Send a command and wait for its answer; data: what it brought, or NULL. Returns the status byte. */
unsigned link_command(struct link *link, unsigned command, const uint8_t *payload, unsigned n,
		      uint8_t *data);
unsigned link_number(struct link *link, unsigned command, uint32_t value, unsigned bytes);
unsigned link_act(struct link *link, uint64_t time, unsigned action, unsigned lines, uint32_t width,
		  unsigned id);
void link_status(struct link *link, struct status *status);

/** Start in a mode; packets that were read before are forgotten. */
void link_start(struct link *link, unsigned mode);

/** One transaction of that many blocks; its packets are kept. */
void link_read(struct link *link, unsigned blocks);

/** Read until nothing comes any more. */
void link_drain(struct link *link);

/** Packets of a transaction that was received: checks the SYNC words. Returns how many words were as they must be. */
size_t link_words(struct link *link, const uint8_t *bytes, size_t words);

#endif
