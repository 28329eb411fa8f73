/* SPDX-License-Identifier: MIT */
/*
 * The FX2LP's firmware under any requests while its buffers fill and empty. Bytes of the input, 14
 * a step: what happens in the chip, a SETUP packet, and the data that a host sends if they are
 * asked for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fx2/capture.h>
#include <fx2/chip.h>
#include <fx2/usb.h>
#include <wire/fx2_wire.h>

#define STEP 14

static struct {
	bool sampling, halted, high_speed;
	unsigned packets;
	uint32_t now;
} chip;

static void must(bool holds)
{
	if (!holds)
		abort();
}

bool chip_high_speed(void)
{
	return chip.high_speed;
}

uint8_t chip_revision(void)
{
	return 1;
}

void chip_prepare(uint8_t flags, const uint8_t waveform[FX2_WAVEFORM])
{
	/*
	 * The engine must find a way out of it: a state that goes idle where the buffers are full.
	 */
	bool ends = false;

	for (int i = 0; i < 7; i++)
		ends = ends || (waveform[8 + i] & 1 && (waveform[i] >> 3 & 7) == 7);
	must(ends && !(flags & ~(FX2_16_LINES | FX2_30_MHZ)));
	chip_flush();
}

uint32_t chip_start(void)
{
	must(!chip.sampling && chip.packets <= FX2_BUFFERS / 2);
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
	must(!chip.sampling && chip.packets < FX2_BUFFERS);
	chip.packets++;
}

void chip_flush(void)
{
	chip.sampling = false;
	chip.packets = 0;
}

uint32_t chip_timer(void)
{
	return chip.now;
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
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	memset(&chip, 0, sizeof(chip));
	usb_reset();
	for (; n >= STEP; bytes += STEP, n -= STEP) {
		uint8_t *data = malloc(USB_PACKET);
		uint8_t length;
		enum usb_answer answer;
		struct fx2_status status;

		must(data != NULL);
		chip.now += bytes[0] * 65537u;
		chip.high_speed = bytes[1] & 1;
		if (chip.sampling && chip.packets < FX2_BUFFERS)
			chip.packets += bytes[1] >> 1 & 1;
		if (chip.sampling && chip.packets == FX2_BUFFERS)
			chip.sampling = false;
		if (bytes[1] & 4 && chip.packets > 0)
			chip.packets--;
		capture_poll();
		if (bytes[1] & 8)
			usb_reset();
		answer = usb_setup(bytes + 2, data, &length);
		must(length <= USB_PACKET && length <= (bytes[8] | bytes[9] << 8));
		must(answer == USB_IN || length == 0);
		if (answer == USB_OUT)
			usb_data(bytes + 10, bytes[1] & 16 ? 4 : bytes[1] >> 5 & 3);
		capture_status(&status);
		must(status.pending <= FX2_LOSSES_MAX && status.state <= FX2_FULL);
		free(data);
	}
	return 0;
}
