/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/random.h"
#include "sim/devices/syncnode_host.h"

#include "cc1101_double.h"

#define HZ 84000000u
#define BAUD 6000
#define S 1e9
#define HOUR (3600 * S)
#define UTC_0 1700000000u /* UTC at true time 0 */
#define STEPS 20000       /* of a second: how long oscillators are drawn for */
#define HEARD_MAX 80000

static uint64_t seed;

static const struct radio_setting settings[] = { { 0x02, 0x06 }, { 0x17, 0x30 }, { 0x18, 0x18 } };

/* ---- a world for one node ---- */

struct heard {
	double t;
	struct beacon b;
};

struct bench {
	struct syncnode_world w;
	struct sim_random random;
	struct cc1101_double radio;
	double ahead[STEPS + 1]; /* ns that the timer is ahead of true time, at every second */
	double jitter_ns, outliers, lost; /* of pulses: sd, shares */
	double out_from, out_to;          /* no pulses within */
	double second;                    /* of the last pulse */
	bool glitch;                      /* one more is to come in it */
	double fault_every;               /* s on average between faults of the radio; 0: none */
	double fault_at, fault_until;
	double fed_last, fed_longest;
	unsigned feeds;
	bool gps;
	struct heard *heard;
	size_t n;
	char said[2000]; /* the last of it */
	struct syncnode end;
};

static double bench_counts(void *ctx, double t)
{
	const struct bench *b = ctx;
	double s = t / S;
	int i = s < 0 ? 0 : s >= STEPS ? STEPS - 1 : (int)s;

	return (t + b->ahead[i] + (s - i) * (b->ahead[i + 1] - b->ahead[i])) * 1e-9 * HZ;
}

/*
 * Pulses of a receiver that errs: some come late or not at all, and some seconds have one too many.
 */
static int bench_pulse(void *ctx, double after, double *t)
{
	struct bench *b = ctx;
	struct sim_random *r = &b->random;

	for (;;) {
		if (b->glitch) {
			b->glitch = false;
			*t = (b->second + 0.1 + 0.8 * sim_uniform(r)) * S;
		} else {
			b->second++;
			if ((b->second * S >= b->out_from && b->second * S < b->out_to) ||
			    sim_uniform(r) < b->lost)
				continue;
			*t = b->second * S + sim_normal(r) * b->jitter_ns;
			if (sim_uniform(r) < b->outliers)
				*t += 1e3 * (1 + 20 * sim_uniform(r));
			b->glitch = sim_uniform(r) < b->outliers;
		}
		if (b->second >= STEPS)
			return 0;
		if (*t > after)
			return 1;
	}
}

static int bench_spi(void *ctx, double t, const uint8_t *out, uint8_t *in, unsigned n)
{
	struct bench *b = ctx;
	struct sim_random *r = &b->random;

	if (b->fault_every > 0 && t >= b->fault_until && b->radio.fault) {
		b->radio.fault = DOUBLE_FINE;
		b->fault_at = t - log(1 - sim_uniform(r)) * b->fault_every * S;
	}
	if (b->fault_every > 0 && t >= b->fault_at && !b->radio.fault) {
		b->radio.fault = 1 + sim_u64(r) % (DOUBLE_FAULTS - 1);
		b->fault_until = t + sim_uniform(r) * 3 * S;
	}
	return double_spi(&b->radio, t, out, in, n);
}

static void bench_text(void *ctx, double t, const char *bytes, unsigned n)
{
	struct bench *b = ctx;
	size_t had = strlen(b->said);

	(void)t;
	if (had + n >= sizeof(b->said))
		had = 0;
	memcpy(b->said + had, bytes, n);
	b->said[had + n] = '\0';
}

static void bench_fed(void *ctx, double t)
{
	struct bench *b = ctx;

	if (t - b->fed_last > b->fed_longest)
		b->fed_longest = t - b->fed_last;
	b->fed_last = t;
	b->feeds++;
}

static void hear(void *ctx, double t, const uint8_t *packet, size_t n)
{
	struct bench *b = ctx;

	assert_true(n >= 2 && packet[0] == n - 1);
	assert_int_equal(packet[1], BEACON_ADDRESS);
	/* never with a radio that is not set up */
	for (unsigned i = 0; i < b->w.config.n_settings; i++)
		assert_int_equal(b->radio.reg[settings[i].address], settings[i].value);
	assert_true(b->n < HEARD_MAX);
	assert_true(beacon_decode(packet + 2, (unsigned)n - 2, &b->heard[b->n].b));
	b->heard[b->n++].t = t;
}

