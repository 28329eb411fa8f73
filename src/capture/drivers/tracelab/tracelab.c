/* SPDX-License-Identifier: MIT */
/* The TraceLab observer as a capture driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drivers/driver.h"
#include "capture/drivers/spidev.h"
#include "capture/drivers/tracelab/acts.h"
#include "capture/drivers/tracelab/proto.h"

#define RECORDS 1024
#define TURN 16    /* transactions before others get a turn */
#define QUIET_MS 2 /* until the next look, after an empty one */
#define DRAINED 3  /* empty looks after TL_STOP */
#define STUCK_NS 1000000000
#define SETTING_CYCLES (3 * (uint64_t)TL_CLOCK_HZ)

struct device {
	const struct driver_sink *sink;
	const struct cvl_device_opts *opts;
	struct driver_analyzer analyzer;
	struct tracelab_io io;
	struct tracelab proto;
	struct acts acts;
	unsigned mask;
	bool paper, busy, stopping, told_stuck;
	int quiet;     /* empty looks in a row */
	uint64_t end;  /* when it was stopped, in the observer's time; 0: unknown */
	int64_t began; /* driver_monotonic_ns() */
	struct driver_record out[RECORDS];
};

static const char *const channels[] = { "power" };

static void tl_close(void *state)
{
	struct device *o = state;

	tracelab_io_close(&o->io);
	free(o);
}

static int read_mask(struct device *o, struct cvl_error *err)
{
	const char *p = o->opts->mask;

	o->mask = p ? 0 : (1u << TL_LINES) - 1;
	while (p && *p) {
		size_t n = strcspn(p, ",");
		int line = tracelab_line(o->opts->names, p, n);

		if (line < 0)
			return cvl_hint(err, CVL_HINT_MASK,
					cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
						 "unknown line '%.*s'; expected one of %s", (int)n,
						 p,
						 o->opts->names ? o->opts->names : tracelab_lines));
		o->mask |= 1u << line;
		p += n + (p[n] == ',');
	}
	return 0;
}

/* Ticks between samples. */
static int read_period(const struct device *o, unsigned *period, struct cvl_error *err)
{
	const uint64_t tick_hz = TL_CLOCK_HZ / TL_TICK_CYCLES, hz = o->opts->power_hz;

	*period = hz ? (unsigned)((tick_hz + hz / 2) / hz) : 0;
	if (!hz || (*period >= TL_PERIOD_MIN && *period <= UINT16_MAX))
		return 0;
	return cvl_hint(err, CVL_HINT_POWER,
			cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				 "power is read from %u to %u times a second",
				 (unsigned)(tick_hz / UINT16_MAX + 1),
				 (unsigned)(tick_hz / TL_PERIOD_MIN)));
}

static int read_options(struct device *o, struct cvl_error *err)
{
	const char *mode = o->opts->mode ? o->opts->mode : "fine";
	struct tracelab_opts t = { .paper = !strcmp(mode, "paper") };
	int rc = read_mask(o, err);

	if (!rc && !t.paper && strcmp(mode, "fine") != 0)
		rc = cvl_hint(err, CVL_HINT_MODE,
			      cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				       "the mode is fine or paper, not '%s'", mode));
	if (!rc)
		rc = read_period(o, &t.period, err);
	o->paper = t.paper;
	tracelab_init(&o->proto, &t);
	o->acts = (struct acts){ .names = o->opts->names };
	o->acts.unit_hz = (uint64_t)(t.paper ? TL_SECOND_TICKS : TL_CLOCK_HZ);
	return rc;
}

static int tl_open(void **state, const struct cvl_device_opts *opts, const struct driver_sink *sink,
		   struct cvl_error *err)
{
	struct device *o = calloc(1, sizeof(*o));
	int rc;

	*state = NULL;
	if (!o)
		return cvl_no_memory(err);
	o->io.spi = o->io.uart = -1;
	o->opts = opts;
	o->sink = sink;
	rc = read_options(o, err);
	if (!rc)
		rc = tracelab_io_open(&o->io, opts->devices, err);
	if (rc) {
		tl_close(o);
		return rc;
	}
	o->analyzer = (struct driver_analyzer){ .where = o->io.where,
						.serial = "",
						.rate_hz = TL_CLOCK_HZ,
						.lines = TL_LINES,
						.unit = 2,
						.resolution = o->paper ? TL_TICK_CYCLES : 1,
						.names = tracelab_lines,
						.channels = channels,
						.n_channels = opts->power_hz ? 1 : 0,
						.events = tracelab_events,
						.n_events = TRACELAB_EVENTS };
	*state = o;
	return 0;
}

static size_t tl_analyzers(void *state, const struct driver_analyzer **list)
{
	*list = &((struct device *)state)->analyzer;
	return 1;
}

