/* SPDX-License-Identifier: MIT */
/**
 * The observer's radio: matches received beacons with the edges they made on a line of each
 * analyzer.
 *
 * One radio may be wired to several analyzers. It is drained when the first of them shows the edge;
 * the others find the drained beacons when they reach theirs.
 */
#ifndef OBSERVER_RADIO_H
#define OBSERVER_RADIO_H

#include <coeval/store.h>

struct radio;
struct radio_ear; /* one analyzer's end of the wire */

struct radio_opts {
	const char *device;  /* "spidev0.0" */
	const char *profile; /* NULL: grace */
	int64_t period_ns;   /* between two numbers of Grace's beacons; 0: 1 s */
};

/** Counters for status reports. */
struct radio_counters {
	uint64_t paired;      /* beacons with an edge */
	uint64_t without;     /* beacons without an edge */
	uint64_t bare;        /* edges without a beacon */
	uint64_t implausible; /* beacons that came with an edge that cannot be theirs */
	uint64_t refused;     /* bad packets: wrong CRC, length, address, content */
	uint64_t errors;      /* failed exchanges with the chip */
	int last_dbm;         /* of the last beacon */
};

/** CVL_E_ENV, with what to do. */
int radio_open(struct radio **r, const struct radio_opts *opts, struct cvl_error *err);
/** Who receives warnings for the user. */
void radio_tell(struct radio *r, void (*tell)(void *ctx, bool problem, const char *text),
		void *ctx);
/** Take beacons that came without an edge: once when the capture has begun, and then regularly. */
void radio_look(struct radio *r);
void radio_close(struct radio *r);

struct radio_ear *radio_listen(struct radio *r, uint64_t rate_hz);
/**
 * Declare the event that stores a beacon's other data beside its number; before the first record.
 */
int radio_declare(struct radio_ear *e, struct cvl_writer *w, struct cvl_error *err);
/**
 * The line rose at @tick: store the beacon that caused it, whichever it was. @now is the tick the
 * analyzer is at, estimated early rather than late.
 */
int radio_rise(struct radio_ear *e, struct cvl_tick tick, struct cvl_tick now, struct cvl_writer *w,
	       struct cvl_error *err);
/** Ticks may be off by @slack from now on. */
void radio_slip(struct radio_ear *e, uint64_t slack);
struct radio_counters radio_counters(const struct radio_ear *e);
void radio_ear_close(struct radio_ear *e);

#endif
