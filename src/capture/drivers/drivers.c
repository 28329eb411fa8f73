/* SPDX-License-Identifier: MIT */
#include "capture/drivers/driver.h"

#include <string.h>
#include <time.h>

extern const struct driver driver_fx2, driver_tracelab, driver_shm, driver_serial, driver_file,
	driver_pipe, driver_poll;

const struct driver *const drivers[] = {
	&driver_fx2,  &driver_tracelab, &driver_shm,  &driver_serial,
	&driver_poll, &driver_file,     &driver_pipe, NULL,
};

const struct driver *driver_find(const char *name)
{
	for (size_t i = 0; drivers[i]; i++)
		if (!strcmp(drivers[i]->pub.name, name))
			return drivers[i];
	return NULL;
}

const struct driver *driver_of(const struct cvl_driver *pub)
{
	return (const struct driver *)pub; /* its first member */
}

const struct cvl_driver *cvl_driver_at(size_t i)
{
	return i < sizeof(drivers) / sizeof(*drivers) - 1 ? &drivers[i]->pub : NULL;
}

const struct cvl_driver *cvl_driver_find(const char *name)
{
	const struct driver *d = driver_find(name);

	return d ? &d->pub : NULL;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t driver_boottime_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

int64_t driver_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t samples_in(uint64_t rate_hz, int64_t ns)
{
	return ns <= 0 ? 0 : (uint64_t)((unsigned __int128)(uint64_t)ns * rate_hz / 1000000000u);
}

struct driver_loss driver_loss_between(uint64_t rate_hz, enum cvl_gap why, int64_t last_early,
				       int64_t last_late, int64_t next_early, int64_t next_late)
{
	uint64_t least = samples_in(rate_hz, next_early - last_late),
		 most = samples_in(rate_hz, next_late - last_early) + 2;

	least -= least / (1000000 / DRIVER_CRYSTAL_PPM);
	least = least > 1 ? least - 1 : 1;
	most += most / (1000000 / DRIVER_CRYSTAL_PPM) + 1;
	return (struct driver_loss){
		.why = why,
		.samples = least + (most - least + 1) / 2,
		.slack = (most - least + 1) / 2,
	};
}
