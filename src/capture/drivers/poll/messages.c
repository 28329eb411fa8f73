/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/internal.h"

void poll_say(const struct device *d, bool problem, const char *fmt, ...)
{
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	d->sink->tell(d->sink->ctx, 0, problem, text);
}

void poll_say_refused(const struct device *d)
{
	if (d->pinned)
		poll_say(d, true, "the loop cannot be kept on processor %d (%s): it may be moved",
			 d->source.cpu,
			 d->pinned == EINVAL ? "it is offline, or not in this program's cpuset" :
					       strerror(d->pinned));
	if (d->prior)
		poll_say(d, true,
			 "no priority of real time (%s): other programs take turns with the loop",
			 strerror(d->prior));
	if (d->locked)
		poll_say(d, true,
			 "memory is not locked (%s): page faults may widen brackets; ulimit -l",
			 strerror(d->locked));
}

void poll_say_clock(const struct device *d)
{
	struct cvl_host_fact facts[CVL_HOST_FACTS];
	size_t n = facts_read("", (unsigned)d->source.cpu, facts);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(facts[i].name, "tsc") && facts[i].state == CVL_FACT_BAD)
			poll_say(d, true,
				 "this processor's clock: %s; brackets hold, but not in ns",
				 facts[i].value);
}

void poll_say_oddities(const struct device *d)
{
	const uint64_t mask = d->source.lines.mask;

	if (d->told.full)
		poll_say(
			d, true,
			"%" PRIu64
			" changes were seen and found no room: they came faster than they are stored",
			d->told.full);
	if (d->source.kind == POLL_IOPORT && !(d->told.zeros & mask))
		poll_say(d, true, "%s: always reads FF: no port there, or nothing wired to it",
			 d->source.text);
	else if (!d->told.changes)
		poll_say(d, false, "%s: no line changed", d->source.text);
}

/* The loop ended without being asked to. */
int poll_broke_off(const struct device *d, struct cvl_error *err)
{
	if (d->gone)
		return cvl_fail(
			err, CVL_E_IO, CVL_NO_OFFSET,
			"%s: it is gone: the file was made shorter, or the device was taken away",
			d->source.text);
	if (atomic_load(&d->loop->ran_back))
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"the loop was moved to a processor whose clock is behind, so nothing more can be stamped; have it kept on one (cpu=N)");
	return 0;
}
