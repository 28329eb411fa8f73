/* SPDX-License-Identifier: MIT */
/**
 * The world of `coeval demo`: observers with clocks that are off, beacons that all of them hear, and a TDMA round on
 * the pins of the node that each observes. The truth is kept.
 */
#ifndef SIM_DEMO_WORLD_H
#define SIM_DEMO_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#define DEMO_OBSERVERS 4
#define DEMO_RATE_HZ 8000000
#define DEMO_BEACON_LINE 7 /* the analyzer's eighth */
#define DEMO_SENDER 1

/** A line of an observer changed at a true time (ns since the beacon sender started). */
struct demo_edge {
	double true_ns;
	uint8_t line, level;
};

struct demo_observer {
	char name[24];
	double rate_off_ppm;    /* positive: its clock runs fast */
	double start_ns;        /* true time of its first sample */
	struct demo_edge *edge; /* in order of time */
	size_t n_edges, capacity;
	struct {
		uint64_t tick, seq;
	} * beacon;
	size_t n_beacons;
};

struct demo_world {
	uint64_t seed;
	unsigned seconds;
	struct demo_observer observer[DEMO_OBSERVERS];
};

/** Make a world of @seconds. Fails with CVL_E_NOMEM. */
int demo_world_make(struct demo_world *w, uint64_t seed, unsigned seconds, struct cvl_error *err);
void demo_world_free(struct demo_world *w);

/** Sample at which observer @o first sees what happens at @true_ns. */
uint64_t demo_tick(const struct demo_observer *o, double true_ns);

/** Write observer @o's raw samples to @path, one byte each. */
int demo_write_samples(const struct demo_world *w, const struct demo_observer *o, const char *path,
		       struct cvl_error *err);

/** Write the beacons it heard to @path: CSV `tick,sender,seq`. */
int demo_write_beacons(const struct demo_observer *o, const char *path, struct cvl_error *err);

#endif
