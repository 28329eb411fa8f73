/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/capture.h>

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { OPT_JSON = 256, OPT_CAPTURE };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "driver", required_argument, NULL, 'd' },
	{ "rate", required_argument, NULL, 'r' },
	{ "name", required_argument, NULL, 'n' },
	{ "device", required_argument, NULL, OPT_CAPTURE },
	{ "lines", required_argument, NULL, OPT_CAPTURE },
	{ "unit-size", required_argument, NULL, OPT_CAPTURE },
	{ "names", required_argument, NULL, OPT_CAPTURE },
	{ "radio", required_argument, NULL, OPT_CAPTURE },
	{ "profile", required_argument, NULL, OPT_CAPTURE },
	{ "radio-line", required_argument, NULL, OPT_CAPTURE },
	{ "beacon-period", required_argument, NULL, OPT_CAPTURE },
	{ "duration", required_argument, NULL, OPT_CAPTURE },
	{ "start", required_argument, NULL, OPT_CAPTURE },
	{ "control", required_argument, NULL, OPT_CAPTURE },
	{ "wait", no_argument, NULL, OPT_CAPTURE },
	{ "metrics", required_argument, NULL, OPT_CAPTURE },
	{ "power", required_argument, NULL, OPT_CAPTURE },
	{ "mask", required_argument, NULL, OPT_CAPTURE },
	{ "mode", required_argument, NULL, OPT_CAPTURE },
	{ "metadata", required_argument, NULL, OPT_CAPTURE },
	{ "bell", required_argument, NULL, OPT_CAPTURE },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

struct capture {
	struct cvl_capture_opts opts;
	struct progress progress;
	bool json;
	char host[256];
};

/* What is not the command's own is the capture's. */
static int read_option(int c, const char *name, const struct verb *verb, struct capture *k)
{
	struct cvl_error err;

	switch (c) {
	case 'o': k->opts.session = optarg; return 0;
	case 'd':
		k->opts.driver = cvl_driver_find(optarg);
		return k->opts.driver ? 0 :
					cli_usage(verb, "there is no driver '%s'; `coeval help capture`",
						  optarg);
	case OPT_JSON: k->json = true; return 0;
	case 'h':
	case '?': return -1;
	}
	return cvl_capture_set(&k->opts, name, optarg, &err) ? cli_usage(verb, "--%s", err.text) :
							       0;
}

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

static int run(int argc, char **argv, const struct verb *verb)
{
	struct capture k = { .opts = { .session = "session",
				       .driver = cvl_driver_find("fx2"),
				       .tell = tell,
				       .ctx = &k.progress,
				       .progress = { progress_show, &k.progress } } };
	struct cvl_capture_result result;
	struct cvl_error err;
	int c, rc, at;

	while (at = -1, (c = getopt_long(argc, argv, "o:d:r:n:h", options, &at)) != -1) {
		for (int i = 0; at < 0 && options[i].name; i++)
			at = options[i].val == c ? i : at;
		rc = read_option(c, at < 0 ? "" : options[at].name, verb, &k);
		if (rc)
			return rc < 0 ? cli_option(c, verb) : rc;
	}
	if (optind < argc)
		return cli_usage(verb, "'%s' is one word too many", argv[optind]);
	if (cvl_capture_check(&k.opts, &err))
		return cli_usage(verb, "--%s", err.text);
	if (!k.opts.name) {
		gethostname(k.host, sizeof(k.host) - 1);
		k.opts.name = k.host;
	}
	progress_init(&k.progress, k.opts.session);
	rc = cvl_capture_run(&k.opts, catch_signals(), &result, &err);
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
