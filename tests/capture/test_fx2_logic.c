/* SPDX-License-Identifier: MIT */
/*
 * The logic of the FX2LP's firmware, built for this machine, on a model of what it asks of the
 * chip.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fx2/capture.h>
#include <fx2/chip.h>
#include <fx2/descriptors.h>
#include <fx2/timer.h>
#include <fx2/usb.h>
#include <wire/fx2_wire.h>

#include "fx2_model.h"

/* The chip. */
static struct {
	bool high_speed, halted, sampling, prepared;
	uint8_t flags, waveform[FX2_WAVEFORM];
	uint32_t now;
	unsigned packets, commits, starts, toggles, flushes;
} chip;

bool chip_high_speed(void)
{
	return chip.high_speed;
}

uint8_t chip_revision(void)
{
	return 0x04;
}

void chip_prepare(uint8_t flags, const uint8_t waveform[FX2_WAVEFORM])
{
	chip_flush();
	chip.flags = flags;
	memcpy(chip.waveform, waveform, FX2_WAVEFORM);
	chip.prepared = true;
}

uint32_t chip_start(void)
{
	assert_true(chip.prepared);
	assert_false(chip.sampling);
	chip.starts++;
	chip.sampling = true;
	return chip.now;
}

bool chip_sampling(void)
{
	return chip.sampling;
}

void chip_abort(void)
{
	chip.sampling = false;
}

uint8_t chip_packets(void)
{
	return (uint8_t)chip.packets;
}

void chip_commit(void)
{
	assert_false(chip.sampling);
	assert_in_range(chip.packets, 0, FX2_BUFFERS - 1);
	chip.packets++;
	chip.commits++;
}

void chip_flush(void)
{
	chip.sampling = false;
	chip.packets = 0;
	chip.flushes++;
}

uint32_t chip_timer(void)
{
	return chip.now++;
}

bool chip_halted(void)
{
	return chip.halted;
}

void chip_halt(bool halted)
{
	chip.halted = halted;
}

void chip_reset_toggle(void)
{
	chip.toggles++;
}

/* Requests. */
static uint8_t data[USB_PACKET], length;

static enum usb_answer ask(uint8_t type, uint8_t request, uint16_t value, uint16_t index,
			   uint16_t wanted)
{
	const uint8_t setup[8] = { type,
				   request,
				   (uint8_t)value,
				   (uint8_t)(value >> 8),
				   (uint8_t)index,
				   (uint8_t)(index >> 8),
				   (uint8_t)wanted,
				   (uint8_t)(wanted >> 8) };
	uint8_t exact[USB_PACKET];
	enum usb_answer answer;

	memset(exact, 0xa5, sizeof(exact));
	answer = usb_setup(setup, exact, &length);
	assert_true(length <= wanted && length <= USB_PACKET);
	if (answer != USB_IN)
		assert_int_equal(length, 0);
	memcpy(data, exact, sizeof(data));
	return answer;
}

static uint32_t number(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool start(uint8_t flags, uint16_t divisor)
{
	const uint8_t settings[4] = { flags, 0, (uint8_t)divisor, (uint8_t)(divisor >> 8) };

	assert_int_equal(ask(0x40, FX2_START, 0, 0, 4), USB_OUT);
	return usb_data(settings, 4);
}

static const struct fx2_status *status(void)
{
	assert_int_equal(ask(0xc0, FX2_STATUS, 0, 0, 16), USB_IN);
	assert_int_equal(length, sizeof(struct fx2_status));
	return (const struct fx2_status *)data;
}

static int begin(void **state)
{
	(void)state;
	memset(&chip, 0, sizeof(chip));
	chip.high_speed = true;
	usb_reset();
	return ask(0x00, 9, 1, 0, 0) == USB_DONE ? 0 : -1;
}

static void every_divisor_has_a_waveform(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= FX2_DIVISOR_MAX; n++) {
		uint8_t waveform[FX2_WAVEFORM];

		memset(waveform, 0xff, sizeof(waveform));
		waveform_build((uint16_t)n, waveform);
		if (!gpif_is_regular(waveform, n))
			fail_msg("divisor %u", n);
		/* No control output ever moves, and what is reserved is 0. */
		for (unsigned i = 16; i < 24; i++)
			assert_int_equal(waveform[i], 0);
		assert_int_equal(waveform[7] | waveform[15] | waveform[31], 0);
	}
}

