/* SPDX-License-Identifier: MIT */
/**
 * The host's clocks in simulated time, for a child that runs with preload/simclock.c in front: it
 * finds the page by the environment.
 */
#ifndef SIMBED_SIMCLOCK_H
#define SIMBED_SIMCLOCK_H

#include <stdint.h>

#define SIMCLOCK_ENV "COEVAL_SIMCLOCK"

struct simclock {
	int64_t boot_ns; /* CLOCK_BOOTTIME */
	int64_t real_ns; /* CLOCK_REALTIME */
};

static inline void simclock_set(struct simclock *c, int64_t boot_ns, int64_t real_ns)
{
	__atomic_store_n(&c->real_ns, real_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&c->boot_ns, boot_ns, __ATOMIC_RELEASE);
}

#endif
