/* SPDX-License-Identifier: MIT */
/**
 * A tracer for cores without an operating system, and for programs on Linux: events into a ring in
 * memory (wire/trace_ring.h), as CTF 1.8. C99, nothing is allocated, no lock is held.
 *
 * Tracepoints are declared by tracer/points.h. Events may come from any context: the program,
 * interrupts of any priority that break into one another (tracer/port.h has the one exception),
 * threads that share a ring. Each core has a ring of its own. The time of an event is read while
 * its place is reserved, so that the order in the ring is the order of times.
 */
#ifndef TRACER_TRACER_H
#define TRACER_TRACER_H

/*
 * TRACER_CONFIG names a header that may define, for all files of a program alike:
 *
 *   TRACER_CLOCK(t)      an expression for the clock, instead of what the platform says
 *   TRACER_STAMP_BITS    64: events carry whole times, for clocks of 64 bits; costs 4 bytes an
 *                        event
 *   TRACER_SWITCHES      tracepoints that can be switched one by one
 *   TRACER_STRING_BYTES  longest string with its end; what is longer is cut
 *   TRACER_SMALL         tracepoints share the code that reserves and commits: less text, nearly
 *                        twice the instructions
 *   TRACER_PACKET_BYTES  the size of packets that will be asked for: what cannot fit is refused
 *                        when it is compiled
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
 * What the tracer asks of a platform. One of the clocks has to be there: a counter in memory is the
 * fastest. Counters go up; they may have any start. On cores with exclusives a clock may not use
 * them itself.
 */
struct tracer_platform {
	const volatile uint32_t *counter; /* of 32 bits, in memory */
	uint32_t (*clock32)(void *ctx);   /* of 32 bits, by a call */
	uint64_t (*clock64)(void *ctx);   /* of 64 bits: does not wrap */
	/**
	 * The packet that ends before position @end is complete. Called from the context of the
	 * event that completed it, of which one may have interrupted another: set a flag, wake
	 * someone. NULL: not called.
	 */
	void (*packet_done)(void *ctx, uint32_t end);
	/**
	 * Whether another packet would be one too many, besides what the ring knows. NULL: never.
	 */
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
	/* bytes first, where a short instruction reaches them */
	uint8_t shift; /* packet_log2 */
	uint8_t on[TRACER_SWITCHES];
	volatile uint32_t *head, *commit; /* of the ring */
	uint8_t *data;
	uint32_t packet_mask; /* bits of a packet, less 1 */
	/* the same; 0 if the clock takes a call: then there is no room for the quick way */
	uint32_t quick_mask;
	uint32_t ring_mask; /* bytes of all packets, less 1 */
	uint32_t others;    /* bits of all packets but one */
	const volatile uint32_t *counter;
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
	/*
	 * not powers of two, too small, too large, or the memory is too small or not aligned to 8
	 */
	TRACER_BAD_SIZES,
	TRACER_BAD_MODE,
	TRACER_NO_CLOCK,
	TRACER_TOO_LARGE /* an event would not fit a packet */
};

/**
 * Begin to trace into @memory, which is to be aligned to 8 bytes; all tracepoints on. A drain that
 * looks in the meantime sees no ring.
 * @layout is &tracer_layout of points.h. What is refused is known when it is compiled if @config is
 *         constant: then this costs nothing.
 */
static inline enum tracer_refusal tracer_init(struct tracer *t, void *memory, uint32_t bytes,
					      const struct tracer_config *config,
					      const struct tracer_layout *layout);

/** Close the packet that is being filled, unless there is nothing in it to tell. */
void tracer_flush(struct tracer *t);

/**
 * To be called at least once in every half period of a 32-bit counter (2^31 ticks), from anywhere:
 * a periodic interrupt will do. Then times are right however long no event comes. Also with a
 * 64-bit clock, unless events carry 64 bits.
 */
void tracer_keep_time(struct tracer *t);

/** The time as it is now, extended to 64 bits. */
uint64_t tracer_time(struct tracer *t);

/* ---- what the functions of tracepoints are made of ---- */

typedef uint8_t __attribute__((may_alias)) tracer_u8;
typedef uint16_t __attribute__((may_alias)) tracer_u16;
typedef uint32_t __attribute__((may_alias)) tracer_u32;
typedef uint64_t __attribute__((may_alias, aligned(4))) tracer_u64;

/** Where an event begins, and when; TRACER_LOST if there is no room for it. */
#if TRACER_STAMP_BITS == 64
typedef struct {
	uint32_t start;
	tracer_stamp now;
} tracer_place;
#define TRACER_PLACE(start, now) ((tracer_place){ (start), (now) })
#define TRACER_PLACE_START(place) ((place).start)
#define TRACER_PLACE_NOW(place) ((place).now)
#else
typedef uint64_t tracer_place; /* so that it is returned in registers */
#define TRACER_PLACE(start, now) ((uint64_t)(now) << 32 | (start))
#define TRACER_PLACE_START(place) ((uint32_t)(place))
#define TRACER_PLACE_NOW(place) ((uint32_t)((place) >> 32))
#endif
#define TRACER_LOST 1u