/* A timer that has counted @t, as the three reads and the flag see it at gaps of @gap counts. */
static void read_timer_at(uint64_t t, unsigned gap, bool interrupt_late)
{
	const uint64_t first = t - gap, after = t + gap, flag = t + 2 * gap;
	/*
	 * Interrupts were taken up to a moment before the first read, or the last one just was not.
	 */
	const uint64_t counted = first / 65536 - interrupt_late;
	const struct timer_reading reading = {
		.high_before = (uint8_t)(first >> 8),
		.low = (uint8_t)t,
		.high_after = (uint8_t)(after >> 8),
		.overflow = flag / 65536 > counted ? 0x20 : 0,
		.overflows = (uint16_t)counted,
	};
	const uint32_t got = timer_join(&reading);

	if (got != (uint32_t)t)
		fail_msg("timer at %llu, gap %u, late %d: %lu", (unsigned long long)t, gap,
			 interrupt_late, (unsigned long)got);
}

static void the_timer_is_whole_at_every_phase(void **state)
{
	static const uint64_t wraps[] = { 0x20000, 0x1000000, 0xff0000, 0x100000000, 0x10000 * 77 };

	(void)state;
	for (size_t i = 0; i < sizeof(wraps) / sizeof(wraps[0]); i++) {
		for (int64_t off = -66000; off < 66000; off++) {
			for (unsigned gap = 1; gap <= 31; gap += 10) {
				const uint64_t t = (uint64_t)((int64_t)wraps[i] + off);

				read_timer_at(t, gap, false);
				if ((t - gap) % 65536 < 300)
					read_timer_at(t, gap, true);
			}
		}
	}
}

static void descriptors_are_whole(void **state)
{
	uint8_t bytes[FX2_DESCRIPTOR_MAX + 1];

	(void)state;
	for (unsigned speed = 0; speed < 2; speed++) {
		for (unsigned type = 0; type < 256; type++) {
			for (unsigned index = 0; index < 256; index++) {
				uint8_t n;

				memset(bytes, 0xee, sizeof(bytes));
				n = descriptor_get((uint8_t)type, (uint8_t)index, speed, bytes);
				assert_in_range(n, 0, FX2_DESCRIPTOR_MAX);
				if (n == 0)
					continue;
				assert_int_equal(bytes[1], type);
				if (type == 2 || type == 7)
					assert_int_equal(bytes[2] | bytes[3] << 8, n);
				else
					assert_int_equal(bytes[0], n);
				assert_int_equal(bytes[n], 0xee);
			}
		}
	}
}

static void the_host_enumerates_it(void **state)
{
	static const char *const names[] = { "", "Coeval", "Coeval logic analyzer" };

	(void)state;
	usb_reset();
	/* Linux asks for 64 bytes first, Windows for more than there is. */
	assert_int_equal(ask(0x80, 6, 0x0100, 0, 64), USB_IN);
	assert_int_equal(length, 18);
	assert_int_equal(data[8] | data[9] << 8, FX2_VENDOR);
	assert_int_equal(data[10] | data[11] << 8, FX2_PRODUCT);
	assert_int_equal(data[7], 64);
	assert_int_equal(ask(0x80, 6, 0x0100, 0, 8), USB_IN);
	assert_int_equal(length, 8);

	for (unsigned speed = 0; speed < 2; speed++) {
		chip.high_speed = speed;
		for (unsigned type = 2; type <= 7; type += 5) {
			const unsigned packet = (type == 2) == speed ? 512 : 64;

			assert_int_equal(ask(0x80, 6, (uint16_t)(type << 8), 0, 255), USB_IN);
			assert_int_equal(length, 25);
			assert_int_equal(data[4], 1);
			assert_int_equal(data[18 + 2], FX2_ENDPOINT);
			assert_int_equal(data[18 + 3], 2);
			assert_int_equal(data[18 + 4] | data[18 + 5] << 8, packet);
		}
	}
	assert_int_equal(ask(0x80, 6, 0x0600, 0, 10), USB_IN);
	assert_int_equal(length, 10);
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(ask(0x80, 6, (uint16_t)(0x0300 | i), 0x0409, 255), USB_IN);
		assert_int_equal(length, 2 + 2 * strlen(names[i]));
		for (size_t k = 0; k < strlen(names[i]); k++) {
			assert_int_equal(data[2 + 2 * k], names[i][k]);
			assert_int_equal(data[3 + 2 * k], 0);
		}
	}
	assert_int_equal(ask(0x80, 6, 0x0303, 0x0409, 255), USB_STALL);
	assert_int_equal(ask(0x80, 6, 0x2200, 0, 255), USB_STALL);

	assert_int_equal(ask(0x80, 8, 0, 0, 1), USB_IN);
	assert_int_equal(data[0], 0);
	assert_int_equal(ask(0x00, 9, 2, 0, 0), USB_STALL);
	assert_int_equal(ask(0x81, 10, 0, 0, 1), USB_STALL);
	assert_int_equal(ask(0x00, 9, 1, 0, 0), USB_DONE);
	assert_int_equal(ask(0x80, 8, 0, 0, 1), USB_IN);
	assert_int_equal(data[0], 1);
	assert_int_equal(ask(0x81, 10, 0, 0, 1), USB_IN);
	assert_int_equal(data[0], 0);
	assert_int_equal(ask(0x01, 11, 1, 0, 0), USB_STALL);
	assert_int_equal(ask(0x80, 0, 0, 0, 2), USB_IN);
	assert_int_equal(data[0] | data[1], 0);
}

