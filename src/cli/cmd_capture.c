/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "capture/observer/observer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	OPT_LINES = 256,
	OPT_UNIT,
	OPT_NAMES,
	OPT_DEVICE,
	OPT_RADIO,
	OPT_PROFILE,
	OPT_RADIO_LINE,
	OPT_PERIOD,
	OPT_DURATION,
	OPT_START,
	OPT_CONTROL,
	OPT_WAIT,
	OPT_METRICS,
	OPT_POWER,
	OPT_MASK,
	OPT_MODE,
	OPT_METADATA,
	OPT_BELL,
	OPT_JSON
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "driver", required_argument, NULL, 'd' },
	{ "rate", required_argument, NULL, 'r' },
	{ "name", required_argument, NULL, 'n' },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "lines", required_argument, NULL, OPT_LINES },
	{ "unit-size", required_argument, NULL, OPT_UNIT },
	{ "names", required_argument, NULL, OPT_NAMES },
	{ "radio", required_argument, NULL, OPT_RADIO },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "radio-line", required_argument, NULL, OPT_RADIO_LINE },
	{ "beacon-period", required_argument, NULL, OPT_PERIOD },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "start", required_argument, NULL, OPT_START },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "wait", no_argument, NULL, OPT_WAIT },
	{ "metrics", required_argument, NULL, OPT_METRICS },
	{ "power", required_argument, NULL, OPT_POWER },
	{ "mask", required_argument, NULL, OPT_MASK },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "metadata", required_argument, NULL, OPT_METADATA },
	{ "bell", required_argument, NULL, OPT_BELL },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

struct capture {
	struct observer_opts opts;
	struct progress progress;
	bool json;
	char host[256];
};

static int rate(const struct verb *verb, const char *option, const char *text, uint64_t *hz)
{
	char plain[64];
	size_t n = strlen(text);

	snprintf(plain, sizeof(plain), "%s", text);
	if (n > 2 && n < sizeof(plain) && !strcasecmp(text + n - 2, "hz"))
		plain[n - 2] = '\0';
	if (cvl_rate_parse(plain, hz))
		return cli_usage(verb, "%s takes a rate such as 8MHz or 500k, not '%s'", option,
				 text);
	return 0;
}

static int start_time(const struct verb *verb, const char *text, int64_t *unix_ns)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v > 0) || v > 9e9)
		return cli_usage(verb, "--start takes a Unix time in seconds, not '%s'", text);
	*unix_ns = (int64_t)(v * 1e9);
	return 0;
}

static int read_option(int c, const struct verb *verb, struct capture *k)
{
	struct observer_opts *o = &k->opts;
	unsigned line;
	int rc = 0;

	switch (c) {
	case 'o': o->session = optarg; return 0;
	case 'd':
		o->driver = driver_find(optarg);
		return o->driver ? 0 :
				   cli_usage(verb, "there is no driver '%s'; `coeval help capture`",
					     optarg);
	case 'r': return rate(verb, "--rate", optarg, &o->device.rate_hz);
	case 'n': o->name = optarg; return 0;
	case OPT_DEVICE: o->device.devices = optarg; return 0;
	case OPT_LINES: return cli_number(verb, "--lines", optarg, 64, &o->device.lines);
	case OPT_UNIT: return cli_number(verb, "--unit-size", optarg, 8, &o->device.unit);
	case OPT_NAMES: o->names = optarg; return 0;
	case OPT_RADIO: o->radio = optarg; return 0;
	case OPT_PROFILE: o->profile = optarg; return 0;
	case OPT_RADIO_LINE:
		rc = cli_number(verb, "--radio-line", optarg, 64, &line);
		o->radio_line = line - 1;
		return rc;
	case OPT_PERIOD: return cli_duration(verb, "--beacon-period", optarg, &o->period_ns);
	case OPT_DURATION: return cli_duration(verb, "--duration", optarg, &o->duration_ns);
	case OPT_START: return start_time(verb, optarg, &o->start_unix_ns);
	case OPT_CONTROL: o->control = optarg; return 0;
	case OPT_WAIT: o->wait = true; return 0;
	case OPT_METRICS: o->metrics = optarg; return 0;
	case OPT_POWER: return rate(verb, "--power", optarg, &o->device.power_hz);
	case OPT_MASK: o->device.mask = optarg; return 0;
	case OPT_MODE: o->device.mode = optarg; return 0;
	case OPT_METADATA: o->device.metadata = optarg; return 0;
	case OPT_BELL: o->device.bells = optarg; return 0;
	case OPT_JSON: k->json = true; return 0;
	default: return -1;
	}
}

