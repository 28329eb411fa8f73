/* SPDX-License-Identifier: MIT */
/**
 * Capture drivers: what yields the samples of analyzers while they are taken.
 *
 * A driver is one struct of functions and one line in the table. It opens one or more analyzers,
 * each a clock of its own, and pushes what they saw into a sink. It keeps count of nothing that the
 * sink could: whole samples are ticks.
 *
 * All of a driver's calls, and its calls of the sink, are made by one thread.
 */
#ifndef DRIVERS_DRIVER_H
#define DRIVERS_DRIVER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/capture.h>
#include <coeval/error.h>
#include <coeval/record.h>
#include <coeval/store.h>

/** The clock of @analyzer ran on, but its samples were not seen. */
struct driver_loss {
	enum cvl_gap why;
	uint64_t samples; /* missing; the middle of what is possible */
	uint64_t slack;   /* it may have been so many more or less; below @samples */
};

/** What an analyzer that stamps by itself tells, in place of samples. */
enum driver_what {
	/* what the lines show, their change not having been seen: at the start, and behind a gap */
	DRIVER_LEVELS,
	DRIVER_EDGE,
	DRIVER_SAMPLE,
	DRIVER_PULSE,
	/*
	 * nothing is known of the lines until the next DRIVER_LEVELS, unless it says that they are
	 */
	DRIVER_GAP,
	DRIVER_SLIP,    /* from here on ticks may be off against those before */
	DRIVER_EVENT,   /* of the analyzer's classes */
	DRIVER_NOTHING, /* up to here nothing else has happened */
	/* an event about the capture, at its end: kept even if that has passed; no tick */
	DRIVER_SUMMARY,
};

#define DRIVER_FIELDS_MAX 4

/**
 * Ticks are counted from the analyzer's start and do not fall, but for DRIVER_GAP, which may begin
 * at an earlier one.
 */
struct driver_record {
	enum driver_what what;
	uint64_t tick;
	union {
		struct {
			uint64_t levels;
			uint64_t half; /* of an edge, where edges_within: ticks to either side */
		};
		double value;
		struct {
			uint64_t to;   /* last tick that may be missing, or CVL_TICK_UNKNOWN */
			uint64_t lost; /* records, or CVL_LOST_UNKNOWN */
			enum cvl_gap why;
			bool lines_known; /* what is missing says nothing of lines */
		} gap;
		struct {
			uint64_t from; /* last sure tick */
			uint64_t half; /* ticks that they may be off by */
		} slip;
		union cvl_store_value field[DRIVER_FIELDS_MAX];
	};
	uint32_t cls; /* channel, or class of an event */
};

/** A whole packet of a CTF trace that a tracer on another processor wrote. */
struct driver_packet {
	const void *bytes;
	size_t n;
	uint64_t begin, end; /* ticks of its first and last moment */
	bool restarted; /* its clock began again: it has nothing to do with the packets before */
};

/**
 * Where a driver puts what it gets. A non-zero return is an error: the driver stops and returns it.
 */
struct driver_sink {
	/** Bytes that follow on those before; may be cut anywhere. */
	int (*samples)(void *ctx, size_t analyzer, const void *bytes, size_t n,
		       struct cvl_error *err);
	/** Before samples that do not follow on those before. */
	int (*lost)(void *ctx, size_t analyzer, const struct driver_loss *loss,
		    struct cvl_error *err);
	/**
	 * Something the user should know, in a whole sentence; @problem: it needs their attention.
	 */
	void (*tell)(void *ctx, size_t analyzer, bool problem, const char *text);
	void *ctx;
	/** In place of samples. */
	int (*records)(void *ctx, size_t analyzer, const struct driver_record *records, size_t n,
		       struct cvl_error *err);
	/**
	 * In place of both. Packets follow each other; what is missing between them they say
	 * themselves.
	 */
	int (*packet)(void *ctx, size_t analyzer, const struct driver_packet *packet,
		      struct cvl_error *err);
};

/** An analyzer that was opened. Strings belong to the driver. */
struct driver_analyzer {
	const char *where;  /* "usb 1-1.4", a path */
	const char *serial; /* or "" */
	uint64_t rate_hz;
	unsigned lines, unit; /* unit: bytes of a sample */
	/* of those that stamp by themselves: */
	uint64_t resolution; /* ticks from one look at the lines to the next; 0: 1 */
	const char *names;   /* of the lines where the user gives none, "A,B"; NULL: numbers */
	bool edges_within;   /* edges have a half-width of their own */
	const char *const *channels; /* of samples */
	size_t n_channels;
	const struct driver_event *events;
	size_t n_events;
	/*
	 * of those that give packets of a trace, which has a clock, a rate and classes of its own:
	 */
	const char *name;     /* of the clock; NULL: as the observer's */
	const char *metadata; /* TSDL; NULL: it gives none */
	size_t n_metadata;
};

/** A class of events. */
struct driver_event {
	const char *name;
	struct cvl_store_field field[DRIVER_FIELDS_MAX];
	size_t n;
};

struct driver {
	struct cvl_driver pub;
	/** Find and open what @opts asks for, ready to start. @sink and @opts outlive the state. */
	int (*open)(void **state, const struct cvl_device_opts *opts,
		    const struct driver_sink *sink, struct cvl_error *err);
	size_t (*analyzers)(void *state, const struct driver_analyzer **list);
	int (*start)(void *state, struct cvl_error *err);
	/**
	 * What to wait for before work(), at most @max; *timeout_ms is lowered if work() is due
	 * earlier.
	 */
	size_t (*wait_for)(void *state, struct pollfd *fds, size_t max, int *timeout_ms);
	/**
	 * Handle what happened, without waiting. 1: go on; 0: all analyzers have ended; negative:
	 * error.
	 */
	int (*work)(void *state, struct cvl_error *err);
	/** Ask for the end; work() until it says 0. Samples taken up to here still arrive. */
	int (*stop)(void *state, struct cvl_error *err);
	void (*close)(void *state);
	/**
	 * Do what a line sent to the control socket asks: a line of JSON from malloc(), or NULL
	 * with @err filled. NULL: no such.
	 */
	char *(*command)(void *state, const char *line, struct cvl_error *err);
	/**
	 * Tell what is there and what is missing; @row need not fill in the driver. NULL: nothing
	 * to look for.
	 */
	int (*list)(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		    struct cvl_error *err);
};

/** The table, ended by NULL. */
extern const struct driver *const drivers[];
/** NULL: there is none of that name. */
const struct driver *driver_find(const char *name);
/** The driver of which @pub is the public part. */
const struct driver *driver_of(const struct cvl_driver *pub);

/** Now, on a clock that does not stop when the machine sleeps (CLOCK_BOOTTIME), ns. */
int64_t driver_boottime_ns(void);

/**
 * The same for how long to wait for something: time in which the machine slept does not count
 * (CLOCK_MONOTONIC).
 */
int64_t driver_monotonic_ns(void);

/**
 * By how much the crystal of an analyzer may be off: 154.9 ppm was measured (Grace, IV-B) and 200
 * are promised, but 515 were seen.
 */
#define DRIVER_CRYSTAL_PPM 1000

/**
 * The loss between two moments of the host's clock: the last sample was taken between @last_early
 * and @last_late, the next one between @next_early and @next_late (ns). The analyzer's crystal may
 * be off by DRIVER_CRYSTAL_PPM.
 */
struct driver_loss driver_loss_between(uint64_t rate_hz, enum cvl_gap why, int64_t last_early,
				       int64_t last_late, int64_t next_early, int64_t next_late);

#endif