static void a_halt_is_set_and_cleared(void **state)
{
	unsigned toggles;

	(void)state;
	assert_int_equal(ask(0x02, 3, 0, FX2_ENDPOINT, 0), USB_DONE);
	assert_true(chip.halted);
	assert_int_equal(ask(0x82, 0, 0, FX2_ENDPOINT, 2), USB_IN);
	assert_int_equal(data[0], 1);
	toggles = chip.toggles;
	assert_int_equal(ask(0x02, 1, 0, FX2_ENDPOINT, 0), USB_DONE);
	assert_false(chip.halted);
	assert_int_equal(chip.toggles, toggles + 1);
	assert_int_equal(ask(0x82, 0, 0, FX2_ENDPOINT, 2), USB_IN);
	assert_int_equal(data[0], 0);
	/* Setting the alternate setting again restarts it. */
	assert_int_equal(ask(0x02, 3, 0, FX2_ENDPOINT, 0), USB_DONE);
	assert_int_equal(ask(0x01, 11, 0, 0, 0), USB_DONE);
	assert_false(chip.halted);
	assert_int_equal(ask(0x02, 3, 0, 0x81, 0), USB_STALL);
	assert_int_equal(ask(0x02, 3, 1, FX2_ENDPOINT, 0), USB_STALL);
	assert_int_equal(ask(0x00, 3, 2, 0, 0), USB_STALL);
}

static void it_tells_what_it_is(void **state)
{
	const struct fx2_identity *identity = (const struct fx2_identity *)data;

	(void)state;
	assert_int_equal(ask(0xc0, FX2_IDENTIFY, 0, 0, 64), USB_IN);
	assert_int_equal(length, 12);
	assert_int_equal(number(identity->magic), FX2_MAGIC);
	assert_memory_equal(identity->magic, "COVL", 4);
	assert_int_equal(identity->version, FX2_VERSION);
	assert_int_equal(identity->lines, 16);
	assert_int_equal(identity->revision[0] | identity->revision[1] << 8, 4);
	assert_int_equal(number(identity->timer_hz), FX2_TIMER_HZ);
	assert_int_equal(ask(0xc0, FX2_IDENTIFY, 0, 0, 5), USB_IN);
	assert_int_equal(length, 5);
}

static void nonsense_is_refused(void **state)
{
	const uint8_t reserved[4] = { 0, 1, 2, 0 };

	(void)state;
	assert_false(start(0, 0));
	assert_false(start(0, FX2_DIVISOR_MAX + 1));
	assert_false(start(4, 1));
	assert_false(usb_data(reserved, 4));
	assert_false(usb_data(reserved, 3));
	assert_int_equal(ask(0x40, FX2_START, 0, 0, 3), USB_STALL);
	assert_int_equal(ask(0x40, FX2_START, 0, 0, 5), USB_STALL);
	assert_int_equal(ask(0xc0, FX2_START, 0, 0, 4), USB_STALL);
	assert_int_equal(ask(0x40, FX2_STOP, 0, 0, 1), USB_STALL);
	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16), USB_STALL);
	assert_int_equal(ask(0x40, FX2_STATUS, 0, 0, 16), USB_STALL);
	assert_int_equal(ask(0xc0, 0xc5, 0, 0, 16), USB_STALL);
	assert_int_equal(ask(0x40, FX2_LOAD, 0xe600, 0, 1), USB_STALL);
	assert_int_equal(chip.starts, 0);
	assert_int_equal(status()->state, FX2_IDLE);

	assert_int_equal(ask(0x00, 9, 0, 0, 0), USB_DONE);
	assert_int_equal(ask(0x40, FX2_START, 0, 0, 4), USB_STALL);
	assert_int_equal(ask(0x40, FX2_STOP, 0, 0, 0), USB_STALL);
}

