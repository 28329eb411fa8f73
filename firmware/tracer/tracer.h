/* SPDX-License-Identifier: MIT */
/**
 * A tracer for cores without an operating system, and for programs on Linux: events into a ring in memory (wire/trace_ring.h), as
 * CTF 1.8. C99, nothing is allocated, no lock is held.
 *
 * Tracepoints are declared by tracer/points.h. Events may come from any context: the program, interrupts of any priority that break
 * into one another (tracer/port.h has the one exception), threads that share a ring. Each core has a ring of its own. The time of an
 * event is read while its place is reserved, so that the order in the ring is the order of times.
 */
#ifndef TRACER_TRACER_H
#define TRACER_TRACER_H

/*
 * TRACER_CONFIG names a header that may define, for all files of a program alike:
 *
 *   TRACER_CLOCK(t)      an expression for the clock, instead of what the platform says
 *   TRACER_STAMP_BITS    64: events carry whole times, for clocks of 64 bits; costs 4 bytes an event
 *   TRACER_SWITCHES      tracepoints that can be switched one by one
 *   TRACER_STRING_BYTES  longest string with its end; what is longer is cut
 *   TRACER_PACKET_BYTES  the size of packets that will be asked for: what cannot fit is refused when it is compiled
 */
#ifdef TRACER_CONFIG
#include TRACER_CONFIG
#endif

#include "../wire/trace_ring.h"
#include "port.h"

#ifndef TRACER_STAMP_BITS
#define TRACER_STAMP_BITS 32
#endif
#ifndef TRACER_SWITCHES
#define TRACER_SWITCHES 32
#endif
#ifndef TRACER_STRING_BYTES
#define TRACER_STRING_BYTES 64
#endif

#if TRACER_STAMP_BITS == 64
typedef uint64_t tracer_stamp;
#else
typedef uint32_t tracer_stamp;
#endif

/** Time and identifier come before the fields of an event. */
#define TRACER_HEADER_BITS (TRACER_STAMP_BITS + 16u)
#define TRACER_UP(bits, align) (((bits) + ((align)-1u)) & ~((align)-1u))

/**
 * What the tracer asks of a platform. One of the clocks has to be there: a counter in memory is the fastest. Counters go up; they may
 * have any start. On cores with exclusives a clock may not use them itself.
 */
struct tracer_platform {
	const volatile uint32_t *counter; /* of 32 bits, in memory */
	uint32_t (*clock32)(void *ctx);   /* of 32 bits, by a call */
	uint64_t (*clock64)(void *ctx);   /* of 64 bits: does not wrap */
	/**
	 * The packet that ends before position @end is complete. Called from the context of the event that completed it, of which one
	 * may have interrupted another: set a flag, wake someone. NULL: nobody wants to know.
	 */
	void (*packet_done)(void *ctx, uint32_t end);
	/** Whether another packet would be one too many, besides what the ring knows. NULL: never. */
	int (*full)(void *ctx);
	void *ctx;
};

struct tracer_config {
	struct tracer_platform platform;
	enum tracer_mode mode;
	uint8_t packet_log2; /* of the bytes of a packet */
	uint32_t packets;    /* a power of two */
	uint16_t core;
	uint32_t boot;    /* 0: one more than the memory says */
	uint64_t rate_hz; /* of the clock; 0: unknown */
};

struct tracer {
	volatile uint32_t *head, *commit; /* of the ring */
	uint8_t *data;
	uint32_t packet_mask; /* bits of a packet, less 1 */
	uint32_t ring_mask;   /* bytes of all packets, less 1 */
	const volatile uint32_t *counter;
	uint8_t shift; /* packet_log2 */
	uint8_t on[TRACER_SWITCHES];
	uint32_t told; /* lost events that a packet has told of */
	struct tracer_ring *ring;
	struct tracer_platform platform;
};

/** What points.h made of the declarations. */
struct tracer_layout {
	uint32_t number; /* tells declarations apart */
	uint32_t bytes;  /* of the largest event, strings as empty */
};

/** Bytes of memory for a ring. */
#define TRACER_RING_BYTES(packet_log2, packets) \
	(TRACER_RING_DATA(packets) + ((uint32_t)(packets) << (packet_log2)))
#define TRACER_RING_DATA(packets) \
	TRACER_UP((uint32_t)sizeof(struct tracer_ring) + 4u * (uint32_t)(packets), 8u)

