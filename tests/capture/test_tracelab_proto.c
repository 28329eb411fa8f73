/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drivers/tracelab/command.h"
#include "capture/drivers/tracelab/proto.h"
#include "sim/devices/tracelab_fpga.h"
#include "test_draw.h"

#define EDGES_MAX 20000
#define BYTES_MAX ((size_t)4 << 20)
#define RECORDS_MAX 200000

/* What the pins really did, what came by SPI, and what became of it. */
struct world {
	uint64_t cycle[EDGES_MAX];
	uint16_t levels[EDGES_MAX];
	size_t n, at;
	uint8_t *bytes;
	size_t n_bytes;
	struct driver_record *record;
	size_t n_records;
	struct tracelab decoder;
};

static struct world *world;

static int make_world(void **state)
{
	(void)state;
	world = calloc(1, sizeof(*world));
	if (!world)
		return -1;
	world->bytes = malloc(BYTES_MAX);
	world->record = malloc(RECORDS_MAX * sizeof(*world->record));
	return world->bytes && world->record ? 0 : -1;
}

static int end_world(void **state)
{
	(void)state;
	free(world->bytes);
	free(world->record);
	free(world);
	return 0;
}

static uint64_t next_edge(void *ctx, uint64_t after, uint16_t *levels)
{
	struct world *w = ctx;

	while (w->at < w->n && w->cycle[w->at] <= after)
		w->at++;
	if (w->at == w->n)
		return UINT64_MAX;
	*levels = w->levels[w->at];
	return w->cycle[w->at];
}

static uint32_t reading(void *ctx, uint64_t n)
{
	(void)ctx;
	return (uint32_t)(n * 7 & 0xffff);
}

/* @n edges, up to @apart cycles one from the other. */
static void draw_edges(struct world *w, struct draw *r, size_t n, uint64_t apart)
{
	uint64_t at = 100;
	uint16_t levels = 0;

	w->n = n;
	w->at = 0;
	for (size_t i = 0; i < n; i++) {
		at += 1 + draw_u64(r) % apart;
		levels ^= (uint16_t)(1u << draw_u64(r) % 5);
		w->cycle[i] = at;
		w->levels[i] = levels;
	}
}

static void command(struct fpga *f, uint8_t number, const uint8_t *payload, uint8_t n)
{
	struct tracelab_command c = { .command = number, .n = n };
	uint8_t bytes[64];
	size_t k;

	if (n)
		memcpy(c.payload, payload, n);
	k = tracelab_command_bytes(&c, bytes);
	fpga_uart_in(f, bytes, k);
	k = fpga_uart_out(f, bytes, sizeof(bytes));
	assert_true(k > 5);
	assert_int_equal(bytes[4], TL_OK);
}

static void read_spi(struct world *w, struct fpga *f, size_t blocks)
{
	size_t n = 4 * (blocks * TL_BLOCK_WORDS + 1);

	assert_true(w->n_bytes + n <= BYTES_MAX);
	fpga_spi(f, w->bytes + w->n_bytes, n);
	w->n_bytes += n;
}

static struct fpga *start(struct world *w, bool paper, unsigned period)
{
	const struct fpga_opts opts = { next_edge, reading, w, 0 };
	struct fpga *f = fpga_new(&opts);
	const uint8_t mode = paper ? TL_PAPER : TL_FINE;
	const uint8_t power[] = { (uint8_t)period, (uint8_t)(period >> 8) };
	const struct tracelab_opts o = { paper, period };

	assert_non_null(f);
	command(f, TL_START, &mode, 1);
	if (period)
		command(f, TL_PERIOD, power, 2);
	w->n_bytes = w->n_records = 0;
	tracelab_init(&w->decoder, &o);
	return f;
}

static void drain(struct world *w, struct fpga *f)
{
	command(f, TL_STOP, NULL, 0);
	do
		read_spi(w, f, 15);
	while (fpga_waiting(f));
	read_spi(w, f, 1);
}

/* Read every @step cycles until all has happened. */
static void run(struct world *w, struct fpga *f, uint64_t until, uint64_t step, size_t blocks)
{
	for (uint64_t at = 0; at < until; at += step) {
		fpga_run(f, at);
		read_spi(w, f, blocks);
	}
	fpga_run(f, until);
	drain(w, f);
}

