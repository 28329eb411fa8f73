/* SPDX-License-Identifier: MIT */
/**
 * An observer at work: a driver's analyzers and a radio become a session, until somebody says stop.
 *
 * Memory is bounded, packets go to disk at least once a second, and whatever is lost is a gap. Going on with a session that a
 * dead observer left behind is the same as starting.
 */
#ifndef OBSERVER_OBSERVER_H
#define OBSERVER_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/error.h>

#include "capture/drivers/driver.h"

struct observer_opts {
	const struct driver *driver;
	struct driver_opts device;
	const char *session;
	const char *name;      /* of the observer and its clock; further analyzers: NAME-2, ... */
	const char *names;     /* of the lines, or NULL */
	const char *radio;     /* "spidev0.0", or NULL: none */
	const char *profile;   /* of the radio, or NULL */
	unsigned radio_line;   /* bit of the line that it is wired to */
	int64_t period_ns;     /* of Grace's beacons, 0: 1 s */
	int64_t duration_ns;   /* 0: until stopped */
	int64_t start_unix_ns; /* 0: at once */
	bool wait;             /* until the control socket says start */
	const char *control;   /* path of the socket, or NULL */
	const char *metrics;   /* path of a file for Prometheus' text collector, or NULL */
	int stop_fd; /* readable when the user wants the end, as signalfd(2) is; a second time: at once. -1: none */
	void (*tell)(void *ctx, bool problem, const char *text);
	void *ctx;
	struct cvl_progress progress; /* ns of capture, of its duration */
};

/** How it went, summed over the analyzers. */
struct observer_result {
	size_t clocks, failed;
	double seconds; /* of the longest */
	uint64_t edges, beacons, gaps, lost, bytes;
	uint64_t packets; /* of tracers, in place of edges */
	double cpu_s;     /* spent on samples */
};

/**
 * Capture until the duration is over, the driver's source ends, or somebody says stop. @result is filled in any case.
 * CVL_E_ENV if a device is missing; CVL_E_IO if no stream could be written to its end.
 */
int observer_run(const struct observer_opts *opts, struct observer_result *result,
		 struct cvl_error *err);

#endif
