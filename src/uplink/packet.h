/* SPDX-License-Identifier: MIT */
/** Whole packets in bytes: of traces that cvl_writer wrote, and of those of our tracer. */
#ifndef UPLINK_PACKET_H
#define UPLINK_PACKET_H

#include <coeval/ctf.h>

enum packet_form {
	PACKET_UNKNOWN, /* of a trace whose packets can only be copied with it */
	PACKET_OURS,    /* struct wire_packet, and a CRC at the end */
	PACKET_TRACER,  /* struct tracer_packet */
};

/** Bytes of the largest head; and of the largest packet that is sent. */
#define PACKET_HEAD 72
#define PACKET_MAX ((size_t)1 << 20)

struct packet {
	uint64_t bytes;   /* as a whole */
	uint64_t content; /* bytes of it with content, before the CRC */
	uint64_t here;    /* less than bytes: only so many are kept, and stand for all */
	struct cvl_tick begin, end;
};

/** The form of @trace's packets, by its metadata alone. Its id is the UUID of PACKET_OURS. */
enum packet_form packet_form(const struct cvl_trace *trace, uint8_t id[16]);

/**
 * Read the head of the packet at @bytes, of which @n are there. 1; 0: too few to tell; -1: no packet
 * of that form, or with sizes that cannot be.
 */
int packet_read(enum packet_form form, const void *bytes, size_t n, struct packet *p);

/** Check the packet at @bytes, which is there as a whole. NULL, or what is wrong. */
const char *packet_check(enum packet_form form, const uint8_t id[16], const void *bytes,
			 const struct packet *p);

/** As many of the @n bytes from @at on as file @fd has. */
size_t packet_read_at(int fd, uint64_t at, void *to, size_t n);

#endif
