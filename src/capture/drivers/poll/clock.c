/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "capture/drivers/driver.h"

#define TRIES 50

bool poll_clock_there(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;

	return __get_cpuid(0x80000001, &a, &b, &c, &d) && (d >> 27 & 1);
#else
	return true;
#endif
}

/** Both clocks at once; the host may be busy in between, so the closest of several attempts. */
struct both {
	uint64_t ticks, apart; /* in the middle of this many */
	int64_t ns;
};

static struct both look(void)
{
	struct both best = { .apart = UINT64_MAX };
	uint32_t cpu;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = poll_clock(&cpu), after;
		int64_t ns = driver_monotonic_ns();

		after = poll_clock(&cpu);
		if (after > before && after - before < best.apart)
			best = (struct both){ before + (after - before) / 2, after - before, ns };
	}
	return best;
}

uint64_t poll_clock_rate(unsigned ms, uint64_t *off_ppb)
{
	struct both a = look(), b;
	double ticks, ns;

	nanosleep(&(struct timespec){ ms / 1000, (long)(ms % 1000) * 1000000 }, NULL);
	b = look();
	ticks = (double)(b.ticks - a.ticks);
	ns = (double)(b.ns - a.ns);
	/* each end may be off by half of the reading around it, and by a ns of the host's clock */
	*off_ppb = (uint64_t)((double)(a.apart + b.apart) / 2 / ticks * 1e9 + 2 / ns * 1e9) + 1;
	return (uint64_t)(ticks * 1e9 / ns + 0.5);
}
