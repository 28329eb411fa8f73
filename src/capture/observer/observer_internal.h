/* SPDX-License-Identifier: MIT */
/** Shared by observer.c, which does the work, and watch.c, which reports on it. */
#ifndef OBSERVER_OBSERVER_INTERNAL_H
#define OBSERVER_OBSERVER_INTERNAL_H

#include "capture/observer/control.h"
#include "capture/drivers/driver.h"
#include "capture/observer/stream.h"

#define ANALYZERS_MAX 16

enum observer_state {
	OBSERVER_IDLE,
	OBSERVER_PREPARED,
	OBSERVER_RUNNING,
	OBSERVER_STOPPING,
	OBSERVER_DONE
};

struct cvl_capture {
	const struct cvl_capture_opts *opts;
	const struct driver *how;
	enum observer_state state;
	struct driver_sink sink;
	void *driver; /* its state */
	const struct driver_analyzer *analyzer;
	size_t n;
	struct cvl_session *session;
	struct radio *radio;
	struct control *control;
	struct stream *stream[ANALYZERS_MAX];
	int64_t start_at;                  /* CLOCK_REALTIME, ns; 0: not yet, INT64_MIN: at once */
	int64_t began, housekept, flushed; /* driver_boottime_ns() */
	int64_t stopped;                   /* driver_monotonic_ns(); 0: no */
	struct cvl_error last;             /* error of the last command */
};

const char *observer_state_name(enum observer_state s);

/** One line of JSON from malloc(), or NULL. */
char *watch_status(const struct cvl_capture *o);

/** Write the file for Prometheus, replacing it atomically. */
int watch_metrics(const struct cvl_capture *o, const char *path, struct cvl_error *err);

/** Notify the service manager, if there is one: "READY=1" (sd_notify(3)). */
void watch_notify(const char *text);

#endif