static struct bench *bench_new(uint64_t salt)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->heard = calloc(HEARD_MAX, sizeof(*b->heard));
	assert_non_null(b->heard);
	b->random.state = seed ^ salt * 0x9e3779b97f4a7c15u;
	b->radio.baud = BAUD;
	double_reset(&b->radio);
	b->fault_at = 5 * S;
	b->w = (struct syncnode_world){
		.config = {
			.schedule = { 1000, 1, 1 },
			.id = 1,
			.version = BEACON_VERSION,
			.baud = BAUD,
			.limits = DISCIPLINE_LIMITS,
			.settings = settings,
			.n_settings = 3,
		},
		.timer_hz = HZ,
		.duration_ns = HOUR,
		.counts = bench_counts,
		.spi = bench_spi,
		.text = bench_text,
		.fed = bench_fed,
		.ctx = b,
	};
	return b;
}

static void bench_free(struct bench *b)
{
	free(b->heard);
	free(b);
}

/* A crystal: @ppm off, a sine of 20 minutes, and a random walk of its rate (ppb a root second). */
static void bench_oscillator(struct bench *b, double ppm, double sine_ppb, double walk_ppb)
{
	double rate = ppm * 1000, phase = sim_uniform(&b->random) * 6.28;

	for (int i = 0; i < STEPS; i++) {
		b->ahead[i + 1] = b->ahead[i] + rate + sine_ppb * sin(phase + i * 6.28319 / 1200);
		rate += walk_ppb * sim_normal(&b->random);
	}
}

static void bench_pulses(struct bench *b, double jitter_ns, double outliers, double lost)
{
	b->w.pulse = bench_pulse;
	b->jitter_ns = jitter_ns;
	b->outliers = outliers;
	b->lost = lost;
}

static void bench_run(struct bench *b)
{
	b->n = 0;
	b->fed_last = b->w.begin_ns;
	assert_int_equal(syncnode_run(&b->w, hear, b, &b->end), 0);
	double_pass(&b->radio, b->w.begin_ns + b->w.duration_ns);
}

/* ---- tests ---- */

static void strobes_are_at_exact_counts(void **state)
{
	static const uint32_t intervals[] = { 100, 250, 500, 1000, 2000, 10000 };

	(void)state;
	for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
		struct bench *b = bench_new(i);
		double each = intervals[i] * (HZ / 1000.0), first;

		bench_oscillator(b, 37, 800, 3);
		b->w.config.schedule.interval_ms = intervals[i];
		bench_run(b);
		assert_int_equal(b->end.missed, 0);
		assert_true(b->n >= HOUR / 1e6 / intervals[i] - 2);
		first = bench_counts(b, b->heard[0].t);
		for (size_t k = 0; k < b->n; k++) {
			double count = bench_counts(b, b->heard[k].t);

			assert_true(fabs(count - first - (double)k * each) < 1e-3);
			assert_true(fabs(count - floor(count + 0.5)) < 1e-3);
			assert_int_equal(b->heard[k].b.sequence, b->heard[0].b.sequence + k);
			assert_int_equal(b->heard[k].b.sent_ns, (b->heard[0].b.sequence + k + 1) *
									intervals[i] * 1000000ull);
			assert_int_equal(b->heard[k].b.flags, 0);
			assert_int_equal(b->heard[k].b.uncertain_ns, UINT32_MAX);
		}
		bench_free(b);
	}
}

static void graces_payload_counts_seconds(void **state)
{
	struct bench *b = bench_new(0);

	(void)state;
	b->w.config.version = 0;
	bench_run(b);
	assert_true(b->n > 3590);
	for (size_t k = 0; k < b->n; k++) {
		assert_int_equal(b->heard[k].b.version, 0);
		assert_int_equal(b->heard[k].b.sequence, k + 1);
		assert_true(fabs(b->heard[k].t - (double)(k + 1) * S) < 12);
	}
	bench_free(b);
}

