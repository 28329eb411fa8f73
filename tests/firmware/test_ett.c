/* SPDX-License-Identifier: MIT */
/* The event timestamping kernel, without its hardware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ett/config.h>
#include <ett/image.h>
#include <ett/apart.h>
#include <ett/keys.h>
#include <ett/memory.h>
#include <ett/probes.h>
#include <ett/rate.h>
#include <ett/selftest.h>
#include <ett/view.h>

#include "core/crc32c.h"
#include "test_draw.h"

/* ---- command line ---- */

static void told_nothing_it_polls_two_probes_of_the_first_port(void **state)
{
	struct ett_config c;

	(void)state;
	assert_null(ett_config_read(&c, ""));
	assert_int_equal(c.source, ETT_SOURCE_LPT);
	assert_int_equal(c.base, 0x378);
	assert_int_equal(c.probes, 2);
	assert_int_equal(c.bits, 4);
	assert_int_equal(c.mask, 0xff);
	assert_true(c.zero && c.ecr && !c.steps);
	assert_int_equal(c.disk, 0);
}

static void every_key_is_read(void **state)
{
	struct ett_config c;

	(void)state;
	assert_null(ett_config_read(
		&c, "/boot/ett.bin source=mmio base=fed81000 shift=16 mask=0f probes=8 "
		    "length=250ms zero=off keys=loop  steps=on ecr=off disk=3 start=now "
		    "save=serial selftest=100 dwell=2ms record=77 timer=hpet bar=5 "));
	assert_int_equal(c.source, ETT_SOURCE_MMIO);
	assert_true(c.base == 0xfed81000);
	assert_int_equal(c.shift, 16);
	assert_int_equal(c.mask, 0x0f);
	assert_int_equal(c.probes, 8);
	assert_int_equal(c.bits, 1);
	assert_true(c.length_us == 250000);
	assert_false(c.zero || c.ecr);
	assert_true(c.steps && c.start_now);
	assert_int_equal(c.keys, ETT_KEYS_LOOP);
	assert_int_equal(c.disk, 3);
	assert_int_equal(c.save, ETT_SAVE_SERIAL);
	assert_true(c.edges == 100 && c.dwell_us == 2000 && c.records == 77);
	assert_int_equal(c.timer, ETT_TIMER_HPET);
	assert_int_equal(c.bar, 5);
	assert_null(ett_config_read(&c, "pci=8086:A0E7 base=0 disk=off source=serial"));
	assert_int_equal(c.pci_vendor, 0x8086);
	assert_int_equal(c.pci_device, 0xa0e7);
	assert_int_equal(c.disk, -1);
	assert_int_equal(c.base, 0x3f8);
	assert_int_equal(c.mask, 0xf0);
}

static void a_word_that_is_not_understood_is_named(void **state)
{
	static const char *const wrong[] = {
		"probes=3",
		"probes=",
		"probes=2x",
		"source=usb",
		"base=xyz",
		"mask=0",
		"mask=100",
		"length=5h",
		"length=",
		"colour=red",
		"disk=4",
		"pci=8086",
		"pci=0:1",
		"zero=maybe",
		"selftest=-1",
		"shift=25",
		"base=10000000000000000",
		"length=99999999999s",
		"bar=6",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct ett_config c;
		char text[80];
		const char *said;

		snprintf(text, sizeof(text), "record=9 %s dwell=1s", wrong[i]);
		said = ett_config_read(&c, text);
		if (said != text + 9)
			fail_msg("%s: %s", wrong[i], said ? said : "understood");
		assert_true(c.records == 9 && c.dwell_us == 1000000);
	}
}

static void only_the_kernels_name_may_stand_without_a_value(void **state)
{
	struct ett_config c;
	const char *const text = "ett.bin probes=8";

	(void)state;
	assert_null(ett_config_read(&c, text));
	assert_null(ett_config_read(&c, " /boot/ett probes=8"));
	assert_int_equal(c.probes, 8);
	assert_string_equal(ett_config_read(&c, "steps probes=8"), "steps probes=8");
	assert_string_equal(ett_config_read(&c, "/ett.bin probes=8 /ett.bin"), "/ett.bin");
	assert_string_equal(ett_config_read(&c, "/ett.bin probes=8 steps now"), "steps now");
	assert_int_equal(c.probes, 8);
}

/* ---- two clocks ---- */