static void decode(struct world *w, struct draw *r)
{
	size_t at = 0, used;

	w->n_records = 0;
	tracelab_init(&w->decoder,
		      &(struct tracelab_opts){ w->decoder.opts.paper, w->decoder.opts.period });
	for (;;) {
		size_t left = w->n_bytes - at, n = r ? draw_u64(r) % 700 : left;
		size_t room = r ? TRACELAB_OUT_MIN + draw_u64(r) % 50 : 4096;
		size_t got;

		n = n < left ? n : left;
		assert_true(w->n_records + room <= RECORDS_MAX);
		got = tracelab_feed(&w->decoder, w->bytes + at, n, w->record + w->n_records, room,
				    &used);
		at += used;
		w->n_records += got;
		if (!left && !got)
			break;
	}
	while ((used = tracelab_end(&w->decoder, w->record + w->n_records, 4096)))
		w->n_records += used;
}

/* ---- what must hold ---- */

static bool in_gap(const struct world *w, uint64_t tick)
{
	for (size_t i = 0; i < w->n_records; i++) {
		const struct driver_record *r = &w->record[i];

		if (r->what == DRIVER_GAP && !r->gap.lines_known && r->tick <= tick &&
		    tick <= r->gap.to)
			return true;
	}
	return false;
}

/* Which edge the pins had last up to @tick. */
static uint16_t levels_at(const struct world *w, uint64_t tick)
{
	size_t low = 0, high = w->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (w->cycle[mid] <= tick)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? w->levels[low - 1] : 0;
}

/* No edge is invented, none is missing outside of a gap. Returns how many are there. */
static size_t check_edges(const struct world *w)
{
	size_t k = 0, seen = 0;

	for (size_t i = 0; i < w->n_records; i++) {
		const struct driver_record *r = &w->record[i];

		if (r->what == DRIVER_LEVELS)
			assert_int_equal(r->levels & 31, levels_at(w, r->tick));
		if (r->what != DRIVER_EDGE && r->what != DRIVER_LEVELS)
			continue;
		while (k < w->n && w->cycle[k] < r->tick)
			assert_true(in_gap(w, w->cycle[k++]));
		if (r->what == DRIVER_LEVELS && (k == w->n || w->cycle[k] != r->tick))
			continue;
		assert_true(k < w->n);
		assert_int_equal(w->cycle[k], r->tick);
		assert_int_equal(w->levels[k], r->levels);
		k++;
		seen++;
	}
	for (; k < w->n; k++)
		assert_true(in_gap(w, w->cycle[k]));
	return seen;
}

static size_t gaps(const struct world *w, uint64_t *lost)
{
	size_t n = 0;

	*lost = 0;
	for (size_t i = 0; i < w->n_records; i++)
		if (w->record[i].what == DRIVER_GAP) {
			n++;
			*lost += w->record[i].gap.lost;
		}
	return n;
}

static void check_order(const struct world *w)
{
	uint64_t last = 0;

	for (size_t i = 0; i < w->n_records; i++) {
		if (w->record[i].what == DRIVER_NOTHING && w->record[i].tick < last)
			continue;
		assert_true(w->record[i].tick >= last);
		last = w->record[i].tick;
	}
}

/* ---- tests ---- */

static void every_edge_stands_at_its_cycle(void **state)
{
	struct draw r = draw_begin(1);
	uint64_t lost;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct fpga *f;

		draw_edges(world, &r, 5000, 1u << draw_u64(&r) % 14);
		f = start(world, false, round % 2 ? TL_PERIOD_MIN : 0);
		run(world, f, world->cycle[world->n - 1] + 10000, 100000, 60);
		decode(world, NULL);
		if (!gaps(world, &lost))
			assert_int_equal(check_edges(world), world->n);
		else
			check_edges(world);
		check_order(world);
		fpga_free(f);
	}
}