static void faults_of_the_radio_move_nothing(void **state)
{
	unsigned seen[4] = { 0 };

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		struct bench *b = bench_new(round);
		uint32_t due;

		bench_oscillator(b, -80, 500, 3);
		b->fault_every = 6;
		b->w.config.schedule.interval_ms = 200;
		bench_run(b);
		due = b->end.sequence;
		assert_int_equal(due, b->end.sent + b->end.missed);
		assert_true(due >= 5 * 3600 - 3);
		/* one may still be in the air, and the radio may send, and then not say so */
		assert_in_range(b->radio.packets, b->end.sent - 1,
				b->end.sent + b->end.radio.absent);
		assert_true(b->end.sent > due / 2 && b->end.missed > due / 50);
		for (size_t k = 0; k < b->n; k++) {
			double count = bench_counts(b, b->heard[k].t);
			double slot = (b->heard[k].b.sequence + 1.0) * 200 * (HZ / 1000.0);

			assert_true(fabs(count - slot - bench_counts(b, 0)) < 1e-3);
		}
		/* the schedule, and so the watchdog, went on through it all */
		assert_int_equal(b->feeds, due);
		assert_true(b->fed_longest < 0.2 * S * 1.001);
		seen[0] += b->end.radio.absent;
		seen[1] += b->end.radio.stuck;
		seen[2] += b->end.radio.underflow;
		seen[3] += b->end.radio.resets;
		assert_int_equal(b->end.radio.resets >= b->radio.resets, 1);
		bench_free(b);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_true(seen[i] > 20);
	print_message("absent %u, stuck %u, underflow %u, resets %u\n", seen[0], seen[1], seen[2],
		      seen[3]);
}

/* What the way of the strobe takes is taken off, so that the preamble begins at the second. */
static void the_way_of_the_strobe_is_taken_off(void **state)
{
	struct bench *b = bench_new(0);

	(void)state;
	b->w.config.strobe_ns = 1524;
	bench_run(b);
	for (size_t k = 0; k < b->n; k++) {
		double preamble = b->heard[k].t + 1524;

		assert_true(fabs(preamble - (double)(k + 1) * S) < 7);
		assert_true(fabs(preamble - (double)b->heard[k].b.sent_ns) < 1);
	}
	bench_free(b);
}

static int put_status(void *ctx, const char *bytes, unsigned n)
{
	bench_text(ctx, 0, bytes, n);
	return 1;
}

static void a_status_line_is_never_cut(void **state)
{
	struct bench *b = bench_new(0);
	struct syncnode s;
	const struct hal hal = { .ctx = b, .put = put_status };

	(void)state;
	b->w.duration_ns = S / 2;
	bench_run(b);
	s = b->end;
	memset(b->said, 0, sizeof(b->said));
	s.hal = &hal;
	s.sequence = s.sent = s.missed = s.silent = s.lines_lost = s.wrong_lines = UINT32_MAX;
	s.radio.absent = s.radio.stuck = s.radio.underflow = s.radio.resets = UINT32_MAX;
	s.own.pulses = s.own.outliers = s.own.locks = UINT32_MAX;
	s.own.state = DISCIPLINE_HOLDOVER;
	s.own.offset_ns = -499999999;
	s.own.rate *= 1.00025;
	s.own.pp = 1e17;
	s.utc = 1;
	s.utc_ahead_s = UINT32_MAX;
	s.why_silent = "no-pulse";
	s.radio.state = RADIO_PREPARING;
	s.config.id = UINT16_MAX;
	s.config.schedule = (struct schedule){ 10000, 64, 64 };
	syncnode_status(&s);
	assert_non_null(strstr(b->said, "lost 4294967295\r\n"));
	print_message("the longest status: %zu bytes\n", strlen(b->said));
	bench_free(b);
}

static void without_a_radio_it_still_runs(void **state)
{
	static const enum double_fault faults[] = { DOUBLE_GONE, DOUBLE_ZEROS };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct bench *b = bench_new(i);

		b->radio.fault = faults[i];
		b->w.duration_ns = 100.5 * S;
		bench_run(b);
		assert_int_equal(b->n, 0);
		assert_int_equal(b->end.sequence, 100);
		assert_int_equal(b->end.missed, 100);
		assert_int_equal(b->feeds, 100);
		assert_non_null(strstr(b->said, "radio absent"));
		bench_free(b);
	}
}