static void a_capture_starts_and_ends(void **state)
{
	const struct fx2_status *s;

	(void)state;
	chip.now = 1000;
	assert_true(start(FX2_16_LINES | FX2_30_MHZ, 30));
	assert_int_equal(chip.flags, FX2_16_LINES | FX2_30_MHZ);
	assert_true(gpif_is_regular(chip.waveform, 30));
	chip.now = 5000;
	s = status();
	assert_int_equal(s->state, FX2_RUNNING);
	assert_int_equal(number(s->started), 1000);
	assert_int_equal(number(s->timer), 5000);
	capture_poll();
	assert_int_equal(chip.commits, 0);

	/* Full when it is stopped: the end waits for a buffer. */
	chip.packets = FX2_BUFFERS;
	assert_int_equal(ask(0x40, FX2_STOP, 0, 0, 0), USB_DONE);
	assert_false(chip.sampling);
	capture_poll();
	assert_int_equal(chip.commits, 0);
	assert_int_equal(status()->state, FX2_FULL);
	chip.packets--;
	capture_poll();
	assert_int_equal(chip.commits, 1);
	s = status();
	assert_int_equal(s->state, FX2_IDLE);
	assert_int_equal(number(s->losses), 0);

	/* Told again, it sends no second end. */
	chip.packets = 0;
	assert_int_equal(ask(0x40, FX2_STOP, 0, 0, 0), USB_DONE);
	capture_poll();
	assert_int_equal(chip.commits, 1);
}

/* One overflow: what was sent of it, seen after each step. */
static void overflow(uint32_t stopped, uint32_t again)
{
	const unsigned commits = chip.commits, starts = chip.starts;

	chip.sampling = false;
	chip.packets = FX2_BUFFERS;
	chip.now = stopped;
	capture_poll();
	capture_poll();
	assert_int_equal(chip.commits, commits);
	chip.packets--;
	capture_poll();
	assert_int_equal(chip.commits, commits + 1);
	for (; chip.packets > FX2_BUFFERS / 2; chip.packets--) {
		capture_poll();
		assert_int_equal(chip.starts, starts);
		assert_int_equal(status()->state, FX2_FULL);
	}
	chip.now = again;
	capture_poll();
	assert_int_equal(chip.commits, commits + 1);
}

static void a_loss_is_marked_and_recorded(void **state)
{
	const struct fx2_loss *loss = (const struct fx2_loss *)data;

	(void)state;
	chip.now = 100;
	assert_true(start(0, 2));
	overflow(2000, 3000);
	assert_int_equal(chip.starts, 2);
	assert_int_equal(status()->state, FX2_RUNNING);
	assert_int_equal(status()->pending, 1);
	overflow(7000, 9000);

	/* A record cannot be read in part. */
	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 15), USB_STALL);
	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16), USB_IN);
	assert_int_equal(length, 16);
	assert_int_equal(number(loss->number), 1);
	assert_int_equal(number(loss->before), 100);
	assert_int_equal(number(loss->stopped), 2000);
	assert_int_equal(number(loss->after), 3000);
	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 64), USB_IN);
	assert_int_equal(length, 16);
	assert_int_equal(number(loss->number), 2);
	assert_int_equal(number(loss->before), 3000);
	assert_int_equal(number(loss->after), 9000);
	assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16), USB_STALL);
	assert_int_equal(number(status()->losses), 2);
}

