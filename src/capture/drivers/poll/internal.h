/* SPDX-License-Identifier: MIT */
/** The poll driver's state, shared by its working part and its messages to the user. */
#ifndef DRIVERS_POLL_INTERNAL_H
#define DRIVERS_POLL_INTERNAL_H

#include <pthread.h>
#include <sched.h>

#include "capture/drivers/poll/gpio.h"
#include "capture/drivers/poll/skew.h"
#include "capture/drivers/poll/records.h"

struct device {
	const struct driver_sink *sink;
	struct driver_analyzer analyzer;
	struct poll_source source;
	struct poll_loop *loop;
	struct poll_watch watch;
	struct poll_gpio gpio;
	struct poll_records told;
	pthread_t thread;
	cpu_set_t others, before; /* processors of the observer's thread: now and before */
	uint64_t off_ppb;
	struct poll_skew skew; /* of the loop's processor beside processor @other, or -1 */
	int other;
	bool threaded, stopping, busy, moved, described;
	bool gone; /* the memory */
	_Atomic bool ended;
	_Atomic int pinned, prior, locked; /* 0, or an errno */
};

static inline bool loops(const struct device *d)
{
	return d->source.kind != POLL_GPIOCHIP;
}

__attribute__((format(printf, 3, 4))) void poll_say(const struct device *d, bool problem,
						    const char *fmt, ...);

/** Report which of the loop's requests the machine refused, and problems of its clock. */
void poll_say_refused(const struct device *d);
void poll_say_clock(const struct device *d);

/** At the end: report oddities. */
void poll_say_oddities(const struct device *d);

/** Why the loop ended without being asked to; 0: it was asked. */
int poll_broke_off(const struct device *d, struct cvl_error *err);

#endif
