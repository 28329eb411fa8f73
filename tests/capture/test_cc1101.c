/* SPDX-License-Identifier: MIT */
/*
 * The radio: its register values, its FIFO, and the driver on the model of the chip (all
 * simulated).
 */
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
#include <unistd.h>

#include "core/random.h"
#include "capture/drivers/cc1101/spi.h"
#include "../sim/devices/cc1101_chip.h"
#include "tier.h"

static uint64_t seed;

static const struct cc1101_profile *profile(const char *name)
{
	const struct cc1101_profile *p = cc1101_profile_find(name);

	assert_non_null(p);
	return p;
}

static void configure(struct cc1101_config *c, const char *name)
{
	const char *why = cc1101_configure(c, &profile(name)->wanted);

	if (why)
		fail_msg("%s: %s", name, why);
}

static void these_registers(const struct cc1101_config *c, const uint8_t (*want)[2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c->reg[want[i][0]] != want[i][1])
			fail_msg("%s is %02x and not %02x", cc1101_reg_name(want[i][0]),
				 c->reg[want[i][0]], want[i][1]);
}

/*
 * What Grace's published receiver and sender write, and worked out by hand from the data sheet's
 * formulas. Its FREQ is 10A7E1, 201 Hz above 433.050 MHz; the nearest is one step lower.
 */
static void grace_has_the_registers_of_grace(void **state)
{
	static const uint8_t want[][2] = {
		{ CC1101_FREQ2, 0x10 },    { CC1101_FREQ1, 0xa7 },   { CC1101_FREQ0, 0xe0 },
		{ CC1101_MDMCFG4, 0xf7 },  { CC1101_MDMCFG3, 228 },  { CC1101_MDMCFG2, 0x02 },
		{ CC1101_MDMCFG1, 0x22 },  { CC1101_DEVIATN, 0x31 }, { CC1101_PKTCTRL1, 0x4c },
		{ CC1101_PKTCTRL0, 0x45 }, { CC1101_SYNC1, 0xd3 },   { CC1101_SYNC0, 0x91 },
		{ CC1101_IOCFG0, 0x07 },   { CC1101_FSCTRL1, 0x06 }, { CC1101_FIFOTHR, 0x47 },
		{ CC1101_MCSM1, 0x0c },    { CC1101_MCSM0, 0x18 },   { CC1101_TEST2, 0x81 },
		{ CC1101_TEST1, 0x35 },    { CC1101_PKTLEN, 29 },
	};
	struct cc1101_config c;

	(void)state;
	configure(&c, "grace");
	these_registers(&c, want, sizeof(want) / sizeof(want[0]));
	/*
	 * 1091552 * 26 MHz / 2^16, (256 + 228) * 2^7 * 26 MHz / 2^28, 9 * 2^3 * 26 MHz / 2^17, 26
	 * MHz / (8 * 7 * 8).
	 */
	assert_int_equal(cc1101_carrier_milli(c.reg), 433049804688);
	assert_int_equal(cc1101_rate_milli(c.reg), 6000519);
	assert_int_equal(cc1101_deviation_milli(c.reg), 14282227);
	assert_int_equal(cc1101_bandwidth_milli(c.reg), 58035714);
	assert_int_equal(c.carrier_error_milli, -195312);
	assert_int_equal(c.rate_error_milli, 519);
	assert_int_equal(c.deviation_error_milli, 227);
	assert_int_equal(c.bandwidth_error_milli, -286);
	/* 13 bytes on the air: 17.3 ms, as was measured. */
	assert_in_range(cc1101_air_ns(c.reg, 4), 17330000, 17333400);
}

