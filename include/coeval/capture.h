/* SPDX-License-Identifier: MIT */
/**
 * Capture: drivers, the devices they find, and the observer, which records what analyzers and a
 * radio see in a session.
 *
 * Memory is bounded, packets are written at least once a second, and every loss is a gap. Resuming
 * the session of a dead observer is the same as starting one. All calls for one capture must be
 * made by one thread.
 */
#ifndef COEVAL_CAPTURE_H
#define COEVAL_CAPTURE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/option.h>

CVL_BEGIN_DECLS

/* ---- drivers and devices ---- */

/** Captures from one kind of analyzer. */
struct cvl_driver {
	const char *name, *what;
	const struct cvl_option
		*options; /* those of struct cvl_device_opts, and of a radio, that it heeds */
};

/** Driver @i, or NULL past the last. */
CVL_API const struct cvl_driver *cvl_driver_at(size_t i);
/** The driver called @name, or NULL. */
CVL_API const struct cvl_driver *cvl_driver_find(const char *name);

/** A device, or what prevents its use. */
struct cvl_device {
	const char *driver; /* name of a driver, or "cc1101": a radio */
	const char *where;  /* "usb 1-1.4", "/dev/spidev0.0" */
	const char *what;   /* "FX2LP, no firmware loaded (04b4:8613)" */
	const char *state;  /* "ready", "no permission", "busy", ... */
	const char *advice; /* what to do about it, or "" */
};

struct cvl_devices {
	struct cvl_device *device;
	size_t n;
};

/**
 * Find the devices of all drivers, and radios. If one kind cannot be searched for, the list has a
 * device whose state says so. Fails only with CVL_E_NOMEM.
 */
CVL_API int cvl_devices_find(struct cvl_devices **devices, struct cvl_error *err);
/** NULL is allowed. */
CVL_API void cvl_devices_free(struct cvl_devices *devices);

/* ---- this machine ---- */

enum cvl_fact_state { CVL_FACT_GOOD, CVL_FACT_BAD, CVL_FACT_UNKNOWN };

/** "good", "bad" or "unknown". */
CVL_API const char *cvl_fact_state_name(enum cvl_fact_state state);

#define CVL_FACT_TEXT 160
#define CVL_HOST_FACTS 24

/** A property of the machine that affects how regularly a loop can poll lines. */
struct cvl_host_fact {
	const char *name;
	enum cvl_fact_state state;
	char value[CVL_FACT_TEXT];
	const char *costs;  /* what it costs if it is not good */
	const char *advice; /* what to do about it */
};

struct cvl_host {
	unsigned cpu; /* the CPU examined */
	struct cvl_host_fact fact[CVL_HOST_FACTS];
	size_t n;
};

/**
 * Read /proc and /sys for processor @cpu; -1: an isolated one, or the last that may be used. @root
 * is prefixed to both paths: "" for this machine, whose processors' counters are then compared too,
 * which takes a third of a second. CVL_E_ENV: nothing could be read.
 */
CVL_API int cvl_host_look(struct cvl_host *host, const char *root, int cpu, struct cvl_error *err);

/* ---- the observer ---- */

/** Options for the analyzers. Zero: default. */
struct cvl_device_opts {
	uint64_t rate_hz;
	unsigned lines; /* of each analyzer; 0: what it has */
	/* "1-1.4,1-1.5": where they are plugged in; NULL: all found. For file and pipe: the path */
	const char *devices;
	/* bytes per sample, if the driver cannot know; 0: as few as hold the lines */
	unsigned unit;
	const char *names;    /* line names chosen by the user, "A,B"; NULL: the driver's */
	uint64_t power_hz;    /* readings of the supply current per second; 0: none */
	const char *mask;     /* names of the lines to watch, "A,B"; NULL: all */
	const char *mode;     /* of the analyzer's clock; NULL: the driver's default */
	const char *metadata; /* file of the TSDL that belongs to the packets */
	const char *bells;    /* doorbells that announce packets, "PATH,mq:/NAME" */
	const char *firmware; /* Intel HEX to load; NULL: built-in */
};

