/* SPDX-License-Identifier: MIT */
/*
 * In front of a child's C library: its CLOCK_BOOTTIME and CLOCK_REALTIME are those of the
 * simulation.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/simbed/simclock.h"

static const struct simclock *page;

__attribute__((constructor)) static void map_page(void)
{
	const char *path = getenv(SIMCLOCK_ENV);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	page = at == MAP_FAILED ? NULL : at;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t ns;

	if (!page || (id != CLOCK_BOOTTIME && id != CLOCK_REALTIME))
		return (int)syscall(SYS_clock_gettime, id, t);
	ns = __atomic_load_n(id == CLOCK_BOOTTIME ? &page->boot_ns : &page->real_ns,
			     __ATOMIC_ACQUIRE);
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}
