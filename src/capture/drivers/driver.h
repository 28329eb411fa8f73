/* SPDX-License-Identifier: MIT */
/**
 * Capture drivers: sources of live samples from analyzers.
 *
 * A driver is one struct of functions and one line in the table. It opens one or more analyzers,
 * each a clock of its own, and pushes what they sampled into a sink. It keeps no counts that the
 * sink can keep: complete samples are ticks.
 *
 * All calls of a driver, and its calls of the sink, are made by one thread.
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

/** The clock of @analyzer kept running, but its samples were lost. */
struct driver_loss {
	enum cvl_gap why;
	uint64_t samples; /* missing; the middle of the possible range */
	uint64_t slack;   /* it may have been this many more or fewer; less than @samples */
};

/** Record of an analyzer with timestamps of its own, instead of samples. */
enum driver_what {
	/* levels whose change was not seen: at the start, and after a gap */
	DRIVER_LEVELS,
	DRIVER_EDGE,
	DRIVER_SAMPLE,
	DRIVER_PULSE,
	/* the lines are unknown until the next DRIVER_LEVELS, unless flagged otherwise */
	DRIVER_GAP,
	DRIVER_SLIP,    /* from here on ticks may be off relative to earlier ones */
	DRIVER_EVENT,   /* of the analyzer's classes */
	DRIVER_NOTHING, /* nothing else happened up to here */
	/* an event about the capture, at its end: stored even after that; has no tick */
	DRIVER_SUMMARY,
};

#define DRIVER_FIELDS_MAX 4

/**
 * Ticks count from the analyzer's start and never decrease, except for DRIVER_GAP, which may begin
 * at an earlier one.
 */
struct driver_record {
	enum driver_what what;
	uint64_t tick;
	union {
		struct {
			uint64_t levels;
			uint64_t half; /* of an edge, with edges_within: ticks either way */
		};
		double value;
		struct {
			uint64_t to;   /* last tick that may be missing, or CVL_TICK_UNKNOWN */
			uint64_t lost; /* records, or CVL_LOST_UNKNOWN */
			enum cvl_gap why;
			bool lines_known; /* the loss says nothing about lines */
		} gap;
		struct {
			uint64_t from; /* last certain tick */
			uint64_t half; /* ticks they may be off by */
		} slip;
		union cvl_store_value field[DRIVER_FIELDS_MAX];
	};
	uint32_t cls; /* channel, or class of an event */
};

/** A complete packet of a CTF trace written by a tracer on another processor. */
struct driver_packet {
	const void *bytes;
	size_t n;
	uint64_t begin, end; /* ticks of its first and last moment */
	bool restarted;      /* its clock restarted: unrelated to the packets before */
};

/**
 * Where a driver delivers its data. A non-zero return is an error: the driver stops and returns it.
 */
struct driver_sink {
	/** Bytes that continue the previous ones; may be split anywhere. */
	int (*samples)(void *ctx, size_t analyzer, const void *bytes, size_t n,
		       struct cvl_error *err);
	/** Called before samples that do not continue the previous ones. */
	int (*lost)(void *ctx, size_t analyzer, const struct driver_loss *loss,
		    struct cvl_error *err);
	/** A message for the user, a full sentence; @problem: it needs attention. */
	void (*tell)(void *ctx, size_t analyzer, bool problem, const char *text);
	void *ctx;
	/** Instead of samples. */
	int (*records)(void *ctx, size_t analyzer, const struct driver_record *records, size_t n,
		       struct cvl_error *err);
	/** Instead of both. Packets arrive in order; they report losses between them themselves. */
	int (*packet)(void *ctx, size_t analyzer, const struct driver_packet *packet,
		      struct cvl_error *err);
};

/** An opened analyzer. Strings belong to the driver. */
struct driver_analyzer {
	const char *where;  /* "usb 1-1.4", a path */
	const char *serial; /* or "" */
	uint64_t rate_hz;
	unsigned lines, unit; /* unit: bytes of a sample */
	/* of analyzers with timestamps of their own: */
	uint64_t resolution;         /* ticks between two readings of the lines; 0: 1 */
	const char *names;           /* default names of the lines, "A,B"; NULL: numbers */
	bool edges_within;           /* edges have a half-width of their own */
	const char *const *channels; /* of samples */
	size_t n_channels;
	const struct driver_event *events;
	size_t n_events;
	/* of tracers, whose traces have their own clock, rate and classes: */
	const char *name;     /* of the clock; NULL: that of the observer */
	const char *metadata; /* TSDL; NULL: none */
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
	/**
	 * Find and open what @opts names, ready to start. @sink and @opts must outlive the state.
	 */
	int (*open)(void **state, const struct cvl_device_opts *opts,
		    const struct driver_sink *sink, struct cvl_error *err);
	size_t (*analyzers)(void *state, const struct driver_analyzer **list);
	int (*start)(void *state, struct cvl_error *err);
	/**
	 * What to poll before work(), at most @max; *timeout_ms is lowered if work() is due
	 * earlier.
	 */
	size_t (*wait_for)(void *state, struct pollfd *fds, size_t max, int *timeout_ms);
	/**
	 * Handle what happened, without blocking. 1: continue; 0: all analyzers have ended;
	 * negative: error.
	 */
	int (*work)(void *state, struct cvl_error *err);
	/** Request the end; call work() until it returns 0. Samples taken so far still arrive. */
	int (*stop)(void *state, struct cvl_error *err);
	void (*close)(void *state);
	/**
	 * Execute a command from the control socket: returns a line of JSON from malloc(), or NULL
	 * with @err filled. NULL: no commands.
	 */
	char *(*command)(void *state, const char *line, struct cvl_error *err);
	/**
	 * List available devices and what they lack; @row need not name the driver. NULL: nothing
	 * to list.
	 */
	int (*list)(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		    struct cvl_error *err);
};

/** The table, ended by NULL. */
extern const struct driver *const drivers[];
/** NULL if there is none of that name. */
const struct driver *driver_find(const char *name);
/** The driver of which @pub is the public part. */
const struct driver *driver_of(const struct cvl_driver *pub);

/** The time now, on a clock that does not stop while the machine sleeps (CLOCK_BOOTTIME), ns. */
int64_t driver_boottime_ns(void);

/** The same for timeouts: time the machine slept does not count (CLOCK_MONOTONIC). */
int64_t driver_monotonic_ns(void);

/**
 * How far the crystal of an analyzer may be off: 154.9 ppm was measured (Grace, IV-B) and 200 are
 * specified, but 515 were seen.
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