static void the_transmitter_is_on_for_beacons_only(void **state)
{
	struct bench *b = bench_new(0);
	double air = (double)schedule_air_ns(BAUD, 2 + BEACON_BYTES), total;

	(void)state;
	bench_run(b);
	total = b->radio.idle_ns + b->radio.on_ns + b->radio.send_ns;
	assert_true(fabs(total - HOUR) < 1);
	assert_true(fabs(b->radio.send_ns - (double)b->n * air) < air);
	/* the synthesizer: at most the lead before each strobe */
	assert_true(b->radio.on_ns <= (double)(b->n + 1) * SCHEDULE_LEAD_NS);
	print_message("on the air %.2f %%, synthesizer alone %.2f %%, idle %.2f %%\n",
		      100 * b->radio.send_ns / total, 100 * b->radio.on_ns / total,
		      100 * b->radio.idle_ns / total);
	bench_free(b);
}

static const struct syncnode_line utc_line[] = {
	{ 20.5 * S, "utc 1700000020" },
};

struct coverage {
	unsigned n, covered;
	double worst, sum, widest;
};

/* Errors of the times that beacons tell against the truth, from 30 s on. */
static void judge(const struct bench *b, double from, double to, struct coverage *c)
{
	double interval = b->w.config.schedule.interval_ms * 1e6;

	for (size_t k = 0; k < b->n; k++) {
		const struct beacon *m = &b->heard[k].b;
		double t = b->heard[k].t, utc, off;

		if (t < from || t >= to || !(m->flags & BEACON_UTC))
			continue;
		utc = ((double)m->utc_s - UTC_0) * S + m->utc_ns;
		off = fabs(t - utc);
		c->n++;
		c->covered += off <= m->uncertain_ns;
		/* it is at a multiple of the interval, to within the uncertainty */
		assert_true(fabs(utc - interval * floor(utc / interval + 0.5)) < 7);
		c->sum += off;
		if (off > c->worst)
			c->worst = off;
		if (m->uncertain_ns > c->widest)
			c->widest = m->uncertain_ns;
	}
}

static void pulses_discipline_within_what_is_claimed(void **state)
{
	struct coverage all = { 0 };

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		static const double ppm[] = { 0, 50, -50, 200 };
		struct bench *b = bench_new(round);

		bench_oscillator(b, ppm[round % 4], 900, 1.5);
		bench_pulses(b, 30, 0.02, 0.05);
		b->w.lines = utc_line;
		b->w.n_lines = 1;
		b->w.duration_ns = 2 * HOUR;
		bench_run(b);
		assert_int_equal(b->end.own.locks, 1);
		assert_true(b->end.own.outliers > 20);
		judge(b, 30 * S, 2 * HOUR, &all);
		bench_free(b);
	}
	print_message(
		"%u beacons: mean %.0f ns, worst %.0f ns, claimed up to %.0f ns, covered %.3f %%\n",
		all.n, all.sum / all.n, all.worst, all.widest, 100.0 * all.covered / all.n);
	assert_true(all.n > 12 * 7000);
	assert_true(all.covered >= 0.999 * all.n);
	assert_true(all.sum / all.n < 60);
}

/* Pulses with more jitter than assumed: the claim grows with them. */
static void worse_pulses_are_claimed_to_be_worse(void **state)
{
	static const double jitter_ns[] = { 0, 60, 100, 200, 300 };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct coverage c = { 0 };

		for (unsigned round = 0; round < 4; round++) {
			struct bench *b = bench_new(50 + round);

			bench_oscillator(b, 20, 900, 1.5);
			bench_pulses(b, jitter_ns[i], 0.02, 0.05);
			b->w.lines = utc_line;
			b->w.n_lines = 1;
			bench_run(b);
			/* the first minutes, too, in which it learns how much they jitter */
			judge(b, 0, HOUR, &c);
			bench_free(b);
		}
		print_message("jitter %3.0f ns: mean %.0f ns, worst %.0f ns, covered %.3f %%\n",
			      jitter_ns[i], c.sum / c.n, c.worst, 100.0 * c.covered / c.n);
		assert_true(c.n > 4 * 3000);
		assert_true(c.covered >= 0.999 * c.n);
	}
}