static void bytes_may_be_cut_anywhere(void **state)
{
	struct draw r = draw_begin(2);
	struct driver_record *whole = malloc(RECORDS_MAX * sizeof(*whole));
	struct fpga *f;
	size_t n;

	(void)state;
	assert_non_null(whole);
	draw_edges(world, &r, 10000, 500);
	f = start(world, false, 100);
	run(world, f, world->cycle[world->n - 1] + 10000, 50000, 30);
	decode(world, NULL);
	n = world->n_records;
	memcpy(whole, world->record, n * sizeof(*whole));
	for (int round = 0; round < 10; round++) {
		decode(world, &r);
		assert_int_equal(world->n_records, n);
		assert_memory_equal(world->record, whole, n * sizeof(*whole));
	}
	free(whole);
	fpga_free(f);
}

static void a_burst_that_is_too_long_is_a_gap_of_exactly_what_is_missing(void **state)
{
	struct draw r = draw_begin(3);

	(void)state;
	for (int round = 0; round < 10; round++) {
		struct fpga *f;
		uint64_t lost;
		size_t seen;

		draw_edges(world, &r, 3000 + draw_u64(&r) % 10000, 1 + draw_u64(&r) % 3);
		/* a quiet end, so that the loss is reported */
		for (size_t i = 0; i < 40; i++) {
			world->cycle[world->n] = world->cycle[world->n - 1] + 100000;
			world->levels[world->n] = (uint16_t)(world->levels[world->n - 1] ^ 1);
			world->n++;
		}
		f = start(world, false, 0);
		run(world, f, world->cycle[world->n - 1] + 1000, 50000, 60);
		decode(world, NULL);
		seen = check_edges(world);
		assert_true(gaps(world, &lost) > 0);
		assert_int_equal(seen + lost, world->n);
		fpga_free(f);
	}
}

/* Lose, add, turn or shift bytes somewhere. */
static void damage(struct world *w, struct draw *r)
{
	size_t at = draw_u64(r) % (w->n_bytes * 4 / 5), n = 1 + draw_u64(r) % 3000;

	switch (draw_u64(r) % 4) {
	case 0:
		memmove(w->bytes + at, w->bytes + at + n, w->n_bytes - at - n);
		w->n_bytes -= n;
		return;
	case 1:
		n = n < BYTES_MAX - w->n_bytes ? n : 0;
		memmove(w->bytes + at + n, w->bytes + at, w->n_bytes - at);
		for (size_t i = 0; i < n; i++)
			w->bytes[at + i] = (uint8_t)draw_u64(r);
		w->n_bytes += n;
		return;
	case 2: w->bytes[at] ^= (uint8_t)(1u << draw_u64(r) % 8); return;
	default:
		for (size_t i = at; i + 1 < at + n; i++)
			w->bytes[i] = (uint8_t)(w->bytes[i] << 3 | w->bytes[i + 1] >> 5);
		return;
	}
}

static void what_spi_loses_is_a_gap_and_never_a_wrong_edge(void **state)
{
	struct draw r = draw_begin(4);

	(void)state;
	for (int round = 0; round < 60; round++) {
		uint64_t sent;
		struct fpga *f;

		draw_edges(world, &r, 4000, 20000);
		f = start(world, false, 0);
		run(world, f, world->cycle[world->n - 1] + 1000, 30000, 1);
		decode(world, NULL);
		sent = world->decoder.count.packets;
		for (uint64_t i = draw_u64(&r) % 5; i < 5; i++)
			damage(world, &r);
		decode(world, NULL);
		check_edges(world);
		check_order(world);
		assert_int_equal(world->decoder.count.packets + world->decoder.count.missing, sent);
		fpga_free(f);
	}
}

