/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include "wire/beacon.h"

#define NS_MS 1000000
#define NS_S 1000000000
#define CRC_BYTES 2
#define SYNC_BYTES 2

uint64_t schedule_air_ns(uint32_t baud, unsigned n)
{
	return (uint64_t)(BEACON_PREAMBLE_BYTES + SYNC_BYTES + n + CRC_BYTES) * 8 * NS_S / baud;
}

const char *schedule_check(const struct schedule *s, uint64_t air_ns)
{
	uint64_t slot_ns;

	if (!s->interval_ms || s->interval_ms > SCHEDULE_INTERVAL_MAX_MS)
		return "the interval must be 1 ms to 10 s";
	if (!s->slot || s->slot > s->slots || s->slots > SCHEDULE_SLOTS_MAX)
		return "the slot must be 1 to the number of slots, which is 64 at most";
	if (air_ns + SCHEDULE_LEAD_NS + SCHEDULE_TAIL_NS > (uint64_t)s->interval_ms * NS_MS)
		return "a beacon does not fit in the interval";
	slot_ns = (uint64_t)s->interval_ms * NS_MS / s->slots;
	if (s->slots > 1 && air_ns + SCHEDULE_GUARD_NS > slot_ns)
		return "beacons of neighbouring slots would collide";
	return 0;
}

int64_t schedule_next(const struct schedule *s, int64_t ns, int64_t ahead_s)
{
	int64_t interval = (int64_t)s->interval_ms * NS_MS;
	int64_t begin = -(ahead_s * NS_S % interval); /* of an interval, in own time */
	int64_t first = begin + interval * (s->slot - 1) / s->slots;
	int64_t k = (ns - first) / interval;

	if ((ns - first) % interval < 0)
		k--;
	return first + (k + 1) * interval;
}

int schedule_divides_second(const struct schedule *s)
{
	return 1000 % s->interval_ms == 0;
}

const char *schedule_silent(const struct schedule *s, uint32_t uncertain_ns, int utc)
{
	if (s->slots == 1)
		return 0;
	if (uncertain_ns > SCHEDULE_GUARD_NS / 2)
		return "no-pulse";
	if (!utc && !schedule_divides_second(s))
		return "no-utc";
	return 0;
}