/*
 * An exchange at @t: its stamp, by a clock that is @ahead and of a rate higher by @ppm, lies
 * anywhere within it.
 */
static void exchange(struct ett_apart *a, struct draw *d, uint64_t t, int64_t ahead, uint64_t ppm)
{
	uint64_t wide = 1 + draw_below(d, 500), at = t + draw_below(d, wide + 1);

	ett_apart_add(a, t, at + at * ppm / 1000000 + (uint64_t)ahead, t + wide);
}

static void one_clock_is_never_found_to_be_two(void **state)
{
	struct draw d = draw_begin(11);

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint64_t t = draw_u64(&d) >> 2;
		struct ett_apart a;

		ett_apart_open(&a);
		assert_false(ett_apart_is(&a));
		for (int i = 0; i < 1000; i++, t += 1000)
			exchange(&a, &d, t, 0, 0);
		assert_false(ett_apart_is(&a));
		assert_true(a.least <= 0 && a.most >= 0);
	}
}

static void two_clocks_are_found_by_their_difference_or_their_rates(void **state)
{
	struct draw d = draw_begin(12);

	(void)state;
	for (int round = 0; round < 200; round++) {
		int64_t ahead = (int64_t)(600 + draw_below(&d, 1000000)) * (round % 2 ? 1 : -1);
		struct ett_apart a;
		uint64_t t = 1000000;

		ett_apart_open(&a);
		for (int i = 0; i < 20; i++, t += 1000)
			exchange(&a, &d, t, ahead, 0);
		assert_true(ett_apart_is(&a));
		assert_true(a.least <= ahead && a.most >= ahead);
		/* of one time at first, and a ppm faster */
		ett_apart_open(&a);
		for (t = 0; t < 20000; t += 1000)
			exchange(&a, &d, t, 0, 1);
		assert_false(ett_apart_is(&a));
		exchange(&a, &d, UINT64_C(3000000000), 0, 1);
		assert_true(ett_apart_is(&a));
	}
}

/* ---- memory ---- */

static size_t add(uint8_t *map, size_t n, uint64_t base, uint64_t length, uint32_t type)
{
	uint32_t size = 20;

	memcpy(map + n, &size, 4);
	memcpy(map + n + 4, &base, 8);
	memcpy(map + n + 12, &length, 8);
	memcpy(map + n + 20, &type, 4);
	return n + 24;
}

static void only_whole_pages_that_nothing_else_touches_are_used(void **state)
{
	const uint64_t mib = 1 << 20;
	uint8_t map[200];
	struct ett_memory m = { .map = map, .from = 2 * mib + 5 };

	(void)state;
	m.n = add(map, 0, 0, 640 * 1024, 1);
	m.n = add(map, m.n, mib, 20 * mib, 1);
	m.n = add(map, m.n, 9 * mib, 4096, 2); /* inside of what is usable */
	m.n = add(map, m.n, UINT64_C(4096) * mib, 2 * mib, 1);
	assert_true(ett_memory_end(&m) == 2049);
	for (uint64_t page = 0; page < 3000; page++) {
		bool wanted = (page >= 2 && page < 10 && page != 4) || page == 2048;

		if (ett_memory_usable(&m, page) != wanted)
			fail_msg("page %d", (int)page);
	}
	/* a map that makes no sense, or none at all */
	m.n = 23;
	assert_true(ett_memory_end(&m) == 0);
	m.n = 24;
	memset(map, 0xff, sizeof(map));
	assert_true(ett_memory_end(&m) == 0);
	assert_false(ett_memory_usable(&m, 5));
}

/* ---- the clock ---- */

static void the_rate_lies_where_the_readings_allow(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		const uint64_t pit = ETT_PIT_HZ;
		uint64_t hz = 100000000 + draw_below(&d, UINT64_C(6000000000));
		/* ns of the true instants at which the counter was looked at */
		uint64_t t[2] = { draw_below(&d, 1000000), 0 };
		struct ett_reading r[2];
		struct ett_rate rate;

		t[1] = t[0] + 400000000 + draw_below(&d, 200000000);
		for (int k = 0; k < 2; k++) {
			uint64_t ahead = draw_below(&d, 20000);

			r[k].count = (uint64_t)((unsigned __int128)t[k] * pit / 1000000000);
			r[k].before = (uint64_t)((unsigned __int128)(t[k] + 50000 - ahead) * hz /
						 1000000000);
			r[k].after = (uint64_t)((unsigned __int128)(t[k] + 50000 +
								    draw_below(&d, 20000)) *
							hz / 1000000000 +
						1);
		}
		rate = ett_rate(&r[0], &r[1], pit);
		if (hz < rate.least || hz > rate.most || rate.hz < rate.least ||
		    rate.hz > rate.most)
			fail_msg("%lu Hz: %lu, %lu to %lu", (unsigned long)hz,
				 (unsigned long)rate.hz, (unsigned long)rate.least,
				 (unsigned long)rate.most);
		assert_true(rate.most - rate.least < hz / 5000);
	}
}