/* SmartRF Studio's exports for 38.4 kBd, as many projects have published them. */
static void the_fast_profile_has_the_registers_of_smartrf(void **state)
{
	static const uint8_t want[][2] = {
		{ CC1101_FSCTRL1, 0x06 },  { CC1101_MDMCFG4, 0xca }, { CC1101_MDMCFG3, 0x83 },
		{ CC1101_DEVIATN, 0x35 },  { CC1101_MCSM0, 0x18 },   { CC1101_FOCCFG, 0x16 },
		{ CC1101_AGCCTRL2, 0x43 }, { CC1101_FSCAL3, 0xe9 },  { CC1101_FSCAL2, 0x2a },
		{ CC1101_FSCAL1, 0x00 },   { CC1101_FSCAL0, 0x1f },  { CC1101_TEST2, 0x81 },
		{ CC1101_TEST1, 0x35 },    { CC1101_TEST0, 0x09 },   { CC1101_MDMCFG2, 0x12 },
		{ CC1101_FREQ2, 0x21 },    { CC1101_FREQ1, 0x65 },   { CC1101_FREQ0, 0x6a },
	};
	struct cc1101_wanted w = profile("eu868")->wanted;
	struct cc1101_config c;

	(void)state;
	configure(&c, "eu868");
	these_registers(&c, want, sizeof(want) / sizeof(want[0]));
	w.carrier_hz = 433000000; /* 10 A7 62 in the same exports */
	assert_null(cc1101_configure(&c, &w));
	assert_memory_equal(c.reg + CC1101_FREQ2, "\x10\xa7\x62", 3);
}

static void profiles_keep_to_their_band_and_duty(void **state)
{
	(void)state;
	for (const struct cc1101_profile *p = cc1101_profiles; p->name; p++) {
		const uint32_t half = p->wanted.deviation_hz + p->wanted.rate_bd / 2;
		struct cc1101_config c;

		assert_null(cc1101_configure(&c, &p->wanted));
		assert_ptr_equal(cc1101_profile_find(p->name), p);
		assert_true(cc1101_duty_ppm(c.reg, 1 + BEACON_BYTES, 1000) <= p->duty_ppm);
		/* Grace's own lies on the edge, which its text says. */
		if (strcmp(p->name, "grace")) {
			assert_true(p->wanted.carrier_hz - half >= p->band_low_hz);
			assert_true(p->wanted.carrier_hz + half <= p->band_high_hz);
		} else {
			assert_non_null(strstr(p->legal, "Not in the band"));
		}
	}
	assert_null(cc1101_profile_find("gra"));
	assert_null(cc1101_profile_find("graces"));
}