/* Send it @c. */
static int order(struct device *o, struct tracelab_command c, struct cvl_error *err)
{
	struct tracelab_answer a;
	int rc = tracelab_io_ask(&o->io, &c, &a, err);

	if (rc || a.status == TL_OK)
		return rc;
	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: command %u: %s", o->io.serial,
			c.command, tracelab_answer_text(a.status));
}

static int greet(struct device *o, struct cvl_error *err)
{
	struct tracelab_command hello = { .command = TL_HELLO }, stop = { .command = TL_STOP };
	struct tracelab_answer a;
	int rc = tracelab_io_ask(&o->io, &hello, &a, err);

	if (!rc && (a.status != TL_OK || a.n < 4))
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: is no TraceLab observer: %s",
			      o->io.serial, tracelab_answer_text(a.status));
	if (!rc && (a.data[0] != TL_VERSION || a.data[3] != TL_TICK_CYCLES))
		rc = cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: speaks version %u, we speak %u: build and load the gateware anew",
			o->io.serial, a.data[0], TL_VERSION);
	/* left running by a capture that died: its answer does not matter */
	return rc ? rc : tracelab_io_ask(&o->io, &stop, &a, err);
}

static int tl_start(void *state, struct cvl_error *err)
{
	struct device *o = state;
	const unsigned period = o->proto.opts.period;
	int rc;

	o->began = driver_monotonic_ns();
	if (o->io.bus == TRACELAB_FILE)
		return 0;
	rc = greet(o, err);
	if (!rc)
		rc = order(o,
			   (struct tracelab_command){
				   .command = TL_MASK,
				   .n = 2,
				   .payload = { o->mask & 255, (uint8_t)(o->mask >> 8) } },
			   err);
	if (!rc)
		rc = order(
			o,
			(struct tracelab_command){ .command = TL_START,
						   .n = 1,
						   .payload = { o->paper ? TL_PAPER : TL_FINE } },
			err);
	if (!rc && period)
		rc = order(o,
			   (struct tracelab_command){
				   .command = TL_PERIOD,
				   .n = 2,
				   .payload = { period & 255, (uint8_t)(period >> 8) } },
			   err);
	return rc;
}

static size_t tl_wait_for(void *state, struct pollfd *fds, size_t max, int *timeout_ms)
{
	const struct device *o = state;
	int ms = o->busy || o->io.bus == TRACELAB_FILE ? 0 : QUIET_MS;

	(void)fds, (void)max;
	if (ms < *timeout_ms)
		*timeout_ms = ms;
	return 0;
}

/* ---- records ---- */

static int hand_on(struct device *o, size_t n, struct cvl_error *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct driver_record *r = &o->out[i];

		if (r->what == DRIVER_EVENT && r->cls == TRACELAB_ACTED)
			acts_done(&o->acts, (unsigned)r->field[0].u, r->field[2].u);
	}
	return n ? o->sink->records(o->sink->ctx, 0, o->out, n, err) : 0;
}

static int take(struct device *o, const uint8_t *bytes, size_t n, struct cvl_error *err)
{
	size_t used, got;
	int rc = 0;

	do {
		got = tracelab_feed(&o->proto, bytes, n, o->out, RECORDS, &used);

		rc = hand_on(o, got, err);
		bytes += used;
		n -= used;
	} while ((n || got) && !rc);
	o->acts.newest = o->proto.newest / ((uint64_t)TL_CLOCK_HZ / o->acts.unit_hz);
	return rc;
}

/* Pass on all that is still held back. */
static int hand_on_rest(struct device *o, struct cvl_error *err)
{
	size_t n;
	int rc = 0;

	while (!rc && (n = tracelab_end(&o->proto, o->out, RECORDS)))
		rc = hand_on(o, n, err);
	return rc;
}

/* The observer cannot be reached, as the caller's error says: what it sent so far is kept. */
static int give_up(struct device *o, int rc)
{
	struct cvl_error other;

	hand_on_rest(o, &other);
	return rc;
}

/* A file of SPI bytes, with the mode given by the user. */
static int check_file(const struct device *o, struct cvl_error *err)
{
	const uint64_t settings = o->proto.count.settings;

	if (!o->proto.link.begun)
		return cvl_fail(
			err, CVL_E_MAGIC, 0,
			"%s: holds no block of packets: is it what an observer sent by SPI?",
			o->io.where);
	if (!o->paper && settings)
		return cvl_fail(
			err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			"%s: was sent in paper mode, and its times are wrong in this session: capture it anew in paper mode",
			o->io.where);
	if (o->paper && !settings && o->proto.newest > SETTING_CYCLES)
		return cvl_fail(
			err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			"%s: tells no settings of a divider, which come each second in paper mode: its times are wrong in "
			"this session if it was sent in fine mode: capture it anew in fine mode",
			o->io.where);
	return 0;
}