static void tell(void *ctx, bool problem, const char *text)
{
	struct capture *k = ctx;

	progress_clear(&k->progress);
	fprintf(stderr, "coeval: %s%s\n", problem ? "warning: " : "", text);
}

static bool show_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct capture *k = ctx;

	return progress_show(&k->progress, done, total);
}

static int print_result(const struct capture *k, const struct observer_result *r)
{
	struct cvl_out out;

	cvl_out_init(&out, STDOUT_FILENO, "standard output");
	if (k->json) {
		cvl_out_text(&out, "{\"session\":");
		cvl_out_json(&out, k->opts.session, strlen(k->opts.session));
		cvl_out_printf(
			&out,
			",\"clocks\":%zu,\"failed\":%zu,\"seconds\":%.6f,\"records\":%" PRIu64
			",\"packets\":%" PRIu64 ",\"beacons\":%" PRIu64 ",\"gaps\":%" PRIu64
			",\"lost_samples\":%" PRIu64 ",\"bytes\":%" PRIu64
			",\"cpu_seconds\":%.6f}\n",
			r->clocks, r->failed, r->seconds, r->edges, r->packets, r->beacons, r->gaps,
			r->lost, r->bytes, r->cpu_s);
	} else {
		cvl_out_printf(&out, "%s: ", k->opts.session);
		cli_count(&out, r->clocks, "clock");
		cvl_out_printf(&out, ", %.3f s, ", r->seconds);
		if (r->packets) {
			cli_count(&out, r->packets, "packet");
		} else {
			cli_count(&out, r->edges, "record");
			cvl_out_text(&out, ", ");
			cli_count(&out, r->beacons, "beacon");
			cvl_out_text(&out, ", ");
			cli_count(&out, r->gaps, "gap");
		}
		cvl_out_char(&out, '\n');
	}
	return cvl_out_close(&out, NULL) ? 4 : 0;
}

/* Signals become readable, so that a capture ends between two steps of its loop. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int check(const struct capture *k, const struct verb *verb)
{
	const struct observer_opts *o = &k->opts;

	bool stamps;

	if (!o->driver)
		return cli_usage(
			verb,
			"name a driver: --driver fx2, tracelab, shm, serial, poll, file or pipe");
	stamps = o->driver->stamps;
	if (!stamps && !o->device.rate_hz)
		return cli_usage(verb, "say how fast to sample: --rate 8MHz");
	if (stamps && (o->device.rate_hz || o->device.lines || o->radio))
		return cli_usage(
			verb, "%s has a rate and lines of its own: no --rate, --lines or --radio",
			o->driver->name);
	if (o->driver != driver_find("tracelab") &&
	    (o->device.power_hz || o->device.mask || o->device.mode))
		return cli_usage(verb, "--power, --mask and --mode are for --driver tracelab");
	if (o->device.metadata && o->driver != driver_find("shm") &&
	    o->driver != driver_find("serial"))
		return cli_usage(verb, "--metadata is for --driver shm and serial");
	if (o->device.bells && o->driver != driver_find("shm"))
		return cli_usage(verb, "--bell is for --driver shm");
	if (o->wait && !o->control)
		return cli_usage(verb, "--wait waits for the socket of --control");
	return 0;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct capture k = { .opts = { .session = "session",
				       .driver = driver_find("fx2"),
				       .radio_line = 7,
				       .tell = tell,
				       .ctx = &k,
				       .progress = { show_progress, &k } } };
	struct observer_result result;
	struct cvl_error err;
	int c, rc;

	while ((c = getopt_long(argc, argv, "o:d:r:n:h", options, NULL)) != -1) {
		rc = read_option(c, verb, &k);
		if (rc)
			return rc < 0 ? cli_option(c, verb) : rc;
	}
	if (optind < argc)
		return cli_usage(verb, "'%s' is one word too many", argv[optind]);
	rc = check(&k, verb);
	if (rc)
		return rc;
	if (!k.opts.name) {
		gethostname(k.host, sizeof(k.host) - 1);
		k.opts.name = k.host;
	}
	progress_init(&k.progress, k.opts.session);
	k.opts.stop_fd = catch_signals();
	rc = observer_run(&k.opts, &result, &err);
	progress_clear(&k.progress);
	/* of a capture that was refused there is nothing to say */
	if ((!rc || result.bytes || result.edges) && result.clocks && print_result(&k, &result) &&
	    !rc)
		return 4;
	return rc ? cli_fail(&err) : 0;
}