/**
 * The long way to a place for an event of @size: a packet is closed and another opened where there
 * is no room, and clocks may be asked by a call. An event that is lost is counted.
 */
tracer_place tracer_reserve(struct tracer *t, uint32_t size);
/**
 * Something of a packet was written. If it is complete by that, and ends before @end, the platform
 * is told.
 */
void tracer_done(struct tracer *t, uint32_t end);

#ifdef TRACER_CLOCK
#define tracer_now(t) ((tracer_stamp)TRACER_CLOCK(t))
#else
/* Where there is no counter this reads something else, and the quick way is closed. */
#define tracer_now(t) (*(t)->counter)
#endif

/** What head grows by: an event of @bits (TRACE_HEAD_NEXT). */
#define TRACER_SIZE_OF(bits) (TRACER_UP(bits, 32u) | ((bits)&31u))

/** Place of an event. */
struct tracer_slot {
	uint8_t *at;
	uint32_t offset; /* bytes from the first packet */
	uint32_t mask;   /* quick_mask: not to be read twice */
};

/** Reserve @bits, header included, and write the header. Returns 0 if the event is lost. */
PORT_INLINE int tracer_begin_here(struct tracer *t, uint32_t bits, unsigned id,
				  struct tracer_slot *s)
{
	volatile uint32_t *const word = t->head;
	uint32_t head, start;
	tracer_stamp now;

	s->mask = t->quick_mask;
	do {
		head = port_begin(word);
		now = tracer_now(t);
		start = TRACE_HEAD_NEXT(head);
		/* never up to the end: what is closed then has something to commit */
		if (PORT_UNLIKELY((-start & s->mask) <= TRACER_UP(bits, 32u))) {
			tracer_place place = tracer_reserve(t, TRACER_SIZE_OF(bits));

			start = TRACER_PLACE_START(place);
			now = TRACER_PLACE_NOW(place);
			if (start == TRACER_LOST)
				return 0;
			break;
		}
	} while (PORT_UNLIKELY(!port_end(word, head, start + TRACER_SIZE_OF(bits))));
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

/** What was begun is written. */
PORT_INLINE void tracer_end_here(struct tracer *t, const struct tracer_slot *s, uint32_t bits)
{
	uint32_t end = port_add(&t->commit[s->offset >> t->shift], TRACER_UP(bits, 32u));

	/* only if an interrupt has closed the packet meanwhile, or this came by the long way */
	if (PORT_UNLIKELY(!(end & s->mask)))
		tracer_done(t, end);
}

#ifdef TRACER_SMALL
int tracer_begin(struct tracer *t, uint32_t bits, unsigned id, struct tracer_slot *s);
void tracer_end(struct tracer *t, const struct tracer_slot *s, uint32_t bits);
#else
#define tracer_begin tracer_begin_here
#define tracer_end tracer_end_here
#endif

/**
 * Switch a tracepoint on or off by its identifier, trace_id_NAME; those that are TRACER_SWITCHES
 * apart share one.
 */
static inline void tracer_switch(struct tracer *t, unsigned id, int on)
{
	t->on[id % TRACER_SWITCHES] = (uint8_t)(on != 0);
}

/** The part of tracer_init() that comes after the checks. */
void tracer_start(struct tracer *t, void *memory, const struct tracer_config *config,
		  uint32_t layout);

static inline enum tracer_refusal tracer_init(struct tracer *t, void *memory, uint32_t bytes,
					      const struct tracer_config *config,
					      const struct tracer_layout *layout)
{
	const uint32_t packets = config->packets, log2 = config->packet_log2;

	if ((uintptr_t)memory & 7u || log2 < TRACE_PACKET_LOG2_MIN ||
	    log2 > TRACE_PACKET_LOG2_MAX || packets & (packets - 1u) ||
	    packets < TRACE_PACKETS_MIN || packets > TRACE_BYTES_MAX >> log2 ||
	    bytes < TRACER_RING_BYTES(log2, packets))
		return TRACER_BAD_SIZES;
	if ((unsigned)config->mode >= TRACE_MODES)
		return TRACER_BAD_MODE;
#ifndef TRACER_CLOCK
	if (!config->platform.counter && !config->platform.clock32 && !config->platform.clock64)
		return TRACER_NO_CLOCK;
#endif
	if (TRACER_UP(layout->bytes, 4u) >= (1u << log2) - (uint32_t)sizeof(struct tracer_packet))
		return TRACER_TOO_LARGE;
	tracer_start(t, memory, config, layout->number);
	return TRACER_OK;
}

#endif
