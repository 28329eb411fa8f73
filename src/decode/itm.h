/* SPDX-License-Identifier: MIT */
/**
 * The packets of an Instrumentation Trace Macrocell, including those of the DWT.
 *
 * Bytes in, packets out: all packets of ARMv7-M (Architecture Reference Manual, appendix D4) and
 * what ARMv8-M adds to the same protocol. Source of the encodings: those manuals, checked against
 * two independent decoders.
 *
 * The result does not depend on how the bytes are split into pieces. At least 47 zero bits followed
 * by a one are a synchronisation packet anywhere, even inside what looked like another packet: no
 * packet has so many zeros. Bytes that are not a packet become ITM_BAD; from there nothing is
 * decoded up to the next synchronisation packet, unless the stream has had none yet.
 */
#ifndef DECODE_ITM_H
#define DECODE_ITM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum itm_kind {
	ITM_SYNC,
	ITM_OVERFLOW,
	ITM_LOCAL_TS,      /* value: ticks since the previous one; source: enum itm_relation */
	ITM_GLOBAL_TS1,    /* value: the low bits, as many as the size says; source: ITM_GTS_* */
	ITM_GLOBAL_TS2,    /* value: bits 26 and up */
	ITM_PAGE,          /* value: page of the stimulus ports that follow */
	ITM_EXTENSION,     /* of a hardware source: value */
	ITM_SOFTWARE,      /* source: stimulus port, value: what was written */
	ITM_EVENT_COUNTER, /* value: ITM_CYC and so on */
	ITM_EXCEPTION,     /* source: enum itm_action, value: number of the exception */
	ITM_PC,            /* value: address */
	ITM_SLEEP,         /* a PC sample of a processor that sleeps */
	ITM_PROHIBITED,    /* a PC sample where tracing is not allowed */
	ITM_PMU,           /* ARMv8.1-M; value: bit mask of the counters that overflowed */
	ITM_DATA_PC,       /* source: comparator, value: address of the instruction */
	ITM_DATA_MATCH,    /* ARMv8-M; source: comparator */
	ITM_DATA_ADDRESS,  /* source: comparator, value: low bits of the address, of size bytes */
	ITM_DATA_READ,     /* source: comparator, value: of size bytes */
	ITM_DATA_WRITE,    /* source: comparator, value: of size bytes */
	ITM_HARDWARE,      /* of an unknown source: its number, value */
	ITM_BAD,           /* length bytes that are not a packet */
	ITM_KINDS
};

/** Short name, as in the events that are stored: "pc", "software". */
const char *itm_kind_name(enum itm_kind kind);

/** When a local timestamp was made. */
enum itm_relation {
	ITM_TS_EXACT = 0,
	ITM_TS_LATE = 1,     /* the timestamp is later than the packets before it */
	ITM_PACKET_LATE = 2, /* the packets before it are later than their events */
	ITM_BOTH_LATE = 3,
};

enum itm_action { ITM_ENTER = 1, ITM_EXIT = 2, ITM_RETURN = 3 };

enum { ITM_GTS_CLOCK_CHANGE = 1, ITM_GTS_WRAP = 2 };

/** Counters of an event counter packet: they wrapped to zero. */
enum { ITM_CPI = 1, ITM_EXC = 2, ITM_SLP = 4, ITM_LSU = 8, ITM_FOLD = 16, ITM_CYC = 32 };

struct itm_packet {
	uint64_t at; /* offset of its first byte in the stream */
	uint64_t value;
	uint32_t source;
	uint16_t length; /* bytes, including the header; 65535: that many or more */
	uint8_t kind;    /* enum itm_kind */
	uint8_t size;    /* bytes of its payload */
};

/** What is known about a packet from its header; private. */
struct itm_head {
	uint8_t how, kind, source, size, value;
	bool paged;
};

struct itm {
	uint64_t at;    /* offset of the next byte */
	uint64_t zeros; /* zero bytes just before it */
	uint64_t start; /* offset of the current packet */
	uint64_t value;
	uint32_t page;
	uint8_t header, need, got;
	uint8_t state;
	bool synced; /* there has been a synchronisation packet */
	struct itm_head head[256];
};

void itm_init(struct itm *d);

/**
 * Decode up to @n bytes into up to @room packets (at least 2). @used: how many bytes were taken;
 * fewer than @n only when there is no more room. Returns the number of packets.
 */
size_t itm_feed(struct itm *d, const uint8_t *bytes, size_t n, struct itm_packet *out, size_t room,
		size_t *used);

/**
 * Bytes are missing here (a framing error, a hole): the current packet is dropped, and decoding
 * resumes at the next synchronisation packet, or, in a stream without any, at the next byte.
 * Returns the number of packets: 0 or 1.
 */
size_t itm_hole(struct itm *d, struct itm_packet *out);

/** The stream ends. A truncated packet becomes ITM_BAD. Returns the number of packets: 0 or 1. */
size_t itm_end(struct itm *d, struct itm_packet *out);

#endif
