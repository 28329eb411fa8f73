/* SPDX-License-Identifier: MIT */
/**
 * Parts of the group grace: what Grace does, from an analyzer's samples to times, ours against its
 * own way.
 */
#ifndef BENCH_GRACE_H
#define BENCH_GRACE_H

#include <coeval/session.h>

#include "bench.h"
#include "store/samples.h"

/**
 * First argument by which this program is started again for a long capture from memory; then HOURS,
 * and a FILE for the result.
 */
#define GRACE_DAY_VERB "graceday"

#define GRACE_BEACON 0x80 /* the line that beacons raise */

/** Samples to stored and timed edges, against the plain loop. */
int grace_timing(const struct bench *b);

/** A whole test bed, as coeval-simbed runs it. */
int grace_bed(const struct bench *b);

/** A simulated hour through USB, and a day of samples from memory. */
int grace_long(const struct bench *b);

/** The process of GRACE_DAY_VERB. Returns its exit status. */
int grace_day_main(const char *hours, const char *file);

/**
 * A capture from memory: the lower seven lines show anything, the eighth rises at beacons, numbered
 * from 0 on.
 */
struct grace_record {
	struct cvl_session *session;
	struct cvl_samples *samples;
	uint64_t beacons;
};

/** Begin one in the new session @path. */
int grace_record_open(const struct bench *b, struct grace_record *r, const char *path,
		      uint64_t rate_hz);
int grace_record_feed(const struct bench *b, struct grace_record *r, const uint8_t *sample,
		      size_t n);
/** End it, and free. @rc: 0, or what went wrong before, which is returned. */
int grace_record_close(const struct bench *b, struct grace_record *r, int rc);

/** Of each record of the session @path, which is synchronised by its beacons. */
struct grace_reader {
	void (*edge)(void *ctx, struct cvl_tick tick, struct cvl_time time);
	void (*beacon)(void *ctx, struct cvl_tick tick, uint64_t number); /* or NULL */
	void *ctx;
};

int grace_read(const struct bench *b, const char *path, const struct grace_reader *reader);

/** One run of coeval-simbed. */
struct grace_bed_run {
	unsigned nodes, seconds;
	const char *faults;
	const char *disk;   /* bytes of each node's own file system, or NULL: none is mounted */
	char result[16384]; /* what it printed, JSON */
};

/**
 * Why there is no test bed, in @why; false if there is one. @mounting: disks of its own are needed.
 */
bool grace_no_bed(const struct bench *b, bool mounting, char why[200]);
/** Run it. A verdict of wrong is no failure. */
int grace_bed_start(const struct bench *b, struct grace_bed_run *r);
/** A number of its result; NAN if it is not there. */
double grace_number(const struct grace_bed_run *r, const char *key);
/** Print that @name cannot be measured. */
void grace_skip(const struct bench *b, const char *name, const char *why);
/** Print a figure measured once. */
void grace_put(const struct bench *b, const char *name, const char *unit, bool less_is_better,
	       double goal, double value, const char *note);

#endif
