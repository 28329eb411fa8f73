/* SPDX-License-Identifier: MIT */
/**
 * Packets of a TraceLab observer to records. Pure; nothing is allocated. The layout is in
 * firmware/lib/wire/tracelab_wire.h.
 *
 * Ticks are cycles of the observer's clock (10 ns) in both modes. In paper mode stamps are ticks of
 * the steered system time; the cycle with which a tick began is rebuilt from the divider's
 * settings. So a stamp is early by up to a tick: the resolution is TL_TICK_CYCLES. A good PPS
 * stands at its own cycle, by the offset detector.
 *
 * Records come in order. What overtook the events (samples, pulses, actuations) is held back until
 * the events have come as far, or for HOLD_NS.
 *
 * A loss is a gap, from the first tick of which something may be missing to one behind which
 * nothing is: behind it the lines come as DRIVER_LEVELS. What the gateware dropped is counted
 * exactly; so are packets that SPI lost, by 65536. Packets whose time cannot be told, as the marker
 * before them was lost, are counted as lost. Where settings of the divider may have been lost, a
 * slip says by how much raw time may be off.
 */
#ifndef DRIVERS_TRACELAB_PROTO_H
#define DRIVERS_TRACELAB_PROTO_H

#include "capture/drivers/driver.h"
#include "capture/drivers/tracelab/link.h"

#define TRACELAB_HELD 8192  /* records that can be held back */
#define TRACELAB_STEERS 16  /* settings of the divider that late events may need */
#define TRACELAB_OUT_MIN 16 /* room that a call needs */

/** Events, as numbered in records. Fields in the order of tracelab_events. */
enum tracelab_event {
	TRACELAB_ACTED,    /* id modulo 64, lines, time as the observer counts it */
	TRACELAB_STEER,    /* eighths: of a cycle a second, from its tick on */
	TRACELAB_ALIGN,    /* -: a second of the observer begins */
	TRACELAB_REJECTED, /* -: a PPS at a wrong place */
	TRACELAB_EVENTS
};
extern const struct driver_event tracelab_events[TRACELAB_EVENTS];

struct tracelab_opts {
	bool paper;
	unsigned period; /* 500 ns ticks between two samples; 0: none */
};

struct tracelab_counters {
	uint64_t packets, events, samples, pulses, losses;
	uint64_t missing;   /* packets that SPI lost, as far as known */
	uint64_t lost;      /* packets: by the gateware, by SPI, or without their time */
	uint64_t settings;  /* what only paper mode tells of its divider; some come each second */
	uint64_t senseless; /* packets that the gateware never sends */
};

/** A loss that has been told of, until it is known where it ends. */
struct tracelab_gap {
	bool on;
	uint64_t from, lost;
	enum cvl_gap why;
	/* the latest tick when it was last told of: HOLD_NS behind it nothing is missing */
	uint64_t seen;
};

struct tracelab {
	struct tracelab_link link;
	struct tracelab_opts opts;
	size_t at; /* packets of the link's block that are done */
	bool block;

	bool upper_known;
	uint64_t upper, newest; /* newest: the latest tick seen */
	uint64_t event_time, event_tick;
	bool fresh;                 /* the next event says what the levels are */
	struct tracelab_gap gap[2]; /* of events, of all else */
	uint64_t since[2], high[2];
	uint8_t stage[2];

	bool power, power_sure; /* sure: the next sample's number is known */
	bool resumed;           /* the next sample is the one that power_time is of */
	bool unplaced;          /* samples were lost: which the next one is, TL_POWER_RESUME says */
	uint64_t power_time;    /* of sample 0, or of the one after a resume */
	uint64_t number;        /* of the next sample, from power_time */
	uint16_t offset;        /* what the observer calls sample 0 of that */
	uint64_t sampled;       /* tick of the last */
	struct tracelab_gap bad; /* a run of bad samples */
	uint64_t bad_to;

	struct {
		uint64_t at, raw; /* tick of system time, cycle */
		int32_t eighths;
	} steer[TRACELAB_STEERS];
	size_t n_steers; /* ever */
	bool steer_lost, aligned;
	uint64_t steer_at, align, pps;
	bool pps_waits;

	size_t held_at, n_held;
	uint64_t told; /* DRIVER_NOTHING so far */
	struct tracelab_counters count;
	struct driver_record held[TRACELAB_HELD];
};

void tracelab_init(struct tracelab *t, const struct tracelab_opts *opts);

/**
 * Take of @n bytes of SPI, cut anywhere, what gives at most @max records (TRACELAB_OUT_MIN and up).
 * Returns how many, *used of the bytes; less than @n only if @out is full.
 */
size_t tracelab_feed(struct tracelab *t, const uint8_t *bytes, size_t n, struct driver_record *out,
		     size_t max, size_t *used);

/** Nothing more comes: call until it returns 0. */
size_t tracelab_end(struct tracelab *t, struct driver_record *out, size_t max);

/** The cycle with which tick @time of the observer's time began. */
uint64_t tracelab_raw(const struct tracelab *t, uint64_t time);

#endif