static void a_counter_that_stands_still_gives_no_rate(void **state)
{
	const struct ett_reading a = { 10, 100, 20 }, b = { 1000000, 100, 1000010 };

	(void)state;
	assert_true(ett_rate(&a, &b, ETT_PIT_HZ).hz == 0);
}

static void cpuid_tells_a_rate_by_its_crystal_or_its_base(void **state)
{
	const uint32_t none[4] = { 0 }, skylake[4] = { 2, 216, 24000000, 0 },
		       no_crystal[4] = { 2, 216, 0, 0 }, base[4] = { 2600, 3500, 100, 0 };

	(void)state;
	assert_true(ett_rate_cpuid(skylake, base) == 2592000000);
	assert_true(ett_rate_cpuid(no_crystal, base) == 2600000000);
	assert_true(ett_rate_cpuid(none, none) == 0);
}

static void ticks_become_ns_without_a_wider_product(void **state)
{
	struct draw d = draw_begin(2);

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t hz = 1 + draw_below(&d, UINT64_C(10000000000));
		uint64_t ticks = draw_below(&d, UINT64_C(100000) * hz);

		assert_true(ett_ns(ticks, hz) ==
			    (uint64_t)((unsigned __int128)ticks * 1000000000 / hz));
		assert_true(ett_ticks(ticks % 1000000000, hz) ==
			    (uint64_t)((unsigned __int128)(ticks % 1000000000) * hz / 1000000));
	}
	assert_true(ett_ns(5, 0) == 0);
}

/* ---- probes ---- */

static void an_event_is_a_probe_that_shows_another_code(void **state)
{
	const struct ett_record r = { .value = 0x35, .before = 0x31 };

	(void)state;
	assert_int_equal(ett_events(&r, 1, 8), 1);
	assert_int_equal(ett_events(&r, 2, 4), 1);
	assert_int_equal(ett_events(&r, 8, 1), 1);
	assert_int_equal(ett_code(0x35, 0, 4), 5);
	assert_int_equal(ett_code(0x35, 1, 4), 3);
	assert_int_equal(ett_code(0x35, 5, 1), 1);
	assert_int_equal(ett_code(0x35, 0, 8), 0x35);
	assert_true(ett_changed(&r, 0, 4) && !ett_changed(&r, 1, 4));
}

static void only_a_probe_of_four_bits_that_comes_to_zero_ends_it(void **state)
{
	(void)state;
	assert_true(ett_zero(0, 1, 8));
	assert_false(ett_zero(0, 0, 8));
	assert_false(ett_zero(0x10, 1, 8));
	assert_true(ett_zero(0x10, 0x11, 4));
	assert_true(ett_zero(0x01, 0x11, 4));
	assert_false(ett_zero(0x10, 0x20, 4)); /* the other probe showed 0 all along */
	assert_false(ett_zero(0, 1, 1));
}

static void a_bracket_is_never_stored_narrower(void **state)
{
	struct draw d = draw_begin(3);

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t ticks = draw_below(&d, UINT64_C(1) << (1 + i % 47));
		struct ett_record r;

		ett_set_width(&r, ticks);
		assert_true(ett_width(&r) >= ticks);
		assert_true(ett_width(&r) - ticks <= ticks / 32768);
	}
}