static void holdover_is_covered_too(void **state)
{
	struct coverage held = { 0 }, after = { 0 };

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		struct bench *b = bench_new(100 + round);

		bench_oscillator(b, 20, 900, 1.5);
		bench_pulses(b, 30, 0.02, 0.05);
		b->out_from = 1000 * S;
		b->out_to = 1000 * S + (60 << round % 6) * S; /* up to 32 minutes */
		b->w.lines = utc_line;
		b->w.n_lines = 1;
		bench_run(b);
		judge(b, b->out_from, b->out_to, &held);
		judge(b, b->out_to + 30 * S, HOUR, &after);
		bench_free(b);
	}
	print_message(
		"%u beacons without pulses: mean %.0f ns, worst %.0f ns, claimed up to %.0f ns\n",
		held.n, held.sum / held.n, held.worst, held.widest);
	assert_true(held.n > 5000 && after.n > 5000);
	assert_int_equal(held.covered, held.n);
	assert_true(after.covered >= 0.999 * after.n);
}

/* The antenna is unplugged for good: it must stop claiming a time. */
static void a_lost_time_is_not_claimed(void **state)
{
	struct bench *b = bench_new(7);
	bool claimed = false;

	(void)state;
	bench_oscillator(b, 20, 0, 0);
	bench_pulses(b, 30, 0, 0);
	b->out_from = 100 * S;
	b->out_to = 1e18;
	b->w.lines = utc_line;
	b->w.n_lines = 1;
	b->w.duration_ns = 4 * HOUR;
	bench_run(b);
	for (size_t k = 0; k < b->n; k++) {
		const struct beacon *m = &b->heard[k].b;

		claimed |= b->heard[k].t < 1000 * S && (m->flags & BEACON_UTC);
		assert_true(!(m->flags & BEACON_UTC) == (m->uncertain_ns == UINT32_MAX));
		if (m->flags & BEACON_DISCIPLINED)
			assert_true(m->uncertain_ns <= b->w.config.limits.lost_ns ||
				    !(m->flags & 2));
	}
	assert_true(claimed);
	assert_int_equal(b->heard[b->n - 1].b.flags, 0);
	assert_int_equal(b->end.own.state, DISCIPLINE_FREE);
	assert_int_equal(b->end.missed, 0);
	bench_free(b);
}

/*
 * A receiver that is wrong by a constant from some time on: many pulses that agree beat what was
 * believed.
 */
static void pulses_that_move_for_good_are_followed(void **state)
{
	struct discipline d;
	struct discipline_limits limits = DISCIPLINE_LIMITS;
	int64_t step = 0;

	(void)state;
	discipline_init(&d, HZ, &limits);
	for (uint64_t i = 1; i <= 100; i++)
		discipline_pulse(&d, i * HZ);
	assert_int_equal(d.state, DISCIPLINE_LOCKED);
	for (uint64_t i = 101; i <= 103; i++)
		assert_int_equal(discipline_pulse(&d, i * HZ + HZ / 3), 0);
	assert_int_equal(d.outliers, 3);
	assert_true(discipline_time(&d, 103 * (uint64_t)HZ) % 1000000000 < 100);
	for (uint64_t i = 104; i <= 110; i++)
		step += discipline_pulse(&d, i * HZ + HZ / 3);
	assert_int_equal(d.locks, 2);
	assert_true(llabs(step - 666666667) < 100);
	assert_true(discipline_time(&d, 110 * (uint64_t)HZ + HZ / 3) % 1000000000 < 100);
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct heard *)a)->t, y = ((const struct heard *)b)->t;

	return (x > y) - (x < y);
}