const struct verb verb_capture = {
	.name = "capture",
	.what = "capture from analyzers and a radio into a session",
	.usage = "capture [-o SESSION] [--driver NAME] [--rate HZ] [OPTIONS]",
	.help = "  -o, --output SESSION     directory of the session; one that a dead capture left is gone on with\n"
		"  -d, --driver NAME        fx2 (default), tracelab, shm, serial, poll, file or pipe\n"
		"  -r, --rate HZ            sampling rate: 8MHz, 500k\n"
		"  -n, --name NAME          of the observer and its clock (default: the host's name)\n"
		"      --device WHERE       fx2: places on the bus, \"1-1.4,1-2\" (default: all); file, pipe: the path;\n"
		"                           tracelab: SPI,SERIAL, or a file of its bytes; shm: [NAME=]PATH[@OFFSET[+BYTES]],...;\n"
		"                           serial: [NAME=]PATH[:BAUD],... (default: standard input);\n"
		"                           poll: shm:PATH[@OFFSET], mmio:PATH[@OFFSET], ioport:ADDRESS or gpiochip:PATH,\n"
		"                           then ,width=BYTES ,mask=BITS ,cpu=N ,prio=N ,gap=T ,reverse; ,lines=A+B ,latency=T\n"
		"      --metadata FILE,...  shm, serial: what the traced programs declare (firmware/lib/tracer)\n"
		"      --bell PATH,...      shm: sleep until one of these rings: FIFO, socket, port, mq:/NAME (default: look)\n"
		"      --lines N            lines of each analyzer: 8 or 16; file, pipe: 1 to 64\n"
		"      --unit-size N        file, pipe: bytes of a sample (default: as few as hold the lines)\n"
		"      --names A,B,...      names of the lines\n"
		"      --power RATE         tracelab: readings of the supply current a second, up to 56k\n"
		"      --mask A,B,...       tracelab: watch these lines only\n"
		"      --mode MODE          tracelab: fine (default: 10 ns, synchronised afterwards) or paper (2 MHz, steered)\n"
		"      --radio DEVICE       CC1101 that hears beacons: spidev0.0\n"
		"      --profile NAME       its settings (default: grace)\n"
		"      --radio-line N       line that its GDO0 is wired to, counted from 1 (default: 8)\n"
		"      --beacon-period T    between two numbers of Grace's beacons (default: 1s)\n"
		"      --duration T         stop after so long, by the analyzer's clock\n"
		"      --start TIME         start at this Unix time, in seconds\n"
		"      --control SOCKET     be steered by `coeval control SOCKET` prepare, start, stop, status\n"
		"      --wait               do nothing until the socket says so\n"
		"      --metrics FILE       keep figures there for Prometheus' text collector\n"
		"      --json               print the result as JSON\n"
		"\n"
		"It ends at its --duration, or cleanly by SIGINT or SIGTERM.\n"
		"\n"
		"Examples:\n"
		"  coeval capture --rate 8MHz --radio spidev0.0 --name n07 -o s/\n"
		"  other-analyzer --raw | coeval capture --driver pipe --rate 1MHz --lines 8 --name desk -o s/\n",
	.run = run,
};