static void places_go_on_and_back_over_all_events(void **state)
{
	struct ett_record r[200];
	struct ett_events e = { r, 200, 0, 8, 1 };
	struct draw d = draw_begin(4);
	struct ett_place p;
	uint64_t n = 0;

	(void)state;
	for (size_t i = 0; i < e.n; i++)
		r[i] = (struct ett_record){ .value = (uint8_t)draw_below(&d, 256),
					    .before = (uint8_t)draw_below(&d, 4) };
	r[0].before = r[0].value; /* a step that saw nothing, as worst-case mode records it */
	for (size_t i = 0; i < e.n; i++)
		n += (uint64_t)__builtin_popcount((unsigned)(r[i].value ^ r[i].before));
	ett_events_count(&e);
	assert_true(e.events == n);
	p = ett_first(&e);
	assert_true(p.record > 0);
	for (uint64_t i = 1; i < n; i++) {
		assert_true(ett_next(&e, &p));
		assert_true(p.number == i);
	}
	assert_false(ett_next(&e, &p));
	assert_true(p.record == ett_last(&e).record);
	assert_int_equal(p.probe, ett_last(&e).probe);
	for (uint64_t i = 1; i < n; i++)
		assert_true(ett_back(&e, &p));
	assert_false(ett_back(&e, &p));
	assert_true(p.record == ett_first(&e).record && p.probe == ett_first(&e).probe);
}

/* ---- the image ---- */

static void its_checksum_is_the_hosts(void **state)
{
	struct draw d = draw_begin(5);
	uint8_t bytes[100];

	(void)state;
	for (size_t n = 0; n < sizeof(bytes); n++) {
		bytes[n] = (uint8_t)draw_below(&d, 256);
		assert_int_equal(ett_crc(7, bytes, n), cvl_crc32c_plain(7, bytes, n));
	}
}

static void nothing_is_written_to_a_disk_that_is_not_marked(void **state)
{
	uint8_t sector[512] = { 0 };
	uint32_t lba = 5;

	(void)state;
	assert_false(ett_image_place(sector, &lba));
	sector[510] = 0x55;
	sector[511] = 0xaa;
	assert_false(ett_image_place(sector, &lba));
	memcpy(sector, ETT_SPACE_MARK, strlen(ETT_SPACE_MARK));
	assert_true(ett_image_place(sector, &lba));
	assert_int_equal(lba, 0);
	memcpy(sector, ETT_MAGIC, strlen(ETT_MAGIC));
	assert_true(ett_image_place(sector, &lba));
	memset(sector, 0, sizeof(sector));
	memcpy(sector + 3, ETT_BOOT_MARK, strlen(ETT_BOOT_MARK));
	assert_false(ett_image_place(sector, &lba)); /* a boot sector that names none */
	sector[13] = 8;
	assert_true(ett_image_place(sector, &lba));
	assert_int_equal(lba, 2048);
}

/* ---- the self-test's verdict ---- */

static struct ett_record record(uint64_t tick, uint32_t width, uint8_t before, uint8_t value)
{
	return (struct ett_record){
		.tick = tick, .width = width, .before = before, .value = value
	};
}

static void a_store_outside_of_its_bracket_is_found(void **state)
{
	const struct ett_record store[] = { record(1000, 10, 9, 1), record(2000, 10, 1, 2) };
	struct ett_record seen[] = { record(1020, 50, 9, 1), record(2020, 50, 1, 2) };
	struct ett_verdict v = ett_judge(seen, 2, store, 2, 60, 3000);

	(void)state;
	assert_true(v.seen == 2 && !v.apart && !v.missed && !v.shorter);
	seen[1] = record(2100, 90, 1, 2); /* its bracket begins behind the store */
	v = ett_judge(seen, 2, store, 2, 60, 3000);
	assert_true(v.seen == 1 && v.apart == 1 && v.missed == 1);
	seen[1] = record(2020, 50, 1, 3); /* another value */
	v = ett_judge(seen, 2, store, 2, 60, 3000);
	assert_true(v.apart == 1);
}

static void a_store_that_was_held_long_has_to_be_seen(void **state)
{
	const struct ett_record store[] = { record(1000, 10, 9, 1), record(1100, 10, 1, 2),
					    record(2000, 10, 2, 3), record(2900, 10, 3, 4) };
	const struct ett_record seen[] = { record(1110, 50, 9, 2), record(2020, 50, 2, 3) };
	const struct ett_record late[] = { record(2020, 50, 9, 3) };
	struct ett_verdict v = ett_judge(seen, 2, store, 4, 100, 2950);

	(void)state;
	/* the first was short, and the end of the capture made the last one so */
	assert_true(v.seen == 2 && v.shorter == 2 && !v.missed);
	v = ett_judge(late, 1, store, 4, 100, 3100);
	assert_true(v.seen == 1 && v.missed == 2 && v.shorter == 1 && !v.apart);
}