/* The table in docs/radio.md is what is written. */
static void the_documented_registers_are_those(void **state)
{
	char line[512], want[128];
	unsigned rows = 0;
	FILE *f = fopen(COEVAL_SOURCE_DIR "/docs/radio.md", "r");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		for (unsigned i = 0; i < CC1101_REGS; i++) {
			int n = snprintf(want, sizeof(want), "| %s |", cc1101_reg_name(i));

			if (strncmp(line, want, (size_t)n))
				continue;
			for (const struct cc1101_profile *p = cc1101_profiles; p->name; p++) {
				struct cc1101_config c;

				configure(&c, p->name);
				n += snprintf(want + n, sizeof(want) - (size_t)n, " %02X |",
					      c.reg[i]);
			}
			line[strcspn(line, "\n")] = 0;
			assert_string_equal(line, want);
			rows++;
		}
	fclose(f);
	assert_int_equal(rows, CC1101_REGS);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * No other value of the registers is nearer: the decoded value is within half a step of what was
 * asked.
 */
static void values_are_within_half_a_step(void **state)
{
	struct sim_random x;
	unsigned done = 0;

	(void)state;
	x.state = seed;
	while (done < 2000) {
		struct cc1101_wanted w = profile("grace")->wanted;
		struct cc1101_config c;
		uint8_t other[CC1101_REGS];

		w.carrier_hz = 387000000 + (uint32_t)(sim_u64(&x) % 77000000);
		w.bandwidth_hz = 58036 + (uint32_t)(sim_u64(&x) % 754464);
		w.deviation_hz = 1587 + (uint32_t)(sim_u64(&x) % 200000);
		w.rate_bd = 600 + (uint32_t)(sim_u64(&x) % 300000);
		if (cc1101_configure(&c, &w))
			continue;
		done++;
		/* A step of the carrier is f_xosc / 2^16. */
		assert_true(abs(c.carrier_error_milli) <= 26000000000ll / 65536 / 2 + 1);
		memcpy(other, c.reg, sizeof(other));
		for (unsigned m4 = 0; m4 < 256; m4++) {
			other[CC1101_MDMCFG4] = (uint8_t)m4;
			assert_true(
				apart(cc1101_bandwidth_milli(other), w.bandwidth_hz * 1000ull) >=
				(uint64_t)abs(c.bandwidth_error_milli));
		}
		for (unsigned d = 0; d < 128; d++) {
			other[CC1101_DEVIATN] = (uint8_t)d;
			assert_true(
				apart(cc1101_deviation_milli(other), w.deviation_hz * 1000ull) >=
				(uint64_t)abs(c.deviation_error_milli));
		}
		/* A step of the rate is 1/256 to 1/512 of it. */
		assert_true((uint64_t)abs(c.rate_error_milli) <= w.rate_bd * 1000ull / 511 + 1);
		for (int m3 = -1; m3 <= 1; m3 += 2) {
			other[CC1101_MDMCFG4] = c.reg[CC1101_MDMCFG4];
			other[CC1101_MDMCFG3] = (uint8_t)(c.reg[CC1101_MDMCFG3] + m3);
			assert_true(apart(cc1101_rate_milli(other), w.rate_bd * 1000ull) >=
				    (uint64_t)abs(c.rate_error_milli));
		}
	}
}

static void what_the_chip_cannot_do_is_refused(void **state)
{
	static const struct {
		struct cc1101_wanted w;
		const char *limit;
	} cases[] = {
		{ { 348000001, 58036, 14282, 6000, 0, 0, 0, 0, 29, 0 }, "carrier" },
		{ { 386999999, 58036, 14282, 6000, 0, 0, 0, 0, 29, 0 }, "carrier" },
		{ { 928000001, 58036, 14282, 6000, 0, 0, 0, 0, 29, 0 }, "carrier" },
		{ { 433050000, 57000, 14282, 6000, 0, 0, 0, 0, 29, 0 }, "bandwidth" },
		{ { 433050000, 812501, 14282, 6000, 0, 0, 0, 0, 29, 0 }, "bandwidth" },
		{ { 433050000, 58036, 1586, 6000, 0, 0, 0, 0, 29, 0 }, "deviation" },
		{ { 433050000, 58036, 380860, 6000, 0, 0, 0, 0, 29, 0 }, "deviation" },
		{ { 433050000, 58036, 14282, 599, 0, 0, 0, 0, 29, 0 }, "data rate" },
		{ { 433050000, 812500, 14282, 500001, 0, 0, 0, 0, 29, 0 }, "data rate" },
		{ { 433050000, 812500, 14282, 250001, 1, 0, 0, 0, 29, 0 }, "data rate" },
		{ { 433050000, 58036, 14282, 6000, 2, 0, 0, 0, 29, 0 }, "modulation" },
		{ { 433050000, 58036, 14282, 6000, 0, 0, 0, 0, 0, 0 }, "length" },
		{ { 433050000, 58036, 14282, 6000, 0, 0, 0, 0, 62, 0 }, "length" },
		{ { 433050000, 58036, 20630, 6000, 0, 0, 0, 0, 29, 0 }, "80 %" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cc1101_config c;
		const char *why = cc1101_configure(&c, &cases[i].w);

		if (!why || !strstr(why, cases[i].limit))
			fail_msg("case %zu: %s", i, why ? why : "not refused");
	}
}

static size_t put(uint8_t *at, const struct beacon *b, bool crc_ok)
{
	const bool grace = !b->version;
	size_t n = beacon_encode(b, at + (grace ? 1 : 2));

	if (!grace)
		at[1] = BEACON_ADDRESS;
	at[0] = (uint8_t)(n + !grace);
	n += 1u + !grace;
	at[n++] = 0x80; /* -128 / 2 - 74 dBm */
	at[n++] = (uint8_t)(crc_ok ? 0x80 | 42 : 42);
	return n;
}

static void packets_are_read_and_refused_by_kind(void **state)
{
	const struct beacon ours = { 1, 0, 7, 100, 5000000000, 0, 0, 0 }, grace = { .sequence = 9 };
	struct beacon_heard h[4];
	struct packets p;
	uint8_t b[200];
	size_t n, used;

	(void)state;
	packets_init(&p);
	n = put(b, &grace, true);
	n += put(b + n, &ours, true);
	assert_int_equal(packets_read(&p, b, n, h, 4, &used), 2);
	assert_int_equal(used, n);
	assert_int_equal(h[0].beacon.sequence, 9);
	assert_int_equal(h[0].beacon.version, 0);
	assert_int_equal(h[1].beacon.sent_ns, 5000000000);
	assert_int_equal(h[1].rssi_half_dbm, -128 - 148);
	assert_int_equal(h[1].lqi, 42);
	/* As the paper has it, with an address. */
	memcpy(b, "\x05\x7f\x0a\0\0\0\x80\x80", 8);
	assert_int_equal(packets_read(&p, b, 8, h, 4, &used), 1);
	assert_int_equal(h[0].beacon.sequence, 10);
	assert_int_equal(p.count.heard, 3);

	b[1] = 0x7e;
	assert_int_equal(packets_read(&p, b, 8, h, 4, &used), 0);
	assert_int_equal(p.count.address, 1);
	n = put(b, &ours, false);
	assert_int_equal(packets_read(&p, b, n, h, 4, &used), 0);
	assert_int_equal(p.count.crc, 1);
	n = put(b, &ours, true);
	b[2] = 9; /* version */
	assert_int_equal(packets_read(&p, b, n, h, 4, &used), 0);
	assert_int_equal(p.count.payload, 1);
	memcpy(b, "\x03\x7f\x0a\0\x80\x80", 6);
	assert_int_equal(packets_read(&p, b, 6, h, 4, &used), 0);
	assert_int_equal(p.count.length, 1);
	b[0] = 62;
	assert_int_equal(packets_read(&p, b, 64, h, 4, &used), 0);
	assert_int_equal(p.count.length, 2);
	n = put(b, &ours, true);
	assert_int_equal(packets_read(&p, b, n - 1, h, 4, &used), 0);
	assert_int_equal(used, 0);
	assert_int_equal(p.count.truncated, 1);
	assert_int_equal(p.count.heard, 3);
}

static void hear(struct packets *p, uint32_t sequence, uint64_t sent_ns)
{
	const struct beacon b = { 1, 0, 7, sequence, sent_ns, 0, 0, 0 };
	struct beacon_heard h;
	uint8_t bytes[64];

	assert_int_equal(packets_read(p, bytes, put(bytes, &b, true), &h, 1, NULL), 1);
}

static void sequences_are_watched(void **state)
{
	const uint64_t s = 1000000000;
	struct packets p;

	(void)state;
	packets_init(&p);
	hear(&p, 10, 10 * s);
	hear(&p, 11, 11 * s);
	hear(&p, 14, 14 * s);
	assert_int_equal(p.count.missed, 2);
	hear(&p, 14, 14 * s);
	assert_int_equal(p.count.repeated, 1);
	hear(&p, 0, 0); /* a restart */
	hear(&p, 1, 1 * s);
	assert_int_equal(p.count.back, 1);
	hear(&p, 90000, 90000 * s);
	assert_int_equal(p.count.forward, 1);
	assert_false(packet_twins(&p, 7));
	/* Now another one with the same id. */
	for (uint32_t i = 1; i < 6; i++) {
		hear(&p, 50000 + i, (7 + i) * s);
		hear(&p, 90000 + i, (90000 + i) * s);
	}
	assert_true(packet_twins(&p, 7));
	assert_true(p.count.twins > 0);
	assert_false(packet_twins(&p, 8));
}

/* A bus with the model on it. */
struct bench {
	struct cc1101_chip chip;
	struct cc1101 *radio;
	struct cvl_error err;
	uint64_t rises;
};

static void bench_wait(void *ctx, unsigned us)
{
	struct bench *b = ctx;

	chip_advance(&b->chip, b->chip.now_ns + us * 1000ll);
}

static int bench_transfer(void *ctx, const uint8_t *tx, uint8_t *rx, size_t n)
{
	return chip_transfer(&((struct bench *)ctx)->chip, tx, rx, n);
}

static void bench_pin(void *ctx, int pin, bool level, int64_t now_ns)
{
	struct bench *b = ctx;

	(void)now_ns;
	b->rises += pin == 0 && level;
}

static int bench_open(struct bench *b, enum chip_fault fault, const char *name)
{
	const struct cc1101_bus bus = { bench_transfer, bench_wait, NULL, b };

	memset(b, 0, sizeof(*b));
	b->chip.fault = fault;
	b->chip.spi_byte_ns = 2000;
	b->chip.on_pin = bench_pin;
	b->chip.ctx = b;
	chip_reset(&b->chip, 0);
	return cc1101_open_bus(&b->radio, &bus, "model", profile(name), &b->err);
}

static struct chip_air on_air(const struct bench *b, int64_t start_ns, uint32_t sequence, bool bad)
{
	const struct beacon beacon = { 1, 0, 7, sequence, sequence * 1000000000ull, 0, 0, 0 };
	struct chip_air a = { .start_ns = start_ns,
			      .carrier_milli = cc1101_carrier_milli(b->chip.reg) + 2000000,
			      .rate_milli = cc1101_rate_milli(b->chip.reg),
			      .sync_word = BEACON_SYNC_WORD,
			      .rssi = 20,
			      .lqi = 3,
			      .crc_bad = bad };

	a.n = put(a.bytes, &beacon, true) - 2;
	return a;
}

static void send(struct bench *b, int64_t start_ns, uint32_t sequence, bool bad)
{
	const struct chip_air a = on_air(b, start_ns, sequence, bad);

	assert_true(chip_hear(&b->chip, &a));
}

static int drain(struct bench *b, struct beacon_heard *h)
{
	int n = cc1101_drain(b->radio, h, CC1101_DRAIN_MOST, &b->err);

	if (n < 0)
		fail_msg("%s", b->err.text);
	return n;
}

#define MS 1000000ll

static void the_radio_hears_beacons(void **state)
{
	struct beacon_heard h[CC1101_DRAIN_MOST];
	struct cc1101_counters count;
	struct bench b;

	(void)state;
	for (const struct cc1101_profile *p = cc1101_profiles; p->name; p++) {
		if (bench_open(&b, CHIP_SOUND, p->name))
			fail_msg("%s", b.err.text);
		assert_memory_equal(b.chip.reg, cc1101_config_of(b.radio)->reg, CC1101_REGS);
		assert_int_equal(b.chip.pa[0], p->wanted.power);
		assert_int_equal(drain(&b, h), 0);
		for (uint32_t i = 0; i < 700; i++) {
			const int64_t at = (100 + 1000 * (int64_t)i) * MS;

			send(&b, at, i, i % 10 == 3);
			chip_advance(&b.chip, at + 300 * MS);
			assert_int_equal(chip_pin(&b.chip, 0), i % 10 != 3);
			assert_int_equal(drain(&b, h), i % 10 != 3);
			assert_false(chip_pin(&b.chip, 0));
			if (i % 10 == 3)
				continue;
			assert_int_equal(h[0].beacon.sequence, i);
			assert_int_equal(h[0].rssi_half_dbm, 20 - 148);
		}
		cc1101_counters(b.radio, &count);
		assert_int_equal(count.packets.heard, 630);
		assert_int_equal(count.packets.missed, 70);
		assert_int_equal(b.rises, 630);
		assert_int_equal(count.restarts, 0);
		assert_int_equal(count.calibrations, 2);
		cc1101_close(b.radio);
	}
}

static void other_channels_are_not_heard(void **state)
{
	struct chip_air a;
	struct bench b;

	(void)state;
	assert_int_equal(bench_open(&b, CHIP_SOUND, "grace"), 0);
	for (int what = 0; what < 4; what++) {
		a = on_air(&b, (100 + 1000 * what) * MS, 1, false);
		a.carrier_milli += what == 0 ? 100000000 : 0;
		a.rate_milli += what == 1 ? a.rate_milli / 10 : 0;
		a.sync_word ^= what == 2;
		assert_true(chip_hear(&b.chip, &a));
		chip_advance(&b.chip, (900 + 1000 * what) * MS);
		assert_int_equal(b.rises, what == 3);
	}
	assert_int_equal(b.chip.ignored, 3);
	/* Too long for PKTLEN: dropped by the chip. */
	a.start_ns += 1000 * MS;
	a.bytes[0] = 40;
	a.n = 41;
	assert_true(chip_hear(&b.chip, &a));
	chip_advance(&b.chip, 4900 * MS);
	assert_int_equal(b.chip.filtered, 1);
	cc1101_close(b.radio);
}

/*
 * Whenever the drain begins: nothing is lost, nothing twice, and the FIFO is not read empty under a
 * packet.
 */
static void a_packet_in_the_middle_of_a_drain_is_read_whole(void **state)
{
	struct beacon_heard h[CC1101_DRAIN_MOST];
	struct bench b;

	(void)state;
	for (int64_t shift = 0; shift < 70 * MS; shift += 37000) {
		size_t got = 0;

		assert_int_equal(bench_open(&b, CHIP_SOUND, "grace"), 0);
		b.chip.unsteady = true;
		send(&b, 100 * MS, 1, false);
		send(&b, 152 * MS, 2, false);
		chip_advance(&b.chip, 151 * MS + shift);
		for (int i = 0; i < 3; i++) {
			int n = drain(&b, h);

			for (int k = 0; k < n; k++)
				assert_int_equal(h[k].beacon.sequence, ++got);
			chip_advance(&b.chip, b.chip.now_ns + 60 * MS);
		}
		assert_int_equal(got, 2);
		assert_int_equal(b.chip.duplicated, 0);
		cc1101_close(b.radio);
	}
}

static void an_overflow_is_told_and_left(void **state)
{
	struct beacon_heard h[CC1101_DRAIN_MOST];
	struct cc1101_counters count;
	struct bench b;

	(void)state;
	assert_int_equal(bench_open(&b, CHIP_SOUND, "grace"), 0);
	for (uint32_t i = 0; i < 4; i++)
		send(&b, (100 + 100 * (int)i) * MS, i, false);
	chip_advance(&b.chip, 900 * MS);
	assert_int_equal(b.chip.state, CC1101_IN_RX_OVERFLOW);
	assert_int_equal(b.rises, 1);
	assert_int_equal(drain(&b, h), 2);
	assert_int_equal(h[1].beacon.sequence, 1);
	cc1101_counters(b.radio, &count);
	assert_int_equal(count.packets.overflows, 1);
	assert_int_equal(count.restarts, 1);
	send(&b, 1100 * MS, 4, false);
	chip_advance(&b.chip, 1900 * MS);
	assert_int_equal(b.rises, 2);
	assert_int_equal(drain(&b, h), 1);
	assert_int_equal(h[0].beacon.sequence, 4);
	/* It was stopped. */
	bench_transfer(&b, (const uint8_t[]){ CC1101_SIDLE }, (uint8_t[1]){ 0 }, 1);
	assert_int_equal(drain(&b, h), 0);
	assert_int_equal(b.chip.state, CC1101_IN_RX);
	cc1101_close(b.radio);
}

static void a_radio_that_is_not_there_is_told(void **state)
{
	static const struct {
		enum chip_fault fault;
		const char *says;
	} cases[] = {
		{ CHIP_DEAD_LOW, "no radio answers" }, { CHIP_DEAD_HIGH, "MISO stays high" },
		{ CHIP_DEAF, "SI is not at MOSI" },    { CHIP_STUCK, "does not begin to receive" },
		{ CHIP_NEVER_READY, "crystal" },
	};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(bench_open(&b, cases[i].fault, "grace"), CVL_E_ENV);
		if (!strstr(b.err.text, cases[i].says))
			fail_msg("%s", b.err.text);
		assert_null(b.radio);
	}
}

static void dies_later(void **state)
{
	struct beacon_heard h[CC1101_DRAIN_MOST];
	struct bench b;

	(void)state;
	for (int high = 0; high < 2; high++) {
		assert_int_equal(bench_open(&b, CHIP_SOUND, "grace"), 0);
		b.chip.fault = high ? CHIP_DEAD_HIGH : CHIP_DEAD_LOW;
		assert_int_equal(cc1101_drain(b.radio, h, CC1101_DRAIN_MOST, &b.err), CVL_E_ENV);
		cc1101_close(b.radio);
	}
}

static void count_row(void *ctx, const struct cvl_device *row)
{
	assert_non_null(strstr(row->where, "spidev7.1"));
	assert_string_equal(row->state, "ready");
	++*(int *)ctx;
}

static void devices_are_named(void **state)
{
	char dir[] = "/tmp/cc1101-XXXXXX", path[64];
	struct cvl_error err;
	struct cc1101 *r;
	int rows = 0;
	FILE *f;

	(void)state;
	assert_int_equal(cc1101_open(&r, "spidev99.9", cc1101_profiles, &err), CVL_E_ENV);
	assert_non_null(strstr(err.text, "/dev/spidev99.9: no such SPI device"));
	assert_int_equal(cc1101_open(&r, "/dev/null", cc1101_profiles, &err), CVL_E_ENV);
	assert_non_null(strstr(err.text, "no SPI device"));
	assert_null(r);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/spidev7.1", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(cc1101_list(dir, count_row, &rows, &err), 0);
	assert_int_equal(rows, 1);
	remove(path);
	rmdir(dir);
}

/* The model's sender: what firmware writes is what leaves, with the air time of its registers. */
static void keep_sent(void *ctx, const struct chip_air *air)
{
	*(struct chip_air *)ctx = *air;
}

static void the_model_sends(void **state)
{
	struct cc1101_chip c = { .on_sent = keep_sent };
	uint8_t tx[1 + CC1101_REGS] = { CC1101_BURST }, rx[64];
	const uint8_t fifo[] = { CC1101_FIFO | CC1101_BURST, 4, 1, 2, 3, 4 };
	struct cc1101_config config;
	struct chip_air air = { 0 };

	(void)state;
	c.ctx = &air;
	chip_reset(&c, 0);
	configure(&config, "grace");
	chip_advance(&c, MS);
	memcpy(tx + 1, config.reg, CC1101_REGS);
	chip_transfer(&c, tx, rx, sizeof(tx));
	chip_transfer(&c, fifo, rx, sizeof(fifo));
	assert_int_equal(rx[5] & 15, 15);
	chip_transfer(&c, (const uint8_t[]){ CC1101_STX }, rx, 1);
	chip_advance(&c, 10 * MS);
	assert_int_equal(c.state, CC1101_IN_TX);
	assert_int_equal(air.start_ns, MS + 796000);
	assert_int_equal(air.n, 5);
	assert_memory_equal(air.bytes, fifo + 1, 5);
	assert_int_equal(air.rate_milli, 6000519);
	chip_advance(&c, air.start_ns + 17331000);
	assert_int_equal(c.state, CC1101_IN_TX);
	chip_advance(&c, air.start_ns + 17333000);
	assert_int_equal(c.state, CC1101_IN_IDLE);
	/* Less in the FIFO than the length byte says. */
	chip_transfer(&c, fifo, rx, 4);
	chip_transfer(&c, (const uint8_t[]){ CC1101_STX }, rx, 1);
	chip_advance(&c, 100 * MS);
	assert_int_equal(c.state, CC1101_IN_TX_UNDERFLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grace_has_the_registers_of_grace),
		cmocka_unit_test(the_fast_profile_has_the_registers_of_smartrf),
		cmocka_unit_test(profiles_keep_to_their_band_and_duty),
		cmocka_unit_test(the_documented_registers_are_those),
		cmocka_unit_test(values_are_within_half_a_step),
		cmocka_unit_test(what_the_chip_cannot_do_is_refused),
		cmocka_unit_test(packets_are_read_and_refused_by_kind),
		cmocka_unit_test(sequences_are_watched),
		cmocka_unit_test(the_radio_hears_beacons),
		cmocka_unit_test(other_channels_are_not_heard),
		cmocka_unit_test(a_packet_in_the_middle_of_a_drain_is_read_whole),
		cmocka_unit_test(an_overflow_is_told_and_left),
		cmocka_unit_test(a_radio_that_is_not_there_is_told),
		cmocka_unit_test(dies_later),
		cmocka_unit_test(devices_are_named),
		cmocka_unit_test(the_model_sends),
	};

	seed = seed_of_run();
	printf("COEVAL_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
