/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"
#include "uplinkopts.h"

#include <coeval/capture.h>

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct capture {
	struct cvl_capture_opts opts;
	struct progress progress;
	struct cvl_uplink_opts uplink;
	uint64_t keep_bytes;
	const char *driver;
	bool json;
	char host[256];
	pid_t sender; /* 0: none */
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
	{ "flush", 0, "TIME", OPTION_DURATION, AT(opts.flush_ns),
	  "write what was captured at least so often (default: 1s)", 10000000, 60000000000 },
	{ "start", 0, "TIME", OPTION_TEXT, AT(opts.start_unix_ns),
	  "start at this Unix time, in seconds", .take = take_start },
	{ "control", 0, "SOCKET", OPTION_FILE, AT(opts.control),
	  "obey `coeval control SOCKET`: prepare, start, stop, status" },
	{ "wait", 0, NULL, OPTION_FLAG, AT(opts.wait), "do nothing until the socket says so" },
	{ "metrics", 0, "FILE", OPTION_FILE, AT(opts.metrics),
	  "keep figures there for Prometheus' text collector" },
	JSON_OPTION(AT(json)),
	{ .kind = OPTION_HEADING,
	  .what = "Sending it to a collector meanwhile, as `coeval send` does" },
	UPLINK_OPTIONS(AT(uplink)),
	KEEP_OPTION(AT(keep_bytes)),
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

/*
 * `coeval send` as a child: what goes wrong there cannot hurt the capture. It is in a group of its own,
 * so that an interrupt from the terminal ends the capture, and it sends the rest.
 */
static int start_sender(struct capture *k, struct cvl_error *err)
{
	char keep[32];
	const char *argv[20] = { "coeval",      "send",   k->opts.session, "--server",
				 k->uplink.url, "--name", k->opts.name,    "--wait" };
	const char *const pairs[][2] = { { "--testbed", k->uplink.testbed },
					 { "--key", k->uplink.key },
					 { "--ca", k->uplink.ca },
					 { "--keep", k->keep_bytes ? keep : NULL } };
	int n = 8;

	snprintf(keep, sizeof(keep), "%llu", (unsigned long long)k->keep_bytes);

	if (!cvl_uplink_is_name(k->opts.name))
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"'%s' cannot name a node: up to 64 letters, digits, '-' and '_'; see --name",
			k->opts.name);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i][1]) {
			argv[n++] = pairs[i][0];
			argv[n++] = pairs[i][1];
		}
	k->sender = fork();
	if (k->sender < 0)
		return cvl_fail_errno(err, "start", "coeval send");
	if (!k->sender) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		setpgid(0, 0);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	return 0;
}

/* Whether it is at work; if something killed it, it is started again. */
static bool sender_works(struct capture *k)
{
	int status = 0;

	if (k->sender > 0 && waitpid(k->sender, &status, WNOHANG) == k->sender) {
		k->sender = 0;
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM)
			start_sender(k, NULL);
	}
	return k->sender > 0;
}

static bool show_progress(void *capture, uint64_t done, uint64_t total)
{
	struct capture *k = capture;

	sender_works(k);
	return progress_show(&k->progress, done, total);
}

/* All is written: wait until it is sent, or until somebody stops that, too. */
static void end_sender(struct capture *k, bool captured, int stop_fd)
{
	char signal[sizeof(struct signalfd_siginfo)];
	bool told = false;

	if (!captured && k->sender > 0)
		kill(k->sender, SIGTERM);
	while (sender_works(k)) {
		struct pollfd fd = { .fd = stop_fd, .events = POLLIN };

		if (poll(&fd, 1, 200) > 0 && read(stop_fd, signal, sizeof(signal)) > 0) {
			kill(k->sender, SIGTERM);
			continue;
		}
		if (!told && isatty(STDERR_FILENO))
			fprintf(stderr,
				"coeval: sending the rest to the collector; interrupt to leave it for `coeval send`\n");
		told = true;
	}
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct capture k = { .opts = { .session = "session",
				       .tell = tell,
				       .ctx = &k.progress,
				       .progress = { show_progress, &k } },
			     .driver = "fx2" };
	struct cvl_capture_result result;
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &k, argc, argv, &operands), stop_fd;

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
	rc = k.uplink.url ? start_sender(&k, &err) : 0;
	if (rc)
		return cli_fail(&err);
	stop_fd = cli_stop_fd();
	rc = cvl_capture_run(&k.opts, stop_fd, &result, &err);
	progress_clear(&k.progress);
	end_sender(&k, result.clocks > 0, stop_fd);
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
		"It ends at its --duration, at the end of its input, or cleanly on SIGINT or SIGTERM. Memory is bounded, packets are written once a second (see --flush), and whatever is lost is a gap.\n",
	.examples = "  coeval capture --rate 8MHz --radio spidev0.0 --name n07 -o s/\n"
		    "  other-analyzer --raw |\n"
		    "    coeval capture --driver pipe --rate 1MHz --lines 8 --name desk -o s/\n",
	.run = run,
};