static void a_store_of_what_the_lines_show_cannot_be_seen(void **state)
{
	/* 1, then 2 too briefly to be seen, then 1 for long */
	const struct ett_record store[] = { record(1000, 10, 9, 1), record(2000, 10, 1, 2),
					    record(2020, 10, 2, 1) };
	const struct ett_record seen[] = { record(1020, 50, 9, 1) };
	struct ett_verdict v = ett_judge(seen, 1, store, 3, 100, 9000);

	(void)state;
	assert_true(v.seen == 1 && v.shorter == 2 && !v.missed && !v.apart);
}

/*
 * A loop of random steps looks at lines that are driven at random: whatever they do, no verdict
 * finds fault with it; and with one bracket moved by more than it is wide, one does.
 */
static void a_loop_that_is_sound_is_found_so(void **state)
{
	struct draw d = draw_begin(6);
	static struct ett_record store[500], seen[500];

	(void)state;
	for (int round = 0; round < 100; round++) {
		static const unsigned bits[] = { 1, 4, 8 };
		struct ett_edges e = { draw_u64(&d) | 1, bits[round % 3], 2000 };
		uint64_t m = 0, n = 0, k = 0, t = 1000, most = 0, ahead, before, end;
		uint8_t v = 0x11, last = 0x11;

		for (; m < 500; m++) {
			uint32_t width = (uint32_t)draw_below(&d, 20);
			uint8_t next = ett_edges_next(&e, v);

			assert_int_not_equal(next, v);
			assert_false(ett_zero(next, 0xff, e.bits));
			store[m] = record(t + width, width, v, next);
			t += width + 1 + ett_edges_hold(&e);
			v = next;
		}
		end = t + 5000;
		ahead = before = 900;
		v = 0x11;
		while (before < end) {
			uint64_t step = 20 + draw_below(&d, draw_below(&d, 50) ? 60 : 900);
			uint64_t now = before + step, read = before + 1 + draw_below(&d, step - 1);

			most = step > most ? step : most;
			/* the store took effect at its end */
			while (k < m && store[k].tick <= read)
				v = store[k++].value;
			if (v != last) {
				seen[n] = record(now, (uint32_t)(now - ahead), last, v);
				last = v;
				n++;
			}
			ahead = before;
			before = now;
		}
		struct ett_verdict verdict = ett_judge(seen, n, store, m, 2 * most, before);

		assert_true(verdict.seen == n && !verdict.apart && !verdict.missed);
		assert_true(verdict.seen + verdict.shorter == m);
		seen[n / 2].tick += 100000;
		verdict = ett_judge(seen, n, store, m, 2 * most, before);
		assert_true(verdict.apart > 0);
	}
}

/* ---- keys and the screen ---- */

static void keys_are_those_of_scan_code_set_one(void **state)
{
	(void)state;
	assert_int_equal(ett_key(0x1f), 'S');
	assert_int_equal(ett_key(0x1c), '\n');
	assert_int_equal(ett_key(0x35), '/');
	assert_int_equal(ett_key(0x0b), '0');
	assert_int_equal(ett_key(0x30), 'B');
	assert_int_equal(ett_key(0x51), ETT_KEY_PAGE_DOWN);
	assert_int_equal(ett_key(0x01), ETT_KEY_ESC);
	assert_int_equal(ett_key(0x9f), ETT_KEY_NONE); /* S let go */
	assert_int_equal(ett_key(0xe0), ETT_KEY_NONE);
}

static void row_is(const char screen[ETT_ROWS][ETT_COLUMNS], unsigned row, const char *wanted)
{
	char text[ETT_COLUMNS + 1] = "";

	memcpy(text, screen[row], ETT_COLUMNS);
	for (size_t n = ETT_COLUMNS; n && text[n - 1] == ' ';)
		text[--n] = '\0';
	assert_string_equal(text, wanted);
}

