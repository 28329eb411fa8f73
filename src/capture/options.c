/* SPDX-License-Identifier: MIT */
#include <coeval/capture.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define OPTION(name, member)                                           \
	{                                                              \
		name, offsetof(struct cvl_capture_opts, member),       \
			sizeof(((struct cvl_capture_opts *)0)->member) \
	}

/* Those that only some drivers heed. */
static const struct {
	const char *name;
	size_t at, size;
} by_driver[] = {
	OPTION("rate", device.rate_hz),
	OPTION("lines", device.lines),
	OPTION("unit-size", device.unit),
	OPTION("power", device.power_hz),
	OPTION("mask", device.mask),
	OPTION("mode", device.mode),
	OPTION("metadata", device.metadata),
	OPTION("bell", device.bells),
	OPTION("radio", radio),
};

static bool heeds(const struct cvl_driver *d, const char *name)
{
	for (const struct cvl_option *o = d->options; o->name; o++)
		if (!strcmp(o->name, name))
			return true;
	return false;
}

static bool is_set(const struct cvl_capture_opts *opts, size_t at, size_t size)
{
	static const char nothing[sizeof(uint64_t)];

	return memcmp((const char *)opts + at, nothing, size) != 0;
}

static int refuse(const struct cvl_driver *d, const char *name, struct cvl_error *err)
{
	char list[300] = "";
	size_t n = 0;

	for (const struct cvl_option *o = d->options; o->name && n < sizeof(list); o++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "", o->name);
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s is not for the driver %s, which takes %s", name, d->name, list);
}

int cvl_capture_check(const struct cvl_capture_opts *opts, struct cvl_error *err)
{
	const struct cvl_driver *d = opts->driver;

	for (size_t i = 0; i < sizeof(by_driver) / sizeof(*by_driver); i++)
		if (is_set(opts, by_driver[i].at, by_driver[i].size) &&
		    !heeds(d, by_driver[i].name))
			return refuse(d, by_driver[i].name, err);
	if (heeds(d, "rate") && !opts->device.rate_hz)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"rate is needed: how fast to sample, such as 8MHz");
	if (opts->wait && !opts->control)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"wait is for a capture with a control socket");
	return 0;
}
