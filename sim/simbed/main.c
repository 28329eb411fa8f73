/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/drivers/fx2/proto.h"
#include "sim/simbed/bed_main.h"
#include "sim/simbed/mock.h"

#define DEVICES_MAX 16

struct run {
	struct mock *mock;
	int status;
	size_t n;
	char port[DEVICES_MAX][24];
	const char *replug; /* port to pull out of, and to plug in again */
	double away;
};

static const struct option options[] = {
	{ "devices", required_argument, NULL, 'n' },
	{ "radio", no_argument, NULL, 'r' },
	{ "speed", required_argument, NULL, 's' },
	{ "trouble", required_argument, NULL, 't' },
	{ "replug", required_argument, NULL, 'p' },
	{ "loaded", no_argument, NULL, 'l' },
	{ "usb-memory", required_argument, NULL, 'm' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct {
	const char *name;
	enum fx2_trouble what;
} troubles[] = {
	{ "overflow", FX2_OVERFLOW },
	{ "stall", FX2_STALL },
	{ "babble", FX2_BABBLE },
	{ "silent", FX2_SILENT },
	{ "spurious", FX2_SPURIOUS },
	{ "count-off", FX2_COUNT_OFF },
	{ "drop", FX2_DROP },
	{ "wrong-magic", FX2_WRONG_MAGIC },
	{ "wrong-version", FX2_WRONG_VERSION },
	{ "short-answers", FX2_SHORT_ANSWERS },
	{ "no-start", FX2_NO_START },
	{ "no-renumber", FX2_NO_RENUMBER },
};

/*
 * Line k is bit k + 3 of the tick: so every tick shows which it is, modulo 2^11 or 2^19, in
 * eighths.
 */
static void counter(void *ctx, uint64_t first, size_t n, uint8_t *out)
{
	struct fx2_device *const *d = ctx;

	if (fx2_device_unit(*d) == 2)
		for (size_t i = 0; i < n; i++)
			fx2_put16(out + 2 * i, (uint16_t)((first + i) >> 3));
	else
		for (size_t i = 0; i < n; i++)
			out[i] = (uint8_t)((first + i) >> 3);
}

/* A bus without a chip on it: what is read is what was sent. */
static int echo(void *ctx, const uint8_t *tx, uint8_t *rx, size_t n)
{
	(void)ctx;
	memcpy(rx, tx, n);
	return 0;
}

static void plug_in(void *ctx)
{
	struct run *r = ctx;
	struct cvl_error err;

	if (mock_replug(r->mock, r->replug, &err))
		fprintf(stderr, "coeval-simbed: %s\n", err.text);
}

static void pull_out(void *ctx)
{
	struct run *r = ctx;

	mock_unplug(r->mock, r->replug);
	mock_after(r->mock, r->away, plug_in, r);
}

static void ended(void *ctx, pid_t pid, int status)
{
	struct run *r = ctx;

	(void)pid;
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	mock_quit(r->mock);
}

static int usage(FILE *f)
{
	fprintf(f, "usage: coeval-simbed [OPTIONS] [--] COMMAND ...\n\n"
		   "Run a command among simulated devices.\n\n"
		   "      --devices N              FX2 analyzers, at 1-1, 1-2, ... (1)\n"
		   "      --loaded                 they already run our firmware\n"
		   "      --radio                  a spidev, /dev/spidev0.0, that echoes\n"
		   "      --speed X                times real time; 0: as fast as it is taken (0)\n"
		   "      --usb-memory MB          of usbfs, for all transfers (16)\n"
		   "      --trouble WHAT[:TICK[:N]]  of the first analyzer:");
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
		fprintf(f, " %s", troubles[i].name);
	fprintf(f, "\n      --replug AFTER:AWAY      pull the first out, plug it in again (s)\n");
	return f == stdout ? 0 : 2;
}

static int trouble(struct fx2_device *d, const char *text)
{
	const size_t k = strcspn(text, ":");
	char *end = (char *)text + k;
	uint64_t at = 0, n = 0;

	if (*end)
		at = strtoull(end + 1, &end, 10);
	if (*end)
		n = strtoull(end + 1, &end, 10);
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]) && !*end; i++) {
		if (strlen(troubles[i].name) == k && !memcmp(troubles[i].name, text, k)) {
			fx2_device_trouble(d, troubles[i].what, at, n);
			return 0;
		}
	}
	return usage(stderr);
}

int main(int argc, char **argv)
{
	static struct fx2_device *device[DEVICES_MAX];
	const char *troubled[64];
	struct run r = { .n = 1, .status = 4 };
	double after = -1, speed = 0;
	bool radio = false, loaded = false;
	size_t n_troubled = 0;
	int memory = 16;
	struct cvl_error err;
	int c, rc = mock_main(argv, &err);

	if (rc) {
		fprintf(stderr, "coeval-simbed: %s\n", err.text);
		return 4;
	}
	if (argc > 1 && !strcmp(argv[1], "--bed"))
		return bed_main(argc, argv);
	while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		switch (c) {
		case 'n': r.n = (size_t)atoi(optarg); break;
		case 'r': radio = true; break;
		case 'l': loaded = true; break;
		case 's': speed = atof(optarg); break;
		case 'm': memory = atoi(optarg); break;
		case 'p':
			if (sscanf(optarg, "%lf:%lf", &after, &r.away) != 2)
				return usage(stderr);
			break;
		case 't':
			if (n_troubled == sizeof(troubled) / sizeof(troubled[0]))
				return usage(stderr);
			troubled[n_troubled++] = optarg;
			break;
		case 'h': return usage(stdout);
		default: return usage(stderr);
		}
	}
	if (optind >= argc || r.n > DEVICES_MAX)
		return usage(stderr);
	r.mock = mock_new(&err);
	if (!r.mock) {
		fprintf(stderr, "coeval-simbed: %s\n", err.text);
		return 4;
	}
	mock_set_speed(r.mock, speed);
	mock_set_usb_memory(r.mock, (unsigned)memory);
	for (size_t i = 0; i < r.n && !rc; i++) {
		struct fx2_device_opts opts = {
			.loaded = loaded, .seed = i + 1, .levels = counter, .ctx = &device[i]
		};

		snprintf(r.port[i], sizeof(r.port[i]), "1-%zu", i + 1);
		opts.serial = r.port[i];
		device[i] = fx2_device_new(&opts);
		if (!device[i])
			return 4;
		for (size_t k = 0; !i && k < n_troubled; k++)
			if (trouble(device[0], troubled[k]))
				return 2;
		rc = mock_add_fx2(r.mock, r.port[i], device[i], &err);
	}
	if (!rc && radio)
		rc = mock_add_spidev(r.mock, "spidev0.0", echo, NULL, &err);
	r.replug = r.port[0];
	if (!rc && after >= 0)
		mock_after(r.mock, after, pull_out, &r);
	if (rc || mock_spawn(r.mock, argv + optind, NULL, ended, &r, &err) < 0)
		fprintf(stderr, "coeval-simbed: %s\n", err.text);
	else
		mock_run(r.mock);
	mock_free(r.mock);
	for (size_t i = 0; i < r.n; i++)
		fx2_device_free(device[i]);
	return r.status;
}
