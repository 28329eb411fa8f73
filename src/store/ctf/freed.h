/* SPDX-License-Identifier: MIT */
/**
 * Packets of ours that are no longer kept. One short packet stands for all of them: its size is theirs,
 * so that what follows stays where it was, and after its checksum there is a hole in the file. Readers that
 * know nothing of it see padding.
 */
#ifndef CTF_FREED_H
#define CTF_FREED_H

#include <stdbool.h>
#include <stddef.h>

#include <coeval/packets.h>

#include "store/ctf/wire.h"

/** The short packet is not longer. */
#define FREED_BYTES 128

struct freed {
	uint64_t bytes;               /* that it stands for; 0: none are freed */
	uint64_t begin, end;          /* ticks of the first and last of the packets */
	uint64_t sequence, discarded; /* of the last */
};

/** Whether a packet of these sizes stands for others. */
static inline bool freed_is(uint64_t packet_bytes, uint64_t content_bytes)
{
	return packet_bytes > content_bytes + WIRE_CRC_BYTES;
}

/**
 * Make the packet that stands for @f. @gap: a record says from when to when all is missing; else the
 * reader finds it from the sequence numbers, which takes a packet before. Returns its bytes.
 */
size_t freed_packet(uint8_t packet[FREED_BYTES], const uint8_t uuid[16], const struct freed *f,
		    bool gap);

/** What the packet at the beginning of stream @fd says; nothing is freed if that cannot be read. */
void freed_read(int fd, struct freed *f);

/**
 * Free the first packets of stream @fd: @f is of all of them, also of those freed before. One write within
 * one sector: after a crash they are freed, or are not. Negative errno.
 */
int freed_write(int fd, const uint8_t uuid[16], const struct freed *f);

/** Like cvl_packets_add(), for one that stands for @bytes. */
int packets_add_freed(struct cvl_packets *p, const void *packet, size_t n, uint64_t bytes,
		      struct cvl_error *err);

#endif