struct cvl_capture_opts {
	const struct cvl_driver *driver;
	struct cvl_device_opts device;
	const char *session;   /* path of the directory */
	const char *name;      /* of the observer and its clock; further analyzers: NAME-2, ... */
	const char *radio;     /* "spidev0.0", or NULL: none */
	const char *profile;   /* of the radio, or NULL */
	unsigned radio_line;   /* line it is wired to, from 1; 0: 8 */
	int64_t period_ns;     /* of Grace's beacons, 0: 1 s */
	int64_t duration_ns;   /* 0: until stopped */
	int64_t flush_ns;      /* between packets, at most; 0: 1 s */
	int64_t start_unix_ns; /* 0: at once */
	bool wait;             /* until the control socket says start */
	const char *control;   /* path of the socket, or NULL */
	const char *metrics;   /* path of a file for Prometheus' text collector, or NULL */
	/** Called with a message; @problem: it needs attention. May be NULL. */
	void (*tell)(void *ctx, bool problem, const char *text);
	void *ctx;
	struct cvl_progress progress; /* once a second, ns of capture, of its duration */
};

/**
 * Check that @opts are consistent. CVL_E_USAGE: the text begins with the name of the offending
 * option.
 */
CVL_API int cvl_capture_check(const struct cvl_capture_opts *opts, struct cvl_error *err);

/** How it went, summed over the analyzers. */
struct cvl_capture_result {
	size_t clocks, failed;
	double seconds; /* of the longest */
	uint64_t edges, beacons, gaps, lost, bytes;
	uint64_t packets; /* of tracers, in place of edges */
	double cpu_s;     /* spent on samples */
};

struct cvl_capture;

/**
 * Prepare to capture, and open the control socket. What @opts points to must outlive @c. CVL_E_ENV
 * if a device is missing.
 */
CVL_API int cvl_capture_open(struct cvl_capture **c, const struct cvl_capture_opts *opts,
			     struct cvl_error *err);

/**
 * Descriptors to poll(2) before cvl_capture_work(), at most @max; *@timeout_ms is lowered if work
 * is due earlier.
 */
CVL_API size_t cvl_capture_wait_for(struct cvl_capture *c, struct pollfd *fds, size_t max,
				    int *timeout_ms);

/**
 * Do what is due, without waiting. Returns 1 to continue, 0 at the end, or a negative code, after
 * which @c can only be closed.
 */
CVL_API int cvl_capture_work(struct cvl_capture *c, struct cvl_error *err);

/**
 * End the capture: what was captured so far still arrives by cvl_capture_work(). A second call ends
 * it at once.
 */
CVL_API int cvl_capture_stop(struct cvl_capture *c, struct cvl_error *err);

/**
 * Finish the session's clocks and free @c. @result is filled in any case. CVL_E_IO if a stream
 * could not be written to its end. NULL is allowed.
 */
CVL_API int cvl_capture_close(struct cvl_capture *c, struct cvl_capture_result *result,
			      struct cvl_error *err);

/**
 * All of the above: capture until the duration is over, the driver's source ends, or stop is
 * requested on the control socket or by @stop_fd becoming readable, such as a signalfd(2); a second
 * request stops at once. @stop_fd -1: none. @result is filled in any case.
 */
CVL_API int cvl_capture_run(const struct cvl_capture_opts *opts, int stop_fd,
			    struct cvl_capture_result *result, struct cvl_error *err);

/**
 * Send a line to the control socket at @path, or to that of the session @path being captured, and
 * return the answer: one line of JSON, to be freed; NULL with @err filled. A refusal is
 * {"error":TEXT}.
 *
 *   prepare        find devices, load firmware, make the session: a start then takes ms
 *   start [WHEN]   at once, at a Unix time in s ("1700000000.5"), or after "+SECONDS"; prepares
 *                  first if need be
 *   stop           end the capture; the observer finishes its session and ends
 *   status         how it stands
 *   act set|clear|pulse LINE TIME, acted ID    of drivers that can actuate: docs/tracelab.md
 */
CVL_API char *cvl_capture_ask(const char *path, const char *line, struct cvl_error *err);

CVL_END_DECLS

#endif
