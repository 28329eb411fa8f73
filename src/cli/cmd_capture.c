/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"
#include "uplinkopts.h"

#include <coeval/capture.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct capture {
	struct cvl_capture_opts opts;
	struct progress progress;
	const char *driver;
	bool json;
	char host[256];
};

static int take_start(const struct verb *verb, void *to, char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v > 0) || v > 9e9)
		return cli_usage(verb, "--start takes a Unix time in seconds, not '%s'", text);
	*(int64_t *)to = (int64_t)(v * 1e9);
	return 0;
}

static const char *driver_name(size_t i)
{
	const struct cvl_driver *d = cvl_driver_at(i);

	return d ? d->name : NULL;
}

static bool driver(size_t i, struct verb_member *m)
{
	const struct cvl_driver *d = cvl_driver_at(i);

	if (d)
		*m = (struct verb_member){ d->name, d->what, d->options };
	return d;
}

static const struct verb_members driver_members = { "Drivers (--driver)", driver };

#define AT(member) offsetof(struct capture, member)

static const struct cli_option options[] = {
	{ "output", 'o', "SESSION", OPTION_DIR, AT(opts.session),
	  "directory of the session (default: session); one that an interrupted capture left is resumed" },
	{ "driver", 'd', "NAME", OPTION_WORD, AT(driver), "what captures (default: fx2)",
	  .word = driver_name },
	{ "device", 0, "WHERE", OPTION_FILE, AT(opts.device.devices),
	  "which device (default: all that are found)" },
	{ "rate", 'r', "HZ", OPTION_RATE, AT(opts.device.rate_hz), "sampling rate: 8MHz, 500k" },
	{ "name", 'n', "NAME", OPTION_TEXT, AT(opts.name),
	  "of the observer and its clock (default: the host's name); further analyzers: NAME-2, ..." },
	{ "lines", 0, "N", OPTION_NUMBER, AT(opts.device.lines), "lines of each analyzer", 1, 64 },
	{ "names", 0, "A,B,...", OPTION_TEXT, AT(opts.device.names),
	  "names of the lines, from the lowest bit up" },
	{ .kind = OPTION_HEADING, .what = "When" },
	{ "duration", 0, "TIME", OPTION_DURATION, AT(opts.duration_ns),
	  "stop after TIME, by the analyzer's clock" },
	{ "start", 0, "TIME", OPTION_TEXT, AT(opts.start_unix_ns),
	  "start at this Unix time, in seconds", .take = take_start },
	{ "control", 0, "SOCKET", OPTION_FILE, AT(opts.control),
	  "obey `coeval control SOCKET`: prepare, start, stop, status" },
	{ "wait", 0, NULL, OPTION_FLAG, AT(opts.wait), "do nothing until the socket says so" },
	{ "metrics", 0, "FILE", OPTION_FILE, AT(opts.metrics),
	  "keep figures there for Prometheus' text collector" },
	JSON_OPTION(AT(json)),
	{ .kind = OPTION_HEADING, .what = "Beacons" },
	{ "radio", 0, "DEVICE", OPTION_FILE, AT(opts.radio),
	  "CC1101 that hears beacons: spidev0.0" },
	{ "profile", 0, "NAME", OPTION_TEXT, AT(opts.profile), "its settings (default: grace)" },
	{ "radio-line", 0, "N", OPTION_NUMBER, AT(opts.radio_line),
	  "line that its GDO0 is wired to, counted from 1 (default: 8)", 1, 64 },
	{ "beacon-period", 0, "TIME", OPTION_DURATION, AT(opts.period_ns),
	  "from one number of Grace's beacons to the next (default: 1s)" },
	{ .kind = OPTION_HEADING, .what = "Of some drivers" },
	{ "unit-size", 0, "N", OPTION_NUMBER, AT(opts.device.unit),
	  "bytes of a sample of a file or pipe", 1, 8 },
	{ "metadata", 0, "FILE,...", OPTION_FILE, AT(opts.device.metadata),
	  "what traced programs declare" },
	{ "bell", 0, "PATH,...", OPTION_FILE, AT(opts.device.bells),
	  "sleep until one of these rings" },
	{ "power", 0, "RATE", OPTION_RATE, AT(opts.device.power_hz),
	  "readings of the supply current a second" },
	{ "mask", 0, "A,B,...", OPTION_TEXT, AT(opts.device.mask), "watch these lines only" },
	{ "mode", 0, "MODE", OPTION_TEXT, AT(opts.device.mode),
	  "of the observer's clock: fine or paper" },
	{ 0 },
};

static void tell(void *ctx, bool problem, const char *text)
{
	progress_clear(ctx);
	fprintf(stderr, "coeval: %s%s\n", problem ? "warning: " : "", text);
}

static int print_result(const struct capture *k, const struct cvl_capture_result *r)
{
	struct cvl_out out;

	cvl_out_init(&out, STDOUT_FILENO, "standard output");
	if (k->json) {
		struct js j = js_begin(&out);

		js_text(&j, "session", k->opts.session);
		js_counts(&j, "clocks failed", r->clocks, r->failed);
		js_real(&j, "seconds", round(r->seconds * 1e6) / 1e6);
		js_counts(&j, "records packets beacons gaps lost_samples bytes", r->edges,
			  r->packets, r->beacons, r->gaps, r->lost, r->bytes);
		js_real(&j, "cpu_seconds", round(r->cpu_s * 1e6) / 1e6);
		js_end(&j);
	} else {
		cvl_out_printf(&out, "%s: ", k->opts.session);
		cli_count(&out, "", r->clocks, "clock", "");
		cvl_out_printf(&out, ", %.3f s, ", r->seconds);
		if (r->packets) {
			cli_count(&out, "", r->packets, "packet", "");
		} else {
			cli_count(&out, "", r->edges, "record", ", ");
			cli_count(&out, "", r->beacons, "beacon", ", ");
			cli_count(&out, "", r->gaps, "gap", "");
		}
		cvl_out_char(&out, '\n');
	}
	return cvl_out_close(&out, NULL) ? 4 : 0;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct capture k = { .opts = { .session = "session",
				       .tell = tell,
				       .ctx = &k.progress,
				       .progress = { progress_show, &k.progress } },
			     .driver = "fx2" };
	struct cvl_capture_result result;
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &k, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	k.opts.driver = cvl_driver_find(k.driver);
	if (cvl_capture_check(&k.opts, &err))
		return cli_usage(verb, "--%s", err.text);
	if (!k.opts.name) {
		gethostname(k.host, sizeof(k.host) - 1);
		k.opts.name = k.host;
	}
	progress_init(&k.progress, k.opts.session);
	rc = cvl_capture_run(&k.opts, cli_stop_fd(), &result, &err);
	progress_clear(&k.progress);
	/* nothing to report for a refused capture */
	if ((!rc || result.bytes || result.edges) && result.clocks && print_result(&k, &result) &&
	    !rc)
		return 4;
	return rc ? cli_fail(&err) : 0;
}

const struct verb verb_capture = {
	.name = "capture",
	.group = VERB_GET,
	.what = "capture from analyzers, observers and radios",
	.options = options,
	.members = &driver_members,
	.notes =
		"It ends at its --duration, at the end of its input, or cleanly on SIGINT or SIGTERM. Memory is bounded, packets are written once a second, and whatever is lost is a gap.\n",
	.examples = "  coeval capture --rate 8MHz --radio spidev0.0 --name n07 -o s/\n"
		    "  other-analyzer --raw |\n"
		    "    coeval capture --driver pipe --rate 1MHz --lines 8 --name desk -o s/\n",
	.run = run,
};