static void records_are_never_overwritten(void **state)
{
	(void)state;
	assert_true(start(0, 1));
	for (uint32_t i = 0; i < FX2_LOSSES_MAX; i++)
		overflow(1000 * i + 500, 1000 * i + 1000);
	assert_int_equal(chip.starts, 1 + FX2_LOSSES_MAX);
	assert_int_equal(status()->pending, FX2_LOSSES_MAX);

	/* No place for a fifth: it is marked, but sampling waits until the host has read. */
	overflow(10000, 20000);
	chip.packets = 0;
	for (int i = 0; i < 10; i++)
		capture_poll();
	assert_int_equal(chip.starts, 1 + FX2_LOSSES_MAX);
	assert_int_equal(status()->state, FX2_FULL);
	assert_int_equal(number(status()->losses), FX2_LOSSES_MAX + 1);
	for (uint32_t i = 1; i <= FX2_LOSSES_MAX + 1; i++) {
		chip.now = 30000;
		assert_int_equal(ask(0xc0, FX2_LOSS, 0, 0, 16), USB_IN);
		assert_int_equal(number(data), i);
		capture_poll();
	}
	assert_int_equal(number(((struct fx2_loss *)data)->after), 30000);
	assert_int_equal(chip.starts, 2 + FX2_LOSSES_MAX);
}

static void an_end_after_a_mark_is_another_packet(void **state)
{
	(void)state;
	assert_true(start(0, 1));
	chip.sampling = false;
	chip.packets = FX2_BUFFERS;
	capture_poll();
	chip.packets--;
	capture_poll();
	assert_int_equal(chip.commits, 1);
	assert_int_equal(ask(0x40, FX2_STOP, 0, 0, 0), USB_DONE);
	capture_poll();
	assert_int_equal(chip.commits, 1);
	chip.packets--;
	capture_poll();
	assert_int_equal(chip.commits, 2);
	assert_int_equal(status()->state, FX2_IDLE);
	assert_int_equal(number(status()->losses), 1);
	assert_int_equal(status()->pending, 0);

	/* And a new capture knows nothing of the last one. */
	assert_true(start(0, 1));
	assert_int_equal(number(status()->losses), 0);
	assert_int_equal(chip.packets, 0);
	overflow(1, 2);
	assert_true(start(0, 1));
	assert_int_equal(status()->pending, 0);
}

static void any_requests_leave_it_whole(void **state)
{
	const uint32_t seed = 20260;
	uint32_t x = seed;
	unsigned answers[4] = { 0 };

	(void)state;
	for (int round = 0; round < 1000000; round++) {
		static const uint8_t types[] = { 0x00, 0x01, 0x02, 0x80, 0x81, 0x82, 0x40, 0xc0 };
		uint8_t r[8];
		enum usb_answer answer;

		for (size_t i = 0; i < sizeof(r); i++) {
			x = x * 1664525u + 1013904223u;
			r[i] = (uint8_t)(x >> 24);
		}
		chip.now += 1000;
		chip.sampling = chip.sampling && r[0] & 1;
		chip.packets = r[0] >> 5 & 3;
		capture_poll();
		answer = ask(r[1] & 0xf0 ? types[r[1] & 7] : r[2],
			     r[6] & 1 ? r[3] :
			     r[6] & 2 ? (uint8_t)(0xc0 | (r[3] & 7)) :
					r[3] & 15,
			     (uint16_t)(r[4] & 15 ? r[4] & 3 : r[4] << 8),
			     r[5] & 1 ? FX2_ENDPOINT : r[5] & 2,
			     r[7] & 1 ? r[7] >> 1 & 31 :
			     r[7] & 2 ? 4 :
					r[7] >> 7);
		answers[answer]++;
		if (answer == USB_OUT)
			usb_data(r + 2, r[7] & 64 ? 4 : r[7] & 31);
		assert_in_range(status()->pending, 0, FX2_LOSSES_MAX);
	}
	for (int i = 0; i < 4; i++)
		if (answers[i] < 100)
			fail_msg("seed %u: answer %d came %u times only", seed, i, answers[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_divisor_has_a_waveform),
		cmocka_unit_test(the_timer_is_whole_at_every_phase),
		cmocka_unit_test(descriptors_are_whole),
		cmocka_unit_test_setup(the_host_enumerates_it, begin),
		cmocka_unit_test_setup(a_halt_is_set_and_cleared, begin),
		cmocka_unit_test_setup(it_tells_what_it_is, begin),
		cmocka_unit_test_setup(nonsense_is_refused, begin),
		cmocka_unit_test_setup(a_capture_starts_and_ends, begin),
		cmocka_unit_test_setup(a_loss_is_marked_and_recorded, begin),
		cmocka_unit_test_setup(records_are_never_overwritten, begin),
		cmocka_unit_test_setup(an_end_after_a_mark_is_another_packet, begin),
		cmocka_unit_test_setup(any_requests_leave_it_whole, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
