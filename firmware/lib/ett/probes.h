/* SPDX-License-Identifier: MIT */
/**
 * From line levels to events: 1, 2 or 8 probes of 8, 4 or 1 bits, the first one in the lowest bits.
 * An event is a change of a probe's code. Consecutive equal codes are one event: to signal the same
 * code again, a source has to show another one in between.
 */
#ifndef ETT_PROBES_H
#define ETT_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include <wire/ett_image.h>

/** Code that probe @probe (0 first) shows. */
static inline unsigned ett_code(uint8_t value, unsigned probe, unsigned bits)
{
	return (unsigned)value >> probe * bits & ((1u << bits) - 1);
}

/** Whether the code of probe @probe changed. */
static inline bool ett_changed(const struct ett_record *r, unsigned probe, unsigned bits)
{
	return ett_code(r->value, probe, bits) != ett_code(r->before, probe, bits);
}

/** Probes that changed. */
unsigned ett_events(const struct ett_record *r, unsigned probes, unsigned bits);

/** Whether a probe changed to code 0, which ends a capture of probes of 4 bits and more. */
bool ett_zero(uint8_t value, uint8_t before, unsigned bits);

/** Ticks of a record's bracket. */
static inline uint64_t ett_width(const struct ett_record *r)
{
	return r->flags & ETT_WIDE ? (uint64_t)r->width << ETT_WIDE_SHIFT : r->width;
}

/** Store a bracket of @ticks. */
void ett_set_width(struct ett_record *r, uint64_t ticks);

/** An event's place among the records. Before the first one: record and probe 0, number 0. */
struct ett_place {
	uint64_t record; /* their number: after the last event */
	uint64_t number; /* of the event, 0 first */
	unsigned probe;
};

struct ett_events {
	const struct ett_record *record;
	uint64_t n, events; /* records, events in them */
	unsigned probes, bits;
};

/** Count the events. */
void ett_events_count(struct ett_events *e);
/** The first event, or the end if there is none. */
struct ett_place ett_first(const struct ett_events *e);
/** One on or back; false and unmoved at the end. */
bool ett_next(const struct ett_events *e, struct ett_place *p);
bool ett_back(const struct ett_events *e, struct ett_place *p);
/** The last event, or the end if there is none. */
struct ett_place ett_last(const struct ett_events *e);

#endif