enum tracer_refusal {
	TRACER_OK,
	TRACER_BAD_SIZES, /* not powers of two, too small, too large, or the memory is too small or not aligned to 8 */
	TRACER_BAD_MODE,
	TRACER_NO_CLOCK,
	TRACER_TOO_LARGE /* an event would not fit a packet */
};

/**
 * Begin to trace into @memory, which is to be aligned to 8 bytes; all tracepoints on. A drain that looks in the meantime sees no ring. @layout is
 * &tracer_layout of points.h.
 */
enum tracer_refusal tracer_init(struct tracer *t, void *memory, uint32_t bytes,
				const struct tracer_config *config,
				const struct tracer_layout *layout);

/** Close the packet that is being filled, unless there is nothing in it to tell. */
void tracer_flush(struct tracer *t);

/**
 * To be called at least once in every half period of a 32-bit counter (2^31 ticks), from anywhere: a periodic interrupt will do.
 * Then times are right however long no event comes. Also with a 64-bit clock, unless events carry 64 bits.
 */
void tracer_keep_time(struct tracer *t);

/** The time as it is now, extended to 64 bits. */
uint64_t tracer_time(struct tracer *t);

/* ---- what the functions of tracepoints are made of ---- */

typedef uint8_t __attribute__((may_alias)) tracer_u8;
typedef uint16_t __attribute__((may_alias)) tracer_u16;
typedef uint32_t __attribute__((may_alias)) tracer_u32;
typedef uint64_t __attribute__((may_alias, aligned(4))) tracer_u64;

/**
 * Make room for an event of @bits, by closing a packet or opening one. Returns 0 if there is none; the event is counted as lost, unless
 * it is one of the tracer's own.
 */
int tracer_turn(struct tracer *t, uint32_t bits, unsigned id);
/** The packet that ends before @end has become complete. */
void tracer_done(struct tracer *t, uint32_t end);
tracer_stamp tracer_ask_clock(struct tracer *t);

#ifdef TRACER_CLOCK
#define tracer_now(t) ((tracer_stamp)TRACER_CLOCK(t))
#elif TRACER_STAMP_BITS == 64
#define tracer_now(t) tracer_ask_clock(t)
#else
PORT_INLINE uint32_t tracer_now(struct tracer *t)
{
	return t->counter ? *t->counter : tracer_ask_clock(t);
}
#endif

/** Place of an event. */
struct tracer_slot {
	uint8_t *at;
	uint32_t offset; /* bytes from the first packet */
};

/** Reserve @bits, header included, and write the header. Returns 0 if the event is lost. */
PORT_INLINE int tracer_begin(struct tracer *t, uint32_t bits, unsigned id, struct tracer_slot *s)
{
	uint32_t head, start;
	tracer_stamp now;

	for (;;) {
		head = port_begin(t->head);
		now = tracer_now(t);
		start = TRACER_UP(head, 32u);
		/* never up to the end: what is closed then has something to commit */
		if (PORT_UNLIKELY((-start & t->packet_mask) <= TRACER_UP(bits, 32u))) {
			if (!tracer_turn(t, bits, id))
				return 0;
		} else if (!PORT_UNLIKELY(!port_end(t->head, head, start + bits))) {
			break;
		}
	}
	s->offset = (start >> 3) & t->ring_mask;
	s->at = t->data + s->offset;
#if TRACER_STAMP_BITS == 64
	*(tracer_u64 *)(void *)s->at = now;
#else
	*(tracer_u32 *)(void *)s->at = now;
#endif
	*(tracer_u16 *)(void *)(s->at + TRACER_STAMP_BITS / 8) = (uint16_t)id;
	return 1;
}

/** Count @bits of the packet at @offset as written. */
PORT_INLINE void tracer_commit(struct tracer *t, uint32_t offset, uint32_t bits)
{
	uint32_t end = port_add(&t->commit[offset >> t->shift], bits);

	if (PORT_UNLIKELY(!(end & t->packet_mask)))
		tracer_done(t, end);
}

/** What was begun is written. */
PORT_INLINE void tracer_end(struct tracer *t, const struct tracer_slot *s, uint32_t bits)
{
	tracer_commit(t, s->offset, TRACER_UP(bits, 32u));
}

/** Switch a tracepoint on or off by its identifier, trace_id_NAME; those that are TRACER_SWITCHES apart share one. */
static inline void tracer_switch(struct tracer *t, unsigned id, int on)
{
	t->on[id % TRACER_SWITCHES] = (uint8_t)(on != 0);
}

#endif