static void slots_never_overlap(void **state)
{
	static const struct schedule sites[] = {
		{ 1000, 1, 4 }, { 1000, 1, 18 }, { 500, 1, 3 }, { 2000, 1, 5 }, { 700, 1, 2 }
	};
	double air = (double)schedule_air_ns(BAUD, 2 + BEACON_BYTES), closest = 1e18;
	static struct heard all[HEARD_MAX * 2];
	unsigned silent = 0;

	(void)state;
	for (size_t site = 0; site < 5; site++) {
		size_t n = 0;

		for (uint8_t k = 1; k <= sites[site].slots; k++) {
			struct bench *b = bench_new(site * 100 + k);
			double ppm = sim_uniform(&b->random) * 200 - 100;
			struct syncnode_line lines[2] = { { 20.5 * S, "utc 1700000020" },
							  { 3500.5 * S, "utc 1700003500" } };

			bench_oscillator(b, ppm, 900, 3);
			bench_pulses(b, 50, 0.02, 0.1);
			b->out_from = (600 + 600 * sim_uniform(&b->random)) * S;
			b->out_to = b->out_from + 3000 * sim_uniform(&b->random) * S;
			/* all begin at some time of their own */
			b->w.begin_ns = sim_uniform(&b->random) * 15 * S;
			b->w.lines = lines;
			b->w.n_lines = 2;
			b->w.config.schedule = sites[site];
			b->w.config.schedule.slot = k;
			b->w.config.id = k;
			b->fault_every = 60;
			b->w.duration_ns = 2 * HOUR;
			bench_run(b);
			silent += b->end.silent;
			assert_int_equal(b->end.sequence,
					 b->end.sent + b->end.missed + b->end.silent);
			assert_true(b->end.sent > b->end.sequence / 3);
			assert_true(n + b->n <= HEARD_MAX * 2);
			memcpy(all + n, b->heard, b->n * sizeof(*all));
			n += b->n;
			bench_free(b);
		}
		qsort(all, n, sizeof(*all), by_time);
		for (size_t i = 1; i < n; i++) {
			double apart = all[i].t - all[i - 1].t - air;

			if (apart < closest)
				closest = apart;
			if (apart <= 0)
				fail_msg("site %zu: %u and %u at %.6f s and %.6f s", site,
					 all[i - 1].b.sender, all[i].b.sender, all[i - 1].t / S,
					 all[i].t / S);
		}
	}
	assert_true(silent > 1000);
	print_message("closest two beacons: %.3f ms between; silent %u times\n", closest / 1e6,
		      silent);
}

static void schedules_that_would_collide_are_refused(void **state)
{
	uint64_t air = schedule_air_ns(BAUD, 2 + BEACON_BYTES);

	(void)state;
	assert_int_equal(air, 50666666);
	assert_int_equal(schedule_air_ns(BAUD, 2 + BEACON_GRACE_BYTES), 18666666);
	assert_null(schedule_check(&(struct schedule){ 1000, 18, 18 }, air));
	assert_non_null(schedule_check(&(struct schedule){ 1000, 19, 19 }, air));
	assert_non_null(schedule_check(&(struct schedule){ 1000, 0, 1 }, air));
	assert_non_null(schedule_check(&(struct schedule){ 1000, 2, 1 }, air));
	assert_non_null(schedule_check(&(struct schedule){ 60, 1, 1 }, air));
	assert_null(schedule_check(&(struct schedule){ 61, 1, 1 }, air));
	assert_non_null(schedule_check(&(struct schedule){ 10001, 1, 1 }, air));
	for (uint32_t ms = 61; ms <= 10000; ms += 13)
		for (uint8_t slot = 1; slot <= 4; slot++) {
			struct schedule s = { ms, slot, 4 };
			int64_t ahead = 1700000000 + ms, t = 5000000000, I = ms * 1000000ll;
			int64_t next = schedule_next(&s, t, ahead);

			assert_true(next > t && next <= t + I);
			assert_int_equal((next + ahead * 1000000000) % I, I * (slot - 1) / 4);
			assert_int_equal(schedule_next(&s, next, ahead), next + I);
			assert_int_equal(schedule_next(&s, next - 1, ahead), next);
		}
}

static enum command_kind read_line(const char *s, struct command *c)
{
	command_read(s, c);
	return c->kind;
}

/* @s with its checksum. */
static const char *sentence(const char *s)
{
	static char text[120];
	unsigned sum = 0;

	for (const char *p = s + 1; *p; p++)
		sum ^= (unsigned char)*p;
	snprintf(text, sizeof(text), "%s*%02X", s, sum);
	return text;
}

