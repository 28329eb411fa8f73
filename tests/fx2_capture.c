/* SPDX-License-Identifier: MIT */
/**
 * Captures with the FX2 driver from the analyzers of coeval-simbed, checks every sample against
 * the counter that they show (tick / 8), and prints what happened. Exit status: 0; 1: a sample was
 * wrong; otherwise as coeval's.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/drivers/driver.h"

#define ANALYZERS 16
/* The counter of 8 lines comes round after so many ticks, that of 16 after the more. */
#define ROUND_8 2048u
#define ROUND_16 524288u
#define SHOWN 20

struct seen {
	uint64_t tick; /* by what the driver handed on */
	uint64_t samples, losses, lost, slack, wrong;
	bool known;     /* which tick the lines show, */
	unsigned phase; /* modulo the round */
	unsigned quiet; /* equal samples since a loss: the counter has not moved yet */
	unsigned first;
	int64_t worst; /* ticks that a run was off */
};

struct check {
	struct seen seen[ANALYZERS];
	uint8_t table[4 * ROUND_16]; /* two rounds */
	unsigned unit, round;
	unsigned told;
	bool hush; /* the notes */
};

static int on_samples(void *ctx, size_t i, const void *bytes, size_t n, struct cvl_error *err)
{
	struct check *c = ctx;
	struct seen *s = &c->seen[i];
	const uint8_t *p = bytes;
	const unsigned unit = c->unit, round = c->round;
	size_t at = 0;

	(void)err;
	s->wrong += n % unit; /* the driver hands on whole samples */
	n /= unit;
	s->samples += n;
	/* After a loss, the first change tells where the counter is. */
	for (; !s->known && at < n; at++, s->quiet++) {
		const unsigned now = unit == 2 ? p[2 * at] | (unsigned)p[2 * at + 1] << 8 : p[at];

		if (!s->quiet) {
			s->first = now;
		} else if (now != s->first) {
			int64_t off;

			s->known = true;
			s->phase = now * 8;
			off = (int64_t)((s->tick + at - s->phase) % round);
			if (off > round / 2)
				off -= round;
			if (llabs(off) > llabs(s->worst))
				s->worst = off;
			if (now != (s->first + 1) % (round / 8) || s->quiet > 8)
				s->wrong++;
			break;
		}
	}
	while (at < n) {
		size_t k = n - at < round ? n - at : round;

		s->wrong += memcmp(p + at * unit, c->table + s->phase * unit, k * unit) != 0;
		s->phase = (unsigned)((s->phase + k) % round);
		at += k;
	}
	s->tick += n;
	return 0;
}

static int on_lost(void *ctx, size_t i, const struct driver_loss *loss, struct cvl_error *err)
{
	struct check *c = ctx;
	struct seen *s = &c->seen[i];

	(void)err;
	s->losses++;
	s->lost += loss->samples;
	if (loss->slack > s->slack)
		s->slack = loss->slack;
	if (!c->hush || loss->why == CVL_GAP_OVERFLOW)
		printf("%zu: lost %s %" PRIu64 " +-%" PRIu64 "\n", i, cvl_gap_name(loss->why),
		       loss->samples, loss->slack);
	else
		printf("%zu: lost %s\n", i, cvl_gap_name(loss->why));
	s->tick += loss->samples;
	s->known = false;
	s->quiet = 0;
	return 0;
}

static void on_tell(void *ctx, size_t i, bool problem, const char *text)
{
	struct check *c = ctx;

	if (c->told++ < SHOWN)
		printf("%zu: %s%s\n", i, problem ? "problem: " : "", text);
}

int main(int argc, char **argv)
{
	static struct check c;
	const struct driver_sink sink = {
		.samples = on_samples, .lost = on_lost, .tell = on_tell, .ctx = &c
	};
	const struct driver *driver = driver_find("fx2");
	const struct driver_analyzer *list;
	struct cvl_device_opts opts = { .rate_hz = 8000000, .lines = 8 };
	uint64_t bytes = 10000000;
	struct cvl_error err;
	bool stopped = false;
	int64_t until = 0, began;
	void *state;
	size_t n, fds_n;
	int opt, rc, status = 0;

	while ((opt = getopt(argc, argv, "r:n:d:f:l:s:q")) != -1) {
		switch (opt) {
		case 'r': opts.rate_hz = strtoull(optarg, NULL, 0); break;
		case 'n': bytes = strtoull(optarg, NULL, 0); break;
		case 'd': opts.devices = optarg; break;
		case 'f': opts.firmware = optarg; break;
		case 'l': opts.lines = (unsigned)atoi(optarg); break;
		case 's': until = (int64_t)(atof(optarg) * 1e9); break;
		case 'q': c.hush = true; break;
		default: return 2;
		}
	}
	setlinebuf(stdout);
	c.unit = opts.lines > 8 ? 2 : 1;
	c.round = opts.lines > 8 ? ROUND_16 : ROUND_8;
	for (size_t i = 0; i < 2 * c.round; i++) {
		c.table[i * c.unit] = (uint8_t)(i >> 3);
		if (c.unit == 2)
			c.table[2 * i + 1] = (uint8_t)(i >> 11);
	}
	rc = driver->open(&state, &opts, &sink, &err);
	if (rc) {
		printf("%s\n", err.text);
		return cvl_exit_status(rc);
	}
	n = driver->analyzers(state, &list);
	for (size_t i = 0; i < n; i++)
		printf("%zu: %s '%s' %" PRIu64 " Hz, %u lines\n", i, list[i].where, list[i].serial,
		       list[i].rate_hz, list[i].lines);
	for (size_t i = 0; i < n; i++)
		c.seen[i].known = true;
	rc = driver->start(state, &err);
	began = driver_boottime_ns();
	for (int going = rc ? rc : 1; going > 0;) {
		struct pollfd fds[64];
		int timeout = 1000;
		bool enough = true;

		fds_n = driver->wait_for(state, fds, 64, &timeout);
		poll(fds, fds_n, timeout);
		rc = going = driver->work(state, &err);
		for (size_t i = 0; i < n; i++)
			enough &= c.seen[i].samples >= bytes;
		if (until)
			enough = driver_boottime_ns() - began >= until;
		if (going > 0 && enough && !stopped) {
			stopped = true;
			rc = driver->stop(state, &err);
			if (rc)
				break;
		}
	}
	if (rc) {
		printf("%s\n", err.text);
		status = cvl_exit_status(rc);
	}
	for (size_t i = 0; i < n; i++) {
		const struct seen *s = &c.seen[i];

		/* Beyond half a round the counter does not tell. */
		const bool near = (uint64_t)llabs(s->worst) <= s->slack;

		if (s->wrong || !near || s->slack >= c.round / 2)
			status = 1;
		printf("%zu: %s, %" PRIu64 " losses, %" PRIu64 " wrong, off by %s\n", i,
		       until || s->samples >= bytes ? "all samples" : "too few samples", s->losses,
		       s->wrong,
		       s->slack >= c.round / 2 ? "an unknown amount" :
		       near                    ? "no more than the slack" :
						 "more than the slack");
	}
	fprintf(stderr, "%.1f MB/s\n",
		(double)(c.seen[0].samples + c.seen[1].samples) * 1e3 /
			(double)(driver_boottime_ns() - began));
	driver->close(state);
	return status;
}