/* Packets alone, each in a block that holds. */
static void put_packets(struct world *w, const uint32_t *packet, size_t n)
{
	static struct tracelab_link l;
	uint16_t count = 0, crc, before;

	link_init(&l);
	w->n_bytes = 0;
	for (size_t i = 0; i <= n; i += LINK_PACKETS) {
		uint8_t *p = w->bytes + w->n_bytes;

		for (size_t k = 0; k < TL_BLOCK_WORDS + 1; k++) {
			uint32_t word = k && i + k - 1 < n ? packet[i + k - 1] : TL_IDLE;

			if (k % TL_BLOCK_WORDS == 0)
				word = 0xf0000000u | (uint32_t)count << 12;
			else
				count = (uint16_t)(count + (word != TL_IDLE));
			for (int b = 0; b < 4; b++)
				p[4 * k + (size_t)b] = (uint8_t)(word >> (24 - 8 * b));
			if (k % TL_BLOCK_WORDS)
				continue;
			before = k ? link_crc(&l, TL_CRC12_INIT, p + 4, LINK_PACKETS) :
				     TL_CRC12_INIT;
			for (crc = 0; crc < 0x1000; crc++) { /* the one that holds */
				p[4 * k + 2] = (uint8_t)((p[4 * k + 2] & 0xf0) | crc >> 8);
				p[4 * k + 3] = (uint8_t)crc;
				if (!link_crc(&l, before, p + 4 * k, 1))
					break;
			}
			assert_true(crc < 0x1000);
		}
		w->n_bytes += LINK_BLOCK_BYTES + 4;
	}
}

#define MARKER(upper) ((uint32_t)TL_MARKER << 29 | (upper))
#define LOSS(part, number) ((uint32_t)TL_LOSS << 29 | (uint32_t)(part) << 26 | (number))
#define EVENT(lines, low) ((uint32_t)(lines) << 20 | (low))

static void events_whose_marker_is_missing_are_lost(void **state)
{
	const uint32_t packet[] = { MARKER(5),    EVENT(0, 10), EVENT(1, 1000), /* a marker */
				    EVENT(0, 20), EVENT(1, 30), MARKER(7),      EVENT(0, 5) };
	const struct driver_record *got[4];
	size_t n = 0;
	uint64_t lost;

	(void)state;
	world->decoder.opts = (struct tracelab_opts){ .paper = false };
	put_packets(world, packet, sizeof(packet) / sizeof(*packet));
	decode(world, NULL);
	assert_int_equal(gaps(world, &lost), 1);
	assert_int_equal(lost, 2);
	for (size_t i = 0; i < world->n_records; i++)
		if (world->record[i].what != DRIVER_NOTHING)
			assert_true(n < 4 && (got[n++] = &world->record[i]));
	assert_int_equal(n, 4);
	assert_int_equal(got[0]->what, DRIVER_LEVELS);
	assert_int_equal(got[1]->tick, (5 << 20) + 1000);
	assert_int_equal(got[2]->what, DRIVER_GAP);
	assert_int_equal(got[2]->tick, (5 << 20) + 1000);
	assert_int_equal(got[2]->gap.to, (7 << 20) + 4);
	assert_int_equal(got[3]->what, DRIVER_LEVELS);
}

static void a_loss_of_others_stands_before_the_events_behind_it(void **state)
{
	const uint32_t packet[] = { MARKER(5),
				    EVENT(0, 10),
				    LOSS(TL_LOSS_OTHER_SINCE, 20),
				    LOSS(TL_LOSS_OTHER_HIGH, 0),
				    LOSS(TL_LOSS_OTHER_LOW, 3),
				    EVENT(1, 30),
				    EVENT(0, 40),
				    MARKER(9),
				    EVENT(1, 5) };
	const struct driver_record *gap = NULL;
	uint64_t lost;
	size_t edges = 0;

	(void)state;
	world->decoder.opts = (struct tracelab_opts){ .paper = false };
	put_packets(world, packet, sizeof(packet) / sizeof(*packet));
	decode(world, NULL);
	check_order(world);
	assert_int_equal(gaps(world, &lost), 1);
	assert_int_equal(lost, 3);
	for (size_t i = 0; i < world->n_records; i++) {
		if (world->record[i].what == DRIVER_GAP)
			gap = &world->record[i];
		edges += world->record[i].what == DRIVER_EDGE;
	}
	assert_int_equal(edges, 3);
	assert_int_equal(gap->tick, (5 << 20) + 20);
	assert_true(gap->gap.to >= (5 << 20) + 40 && gap->gap.to < (9 << 20) + 5);
}

#define POWER(kind, low) ((uint32_t)TL_POWER << 29 | (uint32_t)(kind) << 27 | (low))
#define SAMPLE(number, value) ((uint32_t)TL_SAMPLE << 29 | (uint32_t)(number) << 16 | (value))