static void lines_are_read(void **state)
{
	struct command c;
	static const char *const wrong[] = {
		"interval",
		"interval 5",
		"interval ms",
		"interval 99999999999ms",
		"interval -1ms",
		"interval 5000000000s",
		"id",
		"id x",
		"id 4294967296",
		"slot 1",
		"slot 1/",
		"slot /2",
		"slot 1/2/3",
		"payload",
		"payload both",
		"statuses",
		"status 1",
		"utc",
		"utc 1700000000s",
		"intervals 5ms",
		"hello",
		"$",
		"$*",
		"$*00x",
		"$GPZDA*00",
		"$GPZDA",
		"\x01",
		" id 3",
	};
	static const char *const none[] = {
		"$GPRMC,120000.00,V,,,,,,,131123,,,N",
		"$GPZDA,,,,,00,00",
		"$GPZDA,120000.50,13,11,2023,00,00",
		"$GPZDA,235960.00,31,12,2016,00,00",
		"$GPZDA,120000.00,31,02,2023,00,00",
		"$GPZDA,120000.00,13,13,2023,00,00",
		"$GPGGA,120000.00,,,,,0,00,,,M,,M,,",
		"$GPZDA",
		"$GPZDA,120000",
		"$GPRMC,120000.00,A,1,2,3",
		"$GPZDA,120000.00,13,11,23,00,00",
	};

	(void)state;
	assert_int_equal(read_line("interval 500ms", &c), COMMAND_INTERVAL);
	assert_int_equal(c.value, 500);
	assert_int_equal(read_line("interval 2s", &c), COMMAND_INTERVAL);
	assert_int_equal(c.value, 2000);
	assert_int_equal(read_line("id 3", &c), COMMAND_ID);
	assert_int_equal(c.value, 3);
	assert_int_equal(read_line("slot 1/4", &c), COMMAND_SLOT);
	assert_int_equal(c.value, 1);
	assert_int_equal(c.of, 4);
	assert_int_equal(read_line("payload grace", &c), COMMAND_PAYLOAD);
	assert_int_equal(c.value, 0);
	assert_int_equal(read_line("payload coeval", &c), COMMAND_PAYLOAD);
	assert_int_equal(c.value, 1);
	assert_int_equal(read_line("utc 1700000000", &c), COMMAND_UTC);
	assert_int_equal(c.value, 1700000000);
	assert_int_equal(read_line("status", &c), COMMAND_STATUS);
	assert_int_equal(read_line("", &c), COMMAND_NONE);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (read_line(wrong[i], &c) != COMMAND_WRONG)
			fail_msg("\"%s\" is taken", wrong[i]);

	assert_int_equal(read_line(sentence("$GPZDA,221320.00,14,11,2023,00,00"), &c),
			 COMMAND_GPS_UTC);
	assert_int_equal(c.value, 1700000000);
	assert_int_equal(
		read_line(sentence("$GNRMC,221320.000,A,5420.1,N,01007.2,E,0.0,,141123,,,A"), &c),
		COMMAND_GPS_UTC);
	assert_int_equal(c.value, 1700000000);
	assert_int_equal(read_line(sentence("$GPZDA,000000.00,29,02,2000,00,00"), &c),
			 COMMAND_GPS_UTC);
	assert_int_equal(c.value, 951782400);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (read_line(sentence(none[i]), &c) != COMMAND_NONE)
			fail_msg("\"%s\" is taken", none[i]);
	assert_int_equal(read_line("$GPZDA,221320.00,14,11,2023,00,00*00", &c), COMMAND_WRONG);
}

static void random_bytes_are_survived(void **state)
{
	static const char *const starts[] = { "interval ", "slot ",   "id ",      "utc ",
					      "$GPZDA,",   "$GPRMC,", "payload ", "" };
	struct sim_random r = { seed };
	struct command_line line = { .n = 0 };
	unsigned ended = 0;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		const char *s = starts[sim_u64(&r) % 8];
		unsigned n = (unsigned)(sim_u64(&r) % (i % 50 ? 20 : 300));
		struct command c;

		for (; *s; s++)
			ended += (unsigned)command_feed(&line, (uint8_t)*s, &c);
		while (n--) {
			uint8_t byte = (uint8_t)sim_u64(&r);

			if (sim_u64(&r) % 4)
				byte = (uint8_t) "0123456789/ms,.*A"[byte % 17];
			ended += (unsigned)command_feed(&line, byte, &c);
			assert_true(line.n <= COMMAND_LINE);
		}
		assert_true(command_feed(&line, '\n', &c));
		assert_true(c.kind <= COMMAND_STATUS);
	}
	assert_true(ended > 0);
}