static void the_screen_shows_a_page_and_goes_where_it_is_told(void **state)
{
	static char screen[ETT_ROWS][ETT_COLUMNS];
	struct ett_record r[100];
	struct ett_view v = {
		.events = { r, 100, 0, 2, 4 }, .hz = 2000000000, .begin = 1000, .title = "events"
	};

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		r[i] = record(1000 + 2000 * (i + 1), 20, (uint8_t)(i % 16),
			      (uint8_t)((i + 1) % 16));
	r[99].value |= 0xA0;
	ett_view_open(&v);
	assert_true(v.events.events == 101);
	ett_view_draw(&v, screen);
	row_is(screen, 0, "events");
	row_is(screen, 2, "             0      1    1                       990              11");
	row_is(screen, 22, "            20      1    5                    20 990              11");
	ett_view_key(&v, ETT_KEY_PAGE_DOWN);
	assert_true(v.top.number == ETT_PAGE);
	ett_view_key(&v, ETT_KEY_END);
	assert_true(v.top.number == 101 - ETT_PAGE);
	ett_view_draw(&v, screen);
	row_is(screen, 22, "           100      2    A                    99 990              11");
	ett_view_key(&v, ETT_KEY_PAGE_DOWN);
	assert_true(v.top.number == 101 - ETT_PAGE);
	ett_view_key(&v, ETT_KEY_HOME);
	ett_view_key(&v, ETT_KEY_UP);
	assert_true(v.top.number == 0);
	for (const char *k = "G57\n"; *k; k++)
		ett_view_key(&v, *k);
	assert_true(v.top.number == 57);
	for (const char *k = "/A\n"; *k; k++)
		ett_view_key(&v, *k);
	assert_true(v.top.number == 73); /* the next event of code 10 behind number 57 */
	ett_view_key(&v, 'N');
	assert_true(v.top.number == 89);
	ett_view_key(&v, 'N');
	assert_true(v.top.number == 100 && v.top.probe == 1);
	ett_view_key(&v, 'N');
	ett_view_draw(&v, screen);
	row_is(screen, ETT_ROWS - 2, "not found");
	assert_int_equal(ett_view_key(&v, 'S'), ETT_WISH_SAVE);
	assert_int_equal(ett_view_key(&v, 'T'), ETT_WISH_SEND);
	ett_view_key(&v, '/');
	assert_int_equal(ett_view_key(&v, ETT_KEY_ESC), ETT_WISH_NONE);
	assert_int_equal(ett_view_key(&v, ETT_KEY_ESC), ETT_WISH_AGAIN);
}

static void a_screen_of_nothing_is_empty(void **state)
{
	static char screen[ETT_ROWS][ETT_COLUMNS];
	static const int keys[] = { ETT_KEY_END,
				    ETT_KEY_PAGE_UP,
				    ETT_KEY_PAGE_DOWN,
				    ETT_KEY_HOME,
				    ETT_KEY_DOWN,
				    'N',
				    '/',
				    '7',
				    '\n',
				    'G',
				    '1',
				    '\n' };
	struct ett_view v = { .events = { NULL, 0, 0, 1, 8 }, .hz = 1, .title = "" };

	(void)state;
	ett_view_open(&v);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		ett_view_key(&v, keys[i]);
		ett_view_draw(&v, screen);
		row_is(screen, 2, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_nothing_it_polls_two_probes_of_the_first_port),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(a_word_that_is_not_understood_is_named),
		cmocka_unit_test(only_the_kernels_name_may_stand_without_a_value),
		cmocka_unit_test(one_clock_is_never_found_to_be_two),
		cmocka_unit_test(two_clocks_are_found_by_their_difference_or_their_rates),
		cmocka_unit_test(only_whole_pages_that_nothing_else_touches_are_used),
		cmocka_unit_test(the_rate_lies_where_the_readings_allow),
		cmocka_unit_test(a_counter_that_stands_still_gives_no_rate),
		cmocka_unit_test(cpuid_tells_a_rate_by_its_crystal_or_its_base),
		cmocka_unit_test(ticks_become_ns_without_a_wider_product),
		cmocka_unit_test(an_event_is_a_probe_that_shows_another_code),
		cmocka_unit_test(only_a_probe_of_four_bits_that_comes_to_zero_ends_it),
		cmocka_unit_test(a_bracket_is_never_stored_narrower),
		cmocka_unit_test(places_go_on_and_back_over_all_events),
		cmocka_unit_test(its_checksum_is_the_hosts),
		cmocka_unit_test(nothing_is_written_to_a_disk_that_is_not_marked),
		cmocka_unit_test(a_store_outside_of_its_bracket_is_found),
		cmocka_unit_test(a_store_that_was_held_long_has_to_be_seen),
		cmocka_unit_test(a_store_of_what_the_lines_show_cannot_be_seen),
		cmocka_unit_test(a_loop_that_is_sound_is_found_so),
		cmocka_unit_test(keys_are_those_of_scan_code_set_one),
		cmocka_unit_test(the_screen_shows_a_page_and_goes_where_it_is_told),
		cmocka_unit_test(a_screen_of_nothing_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