/* That, and that up to the end there was nothing else. */
static int finish(struct device *o, struct cvl_error *err)
{
	struct driver_record end = { .what = DRIVER_NOTHING };
	int rc;

	rc = hand_on_rest(o, err);
	/* by the settings of the divider that came with the rest */
	end.tick = tracelab_raw(&o->proto, o->end);
	if (!rc && o->io.bus == TRACELAB_FILE && !o->stopping)
		rc = check_file(o, err);
	if (!rc && o->end)
		rc = o->sink->records(o->sink->ctx, 0, &end, 1, err);
	return rc;
}

static void watch_link(struct device *o, const uint8_t *bytes)
{
	char text[800];

	if (o->told_stuck || o->proto.link.begun || driver_monotonic_ns() - o->began < STUCK_NS)
		return;
	o->told_stuck = true;
	snprintf(text, sizeof(text),
		 "%s: what comes by SPI makes no sense (%02x %02x %02x %02x): is it wired to the "
		 "observer, and its chip select too?",
		 o->io.where, bytes[0], bytes[1], bytes[2], bytes[3]);
	o->sink->tell(o->sink->ctx, 0, true, text);
}

static int tl_work(void *state, struct cvl_error *err)
{
	struct device *o = state;
	uint8_t bytes[TRACELAB_MUCH];
	int rc = 1;

	for (int turn = 0; turn < TURN && rc > 0; turn++) {
		size_t n = o->busy || o->io.bus == TRACELAB_FILE ? TRACELAB_MUCH : TRACELAB_LITTLE;
		uint64_t before = o->proto.count.packets;
		ssize_t got = tracelab_io_read(&o->io, bytes, n, err);

		if (got < 0)
			return give_up(o, (int)got);
		rc = take(o, bytes, (size_t)got, err);
		if (rc)
			return rc;
		o->busy = o->proto.count.packets != before;
		if (o->io.bus == TRACELAB_FILE) {
			rc = got && !o->stopping;
		} else {
			watch_link(o, bytes);
			o->quiet = o->busy ? 0 : o->quiet + 1;
			rc = !o->stopping || o->quiet < DRAINED;
			if (!o->busy)
				break;
		}
	}
	return rc ? rc : finish(o, err);
}

static int tl_stop(void *state, struct cvl_error *err)
{
	struct device *o = state;
	struct tracelab_command status = { .command = TL_STATUS }, stop = { .command = TL_STOP };
	struct tracelab_status s;
	struct tracelab_answer a;
	int rc;

	o->stopping = true;
	o->quiet = 0;
	if (o->io.bus == TRACELAB_FILE)
		return 0;
	rc = tracelab_io_ask(&o->io, &status, &a, err);
	if (!rc && tracelab_status_read(&s, &a))
		o->end = s.time;
	if (!rc)
		rc = tracelab_io_ask(&o->io, &stop, &a, err);
	return rc ? give_up(o, rc) : 0;
}

static char *tl_command(void *state, const char *line, struct cvl_error *err)
{
	struct device *o = state;

	return acts_command(&o->acts, &o->io, line, err);
}

#define BY_NAME "an observer has two names, SPI and its serial port: spidev1.0,/dev/ttyUSB0"

/* Send nothing: words on a bus may mean something to another device. */
static int tl_list(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		   struct cvl_error *err)
{
	static const struct spidev_use observer = {
		.may_be = "SPI device, where a TraceLab observer may be",
		.ready = "for the driver tracelab: " BY_NAME,
		.none = "no SPI device, which a TraceLab observer could be wired to",
		.advice = "only for TraceLab: switch SPI on (on a Raspberry Pi: "
			  "dtoverlay=spi1-1cs in config.txt), then look again; " BY_NAME,
	};

	return spidev_list("/dev", &observer, row, ctx, err);
}

static const struct cvl_option tracelab_options[] = {
	{ "device", "SPI,SERIAL", "its SPI and serial port, or a file of its SPI bytes" },
	{ "names", "A,B,...", "names of the lines" },
	{ "power", "RATE", "readings of the supply current a second, 31 to 55,555" },
	{ "mask", "A,B,...", "watch these lines only" },
	{ "mode", "MODE",
	  "fine (default: 10 ns, synchronised afterwards) or paper (2 MHz, steered to the PPS)" },
	{ 0 },
};

const struct driver driver_tracelab = {
	.pub = { .name = "tracelab",
		 .what = "TraceLab observer (FPGA) by SPI and a serial port, or a file of its SPI bytes",
		 .options = tracelab_options },
	.open = tl_open,
	.analyzers = tl_analyzers,
	.start = tl_start,
	.wait_for = tl_wait_for,
	.work = tl_work,
	.stop = tl_stop,
	.close = tl_close,
	.command = tl_command,
	.list = tl_list,
};
