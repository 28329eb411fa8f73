/* SPDX-License-Identifier: MIT */
#include <coeval/capture.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/time.h>

enum kind { TEXT, RATE, NUMBER, DURATION, MOMENT, FLAG };

struct option {
	struct cvl_capture_option pub;
	enum kind kind;
	size_t offset;
	unsigned max;  /* of a number, which is at least 1 */
	bool by_driver; /* only those drivers have it that say so */
};

#define AT(member) offsetof(struct cvl_capture_opts, member)

static const struct option options[] = {
	{ { "rate", "HZ" }, RATE, AT(device.rate_hz), 0, true },
	{ { "name", "NAME" }, TEXT, AT(name), 0, false },
	{ { "device", "WHERE" }, TEXT, AT(device.devices), 0, false },
	{ { "lines", "N" }, NUMBER, AT(device.lines), 64, true },
	{ { "unit-size", "N" }, NUMBER, AT(device.unit), 8, true },
	{ { "names", "A,B,..." }, TEXT, AT(device.names), 0, false },
	{ { "power", "RATE" }, RATE, AT(device.power_hz), 0, true },
	{ { "mask", "A,B,..." }, TEXT, AT(device.mask), 0, true },
	{ { "mode", "MODE" }, TEXT, AT(device.mode), 0, true },
	{ { "metadata", "FILE,..." }, TEXT, AT(device.metadata), 0, true },
	{ { "bell", "PATH,..." }, TEXT, AT(device.bells), 0, true },
	{ { "radio", "DEVICE" }, TEXT, AT(radio), 0, true },
	{ { "profile", "NAME" }, TEXT, AT(profile), 0, false },
	{ { "radio-line", "N" }, NUMBER, AT(radio_line), 64, false },
	{ { "beacon-period", "T" }, DURATION, AT(period_ns), 0, false },
	{ { "duration", "T" }, DURATION, AT(duration_ns), 0, false },
	{ { "start", "TIME" }, MOMENT, AT(start_unix_ns), 0, false },
	{ { "control", "SOCKET" }, TEXT, AT(control), 0, false },
	{ { "wait", NULL }, FLAG, AT(wait), 0, false },
	{ { "metrics", "FILE" }, TEXT, AT(metrics), 0, false },
};

#define N_OPTIONS (sizeof(options) / sizeof(*options))

const struct cvl_capture_option *cvl_capture_option_at(size_t i)
{
	return i < N_OPTIONS ? &options[i].pub : NULL;
}

/* "8MHz", "500k" */
static int read_rate(const char *text, uint64_t *hz)
{
	char plain[64];
	size_t n = strlen(text);

	snprintf(plain, sizeof(plain), "%s", text);
	if (n > 2 && n < sizeof(plain) && !strcasecmp(text + n - 2, "hz"))
		plain[n - 2] = '\0';
	return cvl_rate_parse(plain, hz);
}

static int read_number(const char *text, unsigned max, unsigned *out)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*end || end == text || !v || v > max)
		return -1;
	*out = (unsigned)v;
	return 0;
}

/* A Unix time in seconds. */
static int read_moment(const char *text, int64_t *unix_ns)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v > 0) || v > 9e9)
		return -1;
	*unix_ns = (int64_t)(v * 1e9);
	return 0;
}

int cvl_capture_set(struct cvl_capture_opts *opts, const char *name, const char *value,
		    struct cvl_error *err)
{
	const struct option *o = options;
	char number[40];
	const char *takes = "";
	int rc = 0;
	void *at;

	while (o < options + N_OPTIONS && strcmp(o->pub.name, name) != 0)
		o++;
	if (o == options + N_OPTIONS)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: unknown option", name);
	at = (char *)opts + o->offset;
	switch (o->kind) {
	case TEXT: *(const char **)at = value; break;
	case FLAG: *(bool *)at = true; break;
	case RATE:
		takes = "a rate such as 8MHz or 500k";
		rc = read_rate(value, at);
		break;
	case NUMBER:
		snprintf(number, sizeof(number), "a number from 1 to %u", o->max);
		takes = number;
		rc = read_number(value, o->max, at);
		break;
	case DURATION:
		takes = "a time such as 1.2, 250ms or 10us";
		rc = cvl_duration_parse(value, at);
		break;
	case MOMENT:
		takes = "a Unix time in seconds";
		rc = read_moment(value, at);
		break;
	}
	return rc ? cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s takes %s, not '%s'", name, takes,
			     value) :
		    0;
}

/* Whether @name is in a list such as "a,b". */
static bool listed(const char *list, const char *name)
{
	const size_t n = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, name, n) && (!p[n] || p[n] == ','))
			return true;
	}
	return false;
}

static bool is_set(const struct cvl_capture_opts *opts, const struct option *o)
{
	const void *at = (const char *)opts + o->offset;

	switch (o->kind) {
	case TEXT: return *(const char *const *)at;
	case RATE: return *(const uint64_t *)at;
	case NUMBER: return *(const unsigned *)at;
	case FLAG: return *(const bool *)at;
	default: return *(const int64_t *)at;
	}
}

int cvl_capture_check(const struct cvl_capture_opts *opts, struct cvl_error *err)
{
	const struct cvl_driver *d = opts->driver;

	for (size_t i = 0; i < N_OPTIONS; i++)
		if (options[i].by_driver && is_set(opts, &options[i]) &&
		    !listed(d->takes, options[i].pub.name))
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"%s is not for the driver %s%s%s", options[i].pub.name,
					d->name, *d->takes ? ", which takes " : "", d->takes);
	if (listed(d->takes, "rate") && !opts->device.rate_hz)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"rate is needed: how fast to sample, such as 8MHz");
	if (opts->wait && !opts->control)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"wait is for a capture with a control socket");
	return 0;
}