static void a_sample_behind_a_loss_waits_for_its_place(void **state)
{
	const uint32_t many = 1u << (TL_LOSS_BITS - 1 - 26);
	const uint32_t packet[] = { MARKER(5),
				    EVENT(0, 10),
				    POWER(TL_POWER_START, 100),
				    SAMPLE(0, 7),
				    LOSS(TL_LOSS_OTHER_SINCE, 1900),
				    LOSS(TL_LOSS_OTHER_HIGH, 0),
				    LOSS(TL_LOSS_OTHER_LOW, 20000),
				    SAMPLE(20001 % 4096,
					   8), /* it was under way as the loss ended */
				    MARKER(39),
				    POWER(TL_POWER_RESUME, 200),
				    SAMPLE(20002 % 4096, 9),
				    LOSS(TL_LOSS_EVENT_SINCE, 1000),
				    LOSS(TL_LOSS_EVENT_HIGH, many),
				    LOSS(TL_LOSS_EVENT_LOW, 0),
				    EVENT(1, 5000) };
	const struct driver_record *sample[2];
	uint64_t lost;
	size_t n = 0;

	(void)state;
	world->decoder.opts = (struct tracelab_opts){ .period = TL_PERIOD_MIN };
	put_packets(world, packet, sizeof(packet) / sizeof(*packet));
	decode(world, NULL);
	check_order(world);
	for (size_t i = 0; i < world->n_records; i++)
		if (world->record[i].what == DRIVER_SAMPLE)
			assert_true(n < 2 && (sample[n++] = &world->record[i]));
	assert_int_equal(n, 2);
	assert_int_equal(sample[1]->tick, (39 << 20) + 200);
	assert_int_equal(sample[1]->value, 9);
	assert_int_equal(gaps(world, &lost), 2);
	assert_int_equal(lost - CVL_LOST_UNKNOWN,
			 20001); /* in one, and an unknown number in the other */
	assert_int_equal(world->decoder.count.lost, 20001);
}

static void a_run_of_bad_samples_stands_before_the_events_behind_it(void **state)
{
	const uint32_t power = (uint32_t)TL_POWER << 29 | (uint32_t)TL_POWER_START << 27;
	const uint32_t bad = (uint32_t)TL_SAMPLE << 29 | 1u << 28;
	const uint32_t packet[] = { MARKER(5),      power | 10,     bad,
				    bad | 1u << 16, EVENT(1, 8000), bad | 2u << 16,
				    bad | 3u << 16, EVENT(0, 40000) };
	uint64_t lost;

	(void)state;
	world->decoder.opts = (struct tracelab_opts){ .paper = false, .period = 100 };
	put_packets(world, packet, sizeof(packet) / sizeof(*packet));
	decode(world, NULL);
	check_order(world);
	assert_int_equal(gaps(world, &lost), 2);
	assert_int_equal(lost, 4);
}

static void raw_time_is_rebuilt_from_the_divider(void **state)
{
	struct draw r = draw_begin(5);

	(void)state;
	for (int round = 0; round < 5; round++) {
		size_t k = 0;
		uint64_t second = 4096, lost;
		struct fpga *f;

		draw_edges(world, &r, 2000, 500000);
		f = start(world, true, 1000);
		for (uint64_t at = 0; at < world->cycle[world->n - 1] + 1000; at += 100000) {
			fpga_run(f, at);
			if (fpga_time(f, at) >= second) {
				fpga_steer(f, fpga_time(f, at) + 1,
					   (int32_t)(draw_u64(&r) % 100000) - 50000);
				second += TL_SECOND_TICKS;
			}
			read_spi(world, f, 1);
		}
		drain(world, f);
		decode(world, NULL);
		check_order(world);
		assert_int_equal(gaps(world, &lost), 0);
		for (size_t i = 0; i < world->n_records; i++) {
			const struct driver_record *e = &world->record[i];

			if (e->what != DRIVER_EDGE)
				continue;
			while (k < world->n && world->cycle[k] < e->tick)
				k++;
			assert_true(k < world->n);
			assert_in_range(world->cycle[k] - e->tick, 0, TL_TICK_CYCLES);
		}
		fpga_free(f);
	}
}

