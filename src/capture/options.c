/* SPDX-License-Identifier: MIT */
#include <coeval/capture.h>

#include <string.h>

static bool heeds(const struct cvl_driver *d, const char *option)
{
	const struct cvl_option *o = d->options;

	while (o->name && strcmp(o->name, option) != 0)
		o++;
	return o->name;
}

int cvl_capture_check(const struct cvl_capture_opts *opts, struct cvl_error *err)
{
	const struct cvl_device_opts *d = &opts->device;
	const struct {
		const char *name;
		bool given;
	} options[] = {
		{ "rate", d->rate_hz },      { "lines", d->lines }, { "unit-size", d->unit },
		{ "power", d->power_hz },    { "mask", d->mask },   { "mode", d->mode },
		{ "metadata", d->metadata }, { "bell", d->bells },  { "radio", opts->radio },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].given && !heeds(opts->driver, options[i].name))
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"%s is not an option of the driver %s", options[i].name,
					opts->driver->name);
	if (heeds(opts->driver, "rate") && !d->rate_hz)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"rate is needed: how fast to sample, such as 8MHz");
	if (opts->wait && !opts->control)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"wait is for a capture with a control socket");
	return 0;
}