static void commands_are_obeyed(void **state)
{
	static const struct syncnode_line lines[] = {
		{ 10.1 * S, "interval 500ms" }, { 10.2 * S, "id 3" },
		{ 10.3 * S, "utc 1700000000" }, { 20.02 * S, "interval 60ms" },
		{ 20.1 * S, "payload grace" },  { 20.2 * S, "slot 1/40" },
		{ 20.3 * S, "nonsense" },       { 25.9 * S, "slot 2/4" },
	};
	struct bench *b = bench_new(0);

	(void)state;
	b->w.lines = lines;
	b->w.n_lines = 8;
	b->w.duration_ns = 40.9 * S;
	bench_run(b);
	/*
	 * 10 by the second, 31 by the half second until the node keeps silent: it shares the air
	 * and has no pulse
	 */
	assert_int_equal(b->n, 10 + 31);
	assert_int_equal(b->heard[9].b.sender, 1);
	assert_int_equal(b->heard[10].b.sender, 3);
	assert_true(fabs(b->heard[11].t - b->heard[10].t - 0.5 * S) < 12);
	assert_true(b->end.silent >= 29);
	assert_string_equal(b->end.why_silent, "no-pulse");
	assert_int_equal(b->end.wrong_lines, 1);
	assert_non_null(strstr(b->said, "why no-pulse"));
	bench_free(b);
}

static void a_gps_sets_utc(void **state)
{
	static char text[40][100];
	static struct syncnode_line lines[40];
	struct bench *b = bench_new(3);
	size_t with = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		char body[90];

		snprintf(body, sizeof(body), "$GPZDA,2213%02u.00,14,11,2023,00,00", 20 + i);
		strcpy(text[i], sentence(body));
		lines[i] = (struct syncnode_line){ (i + 0.3) * S, text[i] };
	}
	lines[30].text =
		"$GPZDA,000000.00,14,11,2023,00,00*4F"; /* one that is wrong changes nothing */
	bench_oscillator(b, -30, 0, 0);
	bench_pulses(b, 30, 0, 0);
	b->w.lines = lines;
	b->w.n_lines = 40;
	b->w.duration_ns = 60 * S;
	bench_run(b);
	for (size_t k = 0; k < b->n; k++) {
		const struct beacon *m = &b->heard[k].b;
		double utc = ((double)m->utc_s - UTC_0) * S + m->utc_ns;

		if (!(m->flags & BEACON_UTC))
			continue;
		with++;
		assert_true(fabs(utc - b->heard[k].t) <= m->uncertain_ns);
	}
	assert_true(with > 45);
	bench_free(b);
}

/* So that it can stand in for the firmware in simulated test beds of any size. */
static void an_hour_is_quick(void **state)
{
	struct bench *b = bench_new(0);
	clock_t began, took;

	(void)state;
	bench_oscillator(b, 20, 900, 3);
	bench_pulses(b, 30, 0.01, 0.02);
	began = clock();
	bench_run(b);
	took = clock() - began;
	print_message("an hour of beacons takes %.0f ms\n", (double)took * 1e3 / CLOCKS_PER_SEC);
	assert_true(took < CLOCKS_PER_SEC * 5);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strobes_are_at_exact_counts),
		cmocka_unit_test(graces_payload_counts_seconds),
		cmocka_unit_test(faults_of_the_radio_move_nothing),
		cmocka_unit_test(the_way_of_the_strobe_is_taken_off),
		cmocka_unit_test(a_status_line_is_never_cut),
		cmocka_unit_test(without_a_radio_it_still_runs),
		cmocka_unit_test(the_transmitter_is_on_for_beacons_only),
		cmocka_unit_test(pulses_discipline_within_what_is_claimed),
		cmocka_unit_test(worse_pulses_are_claimed_to_be_worse),
		cmocka_unit_test(holdover_is_covered_too),
		cmocka_unit_test(a_lost_time_is_not_claimed),
		cmocka_unit_test(pulses_that_move_for_good_are_followed),
		cmocka_unit_test(slots_never_overlap),
		cmocka_unit_test(schedules_that_would_collide_are_refused),
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(random_bytes_are_survived),
		cmocka_unit_test(commands_are_obeyed),
		cmocka_unit_test(a_gps_sets_utc),
		cmocka_unit_test(an_hour_is_quick),
	};
	const char *text = getenv("COEVAL_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20261;
	print_message("COEVAL_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