static void samples_stand_at_their_time_and_missing_ones_are_counted(void **state)
{
	struct draw r = draw_begin(6);

	(void)state;
	for (int round = 0; round < 6; round++) {
		const struct driver_record *last = NULL;
		uint64_t lost, samples = 0, missing = 0;
		struct fpga *f;

		draw_edges(world, &r, 100, 1000000);
		f = start(world, false, TL_PERIOD_MIN);
		run(world, f, 50000000, 100000, 3);
		if (round)
			damage(world, &r);
		decode(world, NULL);
		check_order(world);
		for (size_t i = 0; i < world->n_records; i++) {
			const struct driver_record *s = &world->record[i];

			if (s->what != DRIVER_SAMPLE)
				continue;
			assert_int_equal((s->tick - 1) % (TL_PERIOD_MIN * TL_TICK_CYCLES), 0);
			assert_int_equal((uint64_t)s->value,
					 (s->tick - 1) / (TL_PERIOD_MIN * TL_TICK_CYCLES) * 7 &
						 0xffff);
			if (last)
				missing +=
					(s->tick - last->tick) / (TL_PERIOD_MIN * TL_TICK_CYCLES) -
					1;
			last = s;
			samples++;
		}
		assert_true(samples > 1000);
		if (!gaps(world, &lost))
			assert_int_equal(missing, 0);
		fpga_free(f);
	}
}

#define CLOCK(kind, low) ((uint32_t)TL_CLOCK << 29 | (uint32_t)(kind) << 26 | (low))

static void a_good_pps_stands_at_its_own_cycle(void **state)
{
	const uint32_t low = 1000 + TL_SECOND_TICKS - (1 << TL_LOW_BITS);
	const uint32_t packet[] = { MARKER(0),
				    CLOCK(TL_CLOCK_PPS, 1000),
				    CLOCK(TL_CLOCK_ALIGN, 1001),
				    CLOCK(TL_CLOCK_OFFSET, 0x3ffffff - 16),
				    CLOCK(TL_CLOCK_STEER_AT, 4096),
				    CLOCK(TL_CLOCK_STEER, 80),
				    MARKER(1),
				    CLOCK(TL_CLOCK_PPS, low + 1),
				    CLOCK(TL_CLOCK_OFFSET, 0x3ffffff - 2),
				    CLOCK(TL_CLOCK_PPS, low + 5000),
				    CLOCK(TL_CLOCK_REJECTED, low + 5000) };
	uint64_t tick[4], lost;
	size_t n = 0;

	(void)state;
	world->decoder.opts = (struct tracelab_opts){ .paper = true };
	put_packets(world, packet, sizeof(packet) / sizeof(*packet));
	decode(world, NULL);
	for (size_t i = 0; i < world->n_records; i++)
		if (world->record[i].what == DRIVER_PULSE)
			assert_true(n < 4 && ((tick[n++] = world->record[i].tick), true));
	assert_int_equal(gaps(world, &lost), 0);
	assert_int_equal(n, 3);
	assert_int_equal(world->decoder.count.settings, 5);
	assert_int_equal(tick[0], 1001 * 50 - 17);
	/* 80 eighths of a cycle a second from tick 4096 on make 10 cycles; the offset is -3 */
	assert_int_equal(tick[1], (1001 + TL_SECOND_TICKS) * 50 + 10 - 3);
	assert_int_equal(tick[2], (1000 + TL_SECOND_TICKS + 5000) * 50 + 10);
}

/* Two seconds later the same bytes once more, and then what comes next. */
static void what_came_before_has_no_second_place(void **state)
{
	const uint32_t second = TL_CLOCK_HZ >> TL_LOW_BITS;
	const uint32_t packet[] = {
		MARKER(1),  EVENT(1, 7), MARKER(2 * second),     EVENT(0, 7),
		MARKER(1),  EVENT(1, 7), CLOCK(TL_CLOCK_PPS, 9), MARKER(2 * second),
		EVENT(1, 9)
	};
	uint64_t last = 0, lost;

	(void)state;
	world->decoder.opts = (struct tracelab_opts){ .paper = false };
	put_packets(world, packet, sizeof(packet) / sizeof(*packet));
	decode(world, NULL);
	assert_int_equal(gaps(world, &lost), 2);
	assert_int_equal(lost, 2);
	assert_int_equal(world->decoder.count.events, 3);
	for (size_t i = 0; i < world->n_records; i++) {
		if (world->record[i].what == DRIVER_GAP)
			continue;
		assert_true(world->record[i].tick >= last);
		last = world->record[i].tick;
	}
}

