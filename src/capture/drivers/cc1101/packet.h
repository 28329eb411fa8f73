/* SPDX-License-Identifier: MIT */
/**
 * Bytes of the radio's RX FIFO to beacons. Pure: no I/O, no allocation.
 *
 * A packet in the FIFO is its length byte, that many bytes, and two appended by the chip: RSSI,
 * then CRC_OK and LQI (SWRS061I, 15.3). Three bodies are understood, distinguished by their
 * lengths:
 *
 *   4   Grace's as its published firmware sends it: seconds, without an address
 *   5   Grace's as in its paper (III-G): address, seconds
 *   29  ours: address, BEACON_BYTES
 */
#ifndef DRIVERS_CC1101_PACKET_H
#define DRIVERS_CC1101_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/beacon.h"

/** A beacon, and how it was received. */
struct beacon_heard {
	struct beacon beacon;
	int16_t rssi_half_dbm; /* halves of a dBm */
	uint8_t lqi;           /* 0 to 127, lower is better */
};

/** Counters: what was received, and what was refused and why. */
struct packet_counters {
	uint64_t heard;     /* beacons */
	uint64_t crc;       /* CRC_OK was not set */
	uint64_t length;    /* no body of ours has this length, or the FIFO cannot hold it */
	uint64_t address;   /* to another address */
	uint64_t payload;   /* right length, impossible content */
	uint64_t truncated; /* the FIFO ended inside a packet */
	uint64_t overflows; /* the FIFO was full; what came then is lost */
	uint64_t repeated;  /* repetitions of a beacon */
	uint64_t missed;    /* numbers skipped by senders that continued */
	uint64_t forward;   /* jumps of a sender's numbers, by more than its silence allows */
	uint64_t back;
	uint64_t twins; /* beacons of an id used by two senders, see packet_twins() */
	/* beacons of senders beyond PACKET_SENDERS: their sequence is not checked */
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
	uint8_t current;  /* the sequence received last */
	uint8_t switches; /* times that both sequences continued in turn */
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
 * are counted as truncated. Returns their number. *used, unless NULL, is the offset of the first
 * packet that was not read completely, or @n. What follows a packet of impossible length cannot be
 * found and is skipped with it.
 */
size_t packets_read(struct packets *p, const uint8_t *fifo, size_t n, struct beacon_heard *out,
		    size_t max, size_t *used);

/** Two sequences alternate under the id of @sender: two senders have the same id. */
bool packet_twins(const struct packets *p, uint16_t sender);

#endif
