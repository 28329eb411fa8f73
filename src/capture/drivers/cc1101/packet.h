/* SPDX-License-Identifier: MIT */
/**
 * Bytes of the radio's RX FIFO to beacons. Pure: no I/O, no allocation.
 *
 * A packet in the FIFO is its length byte, so many bytes, and two that the chip appends: RSSI, then
 * CRC_OK and LQI (SWRS061I, 15.3). Three bodies are understood, told apart by their lengths:
 *
 *   4        Grace's as its published firmware sends it: seconds, without an address
 *   5        Grace's as its paper has it (III-G): address, seconds
 *   29       ours: address, BEACON_BYTES
 */
#ifndef DRIVERS_CC1101_PACKET_H
#define DRIVERS_CC1101_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/beacon.h"

/** A beacon, and how it was heard. */
struct beacon_heard {
	struct beacon beacon;
	int16_t rssi_half_dbm; /* halves of a dBm */
	uint8_t lqi;           /* 0 to 127, lower is better */
};

/** What came, and what was refused and why. */
struct packet_counters {
	uint64_t heard;     /* beacons */
	uint64_t crc;       /* CRC_OK was not set */
	uint64_t length;    /* no body of ours has this length, or the FIFO cannot hold it */
	uint64_t address;   /* to another address */
	uint64_t payload;   /* right length, impossible content */
	uint64_t truncated; /* the FIFO ended within a packet */
	uint64_t overflows; /* the FIFO was full, what came then is lost */
	uint64_t repeated;  /* the same beacon again: heard, and given once more */
	uint64_t missed;    /* numbers that were left out, by senders going on */
	uint64_t forward;   /* jumps of a sender's numbers, by more than it can have been silent */
	uint64_t back;
	uint64_t twins; /* beacons of a sender that is two, see packet_twins() */
	/* beacons of senders beyond PACKET_SENDERS: their sequence is not watched */
	uint64_t senders;
};

#define PACKET_SENDERS 32

/** One sequence of numbers under a sender's id. */
struct packet_sequence {
	uint32_t last;
	uint64_t sent_ns;
	bool live;
};

struct packet_sender {
	uint16_t id;
	uint8_t current;  /* the sequence that was heard last */
	uint8_t switches; /* from one sequence to the other and both went on */
	struct packet_sequence sequence[2];
};

struct packets {
	struct packet_counters count;
	size_t n_senders;
	struct packet_sender sender[PACKET_SENDERS];
};

void packets_init(struct packets *p);

/**
 * Read @n bytes of the FIFO, which begin with a packet. Stores at most @max beacons; further ones
 * are counted as truncated. Returns how many. *used, unless NULL, is where the first packet begins
 * that was not read whole, or @n. What follows on a packet of impossible length cannot be found and
 * is skipped with it.
 */
size_t packets_read(struct packets *p, const uint8_t *fifo, size_t n, struct beacon_heard *out,
		    size_t max, size_t *used);

/** Two sequences take turns under the id of @sender: two senders have the same id. */
bool packet_twins(const struct packets *p, uint16_t sender);

#endif