static void random_bytes_are_no_records(void **state)
{
	struct draw r = draw_begin(7);

	(void)state;
	world->decoder.opts = (struct tracelab_opts){ .paper = false };
	world->n_bytes = 1 << 20;
	for (size_t i = 0; i < world->n_bytes; i++)
		world->bytes[i] = (uint8_t)draw_u64(&r);
	decode(world, NULL);
	for (size_t i = 0; i < world->n_records; i++)
		assert_int_equal(world->record[i].what, DRIVER_GAP);
}

static void random_packets_do_no_harm(void **state)
{
	static uint32_t packet[20000];
	struct draw r = draw_begin(8);

	(void)state;
	for (int round = 0; round < 10; round++) {
		world->decoder.opts = (struct tracelab_opts){ round & 1, 40 };
		for (size_t i = 0; i < 20000; i++) {
			packet[i] = (uint32_t)draw_u64(&r);
			if (packet[i] >> 29 == TL_LINK)
				packet[i] ^= 0x40000000;
			if (packet[i] >> 29 == TL_MARKER)
				packet[i] &= 0xe000ffff;
		}
		put_packets(world, packet, 20000);
		decode(world, NULL);
		assert_int_equal(world->decoder.count.packets, 20000);
	}
}

static void answers_are_found_among_anything(void **state)
{
	struct draw r = draw_begin(9);
	struct tracelab_answers a = { .n = 0 };
	struct tracelab_answer got;
	const struct fpga_opts opts = { 0 };
	struct fpga *f = fpga_new(&opts);
	unsigned found = 0;

	(void)state;
	assert_non_null(f);
	for (int round = 0; round < 2000; round++) {
		struct tracelab_command c = { .command = TL_STATUS, .tag = (uint8_t)round };
		struct tracelab_status s;
		uint8_t bytes[64];
		size_t n = draw_u64(&r) % 5;

		for (size_t i = 0; i < n; i++)
			tracelab_answer_take(&a, (uint8_t)(draw_u64(&r) & 0x1f), &got);
		n = tracelab_command_bytes(&c, bytes);
		fpga_uart_in(f, bytes, n);
		n = fpga_uart_out(f, bytes, sizeof(bytes));
		for (size_t i = 0; i < n; i++)
			if (tracelab_answer_take(&a, bytes[i], &got)) {
				assert_int_equal(got.tag, c.tag);
				assert_true(tracelab_status_read(&s, &got));
				found++;
			}
	}
	assert_int_equal(found, 2000);
	fpga_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_edge_stands_at_its_cycle),
		cmocka_unit_test(bytes_may_be_cut_anywhere),
		cmocka_unit_test(a_burst_that_is_too_long_is_a_gap_of_exactly_what_is_missing),
		cmocka_unit_test(what_spi_loses_is_a_gap_and_never_a_wrong_edge),
		cmocka_unit_test(events_whose_marker_is_missing_are_lost),
		cmocka_unit_test(a_loss_of_others_stands_before_the_events_behind_it),
		cmocka_unit_test(a_sample_behind_a_loss_waits_for_its_place),
		cmocka_unit_test(a_run_of_bad_samples_stands_before_the_events_behind_it),
		cmocka_unit_test(raw_time_is_rebuilt_from_the_divider),
		cmocka_unit_test(samples_stand_at_their_time_and_missing_ones_are_counted),
		cmocka_unit_test(a_good_pps_stands_at_its_own_cycle),
		cmocka_unit_test(what_came_before_has_no_second_place),
		cmocka_unit_test(random_bytes_are_no_records),
		cmocka_unit_test(random_packets_do_no_harm),
		cmocka_unit_test(answers_are_found_among_anything),
	};

	return cmocka_run_group_tests(tests, make_world, end_world);
}
